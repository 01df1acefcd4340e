//! How tables name a face.

use std::fmt;

/// A face. Numbers start at 1 and are never used twice in the life of a forwarder, so a table may
/// keep the number of a face that is gone: nothing else will ever answer to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FaceId(pub u64);

impl fmt::Display for FaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
