//! The bounds of a PIT, and why it rejects an Interest.

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

impl PitConfig {
    /// A million entries in half a gigabyte, of which one face may have a quarter.
    pub const DEFAULT: PitConfig =
        PitConfig { entries: 1 << 20, per_face: 1 << 18, memory: 1 << 29 };
}

impl Default for PitConfig {
    fn default() -> Self {
        PitConfig::DEFAULT
    }
}

/// Why an Interest was not taken into the PIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Rejection {
    /// The limit of entries is reached.
    #[error("the PIT has reached its limit of entries")]
    Entries,
    /// The PIT's memory limit is reached.
    #[error("the PIT has reached its memory limit")]
    Memory,
    /// The limit of the memory that the PIT shares with others is reached.
    #[error("the forwarder has reached its memory limit")]
    Shared,
    /// Pending Interests under the same prefix take more memory than is free in the table.
    #[error("pending Interests under the same prefix take more memory than is free in the table")]
    Prefix,
    /// The face's limit of pending Interests is reached.
    #[error("the face has reached its limit of pending Interests")]
    PerFace,
    /// CanBePrefix with a name that is too long to match Data by.
    #[error("CanBePrefix with a name of more than {MAX_PREFIX} components")]
    PrefixTooDeep,
    /// The entry is gone.
    #[error("the PIT entry is gone")]
    Gone,
}
