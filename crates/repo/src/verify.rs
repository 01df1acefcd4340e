//! Reading everything again.

use crate::digest::Digest;
use crate::entry::{Body, Entry, Object, Place};
use crate::error::StoreError;
use crate::store::Store;
use crate::view::View;
use packet::Data;
use sha2::{Digest as _, Sha256};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use transport::publish::{Preparation, Source, Spec};

/// The result of a check of one named thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Objects and packets.
    pub entries: u64,
    /// The number of bytes read.
    pub bytes: u64,
    /// The damaged ones.
    pub damage: Vec<Damage>,
}

/// An object or packet that has changed since it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The name of the object or packet, or the number of its record if the name is unreadable.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// The reason if a record does not decode.
const UNREADABLE: &str = "it is not as it was written";

/// The name of a record of the index.
fn record(number: u64) -> String {
    format!("entry {number} of the index")
}

/// A source, read from its beginning, and the SHA-256 of the bytes read.
struct Summed {
    source: Box<dyn Source>,
    sum: Arc<Mutex<Sum>>,
}

/// The sum of the bytes so far.
#[derive(Default)]
struct Sum {
    hash: Sha256,
    len: u64,
}

impl Source for Summed {
    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.source.read_at(offset, buffer)?;
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        if offset == sum.len {
            sum.hash.update(&*buffer);
            sum.len += buffer.len() as u64;
        }
        Ok(())
    }
}

impl Store {
    /// Reads a named thing and all of its members, and compares each with its digests. Entries that
    /// another process removes meanwhile are not damaged.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn verify(&self, view: &View, top: u64) -> Result<Checked, StoreError> {
        let mut checked = Checked::default();
        for number in view.members(top)?.into_iter().chain([top]) {
            checked.entries += 1;
            let entry = match view.entry(number) {
                Ok(Some(entry)) => entry,
                Err(error) if !matches!(error, StoreError::Damaged { .. }) => return Err(error),
                unreadable => {
                    let why = if unreadable.is_ok() { "it is missing" } else { UNREADABLE };
                    checked.damage.push(Damage { name: record(number), why: why.to_owned() });
                    continue;
                }
            };
            checked.bytes += entry.object().map_or(0, |object| object.size);
            if let Err(why) = self.check(view, &entry)
                && View::new(self)?.entry(number)?.is_some()
            {
                checked.damage.push(Damage { name: entry.versioned().to_string(), why });
            }
        }
        Ok(checked)
    }

    fn check(&self, view: &View, entry: &Entry) -> Result<(), String> {
        match &entry.body {
            Body::Packet(packet) => {
                let data = Data::decode(packet).map_err(|error| error.to_string())?;
                let is_it = data.name() == entry.name.as_ref();
                if is_it { Ok(()) } else { Err(format!("it is the packet {}", data.name())) }
            }
            Body::Object(object) => self.check_object(view, entry, object),
        }
    }

    fn check_object(&self, view: &View, entry: &Entry, object: &Object) -> Result<(), String> {
        let mut spec = Spec::new(entry.name.clone(), entry.version);
        spec.segment_size = object.segment_size as usize;
        let hashed = match &object.place {
            Place::Inline(bytes) => digests(spec, Box::new(bytes.to_vec()), object.fanout),
            Place::Blob(digest) => {
                let blob = view.blob(digest, object.size).map_err(|error| error.to_string())?;
                let sum = Arc::new(Mutex::new(Sum::default()));
                let source = self.volume().source(&blob);
                let source = Box::new(Summed { source, sum: sum.clone() });
                let hashed = digests(spec, source, object.fanout);
                let sum = std::mem::take(&mut *sum.lock().unwrap_or_else(PoisonError::into_inner));
                let is_whole = sum.len == blob.size;
                if is_whole && Digest::from(sum.hash.finalize()) != *digest {
                    let title = self.volume().title_of(&blob);
                    return Err(format!("{title} has other bytes than were stored"));
                }
                hashed
            }
        };
        if hashed.map_err(|error| error.to_string())? != object.below {
            return Err("its segments have other digests".to_owned());
        }
        // The signed packets fit the digests.
        let bare = Bare(object.size);
        let made = object.publication(&entry.name, entry.version, Box::new(bare));
        made.map(drop).map_err(|error| error.to_string())
    }
}

/// The digests of an object's manifest, computed again.
fn digests(
    spec: Spec,
    source: Box<dyn Source>,
    fanout: u32,
) -> Result<Vec<Digest>, transport::publish::PublishError> {
    let mut preparation = Preparation::with_fanout(spec, source, fanout)?;
    for run in preparation.runs().collect::<Vec<_>>() {
        let digests = preparation.digest_run(run)?;
        preparation.push(digests)?;
    }
    Ok(preparation.close()?.below().to_vec())
}

/// A source with a size only.
struct Bare(u64);

impl Source for Bare {
    fn size(&self) -> u64 {
        self.0
    }

    fn read_at(&self, _offset: u64, _buffer: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
