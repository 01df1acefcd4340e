//! Sizes of the encryption.

/// The maximum rounds for a bag, some seconds of work. The bag's maker chooses the number.
pub(super) const MAX_ROUNDS: u32 = 10_000_000;

/// Bytes of randomness that [`super::SafeBag::seal`] takes: salt and initialization vector.
pub const SEAL_RANDOM: usize = 32;
