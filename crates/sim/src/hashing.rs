//! Hashing of objects, which takes real time but no simulated time.
//!
//! The root of a manifest is a hash of the whole object. So a request for the metadata of an object
//! of 500 GB hashes 500 GB within one event. The owner of the network receives progress reports,
//! and can stop the run.

use packet::Name;
use security::Signer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use transport::publish::{Preparation, Publication};

use crate::content::Virtual;

/// The progress of hashing an object.
#[derive(Clone, Copy, Debug)]
pub struct Hashing<'a> {
    /// The object, without its version.
    pub object: &'a Name,
    /// The number of bytes hashed.
    pub done: u64,
    /// The size of the object in bytes.
    pub size: u64,
}

/// Receives progress reports, one every 8 MiB. If it returns `false`, the run ends.
pub type OnHashing = Box<dyn FnMut(&Hashing<'_>) -> bool + Send>;

/// The number of bytes hashed between two reports: some hundredths of a second.
const SLICE: u64 = 8 << 20;

/// The state that all producers of a network share.
#[derive(Clone, Default)]
pub(crate) struct Hasher {
    shared: Arc<Mutex<Shared>>,
    given_up: Arc<AtomicBool>,
}

#[derive(Default)]
struct Shared {
    callback: Option<OnHashing>,
    /// Bytes since the last report, over all objects.
    since: u64,
}

impl Hasher {
    /// Reports to `callback` from now on.
    pub fn report_to(&self, callback: OnHashing) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.callback = Some(callback);
        }
    }

    /// True if the callback has returned `false`.
    #[inline]
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Hashes an object. Returns `None` if the run is stopped, or if the manifest would be too
    /// deep. All other errors were excluded when the object was added.
    pub fn hash(&self, name: &Name, mut object: Preparation<Virtual>) -> Option<Publication> {
        let (size, mut done) = (object.size(), 0);
        for run in object.runs() {
            let bytes = object.bytes(&run);
            let digests = object.digest_run(run).ok()?;
            object.push(digests).ok()?;
            done += bytes;
            if !self.continues(bytes, &Hashing { object: name, done, size }) {
                return None;
            }
        }
        object.finish(&Signer::Digest).ok()
    }

    fn continues(&self, bytes: u64, hashing: &Hashing<'_>) -> bool {
        let Ok(mut shared) = self.shared.lock() else { return true };
        shared.since += bytes;
        if shared.since >= SLICE
            && let Some(callback) = &mut shared.callback
        {
            let continues = callback(hashing);
            shared.since = 0;
            self.given_up.fetch_or(!continues, Ordering::Relaxed);
        }
        !self.is_given_up()
    }
}
