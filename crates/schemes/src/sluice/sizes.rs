//! The bytes of Data for which an Interest is charged.
//!
//! The host expects of a flow the size of its last Data. For a flow without Data it expects the
//! size that the Interest states, or else the size of the last Data of any flow. A stated size may
//! be too small, by a lie; the size of another flow's Data may be too small or too large. So the
//! first Interest of an unknown flow is charged for the mean size of flows' first Data. Each later
//! one is charged for the size of large Data on the link. A larger stated size counts instead.
//! Otherwise the first window of a flow might pass at once. The charge is multiplied by the part of
//! first Interests that Data answers: otherwise names without Data would keep a link booked. The
//! overcharge is known when the Data or a Nack has come ([`Sizes::overcharge`]).

use crate::shared::link::per_flow::charge;
use control::{Duration, Flow, InterestMeta, Size, Time};
use packet::HopOption;
use packet::options::ExpectedBytes;

/// A flow is known if it has brought Data in this period or the one before. The host knows a flow's
/// size for longer.
const PERIOD: Duration = Duration::from_millis(500);

/// The weight of an Interest in the part of those that are answered.
const MEMORY: f64 = 1.0 / 16.0;

/// Hashes that distinguish flows.
const HASHES: usize = 4096;

/// See the module. The state does not grow with the number of flows.
pub(super) struct Sizes {
    /// The size of the largest Data, less an eighth for each that came since.
    typical: u64,
    /// The mean size of Data of flows that were not known.
    first: u64,
    /// The part of first Interests of such flows that brought Data.
    answered: f64,
    known: [[u64; HASHES / 64]; 2],
    since: Time,
    /// The last charge of flows that were not known, by hash; 0: none.
    guessed: [u32; HASHES],
}

impl Default for Sizes {
    fn default() -> Sizes {
        let known = [[0; HASHES / 64]; 2];
        Sizes {
            typical: 0,
            first: 0,
            answered: 1.0,
            known,
            since: Time::ZERO,
            guessed: [0; HASHES],
        }
    }
}

fn bit(flow: Flow) -> (usize, u64) {
    let at = flow as usize % HASHES;
    (at / 64, 1 << (at % 64))
}

impl Sizes {
    /// Begins another period if this one has ended. A clock that went back begins one as well.
    fn turn(&mut self, now: Time) {
        let span = now.since(self.since);
        if span < PERIOD && now >= self.since {
            return;
        }
        let before = if span < PERIOD.mul_f64(2.0) { self.known[0] } else { [0; HASHES / 64] };
        self.known = [[0; HASHES / 64], before];
        self.since = now;
    }

    /// Data of this size and flow has come.
    pub(super) fn on_data(&mut self, now: Time, flow: Flow, size: Size) {
        self.turn(now);
        let size = charge(size);
        let (word, bit) = bit(flow);
        if (self.known[0][word] | self.known[1][word]) & bit == 0 {
            self.first = if self.first == 0 { size } else { (self.first * 7 + size) / 8 };
        }
        self.known[0][word] |= bit;
        self.typical = size.max(self.typical / 8 * 7);
    }

    /// The bytes that an Interest is charged for.
    pub(super) fn charge(&mut self, now: Time, interest: &InterestMeta) -> u64 {
        self.turn(now);
        let (word, bit) = bit(interest.flow);
        let is_known = (self.known[0][word] | self.known[1][word]) & bit > 0;
        if is_known {
            return charge(interest.expected);
        }
        let guessed = &mut self.guessed[interest.flow as usize % HASHES];
        let least = if *guessed == 0 { self.first } else { self.typical };
        let is_stated = interest.options.get_raw(ExpectedBytes::TYPE).is_some();
        let stated = if is_stated || least == 0 { interest.expected.0 } else { 0 };
        let guess = charge(Size((least.max(stated) as f64 * self.answered) as u64));
        if *guessed == 0 {
            *guessed = u32::try_from(guess).unwrap_or(u32::MAX);
        }
        guess
    }

    /// Returns the charge for an Interest, less the bytes that it brought. The host expected
    /// `expected` of it. A guess counts once, so that no flow gains by asking for nothing.
    pub(super) fn overcharge(&mut self, flow: Flow, expected: Size, brought: Size) -> i64 {
        let guess = std::mem::take(&mut self.guessed[flow as usize % HASHES]);
        if guess > 0 {
            let outcome = f64::from(u8::from(brought > Size(0)));
            self.answered += MEMORY * (outcome - self.answered);
        }
        let charged = if guess > 0 { u64::from(guess) } else { charge(expected) };
        charged as i64 - charge(brought) as i64
    }

    /// The size of large Data on the link.
    pub(super) fn typical(&self) -> u64 {
        self.typical
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The charge for an Interest with this expected size, which it states or not.
    fn charged(sizes: &mut Sizes, now: Time, flow: Flow, expected: u64, is_stated: bool) -> u64 {
        let mut options = packet::HopOptions::new();
        if is_stated {
            options.set(&ExpectedBytes(expected));
        }
        let (size, expected, expires) = (Size(50), Size(expected), Time::MAX);
        let interest =
            InterestMeta { flow, segment: 0, size, expected, expires, options, handle: 0 };
        sizes.charge(now, &interest)
    }

    const MS: fn(u64) -> Time = |ms| Time(1_000_000_000) + Duration::from_millis(ms);

    #[test]
    fn the_second_interest_of_an_unknown_flow_asks_for_large_data() {
        let mut sizes = Sizes::default();
        assert_eq!(charged(&mut sizes, MS(0), 1, 8192, true), 8192, "nothing is known");
        // First Data are small answers of discoveries, those that follow are large.
        for flow in 1..9 {
            sizes.on_data(MS(0), flow, Size(80));
            (0..20).for_each(|_| sizes.on_data(MS(1), flow, Size(1000)));
        }
        assert_eq!(charged(&mut sizes, MS(2), 1, 1000, true), 1000, "it is known");
        let found = [79; 3].map(|expected| charged(&mut sizes, MS(2), 10, expected, true));
        assert_eq!(found, [80, 1000, 1000]);
        assert_eq!(charged(&mut sizes, MS(2), 11, 1200, true), 1200);
        (0..100).for_each(|_| sizes.on_data(MS(3), 3, Size(79)));
        assert_eq!(charged(&mut sizes, MS(3), 10, 79, true), 79, "all Data are small now");
    }

    #[test]
    fn many_names_with_large_data_are_charged_for_them() {
        let mut sizes = Sizes::default();
        for name in 0..40 {
            assert!(charged(&mut sizes, MS(0), name, 1, true) <= 8000);
            sizes.on_data(MS(0), name, Size(8000));
        }
        assert_eq!(charged(&mut sizes, MS(0), 100, 1, true), 8000);
    }

    #[test]
    fn the_overcharge_of_a_guess_counts_once() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(0), 1, Size(8000));
        assert_eq!(charged(&mut sizes, MS(0), 2, 100, true), 8000);
        let found = [100, 100].map(|size| sizes.overcharge(2, Size(100), Size(size)));
        assert_eq!(found, [7900, 0]);
        assert_eq!(sizes.overcharge(1, Size(8000), Size(300)), 7700, "its last Data was smaller");
        assert_eq!(sizes.overcharge(1, Size(300), Size(8000)), -7700, "and larger");
    }

    #[test]
    fn a_small_object_is_not_charged_for_the_large_data_beside_it() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(0), 1, Size(8000));
        for name in 10..60 {
            sizes.on_data(MS(0), name, Size(100));
        }
        sizes.on_data(MS(0), 1, Size(8000));
        // The host expects the size of the last Data.
        let guess = charged(&mut sizes, MS(0), 100, 8000, false);
        assert!(guess < 200, "{guess}");
        assert_eq!(sizes.overcharge(100, Size(8000), Size(70)), guess as i64 - 70);
        assert_eq!(charged(&mut sizes, MS(0), 101, 8000, true), 8000);
    }

    #[test]
    fn names_that_bring_nothing_cost_nothing() {
        let mut sizes = Sizes::default();
        for name in 0..200 {
            // Each asks twice, so that the second is not taken for the first of a small object.
            charged(&mut sizes, MS(0), name, 8000, true);
            charged(&mut sizes, MS(0), name, 8000, true);
            sizes.on_data(MS(0), 4000, Size(8000));
            sizes.overcharge(name, Size(8000), Size(0));
        }
        let junk: u64 = (200..300).map(|n| charged(&mut sizes, MS(0), n, 8000, true)).sum();
        assert!(junk < 8000, "{junk}");
        assert_eq!(charged(&mut sizes, MS(0), 4000, 8000, true), 8000, "it brings Data");
        // If names bring Data again, they are charged for it.
        for name in 300..400 {
            charged(&mut sizes, MS(0), name, 8000, true);
            sizes.on_data(MS(0), name, Size(8000));
            sizes.overcharge(name, Size(8000), Size(8000));
        }
        assert!(charged(&mut sizes, MS(0), 500, 8000, true) > 7900);
    }

    #[test]
    fn a_range_is_charged_for_all_of_it() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(0), 1, Size(1000));
        assert_eq!(charged(&mut sizes, MS(0), 2, 32_000, true), 32_000);
    }

    #[test]
    fn flows_that_bring_nothing_are_forgotten() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(0), 1, Size(1000));
        sizes.on_data(MS(0), 2, Size(100));
        for ms in [600, 1200] {
            sizes.on_data(MS(ms), 1, Size(1000));
        }
        let found = [1, 2, 2].map(|flow| charged(&mut sizes, MS(1200), flow, 100, true));
        assert_eq!(found[..1], [100], "{found:?}");
        assert!(found[1..].iter().all(|charge| *charge > 800), "{found:?}");
        // No other flow need bring anything.
        sizes.on_data(MS(2000), 2, Size(100));
        assert_eq!(charged(&mut sizes, MS(2900), 2, 100, true), 100);
        assert!(charged(&mut sizes, MS(3500), 2, 100, true) > 700);
    }

    #[test]
    fn a_clock_that_goes_back_keeps_no_flow_known_for_long() {
        let mut sizes = Sizes::default();
        sizes.on_data(MS(9000), 1, Size(1000));
        sizes.on_data(MS(9000), 2, Size(100));
        for ms in [10, 600, 1200] {
            sizes.on_data(MS(ms), 1, Size(1000));
        }
        assert!(charged(&mut sizes, MS(1200), 2, 100, true) > 800);
    }
}
