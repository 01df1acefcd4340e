//! Range Interests and Nacks for segments of them as they arrive; see [`crate::link::ranges`].

use control::Kind;
use packet::options::{Exclude, ExpectedBytes, MAX_RANGE, Range};
use packet::{HopOption, HopOptions, Interest, NackReason, tlv};

use super::Pipeline;
use super::context::InterestCx;
use crate::counters::{DropReason, OptionFault};
use crate::events::Step;
use crate::link::ranges::Expansion;
use crate::tables::FaceId;

/// Bytes of all Interests that one stands for. Names may be long: without a bound, one frame would
/// bring a hundred times its bytes into the PIT.
const MOST_BYTES: usize = 1 << 16;

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
    if options.get_raw(Range::TYPE).is_none() {
        return;
    }
    let Some(state) = p.faces.get_mut(face) else { return };
    if state.link().capabilities().is_proved() {
        return;
    }
    state.link_mut().capabilities_mut().ask_for_proof();
    options.remove(Range::TYPE);
    p.faces.count_option_fault(face, OptionFault::RangeUnproved);
    p.wake(face);
}

/// Calls `next` with each Interest that this one stands for: with itself if it has no Range.
#[inline]
pub(super) fn expand(
    p: &mut Pipeline<'_>,
    a: &mut InterestCx<'_>,
    next: fn(&mut Pipeline<'_>, &mut InterestCx<'_>),
) {
    // Most Interests have no options at all.
    if a.options.is_empty() || a.options.get_raw(Range::TYPE).is_none() {
        return next(p, a);
    }
    expand_range(p, a, next);
}

/// Out of line, so that other Interests do not pass its code.
#[inline(never)]
fn expand_range(
    p: &mut Pipeline<'_>,
    a: &mut InterestCx<'_>,
    next: fn(&mut Pipeline<'_>, &mut InterestCx<'_>),
) {
    let range = a.options.get::<Range>();
    a.options.remove(Range::TYPE);
    let longest = p.settings.ranges.longest();
    if longest <= 1 {
        return next(p, a);
    }
    let Some((range, mut expansion)) =
        range.and_then(|range| Some((range, Expansion::new(a.interest, &range)?)))
    else {
        p.faces.count_option_fault(a.face, OptionFault::RangeMisplaced);
        return next(p, a);
    };
    // An exclusion is about the answers to one name.
    a.options.remove(Exclude::TYPE);
    let segments = usize::from(range.wanted().count()).max(1);
    if let Some(ExpectedBytes(all)) = a.options.get() {
        a.options.set(&ExpectedBytes(all.div_ceil(segments as u64)));
    }
    let mut room = MOST_BYTES;
    p.step(a.face, Step::Expanded(segments));
    let mut buffer = std::mem::take(&mut p.scratch.segment);
    while let Some(at) = expansion.write_next(&mut buffer) {
        p.faces.show_arrival(a.face, Kind::Interest, &buffer);
        let Ok(interest) = Interest::decode(&buffer) else {
            // The number of a later segment may be longer.
            p.count_drop(a.face, DropReason::TooBig);
            continue;
        };
        let name = p.hashed(interest.name());
        let mut one = InterestCx {
            token: a.token.clone(),
            mark: a.mark,
            options: a.options.clone(),
            chosen_face: a.chosen_face,
            ..InterestCx::new(a.face, &interest, &name, a.nonce, a.expires)
        };
        room = room.saturating_sub(buffer.len());
        if at < longest && room > 0 {
            next(p, &mut one);
        } else {
            p.reject(&one, DropReason::RangeTooLong, NackReason::Congestion);
        }
    }
    p.scratch.segment = buffer;
}

/// Calls `next` with each Interest that a Nack, or a frame that a link gave up, is about. Returns
/// the sum of the results. `nacked_by`: the face of the Nack, whose segments traces show.
pub(super) fn each_returned(
    p: &mut Pipeline<'_>,
    nacked_by: Option<FaceId>,
    interest: &Interest<'_>,
    range: Option<Range>,
    next: impl Fn(&mut Pipeline<'_>, &Interest<'_>) -> usize,
) -> usize {
    let Some(mut expansion) = range.and_then(|range| Expansion::new(interest, &range)) else {
        return next(p, interest);
    };
    if let Some(face) = nacked_by {
        p.step(face, Step::Expanded(range.map_or(1, |range| range.wanted().count().into())));
    }
    let (mut buffer, mut sum) = (Vec::new(), 0);
    while expansion.write_next(&mut buffer).is_some() {
        if let Ok(one) = Interest::decode(&buffer) {
            if let Some(face) = nacked_by {
                p.faces.show_arrival(face, Kind::Nack, &buffer);
            }
            sum += next(p, &one);
        }
    }
    sum
}

/// Removes the Range from the options of a Nack and returns it. `None` if there is none, or if the
/// sender has not proved its address: it was asked for no ranges, and one small frame of it would
/// cost 256 searches.
pub(super) fn take_of_nack(
    p: &Pipeline<'_>,
    face: FaceId,
    options: &mut HopOptions,
) -> Option<Range> {
    let range = options.get::<Range>();
    options.remove(Range::TYPE);
    range.filter(|_| p.faces.get(face).is_some_and(|face| face.link().capabilities().is_proved()))
}
