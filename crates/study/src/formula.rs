//! Arithmetic over the measures of an experiment.

#[cfg_attr(not(feature = "formulas"), path = "formula/no_arithmetic.rs")]
mod arithmetic;

use arithmetic::Arithmetic;
use std::fmt;

/// A term of a formula: a measure and its case, as indices in the experiment's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    measure: usize,
    case: usize,
}

/// A formula such as `{rate.chopcop} / {rate.icp} - 1`.
#[derive(Clone)]
pub struct Formula {
    parsed: Arithmetic,
    /// The terms of its variables, in the order of their values.
    terms: Vec<Term>,
}

impl Formula {
    /// Parses a formula. `measures` and `cases` are the names that it may use.
    ///
    /// # Errors
    /// It is malformed, or has an unknown name; the text gives the details.
    pub fn new(text: &str, measures: &[&str], cases: &[&str]) -> Result<Formula, String> {
        if text.matches('{').count() != text.matches('}').count() {
            return Err("every { needs its }".to_owned());
        }
        let parsed = Arithmetic::read(text)?;
        let terms = parsed.names().iter().map(|name| term(name, measures, cases));
        let terms = terms.collect::<Result<_, _>>()?;
        Ok(Formula { parsed, terms })
    }

    /// Its value; `value` returns that of a measure in a case by their indices. `None` if one of
    /// them has none, or the result is not a number.
    pub fn value(&self, value: impl Fn(usize, usize) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> =
            self.terms.iter().map(|term| value(term.measure, term.case)).collect();
        self.parsed.value(&values?).filter(|value| value.is_finite())
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Formula({})", self.parsed.text())
    }
}

/// `MEASURE.CASE`, or `MEASURE` if there is one case.
fn term(name: &str, measures: &[&str], cases: &[&str]) -> Result<Term, String> {
    // Names of cases may contain a dot, those of measures may not.
    match name.split_once('.') {
        Some((measure, case)) => {
            let measure = find(measures, measure, "measure")?;
            Ok(Term { measure, case: find(cases, case, "case")? })
        }
        None if cases.len() == 1 => Ok(Term { measure: find(measures, name, "measure")?, case: 0 }),
        None => Err(format!("`{name}` is of several cases; write {{{name}.{}}}", cases[0])),
    }
}

/// The place of a word in a list of the measures or the cases.
fn find(list: &[&str], word: &str, what: &str) -> Result<usize, String> {
    let place = list.iter().position(|known| *known == word);
    place.ok_or_else(|| {
        let valid = document::valid_words(word, list.iter().copied());
        format!("there is no {what} `{word}`; {valid}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURES: [&str; 2] = ["rate", "queue-sd"];

    #[test]
    fn formulas_compute() {
        let cases = ["hr-icp", "0.5"];
        let value = |text: &str| {
            let formula = Formula::new(text, &MEASURES, &cases).unwrap();
            // rate.hr-icp 1, rate.0.5 2, queue-sd.hr-icp 11, queue-sd.0.5 12
            formula.value(|measure, case| Some((measure * 10 + case + 1) as f64))
        };
        assert_eq!(value("{queue-sd.0.5} / ({rate.hr-icp} + 2) - 1"), Some(3.0));
        assert_eq!(value("100 * {rate.0.5}"), Some(200.0));
        assert_eq!(value("1 / ({rate.hr-icp} - 1)"), None, "infinite");
        let alone = Formula::new("{rate} * 2", &MEASURES, &["all"]).unwrap();
        assert_eq!(alone.value(|_, _| Some(4.0)), Some(8.0));
        assert_eq!(alone.value(|_, _| None), None);
    }

    #[test]
    fn unknown_measures_and_cases_are_reported() {
        let cases = ["aimd", "cubic"];
        let why = |text: &str| Formula::new(text, &MEASURES, &cases).unwrap_err();
        assert!(why("{rate.cubik}").contains("did you mean `cubic`"), "{}", why("{rate.cubik}"));
        assert!(why("{rates.cubic}").contains("`rate`"), "{}", why("{rates.cubic}"));
        assert_eq!(why("{rate}"), "`rate` is of several cases; write {rate.aimd}");
        assert_eq!(why("{rate.aimd"), "every { needs its }");
        assert!(why("{rate.aimd} {rate.cubic}").starts_with("no formula"));
    }
}
