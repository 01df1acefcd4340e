//! Converts observations to the form of the simulator's results.

use crate::buckets::Passed;
use crate::counters::Face;
use crate::in_process::AppResults;
use crate::moments::{Moment, Moments, moments};
use crate::pace::Pace;
use crate::readings::Reading;
use crate::stores::{caching, together};
use control::{Duration, Size, Time};
use forwarder::Amount;
use record::{
    FlowId, FlowResult, FlowSample, LinkId, LinkResult, LinkSample, NetworkSample, NodeId,
    NodeResult, NodeSample, Outcome, Recorder, WireCounters, WorkloadSample,
};
use scenario::model::Scenario;
use scenario::result::{Caching, Measures};
use scenario::series::{Rows, Sampler};
use std::collections::BTreeMap;
use transport::Snapshot;

/// The observations of a run.
pub struct Observed {
    /// The instant at which it began.
    pub origin: Time,
    /// Its duration.
    pub duration: Duration,
    /// The names of the links' faces.
    pub interfaces: Vec<String>,
    /// The traffic of the links' ends, if the kernel enforces their rates.
    pub passed: Option<Vec<[Passed; 2]>>,
    /// The daemons' counters.
    pub readings: Vec<Vec<Reading>>,
    /// The transfers of `weir get`, by their consumers' index in the scenario.
    pub fetched: BTreeMap<usize, Fetched>,
    /// The results of applications.
    pub carried: AppResults,
}

/// A transfer.
pub struct Fetched {
    /// Its progress.
    pub records: Vec<Snapshot>,
    /// How it ended.
    pub ended: Ended,
}

/// How a transfer ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Before the run did.
    pub by_itself: bool,
    /// With its node, and when.
    pub crashed: Option<Duration>,
    /// Its messages.
    pub output: String,
}

/// A link's direction by number: the sending node and the name of its face.
fn sender<'a>(scenario: &Scenario, observed: &'a Observed, number: usize) -> (usize, &'a str) {
    let (link, end) = (number / 2, number % 2);
    (scenario.links[link].ends[end], &observed.interfaces[link])
}

/// The run's result, and samples of it at this interval; its time series go to `rows`, if anywhere.
pub fn outcome(
    scenario: &Scenario,
    observed: &Observed,
    every: Duration,
    rows: Option<Box<dyn Rows>>,
) -> (Outcome, Measures, Option<Caching>) {
    let moments = moments(observed.origin, &observed.readings);
    let mut samples = samples(scenario, observed, &moments);
    if let Some(rows) = rows {
        let mut sampler = Sampler::new(scenario, &observed.carried.workloads, rows);
        samples.iter().for_each(|(_, sample)| sample.record(&mut sampler));
    }
    let mut measures = Measures::new(scenario);
    for (_, sample) in &mut samples {
        sample.align(every);
        sample.record(&mut measures);
    }
    let links = 0..2 * scenario.links.len();
    let links = links.map(|number| link(scenario, observed, &moments, number)).collect();
    let nodes =
        scenario.nodes.iter().zip(&moments).map(|(node, moments)| of_node(&node.name, moments));
    let last = moments.iter().filter_map(|moments| moments.last());
    let packet_hops = last.flat_map(|last| &last.counters.faces).filter(|face| !face.local);
    let packet_hops = packet_hops
        .map(|face| face.received.interests + face.received.data + face.received.nacks)
        .sum();
    let outcome = Outcome {
        duration: observed.duration,
        events: 0,
        packet_hops,
        flows: flows(scenario, observed),
        workloads: observed.carried.workloads.clone(),
        links,
        nodes: nodes.collect(),
        trace_hash: 0,
    };
    (outcome, measures, caching(scenario, &moments, observed.duration))
}

/// Consumers in the order of the scenario, then those that began by themselves.
fn flows(scenario: &Scenario, observed: &Observed) -> Vec<FlowResult> {
    let mut flows = observed.carried.flows.clone();
    flows.resize(flows.len().max(scenario.consumers.len()), FlowResult::default());
    for (number, fetched) in &observed.fetched {
        flows[*number] = flow(scenario, observed, *number, fetched);
    }
    flows
}

fn flow(
    scenario: &Scenario,
    observed: &Observed,
    number: usize,
    Fetched { records, ended }: &Fetched,
) -> FlowResult {
    let consumer = &scenario.consumers[number];
    let last = records.last();
    let mut result = FlowResult::default();
    let transfer = &mut result.transfer;
    *transfer = last.map(|last| last.transfer.clone()).unwrap_or_default();
    let seen = last.map(|last| last.at.since(observed.origin));
    result.node.clone_from(&scenario.nodes[consumer.at].name);
    result.name = scenario.contents[consumer.content].name.to_string();
    if let scenario::model::Manner::Fetch { control, .. } = &consumer.manner {
        result.control = control.to_string();
    }
    result.start = Time::ZERO + consumer.start;
    let begun = observed.duration > consumer.start;
    result.end = match ended {
        Ended { crashed: Some(at), .. } => Some(Time::ZERO + *at),
        Ended { by_itself: true, .. } => {
            Some(Time::ZERO + seen.unwrap_or(observed.duration).min(observed.duration))
        }
        _ => None,
    };
    if ended.crashed.is_some() {
        transfer.error = Some("its node crashed".to_owned());
    } else if ended.by_itself && !transfer.complete && transfer.error.is_none() && begun {
        let why = ended.output.lines().rev().find(|line| line.starts_with("weir: "));
        let why = why.map_or("it ended", |line| line.trim_start_matches("weir: "));
        transfer.error = Some(why.to_owned());
    }
    result
}

fn link(scenario: &Scenario, observed: &Observed, moments: &Moments, number: usize) -> LinkResult {
    let (at, interface) = sender(scenario, observed, number);
    let mut pace = Pace::new(scenario, number);
    let [mut from, mut to] = scenario.links[number / 2].ends;
    if number % 2 == 1 {
        (from, to) = (to, from);
    }
    let faces: Vec<(Duration, &Face)> = moments[at]
        .iter()
        .filter_map(|one| Some((one.since, one.counters.face(interface)?)))
        .collect();
    let busy = faces.iter().map(|(since, face)| pace.sent(*since, face.sent.bytes)).last();
    let face = faces.last().map(|(_, face)| Face::clone(face)).unwrap_or_default();
    let seconds = observed.duration.as_secs_f64().max(1e-9);
    // A bucket counts headers, and drops packets that the face counts as sent.
    let passed = observed.passed.as_ref().map(|all| &all[number / 2][number % 2]);
    let busy = match passed {
        Some(one) => Some(Pace::new(scenario, number).sent(observed.duration, one.bytes)),
        None => busy,
    };
    let lost = face.lost + passed.map_or(0, |one| one.drops);
    let share = busy.unwrap_or_default().as_secs_f64() / seconds;
    LinkResult {
        from: scenario.nodes[from].name.clone(),
        to: scenario.nodes[to].name.clone(),
        rate: Some(pace.rate(observed.duration)),
        utilization: share.min(1.0),
        queue: face.occupancy(seconds),
        sent: face.sent,
        tally: face.queue.tally,
        crashed: face.crashed,
        queued: queued(&face),
        counters: face.counters,
        wire: WireCounters { lost, ..WireCounters::default() },
        in_flight: 0,
    }
}

fn queued(face: &Face) -> Amount {
    Amount { packets: face.queue.packets, bytes: face.queue.bytes }
}

fn of_node(name: &str, moments: &[Moment]) -> NodeResult {
    let counters = moments.last().map(|last| last.counters.clone()).unwrap_or_default();
    NodeResult {
        node: name.to_owned(),
        store: counters.content_store.counters,
        cs_packets: counters.content_store.entries as u64,
        pit_max: counters.pit.most as u64,
        pit: counters.pit.entries as u64,
        served: counters.served(),
        crashed: counters.crashed,
        crashes: counters.crashes,
        stats: counters.stats,
        process: moments.iter().rev().find_map(|one| one.usage).map(|last| {
            let memory = moments.iter().filter_map(|one| one.usage).map(|usage| usage.memory);
            (last.cpu, memory.max().unwrap_or(last.memory))
        }),
    }
}

/// A sample of a daemon, a transfer or an application.
enum Sample {
    Link(LinkSample),
    Node(NodeSample),
    Flow(FlowSample),
    Workload(WorkloadSample),
    Network(NetworkSample),
}

impl Sample {
    fn record(&self, recorder: &mut dyn Recorder) {
        match self {
            Sample::Link(link) => recorder.link(link),
            Sample::Node(node) => recorder.node(node),
            Sample::Flow(flow) => recorder.flow(flow),
            Sample::Workload(workload) => recorder.workload(workload),
            Sample::Network(network) => recorder.network(network),
        }
    }

    /// Moves it to the last multiple of the interval: samples of several programs are not at equal
    /// times.
    fn align(&mut self, every: Duration) {
        let at = match self {
            Sample::Link(link) => &mut link.at,
            Sample::Node(node) => &mut node.at,
            Sample::Flow(flow) => &mut flow.at,
            Sample::Workload(workload) => &mut workload.at,
            Sample::Network(network) => &mut network.at,
        };
        at.0 -= at.0 % every.0.max(1);
    }
}

/// All samples, in the order of time.
fn samples(scenario: &Scenario, observed: &Observed, moments: &Moments) -> Vec<(Duration, Sample)> {
    let mut samples = Vec::new();
    for number in 0..2 * scenario.links.len() {
        let (at, interface) = sender(scenario, observed, number);
        let mut pace = Pace::new(scenario, number);
        for Moment { since, counters, .. } in &moments[at] {
            let Some(face) = counters.face(interface) else { continue };
            samples.push((*since, Sample::Link(link_sample(number, *since, face, &mut pace))));
        }
    }
    for (at, moments) in (0..).zip(moments) {
        for Moment { since, counters, usage } in moments {
            let node = NodeSample {
                at: Time::ZERO + *since,
                node: NodeId(at),
                pit: counters.pit.entries,
                content_store: counters.content_store.entries,
                answers: counters.answers(),
                process: usage.map(|usage| (usage.cpu, usage.memory)),
            };
            samples.push((*since, Sample::Node(node)));
        }
    }
    for (number, fetched) in &observed.fetched {
        for one in fetched.records.iter().filter(|one| !one.ended) {
            let since = one.at.since(observed.origin);
            let flow = flow_sample(FlowId(*number as u32), Time::ZERO + since, one);
            samples.push((since, Sample::Flow(flow)));
        }
    }
    for (since, flows, workloads) in &observed.carried.samples {
        samples.extend(flows.iter().map(|flow| (*since, Sample::Flow(*flow))));
        samples.extend(workloads.iter().map(|one| (*since, Sample::Workload(*one))));
    }
    // The samples of the first node's daemon have the times of all.
    for Moment { since, .. } in moments.first().into_iter().flatten() {
        samples.push((*since, Sample::Network(together(moments, *since))));
    }
    samples.sort_by_key(|(since, _)| *since);
    samples
}

fn flow_sample(flow: FlowId, at: Time, one: &Snapshot) -> FlowSample {
    let transfer = &one.transfer;
    FlowSample {
        at,
        flow,
        window: one.window,
        in_flight: u32::try_from(transfer.in_flight).unwrap_or(u32::MAX),
        bytes: Size(transfer.bytes),
        rtt: one.rtt.map(|rtt| rtt.0),
        retransmissions: transfer.counters.retransmissions,
        video: None,
    }
}

fn link_sample(number: usize, since: Duration, face: &Face, pace: &mut Pace) -> LinkSample {
    LinkSample {
        at: Time::ZERO + since,
        link: LinkId((number / 2) as u32),
        backward: number % 2 == 1,
        queue: queued(face),
        bytes: face.sent.bytes,
        busy: pace.sent(since, face.sent.bytes),
        rate: Some(pace.rate(since)),
        drops: face.queue.tally.dropped.packets + face.lost,
        counters: face.counters,
    }
}
