use super::*;
use crate::rcp;

fn law() -> Mircc {
    Mircc::new(&Params::defaults(PARAMS))
}

fn data(bytes: u64) -> DataMeta {
    let options = packet::HopOptions::new();
    DataMeta { flow: 1, segment: 0, size: control::Size(bytes), mark: 0, options }
}

fn rng() -> Rng {
    Rng::stream(1, &["link"])
}

#[test]
fn a_period_is_a_round_trip_or_ten_data() {
    let mut mircc = law();
    mircc.begin(&mut Rng::stream(1, &["link"]), 1e6);
    assert_eq!(mircc.period(&mut rng(), 1e6, true), 0.1, "before anything is known");
    (0..100).for_each(|_| mircc.on_rtt(0.06));
    mircc.on_data(Time(1), &data(600), Duration::ZERO);
    // Ten Data of 600 bytes take 48 ms at 1 Mbit/s, and 480 ms at 100 kbit/s.
    assert_eq!(mircc.period(&mut rng(), 1e6, false), 0.06);
    assert!((mircc.period(&mut rng(), 1e5, false) - 0.48).abs() < 1e-12);
    // d = 60 + (140 - 60) / 8 ms; the size 600 + 800 / 8.
    mircc.on_rtt(0.14);
    mircc.on_data(Time(1), &data(1400), Duration::ZERO);
    assert!((mircc.period(&mut rng(), 1e6, false) - 0.07).abs() < 1e-12);
    assert!((mircc.size - 700.0).abs() < 1e-9);
}

#[test]
fn an_idle_link_comes_to_rest_at_its_capacity() {
    let mut mircc = law();
    mircc.begin(&mut Rng::stream(1, &["link"]), 1e6);
    assert_eq!(mircc.stamp(), RateStamp { primary: 950_000, secondary: 0 });
    let idle = Seen { span: 0.1, offered: [0.0; 2], held: 0.0, neighbour: 0.0, rtt: None };
    mircc.update(1e6, &Seen { offered: [2e6, 0.0], ..idle });
    assert!(!mircc.is_at_rest(1e6));
    let periods = (0..100).find(|_| {
        mircc.update(1e6, &idle);
        mircc.is_at_rest(1e6)
    });
    assert!(periods.is_some_and(|periods| periods < 40), "{periods:?}");
    assert_eq!(mircc.stamp(), RateStamp { primary: 1_000_000, secondary: 1_000_000 });
}

/// A link in the fluid limit: flows ask at the rate stamped half a round trip ago, `C` = 1 Mbit/s,
/// the round trip is 60 ms. One flow, three more after 10 s. Says when after that the rate was
/// within 5 % of a quarter of eta C for good, the rate then, and the longest queue in bits.
fn fluid(law: &mut dyn RateLaw, span: f64) -> (f64, f64, f64) {
    const C: f64 = 1e6;
    const STEP: f64 = 0.002;
    let quarter = 0.95e6 / 4.0;
    law.begin(&mut Rng::stream(1, &["link"]), C);
    let mut stamps: std::collections::VecDeque<f64> = [law.stamp().primary as f64; 15].into();
    let (mut queue, mut longest, mut asked) = (0.0f64, 0.0f64, 0.0);
    let (mut converged, mut ends) = (f64::INFINITY, span);
    for step in 0..12_500 {
        let now = f64::from(step) * STEP;
        let flows = if now < 10.0 { 1.0 } else { 4.0 };
        stamps.push_back(law.stamp().primary as f64);
        let y = flows * stamps.pop_front().unwrap();
        asked += y * STEP;
        queue = (queue + (y - C) * STEP).max(0.0);
        if now >= 10.0 {
            longest = longest.max(queue);
            let off = (law.stamp().primary as f64 - quarter).abs();
            converged = if off > 0.05 * quarter { f64::INFINITY } else { converged.min(now) };
        }
        if now >= ends {
            law.on_rtt(0.06);
            let offered = [asked / span, 0.0];
            law.update(C, &Seen { span, offered, held: queue, neighbour: 0.0, rtt: Some(0.06) });
            (asked, ends) = (0.0, ends + span);
        }
    }
    (converged - 10.0, law.stamp().primary as f64, longest)
}

/// Figures 2 and 3 of the paper in the fluid limit, both laws with the same period. Published: the
/// rates go from 0.95 to 0.95 / 4, MIRCC's sooner and with less overshoot.
#[test]
fn four_flows_share_a_link_sooner_than_with_rcp() {
    let mut mircc = law();
    let (mircc_took, mircc_rate, _) = fluid(&mut mircc, 0.06);
    let mut other = rcp::tests::law(&[("slot", "60 ms")]);
    let (rcp_took, rcp_rate, _) = fluid(&mut other, 0.06);
    for rate in [mircc_rate, rcp_rate] {
        assert!((rate - 237_500.0).abs() < 0.01 * 237_500.0, "{rate}");
    }
    assert!(mircc_took < 1.1 && rcp_took > 1.3, "{mircc_took} and {rcp_took} s");
}

#[test]
fn the_shaper_leaves_more_than_rates_ask_for() {
    let params = Params::defaults(PARAMS);
    assert!(params.number("h") > params.number("eta"));
}
