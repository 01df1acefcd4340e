use super::*;
use crate::testing::Gate;
use control::{Rate, math};
use packet::HopOptions;
use proptest::prelude::*;

/// The largest log s1 + log s2 under the constraints, sought without the closed form: for a given
/// s1 the best s2 is the largest that both allow, and what is left is concave in s1.
fn sought(d: Demand) -> (f64, f64) {
    let s2 = |s1: f64| ((d.c1 - s1) / d.r2).min(d.c2 - d.r1 * s1);
    let value = |s1: f64| math::ln(s1) + math::ln(s2(s1));
    let (mut low, mut high) = (0.0, d.c1.min(d.c2 / d.r1));
    for _ in 0..300 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if value(a) < value(b) { low = a } else { high = b }
    }
    (low, s2(low))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

proptest! {
    #[test]
    fn the_closed_form_is_the_optimum(
        c1 in 1e4..1e10f64, c2 in 1e4..1e10f64, r1 in 0.5..300.0f64, r2 in 0.5..300.0f64,
    ) {
        let demand = Demand { c1, c2, r1, r2 };
        let ((s1, s2), (best1, best2)) = (demand.optimum(), sought(demand));
        // The maximum is flat: the places agree to the root of the arithmetic's precision, and the
        // closed form is feasible and no worse.
        prop_assert!(s1 + r2 * s2 <= c1 * (1.0 + 1e-9) && r1 * s1 + s2 <= c2 * (1.0 + 1e-9));
        let value = math::ln(s1) + math::ln(s2);
        prop_assert!(value >= math::ln(best1) + math::ln(best2) - 1e-9, "{demand:?}");
        prop_assert!((s1 / best1 - 1.0).abs() < 1e-4, "{s1} {best1} {best2}");
    }
}

#[test]
fn each_branch_by_hand() {
    let at = |c1, c2| Demand { c1, c2, r1: 27.5, r2: 27.5 }.optimum();
    // Symmetric: (27.5 - 1) 10^7 / (27.5^2 - 1) = 10^7 / 28.5.
    let (s1, s2) = at(10e6, 10e6);
    assert!(near(s1, 350_877.192_982) && near(s2, s1), "{s1}");
    // c1 / c2 = 0.01 < 55 / 757.25: half of c1, and what is left brings the other's Data.
    let (s1, s2) = at(1e6, 100e6);
    assert!(near(s1, 500_000.0) && near(s2, 18_181.818_182), "{s1} {s2}");
    // The mirror.
    let (s1, s2) = at(100e6, 1e6);
    assert!(near(s1, 18_181.818_182) && near(s2, 500_000.0), "{s1} {s2}");
    // 10 and 5 Mbit/s: 2 lies between 0.0726 and 13.8.
    let (s1, s2) = at(10e6, 5e6);
    assert!(near(s1, (27.5 * 5e6 - 10e6) / 755.25) && near(s2, (27.5 * 10e6 - 5e6) / 755.25));
}

#[test]
fn where_both_constraints_are_one_line_nothing_is_divided_by_zero() {
    let (s1, s2) = Demand { c1: 2e6, c2: 1e6, r1: 0.5, r2: 2.0 }.optimum();
    assert!(near(s1, 1e6) && near(s2, 0.5e6), "{s1} {s2}");
}

#[test]
fn capacity_unused_by_the_other_end_is_used() {
    let demand = Demand { c1: 10e6, c2: 10e6, r1: 27.5, r2: 27.5 };
    let (min, max) = (10e6 / 28.5, 10e6 / 27.5);
    let full = 0.98 * min;
    for (s2_obs, s1) in [
        (0.0, max),
        (0.5 * full, min + 0.25 * (max - min)),
        (full, min),
        (10.0 * full, min),
        (f64::INFINITY, min),
    ] {
        assert!(near(demand.rate(s2_obs, 0.98), s1), "{s2_obs}");
    }
}

struct Bench {
    his: His,
    gate: Gate,
    rate: Rate,
}

impl Bench {
    fn new(set: &[(&str, &str)]) -> Bench {
        let mut params = Params::defaults(PARAMS);
        set.iter().for_each(|(name, text)| params.set("his", name, text).unwrap());
        let gate = Gate::new(0).at(Time(1_000_000));
        Bench { his: His::new(&params), gate, rate: Rate::from_mbps(10) }
    }

    fn view(&self) -> LinkView {
        LinkView { rate_out: self.rate, rate_in: self.rate, ..LinkView::default() }
    }

    fn offer(&mut self, size: u64) -> Offer {
        let view = self.view();
        self.gate.offer(&mut self.his, &view, 1, [size, 1100])
    }

    fn release(&mut self) -> usize {
        let view = self.view();
        self.gate.release(&mut self.his, &view).len()
    }

    fn cross(&mut self, direction: Direction, kind: Kind, size: u64) {
        let (view, options) = (self.view(), &HopOptions::new());
        let (size, expected) = (Size(size), Size::ZERO);
        let crossing = Crossing { direction, kind, flow: 1, size, expected, options };
        self.gate.with(|cx| self.his.on_crossing(cx, &view, &crossing));
    }

    /// The distance of the next Interest, in ns, after one of this size.
    fn gap(&mut self, size: u64) -> u64 {
        self.gate.now = self.gate.now.max(self.his.open_at);
        assert!(matches!(self.offer(size), Offer::Pass(_)));
        self.his.open_at.since(self.gate.now).0
    }
}

#[test]
fn an_interest_is_followed_by_its_gap() {
    let mut b = Bench::new(&[]);
    // s1_max = 10 Mbit/s / 27.5, and 98 % of it: 320 bits take 897.96 us.
    let gap = (320.0 / (0.98 * 10e6 / 27.5) * 1e9 + 0.5) as u64;
    assert_eq!((b.gap(40), gap), (gap, 897_959));
    assert!(matches!(b.offer(40), Offer::Held));
    assert_eq!(b.his.next_release(), Some(Time(1_000_000 + gap)));
    b.gate.now = Time(1_000_000 + gap - 1);
    assert_eq!(b.release(), 0);
    b.gate.now = Time(1_000_000 + gap);
    assert_eq!(b.release(), 1);
    // With `min` the other end's share stays free: 10 Mbit/s / 28.5.
    let mut b = Bench::new(&[("form", "min")]);
    assert_eq!(b.gap(40), (320.0 / (0.98 * 10e6 / 28.5) * 1e9 + 0.5) as u64);
}

#[test]
fn a_driver_that_wakes_late_loses_no_rate() {
    let mut b = Bench::new(&[]);
    let gap = b.gap(40);
    (0..38).for_each(|_| assert!(matches!(b.offer(40), Offer::Held)));
    let first = b.gate.now.0;
    for n in 1..=30 {
        b.gate.now = b.his.next_release().unwrap() + Duration::from_micros(100);
        assert_eq!((b.release(), b.gate.now.0), (1, first + n * gap + 100_000));
    }
    // One that was stopped for a second makes up for the last 5 ms: five Interests and this one.
    b.gate.now += Duration::from_secs(1);
    assert_eq!(b.release(), 6);
}

#[test]
fn ratios_follow_the_sizes_that_cross() {
    let mut b = Bench::new(&[("form", "min"), ("h", "1")]);
    b.cross(Direction::In, Kind::Data, 2000);
    b.cross(Direction::In, Kind::Data, 1200);
    b.cross(Direction::Out, Kind::Data, 500);
    b.cross(Direction::In, Kind::Interest, 50);
    // 2000 - 800 / 8 = 1900 bytes of Data for an Interest of 80; 500 for one of 50.
    let (r1, r2) = (1900.0 / 80.0, 500.0 / 50.0);
    let s1 = (r2 - 1.0) * 10e6 / (r1 * r2 - 1.0);
    assert_eq!(b.gap(80), (640.0 / s1 * 1e9 + 0.5) as u64);
}

#[test]
fn the_rate_of_interests_received_is_measured_and_forgotten() {
    let mut b = Bench::new(&[]);
    for _ in 0..11 {
        b.cross(Direction::In, Kind::Interest, 40);
        b.gate.now += Duration::from_millis(10);
    }
    // The eleventh came 100 ms after the first: ten of 320 bits in 0.1 s.
    assert!(near(b.his.observed.at(b.gate.now), 32_000.0));
    // One alone in the next 0.2 s: 320 bits in it, and less as time passes.
    b.gate.now += Duration::from_millis(190);
    assert!(near(b.his.observed.at(b.gate.now), 1_600.0));
    b.gate.now += Duration::from_secs(100);
    assert!(b.his.observed.at(b.gate.now) < 4.0);
}

#[test]
fn the_queue_is_bounded_and_what_expires_is_given_back() {
    let mut b = Bench::new(&[("max_interest", "3")]);
    b.gap(40);
    let held = (0..9).filter(|_| matches!(b.offer(40), Offer::Held)).count();
    assert_eq!(held, 3);
    b.his.open_at = Time(60_000_000_000);
    b.gate.now = Time(4_001_000_000);
    assert_eq!(b.his.next_release(), Some(b.gate.now));
    assert_eq!(b.release(), 3, "for the host to drop");
    assert_eq!(b.his.open_at, Time(60_000_000_000), "it took none of the link's time");
    assert_eq!(b.his.bytes, 0);
}

#[test]
fn codel_and_pie_reject_before_the_queue_is_full() {
    for (queue, rejected) in [("drop-tail", 0), ("pie", 1), ("codel", 1)] {
        let mut b = Bench::new(&[("queue", queue), ("max_interest", "1000000")]);
        // Twice as many as leave: 2227 a second against 1114, for two seconds.
        let mut count = 0;
        for i in 0..4454 {
            b.gate.now = Time(1_000_000 + i * 449_000);
            b.release();
            count += usize::from(matches!(b.offer(40), Offer::Rejected(_)));
        }
        assert!(count >= rejected && (rejected > 0 || count == 0), "{queue}: {count}");
        let waiting = b.his.queue.len();
        assert_eq!(waiting + count > 2000, queue == "drop-tail" || count > 0, "{queue}");
    }
}

#[test]
fn without_rates_nothing_waits() {
    let mut b = Bench::new(&[]);
    b.rate = Rate(0);
    (0..100).for_each(|_| assert!(matches!(b.offer(40), Offer::Pass(_))));
}

#[test]
fn absurd_sizes_do_no_harm() {
    let mut b = Bench::new(&[]);
    for size in [0, u64::MAX] {
        b.cross(Direction::In, Kind::Interest, size);
        b.cross(Direction::In, Kind::Data, size);
        b.cross(Direction::Out, Kind::Data, size);
        b.offer(size);
    }
    let rate = b.his.rate(b.gate.now, &b.view()).unwrap();
    assert!(rate.is_finite() && rate > 0.0, "{rate}");
}
