//! Takes values out of the parsed file, checks their form, and collects what is wrong.

use super::mistake::Mistake;
use super::schema;
use super::suggest::valid_words;
use std::cell::RefCell;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file being read, and its mistakes.
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    mistakes: RefCell<Vec<(Range<usize>, String)>>,
}

impl<'a> Document<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Document<'a> {
        Document { file, text, mistakes: RefCell::default() }
    }

    /// Remembers a mistake.
    pub fn mistake(&self, at: Range<usize>, message: impl Into<String>) {
        self.mistakes.borrow_mut().push((at, message.into()));
    }

    /// All mistakes in the order in which they stand in the file.
    pub fn finish(self) -> Vec<Mistake> {
        let mut found = self.mistakes.into_inner();
        found.sort_by_key(|(at, _)| at.start);
        found.into_iter().map(|(at, m)| Mistake::new(self.file, self.text, at, m)).collect()
    }
}

/// One section of the file, or its absence.
pub(super) struct Section<'d> {
    pub doc: &'d Document<'d>,
    schema: &'static schema::Section,
    table: Option<&'d DeTable<'d>>,
    /// Where the section begins.
    pub at: Range<usize>,
}

impl<'d> Section<'d> {
    /// Takes the section on: unknown and missing fields are mistakes at once.
    pub fn new(
        doc: &'d Document<'d>,
        schema: &'static schema::Section,
        value: Option<&'d Spanned<DeValue<'d>>>,
    ) -> Section<'d> {
        let at = value.map_or(0..0, Spanned::span);
        let table = value.and_then(|v| v.get_ref().as_table());
        let section = Section { doc, schema, table, at };
        if let (Some(value), None) = (value, table) {
            let kind = value.get_ref().type_str();
            let form = if schema.repeated { "[[" } else { "[" };
            let close = if schema.repeated { "]]" } else { "]" };
            let name = schema.name;
            let what = format!("`{name}` is a section, not a {kind}; write `{form}{name}{close}`");
            doc.mistake(section.at.clone(), what);
            return section;
        }
        for key in table.into_iter().flat_map(DeTable::keys) {
            let word: &str = key.get_ref();
            if schema.field(word).is_none() {
                let valid = valid_words(word, schema.fields().map(|f| f.name));
                let message = format!("`{}` has no field `{word}`; {valid}", schema.name);
                doc.mistake(key.span(), message);
            }
        }
        for field in schema.fields().filter(|f| f.required && table.is_some()) {
            if section.given(field.name).is_none() {
                let message = format!("`{}` needs a field `{}`", schema.name, field.name);
                doc.mistake(section.at.clone(), message);
            }
        }
        section
    }

    /// The value in the file, if the field is there.
    pub fn given(&self, name: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.table?.get(name)
    }

    /// Where the field's value stands; the section's beginning if it is not there.
    pub fn place(&self, name: &str) -> Range<usize> {
        self.given(name).map_or(self.at.clone(), Spanned::span)
    }

    /// The field's value as `convert` understands it, or its default; `None` if there is neither.
    /// A value that cannot be converted is a mistake, and the default stands in for it.
    pub fn get<T>(
        &self,
        name: &str,
        convert: impl Fn(&DeValue<'_>) -> Result<T, String>,
    ) -> Option<T> {
        if let Some(value) = self.given(name) {
            match convert(value.get_ref()) {
                Ok(v) => return Some(v),
                Err(why) => self.doc.mistake(value.span(), format!("`{name}`: {why}")),
            }
        }
        let default = self.schema.field(name)?.default;
        convert(DeValue::parse(default).ok()?.get_ref()).ok()
    }

    /// A quantity with its unit: size, rate, span of time, share.
    pub fn quantity<T: FromStr<Err: Display>>(&self, name: &str) -> Option<T> {
        self.get(name, |v| text(v)?.parse().map_err(|e: T::Err| e.to_string()))
    }

    /// A whole number in the field's range.
    pub fn number(&self, name: &str) -> Option<i64> {
        let Some(schema::Form::Number(low, high)) = self.schema.field(name).map(|f| f.form) else {
            return None;
        };
        self.get(name, |v| {
            let wrong = || format!("it is a whole number from {low} to {high}, not {}", shown(v));
            let number = v.as_integer().ok_or_else(wrong)?;
            let number =
                i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| wrong())?;
            (low..=high).contains(&number).then_some(number).ok_or_else(wrong)
        })
    }

    /// [`Section::number`] for fields that have a default and no negative values.
    pub fn count(&self, name: &str) -> usize {
        self.number(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }

    /// A switch; false if the field has no default.
    pub fn switch(&self, name: &str) -> bool {
        let convert = |v: &DeValue<'_>| {
            v.as_bool().ok_or_else(|| format!("it is `true` or `false`, not {}", shown(v)))
        };
        self.get(name, convert).unwrap_or(false)
    }

    /// One of the field's words, as its number in the list.
    pub fn word(&self, name: &str) -> usize {
        let Some(schema::Form::Word(words)) = self.schema.field(name).map(|f| f.form) else {
            return 0;
        };
        let convert = |v: &DeValue<'_>| {
            let given = text(v)?;
            words.iter().position(|w| *w == given).ok_or_else(|| {
                format!("`{given}` is not known; {}", valid_words(given, words.iter().copied()))
            })
        };
        self.get(name, convert).unwrap_or(0)
    }
}

/// The value as text.
pub(super) fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("it is a text in quotes, not {}", shown(value)))
}

/// The value as it may be quoted in a message.
pub(super) fn shown(value: &DeValue<'_>) -> String {
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
