//! From the simulator's samples to rows.

use super::quantity::{FLOW, LINK, NETWORK, NODE, Quantity, WORKLOAD};
use super::row::{Row, Rows, Subject, class_label};
use crate::model::{Objects, Pick, Scenario};
use crate::result::flow_labels;
use control::{Duration, Time};
use record::WorkloadResult;
use record::{FlowSample, LinkSample, NetworkSample, NodeSample, Recorder, WorkloadSample};
use std::sync::Arc;

/// Rows that the runs of a batch come to at most, unless its file says how often samples are
/// taken.
const MOST_ROWS: usize = 2_000_000;
const FEWEST_SAMPLES: usize = 50;
const MOST_SAMPLES: usize = 1_000;

/// The interval between samples of each of `runs` runs: the scenario's, or 1, 2 or 5 times a power
/// of ten.
#[must_use]
pub fn interval(scenario: &Scenario, runs: usize) -> Duration {
    let record = &scenario.record;
    if let Some(interval) = record.interval {
        return interval;
    }
    // Classes have no content in common, so that there are no more than these.
    let classes = scenario.contents.iter().map(|content| match &content.objects {
        Objects::Numbered { classes, .. } => classes.len(),
        _ => 1,
    });
    let classes = if scenario.workloads.is_empty() { 0 } else { classes.sum() };
    let rows = classes * WORKLOAD.len()
        + picked(&record.flows, scenario.consumers.len()) * FLOW.len()
        + 2 * picked(&record.links, scenario.links.len()) * LINK.len()
        + picked(&record.nodes, scenario.nodes.len()) * NODE.len();
    let samples =
        (MOST_ROWS / rows.saturating_mul(runs).max(1)).clamp(FEWEST_SAMPLES, MOST_SAMPLES) as u64;
    let least = scenario.duration.0.div_ceil(samples).max(1);
    let mut step = 1;
    while step * 10 <= least {
        step *= 10;
    }
    let factor = [1, 2, 5, 10].into_iter().find(|factor| step * factor >= least);
    Duration(step * factor.unwrap_or(10))
}

/// How many of `all` are picked.
fn picked(pick: &Pick, all: usize) -> usize {
    match pick {
        Pick::All => all,
        Pick::These(list) => list.len().min(all),
    }
}

/// The last samples of one kind of thing.
struct Track<S: 'static> {
    subject: Subject,
    quantities: &'static [Quantity<S>],
    /// The names, by number; those without one are not recorded.
    names: Vec<Option<Arc<str>>>,
    before: Vec<Option<S>>,
}

impl<S: Copy> Track<S> {
    fn new(
        subject: Subject,
        quantities: &'static [Quantity<S>],
        names: impl Iterator<Item = Option<String>>,
    ) -> Track<S> {
        let names: Vec<_> = names.map(|name| name.map(Arc::from)).collect();
        Track { subject, quantities, before: vec![None; names.len()], names }
    }

    fn take(&mut self, number: usize, at: Time, sample: &S, rows: &mut dyn Rows) {
        let Some(Some(entity)) = self.names.get(number) else { return };
        let before = self.before[number].replace(*sample);
        let time_s = at.since(Time::ZERO).as_secs_f64();
        for quantity in self.quantities {
            if let Some(value) = (quantity.value)(sample, before.as_ref()) {
                let (subject, quantity) = (self.subject, quantity.name);
                rows.row(&Row { time_s, subject, entity, quantity, value });
            }
        }
    }
}

/// Records the quantities that the scenario asks for.
pub struct Sampler {
    rows: Box<dyn Rows>,
    flows: Track<FlowSample>,
    links: Track<LinkSample>,
    nodes: Track<NodeSample>,
    workloads: Track<WorkloadSample>,
    network: Track<NetworkSample>,
}

impl Sampler {
    /// Records into `rows`; the workloads are those of the network.
    #[must_use]
    pub fn new(scenario: &Scenario, workloads: &[WorkloadResult], rows: Box<dyn Rows>) -> Sampler {
        let record = &scenario.record;
        let flows = flow_labels(scenario)
            .into_iter()
            .zip(&scenario.consumers)
            .map(|(label, consumer)| record.flows.has(consumer.at).then_some(label));
        let links = scenario.links.iter().enumerate().flat_map(|(i, link)| {
            let [a, b] = link.ends.map(|node| scenario.nodes[node].name.as_str());
            [format!("{a} > {b}"), format!("{b} > {a}")]
                .map(|label| record.links.has(i).then_some(label))
        });
        let nodes = scenario.nodes.iter().enumerate();
        let nodes = nodes.map(|(i, node)| record.nodes.has(i).then(|| node.name.clone()));
        // A workload is recorded if a node is at which it begins flows.
        let classes = workloads.iter().zip(&scenario.workloads).flat_map(|(result, workload)| {
            let is_wanted = workload.at.iter().any(|at| record.flows.has(*at));
            let classes = result.classes.iter();
            classes.map(move |class| is_wanted.then(|| class_label(&result.name, &class.name)))
        });
        let all = scenario.has_stores().then(|| "all".to_owned());
        Sampler {
            workloads: Track::new(Subject::Workload, WORKLOAD, classes),
            network: Track::new(Subject::Network, NETWORK, std::iter::once(all)),
            rows,
            flows: Track::new(Subject::Flow, FLOW, flows),
            links: Track::new(Subject::Link, LINK, links),
            nodes: Track::new(Subject::Node, NODE, nodes),
        }
    }
}

impl Recorder for Sampler {
    fn link(&mut self, sample: &LinkSample) {
        let number = sample.link.index() + usize::from(sample.backward);
        self.links.take(number, sample.at, sample, &mut *self.rows);
    }

    fn flow(&mut self, sample: &FlowSample) {
        self.flows.take(sample.flow.index(), sample.at, sample, &mut *self.rows);
    }

    fn node(&mut self, sample: &NodeSample) {
        self.nodes.take(sample.node.index(), sample.at, sample, &mut *self.rows);
    }

    fn workload(&mut self, sample: &WorkloadSample) {
        self.workloads.take(sample.number, sample.at, sample, &mut *self.rows);
    }

    fn network(&mut self, sample: &NetworkSample) {
        self.network.take(0, sample.at, sample, &mut *self.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_suits_the_run() {
        let of = |duration: &str, size: usize, record: &str, runs: usize| {
            let text = format!(
                "[scenario]\nduration = \"{duration}\"\n[topology]\ngenerator = \"line\"\n\
                 size = {size}\nrate = \"1 Mbit/s\"\n[[content]]\nname = \"/x\"\nat = \"n0\"\n\
                 size = \"1 kB\"\n[[consumer]]\nat = \"n1\"\nname = \"/x\"\n{record}"
            );
            let batch = crate::parse(&text, "x", &[]).unwrap_or_else(|e| panic!("{e}"));
            interval(&batch.runs[0].scenario, runs)
        };
        assert_eq!(of("10 s", 2, "", 1), Duration::from_millis(10));
        assert_eq!(of("11 s", 2, "", 1), Duration::from_millis(20));
        // 2 * 7 + 2 * 4 + 6 values a sample and run: 71 samples.
        assert_eq!(of("10 s", 2, "", 1_000), Duration::from_millis(200));
        // 4,999 links with 2 * 7 quantities and 5,000 nodes with 4: 22 samples, were it not for
        // the least.
        assert_eq!(of("10 s", 5_000, "", 1), Duration::from_millis(200));
        let none = "[record]\nlinks = \"none\"\nnodes = [\"n4\"]";
        assert_eq!(of("10 s", 5_000, none, 1), Duration::from_millis(10));
        assert_eq!(of("10 s", 2, "[record]\ninterval = \"3 ms\"", 1), Duration::from_millis(3));
    }
}
