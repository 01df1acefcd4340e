//! Requests for a run of segments by one Interest.
//!
//! Runs of N segments begin at multiples of N, as the chunks of chunk-based schemes do. A range
//! consists of whole runs only: if the controller permits fewer segments, it waits until the window
//! has opened by the run, or nothing is in flight. Lost segments of a range are requested again
//! with a bitmap. A forwarder without ranges answers the first segment alone. This shows when other
//! segments are declared lost before any has ever arrived, and from then on segments are requested
//! one by one.

use crate::fetch::flight::Place;
use packet::options::MAX_RANGE;

/// The other side's understanding of ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing is known: how many first segments came, and how many others are believed lost.
    Unproven { firsts: u32, lost: u32 },
    /// A segment came that only a range had asked for.
    Proven,
    /// Ranges are not answered.
    Off,
}

/// So many segments behind a first one are lost by chance rarely, while the first ones come.
const DOUBTS: u32 = 2;

/// The ranges of a fetch.
#[derive(Debug)]
pub struct Ranges {
    /// The consumer's own wish.
    wish: Option<u16>,
    standing: Standing,
    /// The forwarder has announced that it answers no ranges at present.
    held: bool,
}

impl Ranges {
    /// Ranges of `wish` segments, or of the controller's number.
    pub fn new(wish: Option<u16>) -> Ranges {
        Ranges { wish, standing: Standing::Unproven { firsts: 0, lost: 0 }, held: false }
    }

    /// The consumer's own wish.
    pub fn wish(&self) -> Option<u16> {
        self.wish
    }

    /// How many segments an Interest may ask for, where a controller says this many.
    pub fn most(&self, said: u16) -> u16 {
        match self.standing {
            Standing::Off => 1,
            _ if self.held => 1,
            _ => self.wish.unwrap_or(said).clamp(1, MAX_RANGE),
        }
    }

    /// Asks one by one while `held`, whatever is known of ranges.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Ranges were asked for, and it turned out that they are not answered.
    pub fn fell_back(&self) -> bool {
        self.standing == Standing::Off
    }

    /// A segment came.
    pub fn answered(&mut self, place: Place) {
        match (place, &mut self.standing) {
            (Place::Behind, Standing::Unproven { .. }) => self.standing = Standing::Proven,
            (Place::First, Standing::Unproven { firsts, .. }) => *firsts += 1,
            _ => {}
        }
    }

    /// A segment is believed lost, for any reason but a Nack.
    pub fn lost(&mut self, place: Place) {
        let Standing::Unproven { firsts, lost } = &mut self.standing else { return };
        *lost += u32::from(place == Place::Behind);
        if *firsts > 0 && *lost >= DOUBTS {
            self.standing = Standing::Off;
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
