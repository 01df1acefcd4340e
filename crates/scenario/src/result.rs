//! What a run comes to, as the JSON object that every driver of scenarios gives.

use crate::statistics::Mean;
use crate::study::Run;
use control::Duration;
use serde::Serialize;
use sim::{FlowResult, LinkResult, NodeResult, Outcome};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The version of the program.
    pub version: &'static str,
    /// What a sweep set for this run, field and value.
    pub settings: Vec<(String, String)>,
    /// Simulated seconds.
    pub duration_s: f64,
    /// Seconds that it took.
    pub wall_s: f64,
    /// It was stopped before its end.
    pub interrupted: bool,
    /// Calls of components.
    pub events: u64,
    /// Packets that went through a forwarder after crossing a link.
    pub packet_hops: u64,
    /// The consumers, in the order of the file.
    pub flows: Vec<Flow>,
    /// Two directions of every link, in the order of the file.
    pub links: Vec<Link>,
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// How fair the flows' goodputs are (Jain): 1 if all are equal.
    pub jain_index: Option<f64>,
    /// Equal for equal runs.
    pub trace_hash: String,
}

/// A consumer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Its node.
    pub node: String,
    /// The content that it asked for.
    pub name: String,
    /// Its congestion control.
    pub control: String,
    /// When it began.
    pub start_s: f64,
    /// When it ended, well or badly; nothing if it still ran.
    pub end_s: Option<f64>,
    /// Octets of content that came.
    pub bytes: u64,
    /// Content over time, from its beginning to its end or that of the run.
    pub goodput_mbps: Option<f64>,
    /// Flow completion time, if everything came.
    pub fct_s: Option<f64>,
    /// Interests sent.
    pub interests: u64,
    /// Data that came for them.
    pub data: u64,
    /// Time-outs.
    pub timeouts: u64,
    /// Losses that were none.
    pub false_timeouts: u64,
    /// Losses that later answers, or silence, showed before a time-out.
    pub gaps: u64,
    /// Nacks.
    pub nacks: u64,
    /// Interests sent again.
    pub retransmissions: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Mean of the window over time, in segments.
    pub window_mean: Option<f64>,
    /// Its standard deviation.
    pub window_stdev: Option<f64>,
    /// The mean round-trip time.
    pub rtt_mean_ms: Option<f64>,
    /// The time that 99 % of the round trips stay below, to within 1/64.
    pub rtt_p99_ms: Option<f64>,
    /// Data that came, as a share of the segments asked for that are not in flight any more.
    pub delivery_ratio: Option<f64>,
    /// Everything came.
    pub complete: bool,
    /// Why it failed.
    pub error: Option<String>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// The rate at the end.
    pub rate_mbps: Option<f64>,
    /// The share of the time in which something was being sent.
    pub utilization: f64,
    /// Mean octets of Data in the queue.
    pub queue_mean_bytes: f64,
    /// Their standard deviation over time.
    pub queue_stdev_bytes: f64,
    /// The most that there were.
    pub queue_max_bytes: u64,
    /// Packets lost, by the queue or on the wire.
    pub drops: u64,
    /// Of these, packets that the queue or its management dropped.
    pub queue_drops: u64,
    /// Data that left with a congestion mark.
    pub marked: u64,
    /// Interests sent.
    pub interests: u64,
    /// Data sent.
    pub data: u64,
    /// Nacks sent.
    pub nacks: u64,
    /// Octets sent.
    pub bytes: u64,
    /// Octets offered to the queues: those that left, that were dropped, and that are queued.
    pub offered_bytes: u64,
    /// Octets that the queues dropped, and that were lost with a node.
    pub dropped_bytes: u64,
    /// Octets in the queues at the end.
    pub queued_bytes: u64,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Its name.
    pub node: String,
    /// Interests that the content store answered.
    pub cs_hits: u64,
    /// Interests that it did not.
    pub cs_misses: u64,
    /// The most pending Interests.
    pub pit_max: u64,
    /// Interests that came in.
    pub interests_in: u64,
    /// Data that went out.
    pub data_out: u64,
    /// Pending Interests that Data satisfied.
    pub satisfied: u64,
    /// Pending Interests that ended with a Nack.
    pub nacked: u64,
    /// Pending Interests that expired.
    pub expired: u64,
    /// Interests that joined a pending one.
    pub aggregated: u64,
    /// Pending Interests at the end.
    pub pending: u64,
}

impl RunResult {
    /// The result of `run`, which took `wall_s` seconds.
    #[must_use]
    pub fn new(run: &Run, outcome: &Outcome, wall_s: f64, interrupted: bool) -> RunResult {
        let flows: Vec<Flow> = outcome
            .flows
            .iter()
            .zip(&run.scenario.consumers)
            .map(|(flow, consumer)| {
                let content = &run.scenario.contents[consumer.content];
                Flow { name: content.name.to_string(), ..Flow::new(flow, outcome.duration) }
            })
            .collect();
        let shares: Vec<f64> = flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
        RunResult {
            scenario: run.scenario.name.clone(),
            seed: run.seed,
            version: env!("CARGO_PKG_VERSION"),
            settings: run.settings.clone(),
            duration_s: outcome.duration.as_secs_f64(),
            wall_s,
            interrupted,
            events: outcome.events,
            packet_hops: outcome.packet_hops,
            flows,
            links: outcome.links.iter().map(Link::new).collect(),
            nodes: outcome.nodes.iter().map(Node::new).collect(),
            jain_index: sim::jain_index(&shares),
            trace_hash: format!("{:016x}", outcome.trace_hash),
        }
    }
}

impl RunResult {
    /// All content that came, over the time from the first flow's beginning to the last one's end.
    fn goodput_mbps(&self) -> Option<f64> {
        let end = |flow: &Flow| flow.end_s.unwrap_or(self.duration_s);
        let last = self.flows.iter().map(end).fold(0.0, f64::max);
        let first = self.flows.iter().map(|flow| flow.start_s).fold(last, f64::min);
        let bytes: u64 = self.flows.iter().map(|flow| flow.bytes).sum();
        (last > first).then(|| bytes as f64 * 8e-6 / (last - first))
    }
}

impl Flow {
    fn new(flow: &FlowResult, run: Duration) -> Flow {
        let end = flow.end.map_or(run.as_secs_f64(), |end| end.as_secs_f64());
        let start_s = flow.start.as_secs_f64();
        let taken = end - start_s;
        let millis = |span: Option<Duration>| span.map(|d| d.as_secs_f64() * 1e3);
        let settled =
            flow.interests.saturating_sub(flow.retransmissions).saturating_sub(flow.in_flight);
        Flow {
            node: flow.node.clone(),
            name: flow.name.clone(),
            control: flow.control.clone(),
            start_s,
            end_s: flow.end.map(|end| end.as_secs_f64()),
            bytes: flow.bytes,
            goodput_mbps: (taken > 0.0).then(|| flow.bytes as f64 * 8e-6 / taken),
            fct_s: flow.end.filter(|_| flow.complete).map(|_| taken),
            interests: flow.interests,
            data: flow.data,
            timeouts: flow.timeouts,
            false_timeouts: flow.false_timeouts,
            gaps: flow.gaps,
            nacks: flow.nacks,
            retransmissions: flow.retransmissions,
            marks: flow.marks,
            window_mean: flow.window.map(|(mean, _)| mean),
            window_stdev: flow.window.map(|(_, stdev)| stdev),
            rtt_mean_ms: millis(flow.rtt_mean),
            rtt_p99_ms: millis(flow.rtt_p99),
            delivery_ratio: (settled > 0).then(|| (flow.data as f64 / settled as f64).min(1.0)),
            complete: flow.complete,
            error: flow.error.clone(),
        }
    }
}

impl Link {
    fn new(link: &LinkResult) -> Link {
        Link {
            from: link.from.clone(),
            to: link.to.clone(),
            rate_mbps: link.rate.map(|rate| rate.0 as f64 / 1e6),
            utilization: link.utilization,
            queue_mean_bytes: link.queue.mean,
            queue_stdev_bytes: link.queue.stdev,
            queue_max_bytes: link.queue.max,
            drops: link.drops(),
            queue_drops: link.dropped.0,
            marked: link.marked,
            interests: link.sent.interests,
            data: link.sent.data,
            nacks: link.sent.nacks,
            bytes: link.sent.bytes,
            offered_bytes: link.offered.1,
            dropped_bytes: link.dropped.1 + link.crashed.1,
            queued_bytes: link.queued.1,
        }
    }
}

impl Node {
    fn new(node: &NodeResult) -> Node {
        Node {
            node: node.node.clone(),
            cs_hits: node.cs_hits,
            cs_misses: node.cs_misses,
            pit_max: node.pit_max,
            interests_in: node.received.interests,
            data_out: node.sent.data,
            satisfied: node.satisfied,
            nacked: node.nacked,
            expired: node.expired,
            aggregated: node.aggregated,
            pending: node.pit,
        }
    }
}

/// Results of a sweep: every run, and each combination of settings over its repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepResult {
    /// The scenario's name.
    pub scenario: String,
    /// How often each combination was to be run.
    pub repetitions: u64,
    /// Every combination.
    pub combinations: Vec<Combination>,
    /// Every run that was finished.
    pub runs: Vec<RunResult>,
}

/// A combination of settings over its repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combination {
    /// Fields and values.
    pub settings: Vec<(String, String)>,
    /// All content that came, over the time from the first flow's beginning to the last one's end.
    pub goodput_mbps: Option<Mean>,
    /// The mean completion time of those flows that completed.
    pub fct_s: Option<Mean>,
    /// How fair it was.
    pub jain_index: Option<Mean>,
    /// Packets lost on all links.
    pub drops: Option<Mean>,
    /// The mean of the flows' mean round-trip times.
    pub rtt_mean_ms: Option<Mean>,
}

impl SweepResult {
    /// Sums up the runs of a sweep.
    #[must_use]
    pub fn new(scenario: &str, repetitions: u64, runs: Vec<RunResult>) -> SweepResult {
        let mut combinations: Vec<Combination> = Vec::new();
        for run in &runs {
            if !combinations.iter().any(|c| c.settings == run.settings) {
                let same: Vec<_> = runs.iter().filter(|r| r.settings == run.settings).collect();
                combinations.push(Combination::of(&run.settings, &same));
            }
        }
        SweepResult { scenario: scenario.to_owned(), repetitions, combinations, runs }
    }
}

impl Combination {
    fn of(settings: &[(String, String)], runs: &[&RunResult]) -> Combination {
        let over = |value: &dyn Fn(&RunResult) -> Option<f64>| {
            Mean::of(&runs.iter().filter_map(|run| value(run)).collect::<Vec<_>>())
        };
        let mean_of = |run: &RunResult, value: fn(&Flow) -> Option<f64>| {
            Mean::of(&run.flows.iter().filter_map(value).collect::<Vec<_>>()).map(|m| m.mean)
        };
        Combination {
            settings: settings.to_vec(),
            goodput_mbps: over(&RunResult::goodput_mbps),
            fct_s: over(&|run| mean_of(run, |flow| flow.fct_s)),
            jain_index: over(&|run| run.jain_index),
            drops: over(&|run| Some(run.links.iter().map(|link| link.drops as f64).sum())),
            rtt_mean_ms: over(&|run| mean_of(run, |flow| flow.rtt_mean_ms)),
        }
    }
}
