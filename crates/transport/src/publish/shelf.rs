//! Many objects of which few are in use at a time, such as the files of a tree.

use super::publication::Publication;
use packet::{Bytes, Interest, NameRef};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Objects that are opened when they are requested.
pub trait Shelf: Send {
    /// The number of the object to which a packet of this name belongs. A number belongs to one
    /// version of one object, for good.
    fn find(&mut self, name: NameRef<'_>) -> Option<u64>;

    /// A ready-made packet that answers the Interest, such as a page. It comes before objects.
    fn packet(&mut self, _interest: &Interest<'_>) -> Option<Bytes> {
        None
    }

    /// Opens an object; `None` if it is gone. It may be opened again after others.
    fn open(&mut self, number: u64) -> Option<Publication>;
}

/// The maximum number of objects whose sources are open.
const MOST_OPEN: usize = 64;
/// The maximum number of bytes of the objects that are kept, with their digests and signed packets.
const MOST_BYTES: usize = 64_000_000;

/// The place of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its index in the list.
    Listed(usize),
    /// Its number on the shelf.
    Shelved(u64),
}

impl Place {
    pub fn is_shelved(self) -> bool {
        matches!(self, Place::Shelved(_))
    }
}

/// The objects of a shelf that were used last. Opening one again costs a signature, or the reading
/// of a whole leaf of its manifest, so many are kept, and only few sources are open.
#[derive(Default)]
pub(super) struct Opened {
    objects: BTreeMap<u64, Kept>,
    /// The objects by the time of their last use.
    order: BTreeMap<u64, u64>,
    /// Those of them with an open source.
    open: BTreeMap<u64, u64>,
    /// The sum of the objects' bytes.
    bytes: usize,
    clock: u64,
}

struct Kept {
    object: Publication,
    used: u64,
    /// The bytes of memory, as they were at the last use.
    bytes: usize,
}

impl Opened {
    pub fn clear(&mut self) {
        *self = Opened::default();
    }

    /// The object, opened if necessary.
    pub fn get(&mut self, shelf: &mut dyn Shelf, number: u64) -> Option<&mut Publication> {
        if let Entry::Vacant(place) = self.objects.entry(number) {
            place.insert(Kept { object: shelf.open(number)?, used: 0, bytes: 0 });
        }
        self.measure_last();
        self.clock += 1;
        let kept = self.objects.get_mut(&number)?;
        self.order.remove(&kept.used);
        self.open.remove(&kept.used);
        kept.used = self.clock;
        self.order.insert(self.clock, number);
        self.open.insert(self.clock, number);
        self.trim();
        self.objects.get_mut(&number).map(|kept| &mut kept.object)
    }

    /// Counts the bytes of the object that was used last: it may have more digests since.
    fn measure_last(&mut self) {
        let last = self.order.last_key_value().and_then(|(_, number)| self.objects.get_mut(number));
        if let Some(kept) = last {
            let bytes = kept.object.memory();
            self.bytes = self.bytes - kept.bytes + bytes;
            kept.bytes = bytes;
        }
    }

    /// Closes sources, and forgets objects, beyond the limits; those that were used last stay.
    fn trim(&mut self) {
        while self.open.len() > MOST_OPEN
            && let Some((_, number)) = self.open.pop_first()
        {
            if let Some(kept) = self.objects.get_mut(&number) {
                kept.object.close_source();
            }
        }
        while self.bytes > MOST_BYTES
            && self.order.len() > 1
            && let Some((used, number)) = self.order.pop_first()
        {
            self.open.remove(&used);
            self.bytes -= self.objects.remove(&number).map_or(0, |kept| kept.bytes);
        }
    }
}
