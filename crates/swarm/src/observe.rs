//! Runs a plan from its file, and keeps the numbers that the rules need.

use crate::facts::Facts;
use crate::plan::{Manner, Plan};
use crate::write;
use control::{Duration, Time};
use record::{FlowResult, FlowSample, LinkResult, NodeResult, Outcome, Recorder};
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
    pub links: Vec<LinkResult>,
    /// The nodes, in the order of the plan.
    pub nodes: Vec<NodeResult>,
}

/// Observations of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeen {
    /// Its result.
    pub result: FlowResult,
    /// Received bytes over time, by samples with a change.
    pub progress: Vec<(f64, u64)>,
}

impl FlowSeen {
    /// When it began, in simulated seconds.
    pub fn start_s(&self) -> f64 {
        self.result.start.as_secs_f64()
    }

    /// When it ended, complete or not.
    pub fn end_s(&self) -> Option<f64> {
        self.result.end.map(|end| end.as_secs_f64())
    }

    /// When it was complete.
    pub fn complete_s(&self) -> Option<f64> {
        self.end_s().filter(|_| self.result.transfer.complete)
    }

    /// The bytes received until this time.
    pub fn bytes_until(&self, at_s: f64) -> u64 {
        let sample = self.progress.iter().rev().find(|(when, _)| *when <= at_s);
        sample.map_or(0, |(_, bytes)| *bytes)
    }
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
    let mut seen = seen(outcome);
    seen.interval_s = interval.as_secs_f64();
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    for (number, flow) in seen.flows.iter_mut().enumerate() {
        flow.progress = progress.get(&number).cloned().unwrap_or_default();
        if let Some(end) = flow.complete_s() {
            flow.progress.push((end, flow.result.transfer.bytes));
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

fn seen(outcome: Outcome) -> Observation {
    let sent = outcome.links.iter().map(|link| &link.sent);
    let flows = outcome.flows.into_iter();
    Observation {
        ended_s: outcome.duration.as_secs_f64(),
        interval_s: 0.0,
        packets: sent.map(|sent| sent.interests + sent.data + sent.nacks).sum(),
        hash: outcome.trace_hash,
        flows: flows.map(|result| FlowSeen { result, progress: Vec::new() }).collect(),
        links: outcome.links,
        nodes: outcome.nodes,
    }
}
