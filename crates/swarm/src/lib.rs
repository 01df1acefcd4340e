//! Random scenarios with oracles.
//!
//! A seed draws a [`plan`]; the plan is written as a scenario file and run as such; rules compare
//! what was seen with what [`oracle`]s say that must hold. A plan that breaks a rule is made
//! smaller until it is the smallest that still does, and written with the rule and the reason in
//! its head. `docs/explanation/swarm.md` says what is drawn and what is checked.
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
