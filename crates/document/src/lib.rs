//! Files that people write: TOML, every mistake shown with its place, what is valid there and the
//! nearest word.
//!
//! A struct declares a section of the file: [`Fields`] gives its [`schema`], from which the manual
//! is made, and [`Read`] reads it. Both are derived; [`document_derive`] lists the attributes.
#![forbid(unsafe_code)]

// The derived code names this crate, also inside of it.
extern crate self as document;

mod declared;
mod file;
pub mod json_schema;
mod loss;
pub mod manual;
pub mod mistake;
pub mod parts;
mod queue;
mod reader;
pub mod schema;
pub mod suggest;
mod value;

pub use declared::{Described, Fields, Formed, Read, Value};
pub use document_derive::{Fields, Read, Words};
pub use file::Document;
pub use loss::{LOSS_FORM, loss};
pub use mistake::Mistake;
pub use parts::Parts;
pub use queue::Queue;
pub use reader::Section;
pub use suggest::valid_words;
pub use toml::de::DeValue;
pub use value::{Words, lasting, listed, name, ratio, shown, spoken, text, word};
