//! Points of two measures, with the Pareto front: more of the one, less of the other.

use super::PlotError;
use super::lines::Division;
use super::request::{Request, UP, measure};
use super::sweep::{interval, mean};
use super::table::{Key, Table};
use crate::captions::experiment;
use crate::picture::{Axis, Form, Line, Panel, Picture, are_cut, short};
use crate::results::Results;
use crate::text::{capital, listed};
use scenario::Mean;
use scenario::result::{Measure, RunResult};
use std::collections::BTreeMap;

/// The colour and style of the front.
const FRONT: [usize; 2] = [7, 2];

/// A logarithmic axis shows smaller values, as a share of the largest, at zero.
const DEPTH: f64 = 1e-3;

/// Smaller differences, as a share of the largest value, do not count.
const NO_DIFFERENCE: f64 = 0.01;

/// Lines or settings on the front that a title names.
const MOST_NAMED: usize = 6;

/// A combination of settings.
struct Spot {
    /// The line that it belongs to.
    line: Key,
    /// The settings that distinguish it from others of its panel.
    name: String,
    x: Mean,
    y: Mean,
    is_on_front: bool,
}

impl Spot {
    /// Returns `true` if it is better than the other in one measure and not worse in the other:
    /// further to the left or further up, by more than these differences.
    fn beats(&self, other: &Spot, [across, up]: [f64; 2]) -> bool {
        let is_worse = is_less(other.x, self.x, across) || is_less(self.y, other.y, up);
        !is_worse && (is_less(self.x, other.x, across) || is_less(other.y, self.y, up))
    }
}

fn is_less(one: Mean, other: Mean, least: f64) -> bool {
    other.mean - one.mean > least && !one.overlaps(other)
}

/// Draws a point for each combination.
pub fn picture(
    results: &Results,
    table: &Table<'_>,
    request: &Request,
) -> Result<Picture, PlotError> {
    let across = measure(request.x.as_deref(), "queue-delay")?;
    let up = measure(request.y.as_deref(), UP)?;
    let division = Division::new(table, request, &[])?;
    let mut points = combinations(table, &division, [across, up]);
    let mut panels = Vec::new();
    let mut spots = Vec::new();
    for panel in &division.panels {
        let title = table.label(&division.facet, panel);
        let mut found = points.remove(panel).unwrap_or_default();
        let front = front(&mut found);
        let lines = division.lines.iter().map(|look| {
            let mut line = line(&look.key, &found, [across, up]);
            line.label.clone_from(&look.label);
            (line.colour, line.dash) = (look.colour, look.dash);
            line
        });
        let mut lines: Vec<Line> = lines.filter(|line| !line.raw.is_empty()).collect();
        lines.extend(front);
        panels.push(Panel { title, lines, ..Panel::default() });
        spots.append(&mut found);
    }
    if spots.is_empty() {
        return Err(PlotError::NoValues { name: across.name.to_owned() });
    }
    let xs: Vec<f64> = spots.iter().map(|spot| spot.x.mean).collect();
    let mut x = Axis { most: across.most, ..Axis::new(across.label, across.unit) };
    if request.log.is_x(&xs) {
        // Tiny values would take most of the room.
        let floor = xs.iter().copied().fold(0.0, f64::max) * DEPTH;
        x = x.logarithmic(xs.iter().map(|x| if *x < floor { 0.0 } else { *x }), true);
    }
    let mut y = Axis { most: up.most, ..Axis::new(up.label, up.unit) };
    if request.log.is_y() {
        y = y.logarithmic(spots.iter().map(|spot| spot.y.mean), true);
    }
    Ok(Picture {
        id: format!("{}-and-{}", up.name, across.name),
        title: finding([across, up], &spots),
        caption: caption(results, [across, up], &spots)
            + &panels_note(table, &division)
            + if are_cut(&panels, &y) { " Intervals end at the edge of the axis." } else { "" },
        form: Form::Scatter,
        x,
        y,
        panels,
        corner: String::new(),
        heads: ["points", "on the front"].map(str::to_owned).to_vec(),
    })
}

/// The combinations that have values of both measures, by their panels.
fn combinations(
    table: &Table<'_>,
    division: &Division,
    [across, up]: [&Measure; 2],
) -> BTreeMap<Key, Vec<Spot>> {
    let Division { by, facet, .. } = division;
    let rest = table.varying(&[by.as_slice(), facet].concat());
    let mut runs: BTreeMap<[Key; 3], Vec<&RunResult>> = BTreeMap::new();
    for row in &table.rows {
        if across.shown(row.run).is_some() && up.shown(row.run).is_some() {
            runs.entry([row.key(facet), row.key(by), row.key(&rest)]).or_default().push(row.run);
        }
    }
    let mut spots: BTreeMap<Key, Vec<Spot>> = BTreeMap::new();
    for ([panel, line, others], runs) in runs {
        let (Some(x), Some(y)) = (mean(across, &runs), mean(up, &runs)) else { continue };
        let name = if by.is_empty() { table.label(&rest, &others) } else { table.label(by, &line) };
        spots.entry(panel).or_default().push(Spot { line, name, x, y, is_on_front: false });
    }
    spots
}

/// Finds the points that no other point beats, and returns the line through them. A point beats
/// another one if it is better in one measure, and not worse in the other; differences that may be
/// chance, or that the picture hardly shows, do not count.
fn front(spots: &mut [Spot]) -> Option<Line> {
    let across = spots.iter().map(|spot| spot.x.mean).fold(0.0, f64::max) * NO_DIFFERENCE;
    let up = spots.iter().map(|spot| spot.y.mean).fold(0.0, f64::max) * NO_DIFFERENCE;
    let best: Vec<bool> = spots
        .iter()
        .map(|spot| !spots.iter().any(|other| other.beats(spot, [across, up])))
        .collect();
    spots.iter_mut().zip(best).for_each(|(spot, is_best)| spot.is_on_front = is_best);
    let mut points: Vec<[f64; 2]> = spots
        .iter()
        .filter(|spot| spot.is_on_front)
        .map(|spot| [spot.x.mean, spot.y.mean])
        .collect();
    let count = points.len();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(b[1].total_cmp(&a[1])));
    // Of those that do not differ, the line has the best.
    let mut best = f64::NEG_INFINITY;
    points.retain(|[_, y]| {
        let is_better = *y > best;
        best = best.max(*y);
        is_better
    });
    if points.len() < 2 {
        return None;
    }
    // A point's value can be had with any more of the other, until the next point.
    let mut stairs = points[0].to_vec();
    for two in points.windows(2) {
        stairs.extend([two[1][0], two[0][1], two[1][0], two[1][1]]);
    }
    let [colour, dash] = FRONT;
    Some(Line {
        label: "Pareto front".to_owned(),
        colour,
        dash,
        smooth: stairs.into_iter().map(short).collect(),
        cells: vec![String::new(), count.to_string()],
        ..Line::default()
    })
}

fn line(key: &[usize], spots: &[Spot], [across, up]: [&Measure; 2]) -> Line {
    let mut line = Line::default();
    let own: Vec<&Spot> = spots.iter().filter(|spot| spot.line == key).collect();
    for spot in &own {
        let (x, y) = (spot.x.mean, spot.y.mean);
        line.raw.extend([short(x), short(y)]);
        if let Some(half) = spot.y.ci95 {
            let [low, high] = interval(y, half, up);
            line.band.extend([short(x), short(low), short(high)]);
        }
        if let Some(half) = spot.x.ci95 {
            let [low, high] = interval(x, half, across);
            line.across.extend([short(y), short(low), short(high)]);
        }
    }
    let on_front = own.iter().filter(|spot| spot.is_on_front).count();
    line.cells = vec![own.len().to_string(), on_front.to_string()];
    line
}

fn finding([across, up]: [&Measure; 2], spots: &[Spot]) -> String {
    let mut counts: Vec<(&str, [usize; 2])> = Vec::new();
    for spot in spots {
        let place = counts.iter().position(|(name, _)| *name == spot.name).unwrap_or_else(|| {
            counts.push((&spot.name, [0, 0]));
            counts.len() - 1
        });
        counts[place].1[0] += usize::from(spot.is_on_front);
        counts[place].1[1] += 1;
    }
    let title = format!("{} and {}", capital(up.label), across.label);
    if spots.len() > 1 && spots.iter().all(|spot| spot.is_on_front) {
        return format!("{title}: no combination is beaten by another in both");
    }
    let is_single = counts.iter().all(|(_, [_, all])| *all == 1);
    let best = counts.iter().filter(|(name, [front, _])| *front > 0 && !name.is_empty());
    let mut best: Vec<String> = best
        .map(|(name, [front, all])| match is_single {
            true => (*name).to_owned(),
            false => format!("{name} ({front} of {all})"),
        })
        .collect();
    if best.len() > MOST_NAMED {
        let more = best.len() - MOST_NAMED;
        best.truncate(MOST_NAMED);
        best.push(format!("{more} more"));
    }
    match best.is_empty() {
        true => title,
        false => format!("{title}: on the Pareto front {}", listed(&best)),
    }
}

/// The meaning of panels: conditions, under each of which there is a choice.
fn panels_note(table: &Table<'_>, division: &Division) -> String {
    let names: Vec<String> =
        division.facet.iter().map(|field| table.fields[*field].name.clone()).collect();
    match division.all {
        0 | 1 => String::new(),
        _ => format!(
            " A panel, with its own front, for each condition: {}.{}",
            listed(&names),
            division.panels_note()
        ),
    }
}

fn caption(results: &Results, [across, up]: [&Measure; 2], spots: &[Spot]) -> String {
    let has_intervals = spots.iter().any(|spot| spot.y.ci95.is_some());
    let mut caption = format!(
        "{} A point for each combination of settings. {}; {}. On the Pareto front no other point \
         has both more {} and less {}. Differences of less than 1 % of the largest value{} do not \
         count.",
        experiment(results),
        capital(up.help),
        across.help,
        up.label,
        across.label,
        if has_intervals { ", or within overlapping intervals," } else { "" }
    );
    if has_intervals {
        caption += " Means over the seeds with 95 % confidence intervals, by Student's t.";
    }
    caption
}
