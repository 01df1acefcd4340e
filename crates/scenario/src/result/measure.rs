//! Numbers of a run that can be plotted and compared.

use super::Flow;
use super::run::RunResult;
use crate::statistics::Mean;

/// A number of a run.
#[derive(Clone, Copy)]
pub struct Measure {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in tables, with the unit at its end.
    pub column: &'static str,
    /// Its meaning.
    pub help: &'static str,
    /// Its name in a picture.
    pub label: &'static str,
    /// Its unit in a picture.
    pub unit: &'static str,
    /// From the unit of the column to that of the picture.
    pub factor: f64,
    /// The largest possible value in a picture.
    pub most: Option<f64>,
    /// Its value in the unit of the column.
    pub get: fn(&RunResult) -> Option<f64>,
    /// Of a completion time, how many flows finished, and how many began.
    counts: Option<fn(&RunResult) -> [u64; 2]>,
}

impl Measure {
    /// The measure with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Measure> {
        MEASURES.iter().find(|measure| measure.name == name || measure.column == name)
    }

    /// Its value in the unit of pictures.
    #[must_use]
    pub fn shown(&self, run: &RunResult) -> Option<f64> {
        (self.get)(run).map(|value| value * self.factor)
    }

    /// How many flows of these runs finished, and how many began, if its value is a lower bound
    /// where not all did.
    #[must_use]
    pub fn completed(&self, runs: &[&RunResult]) -> Option<[u64; 2]> {
        let counts = self.counts?;
        let (mut finished, mut begun) = (0, 0);
        for run in runs {
            let [of_run_finished, of_run_begun] = counts(run);
            finished += of_run_finished;
            begun += of_run_begun;
        }
        Some([finished, begun])
    }
}

const fn measure(
    name: &'static str,
    column: &'static str,
    help: &'static str,
    label: &'static str,
    unit: &'static str,
    get: fn(&RunResult) -> Option<f64>,
) -> Measure {
    Measure { name, column, help, label, unit, factor: 1.0, most: None, get, counts: None }
}

const fn share(mut measure: Measure) -> Measure {
    (measure.factor, measure.most) = (100.0, Some(100.0));
    measure
}

const fn index(mut measure: Measure) -> Measure {
    measure.most = Some(1.0);
    measure
}

const fn censored(mut measure: Measure) -> Measure {
    measure.counts = Some(|run| {
        let completion = run.completion();
        [completion.finished, completion.flows]
    });
    measure
}

/// All measures.
pub const MEASURES: &[Measure] = &[
    measure(
        "settled-goodput",
        "settled_goodput_mbps",
        "content of all flows over time, after the warm-up",
        "goodput after the warm-up",
        "Mbit/s",
        |run| run.settled.goodput_mbps,
    ),
    index(measure(
        "settled-jain",
        "settled_jain_index",
        "Jain's index of the flows' goodputs after the warm-up",
        "Jain's index after the warm-up",
        "",
        |run| run.settled.jain_index,
    )),
    measure(
        "queue-delay",
        "queue_delay_mean_ms",
        "mean queueing delay after the warm-up, of the link where it is largest",
        "mean queueing delay",
        "ms",
        |run| run.settled.queue_delay_mean_ms,
    ),
    measure(
        "queue-delay-p99",
        "queue_delay_p99_ms",
        "99th percentile of the queueing delay after the warm-up, of the link where it is largest",
        "99th percentile of the queueing delay",
        "ms",
        |run| run.settled.queue_delay_p99_ms,
    ),
    measure(
        "goodput",
        "goodput_mbps",
        "content of all flows over time, from the first flow's start to the last one's end",
        "goodput",
        "Mbit/s",
        RunResult::goodput_mbps,
    ),
    index(measure(
        "jain",
        "jain_index",
        "Jain's index of the flows' goodputs, each from its start to its end",
        "Jain's index",
        "",
        |run| run.jain_index,
    )),
    censored(measure(
        "completion",
        "fct_s",
        "mean completion time; an unfinished flow counts with its running time",
        "completion time",
        "s",
        |run| run.completion().mean_s(),
    )),
    share(measure(
        "finished",
        "finished_ratio",
        "share of the flows that finished",
        "flows that finished",
        "%",
        |run| {
            let completion = run.completion();
            (completion.flows > 0).then(|| completion.finished as f64 / completion.flows as f64)
        },
    )),
    measure("rtt", "rtt_mean_ms", "mean of the flows' mean round-trip times", "RTT", "ms", |run| {
        run.mean_of(|flow| flow.rtt_mean_ms)
    }),
    measure("drops", "drops", "packets lost on all links", "packets lost", "", |run| {
        Some(run.drops() as f64)
    }),
    measure(
        "retransmissions",
        "retransmissions",
        "Interests sent again by all flows",
        "Interests sent again",
        "",
        |run| Some(run.flows.iter().map(|flow| flow.counters.retransmissions).sum::<u64>() as f64),
    ),
    share(measure(
        "utilization",
        "utilization",
        "share of the run in which the busiest link was sending",
        "busiest link in use",
        "%",
        |run| run.links.iter().map(|link| link.utilization).reduce(f64::max),
    )),
    share(measure(
        "hit-ratio",
        "hit_ratio",
        "share of answers from content stores, after their warm-up",
        "answers from content stores",
        "%",
        RunResult::hit_ratio,
    )),
];

impl RunResult {
    /// The mean over the flows that have a value.
    pub(super) fn mean_of(&self, value: fn(&Flow) -> Option<f64>) -> Option<f64> {
        Mean::of(&self.flows.iter().filter_map(value).collect::<Vec<_>>()).map(|mean| mean.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn measures_are_found_by_either_name() {
        let names = MEASURES.iter().flat_map(|one| [one.name, one.column]);
        let names: BTreeSet<&str> = names.collect();
        // `drops` and `retransmissions` have no unit, `utilization` is a share.
        assert_eq!(names.len(), 2 * MEASURES.len() - 3);
        for name in names {
            assert!(Measure::find(name).is_some(), "{name}");
        }
        assert!(Measure::find("goodputs").is_none());
    }
}
