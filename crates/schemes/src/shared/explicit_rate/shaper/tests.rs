use super::*;
use crate::mircc;
use crate::shared::link::neighbour::WINDOW;
use crate::testing::Gate;
use control::{Direction, Kind};
use packet::HopOptions;

const MS: u64 = 1_000_000;

/// A link of 8 Mbit/s without headroom: Data of 1000 bytes take 1 ms.
struct Bench {
    shaper: PrimaryFirst,
    gate: Gate,
    view: LinkView,
}

fn bench(held: &str) -> Bench {
    let mut params = Params::defaults(mircc::SCHEME.params);
    params.set("mircc", "h", "1").unwrap();
    params.set("mircc", "held", held).unwrap();
    Bench {
        shaper: PrimaryFirst::new(&params),
        gate: Gate::new(1).at(Time(1000 * MS)),
        view: LinkView { rate_in: Rate::from_mbps(8), ..LinkView::default() },
    }
}

#[derive(Debug, PartialEq)]
enum Got {
    Pass(u64),
    Held,
    Rejected(u64),
}

impl Bench {
    fn with<R>(&mut self, act: impl FnOnce(&mut PrimaryFirst, &mut Cx<'_>, &LinkView) -> R) -> R {
        self.gate.with(|cx| act(&mut self.shaper, cx, &self.view))
    }

    fn offer(&mut self, class: TrafficClass) -> Got {
        let mut options = HopOptions::new();
        options.set(&class);
        let bytes = [40, 1000];
        match self.gate.offer_with(&mut self.shaper, &self.view, 1, bytes, options) {
            Offer::Pass(meta) => Got::Pass(meta.handle),
            Offer::Held => Got::Held,
            Offer::Rejected(meta) => Got::Rejected(meta.handle),
        }
    }

    fn offer_one(&mut self) {
        assert!(!matches!(self.offer(Primary), Got::Rejected(_)));
    }

    fn release(&mut self) -> Option<Got> {
        self.with(|shaper, cx, view| shaper.release(cx, view)).map(|released| match released {
            Released::Pass(meta) => Got::Pass(meta.handle),
            Released::Rejected(meta) => Got::Rejected(meta.handle),
        })
    }

    fn wait(&mut self) {
        self.gate.now = self.shaper.next_release().expect("something is held");
    }
}

use TrafficClass::{Primary, Secondary};

#[test]
fn interests_leave_as_fast_as_their_data_can_come() {
    let mut b = bench("100");
    let start = b.gate.now;
    assert_eq!(b.offer(Primary), Got::Pass(0));
    for _ in 0..3 {
        assert_eq!(b.offer(Primary), Got::Held);
    }
    assert_eq!(b.release(), None);
    for n in [1, 2, 3] {
        b.wait();
        assert_eq!(b.gate.now, Time(start.0 + n * MS));
        assert_eq!(b.release(), Some(Got::Pass(n)));
        assert_eq!(b.release(), None);
    }
    assert_eq!(b.shaper.next_release(), None);
}

#[test]
fn primary_interests_go_first_and_push_out_the_latest_secondary() {
    let mut b = bench("3");
    assert_eq!(b.offer(Secondary), Got::Pass(0));
    assert_eq!(b.release(), None);
    let got: Vec<Got> = [Secondary, Secondary, Primary, Primary].map(|class| b.offer(class)).into();
    assert_eq!(got, [Got::Held, Got::Held, Got::Held, Got::Held]);
    let at = b.shaper.next_release();
    assert!(at.is_some_and(|at| at <= b.gate.now), "what made room is told now");
    assert_eq!(b.release(), Some(Got::Rejected(2)));
    // Two primary and one secondary are held: another secondary finds no room.
    assert_eq!(b.offer(Secondary), Got::Rejected(5));
    assert_eq!(b.offer(Primary), Got::Held);
    assert_eq!(b.release(), Some(Got::Rejected(1)));
    assert_eq!(b.offer(Primary), Got::Rejected(7), "there is nothing left to push out");
    let mut order = Vec::new();
    while b.shaper.next_release().is_some() {
        b.wait();
        order.extend(b.release());
    }
    assert_eq!(order, [Got::Pass(3), Got::Pass(4), Got::Pass(6)]);
}

#[test]
fn interests_with_a_too_long_wait_are_rejected() {
    let mut b = bench("100");
    assert_eq!(b.offer(Primary), Got::Pass(0));
    // 100 ms by default: 100 Data of 1 ms. (The view is the host's, of what it holds.)
    b.view.held.bytes = Size(99_999);
    assert_eq!(b.offer(Secondary), Got::Held);
    b.view.held.bytes = Size(100_000);
    assert_eq!(b.offer(Secondary), Got::Rejected(2));
    assert_eq!(b.offer(Primary), Got::Held, "in place of the secondary one");
    assert_eq!(b.release(), Some(Got::Rejected(1)));
    assert_eq!(b.offer(Primary), Got::Rejected(4));
}

#[test]
fn secondary_interests_behind_the_primary_class_are_rejected_in_time() {
    let mut b = bench("100");
    let start = b.gate.now;
    assert_eq!(b.offer(Primary), Got::Pass(0));
    assert_eq!(b.offer(Secondary), Got::Held);
    // A primary one for every Data that there is time for.
    let mut rejected = None;
    while rejected.is_none() && b.gate.now < start + Duration(200 * MS) {
        b.offer_one();
        b.wait();
        rejected = b.release().filter(|got| *got == Got::Rejected(1)).map(|_| b.gate.now);
    }
    assert_eq!(rejected, Some(start + Duration(100 * MS)));
}

#[test]
fn the_neighbours_interests_take_their_part() {
    let mut b = bench("100");
    let options = HopOptions::new();
    // 50 kB in 100 ms: 4 of the 8 Mbit/s.
    b.with(|shaper, cx, view| shaper.on_crossing(cx, view, &crossing(1, &options)));
    b.offer(Primary);
    b.with(|shaper, cx, view| shaper.on_crossing(cx, view, &crossing(50_000, &options)));
    b.gate.now += WINDOW;
    b.offer(Primary);
    b.offer(Primary);
    b.wait();
    let first = b.gate.now;
    b.release();
    b.offer(Primary);
    b.wait();
    assert_eq!(b.gate.now.since(first), Duration(2 * MS), "a Data takes twice as long");
    // All of it, and more: a sixteenth stays ours.
    b.gate.now += WINDOW;
    b.with(|shaper, cx, view| shaper.on_crossing(cx, view, &crossing(u64::MAX, &options)));
    b.gate.now += WINDOW;
    b.release();
    b.offer(Primary);
    b.offer(Primary);
    let last = (b.shaper.free_at, b.gate.now);
    assert!(last.0.since(last.1) <= Duration(16 * MS), "{last:?}");
    // It is forgotten when the neighbour falls silent.
    b.gate.now += WINDOW;
    b.release();
    b.gate.now += WINDOW;
    b.release();
    assert_eq!(b.shaper.neighbour.rate(b.gate.now), 0.0);
}

fn crossing(size: u64, options: &HopOptions) -> Crossing<'_> {
    Crossing {
        direction: Direction::In,
        kind: Kind::Interest,
        flow: 2,
        size: Size(size),
        expected: Size::ZERO,
        options,
    }
}

#[test]
fn expired_interests_take_no_turn() {
    let mut b = bench("100");
    (0..3).for_each(|_| b.offer_one());
    b.wait();
    b.gate.now += Duration::from_secs(5);
    let busy = b.shaper.free_at;
    assert_eq!(b.release(), Some(Got::Pass(1)));
    assert_eq!(b.release(), Some(Got::Pass(2)));
    assert_eq!(b.shaper.free_at, busy, "the host drops both");
}

#[test]
fn without_a_rate_nothing_is_held() {
    let mut b = bench("100");
    (0..3).for_each(|_| b.offer_one());
    b.view.rate_in = Rate(0);
    assert_eq!(b.offer(Primary), Got::Pass(3));
    assert_eq!(b.release(), Some(Got::Pass(1)));
    assert_eq!(b.release(), Some(Got::Pass(2)));
    assert_eq!(b.release(), None);
}

#[test]
fn a_clock_that_goes_back_does_not_stop_it() {
    let mut b = bench("100");
    b.gate.now = Time(u64::MAX / 2);
    (0..3).for_each(|_| b.offer_one());
    b.gate.now = Time(1000 * MS);
    let got = b.offer(Primary);
    assert!(got == Got::Held || matches!(got, Got::Pass(_)));
    b.with(|shaper, cx, view| drop(shaper.release(cx, view)));
    assert!(b.shaper.next_release().is_some_and(|at| at <= b.gate.now + Duration(MS)));
}
