//! Numbers with a unit as text: one way to parse and print all quantities.

use std::fmt;
use thiserror::Error;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a {what}: {why}; write it like {example}")]
pub struct QuantityError {
    /// The offending text.
    pub text: String,
    /// The kind of quantity that was wanted.
    pub what: &'static str,
    /// The fault of the text.
    pub why: &'static str,
    /// Valid forms.
    pub example: &'static str,
}

/// Parses a number followed by one of `units`. Every quantity uses it, so all accept the same forms
/// and give the same errors.
pub(crate) fn parse_with_unit(
    text: &str,
    what: &'static str,
    example: &'static str,
    units: &[(&str, f64)],
) -> Result<f64, QuantityError> {
    read_with_unit(text, units).map_err(|why| QuantityError {
        text: text.to_owned(),
        what,
        why,
        example,
    })
}

fn read_with_unit(text: &str, units: &[(&str, f64)]) -> Result<f64, &'static str> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')))
        .ok_or("the unit is missing")?;
    let (number, unit) = text.split_at(split);
    let number: f64 =
        number.replace('_', "").parse().map_err(|_| "the number is missing or malformed")?;
    let unit = unit.trim();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or("the unit is unknown")?;
    let value = number * factor;
    if value < 0.0 {
        return Err("it is negative");
    }
    if value >= u64::MAX as f64 {
        return Err("it is too large");
    }
    Ok(value)
}

/// Writes three significant digits and the unit, as all of Weir's output does.
pub(crate) fn write_three_digits(
    f: &mut fmt::Formatter<'_>,
    value: f64,
    unit: &str,
) -> fmt::Result {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = if value.fract() == 0.0 && value < 10.0 && matches!(unit, "B" | "ns" | "bit/s") {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.decimals$} {unit}")
    };
    f.pad(&text)
}
