//! Policies: they see a flow as a few numbers, and choose actions.

use std::fmt;

/// The names of the numbers of an [`Observation`].
pub const OBSERVED: [&str; 8] =
    ["window", "goodput", "rtt", "rtt_min", "in_flight", "marks", "losses", "time"];

/// The last step of a flow: window in segments, Data packets in Mbit/s, mean and smallest
/// round-trip time in ms, segments in flight when Data came last, Data packets with a congestion
/// mark, segments that were declared lost, seconds since the beginning.
pub type Observation = [f64; OBSERVED.len()];

/// Chooses an action for an observation, such as a neural network in a file.
pub trait Policy: fmt::Debug + Send + Sync {
    /// The action, which `observation::scaled` explains. `None` if the policy fails. Equal
    /// observations give equal actions.
    fn action(&self, seen: &Observation) -> Option<f64>;
}
