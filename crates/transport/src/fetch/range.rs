//! Range Interests: requests for a run of segments by one Interest.
//!
//! Runs of N segments begin at multiples of N, as the chunks of chunk-based schemes do. If the
//! controller permits fewer segments, the run waits until the window has room for it. While
//! segments are in flight, a configured run that is longer than half of the window is requested in
//! parts; most controllers permit any run if nothing is in flight. Lost segments of a range are
//! requested again with a bitmap.
//!
//! A forwarder without ranges answers the first segment only. This is detected when first segments
//! arrive, but the others are declared lost. From then on segments are requested one by one.
//!
//! The answers to a range come in a burst. A queue that holds fewer of them drops the others, and a
//! shaper that holds fewer segments rejects them, however slowly ranges are sent. So a Nack with
//! the reason Congestion halves ranges, and so does the loss of a segment behind the first that
//! later answers show; each range that is answered lets them grow by a segment. A timeout says
//! nothing of a queue, since the whole path may be silent. The chunks of chunk-based schemes keep
//! their size.

use crate::fetch::flight::Place;
use control::Time;
use packet::options::{MAX_RANGE, Range, SegmentBits};
use packet::{HopOption, HopOptions};

/// States in the options of an Interest that it requests `run`, as distances from its own segment.
pub fn state(run: SegmentBits, options: &mut HopOptions) {
    if run.count() > 1
        && let Some(range) = Range::of(run)
    {
        options.set(&range);
    }
}

/// Takes the rejected segments out of the options of a Nack, as distances from its Interest's own.
pub fn rejected(options: &mut HopOptions) -> SegmentBits {
    let range = options.get::<Range>();
    options.remove(Range::TYPE);
    range.map_or(SegmentBits::first(1), |range| range.wanted())
}

/// The known support for ranges on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    /// Unknown so far: the number of first segments received, and of other segments lost.
    Unproven { firsts: u32, lost: u32 },
    /// A segment arrived that only a range had requested.
    Proven,
    /// Ranges are not supported.
    Off,
}

/// Ranges are given up after this many losses of other segments while first segments arrive. Fewer
/// may be chance.
const DOUBTS: u32 = 2;

/// The ranges of a fetch.
#[derive(Debug)]
pub struct Ranges {
    /// The configured number of segments; `None`: the controller's number.
    configured: Option<u16>,
    support: Support,
    /// The forwarder has reported that it does not answer ranges at present.
    held: bool,
    /// Ranges of more segments were rejected in part.
    limit: u16,
    /// When `limit` was last halved. Nacks for Interests sent before say nothing new.
    halved_at: Option<Time>,
}

impl Ranges {
    /// Ranges of `configured` segments, or of the controller's number.
    pub fn new(configured: Option<u16>) -> Ranges {
        Ranges {
            configured,
            support: Support::Unproven { firsts: 0, lost: 0 },
            held: false,
            limit: MAX_RANGE,
            halved_at: None,
        }
    }

    /// The configured number of segments.
    pub fn configured(&self) -> Option<u16> {
        self.configured
    }

    /// The maximum number of segments per Interest, given the controller's number.
    pub fn most(&self, suggested: u16) -> u16 {
        match self.support {
            Support::Off => 1,
            _ if self.held => 1,
            _ => match self.configured {
                Some(configured) => configured.min(self.limit).max(1),
                None => suggested.clamp(1, MAX_RANGE),
            },
        }
    }

    /// Requests segments one by one while `held` is true, even if ranges are supported.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// True if ranges were requested and found to be unsupported.
    pub fn fell_back(&self) -> bool {
        self.support == Support::Off
    }

    /// Records the arrival of a segment.
    pub fn answered(&mut self, place: Place) {
        if place != Place::Behind {
            self.limit = MAX_RANGE.min(self.limit + 1);
        }
        match (place, &mut self.support) {
            (Place::Behind, Support::Unproven { .. }) => self.support = Support::Proven,
            (Place::First, Support::Unproven { firsts, .. }) => *firsts += 1,
            _ => {}
        }
    }

    /// Halves ranges, once for each flight: a segment whose Interest left at `sent_at` was rejected
    /// because of congestion, or a gap behind the first shows that a queue dropped it.
    pub fn shorten(&mut self, now: Time, sent_at: Time) {
        if self.halved_at.is_none_or(|at| sent_at > at) {
            self.limit = (self.configured.unwrap_or(1).min(self.limit) / 2).max(1);
            self.halved_at = Some(now);
        }
    }

    /// Records the loss of a segment, except by a Nack.
    pub fn lost(&mut self, place: Place) {
        let Support::Unproven { firsts, lost } = &mut self.support else { return };
        *lost += u32::from(place == Place::Behind);
        if *firsts > 0 && *lost >= DOUBTS {
            self.support = Support::Off;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_came_behind_another_proves_ranges_for_good() {
        let mut ranges = Ranges::new(Some(32));
        ranges.answered(Place::First);
        ranges.lost(Place::Behind);
        ranges.answered(Place::Behind);
        (0..100).for_each(|_| ranges.lost(Place::Behind));
        assert_eq!((ranges.most(1), ranges.fell_back()), (32, false));
    }

    #[test]
    fn ranges_that_are_rejected_in_part_are_halved_once_for_each_flight() {
        let mut ranges = Ranges::new(Some(100));
        ranges.shorten(Time(50), Time(40));
        ranges.shorten(Time(51), Time(50));
        assert_eq!(ranges.most(1), 50, "the second Interest left before the first Nack came");
        ranges.shorten(Time(60), Time(51));
        assert_eq!(ranges.most(1), 25);
        (100..200).for_each(|at| ranges.shorten(Time(at + 1), Time(at)));
        assert_eq!(ranges.most(1), 1);
    }

    #[test]
    fn ranges_grow_by_a_segment_for_each_range_that_is_answered() {
        let mut ranges = Ranges::new(Some(100));
        ranges.shorten(Time(50), Time(40));
        for place in [Place::First, Place::Behind, Place::Alone] {
            ranges.answered(place);
        }
        assert_eq!(ranges.most(1), 52);
        (0..MAX_RANGE).for_each(|_| ranges.answered(Place::First));
        assert_eq!(ranges.most(1), 100);
    }

    #[test]
    fn the_chunks_of_a_scheme_keep_their_size() {
        let mut ranges = Ranges::new(None);
        ranges.shorten(Time(50), Time(40));
        assert_eq!(ranges.most(32), 32);
    }

    #[test]
    fn ranges_that_are_held_back_are_not_given_up() {
        let mut ranges = Ranges::new(Some(32));
        ranges.hold(true);
        assert_eq!((ranges.most(32), ranges.fell_back()), (1, false));
        ranges.hold(false);
        assert_eq!((ranges.most(32), ranges.fell_back()), (32, false));
    }

    #[test]
    fn first_segments_alone_show_that_ranges_are_not_understood() {
        let mut ranges = Ranges::new(None);
        (0..100).for_each(|_| ranges.lost(Place::Behind));
        assert_eq!(ranges.most(32), 32, "nothing comes at all: that says nothing of ranges");
        ranges.answered(Place::First);
        ranges.lost(Place::First);
        ranges.answered(Place::Alone);
        ranges.lost(Place::Behind);
        assert_eq!((ranges.most(32), ranges.fell_back()), (1, true));
        assert_eq!((Ranges::new(Some(0)).most(32), Ranges::new(None).most(u16::MAX)), (1, 256));
    }
}
