//! Range Interests, which the journeys pass through without looking inside.
//!
//! One is as many Interests as it wants segments, which share nonce, lifetime and options. The
//! segments that are neither in the content store nor pending become one PIT entry, of which each
//! downstream has a [`Portion`]. It is asked about once, and goes on as one Interest where the
//! other end of the face understands that; elsewhere as many.
//!
//! `options.rs` calls [`fault`] and [`ignore_unproved`], the journey of an Interest
//! [`RangeInterest::take`] and, in `upstream.rs`, [`expand`], and that of a Nack [`split_sent`].

mod split;

pub(super) use split::{expand, split_sent};

use control::Size;
use packet::options::{Exclude, MAX_RANGE, Range, SegmentBits, answer};
use packet::{HopOption, HopOptions, Interest, NackReason, tlv};

use super::Pipeline;
use super::context::InterestCx;
use crate::counters::{DropReason, OptionFault};
use crate::events::Step;
use crate::link::shaping::Expected;
use crate::node::subject_of;
use crate::tables::pit::{Segments, segment_of};
use crate::tables::{FaceId, HashedName, MAX_PREFIX, PitKey, Portion};
use split::{split, with_last};

/// The fault of a Range; `None` if it is well-formed.
pub(super) fn fault(value: &[u8]) -> Option<OptionFault> {
    if Range::is_well_formed(value) {
        return None;
    }
    Some(match tlv::read_var(value) {
        Err(_) => OptionFault::Range,
        Ok((count, _)) if !(2..=u64::from(MAX_RANGE)).contains(&count) => OptionFault::RangeCount,
        Ok(_) => OptionFault::RangeBitmap,
    })
}

/// Takes a Range off that came from an unproved address: one small Interest with a forged
/// sender would bring up to 256 Data packets to that sender. The address is asked for its
/// proof at once. A peer that sends ranges believed itself proved, perhaps by an earlier face.
pub(super) fn ignore_unproved(p: &mut Pipeline<'_>, face: FaceId, options: &mut HopOptions) {
    if options.is_empty() || options.get_raw(Range::TYPE).is_none() {
        return;
    }
    let Some(state) = p.faces.get_mut(face) else { return };
    if state.link().is_proved() {
        return;
    }
    state.link_mut().ask_for_proof();
    options.remove(Range::TYPE);
    p.faces.count_option_fault(face, OptionFault::RangeUnproved);
    p.wake(face);
}

/// The segments of a range Interest that are in one PIT entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    key: PitKey,
    bits: SegmentBits,
}

impl Part {
    /// The entry.
    pub(super) fn key(self) -> PitKey {
        self.key
    }

    /// Writes the Interest for the share of the entry. The name is that of the entry, from whose
    /// first segment the places count: the downstream's run may begin elsewhere.
    pub(super) fn write(self, p: &Pipeline<'_>, a: &InterestCx<'_>, out: &mut Vec<u8>) {
        out.clear();
        if let Some(run) = p.pit().get(self.key).and_then(|entry| entry.run()) {
            let pending = run.pending();
            with_last(a.interest, &pending.convention.component(pending.first), out);
        }
    }

    /// Joins the entry; says whether there was room.
    fn join(self, p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) -> bool {
        a.portion = Portion::from(self.bits);
        match p.join(self.key, a) {
            Ok(()) => {
                p.stats().aggregated += u64::from(self.bits.count());
                true
            }
            Err(rejection) => {
                p.count_drop(a.face, rejection.into());
                false
            }
        }
    }
}

/// The segments that an Interest asks for with a range, if it can ask so.
fn segments(a: &InterestCx<'_>, range: &Range) -> Option<Segments> {
    let plain = !a.interest.can_be_prefix() && a.interest.parameters().is_none();
    let (first, convention) = segment_of(a.interest.name().last()?)?;
    first.checked_add(u64::from(range.count()))?;
    a.name.prefix(a.name.components() - 1)?;
    plain.then(|| Segments { first, convention, bits: range.wanted() })
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

impl RangeInterest {
    /// Takes the range out of an Interest's options. `None` if there is none that can be had in
    /// this way: then it is an Interest for what its name says, as it is to nodes without ranges.
    pub(super) fn take(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) -> Option<RangeInterest> {
        a.options.get_raw(Range::TYPE)?;
        let range = a.options.get::<Range>();
        a.options.remove(Range::TYPE);
        let longest = p.settings.ranges.longest();
        if longest <= 1 {
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
        let allowed = SegmentBits::first(longest);
        let left = Segments { bits: wanted.bits.and(allowed), ..wanted };
        // An exclusion is about the answers to one name.
        a.options.remove(Exclude::TYPE);
        Some(RangeInterest { wanted, left, parts: Vec::new(), each })
    }

    /// The segments that are in no entry yet.
    pub(super) fn left(&self) -> SegmentBits {
        self.left.bits
    }

    /// A segment goes on alone, or has its answer.
    pub(super) fn remove(&mut self, at: u16) {
        self.left.bits.remove(at);
    }

    /// The segments that are in an entry, by entry.
    pub(super) fn take_parts(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.parts)
    }

    /// True if a segment goes on alone: it is pending alone, or there are routes for names as long
    /// as its own, which may lead each segment to another face.
    pub(super) fn is_alone(p: &Pipeline<'_>, one: &InterestCx<'_>) -> bool {
        let components = one.name.components();
        components >= MAX_PREFIX
            || p.tables.fib().lengths() >> components & 1 == 1
            || p.pit().find(one.interest, one.name).is_some()
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
            Portion::from(self.wanted.bits).state(&mut a.options);
            p.reject(a, DropReason::Duplicate, NackReason::Duplicate);
            return false;
        }
        self.parts.retain_mut(|part| {
            part.key = split(p, part.key, Portion::from(part.bits)).unwrap_or(part.key);
            part.join(p, a)
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
            chosen_face: a.chosen_face,
            subject: subject_of(name),
            size: a.size,
            expected: self.each,
            ..InterestCx::new(a.face, interest, name, a.nonce, a.expires)
        }
    }

    /// Makes one entry of what is left.
    pub(super) fn insert(&mut self, p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
        if self.left.bits.is_empty() {
            return;
        }
        a.portion = Portion::from(self.left.bits);
        match p.insert(a) {
            Ok(key) => {
                p.step(a.face, Step::Inserted);
                self.parts.push(Part { key, bits: self.left.bits });
            }
            Err(rejection) => {
                self.return_credit(p, a, self.left.bits.count());
                p.count_drop(a.face, rejection.into());
            }
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
        let portion = Portion::from(part.bits);
        InterestCx { expected, portion, ..self.segment(a, interest, name) }
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
        Portion::from(bits).state(&mut options);
        let token = a.token.clone();
        p.send_nack(a.face, a.interest, a.nonce, token, options, NackReason::Congestion);
    }
}
