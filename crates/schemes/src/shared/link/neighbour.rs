//! The rate at which the neighbour on a link sends Interests. They share the link with the Data
//! that this end requests.

use control::{Crossing, Direction, Duration, Kind, Time};

/// The length of a window (Wang and others, 2013).
pub(crate) const WINDOW: Duration = Duration::from_millis(100);

/// Counts the neighbour's Interests window by window.
#[derive(Debug, Default)]
pub(crate) struct Neighbour {
    /// The rate in the last window, in bit/s.
    rate: f64,
    /// When the current window began, and the bits counted in it.
    since: Time,
    bits: u64,
}

impl Neighbour {
    /// The rate in the last full window, in bit/s. A clock that goes back ends the window.
    pub(crate) fn rate(&mut self, now: Time) -> f64 {
        let span = now.since(self.since);
        if span >= WINDOW || now < self.since {
            let rate = self.bits as f64 / span.max(WINDOW).as_secs_f64();
            *self = Neighbour { rate, since: now, bits: 0 };
        }
        self.rate
    }

    /// A packet has crossed the link; only Interests that come in count.
    pub(crate) fn on_crossing(&mut self, crossing: &Crossing<'_>) {
        if (crossing.direction, crossing.kind) == (Direction::In, Kind::Interest) {
            self.bits = self.bits.saturating_add(crossing.size.0.saturating_mul(8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Size;
    use packet::HopOptions;

    const MS: u64 = 1_000_000;

    fn cross(neighbour: &mut Neighbour, direction: Direction, kind: Kind, size: u64) {
        let options = &HopOptions::new();
        let (flow, size, expected) = (1, Size(size), Size::ZERO);
        neighbour.on_crossing(&Crossing { direction, kind, flow, size, expected, options });
    }

    #[test]
    fn the_rate_is_that_of_interests_received_in_the_last_window() {
        let mut neighbour = Neighbour::default();
        assert_eq!(neighbour.rate(Time(1000 * MS)), 0.0);
        cross(&mut neighbour, Direction::In, Kind::Interest, 2500);
        cross(&mut neighbour, Direction::In, Kind::Data, 70_000);
        cross(&mut neighbour, Direction::Out, Kind::Interest, 70_000);
        cross(&mut neighbour, Direction::In, Kind::Interest, 2500);
        assert_eq!(neighbour.rate(Time(1100 * MS - 1)), 0.0, "the window is not over");
        // 40 kbit in 100 ms.
        assert_eq!(neighbour.rate(Time(1100 * MS)), 4e5);
        cross(&mut neighbour, Direction::In, Kind::Interest, 5000);
        assert_eq!(neighbour.rate(Time(1200 * MS - 1)), 4e5, "that of the window before");
        // 40 kbit in 400 ms.
        assert_eq!(neighbour.rate(Time(1500 * MS)), 1e5);
        assert_eq!(neighbour.rate(Time(1600 * MS)), 0.0);
    }

    #[test]
    fn a_clock_that_goes_back_ends_the_window() {
        let mut neighbour = Neighbour::default();
        neighbour.rate(Time(1000 * MS));
        cross(&mut neighbour, Direction::In, Kind::Interest, 5000);
        assert_eq!(neighbour.rate(Time(500 * MS)), 4e5);
        assert_eq!(neighbour.rate(Time(600 * MS)), 0.0);
    }
}
