//! The window of the controller, and its permission for requests.

use super::Requests;
use crate::fetch::item::Item;
use control::{Ask, InFlight, MAX_WINDOW, Permit, Size, Time};
use packet::options::SegmentBits;

impl Requests {
    /// The sum of the windows of all lanes; `None` if the controller has no window.
    pub fn window(&self) -> Option<f64> {
        let mut sum = None;
        self.gauges(&mut |_, name, value| {
            if name == "window" {
                sum = Some(sum.unwrap_or(0.0) + value);
            }
        });
        sum
    }

    /// The maximum number of segments that an Interest may request.
    pub fn most(&self) -> u16 {
        self.ranges.most(self.controller.range())
    }

    /// The same from `segment` on: runs end at multiples of that number, so chunks are whole.
    pub fn most_from(&self, segment: u64) -> u16 {
        let most = self.most();
        most - (segment % u64::from(most)) as u16
    }

    /// Asks the controller for permission to request `run`, which shrinks to the part that the
    /// allowance covers. A window of fewer than two configured runs would be idle for most of each
    /// round trip, so half of a run is requested while less than a run is in flight. A chunk of a
    /// chunk-based scheme is requested in whole, or its first segment if nothing is in flight.
    pub fn permit(
        &self,
        now: Time,
        item: Item,
        attempt: u16,
        each: Size,
        run: &mut SegmentBits,
    ) -> Permit {
        *run = self.allowance.trim(*run, each);
        let in_flight = self.in_flight();
        loop {
            let count = run.count();
            let permit = self.permit_of(now, item, count, attempt, each);
            let shorter = match self.ranges.configured() {
                Some(_) if in_flight < u32::from(count) => count.div_ceil(2),
                None if in_flight == 0 => 1,
                _ => return permit,
            };
            if permit != Permit::Wait || count <= 1 {
                return permit;
            }
            *run = run.limited_to(shorter);
        }
    }

    /// Asks the controller for permission, up to [`MAX_WINDOW`] items in flight.
    fn permit_of(&self, now: Time, item: Item, count: u16, attempt: u16, segment: Size) -> Permit {
        let ask = Ask { first: item.segment(), count, attempt, segment, in_flight: &self.flight };
        if f64::from(self.flight.total().segments) + f64::from(count) > MAX_WINDOW {
            return Permit::Wait;
        }
        self.controller.permit(now, &ask)
    }
}
