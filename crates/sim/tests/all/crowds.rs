//! Losses and fairness of flows that share a bottleneck: of `bbr`, which rules where no link offers
//! a rate, and of the default with its parts in all links.
//!
//! The bottleneck has 20 Mbit/s, segments have 1 kB, and flows start half a second apart. BBR as in
//! the draft loses up to half of its requests here. To run and print the whole grid, use
//! `WEIR_CROWDS=all cargo test -p sim --test all crowds -- --nocapture`.
//! `WEIR_CROWDS_SCHEME=sluice` selects another scheme; its parts for links are in all links. With
//! `WEIR_CROWDS_MEASURED=1` the links do not know their rates, and measure them.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{
    assert_conserved, at_ms, controller, line, ms, name, node, two_at_a_time, wire, wire_of,
};
use control::{Duration, LossModel, Size};
use sim::{
    Fault, FetchSpec, FlowId, FlowResult, LinkId, Network, ObjectSpec, Signing, WireSpec,
    jain_index,
};

const APART_MS: u64 = 500;
/// The time from the start of the last flow to the measurement of fairness.
const SETTLED_MS: u64 = 20_000;
const JUDGED_MS: u64 = 30_000;
/// The frame size of a segment of 1 kB, in bytes. A buffer holds at least two frames.
const FRAME: u64 = 1050;
/// The bytes per millisecond at 20 Mbit/s.
const BYTES_PER_MS: f64 = 2500.0;

/// The requirements for both: at most 2 % of Data lost, Jain's index at least 0.9.
const MOST_LOST: f64 = 0.02;
const LEAST_EQUAL: f64 = 0.9;

#[derive(Clone, Copy, Debug)]
struct Crowd {
    flows: u64,
    /// The buffer of the bottleneck, in bandwidth-delay products.
    buffer: f64,
    rtt_ms: u64,
}

/// The scheme of consumers and links; `measured`: the links do not know their rates.
#[derive(Clone, Copy)]
struct Links {
    scheme: &'static str,
    measured: bool,
}

const BBR: Links = Links { scheme: "bbr", measured: false };
const SLUICE: Links = Links { scheme: "sluice", measured: false };
const MEASURED: Links = Links { scheme: "sluice", measured: true };

/// The result of a run.
#[derive(Clone, Copy, Debug)]
struct Came {
    /// The share of Data dropped at the bottleneck in the whole run.
    lost: f64,
    /// The same in the last [`JUDGED_MS`], without the losses of flow starts.
    settled: f64,
    /// Jain's index of the flows' goodput in the last [`JUDGED_MS`].
    equal: f64,
    /// The utilisation of the bottleneck.
    used: f64,
}

impl Came {
    fn holds(&self) -> bool {
        self.lost <= MOST_LOST && self.equal >= LEAST_EQUAL
    }
}

impl Crowd {
    fn build(&self, links: Links) -> (Network, LinkId, Vec<FlowId>) {
        let Links { scheme, measured } = links;
        let mut net = Network::new(1);
        let (near, far) = (node(&mut net, "near"), node(&mut net, "far"));
        let queue = (BYTES_PER_MS * self.rtt_ms as f64 * self.buffer) as u64;
        let access =
            WireSpec { delay: Duration::from_micros(100), measured, ..wire_of(scheme, 1000, 0) };
        let delay = Duration::from_micros(self.rtt_ms * 500 - 100);
        let shared = WireSpec {
            queue: Size(queue.max(2 * FRAME)),
            delay,
            measured,
            ..wire_of(scheme, 20, 0)
        };
        let link = net.add_link(near, far, shared.clone(), shared);
        let mut flows = Vec::new();
        for flow in 0..self.flows {
            let uri = name(&format!("/p/{flow}"));
            let object = ObjectSpec {
                segment_size: 1000,
                signing: Signing::Unsigned,
                ..ObjectSpec::new(uri.clone(), Size(4_000_000_000))
            };
            net.add_route(near, &uri, link, 1).unwrap();
            net.publish(far, object.clone()).unwrap();
            let consumer = node(&mut net, &format!("c{flow}"));
            let access = net.add_link(consumer, near, access.clone(), access.clone());
            net.add_route(consumer, &uri, access, 1).unwrap();
            let mut fetch = FetchSpec::new(object.versioned(), controller(scheme), scheme);
            (fetch.signing, fetch.start) = (Signing::Unsigned, at_ms(APART_MS * flow));
            flows.push(net.fetch(consumer, fetch));
        }
        (net, link, flows)
    }

    fn run(&self, links: Links) -> Came {
        let settled = APART_MS * self.flows + SETTLED_MS;
        let (mut net, link, _) = self.build(links);
        let before = net.run(at_ms(settled));
        let after = net.run(at_ms(settled + JUDGED_MS));
        assert_conserved(&after);
        let got = after.flows.iter().zip(&before.flows);
        let got: Vec<f64> = got
            .map(|(after, before)| (after.transfer.bytes - before.transfer.bytes) as f64)
            .collect();
        let back = &after.links[link.index() + 1];
        let early = &before.links[link.index() + 1];
        let offered = back.tally.offered.packets - early.tally.offered.packets;
        Came {
            lost: back.drops() as f64 / back.tally.offered.packets as f64,
            settled: (back.drops() - early.drops()) as f64 / offered as f64,
            equal: jain_index(&got).unwrap_or(0.0),
            used: back.utilization,
        }
    }

    /// Runs all crowds, two at a time.
    fn run_all(crowds: &[Crowd], links: Links) -> Vec<Came> {
        two_at_a_time(crowds, |crowd| crowd.run(links))
    }
}

fn grid() -> Vec<Crowd> {
    let mut crowds = Vec::new();
    for flows in [2, 5, 10, 20, 50] {
        for buffer in [0.1, 0.5, 1.0, 2.0, 4.0, 10.0] {
            for rtt_ms in [5, 40, 100, 300] {
                crowds.push(Crowd { flows, buffer, rtt_ms });
            }
        }
    }
    crowds
}

/// Up to ten flows with a buffer of one bandwidth-delay product, and twenty with a buffer of ten.
#[test]
fn bbr_shares_a_bottleneck() {
    let crowd = |flows, buffer, rtt_ms| Crowd { flows, buffer, rtt_ms };
    let crowds = [
        crowd(2, 0.5, 40),
        crowd(5, 1.0, 40),
        crowd(10, 1.0, 40),
        crowd(10, 10.0, 40),
        crowd(10, 4.0, 100),
        crowd(5, 10.0, 300),
        crowd(20, 10.0, 40),
    ];
    for (crowd, came) in crowds.iter().zip(Crowd::run_all(&crowds, BBR)) {
        assert!(came.holds() && came.used > 0.9, "{crowd:?}: {came:?}");
    }
}

/// Two to fifty flows with any buffer: links that offer rates and enforce them need none.
#[test]
fn sluice_shares_a_bottleneck() {
    let crowd = |flows, buffer, rtt_ms| Crowd { flows, buffer, rtt_ms };
    let crowds = [crowd(2, 0.1, 300), crowd(10, 0.1, 5), crowd(20, 0.1, 40), crowd(50, 0.1, 100)];
    for (crowd, came) in crowds.iter().zip(Crowd::run_all(&crowds, SLUICE)) {
        // It promises more than `bbr`: no loss, equal shares, a full link.
        assert_eq!(came.lost, 0.0, "{crowd:?}");
        assert!(came.equal > 0.98 && came.used > 0.93, "{crowd:?}: {came:?}");
    }
}

/// The same links do not know their rates. Their buffers are larger than the least that shows
/// waiting Data, 5 ms.
#[test]
fn links_that_measure_their_rates_share_a_bottleneck() {
    let crowd = |flows, buffer, rtt_ms| Crowd { flows, buffer, rtt_ms };
    let crowds = [
        crowd(2, 1.0, 300),
        crowd(5, 1.0, 5),
        crowd(10, 10.0, 5),
        crowd(20, 0.5, 40),
        crowd(50, 1.0, 100),
        crowd(50, 10.0, 40),
    ];
    for (crowd, came) in crowds.iter().zip(Crowd::run_all(&crowds, MEASURED)) {
        // The bounds of `bbr`, and nearly equal shares.
        assert!(came.holds() && came.equal > 0.98 && came.used > 0.9, "{crowd:?}: {came:?}");
    }
}

/// The neighbour is further away from 20 s on. Interests that are on their way then are no lost
/// Data, and their answers that are late no slower link.
#[test]
fn a_link_that_measures_and_becomes_longer_is_shared() {
    let cases = [(2, 60), (4, 100), (4, 200), (10, 100), (10, 150)];
    let run = |(flows, longer): &(u64, u64)| {
        let (mut net, link, _) = Crowd { flows: *flows, buffer: 1.0, rtt_ms: 40 }.build(MEASURED);
        net.at(at_ms(20_000), Fault::Delay { link, backward: true, delay: ms(*longer) }).unwrap();
        let before = net.run(at_ms(30_000));
        let after = net.run(at_ms(60_000));
        let flows = after.flows.iter().zip(&before.flows);
        let got = |(after, before): (&FlowResult, &FlowResult)| {
            (after.transfer.bytes - before.transfer.bytes) as f64
        };
        flows.map(got).collect::<Vec<f64>>()
    };
    let possible = BYTES_PER_MS * 30_000.0 * 1000.0 / FRAME as f64;
    for (case, got) in cases.iter().zip(two_at_a_time(&cases, run)) {
        assert!(got.iter().sum::<f64>() > 0.9 * possible, "{case:?}: {got:?}");
        assert!(jain_index(&got).unwrap() > LEAST_EQUAL, "{case:?}: {got:?}");
    }
}

/// A short path, as over a wireless network at home, loses some Data by chance. Its buffer has one
/// product. Loss is no sign of a queue there, and the flow uses nine tenths of the rate of the
/// path.
#[test]
fn losses_of_a_short_path_are_no_overflow() {
    let cases = [(78, 1, 0.01), (78, 3, 0.01), (78, 3, 0.04), (400, 3, 0.02), (78, 10, 0.04)];
    for (mbps, delay_ms, lost) in cases {
        let mut wire = wire(mbps, delay_ms);
        wire.queue = Size(mbps * 2 * delay_ms * 1000 / 8);
        wire.impairment.loss = LossModel::Random(lost);
        let mut line = line(1, 2, &wire);
        let (signing, segment_size) = (Signing::Unsigned, 1000);
        let object = ObjectSpec {
            segment_size,
            signing,
            ..ObjectSpec::new(name("/p/x"), Size(1_000_000_000_000))
        };
        let mut fetch = FetchSpec::new(object.versioned(), controller("bbr"), "bbr");
        fetch.signing = signing;
        line.net.publish(line.nodes[1], object).unwrap();
        line.net.fetch(line.nodes[0], fetch);
        let after = line.net.run(at_ms(20_000));
        let frames = mbps as f64 * 1e6 / 8.0 * 20.0 * (1.0 - lost) / FRAME as f64;
        let part = after.flows[0].transfer.bytes as f64 / (frames * 1000.0);
        assert!(part > 0.9, "{mbps} Mbit/s, {delay_ms} ms, {lost}: {part}");
    }
}

/// Two flows lose in the same Startup. When one of them ends, the other has a sixth of the link and
/// 150 round trips left. It must not wait for seconds before it probes for more.
#[test]
fn a_flow_takes_what_another_leaves() {
    let mut net = Network::new(1);
    let (near, far) = (node(&mut net, "near"), node(&mut net, "far"));
    let delay = Duration::from_micros(1060);
    let shared = WireSpec { queue: Size(32_000), delay, ..wire(184, 0) };
    let access = WireSpec { delay: Duration::from_micros(130), ..wire(1840, 0) };
    let link = net.add_link(near, far, shared.clone(), shared);
    for (flow, bytes, start) in [(0, 2_800_000, 18), (1, 2_000_000, 24)] {
        let uri = name(&format!("/p/{flow}"));
        let signing = Signing::Unsigned;
        let object =
            ObjectSpec { segment_size: 1024, signing, ..ObjectSpec::new(uri.clone(), Size(bytes)) };
        net.add_route(near, &uri, link, 1).unwrap();
        net.publish(far, object.clone()).unwrap();
        let consumer = node(&mut net, &format!("c{flow}"));
        let access = net.add_link(consumer, near, access.clone(), access.clone());
        net.add_route(consumer, &uri, access, 1).unwrap();
        let mut fetch = FetchSpec::new(object.versioned(), controller("bbr"), "bbr");
        (fetch.signing, fetch.start) = (signing, at_ms(start));
        net.fetch(consumer, fetch);
    }
    // The fluid model needs 4.8 MB / 184 Mbit/s = 209 ms. `domains.toml` requires seven tenths of
    // that rate, and allows 60 round trips of 2.6 ms for Startup.
    let after = net.run(at_ms(24 + 209 * 10 / 7 + 60 * 26 / 10));
    assert!(after.flows.iter().all(|flow| flow.transfer.complete), "{:?}", after.flows);
}

#[test]
fn the_whole_grid_is_printed() {
    if std::env::var_os("WEIR_CROWDS").is_none() {
        return;
    }
    let scheme = std::env::var("WEIR_CROWDS_SCHEME").map_or("bbr", |name| name.leak());
    let measured = std::env::var_os("WEIR_CROWDS_MEASURED").is_some();
    let crowds = grid();
    let came = Crowd::run_all(&crowds, Links { scheme, measured });
    println!("flows  buffer (BDP)  RTT (ms)  lost (%)  settled   Jain  used (%)");
    for (crowd, came) in crowds.iter().zip(&came) {
        let Crowd { flows, buffer, rtt_ms } = crowd;
        let (lost, settled, used) = (100.0 * came.lost, 100.0 * came.settled, 100.0 * came.used);
        let missed = if came.holds() { "" } else { "  missed" };
        println!(
            "{flows:5} {buffer:13} {rtt_ms:9} {lost:9.2} {settled:8.2} {:6.3} {used:9.1}{missed}",
            came.equal
        );
    }
    let missed = came.iter().filter(|came| !came.holds()).count();
    println!("{scheme}: {missed} of {} miss 2 % of loss or a Jain index of 0.9", crowds.len());
}
