//! The results of a workload's flows, by class.

use super::described::record;
use control::Time;
use record::{Tally, WorkloadResult};
use serde::{Deserialize, Serialize};

record! {
    /// The flows of a workload, or those of one class of its objects. Fields named warm are of the
    /// flows that began after the warm-up; for them the run is divided into twenty spans, and flows
    /// count from the first span that begins after its end.
    pub struct Workload {
        /// The workload.
        pub workload: String,
        /// The class; empty if there is only one.
        pub class: String,
        /// Flows, or requests of chunks, that began.
        pub started: u64,
        /// Those that received everything.
        pub completed: u64,
        /// Those that ended without receiving everything.
        pub failed: u64,
        /// Flows of the whole workload that are not among `flows`, because there are too many.
        pub unlisted: u64,
        /// Bytes of received content.
        pub bytes: u64,
        /// Mean completion time.
        pub fct_mean_s: Option<f64>,
        /// The time in which half of them were complete, to within 1/64 like those that follow.
        pub fct_p50_s: Option<f64>,
        /// The same for 90 %.
        pub fct_p90_s: Option<f64>,
        /// The same for 95 %.
        pub fct_p95_s: Option<f64>,
        /// The same for 99 %.
        pub fct_p99_s: Option<f64>,
        /// The mean of the goodputs of those that received everything.
        pub goodput_mean_mbps: Option<f64>,
        /// Flows that began after the warm-up.
        pub warm_started: u64,
        /// Of these, those that received everything.
        pub warm_completed: u64,
        /// Their mean completion time.
        pub warm_fct_mean_s: Option<f64>,
        /// The time in which half of them were complete.
        pub warm_fct_p50_s: Option<f64>,
        /// The same for 90 %.
        pub warm_fct_p90_s: Option<f64>,
        /// The same for 99 %.
        pub warm_fct_p99_s: Option<f64>,
    }
}

/// How long the flows of a class took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Completions {
    /// The workload.
    pub workload: String,
    /// The class; empty if there is only one.
    pub class: String,
    /// The control of the flows; empty for requests of chunks.
    pub control: String,
    /// Flows that began.
    pub started: u64,
    /// Times in seconds and how many flows took no longer, to within 1/64, ascending.
    pub times: Vec<(f64, u64)>,
}

/// So many points of a distribution are kept.
const POINTS: usize = 200;

/// The distribution of the completion times of each class.
pub(super) fn completions(result: &WorkloadResult, control: &str) -> Vec<Completions> {
    let mut completions = Vec::new();
    for class in &result.classes {
        let sum = class.since(Time::ZERO);
        let all: Vec<(f64, u64)> =
            sum.times.cumulated().map(|(time, count)| (time.as_secs_f64(), count)).collect();
        let stride = all.len().div_ceil(POINTS).max(1);
        // Steps are left out, but not the last.
        let kept =
            all.iter().enumerate().filter(|(i, _)| (all.len() - 1 - i).is_multiple_of(stride));
        completions.push(Completions {
            workload: result.name.clone(),
            class: class.name.clone(),
            control: control.to_owned(),
            started: sum.started,
            times: kept.map(|(_, point)| *point).collect(),
        });
    }
    completions
}

fn mean_s(tally: &Tally) -> Option<f64> {
    tally.times.mean().map(control::Duration::as_secs_f64)
}

fn quantile_s(tally: &Tally, share: f64) -> Option<f64> {
    tally.times.quantile(share).map(control::Duration::as_secs_f64)
}

/// One record for each class.
pub(super) fn classes(result: &WorkloadResult, warm_from: Time) -> Vec<Workload> {
    let mut records = Vec::new();
    for class in &result.classes {
        let (all, warm) = (class.since(Time::ZERO), class.since(warm_from));
        records.push(Workload {
            workload: result.name.clone(),
            class: class.name.clone(),
            started: all.started,
            completed: all.completed,
            failed: all.failed,
            unlisted: result.unlisted,
            bytes: all.bytes,
            fct_mean_s: mean_s(&all),
            fct_p50_s: quantile_s(&all, 0.5),
            fct_p90_s: quantile_s(&all, 0.9),
            fct_p95_s: quantile_s(&all, 0.95),
            fct_p99_s: quantile_s(&all, 0.99),
            goodput_mean_mbps: all.mean_goodput().map(|rate| rate * 8e-6),
            warm_started: warm.started,
            warm_completed: warm.completed,
            warm_fct_mean_s: mean_s(&warm),
            warm_fct_p50_s: quantile_s(&warm, 0.5),
            warm_fct_p90_s: quantile_s(&warm, 0.9),
            warm_fct_p99_s: quantile_s(&warm, 0.99),
        });
    }
    records
}
