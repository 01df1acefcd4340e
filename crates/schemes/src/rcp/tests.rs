use super::*;

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

/// The law with parameters as text, for comparisons.
pub(crate) fn law(set: &[(&str, &str)]) -> impl RateLaw {
    let mut params = Params::defaults(PARAMS);
    set.iter().for_each(|(name, text)| params.set("rcp", name, text).unwrap());
    Rcp::new(&params)
}

fn link(rate: f64, rtt: f64) -> Rcp {
    Rcp { rate, rtt, ..Rcp::new(&Params::defaults(PARAMS)) }
}

fn seen(y: f64, held: f64, rtt: Option<f64>) -> Seen {
    Seen { span: 0.01, offered: [y, 0.0], held, neighbour: 0.0, rtt }
}

/// Equation (1) by hand: C = 1 Mbit/s, T = 10 ms, d = 100 ms, eta = 0.95, alpha = beta = 0.4.
#[test]
fn the_rate_follows_what_is_unused_and_what_waits() {
    // 0.4 (0.95 - 0.45) = 0.2 of C in ten periods of a round trip: 1 + 0.1 * 0.2.
    let mut rcp = link(200e3, 0.1);
    rcp.update(1e6, &seen(450e3, 0.0, None));
    close(rcp.rate, 200e3 * 1.02);
    // 0.4 * 25 kbit / 100 ms = 100 kbit/s of queue, with y = eta C: 1 - 0.1 * 0.1.
    let mut rcp = link(200e3, 0.1);
    rcp.update(1e6, &seen(950e3, 25e3, None));
    close(rcp.rate, 200e3 * 0.99);
    // Both classes are load.
    let mut rcp = link(200e3, 0.1);
    rcp.update(1e6, &Seen { offered: [450e3, 500e3], ..seen(0.0, 0.0, None) });
    close(rcp.rate, 200e3);
}

#[test]
fn the_rate_stays_between_a_hundredth_packet_a_round_trip_and_eta() {
    let mut rcp = link(940e3, 0.1);
    rcp.update(1e6, &seen(0.0, 0.0, None));
    close(rcp.rate, 950e3);
    // 0.01 packets of 8000 bits in 100 ms are 800 bit/s.
    rcp.update(1e6, &seen(1e12, 1e12, None));
    close(rcp.rate, 800.0);
    for y in [0.0, 1e300] {
        for rtt in [1e-4, 2.0] {
            rcp.update(1e3, &seen(y, y, Some(rtt)));
            assert!(rcp.rate > 0.0 && rcp.rate <= 950.0, "{}", rcp.rate);
        }
    }
}

#[test]
fn longer_round_trips_are_followed_faster_than_shorter_ones() {
    // Gain T / d = 0.1: 100 + 0.1 * 50 ms.
    let mut rcp = link(200e3, 0.1);
    rcp.update(1e6, &seen(0.0, 0.0, Some(0.15)));
    close(rcp.rtt, 0.105);
    // Gain (R / C) (rtt / d) (T / d) = 0.2 * 0.5 * 0.1 = 0.01: 100 - 0.01 * 50 ms.
    let mut rcp = link(200e3, 0.1);
    rcp.update(1e6, &seen(0.0, 0.0, Some(0.05)));
    close(rcp.rtt, 0.0995);
}

#[test]
fn the_first_rate_is_a_twentieth_and_the_first_period_is_random() {
    let mut rcp = Rcp::new(&Params::defaults(PARAMS));
    rcp.begin(&mut Rng::stream(1, &["link"]), 1e6);
    assert_eq!(rcp.stamp(), RateStamp { primary: 50_000, secondary: 0 });
    let mut rng = Rng::stream(1, &["link"]);
    close(rcp.period(&mut rng, 1e6, false), 0.01);
    let spans: Vec<f64> = (0..2000).map(|_| rcp.period(&mut rng, 1e6, true)).collect();
    let mean = spans.iter().sum::<f64>() / 2000.0;
    let variance = spans.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / 2000.0;
    // The mean's deviation is 2 ms / sqrt(2000) = 45 us.
    assert!((mean - 0.01).abs() < 2e-4, "{mean}");
    assert!((variance.sqrt() - 0.002).abs() < 2e-4, "{variance}");
    rcp.rtt = 0.004;
    close(rcp.period(&mut rng, 1e6, false), 0.004);
}
