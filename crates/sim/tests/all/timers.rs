//! No timer mistakes a slow path for a loss, with round trips from 1 ms to 1 s.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod path;

use path::Path;

/// The rate of the bottleneck in Mbit/s, and the size of a segment's Data packet on it in bits.
const MBPS: f64 = 4.0;
const SEGMENT: f64 = 8400.0;

/// The number of round trips that a scheme needs to fill a path that holds a number of segments.
type Needs = fn(f64) -> f64;

/// Schemes that fill a path, with the number of round trips that they need if the queue is as large
/// as the path.
///
/// Slow start takes the logarithm of both, at most 10, and loses its overshoot once. The five
/// rounds of HyStart++ grow by an eighth each. From there on cubic's curve needs some seconds.
/// Together 40 round trips are enough. bic adds 16 segments per round trip, the last ones by
/// halves.
const FILLING: [(&str, Needs); 6] = [
    ("aimd", |_| 40.0),
    ("bic", |path| 40.0 + 2.0 * path / 16.0),
    ("cctcp", |_| 40.0),
    ("contug", |_| 40.0),
    ("cubic", |_| 40.0),
    ("ictp", |_| 40.0),
];

/// The number of repetitions of discovery before the first answer: after 125 ms, and after 250 and
/// 500 ms more.
const DISCOVERY: u64 = 3;

/// Round-trip times without a queue, in milliseconds.
const ROUND_TRIPS: [f64; 4] = [1.0, 20.0, 200.0, 1000.0];

#[test]
fn one_flow_fills_a_path_of_any_length_and_repeats_only_what_was_lost() {
    for (scheme, needs) in FILLING {
        for rtt in ROUND_TRIPS {
            let segments = MBPS * rtt * 1000.0 / SEGMENT;
            let from = (needs(segments) * rtt).max(2000.0) as u64;
            let seen = Path::new(scheme, MBPS, rtt, rtt).flow(0).run(from, from + 10_000);
            assert!(seen.share >= 0.95, "{scheme} at {rtt} ms: {seen:?}");
            assert_eq!(seen.mistaken, 0, "{scheme} at {rtt} ms: {seen:?}");
            assert!(seen.repeated <= seen.dropped + DISCOVERY, "{scheme} at {rtt} ms: {seen:?}");
        }
    }
}

/// Interests of discovery, and for the first segments, must still be pending when their answers
/// arrive. One that is not looks like a loss, and halves a window of two segments.
#[test]
fn a_flow_finds_its_object_at_a_second_without_a_loss() {
    let rtt = 1000.0;
    // Without a loss, slow start fills the path in a number of round trips that is the logarithm
    // of its capacity.
    let rounds = 4.0 + (MBPS * rtt * 1000.0 / SEGMENT).log2();
    let from = (rounds * rtt) as u64;
    let seen = Path::new("aimd", MBPS, rtt, 2.0 * rtt).finding().run(from, from + rtt as u64);
    assert!(seen.share >= 0.5, "{seen:?}");
    assert_eq!((seen.timeouts, seen.mistaken), (0, 0), "{seen:?}");
}

/// The answer to the first Interest comes after it was repeated several times. Counted from one of
/// the repetitions, the round trip would be too short, and the next answers would look as if a
/// queue had grown, which ends a slow start.
#[test]
fn a_path_over_one_or_two_satellites_is_filled_at_once() {
    for scheme in ["bbr", "sluice"] {
        for rtt in [600.0, 1000.0, 1010.0, 1400.0, 2000.0] {
            // Slow start, and the round trips in which the object and the first window are found.
            let rounds = 4.0 + (MBPS * rtt * 1000.0 / SEGMENT).log2();
            let (from, to) = ((rounds * rtt) as u64, ((rounds + 10.0) * rtt) as u64);
            let seen = Path::new(scheme, MBPS, rtt, rtt).finding().run(from, to);
            // BBR drains the queue of its start at half the pace, and once in ten seconds it sends
            // for a round trip with half of the window: one of these ten round trips, and a half.
            assert!(seen.share >= 0.85, "{scheme} at {rtt} ms: {seen:?}");
        }
    }
}

#[test]
fn several_flows_at_200_ms_share_the_path_without_false_losses() {
    for (scheme, _) in FILLING {
        let path = Path::new(scheme, 10.0, 200.0, 200.0);
        let seen = (0..4).fold(path, |path, n| path.flow(n * 500)).run(15_000, 40_000);
        assert!(seen.share >= 0.95, "{scheme}: {seen:?}");
        assert_eq!(seen.mistaken, 0, "{scheme}: {seen:?}");
        // Consumers also send probes when no answers arrive (RFC 8985, section 7.2), at most one
        // per round trip. After a burst of losses contug sends nothing until a timeout, because
        // nothing else reveals them. The other schemes detect gaps.
        let rounds = 4 * 40_000 / 200;
        let probes = if scheme == "contug" { rounds } else { seen.data / 1000 };
        let needless = seen.repeated.saturating_sub(seen.dropped + 4 * DISCOVERY);
        assert!(needless <= probes, "{scheme}: {seen:?}");
    }
}

/// The link carries nothing for 400 ms, but loses nothing. Answers are up to 400 ms late, while
/// timeouts allow 200 ms. They arrive sooner after the retransmission than its answer could, so the
/// timeouts are recognised as false. The window fills the path from the start.
#[test]
fn a_pause_of_the_path_costs_no_window() {
    for scheme in ["aimd", "ictp"] {
        let scheme = format!("{scheme}:initial_window=260,ssthresh=260");
        let path = Path::new(&scheme, MBPS, 500.0, 2000.0).flow(0);
        let seen = path.stalled(5_000, 5_400).run(7_000, 9_000);
        assert!(seen.share >= 0.95, "{scheme}: {seen:?}");
        assert_eq!((seen.mistaken, seen.dropped), (seen.timeouts, 0), "{scheme}: {seen:?}");
        // ictp has a single timer, which each answer to the oldest Interest restarts (RFC 6298,
        // 5.3).
        assert_eq!(seen.timeouts > 0, scheme.starts_with("aimd"), "{scheme}: {seen:?}");
    }
}
