//! Range Interests as they come in; see [`crate::link::ranges`].

use packet::options::{Exclude, ExpectedBytes, MAX_RANGE, Range};
use packet::{HopOption, HopOptions, Interest, NackReason, tlv};

use super::Pipeline;
use super::context::InterestCx;
use crate::counters::{DropReason, OptionFault};
use crate::link::ranges::Expansion;
use crate::tables::FaceId;

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
    if state.link().is_proved() {
        return;
    }
    state.link_mut().ask_for_proof();
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
        a.options.set(&ExpectedBytes(all / segments as u64));
    }
    let mut buffer = std::mem::take(&mut p.scratch.segment);
    while let Some(at) = expansion.write_next(&mut buffer) {
        let Ok(interest) = Interest::decode(&buffer) else { continue };
        let name = p.hashed(interest.name());
        let mut one = InterestCx {
            token: a.token.clone(),
            mark: a.mark,
            options: a.options.clone(),
            chosen_face: a.chosen_face,
            size: a.size.div_ceil(segments),
            ..InterestCx::new(a.face, &interest, &name, a.nonce, a.expires)
        };
        if at < longest {
            next(p, &mut one);
        } else {
            p.reject(&one, DropReason::RangeTooLong, NackReason::Congestion);
        }
    }
    p.scratch.segment = buffer;
}

/// Calls `next` with each Interest that a Nack, or a frame that was given up, is about. Returns the
/// sum of the results.
pub(super) fn each_returned(
    p: &mut Pipeline<'_>,
    interest: &Interest<'_>,
    range: Option<Range>,
    mut next: impl FnMut(&mut Pipeline<'_>, &Interest<'_>) -> usize,
) -> usize {
    let Some(mut expansion) = range.and_then(|range| Expansion::new(interest, &range)) else {
        return next(p, interest);
    };
    let (mut buffer, mut sum) = (Vec::new(), 0);
    while expansion.write_next(&mut buffer).is_some() {
        if let Ok(one) = Interest::decode(&buffer) {
            sum += next(p, &one);
        }
    }
    sum
}
