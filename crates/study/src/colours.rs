//! The colours of an experiment's cases: one per scheme, with tones if several cases have it.

use crate::model::Case;
use report::{TONES, colour_of_scheme, colour_of_thing, toned};

/// The colour of each case: that of its scheme, each case in another tone. If some have no scheme,
/// or more cases have one than there are tones, the colours follow the cases' numbers.
pub fn colours<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Vec<usize> {
    let cases: Vec<&Case> = cases.into_iter().collect();
    let schemes: Option<Vec<usize>> = cases.iter().map(|case| of_scheme(case)).collect();
    let tones = schemes.and_then(|schemes| in_tones(&schemes));
    tones.unwrap_or_else(|| (0..cases.len()).map(of_number).collect())
}

/// Colours of schemes, each in another tone; `None` if there are too few tones.
fn in_tones(schemes: &[usize]) -> Option<Vec<usize>> {
    let mut colours = Vec::new();
    for (at, scheme) in schemes.iter().enumerate() {
        let before = schemes[..at].iter().filter(|other| *other == scheme).count();
        if before >= TONES {
            return None;
        }
        colours.push(toned(*scheme, before));
    }
    Some(colours)
}

/// The colour of the nth of several things that have no scheme.
pub fn of_number(number: usize) -> usize {
    let around = (0..number).filter(|before| colour_of_thing(*before) == colour_of_thing(number));
    toned(colour_of_thing(number), around.count())
}

fn of_scheme(case: &Case) -> Option<usize> {
    let mut settings = case.settings.iter();
    let scheme = settings.find(|(key, _)| key.ends_with("scheme") || key.ends_with("control"));
    scheme.map(|(_, value)| colour_of_scheme(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn cases(of: &[(&str, &str)]) -> Vec<Case> {
        let case = |(key, value): &(&str, &str)| Case {
            name: format!("{key} {value}"),
            settings: vec![((*key).to_owned(), (*value).to_owned())],
        };
        of.iter().map(case).collect()
    }

    #[test]
    fn cases_of_one_scheme_are_tones_of_its_colour() {
        let cases = cases(&[
            ("control", "cctcp"),
            ("control", "cctcp:anticipated=off"),
            ("scheme", "icp"),
            ("consumer.control", "cubic"),
        ]);
        let found = colours(&cases);
        let [cctcp, icp, cubic] = ["cctcp", "icp", "cubic"].map(colour_of_scheme);
        assert_eq!(found, [cctcp, toned(cctcp, 1), icp, cubic]);
    }

    #[test]
    fn no_two_are_alike_however_many_there_are() {
        for (key, values) in [("control", "cubic:beta="), ("link.loss", "")] {
            let values: Vec<String> = (0..12).map(|n| format!("{values}{n}")).collect();
            let all: Vec<(&str, &str)> = values.iter().map(|value| (key, &**value)).collect();
            let found = colours(&cases(&all));
            assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 12, "{found:?}");
        }
    }
}
