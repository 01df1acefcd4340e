//! What a struct declares of a section, and what types of values read.

use crate::schema::{self, Form, Item};
use crate::value::{self, shown, text};
use crate::{Queue, Section};
use control::{Duration, Rate, Ratio, Size};
use packet::Name;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use toml::Spanned;
use toml::de::DeValue;

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
    /// What a field of this type takes.
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

/// An enum whose variants are words. Derived.
pub trait Words: Copy + 'static {
    /// The words, in the order of [`Words::ALL`].
    const WORDS: &'static [&'static str];
    /// The variants.
    const ALL: &'static [Self];

    /// The word of a variant.
    fn word(self) -> &'static str;
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
        let wrong = || format!("it is `true` or `false`, not {}", shown(value));
        value.as_bool().ok_or_else(wrong)
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

/// A quantity with its unit.
fn quantity<T: FromStr<Err: Display>>(value: &DeValue<'_>) -> Result<T, String> {
    text(value)?.parse().map_err(|error: T::Err| error.to_string())
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
                    quantity(value)
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
