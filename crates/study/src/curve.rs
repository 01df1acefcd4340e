//! A measure against a swept field.

use crate::judge::Values;
use crate::model::Experiment;
use crate::outcome::Series;

/// A line for each combination of what else is swept, called so; its points are the cases.
pub fn curves(
    experiment: &Experiment,
    cases: &[usize],
    (measure, key): (usize, &str),
    values: &Values,
) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for case in cases.iter().copied() {
        let settings = &experiment.cases[case].settings;
        let at = settings.iter().find(|(known, _)| known == key).and_then(|(_, v)| number(v));
        let (Some(x), Some(mean)) = (at, values.mean(measure, case)) else { continue };
        let rest = settings.iter().filter(|(known, _)| known != key).map(|(_, v)| v.as_str());
        let entity = rest.collect::<Vec<_>>().join(", ");
        let place = lines.iter().position(|line| line.entity == entity);
        let place = place.unwrap_or_else(|| {
            lines.push(Series { case, entity, ..Series::default() });
            lines.len() - 1
        });
        lines[place].points.push((x, mean.mean));
        lines[place].ci95.push(mean.ci95);
    }
    lines
}

/// The number that a value begins with: 160 for `160 /s`.
pub fn number(value: &str) -> Option<f64> {
    value.split_whitespace().next()?.trim_end_matches('%').parse().ok()
}

/// The unit of a value: `/s` of `160 /s`; empty for a bare number.
pub fn unit(value: &str) -> &str {
    value.trim().split_once(' ').map_or("", |(_, unit)| unit)
}
