//! The claims of an experiment.

use super::{Reading, raw};
use crate::claim::{Assertion, Claim, Quantity, Relation, Tolerance, split_order};
use crate::formula::Formula;
use toml::Spanned;

/// Reads them. Formulas may use these measures and cases.
pub fn read(
    reading: &Reading<'_>,
    claims: &[Spanned<raw::Claim>],
    measures: &[&str],
    cases: &[&str],
) -> Vec<Claim> {
    let one = |claim: &Spanned<raw::Claim>| {
        let raw = claim.get_ref();
        let assertion = match (&raw.order, &raw.measured, &raw.published) {
            (Some(order), None, None) => self::order(reading, raw, order, measures, cases),
            (None, Some(measured), Some(published)) => {
                number(reading, raw, (measured, published), measures, cases)
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
        if let Some(named) = &raw.explained
            && !reading.headings.contains(named.get_ref())
        {
            let valid =
                document::valid_words(named.get_ref(), reading.headings.iter().map(String::as_str));
            let why = format!("deviations.md has no heading `{}`; {valid}", named.get_ref());
            reading.doc.mistake(named.span(), why);
        }
        Some(Claim {
            id: raw.id.get_ref().clone(),
            what: raw.what.clone(),
            place: raw.place.clone(),
            assertion: assertion?,
            reason: raw.reason.clone(),
            explained: raw.explained.as_ref().map(|named| named.get_ref().clone()),
        })
    };
    claims.iter().filter_map(one).collect()
}

/// Tells what went wrong at its place.
fn told<T>(reading: &Reading<'_>, at: &Spanned<String>, result: Result<T, String>) -> Option<T> {
    result.map_err(|why| reading.doc.mistake(at.span(), why)).ok()
}

fn number(
    reading: &Reading<'_>,
    raw: &raw::Claim,
    (measured, published): (&Spanned<String>, &Spanned<String>),
    measures: &[&str],
    cases: &[&str],
) -> Option<Assertion> {
    let formula = told(reading, measured, Formula::new(measured.get_ref(), measures, cases));
    let published: Option<Quantity> = told(reading, published, published.get_ref().parse());
    let id = raw.id.get_ref();
    let Some(given) = &raw.tolerance else {
        let why = format!("claim `{id}` has no `tolerance`, such as \"10 %\"");
        reading.doc.mistake(raw.id.span(), why);
        return None;
    };
    if raw.reason.trim().is_empty() {
        reading.doc.mistake(given.span(), "why so much? `reason` says it");
    }
    let published = published?;
    let tolerance = told(reading, given, Tolerance::new(given.get_ref(), &published))?;
    Some(Assertion::Number { measured: Box::new(formula?), published, tolerance })
}

fn order(
    reading: &Reading<'_>,
    raw: &raw::Claim,
    order: &Spanned<String>,
    measures: &[&str],
    cases: &[&str],
) -> Option<Assertion> {
    let (terms, relations) = told(reading, order, split_order(order.get_ref()))?;
    let terms: Option<Vec<Formula>> = terms
        .into_iter()
        .map(|term| told(reading, order, Formula::new(term, measures, cases)))
        .collect();
    let is_loose = relations.contains(&Relation::About);
    let tolerance = match (&raw.tolerance, is_loose) {
        (Some(given), true) => {
            let share = given.get_ref().parse::<Quantity>().ok().filter(|q| q.unit == "%");
            let why = || "what counts as equal is a share, such as \"5 %\"".to_owned();
            told(reading, given, share.map(|q| q.value / 100.0).ok_or_else(why))?
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
