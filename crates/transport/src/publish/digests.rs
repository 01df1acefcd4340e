//! The digests of an object's segments: kept as far as memory allows, made again otherwise.

use std::collections::BTreeMap;

/// What hashing a segment gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentDigests {
    /// Its DigestSha256 signature.
    pub signature: [u8; 32],
    /// The SHA-256 of its packet, which the manifest lists.
    pub implicit: [u8; 32],
}

/// Digests by leaf of the manifest, the least recently used going first.
#[derive(Debug)]
pub(super) struct DigestCache {
    leaves: BTreeMap<u64, (u64, Box<[SegmentDigests]>)>,
    fanout: u64,
    most: usize,
    clock: u64,
}

impl DigestCache {
    /// A cache of at most `memory` octets, filled with the digests of the first segments.
    pub fn new(memory: usize, fanout: u32, first: &[SegmentDigests]) -> DigestCache {
        let leaf = fanout as usize * size_of::<SegmentDigests>();
        let leaves = first.chunks(fanout as usize).zip(0..);
        DigestCache {
            leaves: leaves.map(|(run, leaf)| (leaf, (0, run.into()))).collect(),
            fanout: u64::from(fanout),
            // At least one, or nothing could be served.
            most: (memory / leaf.max(1)).max(1),
            clock: 0,
        }
    }

    /// The digests under a leaf, if they are there.
    pub fn leaf(&mut self, leaf: u64) -> Option<&[SegmentDigests]> {
        self.clock += 1;
        let (used, run) = self.leaves.get_mut(&leaf)?;
        *used = self.clock;
        Some(run)
    }

    /// The digests of one segment, if they are there.
    pub fn segment(&mut self, segment: u64) -> Option<SegmentDigests> {
        let index = (segment % self.fanout) as usize;
        self.leaf(segment / self.fanout)?.get(index).copied()
    }

    /// Keeps the digests under a leaf.
    pub fn insert(&mut self, leaf: u64, run: Vec<SegmentDigests>) {
        while self.leaves.len() >= self.most && !self.leaves.contains_key(&leaf) {
            let oldest = self.leaves.iter().min_by_key(|(_, (used, _))| *used).map(|(n, _)| *n);
            let Some(oldest) = oldest else { break };
            self.leaves.remove(&oldest);
        }
        self.clock += 1;
        self.leaves.insert(leaf, (self.clock, run.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: u8) -> Vec<SegmentDigests> {
        vec![SegmentDigests { signature: [n; 32], implicit: [n; 32] }; 2]
    }

    #[test]
    fn the_least_recently_used_leaf_goes() {
        let mut cache = DigestCache::new(4 * 64, 2, &run(0));
        cache.insert(1, run(1));
        assert_eq!(cache.segment(1).unwrap().signature, [0; 32]);
        cache.insert(2, run(2));
        assert!(cache.leaf(1).is_none(), "leaf 0 was used later");
        assert_eq!(cache.segment(0).unwrap().implicit, [0; 32]);
        assert_eq!(cache.segment(5).unwrap().implicit, [2; 32]);
        assert_eq!(cache.segment(9), None);
    }
}
