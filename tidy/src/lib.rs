//! Reads the repository and enforces the rules that no compiler checks: lengths, words, layers, the
//! order inside a scheme's file, links, tracked files.
//!
//! Each rule is one file in `rules/`: a function from the repository to its findings, with tests.
//! `tests/repository.rs` runs them all on this repository. Formatting and lints of the language
//! belong to rustfmt and clippy.

pub mod figures;
mod repository;
pub mod rules;
mod rust;

pub use repository::{Finding, Repository, SourceFile};
