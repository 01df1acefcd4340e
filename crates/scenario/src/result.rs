//! The result of a run, as the JSON object that every driver of scenarios returns.

mod caching;
pub mod columns;
mod described;
mod flow;
mod link;
mod measure;
mod measures;
mod node;
mod number;
mod settled;
mod swept;
mod workload;

pub use caching::{Caching, Hits, NodeHits, sampling};
pub use columns::{averaged, digits, given, mean_count};
pub use described::{Field, Held, Kind, Value};
pub use flow::{Flow, flow_labels};
pub use link::Link;
pub use measure::{MEASURES, Measure};
pub use measures::Measures;
pub use node::Node;
pub use settled::{Settled, SettledMeans};
pub use swept::{Amount, Dimension, SweptField, Unit};
pub use workload::{Completions, Workload};

use crate::batch::Run;
use crate::model::Asked;
use crate::statistics::Mean;
use control::{Duration, Time};
use record::Outcome;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

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
        flow::label(&mut flows);
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
        let completions = outcome.workloads.iter().zip(controls);
        let completions = completions.flat_map(|(result, of)| workload::completions(result, &of));
        let workloads = outcome.workloads.iter();
        let workloads = workloads.flat_map(|result| workload::classes(result, warm_from));
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
            completions: completions.collect(),
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
    fn goodput_mbps(&self) -> Option<f64> {
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
    fn completion(&self) -> Completion {
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
struct Completion {
    /// Flows that began.
    flows: u64,
    /// Of these, those that received everything.
    finished: u64,
    /// The sum of the completion times. A flow that did not complete, or failed, is censored: it
    /// counts with the time that was left for it, which it would have taken at least.
    seconds: f64,
}

impl Completion {
    /// The mean, a lower bound if not all finished (the restricted mean survival time); `None` if
    /// no flow began.
    fn mean_s(&self) -> Option<f64> {
        (self.flows > 0).then(|| self.seconds / self.flows as f64)
    }
}

/// Results of a sweep: every run, and each combination of settings over its repetitions. In JSON,
/// each of them has its settings as an object `swept` too, in the types of [`SweptField`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Combination {
    /// Fields and values.
    pub settings: Vec<(String, String)>,
    /// All received content, over the time from the first flow's beginning to the last one's end.
    pub goodput_mbps: Option<Mean>,
    /// Runs that were interrupted, which count nowhere else here.
    pub interrupted: u64,
    /// Flows that began, in all runs.
    pub flows: u64,
    /// Of these, those that received everything.
    pub finished: u64,
    /// The mean completion time. A flow that did not finish counts with the time from its beginning
    /// to the end of the run, so that the mean is a lower bound if `finished` is less than `flows`.
    /// Nothing if no flow finished.
    pub fct_s: Option<Mean>,
    /// How fair it was.
    pub jain_index: Option<Mean>,
    /// The same after the warm-up, and queues.
    pub settled: SettledMeans,
    /// Packets lost on all links.
    pub drops: Option<Mean>,
    /// The mean of the flows' mean round-trip times.
    pub rtt_mean_ms: Option<Mean>,
    /// The share of all answers that came from content stores, after the warm-up.
    pub hit_ratio: Option<Mean>,
}

/// The fields whose values are not the same in all of these settings, in their order: what a table
/// has to show.
#[must_use]
pub fn varying<'a>(settings: &[&'a [(String, String)]]) -> Vec<&'a str> {
    let Some(first) = settings.first() else { return Vec::new() };
    first
        .iter()
        .map(|(key, _)| key.as_str())
        .filter(|key| settings.iter().any(|other| value_of(other, key) != value_of(first, key)))
        .collect()
}

fn value_of<'a>(settings: &'a [(String, String)], key: &str) -> Option<&'a str> {
    settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// The form of a [`SweepResult`] in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Written<'a> {
    /// The scenario's name.
    scenario: &'a str,
    /// How often each combination was to be run.
    repetitions: u64,
    /// Every combination.
    combinations: Vec<WithSwept<'a, Combination>>,
    /// Every run that was finished.
    runs: Vec<WithSwept<'a, RunResult>>,
}

impl Serialize for SweepResult {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let fields = SweptField::of(self.runs.iter().map(|run| run.id.settings.as_slice()));
        let runs = self.runs.iter().map(|run| WithSwept::new(run, &run.id.settings, &fields));
        let combinations = self.combinations.iter();
        let combinations = combinations.map(|c| WithSwept::new(c, &c.settings, &fields));
        let (scenario, repetitions) = (&*self.scenario, self.repetitions);
        let (combinations, runs) = (combinations.collect(), runs.collect());
        Written { scenario, repetitions, combinations, runs }.serialize(to)
    }
}

#[cfg(feature = "json-schema")]
impl schemars::JsonSchema for SweepResult {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SweepResult".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

/// An object with its settings by name.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct WithSwept<'a, T> {
    #[serde(flatten)]
    own: &'a T,
    /// The fields that the sweep set, and their values in the type of the field.
    swept: BTreeMap<&'a str, Value>,
}

impl<'a, T> WithSwept<'a, T> {
    fn new(own: &'a T, settings: &[(String, String)], fields: &'a [SweptField]) -> Self {
        let set = fields.iter().filter(|field| field.text(settings).is_some());
        let swept = set.map(|field| (field.name.as_str(), field.value(settings))).collect();
        WithSwept { own, swept }
    }
}

impl SweepResult {
    /// Sums up the runs of a sweep.
    #[must_use]
    pub fn new(scenario: &str, repetitions: u64, runs: Vec<RunResult>) -> SweepResult {
        let mut combinations: Vec<Combination> = Vec::new();
        for run in &runs {
            if !combinations.iter().any(|c| c.settings == run.id.settings) {
                let same: Vec<_> =
                    runs.iter().filter(|r| r.id.settings == run.id.settings).collect();
                combinations.push(Combination::of(&run.id.settings, &same));
            }
        }
        SweepResult { scenario: scenario.to_owned(), repetitions, combinations, runs }
    }
}

impl Combination {
    /// Sums up runs that differ in their seeds alone. Interrupted runs are left out: their means
    /// are over another time.
    #[must_use]
    pub fn of(settings: &[(String, String)], runs: &[&RunResult]) -> Combination {
        let all = runs.len();
        let runs: Vec<&RunResult> = runs.iter().copied().filter(|run| !run.interrupted).collect();
        let finished = runs.iter().map(|run| run.completion().finished).sum();
        Combination {
            settings: settings.to_vec(),
            goodput_mbps: mean(&runs, RunResult::goodput_mbps),
            interrupted: (all - runs.len()) as u64,
            flows: runs.iter().map(|run| run.completion().flows).sum(),
            finished,
            // A run in which no flow finished counts with its lower bound, as a flow does.
            fct_s: mean(&runs, |run| run.completion().mean_s()).filter(|_| finished > 0),
            jain_index: mean(&runs, |run| run.jain_index),
            settled: SettledMeans {
                goodput_mbps: mean(&runs, |run| run.settled.goodput_mbps),
                jain_index: mean(&runs, |run| run.settled.jain_index),
                queue_delay_mean_ms: mean(&runs, |run| run.settled.queue_delay_mean_ms),
                queue_delay_p99_ms: mean(&runs, |run| run.settled.queue_delay_p99_ms),
            },
            drops: mean(&runs, |run| Some(run.drops() as f64)),
            rtt_mean_ms: mean(&runs, |run| run.mean_of(|flow| flow.rtt_mean_ms)),
            hit_ratio: mean(&runs, RunResult::hit_ratio),
        }
    }
}

/// The mean over the runs that have the value.
fn mean(runs: &[&RunResult], value: impl Fn(&RunResult) -> Option<f64>) -> Option<Mean> {
    Mean::of(&runs.iter().filter_map(|run| value(run)).collect::<Vec<_>>())
}
