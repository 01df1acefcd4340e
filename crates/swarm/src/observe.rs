//! Runs a plan from its file, and keeps the numbers that the rules need.

use crate::facts::Facts;
use crate::plan::{Manner, Plan};
use crate::write;
use control::{Duration, Time};
use record::{Amount, FlowResult, FlowSample, LinkResult, NodeResult, Outcome, Recorder, Transfer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Observations of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// When it was ended, in simulated seconds.
    pub ended_s: f64,
    /// From sample to sample of progress.
    pub interval_s: f64,
    /// Packets that faces sent over links: Interests, Data and Nacks.
    pub packets: u64,
    /// Equal for equal runs.
    pub hash: u64,
    /// The flows, in the order of the plan.
    pub flows: Vec<FlowSeen>,
    /// Two directions of every link, in the order of the plan.
    pub links: Vec<LinkSeen>,
    /// The nodes, in the order of the plan.
    pub nodes: Vec<NodeSeen>,
}

/// Observations of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeen {
    /// When it began.
    pub start_s: f64,
    /// When it ended.
    pub end_s: Option<f64>,
    /// The transfer is complete.
    pub complete: bool,
    /// Why it failed.
    pub error: Option<String>,
    /// Received bytes of content.
    pub bytes: u64,
    /// Interests, repeated ones included.
    pub interests: u64,
    /// Received Data packets.
    pub data: u64,
    /// Nacks.
    pub nacks: u64,
    /// False losses.
    pub false_timeouts: u64,
    /// Interests in flight at the end.
    pub in_flight: u64,
    /// The mean round-trip time.
    pub rtt_mean_s: Option<f64>,
    /// The time below which 99 % of the round trips stay.
    pub rtt_p99_s: Option<f64>,
    /// Received bytes over time, by samples with a change.
    pub progress: Vec<(f64, u64)>,
}

impl FlowSeen {
    /// Bytes that were received until this time.
    pub fn bytes_until(&self, at_s: f64) -> u64 {
        let sample = self.progress.iter().rev().find(|(when, _)| *when <= at_s);
        sample.map_or(0, |(_, bytes)| *bytes)
    }
}

/// Observations of a direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSeen {
    /// Offered to the queues.
    pub offered: Amount,
    /// Left the queues.
    pub left: Amount,
    /// Dropped by the queues and their management.
    pub dropped: Amount,
    /// Lost with a node.
    pub crashed: Amount,
    /// In the queues at the end.
    pub queued: Amount,
    /// The most bytes of Data that were queued.
    pub queue_max: u64,
    /// Bytes that the face sent.
    pub sent_bytes: u64,
    /// Frames that the face sent.
    pub sent_frames: u64,
    /// Frames that the wire took.
    pub wire_sent: u64,
    /// Frames that it added.
    pub duplicated: u64,
    /// Frames that it delivered.
    pub delivered: u64,
    /// Frames that it lost at random.
    pub lost: u64,
    /// Frames lost while it, or the node at its end, was down.
    pub down: u64,
    /// Frames on it at the end.
    pub in_flight: u64,
}

/// Observations of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSeen {
    /// Interests that arrived.
    pub interests: u64,
    /// Interests aggregated with a pending one, that the content store answered, and that were
    /// dropped before they became an entry.
    pub answered: u64,
    /// Pending Interests that ended, for any reason, and those that are pending.
    pub entries: u64,
    /// Of these, those that are pending at the end.
    pub pending: u64,
    /// Drops of other reasons: of Interests before or after they became an entry, and of Data.
    pub other_drops: u64,
    /// Drops, for any reason.
    pub drops: u64,
}

/// A plan that Weir does not take: a mistake of the generator.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the scenario of seed {seed} is rejected: {why}")]
pub struct InvalidPlan {
    /// The seed.
    pub seed: u64,
    /// Why.
    pub why: String,
}

/// The duration of a run after its last flow: pending Interests have expired, since they live for 4
/// s, and queues are empty.
pub const EXPIRED: Duration = Duration::from_secs(5);

type Progress = Arc<Mutex<BTreeMap<usize, Vec<(f64, u64)>>>>;

/// Keeps the progress of flows.
struct Watcher(Progress);

impl Recorder for Watcher {
    fn flow(&mut self, sample: &FlowSample) {
        let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let flow = flows.entry(sample.flow.index()).or_default();
        if flow.last().map_or(0, |last| last.1) < sample.bytes.0 {
            flow.push((sample.at.since(Time::ZERO).as_secs_f64(), sample.bytes.0));
        }
    }
}

/// Runs a plan until all fetches have ended, or until the oracles' limit.
///
/// # Errors
/// Weir rejects the scenario.
pub fn observe(plan: &Plan, facts: &Facts) -> Result<Observation, InvalidPlan> {
    let limit_ms = (facts.limit_s * 1e3).ceil() as u64;
    let text = write::toml(plan, limit_ms, &[]);
    let batch = scenario::parse(&text, "swarm.toml", &[])
        .map_err(|error| InvalidPlan { seed: plan.seed, why: error.to_string() })?;
    let run = &batch.runs[0];
    let mut network = scenario::build(&run.scenario, run.seed)
        .map_err(|error| InvalidPlan { seed: plan.seed, why: error.to_string() })?;
    let progress = Progress::default();
    let interval = interval(facts);
    network.observe(interval, Box::new(Watcher(Arc::clone(&progress))));
    let end = run.scenario.duration.0;
    let mut now = 0;
    let mut step = interval.0.max(1_000_000);
    let outcome = loop {
        now = (now + step).min(end);
        step += step / 8;
        let outcome = network.run(Time(now));
        if now == end {
            break outcome;
        }
        if is_over(plan, &outcome) {
            break network.run(Time(now + EXPIRED.0));
        }
    };
    let mut seen = seen(&outcome);
    seen.interval_s = interval.as_secs_f64();
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    for (number, flow) in seen.flows.iter_mut().enumerate() {
        flow.progress = progress.get(&number).cloned().unwrap_or_default();
        if let Some(end) = flow.end_s.filter(|_| flow.complete) {
            flow.progress.push((end, flow.bytes));
        }
    }
    Ok(seen)
}

/// A hundred samples until the earliest end of the last flow, or 50,000 until the limit.
fn interval(facts: &Facts) -> Duration {
    let ends = facts.flows.iter().map(|flow| flow.earliest_end_s).filter(|end| end.is_finite());
    let ideal = ends.fold(0.0, f64::max) / 100.0;
    Duration::from_secs_f64(ideal.max(facts.limit_s / 50_000.0).max(1e-4))
}

/// All fetches have ended, and constant rates have stopped.
fn is_over(plan: &Plan, outcome: &Outcome) -> bool {
    let now = outcome.duration.as_secs_f64();
    plan.flows.iter().zip(&outcome.flows).all(|(flow, result)| match flow.manner {
        Manner::Constant { stop_ms, .. } => now >= stop_ms as f64 / 1e3,
        _ => result.end.is_some(),
    })
}

fn seen(outcome: &Outcome) -> Observation {
    let sent = outcome.links.iter().map(|link| &link.sent);
    Observation {
        ended_s: outcome.duration.as_secs_f64(),
        interval_s: 0.0,
        packets: sent.map(|sent| sent.interests + sent.data + sent.nacks).sum(),
        hash: outcome.trace_hash,
        flows: outcome.flows.iter().map(flow_seen).collect(),
        links: outcome.links.iter().map(link_seen).collect(),
        nodes: outcome.nodes.iter().map(node_seen).collect(),
    }
}

fn flow_seen(flow: &FlowResult) -> FlowSeen {
    let Transfer { bytes, counters, in_flight, complete, .. } = flow.transfer;
    FlowSeen {
        start_s: flow.start.as_secs_f64(),
        end_s: flow.end.map(|end| end.as_secs_f64()),
        complete,
        error: flow.transfer.error.clone(),
        bytes,
        interests: counters.interests,
        data: counters.data,
        nacks: counters.nacks,
        false_timeouts: counters.false_timeouts,
        in_flight,
        rtt_mean_s: flow.transfer.rtt_mean.map(Duration::as_secs_f64),
        rtt_p99_s: flow.transfer.rtt_p99.map(Duration::as_secs_f64),
        progress: Vec::new(),
    }
}

fn link_seen(link: &LinkResult) -> LinkSeen {
    LinkSeen {
        offered: link.tally.offered,
        left: link.tally.sent,
        dropped: link.tally.dropped,
        crashed: link.crashed,
        queued: link.queued,
        queue_max: link.queue.max,
        sent_bytes: link.sent.bytes,
        sent_frames: link.sent.frames,
        wire_sent: link.wire.sent,
        duplicated: link.wire.duplicated,
        delivered: link.wire.delivered,
        lost: link.wire.lost,
        down: link.wire.down + link.wire.node_down,
        in_flight: link.in_flight,
    }
}

fn node_seen(node: &NodeResult) -> NodeSeen {
    let rejected = node.stats.drops.before_entry();
    NodeSeen {
        interests: node.stats.received.interests,
        answered: node.stats.aggregated + node.store.hits + rejected,
        entries: node.stats.satisfied
            + node.stats.nacked
            + node.stats.expired
            + node.crashed
            + node.pit,
        pending: node.pit,
        other_drops: node.stats.drops.total() - rejected,
        drops: node.stats.drops.total(),
    }
}
