//! The measurements of each item of a run, by field names.

use crate::results::until_the_end;
use scenario::result::columns::{COMBINATIONS, head};
use scenario::result::{Combination, Field, Flow, Kind, Link, Node, RunResult, Value, Workload};
use scenario::series::class_label;
use serde::Serialize;
use std::collections::BTreeMap;

/// A thing that was measured, named as in the series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Thing {
    /// `network`, `flow`, `workload`, `link` or `node`.
    pub kind: &'static str,
    /// Its name.
    pub entity: String,
}

/// A value of a thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The field.
    pub quantity: &'static str,
    /// It counts things.
    pub is_count: bool,
    /// Its value, if applicable.
    pub value: Option<f64>,
}

/// Over which time means of links are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The whole run, as in the summary.
    Whole,
    /// Until the last flow ended, as on all pages: if runs differ in length, the rest of the longer
    /// one would make its queues shorter.
    Busy,
}

/// All measurements of a run: of the network, of single flows, of workloads by class, of links and
/// of nodes.
pub fn observed(run: &RunResult, span: Span) -> Vec<(Thing, Vec<Measured>)> {
    let mut all = Observed::default();
    all.add("network", "all".to_owned(), of_all(run));
    for flow in run.flows.iter().filter(|flow| flow.workload.is_none()) {
        all.add("flow", flow.flow.clone(), numbers(Flow::FIELDS, flow.values()));
    }
    for one in &run.workloads {
        let label = class_label(&one.workload, &one.class);
        all.add("workload", label, numbers(Workload::FIELDS, one.values()));
    }
    for link in &run.links {
        let way = format!("{} > {}", link.from, link.to);
        let values = match span {
            Span::Whole => link.values(),
            Span::Busy => until_the_end(run, link).values(),
        };
        all.add("link", way, numbers(Link::FIELDS, values));
    }
    for node in &run.nodes {
        all.add("node", node.node.clone(), numbers(Node::FIELDS, node.values()));
    }
    all.things
}

#[derive(Default)]
struct Observed {
    things: Vec<(Thing, Vec<Measured>)>,
    /// The number of things with the same name.
    twins: BTreeMap<Thing, usize>,
}

impl Observed {
    fn add(&mut self, kind: &'static str, entity: String, values: Vec<Measured>) {
        let mut thing = Thing { kind, entity };
        let turn = self.twins.entry(thing.clone()).or_insert(0);
        *turn += 1;
        // Two links between the same nodes are distinguished like flows.
        if *turn > 1 {
            thing.entity += &format!(" #{turn}");
        }
        self.things.push((thing, values));
    }
}

fn of_all(run: &RunResult) -> Vec<Measured> {
    let all = Combination::of(&[], &[run]);
    COMBINATIONS
        .iter()
        .map(|column| Measured {
            quantity: column.field,
            is_count: head("network", column.field).is_some_and(|head| head.is_count),
            value: column.value(&all),
        })
        .collect()
}

fn numbers(fields: &'static [Field], values: Vec<Value>) -> Vec<Measured> {
    fields
        .iter()
        .zip(values)
        .filter(|(field, _)| matches!(field.kind, Kind::Count | Kind::Number))
        .map(|(field, value)| Measured {
            quantity: field.name,
            is_count: field.kind == Kind::Count,
            value: match value {
                Value::Number(number) => Some(number),
                Value::Count(count) => Some(count as f64),
                _ => None,
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_links_are_numbered() {
        let link = Link { from: "a".to_owned(), to: "b".to_owned(), ..Link::default() };
        let run = RunResult { links: vec![link.clone(), link], ..RunResult::default() };
        let things: Vec<Thing> =
            observed(&run, Span::Whole).into_iter().map(|(thing, _)| thing).collect();
        let names: Vec<(&str, &str)> = things.iter().map(|t| (t.kind, &*t.entity)).collect();
        assert_eq!(names, [("network", "all"), ("link", "a > b"), ("link", "a > b #2")]);
    }

    #[test]
    fn where_runs_are_not_of_one_length_their_ends_do_not_count() {
        let link = Link { utilization: 0.25, queue_mean_bytes: 1000.0, ..Link::default() };
        let flow = Flow { end_s: Some(4.0), ..Flow::default() };
        let run = RunResult {
            duration_s: 12.0,
            links: vec![link],
            flows: vec![flow],
            ..RunResult::default()
        };
        let of = |span: Span, name: &str| {
            let (_, values) = observed(&run, span).into_iter().find(|(t, _)| t.kind == "link")?;
            values.into_iter().find(|one| one.quantity == name)?.value
        };
        // All of it was in the first third.
        assert_eq!(of(Span::Busy, "queue_mean_bytes"), Some(3000.0));
        assert_eq!(of(Span::Busy, "utilization"), Some(0.75));
        assert_eq!(of(Span::Whole, "queue_mean_bytes"), Some(1000.0));
    }

    #[test]
    fn flows_of_workloads_are_in_their_sums_alone() {
        let flow = Flow { flow: "c /x".to_owned(), ..Flow::default() };
        let mouse = Flow { workload: Some("mice".to_owned()), ..flow.clone() };
        let run = RunResult { flows: vec![flow, mouse], ..RunResult::default() };
        let of_flows: Vec<_> =
            observed(&run, Span::Whole).into_iter().filter(|(t, _)| t.kind == "flow").collect();
        let [(thing, values)] = &*of_flows else { panic!("{of_flows:?}") };
        assert_eq!(thing.entity, "c /x");
        let of = |name: &str| values.iter().find(|one| one.quantity == name).copied();
        let fct = Measured { quantity: "fct_s", is_count: false, value: None };
        assert_eq!(of("fct_s"), Some(fct));
        assert!(of("timeouts").is_some_and(|one| one.is_count && one.value == Some(0.0)));
        assert_eq!(of("control"), None, "words are no numbers");
    }
}
