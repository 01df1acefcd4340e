//! `weir ping`: measures the round trip to a program that answers, or is that program.
//!
//! The names are those of ndnping and ndnpingserver (ndn-tools): `PREFIX/ping/N`, with N a decimal
//! number that grows by one. So each side works with the other one of either project.

mod answer;
mod ask;

use crate::cli::packets::PingArgs;
use crate::exit::Failure;
use packet::{Component, Name};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of `weir ping`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// Of the program that asks.
    Asked(Asked),
    /// With `--serve`.
    Answerer(Answerer),
}

/// The result of the program that asks.
#[derive(JsonSchema, Serialize)]
pub struct Asked {
    /// The prefix.
    name: String,
    /// Interests sent.
    sent: u64,
    /// Interests that were answered with Data.
    answered: u64,
    /// Interests that were answered with a Nack.
    rejected: u64,
    /// Interests without an answer in their lifetime.
    timeouts: u64,
    /// The smallest round-trip time in ms, or null.
    rtt_min_ms: Option<f64>,
    /// The mean round-trip time in ms, or null.
    rtt_mean_ms: Option<f64>,
    /// The largest round-trip time in ms, or null.
    rtt_max_ms: Option<f64>,
    /// The standard deviation of the round-trip times in ms, or null.
    rtt_stdev_ms: Option<f64>,
}

/// The result of the program that answers.
#[derive(JsonSchema, Serialize)]
pub struct Answerer {
    /// Interests that were answered.
    answered: u64,
    /// Interests that were dropped because too many answers were waiting.
    dropped: u64,
}

/// The component behind the prefix.
const PING: &[u8] = b"ping";

/// The prefix of all Interests.
fn below(prefix: &Name) -> Name {
    prefix.clone().with(&Component::generic(PING))
}

/// Asks or answers.
pub fn run(args: &PingArgs) -> Result<(), Failure> {
    if args.serve { answer::run(args) } else { ask::run(args) }
}
