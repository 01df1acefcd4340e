//! Explicit rates: the rates of links and flows, compared with theory and with the papers.

mod random;
mod system;

use control::{Duration, Rate, Time};
use random::Topology;
use sim::{Fault, FlowId, LinkId, Loss, Network, NodeId, Outcome, WireSpec};
use std::fmt::Write as _;
use system::{Series, System, ms, publish, publish_sized};

/// A second, in milliseconds.
const S: u64 = 1000;

const SYSTEMS: [&str; 2] = ["mircc:dual=false", "rcp"];

/// The response of a system to the arrival of flows.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// The mean relative deviation of the flows from their max-min fair rates at the end.
    error: f64,
    /// The time from the arrival until all flows stay near their rates, in seconds.
    took: f64,
    /// The overshoot: the fall of rates below the fair ones after that, as a fraction.
    overshoot: f64,
}

impl Fit {
    fn mean(fits: &[Fit]) -> Fit {
        let mean = |f: fn(&Fit) -> f64| fits.iter().map(f).sum::<f64>() / fits.len() as f64;
        Fit { error: mean(|f| f.error), took: mean(|f| f.took), overshoot: mean(|f| f.overshoot) }
    }

    fn row(self) -> String {
        let (error, overshoot) = (100.0 * self.error, 100.0 * self.overshoot.max(0.0));
        format!("{error:10.1} {:10.2} {overshoot:10.0}", self.took)
    }
}

/// Compares measurements with the committed file, so that a change of behaviour shows in review.
fn compare(file: &str, found: &str) {
    let path = format!("{}/tests/all/rates/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        std::fs::write(&path, found).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(known, found, "run with WEIR_REGENERATE=1 if this is meant");
}

/// Half of the flows of a random network start at once, the other half after 4 s.
fn on_random_network(scheme: &str, seed: u64) -> Fit {
    const CONTENT: usize = 2000;
    let topology = Topology::random(seed);
    let (second, end) = (ms(4 * S), ms(8 * S));
    let mut built = topology.build(&System::new(scheme), seed, CONTENT, second);
    let series = Series::checking(topology.flows.iter().map(|f| f.path.clone()).collect());
    built.net.observe(Duration::from_millis(50), Box::new(series.clone()));
    let _ = built.net.run(end);
    let (compared, data, bytes) = series.stamps();
    assert!(compared > 10_000, "{compared} stamps were compared");
    // The share of content in the bytes on a link.
    let content = CONTENT as f64 * data as f64 / bytes as f64;
    let fair: Vec<f64> = topology.water_filling(0.95).iter().map(|r| r * content).collect();
    let off = |from, to| -> Vec<f64> {
        let flows = built.flows.iter().zip(&fair);
        flows.map(|(flow, fair)| (series.rate(*flow, from, to) / fair - 1.0).abs()).collect()
    };
    let last = off(ms(6 * S), end);
    let windows: Vec<(Time, Time)> = (20..40).map(|n| (ms(n * 200), ms(n * 200 + 200))).collect();
    let far = |w: &&(Time, Time)| off(w.0, w.1).into_iter().fold(0.0, f64::max) > 1.0 / 7.0;
    let late = windows.iter().rev().find(far);
    let sums = windows[1..].iter().map(|(from, to)| {
        built.flows.iter().map(|flow| series.rate(*flow, *from, *to)).sum::<f64>()
    });
    Fit {
        error: last.iter().sum::<f64>() / last.len() as f64,
        took: late.map_or(0.0, |(_, to)| to.since(second).as_secs_f64()),
        overshoot: 1.0 - sums.fold(f64::INFINITY, f64::min) / fair.iter().sum::<f64>(),
    }
}

/// Both papers claim max-min fairness. MIRCC's also claims a faster response with less overshoot.
/// During the run each stamp is compared with that of the link before.
#[test]
fn rates_on_random_networks_become_max_min_fair() {
    let mut table = "system           seed    error %     took s overshoot %\n".to_owned();
    let means = SYSTEMS.map(|scheme| {
        let fits: Vec<Fit> = (0..5).map(|seed| on_random_network(scheme, seed)).collect();
        for (seed, fit) in fits.iter().enumerate() {
            let _ = writeln!(table, "{scheme:16} {seed:4} {}", fit.row());
        }
        Fit::mean(&fits)
    });
    for (scheme, mean) in SYSTEMS.iter().zip(means) {
        assert!(mean.error < 0.05, "{scheme}: {mean:?}");
    }
    let [mircc, rcp] = means;
    assert!(mircc.took < rcp.took && mircc.overshoot < rcp.overshoot, "{mircc:?} {rcp:?}");
    compare("random.txt", &table);
}

/// Flows over nodes in a row, from the first to the last. All but one of them start after 10 s.
fn on_a_line(scheme: &str, mbps: u64, content: usize) -> Fit {
    let (second, end) = (ms(10 * S), ms(30 * S));
    let system = System::new(scheme);
    let mut net = Network::new(1);
    let nodes: Vec<NodeId> = (0..4).map(|i| system.node(&mut net, &format!("n{i}"))).collect();
    for pair in nodes.windows(2) {
        join(&system, &mut net, (pair[0], pair[1]), mbps, 10, &["/"]);
    }
    let flows: Vec<FlowId> = (0..4)
        .map(|i| {
            let uri = format!("/f{i}");
            publish(&mut net, nodes[3], &uri, content);
            let start = if i == 0 { Time::ZERO } else { second };
            system.fetch(&mut net, nodes[0], &uri, start)
        })
        .collect();
    let series = Series::default();
    net.observe(Duration::from_millis(50), Box::new(series.clone()));
    let _ = net.run(end);
    let fair = 0.95e6 * mbps as f64 / 4.0;
    let stamps = series.events("rate", nodes[0]);
    let stamps = || stamps.iter().filter(|e| e.at >= second);
    let late = stamps().rev().find(|e| (e.value - fair).abs() > 0.15 * fair);
    let wire = content as f64 / (content + 46) as f64;
    let errors = flows.iter().map(|f| (series.rate(*f, ms(20 * S), end) / wire / fair - 1.0).abs());
    Fit {
        error: errors.sum::<f64>() / flows.len() as f64,
        took: late.map_or(0.0, |e| e.at.since(second).as_secs_f64()),
        overshoot: 1.0 - stamps().map(|e| e.value).fold(f64::INFINITY, f64::min) / fair,
    }
}

/// Figures 2 and 3 of the paper, and the same with faster links. At 1 Mbit/s a Data packet takes
/// 14 ms, which is longer than RCP's period. RCP treats a single waiting Interest as a queue to
/// drain, so it stays below its share.
#[test]
fn three_flows_that_join_one_get_their_share_sooner_with_mircc() {
    let mut table = "system           Mbit/s    error %     took s overshoot %\n".to_owned();
    for (mbps, content) in [(1, 1740), (10, 1740), (40, 8000)] {
        let fits = SYSTEMS.map(|scheme| on_a_line(scheme, mbps, content));
        for (scheme, fit) in SYSTEMS.iter().zip(fits) {
            let _ = writeln!(table, "{scheme:16} {mbps:6} {}", fit.row());
        }
        let [mircc, rcp] = fits;
        assert!(mircc.error < 0.05, "{mbps} Mbit/s: {mircc:?}");
        assert!(mbps == 1 || rcp.error < 0.08, "{mbps} Mbit/s: {rcp:?}");
        assert!(mircc.took < rcp.took && mircc.overshoot < rcp.overshoot, "{mircc:?} {rcp:?}");
    }
    compare("line.txt", &table);
}

/// A flow over two links of 20 Mbit/s and 10 ms each. Returns its Data rate in Mbit/s, by second.
fn over_two_links(
    scheme: &str,
    change: impl Fn(&mut WireSpec),
    faults: impl Fn(LinkId) -> Vec<(u64, Fault)>,
) -> Vec<f64> {
    const CONTENT: usize = 2000;
    let system = System::new(scheme);
    let mut net = Network::new(1);
    let nodes = ["a", "b", "c"].map(|name| system.node(&mut net, name));
    join(&system, &mut net, (nodes[0], nodes[1]), 20, 10, &["/"]);
    let mut wire = system.wire(Rate::from_mbps(20), Duration::from_millis(10));
    change(&mut wire);
    let link = net.add_link(nodes[1], nodes[2], wire.clone(), wire);
    net.add_route(nodes[1], &crate::support::name("/"), link, 1).expect("a route");
    publish(&mut net, nodes[2], "/a", CONTENT);
    let flow = system.fetch(&mut net, nodes[0], "/a", Time::ZERO);
    let series = Series::default();
    net.observe(Duration::from_millis(50), Box::new(series.clone()));
    for (at, fault) in faults(link) {
        net.at(ms(at), fault).expect("a fault");
    }
    let _ = net.run(ms(20 * S));
    let wire = 1e6 * CONTENT as f64 / (CONTENT + 46) as f64;
    (0..20).map(|s| series.rate(flow, ms(s * S), ms(s * S + S)) / wire).collect()
}

/// One class fills the share eta of 20 Mbit/s; two classes also fill eta of the rest. The rates are
/// those of packets; frames are larger by a fiftieth.
#[test]
fn rates_outlast_loss_outages_and_cuts() {
    // RCP takes more than two seconds to find a rate that is a tenth of the one before.
    for (scheme, fair, settled) in
        [("mircc", 19.95, 8), ("mircc:dual=false", 19.0, 8), ("rcp", 19.0, 9)]
    {
        let near = |of: f64, rates: &[f64]| {
            let near = (0.93 * of..=of).contains(&rates.iter().copied().fold(f64::MAX, f64::min));
            assert!(near, "{scheme}: {of:.2} is not {rates:.2?}");
        };
        near(fair, &over_two_links(scheme, |_| (), |_| Vec::new())[3..]);
        // One in a hundred Interests and Data packets is lost, and requested again.
        let loss = Loss::Random(0.01);
        let lossy = over_two_links(scheme, |wire| wire.impairment.loss = loss, |_| Vec::new());
        near(0.98 * fair, &lossy[3..]);
        // A link is down from 6 s to 8 s.
        let away = |link| vec![(6 * S, Fault::LinkDown(link)), (8 * S, Fault::LinkUp(link))];
        let outage = over_two_links(scheme, |_| (), away);
        assert_eq!(outage[7], 0.0, "{scheme}");
        near(fair, &outage[11..]);
        // A link has a tenth of its rate from 6 s to 12 s.
        let cut = |link| {
            let to = |mbps| {
                let rate = Some(Rate::from_mbps(mbps));
                [false, true].map(|backward| Fault::Rate { link, backward, rate })
            };
            let cut = to(2).map(|fault| (6 * S, fault));
            cut.into_iter().chain(to(20).map(|fault| (12 * S, fault))).collect()
        };
        let cut = over_two_links(scheme, |_| (), cut);
        near(fair / 10.0, &cut[settled..12]);
        near(fair, &cut[16..]);
    }
}

/// A link with the system's parts at both ends, and routes over it from the first node.
fn join(
    system: &System,
    net: &mut Network,
    (a, b): (NodeId, NodeId),
    mbps: u64,
    delay_ms: u64,
    prefixes: &[&str],
) -> LinkId {
    let wire = system.wire(Rate::from_mbps(mbps), Duration::from_millis(delay_ms));
    let link = net.add_link(a, b, wire.clone(), wire);
    for prefix in prefixes {
        net.add_route(a, &crate::support::name(prefix), link, 1).expect("a route");
    }
    link
}

/// The diamond of figure 4: two paths with 10 Mbit/s each that share the last link. Returns the
/// rate of Data in the second half of 10 s, in Mbit/s, and the shares of the two paths.
fn on_a_diamond(scheme: &str, shared: u64) -> (f64, [f64; 2]) {
    let system = System::new(scheme);
    let mut net = Network::new(1);
    let [e0, f2, f3, f4, f5, e6] =
        ["E0", "F2", "F3", "F4", "F5", "E6"].map(|name| system.node(&mut net, name));
    let mut link = |a, b, mbps| join(&system, &mut net, (a, b), mbps, 3, &["/"]);
    link(e0, f2, 100);
    let paths = [link(f2, f3, 10), link(f2, f4, 10)];
    link(f3, f5, 100);
    link(f4, f5, 100);
    link(f5, e6, shared);
    publish(&mut net, e6, "/a", 1740);
    let flow = system.fetch(&mut net, e0, "/a", Time::ZERO);
    let series = Series::default();
    net.observe(Duration::from_millis(50), Box::new(series.clone()));
    let outcome: Outcome = net.run(ms(10 * S));
    assert!(
        outcome.flows[0].transfer.counters.false_losses < 10,
        "{}",
        outcome.flows[0].transfer.counters.false_losses
    );
    let sent = paths.map(|path| outcome.links[path.index() + 1].sent);
    let bytes = sent.map(|sent| sent.bytes as f64);
    let frame = (bytes[0] + bytes[1]) / (sent[0].data + sent[1].data) as f64;
    let rate = series.rate(flow, ms(5 * S), ms(10 * S)) * frame / 1740.0 / 1e6;
    (rate, bytes.map(|b| b / (bytes[0] + bytes[1])))
}

/// Section 4.3.4. The primary class has the best path's rate, 10 Mbit/s: R_p of either path grows
/// to C = 10, because neither is full. The secondary class has eta of the rest. With a shared link
/// of 15 Mbit/s this is 0.95 * 5, so the sum is 14.75. With a wide shared link it is 2 * 0.95 * 5
/// of 10 on each path, so the sum is 19.5.
#[test]
fn two_classes_fill_a_diamond_that_one_class_cannot() {
    for hint in ["bloom", "random", "label"] {
        for (shared, dual, expected) in
            [(15, false, 10.0), (15, true, 14.75), (100, false, 10.0), (100, true, 19.5)]
        {
            let (rate, shares) = on_a_diamond(&format!("mircc:dual={dual},hint={hint}"), shared);
            let at = format!("hint {hint}, {shared} Mbit/s, dual {dual}: {rate:.2} {shares:?}");
            assert!((rate / expected - 1.0).abs() < 0.02, "{at}");
            assert!(shares.iter().all(|share| (share - 0.5).abs() < 0.05), "{at}");
        }
    }
}

/// The slingshot of figures 5 and 6: la = 15 Mbit/s leads to the split into lb = 12 and lc = 9.
/// Consumer 1 has both paths. Consumer 2 starts after 5 s, has one path, and stops after 6 MB.
/// Returns rates of Data in Mbit/s: of consumer 1 alone, of both, and of consumer 1 afterwards.
fn on_a_slingshot(second_by_lc: bool) -> (f64, [f64; 2], f64) {
    let system = System::new("mircc");
    let mut net = Network::new(1);
    let [e0, f1, e3, e4, p] = ["E0", "F1", "E3", "E4", "P"].map(|n| system.node(&mut net, n));
    let both: &[&str] = &["/a", "/b"];
    let (by_lb, by_lc) = if second_by_lc { (&both[..1], both) } else { (both, &both[..1]) };
    join(&system, &mut net, (e0, f1), 15, 3, both);
    join(&system, &mut net, (f1, e3), 12, 3, by_lb);
    join(&system, &mut net, (f1, e4), 9, 3, by_lc);
    join(&system, &mut net, (e3, p), 100, 3, both);
    join(&system, &mut net, (e4, p), 100, 3, both);
    publish(&mut net, p, "/a", 1740);
    publish_sized(&mut net, p, "/b", 1740, 6_000_000);
    let first = system.fetch(&mut net, e0, "/a", Time::ZERO);
    let second = system.fetch(&mut net, e0, "/b", ms(5 * S));
    let series = Series::default();
    net.observe(Duration::from_millis(50), Box::new(series.clone()));
    let outcome = net.run(ms(25 * S));
    assert!(outcome.flows[1].end.is_some_and(|end| end < ms(20 * S)));
    let wire = 1e6 * 1740.0 / 1785.0;
    let rate = |flow, from, to| series.rate(flow, ms(from * S), ms(to * S)) / wire;
    (rate(first, 2, 5), [rate(first, 7, 12), rate(second, 7, 12)], rate(first, 22, 25))
}

/// Section 4.4. Alone, consumer 1 has 12 in the primary class (the best path), and in the secondary
/// class the rest of la, 0.95 * 3. The sum is 14.85, less the cost of noise in so small a class.
/// With consumer 2 behind lc, la is full, and they share it at just under 2 : 1. With consumer 2
/// behind lb, la limits both, and they share it 1 : 1. Afterwards the rates are as before.
#[test]
fn a_slingshot_is_shared_as_published() {
    for (by_lc, low, high) in [(true, 1.6, 2.0), (false, 0.7, 1.3)] {
        let (alone, both, after) = on_a_slingshot(by_lc);
        let at = format!("{alone:.2} {both:.2?} {after:.2}");
        assert!([alone, after].iter().all(|rate| (13.6..14.9).contains(rate)), "{at}");
        assert!((low..high).contains(&(both[0] / both[1])), "{at}");
        assert!((0.9..1.0).contains(&((both[0] + both[1]) / 15.0)), "{at}");
    }
}

/// One bottleneck with small segments, whose frames are a twentieth larger than their packets.
/// Interests wait instead of Data, and requests with Nacks are repeated without a timeout.
#[test]
fn a_bottleneck_has_no_queue_of_data() {
    for (scheme, filled) in [("mircc", 0.97), ("mircc:dual=false", 0.93), ("rcp", 0.8)] {
        let system = System::new(scheme);
        let mut net = Network::new(1);
        let nodes = ["a", "b", "c"].map(|name| system.node(&mut net, name));
        join(&system, &mut net, (nodes[0], nodes[1]), 200, 2, &["/"]);
        let link = join(&system, &mut net, (nodes[1], nodes[2]), 40, 25, &["/"]);
        publish(&mut net, nodes[2], "/a", 1024);
        let _ = system.fetch(&mut net, nodes[0], "/a", Time::ZERO);
        let outcome = net.run(ms(10 * S));
        let (down, flow) = (&outcome.links[link.index() + 1], &outcome.flows[0]);
        assert!(down.utilization > filled, "{scheme}: {down:?}");
        assert!(down.queue.max < 2 * 1070, "{scheme}: {down:?}");
        assert_eq!(
            (flow.transfer.counters.timeouts, flow.transfer.counters.gaps),
            (0, 0),
            "{scheme}: {flow:?}"
        );
    }
}

/// Two flows over one bottleneck, with round trips of 22 and 122 ms: rates do not depend on them.
#[test]
fn a_longer_round_trip_costs_nothing() {
    for scheme in SYSTEMS {
        let system = System::new(scheme);
        let mut net = Network::new(1);
        let [near, far, b, c] = ["near", "far", "b", "c"].map(|name| system.node(&mut net, name));
        join(&system, &mut net, (near, b), 100, 1, &["/"]);
        join(&system, &mut net, (far, b), 100, 51, &["/"]);
        join(&system, &mut net, (b, c), 20, 10, &["/"]);
        let flows = [(near, "/a"), (far, "/b")].map(|(node, uri)| {
            publish(&mut net, c, uri, 2000);
            system.fetch(&mut net, node, uri, Time::ZERO)
        });
        let series = Series::default();
        net.observe(Duration::from_millis(50), Box::new(series.clone()));
        let _ = net.run(ms(20 * S));
        let [short, long] = flows.map(|flow| series.rate(flow, ms(10 * S), ms(20 * S)));
        assert!((long / short - 1.0).abs() < 0.03, "{scheme}: {short:.0} and {long:.0}");
        assert!(short + long > 0.9 * 19e6 * 2000.0 / 2090.0, "{scheme}: {short:.0} and {long:.0}");
    }
}
