//! Derives for sections of files that people write. A struct declares each field once: its type,
//! default and range are checked by the reader, and its documentation is the manual's text.
//!
//! The attributes of the struct:
//!
//! - `#[section(name = "face")]`: it is a section of the file, and its documentation is the
//!   section's; without it, it is a group of fields that sections share.
//! - `#[section(repeated)]`: the section may stand more than once.
//! - `#[section(check = FUNCTION)]`: after reading, `fn(Self, &Section) -> Option<Self>` checks how
//!   the fields fit together.
//!
//! Those of a field, whose name, type and documentation say the rest:
//!
//! - `default = 20`, `"5 ms"` or `["a"]`: the default, as it would stand in the file; or a
//!   constant, which is a number in a field with a `range`, otherwise a text. A field without it is
//!   required, but for an `Option`.
//! - `default` alone: [`Default`], and the manual says that there is none.
//! - `required`: an `Option` that must be given; the section is read without it all the same.
//! - `range = 1..=100`: a whole number in this range.
//! - `name = "rate"`: the name in the file, where the struct has another one.
//! - `form = "addresses"`, or a `Form`: the form in the manual, where its type does not give it.
//! - `part = "marker"`: a scheme that has this part.
//! - `with = FUNCTION`: `fn(&DeValue) -> Result<T, String>` reads the value.
//! - `by = FUNCTION`: `fn(&Section, &str) -> Option<T>` reads it, and records its mistakes itself.
//! - `flatten`: the fields of a group.
//! - `skip`: no field of the file; the check fills it in.
//! - `elsewhere`: a field, of type `()`, that is read by hand where more of the file is known.
//!
//! The first paragraph of a documentation is what the manual shows.
#![forbid(unsafe_code)]

mod attributes;
mod fields;
mod words;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `document::Fields`, and `document::Described` for a section.
#[proc_macro_derive(Fields, attributes(section, field))]
pub fn fields(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fields::schema(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `document::Read`.
#[proc_macro_derive(Read, attributes(section, field))]
pub fn read(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fields::reader(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `document::Words` and `document::Value` for an enum without data: its variants are
/// words in small letters with hyphens.
#[proc_macro_derive(Words)]
pub fn words(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    words::words(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
