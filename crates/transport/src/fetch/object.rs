//! The object that a fetch is about: what is known of it, and what of it is there.

use packet::{Component, Name};
use rangemap::RangeSet;

/// What is known of an object when its transfer begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The versioned name.
    pub name: Name,
    /// Its segments, as far as known.
    pub segments: Option<u64>,
    /// Octets of content of every segment but the last, if its publisher says so: then segments may
    /// be written in any order.
    pub segment_size: Option<u64>,
    /// Octets of the whole object, if its publisher says so.
    pub size: Option<u64>,
    /// The implicit digest of its manifest's root: two transfers with the same are of the same
    /// octets.
    pub root_digest: Option<[u8; 32]>,
}

/// Receives the object's octets. Errors are the sink's own business: it remembers the first, and
/// the driver that owns both ends the fetch.
pub trait Sink {
    /// The transfer begins. The answer is what an earlier, interrupted transfer of the same object
    /// left, or what nobody wants: runs of segments that need not be fetched. Where segments must
    /// come in order only a run from 0, with `octets` its length, and one up to the end count.
    fn begin(&mut self, info: &ObjectInfo) -> Resume;

    /// Segment `segment`, verified, is at octet `offset` of the object.
    fn write(&mut self, segment: u64, offset: u64, content: &[u8]);
}

/// What an earlier transfer left, or nobody wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// Segments that are there.
    pub segments: RangeSet<u64>,
    /// Octets of content in them.
    pub octets: u64,
}

/// An object under transfer.
#[derive(Debug)]
pub(super) struct Object {
    pub info: ObjectInfo,
    /// The name's segment components are of naming convention revision 1.
    pub rev1: bool,
    /// Segments that were verified and handed on, or were there before.
    pub done: RangeSet<u64>,
    pub done_count: u64,
    /// Octets of content that were there before.
    pub resumed_octets: u64,
    /// Octets of content handed on by this fetch.
    pub octets: u64,
}

impl Object {
    pub fn new(info: ObjectInfo) -> Object {
        let rev1 = super::super::rdr::segment_component(info.name.as_ref(), 0)
            == Component::segment_rev1(0);
        Object { info, rev1, done: RangeSet::new(), done_count: 0, resumed_octets: 0, octets: 0 }
    }

    /// Takes over what an earlier transfer left, as far as it fits.
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
        self.resumed_octets = if self.done_count > 0 { resume.octets } else { 0 };
    }

    pub fn component(&self, segment: u64) -> Component {
        if self.rev1 { Component::segment_rev1(segment) } else { Component::segment(segment) }
    }

    pub fn mark_done(&mut self, segment: u64, octets: usize) {
        self.done.insert(segment..segment + 1);
        self.done_count += 1;
        self.octets += octets as u64;
    }

    /// The first segment that is not done.
    pub fn first_missing(&self) -> u64 {
        self.done.get(&0).map_or(0, |run| run.end)
    }

    pub fn is_complete(&self) -> bool {
        self.info.segments.is_some_and(|n| self.done_count >= n)
    }
}
