//! The Pareto fronts as pictures.

use crate::outcome::{CellOutcome, Outcome};
use report::picture::{Axis, Form, Line, Panel, Picture, short};
use report::{colour_of_scheme, dashes};
use std::collections::BTreeMap;

/// Schemes with a mark of their own, besides the judged one: those that are most often on a front.
const MOST_NAMED: usize = 6;
/// The colour and mark of all others.
const OTHERS: &str = "other schemes";
/// The most panels of a picture.
const MOST_PANELS: usize = 8;
/// Panels in a row.
pub const COLUMNS: usize = 2;
/// Smaller delays, in milliseconds, and distances from the optimum, in percent, are drawn as this
/// much.
const LEAST: f64 = 0.1;
/// Schemes whose distances from the optimum differ by less than this, in percent, do not differ.
const SPREAD: f64 = 0.5;

/// A picture of the fronts of each group of cells that have both measures.
#[must_use]
pub fn fronts(outcome: &Outcome) -> Vec<Picture> {
    let named = named(outcome);
    let mut groups: Vec<(&str, Vec<&CellOutcome>)> = Vec::new();
    for cell in outcome.cells.iter().filter(|cell| has_choice(cell)) {
        match groups.iter_mut().find(|(group, _)| *group == cell.group) {
            Some((_, cells)) => cells.push(cell),
            None => groups.push((&cell.group, vec![cell])),
        }
    }
    let mut pictures = Vec::new();
    for (group, cells) in groups {
        for cells in cells.chunks(MOST_PANELS) {
            let id = format!("arena-front-{}", pictures.len() + 1);
            let mut picture = picture(id, group, cells, outcome, &named);
            if pictures.is_empty() {
                picture.caption = format!("{} {}", caption(outcome), picture.caption);
            }
            pictures.push(picture);
        }
    }
    pictures
}

/// True if schemes of the cell differ in what they use of the network.
fn has_choice(cell: &CellOutcome) -> bool {
    let distances = cell.points().into_iter().map(|(_, (ms, share))| shown(ms, share)[1]);
    let (least, most) = distances
        .fold((f64::INFINITY, 0.0_f64), |(least, most), one| (least.min(one), most.max(one)));
    most - least >= SPREAD
}

/// A point as it is drawn: delay, and distance from the optimum in percent.
fn shown(ms: f64, share: f64) -> [f64; 2] {
    [short(ms.max(LEAST)), short((100.0 - share * 100.0).max(LEAST))]
}

/// The caption of all pictures.
fn caption(outcome: &Outcome) -> String {
    let seeds = match outcome.seeds {
        1 => "one seed".to_owned(),
        seeds => format!("means over {seeds} seeds"),
    };
    format!(
        "All pictures: a point for each scheme, its distance from the optimum over the 99th \
         percentile of queueing delay in a fetch's round trips ({seeds}). Down and to the left is \
         better. The dotted line is the Pareto front: no other scheme has less of both. Values \
         below {LEAST} % or {LEAST} ms are drawn at {LEAST}. Named are {} and the schemes that \
         are on most fronts. Cells in which no two schemes differ by {SPREAD} % are left out.",
        outcome.judged
    )
}

/// The judged scheme, and those that are on most fronts.
fn named(outcome: &Outcome) -> Vec<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for scheme in outcome.cells.iter().flat_map(|cell| cell.front()) {
        *counts.entry(scheme).or_default() += 1;
    }
    let mut all: Vec<(&str, usize)> = counts.into_iter().collect();
    all.retain(|(scheme, _)| *scheme != outcome.judged);
    all.sort_by_key(|(scheme, count)| (usize::MAX - count, *scheme));
    let others = all.into_iter().take(MOST_NAMED).map(|(scheme, _)| scheme);
    [&*outcome.judged].into_iter().chain(others).collect()
}

fn picture(
    id: String,
    group: &str,
    cells: &[&CellOutcome],
    outcome: &Outcome,
    named: &[&str],
) -> Picture {
    let points: Vec<[f64; 2]> = cells
        .iter()
        .flat_map(|cell| cell.points())
        .map(|(_, (ms, share))| shown(ms, share))
        .collect();
    let (x, y) = (points.iter().map(|point| point[0]), points.iter().map(|point| point[1]));
    let on_front = cells.iter().filter(|cell| cell.front().contains(&&*outcome.judged)).count();
    let titles: Vec<&str> = cells.iter().map(|cell| cell.title.as_str()).collect();
    Picture {
        id,
        title: format!(
            "{group}: {} is on the Pareto front in {on_front} of {} cells",
            outcome.judged,
            cells.len()
        ),
        caption: format!("{}: {}.", group, titles.join("; ")),
        form: Form::Scatter,
        x: Axis::new("99th percentile of queueing delay", "ms").logarithmic(x, false),
        y: Axis::new("distance from the optimum", "%").logarithmic(y, false),
        panels: cells.iter().map(|cell| panel(cell, named)).collect(),
        corner: String::new(),
        heads: ["on the front"].map(str::to_owned).to_vec(),
    }
}

fn panel(cell: &CellOutcome, named: &[&str]) -> Panel {
    let points = cell.points();
    let front = cell.front();
    let mut others = Line {
        label: OTHERS.to_owned(),
        // Grey, as lines that are no schemes.
        colour: 7,
        dash: 0,
        cells: vec![String::new()],
        ..Line::default()
    };
    let mut lines: Vec<Line> = Vec::new();
    for scheme in named {
        let colour = colour_of_scheme(scheme);
        let is_on_it = front.contains(scheme);
        let mut line = Line {
            label: (*scheme).to_owned(),
            colour,
            cells: vec![if is_on_it { "yes" } else { "" }.to_owned()],
            ..Line::default()
        };
        if let Some((_, point)) = points.iter().find(|(known, _)| known == scheme) {
            line.raw.extend(shown(point.0, point.1));
        }
        lines.push(line);
    }
    for (scheme, point) in &points {
        if !named.contains(scheme) {
            others.raw.extend(shown(point.0, point.1));
        }
    }
    let all: Vec<usize> = lines.iter().map(|line| line.colour).collect();
    lines.iter_mut().zip(dashes(&all)).for_each(|(line, dash)| line.dash = dash);
    let mut corners: Vec<[f64; 2]> = points
        .iter()
        .filter(|(scheme, _)| front.contains(scheme))
        .map(|(_, point)| shown(point.0, point.1))
        .collect();
    corners.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let mut stairs: Vec<f64> = corners.first().map(|first| first.to_vec()).unwrap_or_default();
    for two in corners.windows(2) {
        stairs.extend([two[1][0], two[0][1], two[1][0], two[1][1]]);
    }
    let front = Line {
        label: "Pareto front".to_owned(),
        colour: 7,
        dash: 2,
        smooth: stairs,
        cells: vec![front.join(", ")],
        ..Line::default()
    };
    lines.retain(|line| !line.raw.is_empty());
    lines.extend((!others.raw.is_empty()).then_some(others));
    lines.push(front);
    Panel { title: cell.title.clone(), lines, ..Panel::default() }
}
