//! A picture as data: input of the page's script, and its text.

use serde::Serialize;

/// An axis.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Axis {
    /// Its label.
    pub label: String,
    /// In which unit; empty for a bare number.
    pub unit: String,
    /// Its initial end; `None` is the end of the data.
    pub most: Option<f64>,
    /// The start of a logarithmic axis, above zero; smaller values, including zero, are drawn
    /// there.
    pub log: Option<f64>,
}

impl Axis {
    /// An axis that ends with the data.
    #[must_use]
    pub fn new(label: &str, unit: &str) -> Axis {
        Axis { label: label.to_owned(), unit: unit.to_owned(), ..Axis::default() }
    }

    /// A logarithmic axis for these values; linear if none is above zero. Zero has its own decade
    /// if it `shows_zero`.
    #[must_use]
    pub fn logarithmic(self, values: impl IntoIterator<Item = f64>, shows_zero: bool) -> Axis {
        let (mut least, mut has_zero) = (f64::INFINITY, false);
        for value in values {
            match value > 0.0 {
                true => least = least.min(value),
                false => has_zero = true,
            }
        }
        let log = least.is_finite().then(|| match has_zero && shows_zero {
            true => least / 10.0,
            false => below(least),
        });
        Axis { log, ..self }
    }
}

/// The kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Lines over time.
    Time,
    /// Lines over something else, their points marked.
    Curve,
    /// The same, with bands around them.
    Sweep,
    /// Points with both their intervals.
    Scatter,
    /// Distributions as steps.
    Cdf,
    /// A value with its interval for each of several things.
    Dots,
    /// A network.
    Map,
}

/// A line, or a row of dots.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Line {
    /// Its label.
    pub label: String,
    /// The number of its colour.
    pub colour: usize,
    /// The number of its line style.
    pub dash: usize,
    /// Values as they are, `x, y, x, y, …`.
    pub raw: Vec<f64>,
    /// Smoothed values.
    pub smooth: Vec<f64>,
    /// An interval around them, `x, low, high, …`.
    pub band: Vec<f64>,
    /// Intervals of points to the right and left, `y, low, high, …`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub across: Vec<f64>,
    /// A value to be marked, with its name.
    pub mark: Option<(String, f64)>,
    /// Values that others report, `x, y, x, y, …`; of a row of dots, `x, 0`.
    pub published: Vec<f64>,
    /// Its text: a cell for each of the picture's `heads`.
    #[serde(skip)]
    pub cells: Vec<String>,
}

impl Line {
    /// True with smoothed values on top of their samples.
    #[must_use]
    pub fn has_both(&self) -> bool {
        !self.raw.is_empty() && !self.smooth.is_empty()
    }
}

/// A thin line at a fixed value: a capacity, a limit.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    /// Its label.
    pub label: String,
    /// Where it is.
    pub value: f64,
}

/// A node of a drawing.
#[derive(Clone, Debug, Serialize)]
pub struct Spot {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// Its place, to the right.
    pub x: f64,
    /// And down.
    pub y: f64,
    /// Its description.
    pub says: String,
}

/// A direction of a link of a drawing.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// The index of its start in the list of nodes.
    pub from: usize,
    /// The place of the other.
    pub to: usize,
    /// Mbit/s.
    pub rate: Option<f64>,
    /// `20 Mbit/s, 10 ms`
    pub label: String,
    /// The share of the time in which it was used.
    pub used: f64,
    /// Its description.
    pub says: String,
}

/// One of several drawings with the same axes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Panel {
    /// Its title; empty for a single panel.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Values marked by level lines.
    pub limits: Vec<Limit>,
    /// Instants marked by upright lines.
    pub moments: Vec<Limit>,
    /// Nodes of a network.
    pub nodes: Vec<Spot>,
    /// Its links.
    pub links: Vec<Way>,
}

/// A picture.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// Its name in addresses and files.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The experiment, and how it was drawn.
    pub caption: String,
    /// How it is drawn.
    pub form: Form,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// The drawings.
    pub panels: Vec<Panel>,
    /// The common unit of all cells of its lines, which is written in the corner.
    #[serde(skip)]
    pub corner: String,
    /// Heads of the cells of its lines.
    #[serde(skip)]
    pub heads: Vec<String>,
}

/// An interval extends an axis beyond its points by up to this factor: a wide one must not squeeze
/// the lines.
pub const ROOM_FOR_INTERVALS: f64 = 1.5;

/// Intervals of these lines end at the edge of the upwards axis.
#[must_use]
pub fn are_cut(panels: &[Panel], y: &Axis) -> bool {
    let lines: Vec<&Line> = panels.iter().flat_map(|panel| &panel.lines).collect();
    let highest = lines.iter().copied().flat_map(points_up).fold(0.0, f64::max);
    let most = highest * ROOM_FOR_INTERVALS;
    let mut bands = lines.iter().flat_map(|line| line.band.chunks_exact(3));
    bands.any(|band| band[2] > most || y.log.is_some_and(|start| band[1] < start))
}

/// The values of a line's points, without their intervals.
fn points_up(line: &Line) -> impl Iterator<Item = f64> {
    [&line.raw, &line.smooth].into_iter().flat_map(|flat| flat.chunks_exact(2).map(|pair| pair[1]))
}

/// The greatest of 1, 2 and 5 times a power of ten that is a little below a value.
fn below(value: f64) -> f64 {
    let power = 10f64.powi(value.log10().floor() as i32);
    let steps = [0.5, 1.0, 2.0, 5.0].map(|step| step * power);
    steps.into_iter().rfind(|step| *step <= value * 0.95).unwrap_or(power / 2.0)
}

/// A number with as many digits as are visible.
#[must_use]
pub fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Points as a flat list of numbers.
#[must_use]
pub fn flat(points: &[(f64, f64)], factor: f64) -> Vec<f64> {
    points.iter().flat_map(|(x, y)| [short(*x), short(*y * factor)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_begin_below_the_least_and_have_room_for_zero() {
        let log = |values: &[f64], shows_zero| {
            Axis::new("x", "").logarithmic(values.iter().copied(), shows_zero).log
        };
        assert_eq!(log(&[2.0, 7.5, 30.0], false), Some(1.0));
        assert_eq!(log(&[0.0, 7.5], false), Some(5.0));
        assert_eq!(log(&[1.0], false), Some(0.5));
        assert_eq!(log(&[0.0, 0.01, 1.0], true), Some(0.001));
        assert_eq!(log(&[0.0], true), None);
    }
}
