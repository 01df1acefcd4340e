//! Points of two measures, with the Pareto front: more of the one, less of the other.

use super::lines::Division;
use super::sweep::{capital, interval};
use super::table::Table;
use super::{PlotError, Request, measure};
use crate::captions::experiment;
use crate::picture::{Axis, Form, Line, Panel, Picture, short};
use crate::results::Results;
use crate::words::listed;
use scenario::Mean;
use scenario::result::Measure;
use std::collections::BTreeMap;

/// The colour and style of the front.
const FRONT: [usize; 2] = [7, 2];

/// A logarithmic axis shows smaller values, as a share of the largest, at zero.
const DEPTH: f64 = 1e-3;

/// Combinations of a line on the front that are named.
const MOST_NAMED: usize = 3;

/// A combination of settings.
struct Spot {
    /// The line that it belongs to.
    line: String,
    /// Its other settings.
    rest: String,
    x: Mean,
    y: Mean,
    is_on_front: bool,
}

/// Draws a point for each combination.
pub fn picture(
    results: &Results,
    table: &Table<'_>,
    request: &Request,
) -> Result<Picture, PlotError> {
    let across = measure(request.x.as_deref(), "queue-delay")?;
    let up = measure(request.y.as_deref(), "goodput")?;
    let division = Division::new(table, request, &[])?;
    let looks = division.lines(table);
    let mut panels = Vec::new();
    let mut spots = Vec::new();
    for title in division.panels(table) {
        let mut found = combinations(table, &division, &title, [across, up]);
        let front = front(&mut found);
        let lines = looks.iter().map(|look| {
            let mut line = line(&look.label, &found, [across, up]);
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
        caption: caption(results, [across, up], &spots),
        form: Form::Scatter,
        x,
        y,
        panels,
        corner: String::new(),
        heads: ["points", "on the front"].map(str::to_owned).to_vec(),
    })
}

/// The combinations of a panel that have values of both measures.
fn combinations(
    table: &Table<'_>,
    division: &Division,
    panel: &str,
    [across, up]: [&Measure; 2],
) -> Vec<Spot> {
    let Division { by, facet } = division;
    let rest = table.varying(&[by.as_slice(), facet].concat());
    let mut values: BTreeMap<[String; 2], [Vec<f64>; 2]> = BTreeMap::new();
    let mut order = Vec::new();
    for row in table.rows.iter().filter(|row| row.label(facet) == panel) {
        let (Some(x), Some(y)) = (across.shown(row.run), up.shown(row.run)) else { continue };
        let key = [row.label(by), row.label(&rest)];
        let [xs, ys] = values.entry(key.clone()).or_insert_with(|| {
            order.push(key);
            Default::default()
        });
        xs.push(x);
        ys.push(y);
    }
    let spot = |key: [String; 2]| {
        let [xs, ys] = values.get(&key)?;
        let (x, y) = (Mean::of(xs)?, Mean::of(ys)?);
        let [line, rest] = key;
        Some(Spot { line, rest, x, y, is_on_front: false })
    };
    order.into_iter().filter_map(spot).collect()
}

/// Finds the points that no other point beats in both measures, and returns the line through them.
fn front(spots: &mut [Spot]) -> Option<Line> {
    let beats = |one: &Spot, other: &Spot| {
        one.x.mean <= other.x.mean
            && one.y.mean >= other.y.mean
            && (one.x.mean < other.x.mean || one.y.mean > other.y.mean)
    };
    let best: Vec<bool> =
        spots.iter().map(|spot| !spots.iter().any(|other| beats(other, spot))).collect();
    spots.iter_mut().zip(best).for_each(|(spot, is_best)| spot.is_on_front = is_best);
    let mut points: Vec<[f64; 2]> = spots
        .iter()
        .filter(|spot| spot.is_on_front)
        .map(|spot| [spot.x.mean, spot.y.mean])
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points.dedup();
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
        cells: vec![String::new(), points.len().to_string()],
        ..Line::default()
    })
}

fn line(label: &str, spots: &[Spot], [across, up]: [&Measure; 2]) -> Line {
    let mut line = Line { label: label.to_owned(), ..Line::default() };
    let own: Vec<&Spot> = spots.iter().filter(|spot| spot.line == label).collect();
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
    let on_front: Vec<String> = own
        .iter()
        .filter(|spot| spot.is_on_front)
        .map(|spot| if spot.rest.is_empty() { "yes".to_owned() } else { spot.rest.clone() })
        .collect();
    let on_front = match on_front.len() {
        count if count > MOST_NAMED => count.to_string(),
        _ => on_front.join("; "),
    };
    line.cells = vec![own.len().to_string(), on_front];
    line
}

fn finding([across, up]: [&Measure; 2], spots: &[Spot]) -> String {
    let mut counts: Vec<(&str, [usize; 2])> = Vec::new();
    for spot in spots {
        let place = counts.iter().position(|(line, _)| *line == spot.line).unwrap_or_else(|| {
            counts.push((&spot.line, [0, 0]));
            counts.len() - 1
        });
        counts[place].1[0] += usize::from(spot.is_on_front);
        counts[place].1[1] += 1;
    }
    let best = counts.iter().filter(|(line, [front, _])| *front > 0 && !line.is_empty());
    let best: Vec<String> =
        best.map(|(line, [front, all])| format!("{line} ({front} of {all})")).collect();
    let name = format!("{} and {}", capital(up.label), across.label);
    match best.is_empty() {
        true => name,
        false => format!("{name}: on the Pareto front {}", listed(&best)),
    }
}

fn caption(results: &Results, [across, up]: [&Measure; 2], spots: &[Spot]) -> String {
    let mut caption = format!(
        "{} A point for each combination of settings. {}; {}. On the Pareto front no other point \
         has both more {} and less {}.",
        experiment(results),
        capital(up.help),
        across.help,
        up.label,
        across.label
    );
    if spots.iter().any(|spot| spot.y.ci95.is_some()) {
        caption += " Means over the seeds with 95 % confidence intervals, by Student's t.";
    }
    caption
}
