//! The trace hash of a run.

use control::Time;
use xxhash_rust::xxh3::Xxh3;

use record::PacketHop;

/// A hash of all arrivals of frames at nodes.
pub(crate) struct Trace {
    hash: Xxh3,
    hops: u64,
}

impl Trace {
    pub fn new() -> Trace {
        Trace { hash: Xxh3::new(), hops: 0 }
    }

    pub fn add(&mut self, hop: &PacketHop<'_>) {
        self.hops += 1;
        let Time(at) = hop.at;
        let mut record = [0; 32];
        record[..8].copy_from_slice(&at.to_le_bytes());
        record[8..16].copy_from_slice(&(hop.node.0 as u64).to_le_bytes());
        record[16..24].copy_from_slice(&hop.face.to_le_bytes());
        let kind_and_size = (hop.kind as u64) << 56 | hop.frame.len() as u64;
        record[24..].copy_from_slice(&kind_and_size.to_le_bytes());
        self.hash.update(&record);
    }

    /// Their number.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    pub fn digest(&self) -> u64 {
        self.hash.digest()
    }
}
