//! Samples of one thing as a line.

use crate::picture::{Line, flat};
use crate::text::digits;
use crate::track::Track;

type Points = Vec<(f64, f64)>;

/// The drawn samples of a line, and its smoothed values.
pub fn samples(
    track: &Track,
    smooth: &[(f64, f64)],
    most: usize,
    is_crowded: bool,
) -> (Points, Points) {
    // With hardly more samples than buckets, no smoothing is necessary.
    let is_smoothed = track.count > 2 * smooth.len() as u64;
    let raw = match is_smoothed && is_crowded {
        false => thinned(&track.points(), most.max(300)),
        true => Vec::new(),
    };
    (raw, if is_smoothed { smooth.to_vec() } else { Vec::new() })
}

/// A line over the `shown` seconds of a picture, from samples in the order of time; with its
/// samples, at most `most`, unless it is among too many others. Its cells are mean, minimum,
/// maximum and last value.
#[must_use]
pub fn over_time(
    points: &[(f64, f64)],
    factor: f64,
    shown: f64,
    most: usize,
    is_crowded: bool,
) -> Line {
    let mut track = Track::new(shown, shown);
    points.iter().for_each(|(time, value)| track.add(*time, *value));
    let (raw, smooth) = samples(&track, &track.smooth(), most, is_crowded);
    let cells = [track.mean(), track.least, track.most, track.last];
    Line {
        raw: flat(&raw, factor),
        smooth: flat(&smooth, factor),
        cells: cells.map(|value| digits(value * factor)).to_vec(),
        ..Line::default()
    }
}

/// Every line of a crowded panel has fewer points.
fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    // Of each stretch the least and the greatest, in their order.
    let stretch = points.len().div_ceil(most / 2);
    let extremes = points.chunks(stretch).flat_map(|chunk| {
        let least = chunk.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let mut pair: Vec<(f64, f64)> = least.into_iter().chain(most).collect();
        pair.sort_by(|a, b| a.0.total_cmp(&b.0));
        pair.dedup();
        pair
    });
    extremes.collect()
}
