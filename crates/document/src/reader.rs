//! Takes values out of the parsed file and checks their form.

use crate::Document;
use crate::schema;
use crate::suggest::valid_words;
use crate::value::shown;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One section of the file, or its absence.
pub struct Section<'d> {
    /// The file.
    pub doc: &'d Document<'d>,
    pub(crate) schema: &'static schema::Section,
    pub(crate) table: Option<&'d DeTable<'d>>,
    /// Where the section begins.
    pub at: Range<usize>,
}

impl<'d> Section<'d> {
    /// Takes the section on: unknown and missing fields are mistakes at once.
    #[must_use]
    pub fn new(
        doc: &'d Document<'d>,
        schema: &'static schema::Section,
        value: Option<&'d Spanned<DeValue<'d>>>,
    ) -> Section<'d> {
        let at = value.map_or(0..0, Spanned::span);
        let table = value.and_then(|v| v.get_ref().as_table());
        let section = Section { doc, schema, table, at };
        if let (Some(value), None) = (value, table) {
            let kind = shown(value.get_ref());
            let form = if schema.repeated { "[[" } else { "[" };
            let close = if schema.repeated { "]]" } else { "]" };
            let name = schema.name;
            let what = format!("`{name}` is a section, not {kind}; write `{form}{name}{close}`");
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

    /// True if the section is in the file.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.table.is_some()
    }

    /// A mistake at the field, or at the section's beginning if the field is not there.
    pub fn mistake(&self, field: &str, why: &str) {
        self.doc.mistake(self.place(field), format!("`{field}`: {why}"));
    }

    /// A mistake at a field that has no meaning beside others of the section.
    pub fn misplaced(&self, field: &str, why: &str) {
        self.doc.misplaced(self.place(field), format!("`{field}`: {why}"));
    }

    /// The value in the file, if the field is there.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.table?.get(name)
    }

    /// Where the field's value stands; the section's beginning if it is not there.
    #[must_use]
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

    /// A whole number in the field's range.
    #[must_use]
    pub fn number<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        let Some(schema::Form::Number(low, high)) = self.schema.field(name).map(|f| f.form) else {
            return None;
        };
        let number = self.get(name, |v| {
            v.as_integer()
                .and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok())
                .filter(|number| (low..=high).contains(number))
                .ok_or_else(|| {
                    format!("it is a whole number from {low} to {high}, not {}", shown(v))
                })
        })?;
        T::try_from(number).ok()
    }
}
