//! Choices as text, read and written.

use crate::choice::{Choice, ChoiceError};
use crate::instance;
use control::{Params, Scheme};
use std::fmt;
use std::str::FromStr;

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Choice, ChoiceError> {
        if text.trim_start().starts_with('/') {
            return instance::read(text.trim());
        }
        if let Some((startup, rest)) = at_plus(text) {
            let mut choice: Choice = rest.parse()?;
            choice.begin_with(&startup.parse()?)?;
            return Ok(choice);
        }
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut choice = Choice::named(name)?;
        for assignment in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = assignment.split_once('=') else {
                let row = choice.scheme().params.first();
                return Err(ChoiceError::NotAnAssignment {
                    scheme: choice.scheme().name,
                    text: assignment.to_owned(),
                    example: row.map_or_else(String::new, |row| {
                        format!("{}:{}={}", choice.scheme().name, row.name, row.default)
                    }),
                });
            };
            choice.set(name.trim(), value.trim())?;
        }
        Ok(choice)
    }
}

impl fmt::Display for Choice {
    /// With the parameters that are not the defaults.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((scheme, params)) = self.wrapper() {
            write!(f, "{}+", one(scheme, params))?;
        }
        f.write_str(&one(self.scheme(), self.params()))
    }
}

fn one(scheme: &Scheme, params: &Params) -> String {
    let other = params.rows().filter(|(row, value)| row.default != *value);
    let set: Vec<String> = other.map(|(row, value)| format!("{}={value}", row.name)).collect();
    match set.is_empty() {
        true => scheme.name.to_owned(),
        false => format!("{}:{}", scheme.name, set.join(",")),
    }
}

/// The text before and behind the first plus sign that a name follows. One before a digit belongs
/// to a number.
fn at_plus(text: &str) -> Option<(&str, &str)> {
    for (at, _) in text.match_indices('+') {
        let rest = &text[at + 1..];
        if rest.trim_start().starts_with(char::is_alphabetic) {
            return Some((&text[..at], rest));
        }
    }
    None
}
