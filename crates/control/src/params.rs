//! Parameter tables: one row per parameter, beside the algorithm. Command line, configuration,
//! reference manual and all other places read these rows.

use crate::policy::Policy;
use crate::quantity::{Rate, Size};
use crate::time::Duration;
use crate::unit::QuantityError;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// A parameter's value; the variant is its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A bare number.
    Number(f64),
    /// A span of time.
    Time(Duration),
    /// A rate.
    Rate(Rate),
    /// A size.
    Size(Size),
    /// On or off.
    Switch(bool),
    /// One of several words.
    Word(Word),
    /// A file with a policy, by its path; `none` is no file. A program reads it, see
    /// [`Params::with_policy`].
    File(&'static str),
}

/// The path of no file.
pub const NO_FILE: &str = "none";

/// The longest path of a file, as for the system's calls.
const MAX_PATH: usize = 4096;

/// The paths that values have. They stay in memory: values are copied and compared by the thousand,
/// and a program reads few files.
static PATHS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A path, written as in `scheme:file=PATH`, where a comma ends it.
fn path(text: &str) -> Result<&'static str, String> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_PATH {
        return Err(format!("a path has 1 to {MAX_PATH} bytes, and this has {}", text.len()));
    }
    if let Some(bad) = text.chars().find(|c| *c == ',' || c.is_control()) {
        return Err(format!("a path with {bad:?} cannot be written here; rename or link the file"));
    }
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = paths.get(text) {
        return Ok(known);
    }
    let kept: &'static str = Box::leak(text.into());
    paths.insert(kept);
    Ok(kept)
}

/// A word of a list. The list is a function, so that it may depend on the registry, which contains
/// the table with this word.
#[derive(Clone, Copy)]
pub struct Word {
    /// The word.
    pub text: &'static str,
    /// The list that it is from.
    pub of: fn() -> Vec<&'static str>,
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// One parameter of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// Its name, in the paper's symbols if they can be typed.
    pub name: &'static str,
    /// The default; its variant fixes the unit.
    pub default: Value,
    /// Smallest and largest value, in the unit's base (s, bit/s, bytes); unused for a switch, a
    /// word or a file.
    pub range: (f64, f64),
    /// Its effect, in one sentence.
    pub help: &'static str,
    /// Its place in the paper ("eq. 4", "section IV"), or the reason for it.
    pub source: &'static str,
}

/// Joins the tables of several parts (rows of parameters, or equations) for a scheme with all of
/// them; the first has a row. `N` is the sum of their lengths. The conformance suite checks that
/// names are unique.
#[must_use]
pub const fn joined<T: Copy, const N: usize>(tables: &[&[T]]) -> [T; N] {
    let mut all = [tables[0][0]; N];
    let (mut table, mut at) = (0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            all[at] = tables[table][row];
            (at, row) = (at + 1, row + 1);
        }
        table += 1;
    }
    assert!(at == N, "N is the sum of the tables' lengths");
    all
}

/// The reason why parameters were rejected.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParamError {
    /// No parameter has this name.
    #[error("`{scheme}` has no parameter `{name}`; it has {valid}")]
    Unknown {
        /// The scheme.
        scheme: String,
        /// The name given.
        name: String,
        /// The names that exist.
        valid: String,
    },
    /// The text is not a value of the parameter's unit.
    #[error("parameter `{name}`: {why}")]
    Malformed {
        /// The parameter.
        name: &'static str,
        /// The fault.
        why: String,
    },
    /// The value is outside the range.
    #[error("parameter `{name}` = {value} is out of range; it may be {low} to {high}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: Value,
        /// The smallest value allowed.
        low: f64,
        /// The largest value allowed.
        high: f64,
    },
}

impl Value {
    /// The value in the unit's base: seconds, bits per second, bytes, 0 or 1, the index of a word
    /// in its list, 0 for a file.
    #[must_use]
    pub fn base(self) -> f64 {
        match self {
            Value::Number(v) => v,
            Value::Time(d) => d.as_secs_f64(),
            Value::Rate(r) => r.0 as f64,
            Value::Size(s) => s.0 as f64,
            Value::Switch(on) => f64::from(u8::from(on)),
            Value::Word(word) => {
                (word.of)().iter().position(|text| *text == word.text).unwrap_or(0) as f64
            }
            Value::File(_) => 0.0,
        }
    }

    /// Reads `text` as a value of the same unit.
    fn parse_like(self, text: &str) -> Result<Value, String> {
        match self {
            Value::Number(_) => match text.trim().parse::<f64>() {
                Ok(v) if v.is_finite() => Ok(Value::Number(v)),
                _ => Err(format!("`{text}` is not a number")),
            },
            Value::Time(_) => {
                text.parse().map(Value::Time).map_err(|error: QuantityError| error.to_string())
            }
            Value::Rate(_) => {
                text.parse().map(Value::Rate).map_err(|error: QuantityError| error.to_string())
            }
            Value::Size(_) => {
                text.parse().map(Value::Size).map_err(|error: QuantityError| error.to_string())
            }
            Value::Switch(_) => match text.trim() {
                "true" | "on" | "yes" => Ok(Value::Switch(true)),
                "false" | "off" | "no" => Ok(Value::Switch(false)),
                _ => Err(format!("`{text}` is neither `true` nor `false`")),
            },
            Value::Word(word) => {
                let words = (word.of)();
                match words.iter().find(|word| **word == text.trim()) {
                    Some(&text) => Ok(Value::Word(Word { text, ..word })),
                    None => Err(format!("`{text}` is not one of {}", words.join(", "))),
                }
            }
            Value::File(_) => path(text).map(Value::File),
        }
    }
}

/// The usual text of a quantity, if it can be parsed back to the same value.
fn exact<T: fmt::Display + FromStr + PartialEq>(
    f: &mut fmt::Formatter<'_>,
    value: &T,
    in_full: impl FnOnce() -> String,
) -> fmt::Result {
    let text = value.to_string();
    if text.parse().is_ok_and(|read: T| read == *value) {
        f.write_str(&text)
    } else {
        f.write_str(&in_full())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(v) => v.fmt(f),
            Value::Time(d) => exact(f, d, || format!("{} ns", d.0)),
            Value::Rate(r) => exact(f, r, || format!("{} bit/s", r.0)),
            Value::Size(s) => exact(f, s, || format!("{} B", s.0)),
            Value::Switch(on) => on.fmt(f),
            Value::Word(word) => f.write_str(word.text),
            Value::File(path) => f.write_str(path),
        }
    }
}

/// Values for every row of a table, checked.
#[derive(Clone, Debug)]
pub struct Params {
    table: &'static [ParamSpec],
    values: Vec<Value>,
    key: u64,
    policy: Option<Arc<dyn Policy>>,
}

impl PartialEq for Params {
    /// Tables are constants: equal values under equal names are of one table.
    fn eq(&self, other: &Params) -> bool {
        let names = self.table.iter().map(|row| row.name);
        let is_table = names.eq(other.table.iter().map(|row| row.name));
        is_table && self.key == other.key && self.values == other.values
    }
}

impl Params {
    /// All defaults.
    #[must_use]
    pub fn defaults(table: &'static [ParamSpec]) -> Params {
        Params {
            table,
            values: table.iter().map(|row| row.default).collect(),
            key: 0,
            policy: None,
        }
    }

    /// The same with the policy that a program has read from the file that a value names.
    #[must_use]
    pub fn with_policy(self, policy: Arc<dyn Policy>) -> Params {
        Params { policy: Some(policy), ..self }
    }

    /// The policy of [`Params::with_policy`].
    #[must_use]
    pub fn policy(&self) -> Option<&Arc<dyn Policy>> {
        self.policy.as_ref()
    }

    /// The parameter that names a file, and its path.
    #[must_use]
    pub fn file(&self) -> Option<(&'static str, &'static str)> {
        self.rows().find_map(|(row, value)| match value {
            Value::File(path) if path != NO_FILE => Some((row.name, path)),
            _ => None,
        })
    }

    /// The same for the scheme with this [key](crate::Scheme::key).
    #[must_use]
    pub fn with_key(self, key: u64) -> Params {
        Params { key, ..self }
    }

    /// The [key](crate::Scheme::key) of the scheme.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Sets one parameter from text; `scheme` is for the message.
    ///
    /// # Errors
    /// Unknown name, malformed text, or a value out of range; nothing is changed then.
    pub fn set(&mut self, scheme: &str, name: &str, text: &str) -> Result<(), ParamError> {
        let Some(i) = self.table.iter().position(|row| row.name == name) else {
            let names: Vec<_> = self.table.iter().map(|row| format!("`{}`", row.name)).collect();
            let valid = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let (scheme, name) = (scheme.to_owned(), name.to_owned());
            return Err(ParamError::Unknown { scheme, name, valid });
        };
        let row = &self.table[i];
        let value = row
            .default
            .parse_like(text)
            .map_err(|why| ParamError::Malformed { name: row.name, why })?;
        let (low, high) = row.range;
        let bounded = !matches!(value, Value::Switch(_) | Value::Word(_) | Value::File(_));
        if bounded && !(low..=high).contains(&value.base()) {
            return Err(ParamError::OutOfRange { name: row.name, value, low, high });
        }
        if matches!(value, Value::File(_)) && value != self.values[i] {
            // The policy is that of another file.
            self.policy = None;
        }
        self.values[i] = value;
        Ok(())
    }

    /// The value of a parameter of the scheme's own table.
    ///
    /// # Panics
    /// If the table has no such row: a mistake in the scheme's file, which its first test finds.
    #[must_use]
    pub fn get(&self, name: &str) -> Value {
        let i = self.table.iter().position(|row| row.name == name);
        self.values[i.unwrap_or_else(|| panic!("the scheme's table has no row `{name}`"))]
    }

    /// [`Params::get`] as a number in the unit's base (s, bit/s, bytes, 0 or 1).
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).base()
    }

    /// [`Params::get`] as a span of time; zero for another unit.
    #[must_use]
    pub fn time(&self, name: &str) -> Duration {
        match self.get(name) {
            Value::Time(d) => d,
            _ => Duration::ZERO,
        }
    }

    /// [`Params::get`] as a rate; zero for another unit.
    #[must_use]
    pub fn rate(&self, name: &str) -> Rate {
        match self.get(name) {
            Value::Rate(r) => r,
            _ => Rate::default(),
        }
    }

    /// [`Params::get`] as a switch; false for another unit.
    #[must_use]
    pub fn switch(&self, name: &str) -> bool {
        self.get(name) == Value::Switch(true)
    }

    /// [`Params::get`] as a word; empty for another unit.
    #[must_use]
    pub fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            Value::Word(word) => word.text,
            _ => "",
        }
    }

    /// Every row with its value.
    pub fn rows(&self) -> impl Iterator<Item = (&'static ParamSpec, Value)> {
        self.table.iter().zip(self.values.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[ParamSpec] = &[
        ParamSpec {
            name: "beta",
            default: Value::Number(0.5),
            range: (0.1, 0.9),
            help: "factor of the cut",
            source: "test",
        },
        ParamSpec {
            name: "target",
            default: Value::Time(Duration::from_millis(5)),
            range: (0.0, 1.0),
            help: "sojourn time",
            source: "test",
        },
    ];

    #[test]
    fn tables_are_joined_in_their_order() {
        const MORE: &[ParamSpec] = &[ParamSpec { name: "gamma", ..TABLE[0] }];
        const ALL: &[ParamSpec] = &joined::<_, { TABLE.len() + MORE.len() }>(&[MORE, TABLE]);
        assert_eq!(ALL.iter().map(|row| row.name).collect::<Vec<_>>(), ["gamma", "beta", "target"]);
        assert_eq!(Params::defaults(ALL).number("gamma"), 0.5);
    }

    #[test]
    fn printed_values_are_exact() {
        for (bytes, text) in [(64_000, "64.0 kB"), (65_536, "65536 B")] {
            assert_eq!(Value::Size(Size(bytes)).to_string(), text);
        }
        assert_eq!(Value::Time(Duration(1_234_567_891)).to_string(), "1234567891 ns");
        assert_eq!(Value::Rate(Rate(1_234_567)).to_string(), "1234567 bit/s");
    }

    #[test]
    fn a_word_is_one_of_its_list() {
        const WORDS: &[ParamSpec] = &[ParamSpec {
            name: "law",
            default: Value::Word(Word { text: "bic", of: || vec!["aimd", "bic"] }),
            ..TABLE[0]
        }];
        let mut p = Params::defaults(WORDS);
        assert_eq!((p.word("law"), p.number("law")), ("bic", 1.0));
        p.set("x", "law", "aimd").unwrap();
        assert_eq!((p.word("law"), p.get("law").to_string()), ("aimd", "aimd".to_owned()));
        let wrong = p.set("x", "law", "cubist").unwrap_err().to_string();
        assert!(wrong.contains("`cubist` is not one of aimd, bic"), "{wrong}");
    }

    #[test]
    fn text_is_checked_against_unit_and_range() {
        let mut p = Params::defaults(TABLE);
        p.set("x", "beta", "0.7").unwrap();
        p.set("x", "target", "20 ms").unwrap();
        assert_eq!((p.number("beta"), p.time("target")), (0.7, Duration::from_millis(20)));
        let wrong = |p: &mut Params, n, t| p.set("x", n, t).unwrap_err().to_string();
        assert!(wrong(&mut p, "bta", "1").contains("`beta`, `target`"));
        assert!(wrong(&mut p, "beta", "2").contains("0.1 to 0.9"));
        assert!(wrong(&mut p, "beta", "inf").contains("not a number"));
        assert!(wrong(&mut p, "target", "20").contains("20"));
        assert_eq!(p.number("beta"), 0.7, "a rejected value changes nothing");
    }
}
