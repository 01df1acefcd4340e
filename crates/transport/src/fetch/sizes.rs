//! The sizes of Data packets, as far as they can be expected.

use crate::fetch::item::Item;
use crate::fetch::object::Object;
use crate::fetch::requests::Each;
use control::Size;

/// The approximate size of a metadata packet.
const METADATA: Size = Size(500);
/// The assumed bytes of a segment's Data packet beside its content: name and signature.
const OVERHEAD: u64 = 200;
/// The assumed size of a segment's Data packet before the first one arrives: the content that NDN
/// tools agree on, and the rest.
const SEGMENT: Size = Size(8000 + OVERHEAD);

/// The expected sizes, and the bytes that were requested by them.
#[derive(Debug)]
pub(super) struct Sizes {
    /// The size of the latest segment's Data packet.
    segment: Size,
    /// Bytes of Data that were requested.
    requested: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { segment: SEGMENT, requested: 0 }
    }
}

impl Sizes {
    /// The size of the latest segment's Data packet; before the first one, a usual size.
    pub fn segment(&self) -> Size {
        self.segment
    }

    /// Records the size of a segment's Data packet.
    pub fn note_segment(&mut self, size: Size) {
        self.segment = size;
    }

    /// Bytes of Data that were requested so far, repetitions included.
    pub fn requested(&self) -> u64 {
        self.requested
    }

    /// Counts a request for `count` packets like that of `item`.
    pub fn count(&mut self, item: Item, object: Option<&Object>, count: u16) {
        let each = Sizes::stated(item, object).unwrap_or(self.segment);
        self.requested = self.requested.saturating_add(each.times(count).0);
    }

    /// The size of the answer to `item`. Metadata has its own size only if heads follow it;
    /// otherwise it is the only request in flight.
    pub fn each(&self, item: Item, object: Option<&Object>, heads_follow: bool) -> Each {
        let expected = match item {
            Item::Metadata if heads_follow => METADATA,
            _ => self.segment,
        };
        Each { expected, stated: Sizes::stated(item, object) }
    }

    /// The size of the Data of `item`: of metadata a usual one, of a segment what the metadata say,
    /// until a segment has come. Links book more for Interests that state nothing.
    fn stated(item: Item, object: Option<&Object>) -> Option<Size> {
        if matches!(item, Item::Metadata) {
            return Some(METADATA);
        }
        let object = object.filter(|object| object.done_count() == 0)?;
        let size = object.info().segment_size.filter(|_| matches!(item, Item::Segment(_)))?;
        // An object of one segment may be much smaller than that.
        let size = size.min(object.info().size.unwrap_or(u64::MAX));
        Some(Size(size.saturating_add(OVERHEAD)))
    }
}
