//! Range Interests.
//!
//! One is as many Interests as it wants segments, which share nonce, lifetime and options. The
//! segments that are neither in the content store nor pending become one PIT entry. It is asked
//! about once, and goes on as one Interest where the other end of the face understands that;
//! elsewhere as many.

use control::Size;
use packet::options::{Range, SegmentBits, answer};
use packet::{HopOption, Interest, NackReason};

use super::Pipeline;
use super::context::InterestCx;
use super::runs::{split, with_last};
use crate::counters::{DropReason, OptionFault};
use crate::link::shaping::Expected;
use crate::node::subject_of;
use crate::state::room::Change;
use crate::tables::pit::{Segments, segment_of};
use crate::tables::{HashedName, MAX_PREFIX, PitKey, Refusal};

/// The segments of a range Interest that are in one PIT entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) key: PitKey,
    bits: SegmentBits,
}

/// A range Interest on its way to the tables.
pub(super) struct RangeInterest {
    /// All that it wants.
    wanted: Segments,
    /// Segments that are in no entry yet.
    left: Segments,
    /// Segments that are in an entry.
    parts: Vec<Part>,
    /// The Data that the downstream's parts expect for each segment.
    each: Option<Expected>,
}

/// The segments that an Interest asks for with a range, if it can ask so.
fn segments(a: &InterestCx<'_>, range: &Range) -> Option<Segments> {
    let plain = !a.interest.can_be_prefix() && a.interest.parameters().is_none();
    let (first, convention) = segment_of(a.interest.name().last()?)?;
    first.checked_add(u64::from(range.count()))?;
    a.name.prefix(a.name.components() - 1)?;
    plain.then(|| Segments { first, convention, bits: range.wanted() })
}

impl RangeInterest {
    /// Takes the range out of an Interest's options. `None` if there is none that can be had in
    /// this way: then it is an Interest for what its name says, as it is to nodes without ranges.
    pub(super) fn take(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) -> Option<RangeInterest> {
        a.options.get_raw(Range::TYPE)?;
        let range = a.options.get::<Range>();
        a.options.remove(Range::TYPE);
        if p.settings.max_range <= 1 {
            return None;
        }
        let Some(wanted) = range.and_then(|range| segments(a, &range)) else {
            p.faces.count_option_fault(a.face, OptionFault::RangeMisplaced);
            return None;
        };
        let each = a.expected.map(|expected| Expected {
            size: Size(expected.size.0 / u64::from(wanted.bits.count().max(1))),
            ..expected
        });
        let allowed = SegmentBits::first(p.settings.max_range);
        let left = Segments { bits: wanted.bits.and(allowed), ..wanted };
        Some(RangeInterest { wanted, left, parts: Vec::new(), each })
    }

    /// Joins the entries in which some of the segments are pending. Rejects what is more than is
    /// taken at once, or all, if the Interest has come round a loop; says whether it goes on.
    pub(super) fn join(&mut self, p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) -> bool {
        let beyond = self.wanted.bits.without(self.left.bits);
        if !beyond.is_empty() {
            self.reject(p, a, beyond, DropReason::RangeTooLong);
        }
        if !self.find_parts(p, a) {
            p.return_credit(a);
            Range::of(self.wanted.bits).map(|range| a.options.set(&range));
            p.reject(a, DropReason::Duplicate, NackReason::Duplicate);
            return false;
        }
        self.parts.retain_mut(|part| {
            part.key = split(p, part.key, part.bits).unwrap_or(part.key);
            join_part(p, a, *part)
        });
        true
    }

    /// Finds the entries in which some of the segments are pending, and takes these out of what is
    /// left. Not if the Interest has come round a loop.
    fn find_parts(&mut self, p: &Pipeline<'_>, a: &InterestCx<'_>) -> bool {
        let mut runs = Vec::new();
        if p.pit().has_runs() {
            p.pit().find_runs(a.name, &mut runs);
        }
        let fresh = a.interest.must_be_fresh();
        for key in runs {
            let Some(entry) = p.pit().get(key).filter(|e| e.must_be_fresh() == fresh) else {
                continue;
            };
            let Some(pending) = entry.run().map(|run| run.pending()) else { continue };
            let shared = self.left.within(&pending);
            if shared.is_empty() {
                continue;
            }
            if p.is_loop(entry, a) {
                return false;
            }
            let taken = Segments { bits: shared, ..pending }.within(&self.left);
            self.left.bits = self.left.bits.without(taken);
            self.parts.push(Part { key, bits: shared });
        }
        true
    }

    /// The places of the segments that are in no entry yet.
    pub(super) fn left(&self) -> impl Iterator<Item = u16> + use<> {
        self.left.bits.iter()
    }

    /// The segment at this place has gone its own way.
    pub(super) fn take_out(&mut self, at: u16) {
        self.left.bits.remove(at);
    }

    /// Writes the Interest for one segment.
    pub(super) fn write_segment(&self, a: &InterestCx<'_>, at: u16, out: &mut Vec<u8>) {
        let segment = self.left.first.saturating_add(u64::from(at));
        with_last(a.interest, &self.left.convention.component(segment), out);
    }

    /// The Interest for one segment, as if it had been asked for alone.
    pub(super) fn segment<'i>(
        &self,
        a: &InterestCx<'_>,
        interest: &'i Interest<'i>,
        name: &'i HashedName<'i>,
    ) -> InterestCx<'i> {
        InterestCx {
            token: a.token.clone(),
            mark: a.mark,
            options: a.options.clone(),
            next_hop: a.next_hop,
            subject: subject_of(name),
            size: a.size,
            expected: self.each,
            ..InterestCx::new(a.face, interest, name, a.nonce, a.expires)
        }
    }

    /// True if a segment goes on alone: it is pending alone, or there are routes for names as long
    /// as its own, which may lead each segment to another face.
    pub(super) fn is_alone(&self, p: &Pipeline<'_>, one: &InterestCx<'_>) -> bool {
        let components = one.name.components();
        components >= MAX_PREFIX
            || p.tables.fib().lengths() >> components & 1 == 1
            || p.pit().find(one.interest, one.name).is_some()
    }

    /// Makes one entry of what is left.
    pub(super) fn insert(&mut self, p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
        if self.left.bits.is_empty() {
            return;
        }
        match insert_run(p, a, &self.left) {
            Ok(key) => self.parts.push(Part { key, bits: self.left.bits }),
            Err(refusal) => {
                self.return_credit(p, a, self.left.bits.count());
                p.count_drop(a.face, refusal.into());
            }
        }
    }

    /// The entries that it is in, and its share of each.
    pub(super) fn take_parts(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.parts)
    }

    /// Writes the Interest for its share of an entry. The name is that of the entry, from whose
    /// first segment the places count: the downstream's run may begin elsewhere.
    pub(super) fn write_part(
        &self,
        p: &Pipeline<'_>,
        a: &InterestCx<'_>,
        part: Part,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        if let Some(run) = p.pit().get(part.key).and_then(|entry| entry.run()) {
            let pending = run.pending();
            with_last(a.interest, &pending.convention.component(pending.first), out);
        }
    }

    /// The Interest for its share of an entry.
    pub(super) fn part<'i>(
        &self,
        a: &InterestCx<'_>,
        interest: &'i Interest<'i>,
        name: &'i HashedName<'i>,
        part: Part,
    ) -> InterestCx<'i> {
        let expected = self.expected(part.bits.count());
        InterestCx { expected, bits: part.bits, ..self.segment(a, interest, name) }
    }

    /// The Data that the downstream's parts expect for `count` segments.
    fn expected(&self, count: u16) -> Option<Expected> {
        self.each.map(|one| Expected { size: Size(one.size.0 * u64::from(count)), ..one })
    }

    /// Reports to the shaper at stage *arrival* that `count` segments will bring nothing.
    fn return_credit(&self, p: &mut Pipeline<'_>, a: &InterestCx<'_>, count: u16) {
        if let Some(expected) = self.expected(count) {
            p.with_link(a.face, |link, env, _| link.returned(env, &expected, None));
            p.wake(a.face);
        }
    }

    /// Drops some segments and sends a Nack for them: they are to be asked for again.
    fn reject(
        &self,
        p: &mut Pipeline<'_>,
        a: &InterestCx<'_>,
        bits: SegmentBits,
        reason: DropReason,
    ) {
        self.return_credit(p, a, bits.count());
        p.count_drop(a.face, reason);
        let mut options = answer(&a.options, None);
        Range::of(bits).map(|range| options.set(&range));
        let token = a.token.clone();
        p.send_nack(a.face, a.interest, a.nonce, token, options, NackReason::Congestion);
    }
}

/// Joins an entry; says whether there was room.
fn join_part(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>, part: Part) -> bool {
    match join_run(p, a, part) {
        Ok(()) => {
            p.stats().aggregated += u64::from(part.bits.count());
            true
        }
        Err(refusal) => {
            p.count_drop(a.face, refusal.into());
            false
        }
    }
}

fn join_run(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>, part: Part) -> Result<(), Refusal> {
    let Part { key, bits } = part;
    let mut record = a.in_record(p.now);
    let room = p.admit(a, Change::Join { key, record: &record })?;
    record.expires = a.expires;
    p.tables.join_run(room, p.now, a.name, key, record, bits)
}

fn insert_run(
    p: &mut Pipeline<'_>,
    a: &mut InterestCx<'_>,
    segments: &Segments,
) -> Result<PitKey, Refusal> {
    let mut record = a.in_record(p.now);
    let (hash, len) = (a.name.whole(), a.interest.wire().len());
    let room = p.admit(a, Change::Insert { hash, len, record: &record })?;
    record.expires = a.expires;
    p.tables.insert_run(room, a.interest, a.name, segments, record)
}
