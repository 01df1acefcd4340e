//! The bytes of Data that an Interest is taken to ask for.
//!
//! The host expects of a flow the size of its last Data. Of a flow that has brought nothing it
//! expects what the Interest says, or else the size of the last Data of all. Either may be too
//! little, by a lie or because the last Data was the small answer of a discovery; the flow's first
//! window would pass at once then. So a flow that is not known is taken to ask for what large Data
//! on the link have, at least.

use crate::per_flow::charge;
use control::{Duration, Flow, Size, Time};

/// A flow is known if it has brought Data in this time or the one before.
const PERIOD: Duration = Duration::from_secs(1);

/// Hashes that distinguish flows.
const HASHES: usize = 4096;

/// See the module. The state does not grow with the number of flows.
pub(super) struct Sizes {
    /// The size of the largest Data, less an eighth for each that came since.
    typical: u64,
    known: [[u64; HASHES / 64]; 2],
    since: Time,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { typical: 0, known: [[0; HASHES / 64]; 2], since: Time::ZERO }
    }
}

fn bit(flow: Flow) -> (usize, u64) {
    let at = flow as usize % HASHES;
    (at / 64, 1 << (at % 64))
}

impl Sizes {
    /// Data of this size and flow has come.
    pub(super) fn on_data(&mut self, now: Time, flow: Flow, size: Size) {
        if now.since(self.since) > PERIOD || now < self.since {
            self.known = [[0; HASHES / 64], self.known[0]];
            self.since = now;
        }
        let (word, bit) = bit(flow);
        self.known[0][word] |= bit;
        self.typical = size.0.max(self.typical / 8 * 7);
    }

    /// The bytes that an Interest of this flow is charged for; the host expects `expected` of it.
    pub(super) fn charge(&self, flow: Flow, expected: Size) -> u64 {
        let (word, bit) = bit(flow);
        let is_known = (self.known[0][word] | self.known[1][word]) & bit > 0;
        let guess = if is_known { 0 } else { self.typical };
        charge(expected.max(Size(guess)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time::ZERO + Duration::from_millis(ms);

    #[test]
    fn a_flow_that_is_not_known_asks_for_large_data() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.charge(1, Size(8192)), 8192, "nothing is known");
        sizes.on_data(MS(0), 1, Size(79));
        assert_eq!((sizes.charge(1, Size(79)), sizes.charge(2, Size(1200))), (79, 1200));
        (0..20).for_each(|_| sizes.on_data(MS(1), 2, Size(1000)));
        sizes.on_data(MS(2), 3, Size(79));
        assert_eq!((sizes.charge(2, Size(1000)), sizes.charge(4, Size(79))), (1000, 875));
        (0..100).for_each(|_| sizes.on_data(MS(3), 3, Size(79)));
        assert_eq!(sizes.charge(4, Size(79)), 79, "all Data are small now");
    }

    #[test]
    fn a_range_is_charged_for_all_of_it() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(0), 1, Size(1000));
        assert_eq!(sizes.charge(2, Size(32_000)), 32_000);
    }

    #[test]
    fn flows_that_bring_nothing_are_forgotten() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(0), 1, Size(100));
        for ms in [1100, 2200] {
            sizes.on_data(MS(ms), 2, Size(1000));
        }
        assert_eq!((sizes.charge(1, Size(100)), sizes.charge(2, Size(100))), (1000, 100));
    }
}
