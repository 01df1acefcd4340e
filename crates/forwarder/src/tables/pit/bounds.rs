//! The bounds of a PIT, and why it refuses an Interest.

use thiserror::Error;

use crate::tables::name_hash::MAX_PREFIX;

/// Bounds of a PIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PitConfig {
    /// Entries.
    pub entries: usize,
    /// Pending Interests (in-records) of one face.
    pub per_face: usize,
    /// Bytes of memory for everything.
    pub memory: usize,
}

impl Default for PitConfig {
    /// A million entries in half a gigabyte, of which one face may have a quarter.
    fn default() -> Self {
        PitConfig { entries: 1 << 20, per_face: 1 << 18, memory: 1 << 29 }
    }
}

/// Why an Interest was not taken into the PIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// As many entries as allowed.
    #[error("the PIT has as many entries as it may have")]
    Entries,
    /// As much memory as allowed.
    #[error("the PIT takes as much memory as it may take")]
    Memory,
    /// As much of the memory as allowed that the PIT shares with others.
    #[error("the forwarder takes as much memory as it may take")]
    Shared,
    /// As much of the memory as the Interests under one prefix may have while it is scarce.
    #[error("pending Interests under the same prefix take as much memory as they may")]
    Prefix,
    /// As many pending Interests of this face as allowed.
    #[error("the face has as many pending Interests as it may have")]
    PerFace,
    /// CanBePrefix with a name that is too long to match Data by.
    #[error("CanBePrefix with a name of more than {MAX_PREFIX} components")]
    PrefixTooDeep,
    /// The entry is gone.
    #[error("the PIT entry is gone")]
    Gone,
}
