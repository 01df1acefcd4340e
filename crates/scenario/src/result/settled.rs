//! The results after the warm-up.

use super::described::record;
use crate::statistics::Mean;
use serde::{Deserialize, Serialize};

record! {
    /// The results from the end of the warm-up until the last flow ended.
    pub struct Settled {
        /// `mser-5` if the end of the warm-up was looked for in the goodput of all flows, `given`
        /// if the scenario says it.
        pub warmup_rule: String,
        /// True if the end was found. Otherwise the values are of the whole time with flows.
        pub warmup_detected: bool,
        /// When the values begin.
        pub from_s: f64,
        /// When they end.
        pub to_s: f64,
        /// Content of all flows together.
        pub goodput_mbps: Option<f64>,
        /// How fair the flows were (Jain), each by its goodput while it ran.
        pub jain_index: Option<f64>,
        /// Mean queueing delay of the direction of a link where it is largest.
        pub queue_delay_mean_ms: Option<f64>,
        /// The largest 99th percentile that a direction of a link has.
        pub queue_delay_p99_ms: Option<f64>,
    }
}

/// The same over the repetitions of a combination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SettledMeans {
    /// Content of all flows together.
    pub goodput_mbps: Option<Mean>,
    /// How fair the flows were.
    pub jain_index: Option<Mean>,
    /// Mean queueing delay where it is largest.
    pub queue_delay_mean_ms: Option<Mean>,
    /// The largest 99th percentile of queueing delay.
    pub queue_delay_p99_ms: Option<Mean>,
}
