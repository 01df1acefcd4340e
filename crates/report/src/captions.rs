//! Captions, colours and limits that several pictures share.

use crate::colours;
use crate::results::{Group, Results};
use crate::text::listed;
use control::counted;
use std::collections::BTreeSet;

/// Panels that a picture has at most.
pub const MOST_PANELS: usize = 12;
/// Lines that a panel has at most.
pub const MOST_LINES: usize = 8;

/// The experiment in a caption: topology, schemes, seeds.
pub fn experiment(results: &Results) -> String {
    let Some(run) = results.runs().next() else { return String::new() };
    let names: BTreeSet<&str> = results.runs().map(|run| run.id.scenario.as_str()).collect();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let flows = results.runs().flat_map(|run| &run.flows);
    let schemes: BTreeSet<&str> = flows.map(|flow| flow.control.as_str()).collect();
    let mut schemes: Vec<String> = schemes.into_iter().map(str::to_owned).collect();
    if schemes.len() > 6 {
        let more = schemes.len() - 5;
        schemes.truncate(5);
        schemes.push(format!("{more} more"));
    }
    let seeds: BTreeSet<u64> = results.runs().map(|run| run.id.seed).collect();
    let seeds = match seeds.len() {
        1 => format!("seed {}", run.id.seed),
        n => format!("{n} seeds"),
    };
    let (nodes, links) = (run.nodes.len(), run.links.len());
    // Compared scenarios may have networks of different sizes.
    let size = if results.runs().all(|run| run.nodes.len() == nodes && run.links.len() == links) {
        format!("{} and {}, ", counted(nodes, "node"), counted(links / 2, "link"))
    } else {
        String::new()
    };
    format!("{}: {size}{}, {seeds}.", listed(&names), listed(&schemes))
}

/// The colours of groups with one line each. If each group has a single scheme, and no two groups
/// have the same colour, these are the colours of the schemes.
pub fn group_colours(groups: &[Group]) -> Vec<usize> {
    let mut schemes: Vec<Option<usize>> = Vec::new();
    for group in groups {
        let flows = group.runs.iter().flat_map(|run| &run.flows);
        let colours: BTreeSet<usize> = flows.map(|flow| colours::scheme(&flow.control)).collect();
        schemes.push(colours.first().copied().filter(|_| colours.len() == 1));
    }
    let different: BTreeSet<usize> = schemes.iter().flatten().copied().collect();
    if different.len() == groups.len() {
        return schemes.into_iter().flatten().collect();
    }
    (0..groups.len()).map(|i| i % colours::BRIGHT).collect()
}
