//! The states of BBR.

use control::Time;

/// The draft's states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Startup,
    Drain,
    Down { since: Time },
    Cruise { until: Time },
    Up { round: u64, since: Time, bandwidth: f64, hold: bool },
    ProbeRtt { until: Option<Time> },
}
