use super::*;
use crate::testing::Gate;
use control::{QueueView, Rate};
use packet::HopOptions;

const US: u64 = 1_000;

/// A face of 40 Mbit/s: 5 bytes a microsecond. B and q_r are 10,000 bytes, Data has 1000.
struct Bench {
    hbh: HopByHop,
    gate: Gate,
    packets: u32,
    flows: u32,
}

impl Bench {
    fn new(set: &[(&str, &str)]) -> Bench {
        let mut params = Params::defaults(PARAMS);
        set.iter().for_each(|(name, text)| params.set("hbh", name, text).unwrap());
        let gate = Gate::new(0);
        Bench { hbh: HopByHop::new(&params), gate, packets: 0, flows: 0 }
    }

    fn view(&self) -> LinkView {
        let bytes = Size(u64::from(self.packets) * 1000);
        LinkView {
            rate_out: Rate::from_mbps(40),
            data_out: QueueView { packets: self.packets, bytes, head_sojourn: Duration::ZERO },
            flows: self.flows,
            ..LinkView::default()
        }
    }

    fn at_us(&mut self, us: u64) {
        self.gate.now = Time(us * US);
    }

    fn offer_for(&mut self, flow: Flow, expected: u64) -> Offer {
        let view = self.view();
        self.gate.offer(&mut self.hbh, &view, flow, [50, expected])
    }

    fn passes(&mut self, flow: Flow) -> bool {
        matches!(self.offer_for(flow, 1000), Offer::Pass(_))
    }

    fn release(&mut self) -> Vec<Flow> {
        let view = self.view();
        self.gate.release(&mut self.hbh, &view)
    }

    fn queue(&mut self, flow: Flow, what: Queued) {
        match what {
            Queued::Joined => self.packets += 1,
            Queued::Left => self.packets -= 1,
        }
        let view = self.view();
        self.gate.queued(&mut self.hbh, &view, flow, 1000, what);
    }

    fn returned(&mut self, flow: Flow, expected: u64, size: Option<u64>) {
        let view = self.view();
        let (expected, size, since_release) = (Size(expected), size.map(Size), Duration::ZERO);
        let returned = Returned { flow, expected, size, is_repeated: false, since_release };
        self.gate.with(|cx| self.hbh.on_returned(cx, &view, &returned));
    }

    /// Data that was asked for comes, and joins the queue.
    fn arrive(&mut self, flow: Flow) {
        self.returned(flow, 1000, Some(1000));
        self.queue(flow, Queued::Joined);
    }

    fn spent(&self, flow: Flow) -> f64 {
        self.hbh.flows.state(flow).map_or(0.0, |account| account.spent)
    }
}

#[test]
fn a_flow_may_ask_for_b_at_once_and_then_waits_for_rounds() {
    let mut b = Bench::new(&[]);
    assert_eq!((0..12).filter(|_| b.passes(1)).count(), 10);
    // One flow, empty queue: a round is 10,000 bytes, which take 2 ms.
    assert_eq!(b.hbh.next_release(), Some(Time(2_000 * US)));
    b.at_us(1_999);
    assert!(b.release().is_empty());
    b.at_us(2_000);
    assert_eq!(b.release(), [1, 1]);
    assert_eq!(b.spent(1), 2_000.0);
}

#[test]
fn a_round_takes_as_long_as_there_are_flows() {
    let mut b = Bench::new(&[]);
    for flow in [1, 2] {
        assert_eq!((0..11).filter(|_| b.passes(flow)).count(), 10);
    }
    assert_eq!(b.hbh.next_release(), Some(Time(4_000 * US)));
    b.at_us(4_000);
    assert_eq!(b.release(), [1, 2]);
}

#[test]
fn a_flow_that_asks_for_little_leaves_the_rest_of_its_rounds() {
    let mut b = Bench::new(&[]);
    assert!(b.passes(2) && b.passes(2));
    assert_eq!((0..11).filter(|_| b.passes(1)).count(), 10);
    // Flow 1 lacks 10,000 bytes and flow 2 just 2000: the round is 12,000, which take 2.4 ms.
    assert_eq!(b.hbh.next_release(), Some(Time(2_400 * US)));
}

#[test]
fn while_data_waits_rounds_are_what_leaves() {
    let mut b = Bench::new(&[]);
    assert_eq!((0..20).filter(|_| b.passes(1)).count(), 10);
    (0..10).for_each(|_| b.arrive(1));
    b.at_us(50_000);
    assert!(b.release().is_empty(), "time alone brings nothing");
    (0..9).for_each(|_| b.queue(1, Queued::Left));
    assert!(b.release().is_empty());
    b.queue(1, Queued::Left);
    assert_eq!(b.hbh.next_release(), Some(Time(50_000 * US)));
    assert_eq!(b.release().len(), 10, "10,000 bytes have left");
}

#[test]
fn data_in_transmission_is_not_counted_twice() {
    let mut b = Bench::new(&[]);
    assert_eq!((0..20).filter(|_| b.passes(1)).count(), 10);
    b.arrive(1);
    b.queue(1, Queued::Left);
    // 1000 bytes have left, and take 200 us; the 9000 that the round lacks take 1800 us more.
    assert_eq!(b.hbh.next_release(), Some(Time(2_000 * US)));
}

#[test]
fn data_from_the_content_store_is_charged_when_it_joins_the_queue() {
    let mut b = Bench::new(&[]);
    assert!(b.passes(1));
    b.arrive(1);
    assert_eq!(b.spent(1), 1_000.0);
    b.queue(1, Queued::Joined);
    b.queue(2, Queued::Joined);
    assert_eq!((b.spent(1), b.spent(2)), (2_000.0, 1_000.0));
    // Data that came and found no room is not taken for the next.
    b.returned(1, 1000, Some(1000));
    b.arrive(1);
    assert_eq!(b.spent(1), 2_000.0);
}

#[test]
fn a_flow_that_was_idle_has_its_credit_whatever_others_do() {
    let mut b = Bench::new(&[]);
    assert_eq!((0..200).filter(|_| b.passes(1)).count(), 10);
    (0..10).for_each(|_| b.arrive(1));
    assert!((0..10).all(|_| b.passes(2)));
    assert!(!b.passes(2));
}

#[test]
fn static_growth_is_an_equal_share_of_the_rate() {
    let mut b = Bench::new(&[("growth", "static")]);
    b.flows = 2;
    assert_eq!((0..20).filter(|_| b.passes(1)).count(), 10);
    // 40 Mbit/s / 2 are 2.5 bytes a microsecond: 1000 bytes every 400 us, whether Data waits or
    // not, and however little others ask for.
    for i in 1..=5 {
        b.arrive(1);
        assert_eq!(b.hbh.next_release(), Some(Time(i * 400 * US)));
        b.at_us(i * 400);
        assert_eq!(b.release(), [1]);
    }
}

#[test]
fn credit_does_not_leak() {
    let mut b = Bench::new(&[]);
    for size in [Some(1000), None] {
        (0..10).for_each(|_| assert!(b.passes(1)));
        (0..10).for_each(|_| b.returned(1, 1000, size));
        let back = if size.is_none() { 10 } else { 0 };
        assert_eq!((0..10).filter(|_| b.passes(1)).count(), back, "{size:?}");
        // And time for as many rounds as it takes.
        b.gate.now += Duration::from_secs(1);
        b.release();
        (0..20).for_each(|_| b.returned(1, 1000, None));
        assert_eq!(b.spent(1), 0.0, "never more than B");
    }
    assert_eq!(b.hbh.flows.len(), 0);
}

#[test]
fn a_loss_lets_the_next_one_go_at_once() {
    let mut b = Bench::new(&[]);
    assert_eq!((0..11).filter(|_| b.passes(1)).count(), 10);
    (0..20).for_each(|_| b.queue(2, Queued::Joined));
    b.at_us(100);
    b.returned(1, 1000, None);
    assert_eq!(b.hbh.next_release(), Some(Time(100 * US)));
    assert_eq!(b.release(), [1]);
}

#[test]
fn data_of_another_size_than_expected_correct_the_credit() {
    let mut b = Bench::new(&[]);
    assert!(matches!(b.offer_for(1, 1), Offer::Pass(_)), "whoever says that nothing will come");
    b.returned(1, 1, Some(8_000));
    assert_eq!(b.spent(1), 8_000.0);
    assert!(matches!(b.offer_for(1, 2_000), Offer::Pass(_)));
    b.returned(1, 2_000, Some(500));
    assert_eq!(b.spent(1), 8_500.0);
}

#[test]
fn interests_larger_than_b_pass_at_full_credit_and_leave_a_debt() {
    let mut b = Bench::new(&[]);
    assert!(matches!(b.offer_for(1, 32_768), Offer::Pass(_)));
    assert!(!b.passes(1));
    // 32,768 are spent. Three rounds leave 2768, of which 9000 less than B is enough for 1000.
    b.at_us(5_999);
    assert!(b.release().is_empty());
    b.at_us(6_000);
    assert_eq!(b.release(), [1]);
    assert_eq!(b.spent(1), 3_768.0);
    // Whatever is said to be expected, 256 of the largest packets are charged at most.
    assert!(matches!(b.offer_for(2, u64::MAX), Offer::Pass(_)));
    assert_eq!(b.spent(2), 2_252_800.0);
}

#[test]
fn an_interest_that_expires_is_given_back_and_costs_nothing_in_the_end() {
    let mut b = Bench::new(&[]);
    assert_eq!((0..11).filter(|_| b.passes(1)).count(), 10);
    b.queue(2, Queued::Joined);
    assert_eq!(b.hbh.next_release(), Some(Time(2_000 * US)), "by the queue as it was");
    b.at_us(2_000);
    assert!(b.release().is_empty());
    assert_eq!(b.hbh.next_release(), Some(Time(4_000_000 * US)));
    b.at_us(4_000_000);
    assert_eq!(b.release(), [1], "for the host to drop");
    assert_eq!(b.spent(1), 11_000.0);
    b.returned(1, 1000, None);
    assert_eq!(b.spent(1), 10_000.0);
}

#[test]
fn the_tail_is_dropped() {
    let mut b = Bench::new(&[("interest_queue", "5")]);
    (0..10).for_each(|_| assert!(b.passes(1)));
    let mut held = 0;
    while matches!(b.offer_for(1, 1000), Offer::Held) {
        held += 1;
    }
    assert_eq!(held, 5);
    assert!(b.passes(2));
}

#[test]
fn without_a_rate_nothing_waits() {
    let mut b = Bench::new(&[]);
    let mut cx = Cx { now: b.gate.now, rng: &mut b.gate.rng, tap: &mut |_| {} };
    for handle in 0..100 {
        let interest = InterestMeta {
            flow: 1,
            segment: 0,
            size: Size(50),
            expected: Size(8000),
            expires: Time::MAX,
            options: HopOptions::new(),
            handle,
        };
        let view = LinkView::default();
        assert!(matches!(b.hbh.offer(&mut cx, &view, &view, interest), Offer::Pass(_)));
    }
}

#[test]
fn a_flow_for_every_interest_is_bounded() {
    for growth in ["rounds", "static"] {
        let mut b = Bench::new(&[("growth", growth)]);
        for flow in 0..20_000 {
            b.gate.now += Duration(10);
            let view = b.view();
            let mut cx = Cx { now: b.gate.now, rng: &mut b.gate.rng, tap: &mut |_| {} };
            b.hbh.on_queued(&mut cx, &view, flow, Size(1000), Queued::Joined);
        }
        assert!(b.hbh.flows.len() <= 1 << 14);
    }
}
