use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const MARGIN: Duration = RttEstimate::MARGIN;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn follows_rfc_6298_by_hand() {
    let mut rtt = RttEstimate::new();
    assert_eq!(rtt.rto(), RttEstimate::INITIAL_RTO);
    rtt.sample(ms(400));
    // (2.2): SRTT = 400, RTTVAR = 200, RTO = 400 + 4 * 200.
    assert_eq!(rtt.rto(), ms(1200));
    rtt.sample(ms(800));
    // (2.3): RTTVAR = 3/4 * 200 + 1/4 * 400 = 250; SRTT = 7/8 * 400 + 1/8 * 800 = 450.
    assert_eq!(rtt.variation(), ms(250));
    assert_eq!(rtt.smoothed(), Some(ms(450)));
    assert_eq!(rtt.rto(), ms(1450));
    assert_eq!(rtt.min(), Some(ms(400)));
}

#[test]
fn divides_the_gains_by_the_samples_of_a_round_trip() {
    let mut rtt = RttEstimate::new();
    rtt.sample_of(ms(400), 10);
    assert_eq!(rtt.rto(), ms(1200), "RFC 6298 (2.2) has no gains");
    rtt.sample_of(ms(800), 10);
    // RTTVAR = 200 + (400 - 200) / 40, SRTT = 400 + (800 - 400) / 80.
    assert_eq!((rtt.variation(), rtt.smoothed()), (ms(205), Some(ms(405))));
}

#[test]
fn backs_off_until_the_next_sample_and_within_bounds() {
    let mut rtt = RttEstimate::new();
    let tick = Duration::from_micros(10);
    rtt.sample(tick);
    assert_eq!(rtt.rto(), tick + MARGIN);
    rtt.back_off();
    rtt.back_off();
    assert_eq!(rtt.rto(), Duration(4 * (tick + MARGIN).0));
    for _ in 0..100 {
        rtt.back_off();
    }
    assert_eq!(rtt.rto(), RttEstimate::MAX_BACKED_OFF);
    rtt.sample(tick);
    assert_eq!(rtt.rto(), tick + MARGIN);
    rtt.sample(Duration::MAX);
    assert_eq!(rtt.rto(), RttEstimate::MAX_RTO);
    rtt.back_off();
    assert_eq!(rtt.rto(), RttEstimate::MAX_RTO, "a slow path's own is never cut short");
}

#[test]
fn an_interest_has_what_the_latest_answer_took_and_the_margin() {
    let mut rtt = RttEstimate::new();
    let left = Time::ZERO + ms(5000);
    assert_eq!(rtt.overdue_at(left), left, "nothing is known but the timeout itself");
    for _ in 0..200 {
        rtt.sample(ms(300));
    }
    assert_eq!(rtt.overdue_at(left), left + ms(300) + MARGIN);
    // RTTVAR ends 3 ns above nothing, where a quarter of it is less than a nanosecond.
    let is = |rtt: &RttEstimate, expected: Duration| {
        let off = rtt.overdue_at(left).0.abs_diff((left + expected).0);
        assert!(off <= 4 * 3, "{off} ns");
    };
    // A queue has grown: SRTT says 300 + 500 / 8, the latest answer 800. RTTVAR is 500 / 4.
    rtt.sample(ms(800));
    is(&rtt, ms(800) + ms(500));
    // It has gone: RTTVAR = 3/4 * 125 + 1/4 * 62.5, SRTT = 7/8 * 362.5 + 1/8 * 300.
    rtt.sample(ms(300));
    let (smoothed, variation) = (354_687_500, 109_375_000);
    is(&rtt, Duration(smoothed + 4 * variation));
}

#[test]
fn by_rfc_6298_every_sample_counts_whole_and_there_is_no_margin() {
    let mut rtt = RttEstimate::with_timer(Timer::Rfc6298 { least: ms(200) });
    // (2.1)
    assert_eq!(rtt.rto(), ms(1000));
    rtt.sample_of(ms(400), 10);
    rtt.sample_of(ms(800), 10);
    // (2.3) whatever is in flight: RTTVAR = 3/4 * 200 + 1/4 * 400, SRTT = 7/8 * 400 + 1/8 * 800.
    assert_eq!((rtt.variation(), rtt.smoothed()), (ms(250), Some(ms(450))));
    let left = Time::ZERO + ms(5000);
    assert_eq!((rtt.rto(), rtt.overdue_at(left)), (ms(1450), left + ms(1450)));
    // A steady path of 100 ms ends at the bound (2.4), one of 300 ms at its own length. SRTT ends
    // within 7 ns of it, RTTVAR within 3 ns of that: the next step is less than a nanosecond.
    for (path, expected) in [(100, ms(200)), (300, ms(300))] {
        (0..200).for_each(|_| rtt.sample_of(ms(path), 10));
        assert!(rtt.rto().0.abs_diff(expected.0) <= 7 + 4 * (7 + 3), "{:?}", rtt.rto());
    }
}

/// RFC 6298 (2.2) and (2.3) with the gains of RFC 7323, appendix G, in real numbers.
fn by_the_rfcs(samples: &[(u64, u32)]) -> (f64, f64) {
    let mut of = None;
    for (rtt, expected) in samples {
        let (r, n) = (*rtt as f64, f64::from(*expected));
        let (alpha, beta) = (1.0 / 8.0 / n, 1.0 / 4.0 / n);
        of = Some(match of {
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => {
                let rttvar: f64 = (1.0 - beta) * rttvar + beta * f64::abs(srtt - r);
                ((1.0 - alpha) * srtt + alpha * r, rttvar)
            }
        });
    }
    of.unwrap_or_default()
}

/// Round-trip times from a microsecond to 10 s, and samples in a round trip.
fn samples() -> impl Strategy<Value = Vec<(u64, u32)>> {
    vec((1_000u64..10_000_000_000, 1u32..2000), 1..200)
}

proptest! {
    #[test]
    fn equals_the_arithmetic_of_the_rfcs(samples in samples()) {
        let mut rtt = RttEstimate::new();
        for (nanoseconds, expected) in &samples {
            rtt.sample_of(Duration(*nanoseconds), *expected);
        }
        let (srtt, rttvar) = by_the_rfcs(&samples);
        // A step loses less than a nanosecond to rounding, which errors of SRTT add to RTTVAR's.
        let off = 2.0 * samples.len() as f64;
        let (smoothed, variation) = (rtt.smoothed().unwrap(), rtt.variation());
        prop_assert!((smoothed.0 as f64 - srtt).abs() <= off, "{smoothed:?}, not {srtt}");
        prop_assert!((variation.0 as f64 - rttvar).abs() <= off, "{variation:?}, not {rttvar}");
        // (2.3) and (2.5), to the nanosecond.
        let by_hand = smoothed.0 + (4 * variation.0).max(MARGIN.0);
        prop_assert_eq!(rtt.rto(), Duration(by_hand).min(RttEstimate::MAX_RTO));
    }

    #[test]
    fn a_round_trip_of_many_samples_moves_it_as_far_as_one_sample(
        before in 1_000_000u64..1_000_000_000,
        after in 1_000_000u64..1_000_000_000,
        n in 1u32..5000,
    ) {
        let (mut one, mut many) = (RttEstimate::new(), RttEstimate::new());
        one.sample(Duration(before));
        many.sample(Duration(before));
        one.sample(Duration(after));
        (0..n).for_each(|_| many.sample_of(Duration(after), n));
        // 1 - (1 - 1/8n)^n lies between 1 - exp(-1/8) = 0.1175 and 1/8; rounding takes up to a
        // nanosecond a step.
        let [one, many] = [one, many].map(|of| of.smoothed().unwrap().0.abs_diff(before) as f64);
        prop_assert!(many <= one + 1.0 && many >= 0.94 * one - f64::from(n), "{many} {one}");
    }

    #[test]
    fn a_steady_path_of_any_length_keeps_the_margin(
        rtt in 1_000_000u64..2_000_000_000,
        jitter in 0u64..50_000_000,
        n in 1u32..2000,
        dice in vec(0u64..1000, 100..2000),
    ) {
        let mut estimate = RttEstimate::new();
        for parts in dice {
            let took = Duration(rtt + jitter * parts / 1000);
            // Jitter of two margins must not count as a loss.
            let left = Time(1);
            prop_assert!(estimate.smoothed().is_none() || estimate.rto() > took + ms(100));
            prop_assert!(estimate.smoothed().is_none() || estimate.overdue_at(left) > left + took);
            estimate.sample_of(took, n);
        }
    }
}
