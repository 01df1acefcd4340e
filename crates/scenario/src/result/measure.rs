//! Numbers of a run that can be plotted and compared.

use super::{Flow, RunResult};
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
}

const fn measure(
    name: &'static str,
    column: &'static str,
    help: &'static str,
    label: &'static str,
    unit: &'static str,
    get: fn(&RunResult) -> Option<f64>,
) -> Measure {
    Measure { name, column, help, label, unit, factor: 1.0, most: None, get }
}

const fn share(mut measure: Measure) -> Measure {
    (measure.factor, measure.most) = (100.0, Some(100.0));
    measure
}

const fn index(mut measure: Measure) -> Measure {
    measure.most = Some(1.0);
    measure
}

/// All measures.
pub const MEASURES: &[Measure] = &[
    measure(
        "goodput",
        "settled_goodput_mbps",
        "content of all flows over time, after the warm-up",
        "goodput",
        "Mbit/s",
        |run| run.settled.goodput_mbps,
    ),
    index(measure(
        "jain",
        "settled_jain_index",
        "Jain's index of the flows' goodputs after the warm-up",
        "Jain's index",
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
        "goodput-whole",
        "goodput_mbps",
        "content of all flows, from the first flow's start to the last one's end",
        "goodput with start and end",
        "Mbit/s",
        RunResult::goodput_mbps,
    ),
    index(measure(
        "jain-whole",
        "jain_index",
        "Jain's index of the flows' goodputs, from start to end",
        "Jain's index with start and end",
        "",
        |run| run.jain_index,
    )),
    measure(
        "completion",
        "fct_s",
        "mean completion time; an unfinished flow counts with its running time",
        "completion time",
        "s",
        |run| run.completion().mean_s(),
    ),
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
        |run| Some(run.flows.iter().map(|flow| flow.retransmissions).sum::<u64>() as f64),
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
