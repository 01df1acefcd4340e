//! Values of fields that have a form of their own, and values inside of tables and lists.

use crate::model::{Share, Warmup};
use control::{Duration, Rate, Size};
use document::{Section, Value, name, shown, text, valid_words};
use packet::Name;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value as `convert` understands it; otherwise a mistake, where it stands.
pub fn from<T>(
    s: &Section<'_>,
    field: &str,
    value: &Spanned<DeValue<'_>>,
    convert: impl Fn(&DeValue<'_>) -> Result<T, String>,
) -> Option<T> {
    convert(value.get_ref())
        .map_err(|why| s.doc.mistake(value.span(), format!("`{field}`: {why}")))
        .ok()
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
        n if n > 1e9 => Err(format!("{} is unreasonably large", shown(value))),
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

/// `"140 /s"`
pub fn per_second(value: &DeValue<'_>) -> Result<f64, String> {
    const EXAMPLE: &str = "write it like \"140 /s\"";
    let given = text(value)?;
    let number = given.trim().strip_suffix("/s").ok_or_else(|| {
        format!("`{given}` is not a number a second: the unit is missing or unknown; {EXAMPLE}")
    })?;
    match number.trim().replace('_', "").parse::<f64>() {
        Ok(n) if n > 0.0 && n <= 1e9 => Ok(n),
        Ok(0.0) => Err("at a rate of zero nothing is requested".to_owned()),
        Ok(_) => Err(format!("`{given}` is not between 0 and 1000000000 /s")),
        Err(_) => Err(format!("`{given}` is not a number a second; {EXAMPLE}")),
    }
}

/// A rate greater than zero.
pub fn rate(value: &DeValue<'_>) -> Result<Rate, String> {
    match Rate::read(value)? {
        Rate(0) => Err("a rate of zero lets nothing pass; write it like \"10 Mbit/s\"".to_owned()),
        rate => Ok(rate),
    }
}

/// A list of rates greater than zero, which has one at least.
pub fn rates(s: &Section<'_>, field: &str) -> Option<Vec<Rate>> {
    let given = s.given(field)?;
    let Some(list) = given.get_ref().as_array().filter(|list| !list.is_empty()) else {
        s.mistake(field, "it is a list of rates, [\"10 Mbit/s\", \"2 Mbit/s\"]");
        return None;
    };
    let mut all = Vec::new();
    for value in list.iter() {
        match rate(value.get_ref()) {
            Ok(rate) => all.push(rate),
            Err(why) => s.doc.mistake(value.span(), format!("`{field}`: {why}")),
        }
    }
    (all.len() == list.len()).then_some(all)
}

/// A number from 0 on, in thousandths.
pub fn metric(value: &DeValue<'_>) -> Result<u64, String> {
    let number = match value {
        DeValue::Integer(n) => n.as_str().parse::<f64>().ok(),
        DeValue::Float(n) => n.as_str().parse().ok(),
        _ => None,
    };
    let number = number.filter(|n| (0.0..=1e12).contains(n));
    let thousandths = number.map(|n| (n * 1000.0).round() as u64);
    thousandths.ok_or_else(|| format!("it is a number from 0 on, not {}", shown(value)))
}

/// The bound of a content store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Of its memory.
    Bytes(usize),
    /// In Data packets.
    Packets(usize),
    /// In Data packets, as a share of all content.
    Share(Share),
}

/// `"1 MB"`, `"1000 packets"`, `"2 %"`.
pub fn bound(value: &DeValue<'_>) -> Result<Bound, String> {
    let given = text(value)?;
    if let Some(number) = given.trim().strip_suffix("packets") {
        let number = number.trim().replace('_', "");
        return number
            .parse()
            .map(Bound::Packets)
            .map_err(|_| format!("`{given}` is not a number of packets; write \"1000 packets\""));
    }
    if given.trim().ends_with('%') {
        return given.parse().map(Bound::Share).map_err(|e: control::QuantityError| e.to_string());
    }
    let size: Size = given.parse().map_err(|e| format!("{e}, \"1000 packets\", \"2 %\""))?;
    usize::try_from(size.0).map(Bound::Bytes).map_err(|_| "it is too large".to_owned())
}

/// From sample to sample, or `"auto"`.
pub fn interval(value: &DeValue<'_>) -> Result<Option<Duration>, String> {
    match text(value)? {
        "auto" => Ok(None),
        given => match given.parse::<Duration>() {
            Ok(Duration::ZERO) => Err("an interval of zero gives samples without end".to_owned()),
            Ok(interval) => Ok(Some(interval)),
            Err(error) => Err(format!("{error}; or it is \"auto\"")),
        },
    }
}

/// When results begin to count, or `"auto"`.
pub fn warmup(value: &DeValue<'_>) -> Result<Warmup, String> {
    match text(value)? {
        "auto" => Ok(Warmup::Detected),
        given => match given.parse() {
            Ok(span) => Ok(Warmup::Until(span)),
            Err(e) => Err(format!("{e}; or it is \"auto\"")),
        },
    }
}

/// The name of a content.
pub fn content_name(value: &DeValue<'_>) -> Result<Name, String> {
    match name(value)? {
        name if name.as_ref().is_empty() => Err("it has no component; write \"/a\"".to_owned()),
        name => Ok(name),
    }
}

/// The largest segment that fits into a packet with its name and signature.
const MAX_SEGMENT: u64 = 8192;

/// The size of a segment.
pub fn segment(value: &DeValue<'_>) -> Result<Size, String> {
    match Size::read(value)? {
        Size(bytes @ 1..=MAX_SEGMENT) => Ok(Size(bytes)),
        other => Err(format!("{other} is not between 1 B and {MAX_SEGMENT} B")),
    }
}

/// Names of nodes, each with its place.
pub fn node_names(section: &Section<'_>, field: &str) -> Option<Vec<(String, Range<usize>)>> {
    let value = section.given(field)?;
    let single = std::slice::from_ref(value);
    let list = value.get_ref().as_array().map_or(single, |list| &**list);
    list.iter().map(|value| Some((from(section, field, value, node_name)?, value.span()))).collect()
}

fn node_name(value: &DeValue<'_>) -> Result<String, String> {
    match text(value)? {
        "" => Err("a node's name is not empty".to_owned()),
        name if name.contains(char::is_control) => {
            Err("a node's name is text in one line".to_owned())
        }
        name => Ok(name.to_owned()),
    }
}
