use super::*;
use control::Rng;
use packet::HopOptions;

const MS: u64 = 1_000_000;

fn marker(set: &[(&str, &str)]) -> Codel {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("codel", name, text).unwrap();
    }
    Codel::new(&params)
}

fn queue(packets: u32) -> QueueView {
    QueueView { packets, bytes: Size(8000 * u64::from(packets)), head_sojourn: Duration::ZERO }
}

/// The verdict on a packet of 8000 bytes that leaves at `at` after `sojourn` (both in ms) and
/// leaves `behind` packets in the queue.
fn leave(codel: &mut Codel, at: u64, sojourn: u64, behind: u32) -> Verdict {
    let mut rng = Rng::stream(0, &[]);
    let mut tap = |_| {};
    let mut cx = Cx { now: Time(at * MS), rng: &mut rng, tap: &mut tap };
    let view = LinkView { data_out: queue(behind), ..LinkView::default() };
    let data =
        DataMeta { flow: 0, segment: 0, size: Size(8000), mark: 0, options: HopOptions::default() };
    codel.on_dequeue(&mut cx, &view, &data, Duration(sojourn * MS))
}

/// The instants in ms, on a grid of 1 ms, at which packets are signalled that waited 6 ms each.
fn signals(codel: &mut Codel, from: u64, to: u64) -> Vec<u64> {
    (from..to).filter(|&at| leave(codel, at, 6, 10) != Verdict::Pass).collect()
}

#[test]
fn signals_follow_the_control_law() {
    // First above at 0, so ok from 100. Then 100 / sqrt(count) apart: 200, 270.711, 328.446,
    // 378.446, 423.167, each seen at the next whole millisecond.
    let mut codel = marker(&[]);
    assert_eq!(signals(&mut codel, 0, 430), [100, 200, 271, 329, 379, 424]);
}

#[test]
fn a_short_excess_is_forgiven() {
    let mut codel = marker(&[]);
    assert!(signals(&mut codel, 0, 99).is_empty());
    assert_eq!(leave(&mut codel, 99, 4, 10), Verdict::Pass);
    assert!(signals(&mut codel, 100, 200).is_empty(), "the interval starts again at 100");
    assert_eq!(leave(&mut codel, 200, 6, 10), Verdict::Mark(1));
}

#[test]
fn the_last_packet_is_never_signalled() {
    let mut codel = marker(&[]);
    for at in 0..500 {
        assert_eq!(leave(&mut codel, at, 50, 1), Verdict::Pass, "one packet is no standing queue");
    }
}

#[test]
fn the_count_resumes_after_a_short_pause() {
    let mut codel = marker(&[]);
    // Signals 1 to 4 until 329; then one good packet.
    assert_eq!(signals(&mut codel, 0, 340).len(), 4);
    leave(&mut codel, 340, 1, 10);
    // Above again from 341, ok at 441, 16 intervals not over: count = 4 - 1 = 3, so the next signal
    // comes 100 / sqrt(3) = 57.7 ms after.
    assert_eq!(signals(&mut codel, 341, 500), [441, 499]);
    // After 16 intervals the count is 1 again: the second signal is 100 ms behind the first.
    leave(&mut codel, 500, 1, 10);
    assert_eq!(signals(&mut codel, 3000, 3210), [3100, 3200]);
}

#[test]
fn drops_packets_if_configured() {
    let mut codel = marker(&[("drop", "true"), ("target", "1 ms"), ("interval", "10 ms")]);
    assert_eq!(leave(&mut codel, 0, 2, 10), Verdict::Pass);
    assert_eq!(leave(&mut codel, 10, 2, 10), Verdict::Drop);
    assert_eq!(leave(&mut codel, 10, 2, 9), Verdict::Pass, "the packet behind it goes");
}

#[test]
fn interests_have_a_queue_and_a_state_of_their_own() {
    let mut codel = marker(&[]);
    assert_eq!(signals(&mut codel, 0, 101), [100]);
    let mut rng = Rng::stream(0, &[]);
    let mut tap = |_| {};
    let view = LinkView {
        interests_out: QueueView { packets: 4, bytes: Size(400), head_sojourn: Duration::ZERO },
        ..LinkView::default()
    };
    let interest = InterestMeta {
        flow: 0,
        segment: 0,
        size: Size(60),
        expected: Size(8000),
        expires: Time::MAX,
        options: HopOptions::default(),
        handle: 0,
    };
    let mut verdict = |at: u64| {
        let mut cx = Cx { now: Time(at * MS), rng: &mut rng, tap: &mut tap };
        codel.on_interest_dequeue(&mut cx, &view, &interest, Duration(6 * MS))
    };
    assert_eq!(verdict(200), Verdict::Pass);
    assert_eq!(verdict(299), Verdict::Pass);
    assert_eq!(verdict(300), Verdict::Mark(1));
}
