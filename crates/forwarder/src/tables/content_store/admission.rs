//! Admission of Data to a store, and its notation.

use crate::caching::{Aged, OnPath, ProbCache};
use control::{Duration, Ratio};
use std::fmt::{self, Display};
use std::str::FromStr;
use thiserror::Error;

/// The rule for the admission of Data to a store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Admission {
    /// All of it: leave copy everywhere.
    #[default]
    All,
    /// Each packet with this probability.
    Probability(Ratio),
    /// None: what is there is served until it is replaced.
    None,
    /// By the position between the answering node and the consumer.
    OnPath(OnPath),
}

/// Why a text is not an [`Admission`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdmissionError {
    /// No such rule.
    #[error("`{0}` is not a rule of admission, nor a share")]
    Unknown(String),
    /// The rule has no such parameter.
    #[error("`{rule}` has no parameter `{parameter}`; it has {has}")]
    Parameter {
        /// The rule.
        rule: &'static str,
        /// The given parameter.
        parameter: String,
        /// The parameters that exist.
        has: &'static str,
    },
    /// The parameter cannot have this value.
    #[error("`{parameter}`: {why}")]
    Value {
        /// The parameter.
        parameter: String,
        /// Why.
        why: String,
    },
}

impl Admission {
    /// The words that name a rule.
    pub const WORDS: [&str; 9] =
        ["all", "lce", "none", "lcd", "mcd", "probcache", "edge", "age", "1 %"];

    /// The rule that needs to know the way, if it is one.
    #[must_use]
    pub fn on_path(self) -> Option<OnPath> {
        match self {
            Admission::OnPath(rule) => Some(rule),
            _ => None,
        }
    }
}

impl FromStr for Admission {
    type Err = AdmissionError;

    /// `all` (or `lce`), `none`, a share, `lcd`, `mcd`, `edge`, `probcache`, `age`; the last two
    /// may have parameters: `probcache:window=10,power=true`, `age:base=10 s,factor=2,most=5 min`.
    fn from_str(text: &str) -> Result<Admission, AdmissionError> {
        let (word, parameters) = text.split_once(':').unwrap_or((text, ""));
        match word.trim() {
            "all" => plain("all", parameters, Admission::All),
            "lce" => plain("lce", parameters, Admission::All),
            "none" => plain("none", parameters, Admission::None),
            "lcd" => plain("lcd", parameters, Admission::OnPath(OnPath::LeaveCopyDown)),
            "mcd" => plain("mcd", parameters, Admission::OnPath(OnPath::MoveCopyDown)),
            "edge" => plain("edge", parameters, Admission::OnPath(OnPath::Edge)),
            "probcache" => prob_cache(parameters),
            "age" => aged(parameters),
            _ => match text.parse::<Ratio>() {
                Ok(share) => Ok(Admission::Probability(share)),
                Err(_) => Err(AdmissionError::Unknown(word.trim().to_owned())),
            },
        }
    }
}

/// One parameter of a rule, as text.
#[derive(Clone, Copy)]
struct Given<'a> {
    parameter: &'a str,
    text: &'a str,
}

/// The parameters in `a=1,b=2`.
fn given(parameters: &str) -> impl Iterator<Item = Given<'_>> {
    let parts = parameters.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| {
        let (parameter, text) = part.split_once('=').unwrap_or((part, ""));
        Given { parameter: parameter.trim(), text: text.trim() }
    })
}

/// A rule without parameters.
fn plain(
    rule: &'static str,
    parameters: &str,
    admission: Admission,
) -> Result<Admission, AdmissionError> {
    match given(parameters).next() {
        Some(given) => {
            let (parameter, has) = (given.parameter.to_owned(), "none");
            Err(AdmissionError::Parameter { rule, parameter, has })
        }
        None => Ok(admission),
    }
}

fn value<T: FromStr<Err: Display>>(
    given: Given<'_>,
    is_good: impl Fn(&T) -> bool,
    wanted: &str,
) -> Result<T, AdmissionError> {
    let Given { parameter, text } = given;
    let wrong = |why| AdmissionError::Value { parameter: parameter.to_owned(), why };
    let value = text.parse::<T>().map_err(|e| wrong(e.to_string()))?;
    if is_good(&value) { Ok(value) } else { Err(wrong(format!("`{text}` is not {wanted}"))) }
}

fn span(given: Given<'_>) -> Result<Duration, AdmissionError> {
    value(given, |span: &Duration| *span > Duration::ZERO, "longer than no time")
}

fn prob_cache(parameters: &str) -> Result<Admission, AdmissionError> {
    let mut rule = ProbCache::default();
    for one in given(parameters) {
        match one.parameter {
            "window" => {
                rule.window = value(one, |n: &f64| *n > 0.0 && n.is_finite(), "greater than zero")?;
            }
            "power" => rule.power = value(one, |_: &bool| true, "")?,
            other => {
                let (parameter, has) = (other.to_owned(), "`window` and `power`");
                return Err(AdmissionError::Parameter { rule: "probcache", parameter, has });
            }
        }
    }
    Ok(Admission::OnPath(OnPath::ProbCache(rule)))
}

fn aged(parameters: &str) -> Result<Admission, AdmissionError> {
    let mut rule = Aged::default();
    for one in given(parameters) {
        match one.parameter {
            "base" => rule.base = span(one)?,
            "most" => rule.most = span(one)?,
            "factor" => {
                rule.factor = value(one, |n: &f64| *n >= 1.0 && n.is_finite(), "1 or more")?;
            }
            other => {
                let (parameter, has) = (other.to_owned(), "`base`, `factor` and `most`");
                return Err(AdmissionError::Parameter { rule: "age", parameter, has });
            }
        }
    }
    Ok(Admission::OnPath(OnPath::Aged(rule)))
}

impl Display for Admission {
    /// As [`Admission::from_str`] reads it, without parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Admission::All => f.pad("all"),
            Admission::None => f.pad("none"),
            Admission::Probability(share) => share.fmt(f),
            Admission::OnPath(OnPath::LeaveCopyDown) => f.pad("lcd"),
            Admission::OnPath(OnPath::MoveCopyDown) => f.pad("mcd"),
            Admission::OnPath(OnPath::Edge) => f.pad("edge"),
            Admission::OnPath(OnPath::ProbCache(_)) => f.pad("probcache"),
            Admission::OnPath(OnPath::Aged(_)) => f.pad("age"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_rule() {
        for word in Admission::WORDS {
            let read: Admission = word.parse().unwrap();
            let again = if word == "lce" { "all".to_owned() } else { read.to_string() };
            assert_eq!(again.parse::<Admission>(), Ok(read), "{word}");
        }
    }

    #[test]
    fn parameters_are_read_and_checked() {
        let rule = |text: &str| text.parse::<Admission>();
        let prob = ProbCache { window: 5.0, power: true };
        assert_eq!(
            rule("probcache:window=5, power=true"),
            Ok(Admission::OnPath(OnPath::ProbCache(prob)))
        );
        let s = Duration::from_secs;
        let aged = Aged { base: s(3), factor: 1.5, most: s(60) };
        let given = rule("age:base=3 s,factor=1.5,most=1 min");
        assert_eq!(given, Ok(Admission::OnPath(OnPath::Aged(aged))));
        for (text, expected) in [
            ("lcdd", "`lcdd` is not a rule"),
            ("lcd:p=1", "`lcd` has no parameter `p`"),
            ("probcache:win=5", "it has `window` and `power`"),
            ("probcache:window=0", "`0` is not greater than zero"),
            ("age:factor=0.5", "`0.5` is not 1 or more"),
            ("age:base=-1 s", "negative"),
            ("120 %", "is not a rule"),
        ] {
            let error = rule(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
