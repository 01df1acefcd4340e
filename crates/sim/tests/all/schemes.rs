//! Every scheme of the registry in the same few small networks. Its results are compared with the
//! required minimum (`schemes/floors.txt`) and with the last recorded results
//! (`schemes/recorded.txt`, which `WEIR_REGENERATE=1` rewrites).
//!
//! A scheme is tested as a whole: its link parts on every link, its strategy at every node. If it
//! has no consumer, cubic is the consumer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail")]

use crate::support::{at_ms, ms, name, strategy, two_at_a_time};
use control::{Controller, Params, Rate, Scheme, Size};
use sim::{
    Fault, FetchSpec, FlowId, LinkId, Loss, Make, Network, NodeId, NodeSpec, ObjectSpec, Outcome,
    Signing, WireSpec,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// The measures, in the order of the columns of both tables.
const MEASURES: [&str; 6] = ["line", "fair", "loss", "away", "cut", "rtt"];

/// The bytes of content in a segment.
const SEGMENT: usize = 1000;
/// The rate of the bottleneck, in Mbit/s.
const MBPS: u64 = 10;

fn makes<T: ?Sized + 'static>(
    scheme: &'static Scheme,
    part: Option<fn(&Params) -> Box<T>>,
) -> Option<Make<T>> {
    let part = part?;
    Some(Arc::new(move || part(&Params::defaults(scheme.params))))
}

fn consumer(scheme: &'static Scheme) -> Box<dyn Controller> {
    let cubic = schemes::find("cubic").unwrap();
    let of = if scheme.controller.is_some() { scheme } else { cubic };
    let inner = of.controller.unwrap()(&Params::defaults(of.params));
    match scheme.startup {
        Some(wrap) => wrap(&Params::defaults(scheme.params), inner),
        None => inner,
    }
}

fn wire(scheme: &'static Scheme, mbps: u64, delay: u64) -> WireSpec {
    WireSpec {
        // The longest round trip in these networks is 60 ms.
        queue: Size(mbps * 1_000_000 / 8 * 60 / 1000),
        marker: makes(scheme, scheme.marker),
        shaper: makes(scheme, scheme.shaper),
        stamper: makes(scheme, scheme.stamper),
        ..WireSpec::new(Rate::from_mbps(mbps), ms(delay))
    }
}

/// `consumers` behind access links of 100 Mbit/s with the given delays in milliseconds, a
/// bottleneck of 10 Mbit/s and 10 ms one way, and the producer behind it.
struct World {
    net: Network,
    bottleneck: LinkId,
    producer: NodeId,
    flows: Vec<FlowId>,
}

impl World {
    fn new(scheme: &'static Scheme, access: &[u64], loss: f64) -> World {
        let mut net = Network::new(1);
        let chosen = makes(scheme, scheme.strategy).unwrap_or_else(strategy);
        let node = |net: &mut Network, name: &str| {
            net.add_node(NodeSpec::new(name, chosen.clone()).without_store())
        };
        let (router, producer) = (node(&mut net, "router"), node(&mut net, "producer"));
        let mut narrow = wire(scheme, MBPS, 10);
        narrow.impairment.loss = Loss::Random(loss);
        let bottleneck = net.add_link(router, producer, narrow.clone(), narrow);
        net.add_route(router, &name("/p"), bottleneck, 1).unwrap();
        let mut world = World { net, bottleneck, producer, flows: Vec::new() };
        for (i, delay) in access.iter().enumerate() {
            let at = node(&mut world.net, &format!("consumer-{i}"));
            let wide = wire(scheme, 10 * MBPS, *delay);
            let link = world.net.add_link(at, router, wide.clone(), wide);
            world.net.add_route(at, &name("/p"), link, 1).unwrap();
            world.fetch(scheme, at, i, 1_000_000_000);
        }
        world
    }

    fn fetch(&mut self, scheme: &'static Scheme, at: NodeId, number: usize, size: u64) {
        let uri = name(&format!("/p/{number}"));
        let signing = Signing::Unsigned;
        let segment_size = SEGMENT;
        let object = ObjectSpec { segment_size, signing, ..ObjectSpec::new(uri, Size(size)) };
        let versioned = object.versioned();
        self.net.publish(self.producer, object).unwrap();
        let mut fetch = FetchSpec::new(versioned, consumer(scheme), scheme.name);
        fetch.signing = signing;
        fetch.patience = ms(120_000);
        self.flows.push(self.net.fetch(at, fetch));
    }

    /// The bytes of content that each flow received between two instants in milliseconds.
    fn got(&mut self, from: u64, to: u64) -> Vec<f64> {
        let bytes = |outcome: &Outcome, flows: &[FlowId]| -> Vec<u64> {
            flows.iter().map(|flow| outcome.flows[flow.index()].transfer.bytes).collect()
        };
        let before = bytes(&self.net.run(at_ms(from)), &self.flows);
        let after = bytes(&self.net.run(at_ms(to)), &self.flows);
        before.iter().zip(after).map(|(before, after)| (after - before) as f64).collect()
    }

    /// The share of the bottleneck, of `mbps` Mbit/s, that content used between two instants in
    /// milliseconds.
    fn share(&mut self, from: u64, to: u64, mbps: f64) -> f64 {
        let bytes: f64 = self.got(from, to).iter().sum();
        bytes * 8.0 / (mbps * 1e6 * (to - from) as f64 / 1000.0)
    }
}

/// Jain's fairness index.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|x| x * x).sum::<f64>());
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 0.0 }
}

/// A single flow on a line of three nodes: its share of the bottleneck from the 5th second on.
fn line(scheme: &'static Scheme) -> f64 {
    World::new(scheme, &[5], 0.0).share(5_000, 15_000, MBPS as f64)
}

/// The fairness of two equal flows from the 10th to the 30th second.
fn fair(scheme: &'static Scheme) -> f64 {
    jain(&World::new(scheme, &[5, 5], 0.0).got(10_000, 30_000))
}

/// The share if the bottleneck loses one frame in a hundred in each direction.
fn loss(scheme: &'static Scheme) -> f64 {
    World::new(scheme, &[5], 0.01).share(5_000, 25_000, MBPS as f64)
}

/// The share from the 10th to the 20th second if the bottleneck is down from the 5th to the 7th.
fn away(scheme: &'static Scheme) -> f64 {
    let mut world = World::new(scheme, &[5], 0.0);
    world.net.at(at_ms(5_000), Fault::LinkDown(world.bottleneck)).unwrap();
    world.net.at(at_ms(7_000), Fault::LinkUp(world.bottleneck)).unwrap();
    world.share(10_000, 20_000, MBPS as f64)
}

/// The share from the 10th to the 25th second if the rate is a tenth from the 5th second on.
fn cut(scheme: &'static Scheme) -> f64 {
    let mut world = World::new(scheme, &[5], 0.0);
    let link = world.bottleneck;
    for backward in [false, true] {
        let rate = Some(Rate::from_mbps(MBPS / 10));
        world.net.at(at_ms(5_000), Fault::Rate { link, backward, rate }).unwrap();
    }
    world.share(10_000, 25_000, MBPS as f64 / 10.0)
}

/// The ratio of the bytes of two flows with round trips of 30 and 60 ms.
fn rtt(scheme: &'static Scheme) -> f64 {
    let got = World::new(scheme, &[5, 20], 0.0).got(10_000, 30_000);
    got[0] / got[1].max(1.0)
}

fn table(file: &str) -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/all/schemes").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    (path, text)
}

/// The rows of a table by name; `-` is a missing number.
fn rows(text: &str) -> BTreeMap<String, Vec<Option<f64>>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("scheme"))
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap().to_owned();
            (name, words.map(|word| word.parse().ok()).collect())
        })
        .collect()
}

fn measured(scheme: &'static Scheme) -> [f64; 6] {
    [line, fair, loss, away, cut, rtt].map(|measure| measure(scheme))
}

#[test]
fn every_scheme_reaches_what_theory_allows_it_and_recovers() {
    let floors = rows(&table("floors.txt").1);
    let (path, before) = table("recorded.txt");
    let before = rows(&before);
    let names: Vec<&str> = schemes::SCHEMES.iter().map(|scheme| scheme.name).collect();
    for name in floors.keys().filter(|name| *name != "*") {
        assert!(names.contains(&name.as_str()), "{name} is in the table and nowhere else");
    }
    let mut text = format!("{:<14}", "scheme");
    MEASURES.iter().for_each(|measure| write!(text, "{measure:>7}").unwrap());
    text.push('\n');
    let mut missed = String::new();
    let all: Vec<&'static Scheme> = schemes::SCHEMES.iter().collect();
    let results = two_at_a_time(&all, |scheme| measured(scheme));
    for (scheme, measured) in all.into_iter().zip(results) {
        write!(text, "{:<14}", scheme.name).unwrap();
        measured.iter().for_each(|value| write!(text, "{value:>7.2}").unwrap());
        text.push('\n');
        let floors_of = floors.get(scheme.name).or_else(|| floors.get("*")).unwrap();
        for ((measure, value), floor) in MEASURES.iter().zip(measured).zip(floors_of) {
            if floor.is_some_and(|floor| value < floor) {
                let floor = floor.unwrap();
                writeln!(missed, "{}: {measure} is {value:.2}, not {floor}", scheme.name).unwrap();
            }
        }
        let recorded = before.get(scheme.name).and_then(|row| row.last().copied().flatten());
        if recorded.is_some_and(|recorded| !(0.5..=2.0).contains(&(measured[5] / recorded))) {
            writeln!(missed, "{}: its RTT bias is another than recorded", scheme.name).unwrap();
        }
    }
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(missed.is_empty(), "{missed}\n{text}");
}
