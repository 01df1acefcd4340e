//! The digests and signatures of an object's segments. They are kept up to a memory limit, and
//! computed again beyond it.

use packet::Signature;
use std::collections::BTreeMap;

/// The digests and signatures of the segments under one leaf of the manifest, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeafDigests {
    /// The implicit digests (SHA-256) of their packets, which the manifest lists.
    implicit: Vec<[u8; 32]>,
    /// Their signatures, concatenated, and the end of each.
    signatures: Vec<u8>,
    ends: Vec<u32>,
    /// XXH3 of their content, by which a change of the source is noticed.
    sums: Vec<u64>,
}

impl LeafDigests {
    /// The maximum number of bytes per segment, with signatures of up to `signature_len` bytes.
    pub const fn bytes_each(signature_len: usize) -> usize {
        size_of::<[u8; 32]>() + size_of::<u32>() + size_of::<u64>() + signature_len
    }

    /// An empty list with capacity for `segments` segments.
    pub fn with_room(segments: usize, signature_len: usize) -> LeafDigests {
        LeafDigests {
            implicit: Vec::with_capacity(segments),
            signatures: Vec::with_capacity(segments * signature_len),
            ends: Vec::with_capacity(segments),
            sums: Vec::with_capacity(segments),
        }
    }

    /// A list of the implicit digests alone.
    pub fn listed(implicit: Vec<[u8; 32]>) -> LeafDigests {
        LeafDigests { implicit, signatures: Vec::new(), ends: Vec::new(), sums: Vec::new() }
    }

    /// Appends the XXH3 of the content of the next segment.
    pub fn push_sum(&mut self, sum: u64) {
        self.sums.push(sum);
    }

    /// The XXH3 of the content of the segment with this index under the leaf, if known.
    pub fn sum(&self, index: usize) -> Option<u64> {
        self.sums.get(index).copied()
    }

    /// Appends the signature of the next segment.
    pub fn push_signature(&mut self, signature: &[u8]) {
        self.signatures.extend_from_slice(signature);
        // This fits: a leaf has a few hundred segments, and a signature fits into a packet.
        self.ends.push(self.signatures.len() as u32);
    }

    /// Appends the implicit digest of the same segment's packet.
    pub fn push_implicit(&mut self, digest: [u8; 32]) {
        self.implicit.push(digest);
    }

    /// The implicit digest of each segment's packet.
    pub fn implicit(&self) -> &[[u8; 32]] {
        &self.implicit
    }

    /// The signature of the segment with this index under the leaf.
    pub fn signature(&self, index: usize) -> Option<Signature> {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
        let bytes = self.signatures.get(*start as usize..*self.ends.get(index)? as usize)?;
        Some(Signature::new(bytes))
    }

    /// The number of bytes in use.
    pub fn bytes(&self) -> usize {
        self.implicit.len() * LeafDigests::bytes_each(0) + self.signatures.len()
    }
}

/// A cache of digests by leaf of the manifest. It evicts the least recently used leaf.
#[derive(Debug)]
pub(super) struct DigestCache {
    leaves: BTreeMap<u64, (u64, LeafDigests)>,
    fanout: u64,
    most: usize,
    clock: u64,
}

impl DigestCache {
    /// Creates a cache of at most `memory` bytes, with up to `each` bytes per segment, that
    /// contains the digests of the first leaves.
    pub fn new(memory: usize, each: usize, fanout: u32, first: Vec<LeafDigests>) -> DigestCache {
        let leaf = fanout as usize * each;
        DigestCache {
            leaves: (0..).zip(first).map(|(leaf, digests)| (leaf, (0, digests))).collect(),
            fanout: u64::from(fanout),
            // Without a single leaf nothing could be served.
            most: (memory / leaf.max(1)).max(1),
            clock: 0,
        }
    }

    /// The digests of the segments under a leaf, if cached.
    pub fn leaf(&mut self, leaf: u64) -> Option<&LeafDigests> {
        self.clock += 1;
        let (used, digests) = self.leaves.get_mut(&leaf)?;
        *used = self.clock;
        Some(digests)
    }

    /// The number of bytes in use.
    pub fn bytes(&self) -> usize {
        self.leaves.values().map(|(_, leaf)| leaf.bytes()).sum()
    }

    /// The signature of a segment, if cached.
    pub fn signature(&mut self, segment: u64) -> Option<Signature> {
        let index = (segment % self.fanout) as usize;
        self.leaf(segment / self.fanout)?.signature(index)
    }

    /// Inserts the digests of the segments under a leaf.
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
    fn the_reported_memory_is_exact() {
        let bytes = run(7).bytes();
        assert_eq!(bytes, 2 * (32 + 4 + 8) + 3 + 4);
        assert!(bytes <= 2 * LeafDigests::bytes_each(4));
        assert_eq!(run(7).signature(2), None);
    }
}
