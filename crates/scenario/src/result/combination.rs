//! The results of a combination of settings over its repetitions.

use super::run::RunResult;
use super::settled::SettledMeans;
use crate::statistics::Mean;
use serde::{Deserialize, Serialize};

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
