//! Where a batch writes.

use super::object::Failure;
use rangemap::RangeSet;
use security::Digest;

/// Receives the content of objects. An object is named by the number that [`super::Batch::add`]
/// returned.
pub trait BatchSink {
    /// The segments of a run, beginning with `first`, that are present already, from an earlier
    /// transfer or version. `digests` are those of the run's packets.
    fn present(&mut self, _object: u64, _first: u64, _digests: &[Digest]) -> RangeSet<u64> {
        RangeSet::new()
    }

    /// Writes the verified content of a segment at byte `offset` of the object.
    fn write(&mut self, object: u64, offset: u64, content: &[u8]);

    /// The object is complete.
    fn complete(&mut self, object: u64);

    /// The object cannot be fetched. The others can.
    fn failed(&mut self, object: u64, why: Failure);
}
