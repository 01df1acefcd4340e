//! Values inside of tables and lists.

use document::{Section, shown, text, valid_words};
use std::fmt::Display;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value as `convert` understands it; otherwise a mistake, where it stands.
pub fn from<T>(
    s: &Section<'_>,
    field: &str,
    value: &Spanned<DeValue<'_>>,
    convert: impl Fn(&DeValue<'_>) -> Result<T, String>,
) -> Option<T> {
    let wrong = |why| s.doc.mistake(value.span(), format!("`{field}`: {why}"));
    convert(value.get_ref()).map_err(wrong).ok()
}

/// A quantity with its unit.
pub fn quantity<T: FromStr<Err: Display>>(value: &DeValue<'_>) -> Result<T, String> {
    text(value)?.parse().map_err(|e: T::Err| e.to_string())
}

/// A number, whole or not.
fn number(value: &DeValue<'_>) -> Result<f64, String> {
    let given = match value {
        DeValue::Float(n) => n.as_str(),
        DeValue::Integer(n) => n.as_str(),
        other => return Err(format!("it is a number, not {}", shown(other))),
    };
    let number: Result<f64, _> = given.replace('_', "").parse();
    number.ok().filter(|n| n.is_finite()).ok_or_else(|| format!("`{given}` is not a finite number"))
}

/// A number that is not negative.
pub fn not_negative(value: &DeValue<'_>) -> Result<f64, String> {
    match number(value)? {
        n if n < 0.0 => Err(format!("{} is negative; it is a number from 0 on", shown(value))),
        n if n > 1e9 => Err(format!("{} is larger than any that makes sense", shown(value))),
        n => Ok(n),
    }
}

/// A number greater than zero.
pub fn positive(value: &DeValue<'_>) -> Result<f64, String> {
    match number(value)? {
        n if n > 0.0 && n < 1e9 => Ok(n),
        _ => Err(format!("it is greater than zero, not {}", shown(value))),
    }
}

/// The fields of a table, which may be these.
pub fn table_fields<'d>(
    s: &Section<'_>,
    field: &str,
    value: &'d Spanned<DeValue<'d>>,
    fields: &[&str],
) -> Option<&'d DeTable<'d>> {
    let Some(table) = value.get_ref().as_table() else {
        let given = shown(value.get_ref());
        let form = format!("it is a table with `{}`, not {given}", fields.join("`, `"));
        s.doc.mistake(value.span(), format!("`{field}`: {form}"));
        return None;
    };
    let unknown = table.keys().find(|key| !fields.contains(&key.get_ref().as_ref()));
    if let Some(key) = unknown {
        let word = key.get_ref();
        let valid = valid_words(word, fields.iter().copied());
        s.doc.mistake(key.span(), format!("`{field}` has no field `{word}`; {valid}"));
        return None;
    }
    Some(table)
}
