//! Applications whose frames are delivered by another program.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Line, at_ms, controller, line, ms, name, wire};
use control::{Duration, Rate, Time};
use packet::tlv::Reader;
use sim::workload::catalogue::{Catalogue, Class, Objects};
use sim::workload::sizes::Distribution;
use sim::workload::video::{Adaptation, VideoSpec};
use sim::workload::{Manner, Requests, WorkloadSpec};
use sim::{Applications, Arrivals, FlowResult, RateSpec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fetches of objects of two classes from the first node, at the last one.
fn network() -> Line {
    let mut line = line(5, 2, &wire(100, 1));
    let class = |name: &str, share, size| {
        let (name, size) = (name.to_owned(), Distribution::Constant(size));
        Class { name, share, size }
    };
    let classes = vec![class("mice", 9.0, 3_000), class("elephants", 1.0, 50_000)];
    let objects = Objects::Numbered { count: Some(50), classes };
    let catalogue = Arc::new(Catalogue::new(5, name("/p"), 1000, objects));
    line.net.publish_catalogue(line.nodes[1], &catalogue, 0).unwrap();
    line.net.workload(WorkloadSpec {
        name: "w".to_owned(),
        at: line.nodes.clone(),
        catalogues: vec![catalogue],
        requests: Requests::Drawn {
            per_second: 20.0,
            arrivals: Arrivals::Poisson,
            alpha: 0.8,
            q: 0.0,
            start: Time::ZERO,
            stop: None,
            count: None,
        },
        manner: Manner::Fetch {
            range: None,
            controller: Arc::new(|| controller("cubic")),
            label: "cubic".to_owned(),
            lifetime: ms(4000),
            patience: ms(5000),
        },
        duration: Duration::from_secs(5),
    });
    line
}

/// Delivers frames between consumers and the only producer, without any delay.
struct Carrier {
    apps: Applications,
    producer: usize,
    /// The consumers that requested a name.
    asked: BTreeMap<Vec<u8>, Vec<usize>>,
    /// The delay of all calls.
    late: Duration,
}

impl Carrier {
    fn new(line: Line) -> Carrier {
        let apps = line.net.into_applications();
        let producer = apps.producers()[0].0;
        Carrier { apps, producer, asked: BTreeMap::new(), late: Duration::ZERO }
    }

    fn run(&mut self, until: Time) {
        while let Some(at) = self.apps.next().filter(|at| *at <= until) {
            let at = at + self.late;
            self.apps.advance(at);
            while let Some(from) = self.apps.next_ready() {
                let mut bytes = Vec::new();
                assert!(self.apps.take(from, &mut bytes));
                let mut reader = Reader::new(&bytes);
                while let Some(element) = reader.next_element().unwrap() {
                    self.carry(at, from, element.whole);
                }
            }
        }
        self.apps.advance(until);
    }

    fn carry(&mut self, at: Time, from: usize, frame: &[u8]) {
        // The name is the first element of both Interest and Data.
        let mut reader = Reader::new(frame);
        let value = reader.next_element().unwrap().unwrap().value;
        let key = Reader::new(value).next_element().unwrap().unwrap().value.to_vec();
        if from != self.producer {
            self.asked.entry(key).or_default().push(from);
            self.apps.receive(at, self.producer, frame);
            return self.apps.received(self.producer);
        }
        // The names of metadata and discovered versions are longer than the requested ones.
        let found = self.asked.keys().rfind(|asked| key.starts_with(asked)).cloned();
        for to in found.and_then(|key| self.asked.remove(&key)).unwrap_or_default() {
            self.apps.receive(at, to, frame);
            self.apps.received(to);
        }
    }
}

fn drawn(flow: &FlowResult) -> (Time, &str, &str, u16) {
    (flow.start, &flow.node, &flow.name, flow.class)
}

#[test]
fn flows_begin_when_where_and_with_what_they_do_in_the_simulator() {
    let end = Time::ZERO + Duration::from_secs(5);
    let simulated = network().net.run(end);
    let mut carrier = Carrier::new(network());
    carrier.run(end);
    let (flows, workloads) = carrier.apps.results();
    assert!(flows.len() > 50, "{}", flows.len());
    let [one, other] = [&simulated.flows, &flows].map(|all| all.iter().map(drawn));
    assert!(one.eq(other));
    assert_eq!(workloads[0].started, simulated.workloads[0].started);
    // Without any delay all packets arrive at once.
    assert!(flows.iter().all(|flow| flow.transfer.complete && flow.end == Some(flow.start)));
    let sizes = |all: &[FlowResult]| all.iter().map(|flow| flow.transfer.bytes).collect::<Vec<_>>();
    assert_eq!(sizes(&flows), sizes(&simulated.flows));
}

/// A player with buffer-based adaptation. A full buffer selects the highest quality.
fn film() -> Line {
    let mut line = line(5, 2, &wire(100, 1));
    let (ladder, segment) = ([1, 2, 4].map(Rate::from_mbps), Duration::from_secs(2));
    let bytes = |rate: &Rate| rate.size_in(segment).0;
    let parts = ladder.iter().enumerate().flat_map(|(quality, rate)| {
        (0..15).map(move |number| (name(&format!("/{quality}/{number}")), bytes(rate)))
    });
    let objects = Objects::Listed(parts.collect());
    let catalogue = Arc::new(Catalogue::new(5, name("/film"), 8000, objects));
    line.net.publish_catalogue(line.nodes[1], &catalogue, 0).unwrap();
    let (reservoir, cushion) = (Duration::from_secs(4), Duration::from_secs(4));
    let video = VideoSpec {
        catalogue,
        ladder: ladder.to_vec(),
        segment,
        segments: 15,
        start: Time::ZERO,
        adaptation: Adaptation::Buffer { reservoir, cushion },
        buffer: Duration::from_secs(10),
        startup: Duration::from_secs(2),
        controller: Arc::new(|| controller("cubic")),
        label: "cubic".to_owned(),
        lifetime: ms(4000),
        patience: ms(5000),
        range: None,
    };
    line.net.video(line.nodes[0], video);
    line
}

#[test]
fn a_player_that_is_late_chooses_as_one_that_is_not() {
    let watched = |late: Duration| {
        let mut carrier = Carrier { late, ..Carrier::new(film()) };
        carrier.run(at_ms(60_000));
        carrier.apps.results().0[0].video.unwrap()
    };
    let (on_time, late) = (watched(Duration::ZERO), watched(Duration::from_micros(300)));
    assert_eq!((on_time.segments, late.segments), (15, 15));
    assert_eq!(on_time.bitrate, late.bitrate);
    assert!(on_time.bitrate.unwrap() > 2.5e6, "{:?}", on_time.bitrate);
}

#[test]
fn a_node_that_crashes_takes_its_flows_and_its_next_ones_begin() {
    let mut carrier = Carrier::new(network());
    let first = carrier.apps.producers()[0].1;
    // No frame is delivered, so that the flows continue.
    carrier.apps.advance(at_ms(1000));
    let running = |carrier: &Carrier| {
        let (flows, _) = carrier.apps.results();
        flows.iter().filter(|flow| flow.node == "n1" && flow.end.is_none()).count()
    };
    assert!(running(&carrier) > 0);
    carrier.apps.crash(at_ms(1000), first);
    assert_eq!(running(&carrier), 0);
    carrier.apps.advance(at_ms(2000));
    assert!(running(&carrier) > 0);
}

#[test]
fn left_out_applications_send_nothing() {
    let mut line = line(1, 2, &wire(100, 1));
    let rate = |first| RateSpec { first, ..RateSpec::new(name("/x/v=1"), 10.0, 5) };
    let flows = [0, 100].map(|first| line.net.constant_rate(line.nodes[0], rate(first)));
    let mut apps = line.net.into_applications();
    apps.leave_out(flows[0]);
    apps.advance(at_ms(10));
    let speaking: Vec<usize> = std::iter::from_fn(|| apps.next_ready()).collect();
    assert_eq!(speaking.len(), 1);
    let (flows, _) = apps.results();
    assert_eq!(
        [flows[0].transfer.counters.interests, flows[1].transfer.counters.interests],
        [0, 1]
    );
}
