//! The rules, one file each.

use crate::{Finding, Repository};

mod arrows;
mod banned;
mod bulk;
mod columns;
mod conformance;
mod layers;
mod links;
mod machine_paths;
mod marks;
mod prose;
mod scheme_imports;
mod scheme_names;
mod scheme_order;
mod steps;
mod structure;
mod unsafe_code;
mod words;

pub use arrows::arrows;
pub use banned::banned_identifiers;
pub use bulk::no_bulk;
pub use columns::line_width;
pub use conformance::conformance;
pub use layers::layers;
pub use links::dead_links;
pub use machine_paths::no_machine_paths;
pub use marks::no_unfinished_marks;
pub use prose::{amounts, openings, people, sentence_length};
pub use scheme_imports::scheme_imports;
pub use scheme_names::scheme_names;
pub use scheme_order::scheme_order;
pub use steps::steps;
pub use structure::structure;
pub use unsafe_code::unsafe_code;
pub use words::words;

/// A rule: everything in the repository that breaks it.
pub type Rule = fn(&Repository) -> Vec<Finding>;

/// The crates that are state machines: no input or output, no clock, no dice, no `unsafe`.
pub const CORE: &[&str] = &[
    "packet",
    "security",
    "control",
    "schemes",
    "forwarder",
    "transport",
    "tree",
    "sync",
    "record",
    "sim",
];
