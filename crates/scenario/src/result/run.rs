//! The result of a run.

use super::caching::Caching;
use super::flow::{Flow, label};
use super::link::Link;
use super::measures::Measures;
use super::node::Node;
use super::settled::Settled;
use super::workload::{Completions, Workload, classes, completions};
use crate::batch::Run;
use crate::model::Asked;
use control::{Duration, Time};
use record::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The driver of simulated runs.
pub const SIMULATOR: &str = "simulator";
/// The driver of runs on real daemons.
pub const TESTBED: &str = "testbed";

/// The identity of a run: the scenario, and what differs from the scenario's other runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RunId {
    /// The scenario's name.
    pub scenario: String,
    /// The question of the scenario, if it has one.
    pub question: String,
    /// The seed.
    pub seed: u64,
    /// `simulator`, or `testbed` for real daemons.
    pub driver: String,
    /// The version of the program.
    pub version: String,
    /// The fields that a sweep set for this run, and their values.
    pub settings: Vec<(String, String)>,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RunResult {
    /// The run. Its fields stand among those of the result.
    #[serde(flatten)]
    pub id: RunId,
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
    /// The consumers, in the order of the file; then the flows of workloads, as they began.
    pub flows: Vec<Flow>,
    /// Two directions of every link, in the order of the file.
    pub links: Vec<Link>,
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// The workloads, each by class, in the order of the file.
    pub workloads: Vec<Workload>,
    /// The distributions of their completion times, in the same order.
    pub completions: Vec<Completions>,
    /// The effect of content stores; nothing, if there are none.
    pub caching: Option<Caching>,
    /// How fair the flows' goodputs are (Jain): 1 if all are equal.
    pub jain_index: Option<f64>,
    /// Goodput, fairness and queues after the warm-up.
    pub settled: Settled,
    /// Equal for equal runs.
    pub trace_hash: String,
}

impl RunResult {
    /// The result of `run`, which took `wall_s` seconds and may have been interrupted.
    #[must_use]
    pub fn new(
        run: &Run,
        outcome: &Outcome,
        measures: &Measures,
        caching: Option<Caching>,
        wall_s: f64,
        interrupted: bool,
    ) -> RunResult {
        let scenario = &run.scenario;
        let mut flows: Vec<Flow> =
            outcome.flows.iter().map(|flow| Flow::new(flow, outcome.duration)).collect();
        for (flow, consumer) in flows.iter_mut().zip(&scenario.consumers) {
            flow.name = scenario.contents[consumer.content].name.to_string();
        }
        label(&mut flows);
        for (flow, result) in flows.iter_mut().zip(&outcome.flows) {
            let workload = result.workload.and_then(|n| outcome.workloads.get(n as usize));
            let class = workload.and_then(|w| w.classes.get(usize::from(result.class)));
            flow.workload = workload.map(|workload| workload.name.clone());
            flow.class = class.map(|class| class.name.clone()).filter(|name| !name.is_empty());
        }
        let warm_from = match &caching {
            Some(caching) if !caching.warmup_detected => Time(u64::MAX),
            Some(caching) => Time::ZERO + Duration::from_secs_f64(caching.warmup_end_s),
            None => Time::ZERO,
        };
        let controls = scenario.workloads.iter().map(|workload| asked_by(&workload.asked));
        let with_controls = outcome.workloads.iter().zip(controls);
        let completions = with_controls.flat_map(|(result, of)| completions(result, &of)).collect();
        let workloads = outcome.workloads.iter();
        let workloads = workloads.flat_map(|result| classes(result, warm_from));
        let directions = scenario.links.iter().flat_map(|link| &link.directions);
        let shares: Vec<f64> = flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
        let links = outcome.links.iter().zip(directions).map(|(l, d)| Link::new(l, d));
        let mut result = RunResult {
            id: RunId {
                scenario: scenario.name.clone(),
                question: scenario.question.clone(),
                seed: run.seed,
                driver: SIMULATOR.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                settings: run.settings.clone(),
            },
            duration_s: outcome.duration.as_secs_f64(),
            wall_s,
            interrupted,
            events: outcome.events,
            packet_hops: outcome.packet_hops,
            flows,
            links: links.collect(),
            nodes: (0..).zip(&outcome.nodes).map(|(i, n)| Node::new(n, i, scenario)).collect(),
            workloads: workloads.collect(),
            completions,
            caching,
            jain_index: record::jain_index(&shares),
            settled: Settled::default(),
            trace_hash: format!("{:016x}", outcome.trace_hash),
        };
        let end = result.last_end_s();
        result.settled = measures.settled(scenario, &result.flows, end, &mut result.links);
        result
    }
}

/// The control of the flows of a workload.
fn asked_by(asked: &Asked) -> String {
    match asked {
        Asked::Object(fetching) | Asked::Video(fetching, _) => fetching.control.to_string(),
        Asked::Chunk(_) => String::new(),
    }
}

impl RunResult {
    /// All received content, over the time from the first flow's beginning to the last one's end.
    pub(super) fn goodput_mbps(&self) -> Option<f64> {
        let last = self.last_end_s();
        let first = self.flows.iter().map(|flow| flow.start_s).fold(last, f64::min);
        let by_hand = self.flows.iter().filter(|flow| flow.workload.is_none());
        let bytes: u64 = by_hand.map(|flow| flow.bytes).sum::<u64>() + self.workload_bytes();
        (last > first).then(|| bytes as f64 * 8e-6 / (last - first))
    }

    /// When the last flow ended; the end of the run, if one did not or is not listed.
    #[must_use]
    pub fn last_end_s(&self) -> f64 {
        if self.workloads.iter().any(|one| one.unlisted > 0) {
            return self.duration_s;
        }
        let ends = self.flows.iter().map(|flow| flow.end_s.unwrap_or(self.duration_s));
        ends.reduce(f64::max).filter(|end| *end > 0.0).unwrap_or(self.duration_s)
    }

    /// The bytes of workloads: not every flow may be listed, but the sums include all ended ones.
    fn workload_bytes(&self) -> u64 {
        let ended: u64 = self.workloads.iter().map(|one| one.bytes).sum();
        // The names of workloads of single Interests.
        let of_chunks: BTreeSet<&str> = self
            .completions
            .iter()
            .filter(|one| one.control.is_empty())
            .map(|one| one.workload.as_str())
            .collect();
        let mut running = 0;
        for flow in self.flows.iter().filter(|flow| flow.end_s.is_none()) {
            if let Some(name) = &flow.workload
                && !of_chunks.contains(name.as_str())
            {
                running += flow.bytes;
            }
        }
        ended + running
    }

    /// Packets lost on all links.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.links.iter().map(|link| link.drops).sum()
    }

    /// The share of all answers that came from content stores, after the warm-up.
    #[must_use]
    pub fn hit_ratio(&self) -> Option<f64> {
        self.caching.as_ref()?.settled().hit_ratio
    }

    /// Completion of flows and of requests of chunks.
    pub(super) fn completion(&self) -> Completion {
        // Interests at a constant rate ask for segments, not for objects: they do not complete.
        let flows = self.flows.iter().filter(|flow| flow.interests_whole.is_none());
        let by_hand = flows.clone().filter(|flow| flow.workload.is_none());
        let mut sum = Completion::default();
        for flow in by_hand {
            sum.flows += 1;
            sum.finished += u64::from(flow.fct_s.is_some());
            sum.seconds += flow.fct_s.unwrap_or_else(|| self.rest_s(flow));
        }
        for class in &self.workloads {
            sum.flows += class.started;
            sum.finished += class.completed;
            sum.seconds += class.fct_mean_s.unwrap_or(0.0) * class.completed as f64;
        }
        // Those that still run are all listed, those that failed as far as there is room.
        let open = flows.filter(|flow| flow.workload.is_some() && !flow.complete);
        sum.seconds += open.map(|flow| self.rest_s(flow)).sum::<f64>();
        sum
    }

    /// The time from a flow's beginning to the end of the run.
    fn rest_s(&self, flow: &Flow) -> f64 {
        (self.duration_s - flow.start_s).max(0.0)
    }
}

/// Completion of the flows of a run.
#[derive(Default)]
pub(super) struct Completion {
    /// Flows that began.
    pub flows: u64,
    /// Of these, those that received everything.
    pub finished: u64,
    /// The sum of the completion times. A flow that did not complete, or failed, is censored: it
    /// counts with the time that was left for it, which it would have taken at least.
    seconds: f64,
}

impl Completion {
    /// The mean, a lower bound if not all finished (the restricted mean survival time); `None` if
    /// no flow began.
    pub fn mean_s(&self) -> Option<f64> {
        (self.flows > 0).then(|| self.seconds / self.flows as f64)
    }
}
