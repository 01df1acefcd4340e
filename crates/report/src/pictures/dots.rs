//! Rows of dots: a value for each of several things.

use crate::captions::{experiment, group_colours};
use crate::colours;
use crate::picture::{Axis, Form, Line, Panel, Picture, short};
use crate::results::Results;
use crate::text::{digits, listed, mean_count, mean_with_unit, with_unit};
use scenario::Mean;
use scenario::result::Combination;
use std::collections::BTreeMap;

/// Stores that a picture has at most.
const MOST_ROWS: usize = 24;
/// Combinations that a picture has at most: more would make a browser slow.
const MOST_COMBINATIONS: usize = 500;

/// A picture for each quantity of a sweep's combinations.
pub fn combinations(results: &Results) -> Vec<Picture> {
    type Take = fn(&Combination) -> Option<Mean>;
    const QUANTITIES: &[(&str, &str, &str, &str, Take)] = &[
        ("goodput", "Goodput of all flows together", "goodput", "Mbit/s", |c| c.goodput_mbps),
        ("completion-mean", "Mean completion time", "completion time", "s", |c| c.fct_s),
        ("rtt-mean", "Mean round-trip time", "RTT", "ms", |c| c.rtt_mean_ms),
        ("fairness", "Fairness", "Jain index", "", |c| c.jain_index),
        ("hit-ratio-mean", "Answers from content stores", "hit ratio", "%", |c| {
            c.hit_ratio.map(|ratio| ratio.times(100.0))
        }),
        ("losses", "Packets lost on all links", "lost", "packets", |c| c.drops),
    ];
    let pictures = QUANTITIES.iter().filter_map(|(id, name, axis, unit, take)| {
        let rows: Vec<(&str, Mean)> = results
            .combinations
            .iter()
            .filter_map(|(label, c)| Some((label.as_str(), take(c)?)))
            .collect();
        let mut axis = Axis::new(axis, unit);
        // Fairness is at most 1.
        axis.most = (*id == "fairness").then_some(1.0);
        combination(results, id, name, axis, &rows)
    });
    pictures.collect()
}

fn combination(
    results: &Results,
    id: &str,
    name: &str,
    x: Axis,
    rows: &[(&str, Mean)],
) -> Option<Picture> {
    if rows.len() < 2 || rows.iter().all(|(_, mean)| mean.mean == 0.0) {
        return None;
    }
    let unit = x.unit.clone();
    let least = rows.iter().min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    let most = rows.iter().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    Some(Picture {
        id: id.to_owned(),
        title: if digits(most.1.mean) == digits(least.1.mean) {
            format!("{name}: {} with all", mean_with_unit(most.1, &unit))
        } else {
            finding(name, &unit, most, least)
        },
        caption: caption(results, id, rows),
        form: Form::Dots,
        y: Axis::new("", ""),
        panels: vec![Panel { lines: lines(results, rows, &unit), ..Panel::default() }],
        corner: String::new(),
        heads: vec![
            match unit.as_str() {
                "" => "mean".to_owned(),
                unit => format!("mean ({unit})"),
            },
            "±".to_owned(),
            "runs".to_owned(),
        ],
        x,
    })
}

/// A dot with its interval for each combination.
fn lines(results: &Results, rows: &[(&str, Mean)], unit: &str) -> Vec<Line> {
    let colours = group_colours(&results.groups);
    let mut lines = Vec::new();
    for (label, mean) in rows.iter().take(MOST_COMBINATIONS) {
        let half = mean.ci95.unwrap_or(0.0);
        // None of these can be negative.
        let low = (mean.mean - half).max(0.0);
        let value = match unit {
            "packets" => mean_count(*mean),
            _ => digits(mean.mean),
        };
        let interval = mean.ci95.map_or_else(|| "-".to_owned(), digits);
        let group = results.groups.iter().position(|group| group.label == *label);
        lines.push(Line {
            label: (*label).to_owned(),
            colour: group.map_or(0, |group| colours[group]),
            raw: vec![short(mean.mean), short(low), short(mean.mean + half)],
            cells: vec![value, interval, mean.n.to_string()],
            ..Line::default()
        });
    }
    lines
}

fn caption(results: &Results, id: &str, rows: &[(&str, Mean)]) -> String {
    let mut caption = experiment(results);
    if rows.iter().any(|(_, mean)| mean.ci95.is_some()) {
        caption += " Means with 95 % confidence intervals over the seeds, by Student's t.";
    }
    let unfinished: Vec<String> = results
        .combinations
        .iter()
        .filter(|(_, c)| c.finished < c.flows)
        .map(|(label, _)| label.clone())
        .collect();
    if id == "completion-mean" && !unfinished.is_empty() {
        caption += &format!(
            " Flows that did not finish count with the time that they had, so that means are lower \
             bounds with {}.",
            listed(&unfinished)
        );
    }
    if rows.len() > MOST_COMBINATIONS {
        let all = rows.len();
        caption += &format!(" The first {MOST_COMBINATIONS} of {all} combinations.");
    }
    caption
}

fn finding(name: &str, unit: &str, most: &(&str, Mean), least: &(&str, Mean)) -> String {
    let [(high, most), (low, least)] = [most, least];
    let apart = if most.overlaps(*least) { " (the intervals overlap)" } else { "" };
    format!(
        "{name}: {} with {high}, {} with {low}{apart}",
        mean_with_unit(*most, unit),
        mean_with_unit(*least, unit)
    )
}

/// Hits and misses of a node's store, over the runs of a group.
struct Store {
    label: String,
    colour: usize,
    hits: u64,
    misses: u64,
}

impl Store {
    fn share(&self) -> f64 {
        100.0 * self.hits as f64 / (self.hits + self.misses).max(1) as f64
    }
}

/// The stores of every group, each over its runs.
fn stores<'r>(results: &'r Results) -> Vec<Store> {
    let mut stores: Vec<Store> = Vec::new();
    let colours = group_colours(&results.groups);
    for (number, group) in results.groups.iter().enumerate() {
        let colour = if results.groups.len() == 1 { colours::thing(0) } else { colours[number] };
        let mut of_group: BTreeMap<&'r str, (u64, u64)> = BTreeMap::new();
        for run in &group.runs {
            let counted: Vec<(&str, u64, u64)> = match &run.caching {
                Some(warm) if warm.warmup_detected => {
                    warm.nodes.iter().map(|n| (&*n.node, n.hits, n.misses)).collect()
                }
                _ => run.nodes.iter().map(|n| (&*n.node, n.cs_hits, n.cs_misses)).collect(),
            };
            for (node, hits, misses) in counted {
                let sum = of_group.entry(node).or_default();
                *sum = (sum.0 + hits, sum.1 + misses);
            }
        }
        stores.extend(of_group.into_iter().map(|(node, (hits, misses))| {
            let label = match group.label.as_str() {
                "" => node.to_owned(),
                group => format!("{node}: {group}"),
            };
            Store { label, colour, hits, misses }
        }));
    }
    stores
}

/// Cache hits by node, if any store has answered.
pub fn hits(results: &Results) -> Option<Picture> {
    let mut stores = stores(results);
    let answered: u64 = stores.iter().map(|store| store.hits).sum();
    // A node without a store answers nothing; with caching at the edge these are the majority.
    stores.retain(|store| store.hits > 0);
    stores.sort_by_key(|store| std::cmp::Reverse(store.hits));
    let there = stores.len();
    stores.truncate(MOST_ROWS);
    let best = stores.iter().max_by(|a, b| a.share().total_cmp(&b.share()))?;
    let title = format!(
        "Cache hits: stores answered {answered} Interests; {} has the greatest share, {}",
        best.label,
        with_unit(best.share(), "%")
    );
    let mut caption = experiment(results)
        + " Share of the Interests at a node that its store answered; nodes whose store answered \
           none are left out.";
    if results.runs().any(|run| run.caching.as_ref().is_some_and(|c| c.warmup_end_s > 0.0)) {
        caption += " Where an end of the warm-up was found, counted from then on.";
    }
    if there > MOST_ROWS {
        caption += &format!(" The {MOST_ROWS} of {there} that answered most.");
    }
    let lines = stores
        .iter()
        .map(|store| Line {
            label: store.label.clone(),
            colour: store.colour,
            raw: vec![short(store.share()); 3],
            cells: vec![digits(store.share()), store.hits.to_string(), store.misses.to_string()],
            ..Line::default()
        })
        .collect();
    Some(Picture {
        id: "hits".to_owned(),
        title,
        caption,
        form: Form::Dots,
        x: Axis { most: Some(100.0), ..Axis::new("Interests answered by the store", "%") },
        y: Axis::new("", ""),
        panels: vec![Panel { lines, ..Panel::default() }],
        corner: String::new(),
        heads: ["share (%)", "hits", "misses"].map(str::to_owned).to_vec(),
    })
}
