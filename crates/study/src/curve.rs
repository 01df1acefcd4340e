//! A measure against a swept field.

use crate::judge::Values;
use crate::model::Experiment;
use crate::outcome::Series;

/// A line for each combination of the other swept fields, with this label; its points are the
/// cases.
pub fn curves(
    experiment: &Experiment,
    cases: &[usize],
    measure: usize,
    key: &str,
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
        lines[place].names.push(experiment.cases[case].name.clone());
    }
    lines
}

/// The common beginning of the names of a line's cases; if that is empty, the other swept fields.
pub fn label(line: &Series) -> &str {
    let Some(first) = line.names.first() else { return &line.entity };
    let mut end = first.len();
    for name in &line.names {
        let same = first.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        end = end.min(same.map(|((at, a), _)| at + a.len_utf8()).last().unwrap_or(0));
    }
    // Not within a word: 10k and 15k have no common beginning.
    let ends_word = line
        .names
        .iter()
        .all(|name| name[end..].chars().next().is_none_or(|c| !c.is_alphanumeric()));
    let whole = match ends_word {
        true => &first[..end],
        false => first[..end].trim_end_matches(char::is_alphanumeric),
    };
    match whole.trim_end_matches(|c: char| !c.is_alphanumeric()) {
        "" => &line.entity,
        label => label,
    }
}

/// The number at the beginning of a value: 160 for `160 /s`.
pub fn number(value: &str) -> Option<f64> {
    value.split_whitespace().next()?.trim_end_matches('%').parse().ok()
}

/// The unit of a value: `/s` of `160 /s`; empty for a bare number.
pub fn unit(value: &str) -> &str {
    value.trim().split_once(' ').map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_called_what_its_cases_have_in_common() {
        let line = |names: &[&str]| Series {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            entity: "control".to_owned(),
            ..Series::default()
        };
        assert_eq!(label(&line(&["pp-bic-10k", "pp-bic-15k"])), "pp-bic");
        assert_eq!(label(&line(&["fisp-40", "fisp-140"])), "fisp");
        assert_eq!(label(&line(&["40 /s", "140 /s"])), "control");
    }

    #[test]
    fn values_have_numbers_and_units() {
        assert_eq!((number("160 /s"), unit("160 /s")), (Some(160.0), "/s"));
        assert_eq!((number("2 %"), unit("0.5")), (Some(2.0), ""));
        assert_eq!(number("auto"), None);
    }
}
