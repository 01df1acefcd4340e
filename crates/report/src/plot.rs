//! Pictures of sweeps: a measure over a swept field, and points of two measures.

mod error;
mod finding;
mod lines;
mod scatter;
mod sweep;
mod table;
#[cfg(test)]
mod tests;

pub use error::PlotError;

use crate::picture::Picture;
use crate::results::Results;
use scenario::result::{MEASURES, Measure};
use std::path::PathBuf;
use table::Table;

/// The logarithmic axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// The x axis, if its values are far apart.
    #[default]
    Auto,
    /// Neither.
    None,
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both.
    Both,
}

impl Log {
    fn is_x(self, values: &[f64]) -> bool {
        match self {
            Log::Auto => are_far_apart(values),
            log => matches!(log, Log::X | Log::Both),
        }
    }

    fn is_y(self) -> bool {
        matches!(self, Log::Y | Log::Both)
    }
}

/// On a linear axis the smaller ones of these could not be told apart.
fn are_far_apart(values: &[f64]) -> bool {
    let mut positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    positive.dedup();
    match &*positive {
        [least, _, .., most] => most / least >= 50.0,
        _ => false,
    }
}

/// The content of a picture.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The swept field on the x axis, or the measure of points; `None`: the one that suits.
    pub x: Option<String>,
    /// The measure on the y axis; `None`: goodput after the warm-up.
    pub y: Option<String>,
    /// The fields with a line for each value; empty: those that suit.
    pub by: Vec<String>,
    /// The field with a panel for each value.
    pub facet: Option<String>,
    /// Logarithmic axes.
    pub log: Log,
    /// Points of two measures instead of lines over a field.
    pub is_scatter: bool,
    /// It is one of many pictures on a page, which shows no more panels than can be compared.
    pub is_on_page: bool,
}

/// The picture of the results in these folders.
///
/// # Errors
/// A folder has no results, the request names a field or a measure that is not there, or there is
/// nothing to draw.
pub fn plot(folders: &[PathBuf], request: &Request) -> Result<Picture, PlotError> {
    draw(&Results::summaries(folders)?, request)
}

fn draw(results: &Results, request: &Request) -> Result<Picture, PlotError> {
    let table = Table::new(results);
    if table.rows.is_empty() {
        return Err(PlotError::Empty);
    }
    match request.is_scatter {
        true => scatter::picture(results, &table, request),
        false => sweep::picture(results, &table, request),
    }
}

/// Measures that a page draws over a swept field.
const ON_PAGES: [&str; 8] = [
    "settled-goodput",
    "queue-delay",
    "queue-delay-p99",
    "settled-jain",
    "completion",
    "rtt",
    "drops",
    "hit-ratio",
];

/// The pictures of a page, if a swept field has numbers.
pub(crate) fn pictures(results: &Results) -> Vec<Picture> {
    let table = Table::new(results);
    if table.numeric().is_none() {
        return Vec::new();
    }
    let mut all: Vec<Picture> = Vec::new();
    for name in ON_PAGES {
        let y = Some(name.to_string());
        let request = Request { y, is_on_page: true, ..Request::default() };
        all.extend(sweep::picture(results, &table, &request));
    }
    let scatter = Request { is_scatter: true, is_on_page: true, ..Request::default() };
    let scatter = scatter::picture(results, &table, &scatter).ok();
    all.splice(all.len().min(1)..all.len().min(1), scatter);
    all.retain(has_values);
    all
}

/// Not all of its values are zero: a picture of zeros would show nothing.
fn has_values(picture: &Picture) -> bool {
    let lines = picture.panels.iter().flat_map(|panel| &panel.lines);
    lines.flat_map(|line| line.raw.chunks_exact(2)).any(|pair| pair[1] != 0.0)
}

/// The measure on the y axis if the request names none.
const UP: &str = "settled-goodput";

/// The measure with a name.
fn measure(name: Option<&str>, default: &str) -> Result<&'static Measure, PlotError> {
    let name = name.unwrap_or(default);
    Measure::find(name).ok_or_else(|| PlotError::Measure {
        name: name.to_owned(),
        known: MEASURES.iter().map(|one| one.name).collect::<Vec<_>>().join(", "),
    })
}
