//! The key by which code outside the PIT refers to one of its entries.

/// Refers to a PIT entry. It finds nothing once the entry has ended, even if another entry has
/// taken its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PitKey {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

impl PitKey {
    /// The key as one number, to be kept where a scheme can hand it back.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// The key that [`PitKey::to_bits`] made a number of.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        PitKey { slot: bits as u32, generation: (bits >> 32) as u32 }
    }
}
