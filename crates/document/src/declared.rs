//! The declaration of a section by a struct, and the readers of value types.

use crate::file::Document;
use crate::queue::Queue;
use crate::reader::Section;
use crate::schema::{self, Form, Item};
use crate::value::{self, shown, text};
use control::{Duration, Rate, Ratio, Size};
use packet::Name;
use std::path::PathBuf;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A struct that lists fields of a file. Derived.
pub trait Fields {
    /// The fields, in the order of the manual.
    const FIELDS: &'static [Item];
}

/// A struct that is a section of a file. Derived with [`Fields`].
pub trait Described: Fields {
    /// The section.
    const SECTION: &'static schema::Section;
}

/// A struct that is read from a section. Derived.
pub trait Read: Sized {
    /// Reads all fields. The document records mistakes; `None` if a field that is required is not
    /// there, or has no valid value.
    fn read(section: &Section<'_>) -> Option<Self>;
}

/// A type whose form the manual knows.
pub trait Formed {
    /// The form of a field of this type.
    const FORM: Form;
}

/// A type that is read from one value.
pub trait Value: Formed + Sized {
    /// Reads it.
    ///
    /// # Errors
    /// The value is something else; the message says what is valid.
    fn read(value: &DeValue<'_>) -> Result<Self, String>;
}

impl<'d> Section<'d> {
    /// The section that a struct declares, which may stand once or not at all.
    #[must_use]
    pub fn of<T: Described>(doc: &'d Document<'d>, table: &'d DeTable<'d>) -> Section<'d> {
        Section::new(doc, T::SECTION, table.get(T::SECTION.name))
    }

    /// All sections of the kind that a struct declares.
    #[must_use]
    pub fn all_of<T: Described>(doc: &'d Document<'d>, table: &'d DeTable<'d>) -> Vec<Section<'d>> {
        let schema = T::SECTION;
        let Some(value) = table.get(schema.name) else { return Vec::new() };
        match value.get_ref().as_array() {
            Some(list) => list.iter().map(|v| Section::new(doc, schema, Some(v))).collect(),
            None => {
                let what = format!("write `[[{}]]`: it may occur more than once", schema.name);
                doc.mistake(value.span(), what);
                Vec::new()
            }
        }
    }

    /// Reads what a field of this section, a table, describes: its own fields, and those of this
    /// section that it does not have. `None` if it is not there, or no table.
    ///
    /// `is_kept` says whether a field of this section counts beside those of the table.
    #[must_use]
    pub fn read_over<T: Described + Read>(
        &self,
        field: &str,
        is_kept: impl Fn(&str, &Section<'_>) -> bool,
    ) -> Option<T> {
        let own = Section::new(self.doc, T::SECTION, Some(self.given(field)?));
        let mut fields = own.table?.clone();
        for (key, value) in self.table.into_iter().flatten() {
            let name: &str = key.get_ref();
            let is_there = own.given(name).is_some() || T::SECTION.field(name).is_none();
            if !is_there && is_kept(name, &own) {
                fields.insert(key.clone(), value.clone());
            }
        }
        T::read(&Section { table: Some(&fields), ..own })
    }
}

impl<T: Formed> Formed for Spanned<T> {
    const FORM: Form = T::FORM;
}

impl Formed for String {
    const FORM: Form = Form::Text;
}

impl Value for String {
    fn read(value: &DeValue<'_>) -> Result<String, String> {
        text(value).map(str::to_owned)
    }
}

impl Formed for PathBuf {
    const FORM: Form = Form::Path;
}

impl Value for PathBuf {
    fn read(value: &DeValue<'_>) -> Result<PathBuf, String> {
        text(value).map(PathBuf::from)
    }
}

impl Formed for bool {
    const FORM: Form = Form::Switch;
}

impl Value for bool {
    fn read(value: &DeValue<'_>) -> Result<bool, String> {
        value.as_bool().ok_or_else(|| format!("it is `true` or `false`, not {}", shown(value)))
    }
}

impl Formed for Name {
    const FORM: Form = Form::Name;
}

impl Value for Name {
    fn read(value: &DeValue<'_>) -> Result<Name, String> {
        value::name(value)
    }
}

impl Formed for Ratio {
    const FORM: Form = Form::Ratio;
}

impl Value for Ratio {
    fn read(value: &DeValue<'_>) -> Result<Ratio, String> {
        value::ratio(value)
    }
}

/// Types that are texts with a unit.
macro_rules! quantities {
    ($($of:ident: $form:expr;)+) => {
        $(
            impl Formed for $of {
                const FORM: Form = $form;
            }

            impl Value for $of {
                fn read(value: &DeValue<'_>) -> Result<$of, String> {
                    value::quantity(value)
                }
            }
        )+
    };
}

quantities! {
    Size: Form::Size;
    Rate: Form::Rate;
    Duration: Form::Duration;
    Queue: Form::As("size or `\"100 packets\"`");
}

/// A constant number, as it would stand in the file.
#[macro_export]
macro_rules! digits {
    ($number:expr) => {{
        const NUMBER: u64 = $number as u64;
        const LENGTH: usize = if NUMBER == 0 { 1 } else { NUMBER.ilog10() as usize + 1 };
        const DIGITS: [u8; LENGTH] = {
            let (mut digits, mut rest, mut at) = ([b'0'; LENGTH], NUMBER, LENGTH);
            while at > 0 {
                at -= 1;
                digits[at] += (rest % 10) as u8;
                rest /= 10;
            }
            digits
        };
        match ::core::str::from_utf8(&DIGITS) {
            Ok(text) => text,
            Err(_) => "",
        }
    }};
}

/// A constant text in quotes, as it would stand in the file.
#[macro_export]
macro_rules! quoted {
    ($text:expr) => {{
        const TEXT: &[u8] = $text.as_bytes();
        const QUOTED: [u8; TEXT.len() + 2] = {
            let mut quoted = [b'"'; TEXT.len() + 2];
            let (_, rest) = quoted.split_at_mut(1);
            rest.split_at_mut(TEXT.len()).0.copy_from_slice(TEXT);
            quoted
        };
        match ::core::str::from_utf8(&QUOTED) {
            Ok(text) => text,
            Err(_) => "",
        }
    }};
}
