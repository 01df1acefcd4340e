use super::*;
use crate::testing::Play;
use control::{
    Cause, DataMeta, InterestMeta, LinkView, Marker, QueueView, Rng, Size, Time, Verdict,
};
use packet::HopOptions;

pub(super) fn params(set: &[(&str, &str)]) -> Params {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("pcon", name, text).unwrap();
    }
    params
}

#[test]
fn every_law_of_the_registry_can_be_chosen_and_takes_the_factor() {
    let laws = window_law::names();
    assert!(["aimd", "bic", "cubic"].iter().all(|law| laws.contains(law)), "{laws:?}");
    for law in ["aimd", "bic", "cubic"] {
        let mut pcon = Pcon::new(&params(&[("law", law), ("beta", "0.25")]));
        pcon.seed(100.0);
        let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
        let mut cx = Cx { now: Time(5), rng: &mut rng, tap: &mut tap };
        pcon.on_congestion(&mut cx, Signal::Mark, &RttEstimate::new());
        assert_eq!(pcon.window(), 25.0, "{law}");
    }
}

#[test]
fn each_mark_cuts_and_losses_cut_once_a_round_trip() {
    let params = params(&[("law", "aimd")]);
    let mut play = Play::new(Box::new(Windowed::new(Box::new({
        let mut pcon = Pcon::new(&params);
        pcon.seed(64.0);
        pcon
    }))));
    let mut outs: Vec<_> = (0..6).map(|_| play.ask(1).unwrap()).collect();
    play.now += play.ms(10);
    for window in [32.0, 16.0, 8.0] {
        play.data(&outs.pop().unwrap(), 1);
        assert_eq!(play.gauge("window"), window);
    }
    for _ in 0..2 {
        play.lose(&outs.pop().unwrap(), Cause::Nack(50));
        assert_eq!(play.gauge("window"), 4.0, "they left in one round trip");
    }
}

/// A link on which all Data, or all Interests, wait for the given time.
struct Link {
    marker: PconMarker,
    rng: Rng,
}

impl Link {
    fn new() -> Link {
        Link { marker: PconMarker::new(&params(&[])), rng: Rng::stream(0, &[]) }
    }

    fn view(behind: u32) -> LinkView {
        let queue = QueueView { packets: behind, ..QueueView::default() };
        LinkView { data_out: queue, interests_out: queue, ..LinkView::default() }
    }

    /// At `at` ms Data leave after `sojourn` ms with one behind them, and others join.
    fn pass(&mut self, at: u64, sojourn: u64) -> bool {
        let mut tap = |_| {};
        let now = Time::ZERO + Duration::from_millis(at);
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let options = HopOptions::default();
        let data = DataMeta { flow: 0, segment: 0, size: Size(8000), mark: 0, options };
        let (view, sojourn) = (Link::view(1), Duration::from_millis(sojourn));
        assert_eq!(self.marker.on_dequeue(&mut cx, &view, &data, sojourn), Verdict::Pass);
        self.marker.on_enqueue(&mut cx, &view, &data) == Verdict::Mark(1)
    }
}

#[test]
fn an_event_marks_one_packet_and_events_come_closer() {
    let mut link = Link::new();
    let marked: Vec<u64> = (1000..1400).filter(|at| link.pass(*at, 6)).collect();
    // Above since 1000; over after 1100, at 1101. Then 110 ms / sqrt(1), / sqrt(2) = 77.8,
    // / sqrt(3) = 63.5.
    assert_eq!(marked, [1101, 1211, 1289, 1353]);
}

#[test]
fn a_short_sojourn_ends_the_incident() {
    let mut link = Link::new();
    assert_eq!((1000..1101).filter(|at| link.pass(*at, 6)).count(), 0);
    assert!(!link.pass(1101, 5), "the target itself is no excess");
    let marked: Vec<u64> = (1102..1300).filter(|at| link.pass(*at, 6)).collect();
    assert_eq!(marked, [1203], "another interval");
}

#[test]
fn an_interest_that_meets_an_event_is_flagged() {
    let mut link = Link::new();
    let interest = InterestMeta {
        flow: 0,
        segment: 0,
        size: Size(60),
        expected: Size(8000),
        expires: Time::MAX,
        options: HopOptions::default(),
        handle: 0,
    };
    let mut flagged = |at: u64, behind: u32| {
        let mut tap = |_| {};
        let now = Time::ZERO + Duration::from_millis(at);
        let mut cx = Cx { now, rng: &mut link.rng, tap: &mut tap };
        let (view, sojourn) = (Link::view(behind), Duration::from_millis(6));
        link.marker.on_interest_dequeue(&mut cx, &view, &interest, sojourn) == Verdict::Mark(1)
    };
    let marked: Vec<u64> = (1000..1200).filter(|at| flagged(*at, 1)).collect();
    assert_eq!(marked, [1101]);
    assert!((1200..1400).all(|at| !flagged(at, 0)), "an empty queue is not over");
}
