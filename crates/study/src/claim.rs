//! A paper's claims, in a form that can be compared with a measurement.

use crate::formula::Formula;
use document::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A claim of a paper.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, unique in the study.
    pub id: String,
    /// Its text.
    pub what: String,
    /// Where in the paper.
    pub place: String,
    /// The statement.
    pub assertion: Assertion,
    /// The reason for the tolerance.
    pub reason: String,
    /// Its origin.
    pub kind: ClaimKind,
    /// The known deviation, if it does not hold.
    pub deviation: Option<Deviation>,
}

/// The origin of a claim, and its weight in the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize, Words)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// A claim of the paper.
    #[default]
    Published,
    /// It holds in any network, or follows from the scenario: a bound, a conservation.
    Check,
    /// A claim of the paper that holds with a chosen value that the paper omits.
    Calibrated,
}

/// A claim with a known deviation.
#[derive(Clone, Debug)]
pub struct Deviation {
    /// The heading of `deviations.md` about it, as a slug.
    pub heading: String,
    /// An experiment shows the cause. Otherwise the cause is unknown.
    pub is_explained: bool,
    /// The earlier result: if this does not hold either, the result has changed.
    pub found: Option<Assertion>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Assertion {
    /// A number.
    Number {
        /// The measured value.
        measured: Box<Formula>,
        /// The published value.
        published: Quantity,
        /// The tolerance between both.
        tolerance: Tolerance,
    },
    /// An order.
    Order {
        /// As it was written.
        text: String,
        /// The terms.
        terms: Vec<Formula>,
        /// The relations between them.
        relations: Vec<Relation>,
        /// The tolerance of about equal terms, as a share of the larger one.
        tolerance: f64,
    },
}

/// The relation of two terms of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first is smaller.
    Less,
    /// The first is larger.
    Greater,
    /// They are about equal.
    About,
}

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// The unit, such as `Mbit/s` or `timeouts`.
    pub unit: String,
}

impl FromStr for Quantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Quantity, String> {
        let (number, unit) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let value: f64 = number.parse().map_err(|_| {
            format!("`{text}` is not a number with its unit, such as \"39.9 Mbit/s\"")
        })?;
        match unit.trim() {
            _ if !value.is_finite() => Err(format!("`{text}` is not finite")),
            "" => Err(format!("{number} of what? Write the unit, such as \"{number} s\"")),
            unit => Ok(Quantity { value, unit: unit.to_owned() }),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.unit)
    }
}

/// The tolerance of a measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// As a share of the published value.
    Share(f64),
    /// In its unit.
    Absolute(f64),
}

impl Tolerance {
    /// Parses `10 %`, which is a share of the published value, or `2 chunks`, which has its unit;
    /// for a published percentage `2 points`.
    ///
    /// # Errors
    /// It is neither; the text lists the valid forms.
    pub fn new(text: &str, published: &Quantity) -> Result<Tolerance, String> {
        let given: Quantity = text.parse()?;
        let unit = if published.unit == "%" { "points" } else { &published.unit };
        match &*given.unit {
            _ if given.value < 0.0 => Err(format!("`{text}` is less than nothing")),
            "%" if published.value == 0.0 => Err(format!(
                "{text} of {published} is nothing; give it in the unit: \"{} {unit}\"",
                given.value
            )),
            "%" => Ok(Tolerance::Share(given.value / 100.0)),
            other if other == unit => Ok(Tolerance::Absolute(given.value)),
            _ => Err(format!(
                "`{text}` is neither in \"%\" of the published value nor in \"{unit}\""
            )),
        }
    }

    /// In the published value's unit.
    #[must_use]
    pub fn allowed(self, published: f64) -> f64 {
        match self {
            Tolerance::Share(share) => share * published.abs(),
            Tolerance::Absolute(value) => value,
        }
    }
}

/// Splits an order into the texts of its terms and their relations.
///
/// # Errors
/// It has only one term.
pub(crate) fn split_order(text: &str) -> Result<(Vec<&str>, Vec<Relation>), String> {
    let (mut terms, mut relations, mut start) = (Vec::new(), Vec::new(), 0);
    for (at, sign) in text.char_indices() {
        let relation = match sign {
            '<' => Relation::Less,
            '>' => Relation::Greater,
            '~' => Relation::About,
            _ => continue,
        };
        terms.push(text[start..at].trim());
        relations.push(relation);
        start = at + 1;
    }
    terms.push(text[start..].trim());
    match relations.is_empty() {
        true => Err("an order has terms with <, > or ~ between them".to_owned()),
        false => Ok((terms, relations)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_value_has_a_unit() {
        let read = |text: &str| text.parse::<Quantity>();
        assert_eq!(read("23.27 chunks"), Ok(Quantity { value: 23.27, unit: "chunks".into() }));
        assert_eq!(read("-66.9 %").unwrap().value, -66.9);
        assert_eq!(read("0 lost packets").unwrap().unit, "lost packets");
        assert!(read("37.5").unwrap_err().contains("37.5 of what"));
        assert!(read("many s").is_err());
        assert!(read("inf s").is_err());
    }

    #[test]
    fn tolerances_are_shares_or_have_the_unit() {
        let of = |text: &str, published: &str| {
            let published: Quantity = published.parse().unwrap();
            Tolerance::new(text, &published).map(|t| t.allowed(published.value))
        };
        assert_eq!(of("10 %", "20 s"), Ok(2.0));
        assert_eq!(of("10 %", "-20 s"), Ok(2.0));
        assert_eq!(of("3 s", "20 s"), Ok(3.0));
        assert_eq!(of("5 points", "85 %"), Ok(5.0));
        assert!(of("3 ms", "20 s").is_err());
        assert!(of("10 %", "0 timeouts").unwrap_err().contains("10 timeouts"));
        assert!(of("-1 s", "20 s").is_err());
    }

    #[test]
    fn orders_fall_into_terms() {
        use Relation::{About, Greater, Less};
        assert_eq!(
            split_order("{a} > 2 * {b} ~ 3"),
            Ok((vec!["{a}", "2 * {b}", "3"], vec![Greater, About]))
        );
        assert_eq!(split_order("{a}<{b}"), Ok((vec!["{a}", "{b}"], vec![Less])));
        assert!(split_order("{a}").is_err());
    }
}
