//! The digests and signatures of an object's segments: kept as far as memory allows, made again
//! otherwise.

use packet::Signature;
use std::collections::BTreeMap;

/// The digests and signatures of the segments under one leaf of the manifest, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeafDigests {
    /// The SHA-256 of their packets, which the manifest lists.
    implicit: Vec<[u8; 32]>,
    /// Their signatures, one behind the other, and where each of them ends.
    signatures: Vec<u8>,
    ends: Vec<u32>,
}

impl LeafDigests {
    /// The most bytes that a segment takes whose signature has up to `signature_len`.
    pub const fn bytes_each(signature_len: usize) -> usize {
        size_of::<[u8; 32]>() + size_of::<u32>() + signature_len
    }

    /// Room for `segments` segments.
    pub fn with_room(segments: usize, signature_len: usize) -> LeafDigests {
        LeafDigests {
            implicit: Vec::with_capacity(segments),
            signatures: Vec::with_capacity(segments * signature_len),
            ends: Vec::with_capacity(segments),
        }
    }

    /// Takes the next segment's signature.
    pub fn push_signature(&mut self, signature: &[u8]) {
        self.signatures.extend_from_slice(signature);
        // A leaf has a few hundred segments, and a signature has to fit a packet.
        self.ends.push(self.signatures.len() as u32);
    }

    /// Takes the SHA-256 of the same segment's packet.
    pub fn push_implicit(&mut self, digest: [u8; 32]) {
        self.implicit.push(digest);
    }

    /// The SHA-256 of each segment's packet.
    pub fn implicit(&self) -> &[[u8; 32]] {
        &self.implicit
    }

    /// The signature of a segment, counted from the first one here.
    pub fn signature(&self, index: usize) -> Option<Signature> {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
        let bytes = self.signatures.get(*start as usize..*self.ends.get(index)? as usize)?;
        Some(Signature::new(bytes))
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.implicit.len() * LeafDigests::bytes_each(0) + self.signatures.len()
    }
}

/// Digests by leaf of the manifest, the least recently used going first.
#[derive(Debug)]
pub(super) struct DigestCache {
    leaves: BTreeMap<u64, (u64, LeafDigests)>,
    fanout: u64,
    most: usize,
    clock: u64,
}

impl DigestCache {
    /// A cache of at most `memory` bytes, where a segment takes up to `each`, filled with what is
    /// known of the first leaves.
    pub fn new(memory: usize, each: usize, fanout: u32, first: Vec<LeafDigests>) -> DigestCache {
        let leaf = fanout as usize * each;
        DigestCache {
            leaves: (0..).zip(first).map(|(leaf, digests)| (leaf, (0, digests))).collect(),
            fanout: u64::from(fanout),
            // At least one, or nothing could be served.
            most: (memory / leaf.max(1)).max(1),
            clock: 0,
        }
    }

    /// The digests of the segments under a leaf, if it is there.
    pub fn leaf(&mut self, leaf: u64) -> Option<&LeafDigests> {
        self.clock += 1;
        let (used, digests) = self.leaves.get_mut(&leaf)?;
        *used = self.clock;
        Some(digests)
    }

    /// The signature of one segment, if it is there.
    pub fn signature(&mut self, segment: u64) -> Option<Signature> {
        let index = (segment % self.fanout) as usize;
        self.leaf(segment / self.fanout)?.signature(index)
    }

    /// Keeps what is known of the segments under a leaf.
    pub fn insert(&mut self, leaf: u64, digests: LeafDigests) {
        while self.leaves.len() >= self.most && !self.leaves.contains_key(&leaf) {
            let oldest = self.leaves.iter().min_by_key(|(_, (used, _))| *used).map(|(n, _)| *n);
            let Some(oldest) = oldest else { break };
            self.leaves.remove(&oldest);
        }
        self.clock += 1;
        self.leaves.insert(leaf, (self.clock, digests));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two segments with signatures of different lengths.
    fn run(n: u8) -> LeafDigests {
        let mut run = LeafDigests::with_room(2, 4);
        for bytes in [&[n; 3][..], &[n + 1; 4]] {
            run.push_signature(bytes);
            run.push_implicit([bytes[0]; 32]);
        }
        run
    }

    #[test]
    fn the_least_recently_used_leaf_goes() {
        let each = LeafDigests::bytes_each(4);
        let mut cache = DigestCache::new(4 * each, each, 2, vec![run(0)]);
        cache.insert(1, run(10));
        assert_eq!(cache.signature(0), Some(Signature::new(&[0; 3])));
        cache.insert(2, run(20));
        assert!(cache.leaf(1).is_none(), "leaf 0 was used later");
        assert_eq!(cache.leaf(0).unwrap().implicit(), [[0; 32], [1; 32]]);
        assert_eq!(cache.signature(5), Some(Signature::new(&[21; 4])));
        assert_eq!(cache.signature(9), None);
    }

    #[test]
    fn what_it_takes_is_what_it_says() {
        let bytes = run(7).bytes();
        assert_eq!(bytes, 2 * (32 + 4) + 3 + 4);
        assert!(bytes <= 2 * LeafDigests::bytes_each(4));
        assert_eq!(run(7).signature(2), None);
    }
}
