//! The result of `weir ping`, for programs.

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
    pub name: String,
    /// Interests sent.
    pub sent: u64,
    /// Interests that were answered with Data.
    pub answered: u64,
    /// Interests that were answered with a Nack.
    pub rejected: u64,
    /// Interests without an answer in their lifetime.
    pub timeouts: u64,
    /// The smallest round-trip time in ms, or null.
    pub rtt_min_ms: Option<f64>,
    /// The mean round-trip time in ms, or null.
    pub rtt_mean_ms: Option<f64>,
    /// The largest round-trip time in ms, or null.
    pub rtt_max_ms: Option<f64>,
    /// The standard deviation of the round-trip times in ms, or null.
    pub rtt_stdev_ms: Option<f64>,
}

/// The result of the program that answers.
#[derive(JsonSchema, Serialize)]
pub struct Answerer {
    /// Interests that were answered.
    pub answered: u64,
    /// Interests that were dropped because too many answers were waiting.
    pub dropped: u64,
}
