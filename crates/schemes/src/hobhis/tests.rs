use super::*;
use crate::testing::Gate;
use control::{QueueView, Rate};

/// A face of 10 Mbit/s with Data of 1000 bytes: 1250 of them a second.
struct Bench {
    hobhis: Hobhis,
    gate: Gate,
    packets: u32,
}

impl Bench {
    fn new(set: &[(&str, &str)]) -> Bench {
        let mut params = Params::defaults(PARAMS);
        set.iter().for_each(|(name, text)| params.set("hobhis", name, text).unwrap());
        let gate = Gate::new(0);
        Bench { hobhis: Hobhis::new(&params), gate, packets: 0 }
    }

    fn view(&self) -> LinkView {
        let bytes = Size(u64::from(self.packets) * 1000);
        LinkView {
            rate_out: Rate::from_mbps(10),
            rate_in: Rate::from_mbps(10),
            data_out: QueueView { packets: self.packets, bytes, head_sojourn: Duration::ZERO },
            ..LinkView::default()
        }
    }

    fn offer(&mut self, flow: Flow) -> Offer {
        let view = self.view();
        self.gate.offer(&mut self.hobhis, &view, flow, [40, 1000])
    }

    fn passes(&mut self, flow: Flow) -> bool {
        matches!(self.offer(flow), Offer::Pass(_))
    }

    fn release(&mut self) -> Vec<Flow> {
        let view = self.view();
        self.gate.release(&mut self.hobhis, &view)
    }

    /// Interests and instants, until nothing waits.
    fn drain(&mut self) -> Vec<(u64, Flow)> {
        let mut out = Vec::new();
        while let Some(at) = self.hobhis.next_release() {
            self.gate.now = self.gate.now.max(at);
            out.extend(self.release().into_iter().map(|flow| (self.gate.now.0, flow)));
        }
        out
    }

    fn returned(&mut self, flow: Flow, size: Option<u64>, ms: u64) {
        let view = self.view();
        let (expected, size) = (Size(1000), size.map(Size));
        let since_release = Duration::from_millis(ms);
        let returned = Returned { flow, expected, size, is_repeated: false, since_release };
        self.gate.with(|cx| self.hobhis.on_returned(cx, &view, &returned));
    }

    /// Adds `count` Data packets of a flow to the queue.
    fn queue(&mut self, flow: Flow, count: u32) {
        for _ in 0..count {
            self.packets += 1;
            let view = self.view();
            self.gate.queued(&mut self.hobhis, &view, flow, 1000, Queued::Joined);
        }
    }

    /// The instants at which `count` Interests leave if the driver wakes `by` late.
    fn late(&mut self, count: usize, by: Duration) -> Vec<u64> {
        let mut out = Vec::new();
        while out.len() < count {
            self.gate.now = self.gate.now.max(self.hobhis.next_release().unwrap() + by);
            let now = self.gate.now.0;
            out.extend(self.release().into_iter().map(|_| now));
        }
        out
    }

    fn gamma(&self, flow: Flow) -> f64 {
        self.hobhis.gamma(&self.view(), flow).unwrap()
    }

    /// A flow whose Interests take 20 ms to bring Data.
    fn answered(set: &[(&str, &str)]) -> Bench {
        let mut b = Bench::new(set);
        assert!(b.passes(1));
        b.returned(1, Some(1000), 20);
        b
    }
}

#[test]
fn gamma_is_the_rate_of_the_link_and_what_brings_the_queue_to_r() {
    let mut b = Bench::answered(&[]);
    // 1250 + 0.1 (50 - e) / 0.020 for e = 0, 50, 80.
    assert!((b.gamma(1) - 1500.0).abs() < 1e-6);
    b.queue(1, 50);
    assert!((b.gamma(1) - 1250.0).abs() < 1e-6);
    b.queue(1, 30);
    assert!((b.gamma(1) - 1100.0).abs() < 1e-6);
    // With 20 of another flow the share of flow 1 is 0.8: 1250 + 0.1 (40 - 80) / 0.020; of flow 2,
    // which has no A of its own, 0.2: 1250 + 0.1 (10 - 20) / 0.020.
    b.queue(2, 20);
    assert!((b.gamma(1) - 1050.0).abs() < 1e-6);
    assert!((b.gamma(2) - 1200.0).abs() < 1e-6);
    assert!((b.gamma(3) - 1500.0).abs() < 1e-6, "of a flow of which nothing waits, all of r");
}

#[test]
fn response_and_size_are_smoothed() {
    let mut b = Bench::answered(&[]);
    assert!(b.passes(1) || !b.drain().is_empty());
    b.returned(1, Some(2000), 30);
    // A = 0.8 * 30 + 0.2 * 20 = 28 ms; S = 1000 + 1000 / 8 = 1125.
    let expected = 10e6 / (8.0 * 1125.0) + 0.1 * 50.0 / 0.028;
    assert!((b.gamma(1) - expected).abs() < 1e-6, "{}", b.gamma(1));
    b.returned(1, None, 4000);
    assert!((b.gamma(1) - expected).abs() < 1e-6, "what brought nothing took no time");
}

#[test]
fn interests_pass_until_the_first_answer() {
    let mut b = Bench::new(&[]);
    (0..500).for_each(|_| assert!(b.passes(1)));
}

#[test]
fn interests_leave_one_by_gamma_apart() {
    let mut b = Bench::answered(&[]);
    b.queue(1, 50);
    b.gate.now = Time(100_000_000);
    assert!(b.passes(1), "the first after a pause");
    assert!(!b.passes(1) && !b.passes(1));
    // 1250 a second: 0.8 ms.
    assert_eq!(b.drain(), [(100_800_000, 1), (101_600_000, 1)]);
}

#[test]
fn a_driver_that_wakes_late_loses_no_rate() {
    let mut b = Bench::answered(&[]);
    b.queue(1, 50);
    b.gate.now = Time(100_000_000);
    assert!(b.passes(1));
    (0..3).for_each(|_| assert!(!b.passes(1)));
    let late = Duration::from_micros(100);
    assert_eq!(b.late(3, late), [100_900_000, 101_700_000, 102_500_000]);
}

#[test]
fn flows_take_turns() {
    let mut b = Bench::answered(&[]);
    b.queue(1, 50);
    (0..4).for_each(|_| assert!(!b.passes(1)));
    assert!(!b.passes(2));
    let order: Vec<Flow> = b.drain().into_iter().map(|(_, flow)| flow).collect();
    assert_eq!(order, [1, 2, 1, 1, 1], "the second is not behind all of the first");
}

#[test]
fn where_gamma_is_not_positive_it_is_looked_at_again() {
    let mut b = Bench::answered(&[]);
    // 1250 + 0.1 (50 - 400) / 0.020 = -500.
    b.queue(1, 400);
    b.gate.now = Time(100_000_000);
    assert!(!b.passes(1));
    // A Data takes 0.8 ms.
    assert_eq!(b.hobhis.next_release(), Some(Time(100_800_000)));
    b.gate.now = Time(100_800_000);
    assert!(b.release().is_empty());
    assert_eq!(b.hobhis.next_release(), Some(Time(101_600_000)));
    for _ in 0..350 {
        b.packets -= 1;
        let view = b.view();
        let mut cx = Cx { now: b.gate.now, rng: &mut b.gate.rng, tap: &mut |_| {} };
        b.hobhis.on_queued(&mut cx, &view, 1, Size(1000), Queued::Left);
    }
    b.gate.now = Time(101_600_000);
    assert_eq!(b.release(), [1], "the one before left long ago");
}

#[test]
fn a_tiny_gamma_is_looked_at_again_too() {
    let mut b = Bench::answered(&[]);
    // 1250 + 0.1 (50 - e) / 0.020 = 0 at e = 300.
    b.queue(1, 300);
    assert!(!b.passes(1));
    let next = b.hobhis.next_release().unwrap();
    assert!(next <= Time(100_000_000), "{next:?}");
}

#[test]
fn nothing_is_kept_of_what_came_to_an_end() {
    let mut b = Bench::new(&[]);
    for flow in 0..1000 {
        assert!(b.passes(flow));
    }
    assert_eq!(b.hobhis.flows.len(), 1000);
    (0..1000).for_each(|flow| b.returned(flow, (flow % 2 == 0).then_some(1000), 20));
    assert_eq!(b.hobhis.flows.len(), 0);
}

#[test]
fn held_interests_of_a_flow_are_bounded_and_expire() {
    let mut b = Bench::answered(&[("max_interest", "10")]);
    b.queue(1, 400);
    b.gate.now = Time(1_000_000);
    let held = (0..50).filter(|_| matches!(b.offer(1), Offer::Held)).count();
    assert_eq!(held, 10);
    assert!(matches!(b.offer(2), Offer::Held), "another flow waits for itself");
    b.gate.now = Time(5_000_000_000);
    assert_eq!(b.release().len(), 11, "for the host to drop");
}

#[test]
fn absurd_answers_do_no_harm() {
    let mut b = Bench::answered(&[]);
    b.returned(1, Some(u64::MAX), 0);
    b.returned(1, Some(0), u64::MAX / 2_000_000);
    assert!(b.gamma(1).is_finite());
    assert!(!b.passes(1) && !b.drain().is_empty());
}
