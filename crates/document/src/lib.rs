//! Files that people write: TOML read by a [`schema`], every mistake shown with its place, what is
//! valid there and the nearest word; the manual comes from the same list.
#![forbid(unsafe_code)]

mod document;
mod loss;
pub mod manual;
pub mod mistake;
pub mod parts;
mod queue;
mod reader;
pub mod schema;
pub mod suggest;
mod value;

pub use document::Document;
pub use loss::{LOSS_FORM, loss};
pub use mistake::Mistake;
pub use parts::Parts;
pub use queue::Queue;
pub use reader::Section;
pub use suggest::valid_words;
pub use value::{listed, name, ratio, shown, spoken, text};
