//! The shaper at the end of a link that sends Interests into it: flows in turn, each for the time
//! that its Data take of the link.
//!
//! An Interest passes when the Data of all that passed before have had the time to come in; then
//! Data do not queue at the other end. Flows whose Interests wait get equal bytes of Data
//! (`turns.rs`). A flow with more waiting than its share brings in `wait` is rejected, which
//! reports the rate to its consumer at once. So a link's rate bounds its PIT and its memory,
//! whatever flows do. If Data are smaller or larger than the charge for their Interest, or a
//! Nack comes, the next bookings are shorter or longer. Of a crowd, each flow may have one waiting,
//! so that no number of names keeps another flow out. While the link is busy, Data that did not
//! come shorten no booking: the other end may have lost them because its queue is full.

use super::neighbour::left;
use super::sizes::Sizes;
use super::turns::Turns;
use crate::shared::link::neighbour::{Neighbour, WINDOW};
use crate::shared::link::per_flow::charge;
use crate::shared::link::wakeup::MAX_LATENESS;
use control::{
    Crossing, Cx, Direction, Duration, InterestMeta, Kind, LinkView, Offer, Params, Rate, Released,
    Returned, Shaper, Size, Stage, Time,
};

/// Interests of a flow that may wait, however slow the link is.
const FEWEST_WAITING: usize = 8;

/// The Interests of a flow wait no longer than this, but for one of them: an Interest lives for
/// some seconds, and an Interest that expires here has only delayed others.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The number of Interests waiting at a link from which flows that have some waiting are rejected.
const CROWD: usize = 16_384;

/// The link is busy if it brings this part of the booked bytes, measured over the longer of
/// [`WINDOW`] and the time of this number of Data.
const BUSY: f64 = 0.97;
const MEASURED: u64 = 16;

/// The weight that the longest time of an answer keeps with each answer.
const FADING: f64 = 0.99;

/// The number of large Data that may be owed to the link, or by it: they come in one burst.
const MOST_OWED: i64 = 2;

/// See the module.
pub(super) struct Admission {
    fallback: f64,
    /// The part of the link that is booked. Half of the part without offers empties a queue of
    /// wrong bookings, also where flows ignore their offers.
    booked: f64,
    wait: Duration,
    turns: Turns,
    sizes: Sizes,
    /// The time at which the link has brought all booked bytes.
    free_at: Time,
    /// Booked bytes that did not come; negative: bytes that came and were not booked.
    left: i64,
    /// The size of the last Data: the host reports the result of its Interest next, and counts
    /// without the link's header there.
    came: Size,
    /// The latest time of a call.
    latest: Time,
    neighbour: Neighbour,
    is_unknown: bool,
    /// The longest time of an answer, less a small part for each answer since, if it is known.
    answered_in: Option<Duration>,
    /// The Data that have come since then, in bytes.
    brought: (Time, u64),
    /// The link counts as busy until then.
    busy_until: Time,
}

impl Admission {
    pub(super) fn new(params: &Params) -> Admission {
        Admission {
            fallback: params.rate("capacity").0 as f64,
            booked: (1.0 + params.number("eta")) / 2.0,
            wait: params.time("wait"),
            turns: Turns::default(),
            sizes: Sizes::default(),
            free_at: Time::ZERO,
            left: 0,
            came: Size(0),
            latest: Time::ZERO,
            neighbour: Neighbour::default(),
            is_unknown: false,
            answered_in: None,
            brought: (Time::ZERO, 0),
            busy_until: Time::ZERO,
        }
    }

    /// Data of this size have come. `rate` is the booked one.
    fn measure(&mut self, now: Time, size: Size, rate: Rate) {
        let (since, bytes) = self.brought;
        let bytes = bytes.saturating_add(size.0);
        self.brought = (since, bytes);
        let span = now.since(since);
        let enough = rate.time_for(Size(MEASURED * charge(Size(self.sizes.typical())))).max(WINDOW);
        if span >= enough || now < since {
            let is_busy = bytes as f64 >= BUSY * rate.size_in(span).0 as f64;
            self.busy_until = if is_busy { now + enough + enough } else { now };
            self.brought = (now, 0);
        }
    }

    /// The rate of Data that may be requested; `None` if the link's rate is unknown.
    fn budget(&mut self, now: Time, view: &LinkView) -> Option<Rate> {
        let neighbour = self.neighbour.rate(now);
        let known = view.rate_in.0 as f64;
        let capacity = if known > 0.0 { known } else { self.fallback };
        let left = left(capacity, neighbour) * self.booked;
        (capacity > 0.0).then_some(Rate(left.max(1.0) as u64))
    }

    /// Books the time for the Data of an Interest, from `earliest` on.
    fn book(&mut self, earliest: Time, rate: Rate, bytes: u64) {
        let owed = bytes as i64 - self.left;
        self.left = (-owed).max(0);
        let time = rate.time_for(Size(owed.max(0) as u64));
        self.free_at = self.free_at.max(earliest) + time;
    }

    /// True if the link is free. A clock that went back frees it.
    fn is_free(&mut self, now: Time) -> bool {
        if now < self.latest {
            self.free_at = now;
        }
        self.latest = now;
        self.free_at <= now
    }

    /// True if this flow has as much waiting as its share of `rate` brings in `wait`, or has some
    /// in a crowd.
    fn is_full(&mut self, now: Time, interest: &InterestMeta, rate: Rate) -> bool {
        if self.turns.len() >= CROWD && self.turns.has(interest.flow) {
            return true;
        }
        let (waiting, bytes) = self.turns.of(now, interest.flow);
        let flows = (self.turns.flows() + usize::from(waiting == 0)).max(1) as u64;
        let is_long = bytes >= rate.size_in(self.wait.max(LONGEST_WAIT)).0 / flows;
        let is_more = waiting >= FEWEST_WAITING && bytes >= rate.size_in(self.wait).0 / flows;
        waiting > 0 && is_long || is_more
    }
}

impl Shaper for Admission {
    fn stage(&self) -> Stage {
        Stage::Departure
    }

    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        let rate = self.budget(cx.now, view);
        self.is_unknown = rate.is_none();
        let Some(rate) = rate else { return Offer::Pass(interest) };
        let bytes = self.sizes.charge(cx.now, &interest);
        if self.turns.len() == 0 && self.is_free(cx.now) {
            self.book(cx.now, rate, bytes);
            return Offer::Pass(interest);
        }
        if self.is_full(cx.now, &interest, rate) {
            return Offer::Rejected(interest);
        }
        self.turns.push(interest, bytes);
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        let rate = self.budget(cx.now, view);
        if !(self.is_free(cx.now) || self.is_unknown || rate.is_none()) {
            return None;
        }
        let (interest, bytes) = self.turns.pop(cx.now)?;
        // The host drops expired Interests, which book nothing.
        if let Some(rate) = rate.filter(|_| interest.expires > cx.now) {
            self.book(cx.now - MAX_LATENESS, rate, bytes);
        }
        Some(Released::Pass(interest))
    }

    fn next_release(&self) -> Option<Time> {
        (self.turns.len() > 0).then_some(self.free_at)
    }

    fn on_returned(&mut self, cx: &mut Cx<'_>, _view: &LinkView, returned: &Returned) {
        if returned.size.is_some() {
            let known = self.answered_in.unwrap_or_default().mul_f64(FADING);
            self.answered_in = Some(returned.since_release.max(known));
        } else if returned.is_repeated
            && self.answered_in.is_none_or(|longest| returned.since_release <= longest)
        {
            // The answer may be under way, and the repetition may have another one.
            return;
        }
        let brought = returned.size.map_or(Size(0), |size| size.max(self.came));
        let over = self.sizes.overcharge(returned.flow, returned.expected, brought);
        self.left += if cx.now < self.busy_until { over.min(0) } else { over };
        let most = MOST_OWED * charge(Size(self.sizes.typical())) as i64;
        self.left = self.left.clamp(-most, most);
    }

    fn on_crossing(&mut self, cx: &mut Cx<'_>, view: &LinkView, crossing: &Crossing<'_>) {
        self.neighbour.on_crossing(crossing);
        if (crossing.direction, crossing.kind) == (Direction::In, Kind::Data) {
            self.sizes.on_data(cx.now, crossing.flow, crossing.size);
            self.came = crossing.size;
            if let Some(rate) = self.budget(cx.now, view) {
                self.measure(cx.now, crossing.size, rate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sluice::PARAMS;
    use control::Rng;
    use packet::HopOptions;

    /// 0.995 of it are booked, 8 Mbit/s: a Data of 1000 bytes takes a millisecond.
    const VIEW: fn() -> LinkView = || LinkView { rate_in: Rate(8_040_202), ..LinkView::default() };

    struct Bench {
        shaper: Admission,
        now: Time,
        rng: Rng,
        next: u64,
        lifetime: Duration,
    }

    impl Bench {
        fn new() -> Bench {
            let shaper = Admission::new(&Params::defaults(PARAMS));
            Bench {
                shaper,
                now: Time(1_000_000_000),
                rng: Rng::stream(1, &[]),
                next: 0,
                lifetime: Duration::from_secs(1000),
            }
        }

        fn offer(&mut self, flow: u64, bytes: u64) -> Offer {
            self.next += 1;
            let interest = InterestMeta {
                flow,
                segment: self.next,
                size: Size(50),
                expected: Size(bytes),
                expires: self.now + self.lifetime,
                options: HopOptions::new(),
                handle: self.next,
            };
            let mut tap = |_| {};
            let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
            self.shaper.offer(&mut cx, &VIEW(), &VIEW(), interest)
        }

        fn returned(&mut self, flow: u64, expected: u64, size: Option<Size>) {
            self.returned_after(1, flow, expected, size, false);
        }

        fn returned_after(
            &mut self,
            ms: u64,
            flow: u64,
            expected: u64,
            size: Option<Size>,
            is_repeated: bool,
        ) {
            let (expected, since_release) = (Size(expected), Duration::from_millis(ms));
            let returned = Returned { flow, expected, size, is_repeated, since_release };
            let mut tap = |_| {};
            let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
            self.shaper.on_returned(&mut cx, &VIEW(), &returned);
        }

        /// Data of this size come.
        fn came(&mut self, flow: u64, bytes: u64) {
            let crossing = Crossing {
                direction: Direction::In,
                kind: Kind::Data,
                flow,
                size: Size(bytes),
                expected: Size(0),
                options: &HopOptions::new(),
            };
            let mut tap = |_| {};
            let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
            self.shaper.on_crossing(&mut cx, &VIEW(), &crossing);
        }

        /// The flows of the Interests that pass in this time.
        fn run(&mut self, time: Duration) -> Vec<u64> {
            let (end, mut passed) = (self.now + time, Vec::new());
            while let Some(at) = self.shaper.next_release().filter(|at| *at <= end) {
                self.now = self.now.max(at);
                let mut tap = |_| {};
                let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
                while let Some(Released::Pass(interest)) = self.shaper.release(&mut cx, &VIEW()) {
                    passed.push(interest.flow);
                }
            }
            self.now = end;
            passed
        }
    }

    #[test]
    fn data_are_asked_for_at_the_rate_of_the_link() {
        let mut bench = Bench::new();
        assert!(matches!(bench.offer(1, 1000), Offer::Pass(_)));
        (0..40).for_each(|_| assert!(matches!(bench.offer(1, 1000), Offer::Held)));
        // One each millisecond; the first has left.
        assert_eq!(bench.run(Duration::from_micros(10_500)).len(), 10);
    }

    #[test]
    fn flows_get_equal_bytes_whatever_they_ask_for() {
        let mut bench = Bench::new();
        for _ in 0..60 {
            (0..9).for_each(|_| drop(bench.offer(1, 1000)));
            drop(bench.offer(2, 1000));
            (0..3).for_each(|_| drop(bench.offer(3, 4000)));
        }
        let passed = bench.run(Duration::from_millis(90));
        let bytes = |flow| {
            let packets = passed.iter().filter(|passed| **passed == flow).count();
            packets as i64 * if flow == 3 { 4000 } else { 1000 }
        };
        // A third of 90 kB each, but for one Data of the largest.
        for flow in 1..=3 {
            assert!((bytes(flow) - 30_000).abs() <= 4000, "{flow}: {}", bytes(flow));
        }
    }

    #[test]
    fn a_flow_that_asks_for_too_much_is_rejected_and_no_other_is() {
        let mut bench = Bench::new();
        let rejected = (0..1000).filter(|_| matches!(bench.offer(1, 1000), Offer::Rejected(_)));
        // 100 ms of 8 Mbit/s are 100 Data.
        assert_eq!(rejected.count(), 1000 - 1 - 100);
        assert!(matches!(bench.offer(2, 1000), Offer::Held));
        assert_eq!(bench.run(Duration::from_micros(2500)), [1, 2], "each in turn");
    }

    #[test]
    fn of_many_flows_each_has_one_waiting_and_what_has_expired_counts_no_more() {
        let mut bench = Bench::new();
        // A thousand Data of a kilobyte a second: of 2000 flows, one has half of a Data.
        drop(bench.offer(0, 1000));
        for turn in 0..2 {
            for flow in 1..=2000 {
                let offer = bench.offer(flow, 1000);
                assert_eq!(matches!(offer, Offer::Rejected(_)), turn > 0, "{flow}, {turn}");
            }
        }
        let mut bench = Bench::new();
        bench.lifetime = Duration::from_millis(50);
        (0..2000).for_each(|flow| drop(bench.offer(flow, 1000)));
        bench.now += bench.lifetime;
        assert!(matches!(bench.offer(1999, 1000), Offer::Held));
        assert!(matches!(bench.offer(1999, 1000), Offer::Rejected(_)));
    }

    #[test]
    fn while_the_link_is_busy_what_did_not_come_shortens_no_booking() {
        for (each_us, is_busy) in [(1000, true), (2000, false)] {
            let mut bench = Bench::new();
            for _ in 0..1000 {
                bench.now += Duration::from_micros(each_us);
                bench.came(1, 1000);
            }
            drop(bench.offer(1, 1000));
            bench.shaper.left = 0;
            bench.returned(1, 1000, None);
            assert_eq!(bench.shaper.left > 0, !is_busy, "a Data in {each_us} us");
            bench.now += Duration::from_secs(1);
            bench.returned(1, 1000, None);
            assert!(bench.shaper.left > 0, "nothing has come for a while");
            bench.shaper.left = 0;
            bench.returned(1, 1000, Some(Size(3000)));
            assert!(bench.shaper.left < 0, "what came counts");
        }
    }

    #[test]
    fn an_interest_that_is_repeated_before_its_answer_can_be_here_shortens_no_booking() {
        let mut bench = Bench::new();
        bench.offer(1, 1000);
        bench.returned_after(125, 1, 1000, None, true);
        assert_eq!(bench.shaper.left, 0, "nothing is known of answers");
        bench.returned_after(300, 1, 1000, Some(Size(1000)), false);
        bench.returned_after(125, 1, 1000, None, true);
        assert_eq!(bench.shaper.left, 0, "the answer may be under way");
        bench.returned_after(301, 1, 1000, None, true);
        assert!(bench.shaper.left > 0, "it is lost");
        // Answers have become quicker.
        for _ in 0..100 {
            bench.returned_after(10, 1, 1000, Some(Size(1000)), false);
        }
        bench.shaper.left = 0;
        bench.returned_after(125, 1, 1000, None, true);
        assert!(bench.shaper.left > 0);
    }

    #[test]
    fn small_data_and_nacks_leave_the_link_to_others() {
        let mut bench = Bench::new();
        let large = |shaper: &mut Admission| shaper.sizes.on_data(Time(1), 9, Size(1000));
        large(&mut bench.shaper);
        // Unknown names are charged for 1000 bytes each, and bring 100 or a Nack.
        for (name, size) in [(1, Some(Size(100))), (2, None)] {
            let before = bench.shaper.free_at.max(bench.now);
            bench.offer(name, 100);
            bench.run(Duration::from_millis(1));
            assert_eq!(bench.shaper.free_at.since(before), Duration::from_millis(1), "{name}");
            bench.returned(name, 100, size);
            large(&mut bench.shaper);
            // 8 Mbit/s: 900 or 999 bytes of the next 1000 are paid.
            let before = bench.shaper.free_at.max(bench.now);
            bench.offer(9, 1000);
            bench.run(Duration::from_millis(1));
            let booked = bench.shaper.free_at.since(before);
            assert!(booked <= Duration::from_micros(100), "{name}: {booked:?}");
            bench.now += Duration::from_millis(5);
        }
    }

    #[test]
    fn data_larger_than_expected_are_booked_later() {
        let mut bench = Bench::new();
        bench.shaper.sizes.on_data(Time(1), 9, Size(1000));
        bench.shaper.sizes.on_data(bench.now, 1, Size(100));
        bench.offer(1, 100);
        bench.returned(1, 100, Some(Size(1000)));
        bench.now += Duration::from_millis(5);
        bench.offer(1, 1000);
        assert_eq!(bench.shaper.free_at.since(bench.now), Duration::from_micros(1900));
    }

    #[test]
    fn a_clock_that_goes_back_frees_the_link() {
        let mut bench = Bench::new();
        bench.now += Duration::from_secs(100);
        bench.offer(1, 1000);
        bench.now = Time(1_000_000_000);
        assert!(matches!(bench.offer(1, 1000), Offer::Pass(_)));
    }

    #[test]
    fn many_names_keep_no_other_flow_out() {
        let mut bench = Bench::new();
        for name in 0..20_000 {
            (0..10).for_each(|_| drop(bench.offer(name, 1000)));
        }
        assert!(bench.shaper.turns.len() <= 2 * CROWD, "{}", bench.shaper.turns.len());
        // The names of half the hash values have eight waiting each, all others have one.
        assert!(matches!(bench.offer(16_383, 1000), Offer::Rejected(_)), "it has one");
        let mut bench = Bench::new();
        (0..CROWD as u64).for_each(|i| drop(bench.offer(i / 8, 1000)));
        bench.offer(0, 1000);
        assert!(matches!(bench.offer(1, 1000), Offer::Rejected(_)), "it has eight");
        assert!(matches!(bench.offer(5000, 1000), Offer::Held), "it has none");
    }

    #[test]
    fn a_link_of_unknown_rate_holds_nothing() {
        let mut bench = Bench::new();
        let unknown = LinkView::default();
        for _ in 0..100 {
            bench.next += 1;
            let interest = InterestMeta {
                flow: 1,
                segment: bench.next,
                size: Size(50),
                expected: Size(1000),
                expires: Time::MAX,
                options: HopOptions::new(),
                handle: bench.next,
            };
            let mut tap = |_| {};
            let mut cx = Cx { now: bench.now, rng: &mut bench.rng, tap: &mut tap };
            let offer = bench.shaper.offer(&mut cx, &unknown, &unknown, interest);
            assert!(matches!(offer, Offer::Pass(_)));
        }
    }
}
