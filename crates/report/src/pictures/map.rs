//! The network, with the use of its links.

use crate::captions::experiment;
use crate::picture::{Axis, Form, Panel, Picture, Spot, Way, short};
use crate::results::{Group, Results, SPAN, busiest, until_the_end, used};
use crate::text::{digits, listed, rate, trimmed, way, with_unit};
use control::counted;
use scenario::result::{Link, Node, RunResult};
use std::collections::BTreeMap;

/// Drawings of different combinations at most.
const MOST: usize = 4;

/// A drawing for each group, if there are few.
pub fn picture(results: &Results) -> Option<Picture> {
    let groups = &results.groups;
    let drawn: Vec<&Group> = groups.iter().take(MOST).collect();
    let title = finding(&drawn)?;
    let mut caption = experiment(results);
    caption += " The two directions of a link are drawn side by side, as traffic drives on the \
                right; wider is faster, and the colour says in which share of the time it was \
                used. ";
    caption += SPAN;
    if groups.iter().any(|group| group.runs.len() > 1) {
        caption += " Drawn is the first seed.";
    }
    if groups.len() > MOST {
        let all = groups.len();
        caption += &format!(" The first {MOST} of {all} combinations, in the order of the sweep.");
    }
    let panels = drawn.into_iter().filter_map(panel);
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

/// The title: the most used direction, in each of the drawings. `None` without a run.
fn finding(drawn: &[&Group]) -> Option<String> {
    let mut found: Vec<(&str, String, f64)> = Vec::new();
    for group in drawn {
        let run = group.runs.first()?;
        let Some(link) = busiest(run) else { return Some("Network".to_owned()) };
        found.push((&group.label, way(&link.from, &link.to), used(run, link) * 100.0));
    }
    let (_, first, _) = found.first()?;
    let least = found.iter().map(|(_, _, share)| *share).fold(f64::INFINITY, f64::min);
    let most = found.iter().map(|(_, _, share)| *share).fold(0.0, f64::max);
    if found.iter().all(|(_, way, _)| way == first) {
        let share = match digits(least) == digits(most) {
            true => with_unit(most, "%"),
            false => format!("{} to {}", digits(least), with_unit(most, "%")),
        };
        return Some(format!("Network: {first} is used most, {share} of the time"));
    }
    let each = found.iter().map(|(label, way, share)| format!("{way} with {label} ({share:.0} %)"));
    Some(format!(
        "Network: used most, as a share of the time, is {}",
        listed(&each.collect::<Vec<_>>())
    ))
}

fn panel(group: &Group) -> Option<Panel> {
    let run = group.runs.first()?;
    let number: BTreeMap<&str, usize> =
        run.nodes.iter().enumerate().map(|(i, node)| (node.node.as_str(), i)).collect();
    // Nodes without a layout are in rows.
    let row = (run.nodes.len() as f64).sqrt().ceil().max(1.0) as usize;
    let nodes = run.nodes.iter().enumerate().map(|(i, node)| {
        let place = group.places.get(&node.node).copied();
        let [x, y] = place.unwrap_or([(i % row) as f64, (i / row) as f64]);
        Spot {
            name: node.node.clone(),
            role: node.role.clone(),
            x: short(x),
            y: short(y),
            says: node_text(run, node),
        }
    });
    let links = run.links.iter().filter_map(|link| {
        Some(Way {
            from: *number.get(link.from.as_str())?,
            to: *number.get(link.to.as_str())?,
            rate: link.rate_mbps,
            label: label(link),
            used: short(used(run, link)),
            says: link_text(run, link),
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

fn node_text(run: &RunResult, node: &Node) -> String {
    let flows = run.flows.iter().filter(|flow| flow.node == node.node && flow.workload.is_none());
    let asks: Vec<String> = flows.map(|f| format!("{} asks for {}", f.control, f.name)).collect();
    let mut text = format!("{}: {}", node.node, node.role);
    if let [first, ..] = &*asks {
        text += &format!("; {first}");
        if asks.len() > 1 {
            text += &format!(" and {} more", asks.len() - 1);
        }
    }
    let own = run.flows.iter().filter(|flow| flow.node == node.node && flow.workload.is_some());
    match own.count() {
        0 => {}
        n => text += &format!("; {} of workloads", counted(n, "flow")),
    }
    text += &format!("; {} in, {} Data out", many_interests(node.interests_in), node.data_out);
    if node.cs_hits > 0 {
        text += &format!(", {} answered by its store", node.cs_hits);
    }
    text
}

fn many_interests(count: u64) -> String {
    counted(count, "Interest")
}

fn link_text(run: &RunResult, link: &Link) -> String {
    format!(
        "{}: {}; used {} of the time; queue {} kB on average, {} at most; {} lost",
        way(&link.from, &link.to),
        label(link),
        with_unit(used(run, link) * 100.0, "%"),
        digits(until_the_end(run, link).queue_mean_bytes / 1e3),
        digits(link.queue_max_bytes as f64 / 1e3),
        link.drops
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::result::Flow;

    fn group(label: &str, to: &str, used: f64) -> Group {
        let link = Link {
            from: "hub".to_owned(),
            to: to.to_owned(),
            utilization: used,
            ..Link::default()
        };
        let run = RunResult { duration_s: 10.0, links: vec![link], ..RunResult::default() };
        let mut group = Group::default();
        (group.label, group.runs) = (label.to_owned(), vec![run]);
        group
    }

    #[test]
    fn the_title_is_about_all_drawings() {
        let title = |groups: &[Group]| finding(&groups.iter().collect::<Vec<_>>()).unwrap();
        let one = group("", "east", 0.8);
        assert_eq!(title(&[one]), "Network: hub → east is used most, 80.0 % of the time");
        let same = [group("first", "east", 0.8), group("second", "east", 0.9)];
        assert_eq!(title(&same), "Network: hub → east is used most, 80.0 to 90.0 % of the time");
        let other = [group("first", "east", 0.8), group("second", "west", 0.9)];
        assert_eq!(
            title(&other),
            "Network: used most, as a share of the time, is hub → east with first (80 %) and hub → \
             west with second (90 %)"
        );
    }

    #[test]
    fn use_and_mean_queue_are_of_the_same_time() {
        let mut group = group("", "east", 0.25);
        let run = &mut group.runs[0];
        run.flows = vec![Flow { end_s: Some(5.0), ..Flow::default() }];
        run.links[0].queue_mean_bytes = 1000.0;
        // Both in the first half of the run alone.
        let text = link_text(run, &run.links[0]);
        assert!(text.contains("used 50.0 % of the time; queue 2.00 kB on average"), "{text}");
    }
}
