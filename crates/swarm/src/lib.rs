//! Random scenarios with oracles.
//!
//! A seed determines a [`plan`], which is written as a scenario file and run. Rules compare the
//! observations with the [`oracle`]s. A plan that breaks a rule is shrunk to the smallest that
//! still does, and written with the rule and the reason in its first lines.
//! `docs/explanation/swarm.md` describes the generated scenarios and the rules.
#![forbid(unsafe_code)]

mod campaign;
pub mod domain;
mod draw;
pub mod facts;
pub mod known;
pub mod observe;
pub mod oracle;
pub mod plan;
mod routes;
pub mod rules;
mod shrink;
#[cfg(test)]
mod tests;
mod write;

pub use campaign::{ATTEMPTS, Failure, Report, SwarmError, run, shrunk};
pub use draw::{MOST_PACKETS, draw};
pub use shrink::{Shrunk, shrink};
pub use write::toml;
