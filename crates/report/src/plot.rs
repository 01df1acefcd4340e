//! Pictures of sweeps: a measure over a swept field, and points of two measures.

mod error;
mod finding;
mod lines;
mod request;
mod scatter;
mod sweep;
mod table;
#[cfg(test)]
mod tests;

pub use error::PlotError;
pub use request::{Log, Request};

use crate::picture::Picture;
use crate::results::Results;
use std::path::PathBuf;
use table::Table;

/// The picture of the results in these folders.
///
/// # Errors
/// A folder has no results, the request names a missing field or measure, or the picture would
/// be empty.
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
