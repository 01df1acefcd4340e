//! Bytes on their way from a file into a store.

use super::keep;
use crate::exit::{Failure, Kind};
use crate::file::FileSource;
use crate::output::Progress;
use crate::producer;
use crate::signals::Stop;
use packet::Name;
use repo::{Body, Entry, Object, Place, Staged, Staging};
use security::Signer;
use std::io::{self, Read};
use std::path::Path;
use transport::publish::{Preparation, Spec};

/// The observers of an insertion.
pub struct Watched<'a> {
    /// Shows the progress of copying and hashing.
    pub progress: &'a Progress,
    /// The signal to stop.
    pub stop: &'a Stop,
}

/// Hashes and signs an object whose bytes are copied.
pub fn prepare(
    spec: Spec,
    staged: &Staged,
    signer: &Signer,
    watched: &Watched<'_>,
) -> Result<Entry, Failure> {
    let (name, version): (Name, u64) = (spec.name.clone(), spec.version);
    let source = FileSource::open_here(&staged.path).map_err(|error| keep::unwritable(&error))?;
    let mut preparation = Preparation::new(spec, source, signer)?;
    if !producer::digest(&mut preparation, &|_| {}, watched.stop)? {
        return Err(Failure::new(Kind::Interrupted, "interrupted"));
    }
    let mut made = preparation.finish(signer)?;
    let object = Object::of(&mut made, Place::Blob(staged.digest))?;
    Ok(Entry { name, version, body: Body::Object(Box::new(object)) })
}

/// Copies bytes into the store.
pub fn copy(
    staging: &mut Staging,
    input: &mut dyn Read,
    path: &Path,
    watched: &Watched<'_>,
) -> Result<Staged, Failure> {
    let mut failed = false;
    let mut reading = Reading { input, watched, done: 0, failed: &mut failed };
    let copied = staging.copy(&mut reading);
    copied.map_err(|error| match failed {
        true => unreadable(path, &error),
        false => keep::unwritable(&error),
    })
}

/// An input that is read until an interruption.
struct Reading<'a> {
    input: &'a mut dyn Read,
    watched: &'a Watched<'a>,
    done: u64,
    /// Reading has failed, not writing.
    failed: &'a mut bool,
}

impl Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watched.stop.requested() {
            *self.failed = true;
            return Err(io::Error::other("interrupted"));
        }
        let read = self.input.read(buffer);
        *self.failed = read.is_err();
        self.done += *read.as_ref().unwrap_or(&0) as u64;
        self.watched.progress.at(self.done);
        read
    }
}

/// The failure of a file that changes while it is copied.
pub fn changed(path: &Path) -> Failure {
    Failure::new(Kind::File, format!("{} has changed while it was copied", path.display()))
        .then("run the same command again when it no longer changes")
}

/// The failure of a file that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot store {}: {error}", path.display()))
        .then("name a file that can be read, or `-` for standard input")
}
