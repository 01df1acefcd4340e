//! Losses on one of several hops, repaired on that hop.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use crate::support::{Line, ms, name, node, wire};
use control::Time;
use sim::impairment::Loss;
use sim::{FlowResult, Network, ObjectSpec, RateSpec, Signing, WireSpec};

const SECOND: u64 = 1_000_000_000;
const ASKED: u64 = 2000;

/// n0 - n1 - n2 - n3 with 20 Mbit/s and 10 ms per hop. The middle hop loses frames in both
/// directions. Each of 2000 segments of 4000 bytes is requested once, 400 per second: 13 Mbit/s.
fn asked_once(seed: u64, loss: f64, mtu: Option<usize>, reliability: bool) -> FlowResult {
    let mut net = Network::new(seed);
    let nodes: Vec<_> = (0..4).map(|i| node(&mut net, &format!("n{i}"))).collect();
    let good = wire(20, 10);
    let mut bad = WireSpec { reliability, mtu, ..good.clone() };
    bad.impairment.loss = Loss::Random(loss);
    let mut links = Vec::new();
    for (i, wire) in [&good, &bad, &good].into_iter().enumerate() {
        let link = net.add_link(nodes[i], nodes[i + 1], wire.clone(), wire.clone());
        net.add_route(nodes[i], &name("/p"), link, 1).unwrap();
        links.push(link);
    }
    let mut line = Line { net, nodes, links };
    line.publish("/p/f", ASKED * 4000, 4000, Signing::Unsigned);
    let object = ObjectSpec::new(name("/p/f"), control::Size(0)).versioned();
    let mut spec = RateSpec::new(object, 400.0, ASKED);
    spec.lifetime = ms(2000);
    line.net.constant_rate(line.nodes[0], spec);
    let mut outcome = line.net.run(Time(15 * SECOND));
    let flow = outcome.flows.remove(0);
    assert_eq!(flow.transfer.counters.interests, ASKED);
    flow
}

#[test]
fn losses_are_repaired_on_the_hop_that_loses_them() {
    for (mtu, frames) in [(None, 1), (Some(1400), 3)] {
        let bare = asked_once(1, 0.03, mtu, false);
        let helped = asked_once(1, 0.03, mtu, true);
        // Each frame of the Interest and of the Data arrives with a probability of 97 %. The
        // tolerance is four standard deviations.
        let share = 1.0 - 0.97_f64.powi(1 + frames);
        let (mean, lost) = (ASKED as f64 * share, (ASKED - bare.transfer.counters.data) as f64);
        assert!((lost - mean).abs() < 4.0 * (mean * (1.0 - share)).sqrt(), "{lost} for {mean}");
        // A frame is lost finally with a probability of 0.03^4: one of 8000 in 150 runs.
        assert_eq!(helped.transfer.counters.data, ASKED);
        // The round trip of a hop is 20 ms, that of the path 60 ms. So most repairs are faster than
        // a retransmission over the path.
        assert!(helped.transfer.rtt_p99.unwrap() < ms(120), "{:?}", helped.transfer.rtt_p99);
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run = || asked_once(7, 0.05, Some(1400), true);
    let (one, other) = (run(), run());
    assert_eq!(
        (one.transfer.counters.data, one.transfer.rtt_mean, one.transfer.rtt_p99),
        (other.transfer.counters.data, other.transfer.rtt_mean, other.transfer.rtt_p99)
    );
}
