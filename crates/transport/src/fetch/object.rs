//! The object of a fetch: its facts, and the segments that are present.

use crate::fetch::error::FetchError;
use crate::fetch::item::Item;
use packet::{Component, Name, NameRef};
use rangemap::RangeSet;
use security::manifest::{KEYWORD, Layout};

/// The facts about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The versioned name.
    pub name: Name,
    /// The number of segments; `None` if unknown.
    pub segments: Option<u64>,
    /// Bytes of content of every segment but the last, if announced. If present, segments may be
    /// written in any order.
    pub segment_size: Option<u64>,
    /// Bytes of the whole object, if announced. This is a hint: it is not signed.
    pub size: Option<u64>,
    /// The implicit digest of the manifest's root. Transfers with equal digests are of the same
    /// bytes.
    pub root_digest: Option<[u8; 32]>,
}

/// Receives the object's bytes. The sink handles its own errors: it records the first one, and the
/// driver, which owns sink and fetch, ends the fetch.
pub trait Sink {
    /// Begins the transfer. Returns the segments that need not be fetched: those saved by an
    /// earlier, interrupted transfer of the same object, or not wanted.
    ///
    /// If segments are delivered in order, only a run from segment 0 and a run up to the end are
    /// used; `bytes` must then be the length of the former. The call is repeated, before the first
    /// write, if the object turns out to be another one.
    fn begin(&mut self, info: &ObjectInfo) -> Resume;

    /// Reports that the object has at most `at_most` bytes, after its manifest and a whole segment
    /// have been verified. `is_signed`: the manifest is signed by a key that the policy accepts;
    /// otherwise it may be a forgery. Called at most once, before the write of that segment.
    fn bounded(&mut self, _at_most: u64, _is_signed: bool) {}

    /// Writes the content of a verified segment at byte `offset` of the object.
    fn write(&mut self, segment: u64, offset: u64, content: &[u8]);
}

/// Segments that need not be fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// The segments, as runs.
    pub segments: RangeSet<u64>,
    /// The number of bytes of content in them.
    pub bytes: u64,
}

/// An object under transfer.
#[derive(Debug)]
pub(super) struct Object {
    info: ObjectInfo,
    /// Segment components follow revision 1 of the naming conventions.
    rev1: bool,
    /// Verified metadata confirms `info.segment_size`.
    size_proved: bool,
    /// Segments that were delivered, or present before.
    done: RangeSet<u64>,
    done_count: u64,
    /// Bytes of content that were present before.
    resumed_bytes: u64,
    /// Bytes of content delivered by this fetch.
    bytes: u64,
}

impl Object {
    pub fn new(info: ObjectInfo) -> Object {
        let rev1 =
            crate::rdr::segment_component(info.name.as_ref(), 0) == Component::segment_rev1(0);
        let (done, done_count) = (RangeSet::new(), 0);
        let size_proved = false;
        Object { info, rev1, size_proved, done, done_count, resumed_bytes: 0, bytes: 0 }
    }

    /// The facts about it.
    pub fn info(&self) -> &ObjectInfo {
        &self.info
    }

    /// Its versioned name.
    pub fn name(&self) -> &Name {
        &self.info.name
    }

    /// The number of its segments, if it is known.
    pub fn segments(&self) -> Option<u64> {
        self.info.segments
    }

    /// Segments that were delivered, or present before.
    pub fn done(&self) -> &RangeSet<u64> {
        &self.done
    }

    /// How many these are.
    pub fn done_count(&self) -> u64 {
        self.done_count
    }

    /// Bytes of content that were present before.
    pub fn resumed_bytes(&self) -> u64 {
        self.resumed_bytes
    }

    /// Bytes of content delivered by this fetch.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets the number of segments, which a verified manifest has.
    pub fn set_segments(&mut self, segments: u64) {
        self.info.segments = Some(segments);
    }

    /// Sets the number of segments if it is unknown.
    pub fn learn_segments(&mut self, segments: impl FnOnce() -> Option<u64>) {
        self.info.segments = self.info.segments.or_else(segments);
    }

    /// Verified metadata has this size of its segments.
    pub fn confirm_size(&mut self, segment_size: Option<u64>) {
        self.size_proved |= segment_size == self.info.segment_size;
    }

    /// Forgets the size of its segments unless verified metadata, or else the caller, confirms it.
    /// The offset of the last segment would depend on that size alone.
    pub fn forget_doubtful_size(&mut self, is_confirmed: bool) {
        if !self.size_proved && !is_confirmed {
            self.info.segment_size = None;
        }
    }

    /// Adopts segments of an earlier transfer that belong to the object; see [`Sink::begin`].
    pub fn resume(&mut self, resume: &Resume, in_order: bool) {
        let limit = self.info.segments.unwrap_or(u64::MAX);
        for run in resume.segments.iter() {
            let run = run.start..run.end.min(limit);
            let is_at_an_end = run.start == 0 || self.info.segments == Some(run.end);
            if !run.is_empty() && (!in_order || is_at_an_end) {
                self.done.insert(run);
            }
        }
        self.done_count = self.done.iter().map(|run| run.end - run.start).sum();
        self.resumed_bytes = if self.done_count > 0 { resume.bytes } else { 0 };
    }

    pub fn component(&self, segment: u64) -> Component {
        if self.rev1 { Component::segment_rev1(segment) } else { Component::segment(segment) }
    }

    pub fn mark_done(&mut self, segment: u64, bytes: usize) {
        self.done.insert(segment..segment + 1);
        self.done_count += 1;
        self.bytes += bytes as u64;
    }

    /// The first segment that is not done.
    pub fn first_missing(&self) -> u64 {
        self.done.get(&0).map_or(0, |run| run.end)
    }

    /// The item that has this name.
    pub fn item(&self, name: NameRef<'_>) -> Option<Item> {
        let prefix = self.info.name.as_ref();
        let last = name.last()?;
        match name.len() - prefix.len() {
            1 if last == self.component(last.as_segment_any()?).as_ref() => {
                last.as_segment_any().map(Item::Segment)
            }
            2 if name.get(prefix.len())?.is_keyword(KEYWORD) => last.as_segment().map(Item::Node),
            _ => None,
        }
    }

    /// The byte offset of a segment of `found` bytes. `in_order`: it follows those delivered.
    ///
    /// # Errors
    ///
    /// The size contradicts the metadata.
    pub fn offset(&self, segment: u64, found: u64, in_order: bool) -> Result<u64, FetchError> {
        let Some(size) = self.info.segment_size.filter(|_| !in_order) else {
            return Ok(self.resumed_bytes + self.bytes);
        };
        let last = self.info.segments == Some(segment + 1);
        if found != size && !(last && found <= size) {
            let name = self.info.name.clone();
            return Err(FetchError::WrongSize { name, segment, found, expected: size });
        }
        Ok(segment.saturating_mul(size))
    }

    /// The maximum size of the object in bytes, once its manifest and a whole segment of `found`
    /// bytes are verified: all segments of that size. The size in the metadata is used if it lies
    /// within the last segment.
    pub fn bound(&self, layout: Layout, found: u64) -> Option<u64> {
        if self.info.segment_size != Some(found) {
            return None;
        }
        let most = layout.segments().saturating_mul(found);
        let before = most.saturating_sub(found);
        let stated = self.info.size.filter(|size| *size <= most && *size > before);
        Some(stated.unwrap_or(most))
    }

    pub fn is_complete(&self) -> bool {
        self.info.segments.is_some_and(|n| self.done_count >= n)
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of runs of segments")]
mod tests {
    use super::*;

    /// The adopted runs of segments, their number and their bytes, if 100 bytes are offered.
    fn taken(
        segments: Option<u64>,
        runs: &[std::ops::Range<u64>],
        in_order: bool,
    ) -> (Vec<std::ops::Range<u64>>, u64, u64) {
        let name = "/a/v=1".parse().expect("a name");
        let (segment_size, size, root_digest) = (None, None, None);
        let info = ObjectInfo { name, segments, segment_size, size, root_digest };
        let mut object = Object::new(info);
        let segments = runs.iter().cloned().collect();
        object.resume(&Resume { segments, bytes: 100 }, in_order);
        (object.done.iter().cloned().collect(), object.done_count, object.resumed_bytes)
    }

    #[test]
    fn in_order_only_what_is_at_an_end_is_taken_over() {
        let runs = [0..3, 4..6, 8..10];
        assert_eq!(taken(Some(10), &runs, false), (runs.to_vec(), 7, 100));
        assert_eq!(taken(Some(10), &runs, true), (vec![0..3, 8..10], 5, 100));
        assert_eq!(taken(None, &runs, true), (vec![0..3], 3, 100));
    }

    #[test]
    fn segments_beyond_the_object_are_not_resumed() {
        assert_eq!(taken(Some(10), &[5..20, 30..40], false), (vec![5..10], 5, 100));
        assert_eq!(taken(Some(10), &[10..20], false), (vec![], 0, 0));
        assert_eq!(taken(Some(10), &[], true), (vec![], 0, 0));
    }
}
