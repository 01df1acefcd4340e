//! Runs that must be the same here and in WebAssembly; see `run` beside this folder.
//!
//! `unsafe` is in the name of the attribute by which a function is exported; what it warns of, two
//! functions of one name, is excluded by there being two names in this file and nothing else.
#![allow(unsafe_code, reason = "the attribute that exports a function is called so")]
#![allow(clippy::unwrap_used, reason = "a run that cannot be set up must fail")]

#[path = "../../../crates/sim/tests/all/support/mod.rs"]
mod support;

pub use support::same_run::{SEEDS, fingerprint};

/// The run's trace.
#[unsafe(no_mangle)]
pub extern "C" fn trace(seed: u32) -> u64 {
    fingerprint(seed).0
}

/// Its results.
#[unsafe(no_mangle)]
pub extern "C" fn results(seed: u32) -> u64 {
    fingerprint(seed).1
}
