//! The path that a packet took, and the path that an Interest is to take.

use super::option::HopOption;
use smallvec::SmallVec;

/// The path that Data has come: equal if, and but for collisions only if, the paths are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u64);

impl PathId {
    /// The path extended by one hop: the node that the Data is at, and its incoming face. MIRCC,
    /// "path identification": id <- hash(id, node id, incoming link id). The hash is the finalizer
    /// of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) over each in turn, so that the order of the
    /// hops matters.
    #[must_use]
    pub const fn folded(self, node: u64, face: u64) -> PathId {
        PathId(mix(mix(mix(self.0) ^ node) ^ face))
    }
}

/// The finalizer of SplitMix64.
const fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

impl HopOption for PathId {
    const TYPE: u32 = 876;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_be_bytes());
    }

    fn decode(value: &[u8]) -> Option<PathId> {
        Some(PathId(u64::from_be_bytes(value.try_into().ok()?)))
    }
}

/// The longest steering hint, in bytes.
pub const MAX_HINT: usize = 64;

/// How a [`SteeringHint`] steers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeringKind {
    /// A Bloom filter of (node, face) that Data fills downstream; the consumer copies it to
    /// Interests.
    Bloom,
    /// A random value that is hashed where paths split; the answering node copies it, so that the
    /// consumer learns its path.
    Random,
}

/// The steering of an Interest at nodes where paths split (MIRCC).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeringHint {
    /// How it steers.
    pub kind: SteeringKind,
    /// 1 to [`MAX_HINT`] bytes; of more, the first are sent.
    pub bytes: SmallVec<[u8; 16]>,
}

impl HopOption for SteeringHint {
    const TYPE: u32 = 884;
    const ECHO: bool = true;
    const ECHO_IN_NACKS: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(match self.kind {
            SteeringKind::Bloom => 1,
            SteeringKind::Random => 2,
        });
        out.extend(self.bytes.iter().take(MAX_HINT));
    }

    fn decode(value: &[u8]) -> Option<SteeringHint> {
        let (kind, bytes) = value.split_first()?;
        let kind = match kind {
            1 => SteeringKind::Bloom,
            2 => SteeringKind::Random,
            _ => return None,
        };
        let fits = (1..=MAX_HINT).contains(&bytes.len());
        fits.then(|| SteeringHint { kind, bytes: SmallVec::from_slice(bytes) })
    }

    /// A Bloom filter starts empty: the old one may describe another path than the answer's.
    fn answered(self) -> Option<SteeringHint> {
        (self.kind == SteeringKind::Random).then_some(self)
    }
}
