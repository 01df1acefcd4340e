//! Packets that are no answer.

use super::option::HopOption;
use smallvec::SmallVec;

/// The most packets that one Interest excludes.
pub const MAX_EXCLUDED: usize = 8;

/// The length of the digest prefix that identifies a packet.
const PREFIX: usize = 8;

/// Packets that failed verification and must not answer the Interest again, by the first eight
/// bytes of their implicit digests. A content store that holds one of them forwards the Interest.
///
/// A chance match costs one cache hit: two different packets share eight bytes once in 2^64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclude(SmallVec<[[u8; PREFIX]; 2]>);

impl Exclude {
    /// Nothing is excluded: not a value that can be sent.
    #[must_use]
    pub fn new() -> Exclude {
        Exclude(SmallVec::new())
    }

    /// Excludes the packet with this implicit digest. Of more than [`MAX_EXCLUDED`] packets the
    /// oldest is forgotten. Returns false if it was excluded already.
    pub fn add(&mut self, digest: &[u8; 32]) -> bool {
        if self.excludes(digest) {
            return false;
        }
        if self.0.len() == MAX_EXCLUDED {
            self.0.remove(0);
        }
        self.0.push(prefix(digest));
        true
    }

    /// Returns `true` if the packet with this implicit digest is excluded.
    #[must_use]
    pub fn excludes(&self, digest: &[u8; 32]) -> bool {
        self.0.contains(&prefix(digest))
    }

    /// How many packets are excluded, at most [`MAX_EXCLUDED`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Nothing is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn prefix(digest: &[u8; 32]) -> [u8; PREFIX] {
    let mut prefix = [0; PREFIX];
    prefix.copy_from_slice(&digest[..PREFIX]);
    prefix
}

impl HopOption for Exclude {
    const TYPE: u32 = 940;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_flattened());
    }

    fn decode(value: &[u8]) -> Option<Exclude> {
        let (prefixes, rest) = value.as_chunks::<PREFIX>();
        let counted = (1..=MAX_EXCLUDED).contains(&prefixes.len()) && rest.is_empty();
        let mut each = prefixes.iter().enumerate();
        if !counted || each.any(|(n, prefix)| prefixes[..n].contains(prefix)) {
            return None;
        }
        Some(Exclude(SmallVec::from_slice(prefixes)))
    }
}
