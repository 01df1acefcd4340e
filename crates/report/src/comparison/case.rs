//! Runs of both folders that were set alike.

use super::difference::{Difference, Method, Values};
use super::observed::{Measured, Span, Thing, observed};
use super::settings::Settings;
use scenario::result::RunResult;
use serde::Serialize;
use std::collections::BTreeMap;

/// Runs of both folders that were set alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// The settings that distinguish the runs of a folder.
    pub settings: Settings,
    /// The seeds of the first.
    pub first_seeds: Vec<u64>,
    /// The seeds of the second.
    pub second_seeds: Vec<u64>,
    /// How the runs belong together.
    pub method: Method,
    /// Every quantity of everything that is in both.
    pub differences: Vec<Difference>,
    /// Items that only the first has.
    pub only_first: Vec<Thing>,
    /// Items that only the second has.
    pub only_second: Vec<Thing>,
}

/// One folder's measurements of an item: by quantity a value, or none, for each run.
type Seen = Vec<(Measured, Vec<Option<f64>>)>;

/// One folder's measurements, and its order of items.
#[derive(Default)]
struct Table {
    order: Vec<Thing>,
    things: BTreeMap<Thing, Seen>,
}

impl Table {
    fn new(runs: &[&RunResult], span: Span) -> Table {
        let mut table = Table::default();
        for (turn, run) in runs.iter().enumerate() {
            for (thing, values) in observed(run, span) {
                if !table.things.contains_key(&thing) {
                    let none = values.iter().map(|one| (*one, vec![None; runs.len()])).collect();
                    table.things.insert(thing.clone(), none);
                    table.order.push(thing.clone());
                }
                let Some(seen) = table.things.get_mut(&thing) else { continue };
                for ((_, kept), one) in seen.iter_mut().zip(&values) {
                    kept[turn] = one.value;
                }
            }
        }
        table
    }

    /// Items that the other lacks.
    fn without(&self, other: &Table) -> Vec<Thing> {
        self.order.iter().filter(|thing| !other.things.contains_key(thing)).cloned().collect()
    }
}

impl Case {
    /// A pair of runs that belong together.
    #[must_use]
    pub fn of_two(first: &RunResult, second: &RunResult, within: f64) -> Case {
        let settings = first.id.settings.clone();
        Case::new(&settings, [&vec![first], &vec![second]], within, Span::Whole)
    }

    /// The case of these settings.
    pub(super) fn new(
        settings: &Settings,
        runs: [&Vec<&RunResult>; 2],
        within: f64,
        span: Span,
    ) -> Case {
        let mut runs = runs.map(Clone::clone);
        runs.iter_mut().for_each(|runs| runs.sort_by_key(|run| run.id.seed));
        let seeds =
            runs.each_ref().map(|runs| runs.iter().map(|r| r.id.seed).collect::<Vec<u64>>());
        let method = method(&seeds);
        let [first, second] = runs.each_ref().map(|runs| Table::new(runs, span));
        let mut differences = Vec::new();
        for thing in &first.order {
            let both = first.things.get(thing).zip(second.things.get(thing));
            let Some((one, other)) = both else { continue };
            let packet = packet([one, other]);
            for ((of, values), (_, others)) in one.iter().zip(other) {
                let values = [values.as_slice(), others.as_slice()];
                let values = Values { kind: thing.kind, of: *of, values, packet };
                differences.extend(values.difference(&thing.entity, method, within));
            }
        }
        let [first_seeds, second_seeds] = seeds;
        Case {
            settings: settings.clone(),
            first_seeds,
            second_seeds,
            method,
            differences,
            only_first: first.without(&second),
            only_second: second.without(&first),
        }
    }

    /// Flows and workloads that are in only one folder.
    pub fn alone(&self) -> impl Iterator<Item = &Thing> {
        let only = self.only_first.iter().chain(&self.only_second);
        only.filter(|thing| ["flow", "workload"].contains(&thing.kind))
    }

    /// Nothing that has a name is in both.
    pub(super) fn is_strange(&self) -> bool {
        self.differences.iter().all(|difference| difference.kind == "network")
    }
}

/// Equal seeds form pairs, if each occurs only once.
fn method(seeds: &[Vec<u64>; 2]) -> Method {
    let [first, second] = seeds;
    let is_once = first.windows(2).all(|pair| pair[0] != pair[1]);
    match first.len().min(second.len()) {
        1 => Method::Single,
        _ if is_once && first == second => Method::Paired,
        _ => Method::Welch,
    }
}

/// The mean size of packets on a link in either folder; zero without packets.
fn packet(sides: [&Seen; 2]) -> f64 {
    let (mut packets, mut bytes) = (0.0, 0.0);
    for (of, values) in sides.into_iter().flatten() {
        let sum = match of.quantity {
            "interests" | "data" | "nacks" => &mut packets,
            "bytes" => &mut bytes,
            _ => continue,
        };
        for value in values.iter().flatten() {
            *sum += value;
        }
    }
    if packets > 0.0 { bytes / packets } else { 0.0 }
}
