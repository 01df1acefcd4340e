//! The producer of a catalogue. Objects are prepared on their first request, and the least recently
//! requested ones are forgotten.

use bytes::Bytes;
use control::Size;
use packet::{Component, Interest, LpPacket, NameRef};
use security::Signer;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use transport::publish::{Preparation, Publish, PublishError, Spec};

use super::catalogue::{Catalogue, Object};
use crate::content::Virtual;
use crate::hashing::Hasher;
use crate::plain::{Plain, Segments, Wanted};
use crate::producer::preparation;
use crate::spec::{ObjectSpec, Signing};

/// The maximum number of segments of prepared objects in memory. A prepared object takes some 32
/// bytes per segment.
const REMEMBERED: u64 = 1 << 20;

/// A hashed object, and the number of its last use.
struct Prepared {
    publish: Publish,
    segments: u64,
    used: u64,
}

/// Serves the objects of a catalogue, or this producer's share of them.
pub(crate) struct Publisher {
    catalogue: Arc<Catalogue>,
    /// The index of this producer.
    place: usize,
    hasher: Hasher,
    prepared: BTreeMap<u64, Prepared>,
    /// The prepared objects in the order of their last use.
    by_use: BTreeMap<u64, u64>,
    /// The number of segments of prepared objects.
    remembered: u64,
    uses: u64,
    /// Objects with answers to send, in the order of the Interests.
    answers: VecDeque<u64>,
    segments: Segments,
    waiting: VecDeque<(Object, Wanted, Bytes)>,
}

impl Publisher {
    /// Creates the producer with the index `place` of a catalogue.
    ///
    /// # Errors
    /// Its objects cannot be divided into segments of the configured size.
    pub fn new(
        catalogue: Arc<Catalogue>,
        place: usize,
        hasher: Hasher,
    ) -> Result<Publisher, PublishError> {
        if let Some(first) = catalogue.object(0) {
            // If a segment with the longest number in its name fits into a packet, all do.
            let size = Size(first.size.max(catalogue.segment_size as u64));
            let longest = Component::generic(u64::MAX.to_string().as_bytes());
            let name = catalogue.name_of(0).with(&longest);
            let segment_size = catalogue.segment_size;
            let spec = ObjectSpec { segment_size, ..ObjectSpec::new(name, size) };
            preparation(&spec)?.digest_run(0..1)?;
        }
        let signing = catalogue.signing;
        Ok(Publisher {
            catalogue,
            place,
            hasher,
            prepared: BTreeMap::new(),
            by_use: BTreeMap::new(),
            remembered: 0,
            uses: 0,
            answers: VecDeque::new(),
            segments: Segments::new(signing),
            waiting: VecDeque::new(),
        })
    }

    pub fn receive(&mut self, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else { return };
        let name = interest.name();
        let Some(object) = self.catalogue.number_of(name).and_then(|n| self.catalogue.object(n))
        else {
            return;
        };
        let segment = self.segment_of(object.number, name);
        if let Some(segment) = segment
            && self.catalogue.producer_of(object.number, segment).is_some_and(|p| p != self.place)
        {
            // Another producer has the segment, and routes lead there.
            return;
        }
        if self.catalogue.signing == Signing::Manifest {
            if let Some(prepared) = self.prepare(object) {
                prepared.publish.receive(frame);
                self.answers.push_back(object.number);
            }
            return;
        }
        let wanted = match segment {
            Some(n) => (n < self.catalogue.segments(object.size)).then_some(Wanted::Segment(n)),
            None => self.plain(object).wanted(&interest),
        };
        if let Some(wanted) = wanted {
            let token = Bytes::copy_from_slice(link.pit_token().unwrap_or_default());
            self.waiting.push_back((object, wanted, token));
        }
    }

    /// An object without a manifest.
    fn plain(&self, object: Object) -> Plain {
        let catalogue = &self.catalogue;
        Plain::new(&ObjectSpec {
            version: catalogue.version,
            segment_size: catalogue.segment_size,
            signing: catalogue.signing,
            ..ObjectSpec::new(catalogue.name_of(object.number), Size(object.size))
        })
    }

    /// The number of the content segment that has this name; `None` for metadata and manifests.
    fn segment_of(&self, number: u64, name: NameRef<'_>) -> Option<u64> {
        let depth = self.catalogue.name_of(number).len();
        let version = name.get(depth)?.as_version()?;
        let segment = name.get(depth + 1)?.as_segment()?;
        // Only an implicit digest may follow.
        (version == self.catalogue.version && name.len() <= depth + 3).then_some(segment)
    }

    fn prepare(&mut self, object: Object) -> Option<&mut Prepared> {
        self.uses += 1;
        let used = self.uses;
        let number = object.number;
        if !self.prepared.contains_key(&number) {
            let name = self.catalogue.name_of(number);
            let source = Virtual::new(&name, object.size);
            let segments = self.catalogue.segments(object.size);
            let spec = Spec {
                segment_size: self.catalogue.segment_size,
                ..Spec::new(name.clone(), self.catalogue.version)
            };
            // This cannot fail: the catalogue was checked when it was published.
            let object = Preparation::new(spec, source, &Signer::Digest).ok()?;
            let object = self.hasher.hash(&name, object)?;
            let mut publish = Publish::new();
            publish.add(object);
            self.remembered += segments;
            self.prepared.insert(number, Prepared { publish, segments, used });
            self.by_use.insert(used, number);
            self.forget();
        }
        let prepared = self.prepared.get_mut(&number)?;
        self.by_use.remove(&prepared.used);
        self.by_use.insert(used, number);
        prepared.used = used;
        Some(prepared)
    }

    /// Prepares the first objects before the first request, up to `most` bytes in total, and up to
    /// the number of segments that fit into memory.
    pub fn make_ready(&mut self, mut most: u64) {
        if self.catalogue.signing != Signing::Manifest {
            return;
        }
        let catalogue = Arc::clone(&self.catalogue);
        for object in (0..).map_while(|number| catalogue.object(number)) {
            let Some(left) = most.checked_sub(object.size) else { return };
            if self.remembered + catalogue.segments(object.size) > REMEMBERED {
                return;
            }
            most = left;
            self.prepare(object);
        }
    }

    /// Forgets the least recently requested objects, except those with answers to send.
    fn forget(&mut self) {
        while self.remembered > REMEMBERED && self.prepared.len() > 1 {
            let idle = self.by_use.iter().find_map(|(used, number)| {
                let there = self.prepared.get(number)?;
                (!there.publish.has_answers()).then_some((*used, *number))
            });
            let Some((used, number)) = idle.filter(|(used, _)| *used != self.uses) else { return };
            self.by_use.remove(&used);
            if let Some(gone) = self.prepared.remove(&number) {
                self.remembered -= gone.segments;
            }
        }
    }

    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        if let Some((object, wanted, token)) = self.waiting.pop_front() {
            let Wanted::Segment(segment) = wanted else {
                self.plain(object).answer(wanted, &token, out);
                return true;
            };
            let catalogue = &self.catalogue;
            let name = catalogue.name_of(object.number);
            let source = Virtual::new(&name, object.size);
            let versioned = name.with(&Component::version(catalogue.version));
            let size = catalogue.segment_size as u64;
            self.segments.encode(&versioned, &source, size, segment, &token, out);
            return true;
        }
        while let Some(number) = self.answers.front() {
            if let Some(prepared) = self.prepared.get_mut(number)
                && prepared.publish.poll_transmit(out)
            {
                return true;
            }
            self.answers.pop_front();
        }
        false
    }

    /// Drops the queued answers, because the node crashed.
    pub fn crash(&mut self) {
        let mut nowhere = Vec::new();
        while self.poll_transmit(&mut nowhere) {
            nowhere.clear();
        }
    }
}
