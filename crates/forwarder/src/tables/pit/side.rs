//! The links on both sides of an entry.

use super::PitEntry;
use crate::tables::face_id::FaceId;
use control::Direction;
use smallvec::SmallVec;

/// A face over which Data is expected for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The face.
    pub face: FaceId,
    /// In from an upstream, or out to a downstream.
    pub direction: Direction,
}

impl Side {
    /// An upstream.
    #[must_use]
    pub fn upstream(face: FaceId) -> Side {
        Side { face, direction: Direction::In }
    }

    /// A downstream.
    #[must_use]
    pub fn downstream(face: FaceId) -> Side {
        Side { face, direction: Direction::Out }
    }
}

impl PitEntry {
    /// The faces over which Data for the entry is expected: upstreams, then downstreams.
    #[must_use]
    pub fn sides(&self) -> SmallVec<[Side; 4]> {
        let upstreams = self.out_records().iter().map(|record| Side::upstream(record.face()));
        let downstreams = self.in_records().iter().map(|record| Side::downstream(record.face));
        upstreams.chain(downstreams).collect()
    }
}
