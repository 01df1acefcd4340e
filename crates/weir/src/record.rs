//! `weir get --record`: the progress of a transfer, a line of JSON at a time.

use crate::exit::{Failure, Kind};
use control::{Duration, Time};
use net::clock::monotonic;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use transport::Meter;
use transport::fetch::Fetch;

/// A record under way.
pub struct Record {
    path: PathBuf,
    file: BufWriter<File>,
    every: Duration,
    next: Time,
    meter: Meter,
    /// The first error.
    failed: Option<io::Error>,
}

impl Record {
    /// Begins a record in this file, with a line for each span.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(path: &Path, every: Duration) -> Result<Record, Failure> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let (file, path) = (BufWriter::new(file), path.to_owned());
        let meter = Meter::default();
        Ok(Record { path, file, every, next: Time::ZERO, meter, failed: None })
    }

    /// When the next line is due.
    pub fn next(&self) -> Time {
        self.next
    }

    /// To be called behind [`Fetch::receive`].
    pub fn received(&mut self, fetch: &Fetch) {
        self.meter.received(fetch);
    }

    /// Looks at the fetch, and writes a line if it is time.
    pub fn look(&mut self, now: Time, fetch: &Fetch) {
        self.meter.look(now, fetch);
        if now >= self.next {
            self.next = now + self.every;
            self.line(fetch);
        }
    }

    /// The last line.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn end(mut self, fetch: &Fetch) -> Result<(), Failure> {
        self.line(fetch);
        let flushed = self.file.flush();
        match self.failed.or(flushed.err()) {
            Some(error) => Err(unwritable(&self.path, &error)),
            None => Ok(()),
        }
    }

    fn line(&mut self, fetch: &Fetch) {
        let snapshot = self.meter.snapshot(monotonic(), fetch);
        let line = serde_json::to_string(&snapshot).unwrap_or_default();
        // A program that reads the file meanwhile sees whole lines.
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
        .then("choose another file with --record")
}
