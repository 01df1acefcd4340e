//! The network, with the use of its links.

use crate::captions::experiment;
use crate::picture::{Axis, Form, Panel, Picture, Spot, Way, short};
use crate::results::{Group, Results, busiest, used};
use crate::words::{digits, many, rate, trimmed, way, with_unit};
use scenario::result::{Flow, Link, Node, RunResult};
use std::collections::BTreeMap;

/// Drawings of different combinations at most.
const MOST: usize = 4;

/// A drawing for each group, if there are few.
pub fn picture(results: &Results) -> Option<Picture> {
    let run = results.runs().next()?;
    let title = match busiest(run) {
        Some(link) => format!(
            "Network: {} is used most, {} of the time",
            way(&link.from, &link.to),
            with_unit(used(run, link) * 100.0, "%")
        ),
        None => "Network".to_owned(),
    };
    let mut caption = experiment(results);
    caption += " The two directions of a link are drawn side by side, as traffic drives on the \
                right; wider is faster, and the colour says in which share of the time until the \
                last flow ended it was used.";
    let groups = &results.groups;
    if groups.iter().any(|group| group.runs.len() > 1) {
        caption += " Drawn is the first seed.";
    }
    if groups.len() > MOST {
        caption += &format!(" The first {MOST} of {} combinations.", groups.len());
    }
    let panels = groups.iter().take(MOST).filter_map(panel);
    Some(Picture {
        id: "network".to_owned(),
        title,
        caption,
        form: Form::Map,
        x: Axis::new("", ""),
        y: Axis::new("", ""),
        panels: panels.collect(),
        corner: String::new(),
        heads: Vec::new(),
    })
}

fn panel(group: &Group) -> Option<Panel> {
    let run = group.runs.first()?;
    let number: BTreeMap<&str, usize> =
        run.nodes.iter().enumerate().map(|(i, node)| (node.node.as_str(), i)).collect();
    let place = |i: usize, node: &Node| {
        // Without a layout: in a circle would need an angle, in rows does as well.
        let row = (run.nodes.len() as f64).sqrt().ceil().max(1.0) as usize;
        let there = group.places.get(&node.node).copied();
        there.unwrap_or([(i % row) as f64, (i / row) as f64])
    };
    let nodes = run.nodes.iter().enumerate().map(|(i, node)| {
        let [x, y] = place(i, node);
        Spot {
            name: node.node.clone(),
            role: node.role.clone(),
            x: short(x),
            y: short(y),
            says: node_says(run, node),
        }
    });
    let links = run.links.iter().filter_map(|link| {
        Some(Way {
            from: *number.get(link.from.as_str())?,
            to: *number.get(link.to.as_str())?,
            rate: link.rate_mbps,
            label: label(link),
            used: short(used(run, link)),
            says: link_says(run, link),
        })
    });
    Some(Panel {
        title: group.label.clone(),
        nodes: nodes.collect(),
        links: links.collect(),
        ..Panel::default()
    })
}

fn label(link: &Link) -> String {
    let delay = format!("{} ms", trimmed(link.delay_ms));
    match link.rate_mbps {
        Some(mbps) => format!("{}, {delay}", rate(mbps)),
        None => delay,
    }
}

fn node_says(run: &RunResult, node: &Node) -> String {
    let is_his = |flow: &&Flow| flow.node == node.node && flow.workload.is_none();
    let flows = run.flows.iter().filter(is_his);
    let asks: Vec<String> = flows.map(|f| format!("{} asks for {}", f.control, f.name)).collect();
    let mut says = format!("{}: {}", node.node, node.role);
    if let [first, ..] = &*asks {
        says += &format!("; {first}");
        if asks.len() > 1 {
            says += &format!(" and {} more", asks.len() - 1);
        }
    }
    let own = run.flows.iter().filter(|flow| flow.node == node.node && flow.workload.is_some());
    match own.count() {
        0 => {}
        n => says += &format!("; {} of workloads", many(n, "flow")),
    }
    says += &format!("; {} in, {} Data out", many_interests(node.interests_in), node.data_out);
    if node.cs_hits > 0 {
        says += &format!(", {} answered by its store", node.cs_hits);
    }
    says
}

fn many_interests(count: u64) -> String {
    many(usize::try_from(count).unwrap_or(usize::MAX), "Interest")
}

fn link_says(run: &RunResult, link: &Link) -> String {
    format!(
        "{}: {}; used {} of the time; queue {} kB on average, {} at most; {} lost",
        way(&link.from, &link.to),
        label(link),
        with_unit(used(run, link) * 100.0, "%"),
        digits(link.queue_mean_bytes / 1e3),
        digits(link.queue_max_bytes as f64 / 1e3),
        link.drops
    )
}
