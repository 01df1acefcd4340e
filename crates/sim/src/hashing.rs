//! Hashing of objects, which takes real time and no simulated time.
//!
//! The root of a manifest is a hash of the whole object, so a request for the metadata of 500 GB
//! hashes 500 GB within one event. The owner of the network gets progress reports, and can stop it.

use packet::Name;
use security::Signer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use transport::publish::{Preparation, Publication};

use crate::content::Virtual;

/// How far the hashing of an object is.
#[derive(Clone, Copy, Debug)]
pub struct Hashing<'a> {
    /// The object, without its version.
    pub object: &'a Name,
    /// Bytes that are hashed.
    pub done: u64,
    /// Bytes that it has.
    pub size: u64,
}

/// Told how far hashing is, every `SLICE` bytes; nothing more is done once it says `false`.
pub type OnHashing = Box<dyn FnMut(&Hashing<'_>) -> bool + Send>;

/// Bytes that are hashed without a word about it: some hundredths of a second.
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
    /// Bytes since the last call: small objects add up.
    since: u64,
}

impl Hasher {
    /// Calls a callback from now on.
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

    /// Hashes an object. The announcement has checked everything that can fail but the depth of a
    /// manifest; if that fails, or the run is stopped, there is nothing to serve.
    pub fn hash(&self, name: &Name, mut object: Preparation<Virtual>) -> Option<Publication> {
        let size = object.runs().map(|run| object.bytes(&run)).sum();
        let mut done = 0;
        for run in object.runs() {
            let bytes = object.bytes(&run);
            let digests = object.digest_run(run).ok()?;
            object.push(digests).ok()?;
            done += bytes;
            if !self.goes_on(bytes, &Hashing { object: name, done, size }) {
                return None;
            }
        }
        object.finish(&Signer::Digest).ok()
    }

    fn goes_on(&self, bytes: u64, hashing: &Hashing<'_>) -> bool {
        let Ok(mut shared) = self.shared.lock() else { return true };
        shared.since += bytes;
        if shared.since >= SLICE
            && let Some(callback) = &mut shared.callback
        {
            let goes_on = callback(hashing);
            shared.since = 0;
            self.given_up.fetch_or(!goes_on, Ordering::Relaxed);
        }
        !self.is_given_up()
    }
}
