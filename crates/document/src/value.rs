//! Values of fields.

use crate::suggest::valid_words;
use control::{Duration, Ratio};
use packet::Name;
use std::fmt::Display;
use std::str::FromStr;
use toml::Spanned;
use toml::de::DeValue;

/// The value as text.
///
/// # Errors
/// It is something else.
pub fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("it is a text in quotes, not {}", shown(value)))
}

/// A quantity with its unit, in quotes. The message about a bare number shows the unit.
///
/// # Errors
/// It is something else.
pub fn quantity<T: FromStr<Err: Display>>(value: &DeValue<'_>) -> Result<T, String> {
    let bare = match value {
        DeValue::Integer(number) => number.as_str().parse::<T>().err(),
        DeValue::Float(number) => number.as_str().parse::<T>().err(),
        _ => None,
    };
    match (text(value), bare) {
        (Ok(given), _) => given.parse().map_err(|error: T::Err| error.to_string()),
        (Err(why), Some(error)) => Err(format!("{why}; {error}")),
        (Err(why), None) => Err(why),
    }
}

/// The values of a field that takes one text or a list of texts.
///
/// # Errors
/// One of them is no text, or `read` rejects it.
pub fn listed<T>(
    value: &DeValue<'_>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match value {
        DeValue::Array(list) => list.iter().map(|v| read(text(Spanned::get_ref(v))?)).collect(),
        one => Ok(vec![read(text(one)?)?]),
    }
}

/// The value as it may be quoted in a message.
#[must_use]
pub fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(s) => format!("the text \"{s}\""),
        DeValue::Integer(n) => format!("the number {}", n.as_str()),
        DeValue::Float(n) => format!("the number {}", n.as_str()),
        DeValue::Boolean(b) => format!("`{b}`"),
        DeValue::Datetime(d) => format!("the date {d}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A share: `"1 %"`, `"0.01"` or `0.01`.
///
/// # Errors
/// It is none.
pub fn ratio(value: &DeValue<'_>) -> Result<Ratio, String> {
    let given = match value {
        DeValue::Float(n) => n.as_str(),
        DeValue::Integer(n) => n.as_str(),
        other => text(other)?,
    };
    given.parse().map_err(|e| format!("{e}"))
}

/// Whatever is written as a word, with parameters or without, or as a number; `words` are those
/// that there are.
///
/// # Errors
/// It is none of them; the nearest one is in the message.
pub fn spoken<T: FromStr<Err: Display>>(value: &DeValue<'_>, words: &[&str]) -> Result<T, String> {
    let given = match value {
        DeValue::Float(n) => n.as_str(),
        DeValue::Integer(n) => n.as_str(),
        other => text(other)?,
    };
    given.parse().map_err(|why: T::Err| {
        let word = given.split_once(':').map_or(given, |(word, _)| word);
        match words.contains(&word) {
            true => why.to_string(),
            false => format!("{why}; {}", valid_words(word, words.iter().copied())),
        }
    })
}

/// A time that is at least a millisecond: with less, nothing would ever be in time.
///
/// # Errors
/// It is none, or shorter.
pub fn lasting(value: &DeValue<'_>) -> Result<Duration, String> {
    match quantity::<Duration>(value)? {
        span if span < Duration::from_millis(1) => {
            Err(format!("{span} is too short; give \"1 ms\" or more"))
        }
        span => Ok(span),
    }
}

/// An NDN name.
///
/// # Errors
/// It is none.
pub fn name(value: &DeValue<'_>) -> Result<Name, String> {
    let given = text(value)?;
    given.parse().map_err(|e| format!("`{given}` is not a name: {e}"))
}

/// An enum whose variants are words. Derived.
pub trait Words: Copy + 'static {
    /// The words, in the order of [`Words::ALL`].
    const WORDS: &'static [&'static str];
    /// The variants.
    const ALL: &'static [Self];

    /// The word of a variant.
    fn word(self) -> &'static str;
}

/// One of the words of an enum.
///
/// # Errors
/// It is none of them; the nearest one is in the message.
pub fn word<T: Words>(value: &DeValue<'_>) -> Result<T, String> {
    let given = text(value)?;
    let place = T::WORDS.iter().position(|word| *word == given);
    place.and_then(|place| T::ALL.get(place).copied()).ok_or_else(|| {
        format!("`{given}` is not known; {}", valid_words(given, T::WORDS.iter().copied()))
    })
}
