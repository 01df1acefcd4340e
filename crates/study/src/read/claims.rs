//! The claims of an experiment.

use super::raw;
use super::reading::Reading;
use crate::claim::{Assertion, Claim, Deviation, Quantity, Relation, Tolerance, split_order};
use crate::formula::Formula;
use toml::Spanned;

/// Reads them. Formulas may use these measures and cases.
pub fn read(
    reading: &Reading<'_>,
    claims: &[Spanned<raw::Claim>],
    measures: &[&str],
    cases: &[&str],
) -> Vec<Claim> {
    let mut read = Vec::new();
    for claim in claims {
        let raw = claim.get_ref();
        let assertion = match (&raw.order, &raw.measured, &raw.published) {
            (Some(order), None, None) => self::order(reading, raw, order, measures, cases),
            (None, Some(measured), Some(published)) => {
                number(reading, raw, measured, published, measures, cases)
            }
            _ => {
                let why = format!(
                    "claim `{}` has either `order`, or `measured` and `published`",
                    raw.id.get_ref()
                );
                reading.doc.mistake(raw.id.span(), why);
                None
            }
        };
        let Some(assertion) = assertion else { continue };
        read.push(Claim {
            id: raw.id.get_ref().clone(),
            what: raw.what.clone(),
            place: raw.place.clone(),
            deviation: deviation(reading, raw, &assertion, measures, cases),
            assertion,
            reason: raw.reason.clone(),
            kind: raw.kind,
        });
    }
    read
}

/// The statement about a claim that does not hold.
fn deviation(
    reading: &Reading<'_>,
    raw: &raw::Claim,
    claimed: &Assertion,
    measures: &[&str],
    cases: &[&str],
) -> Option<Deviation> {
    let (named, is_explained) = match (&raw.explained, &raw.off) {
        (Some(named), None) => (named, true),
        (None, Some(named)) => (named, false),
        (None, None) => {
            if let Some(found) = &raw.found {
                let why = "`found` is of a claim that is `explained` or `off`";
                reading.doc.mistake(found.span(), why);
            }
            return None;
        }
        (Some(_), Some(named)) => {
            reading.doc.mistake(named.span(), "a claim is either `explained` or `off`");
            return None;
        }
    };
    let heading = named.get_ref();
    if !reading.headings.contains(heading) {
        let valid = document::valid_words(heading, reading.headings.iter().map(String::as_str));
        let why = format!("deviations.md has no heading `{heading}`; {valid}");
        reading.doc.mistake(named.span(), why);
    } else if is_explained && !reading.shown.contains(heading) {
        let why = format!(
            "no experiment shows `{heading}`: one has to name it as its `deviation`, or the claim \
             is `off`"
        );
        reading.doc.mistake(named.span(), why);
    }
    let found = match (&raw.found, claimed) {
        (None, Assertion::Order { .. }) => None,
        (None, Assertion::Number { published, .. }) => {
            let why = format!("say what was `found`, as \"12 {}\"", published.unit);
            reading.doc.mistake(named.span(), why);
            None
        }
        (Some(found), Assertion::Order { .. }) => order(reading, raw, found, measures, cases),
        (Some(found), Assertion::Number { measured, published, tolerance }) => {
            let value: Option<Quantity> = or_mistake(reading, found, found.get_ref().parse());
            let value = value.filter(|value| value.unit == published.unit);
            if value.is_none() {
                let why = format!("what was found is in \"{}\", too", published.unit);
                reading.doc.mistake(found.span(), why);
            }
            // The permitted distance from the published value.
            let allowed = Tolerance::Absolute(tolerance.allowed(published.value));
            let measured = measured.clone();
            Some(Assertion::Number { measured, published: value?, tolerance: allowed })
        }
    };
    Some(Deviation { heading: heading.clone(), is_explained, found })
}

/// Reports an error at its place.
fn or_mistake<T>(
    reading: &Reading<'_>,
    at: &Spanned<String>,
    result: Result<T, String>,
) -> Option<T> {
    result.map_err(|why| reading.doc.mistake(at.span(), why)).ok()
}

fn number(
    reading: &Reading<'_>,
    raw: &raw::Claim,
    measured: &Spanned<String>,
    published: &Spanned<String>,
    measures: &[&str],
    cases: &[&str],
) -> Option<Assertion> {
    let formula = or_mistake(reading, measured, Formula::new(measured.get_ref(), measures, cases));
    let published: Option<Quantity> = or_mistake(reading, published, published.get_ref().parse());
    let id = raw.id.get_ref();
    let Some(given) = &raw.tolerance else {
        let why = format!("claim `{id}` has no `tolerance`, such as \"10 %\"");
        reading.doc.mistake(raw.id.span(), why);
        return None;
    };
    if raw.reason.trim().is_empty() {
        reading.doc.mistake(given.span(), "a tolerance needs its `reason`");
    }
    let published = published?;
    let tolerance = or_mistake(reading, given, Tolerance::new(given.get_ref(), &published))?;
    Some(Assertion::Number { measured: Box::new(formula?), published, tolerance })
}

fn order(
    reading: &Reading<'_>,
    raw: &raw::Claim,
    order: &Spanned<String>,
    measures: &[&str],
    cases: &[&str],
) -> Option<Assertion> {
    let (terms, relations) = or_mistake(reading, order, split_order(order.get_ref()))?;
    let terms: Option<Vec<Formula>> = terms
        .into_iter()
        .map(|term| or_mistake(reading, order, Formula::new(term, measures, cases)))
        .collect();
    let is_loose = relations.contains(&Relation::About);
    let tolerance = match (&raw.tolerance, is_loose) {
        (Some(given), true) => {
            let share = match given.get_ref().parse::<Quantity>() {
                Ok(share) if share.unit == "%" => Ok(share.value / 100.0),
                _ => Err("what counts as equal is a share, such as \"5 %\"".to_owned()),
            };
            or_mistake(reading, given, share)?
        }
        (None, true) => {
            reading.doc.mistake(order.span(), "with ~ it needs a `tolerance`, such as \"5 %\"");
            return None;
        }
        (Some(given), false) => {
            reading.doc.mistake(given.span(), "only an order with ~ has a tolerance");
            return None;
        }
        (None, false) => 0.0,
    };
    Some(Assertion::Order { text: order.get_ref().clone(), terms: terms?, relations, tolerance })
}
