//! Retransmission timers that a scheme may use.
//!
//! A published experiment is repeated with the timer of the authors' program, because false
//! timeouts decide many of its numbers. All other runs use Weir's own timer.

use crate::params::{ParamSpec, Params, Value, Word};
use crate::time::Duration;

/// How a retransmission timeout follows from samples, and whether a loss can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Weir's own, see [`crate::RttEstimate`]. A cut for a false loss is undone.
    Rfc7323,
    /// RFC 6298 to the letter with every Data packet as a sample, without G: ndnSIM's
    /// `RttMeanDeviation`. No cut is undone.
    Rfc6298 {
        /// The smallest timeout (RFC 6298, 2.4).
        least: Duration,
    },
}

/// `tcp_rto_min` of Linux, and the smallest timeout of ndn-cxx.
pub(crate) const LEAST: Duration = Duration::from_millis(200);

const RFC_7323: &str = "rfc7323";
const RFC_6298: &str = "rfc6298";

/// The parameters that [`Timer::of`] takes.
pub const TIMERS: [ParamSpec; 2] = [
    ParamSpec {
        name: "timer",
        default: Value::Word(Word { text: RFC_7323, of: || vec![RFC_7323, RFC_6298] }),
        range: (0.0, 0.0),
        help: "rfc7323: gains are divided by the Interests in flight, the timeout leaves 200 ms \
               beyond SRTT, and a cut for a false timeout is undone; rfc6298: gains of 1/8 and 1/4 \
               for each Data packet, 4 RTTVAR beyond SRTT, nothing is undone",
        source: "RFC 7323, appendix G; ndnSIM, `RttMeanDeviation`",
    },
    ParamSpec {
        name: "rto_min",
        default: Value::Time(LEAST),
        range: (0.0, 60.0),
        help: "the smallest timeout of rfc6298",
        source: "ndnSIM, `RttEstimator::MinRTO`",
    },
];

impl Timer {
    /// The timer that parameters of [`TIMERS`] choose.
    #[must_use]
    pub fn of(params: &Params) -> Timer {
        match params.word(TIMERS[0].name) {
            RFC_6298 => Timer::Rfc6298 { least: params.time(TIMERS[1].name) },
            _ => Timer::Rfc7323,
        }
    }

    /// Returns `true` if a cut is undone when Data arrives after its loss was declared.
    #[must_use]
    pub fn undoes(self) -> bool {
        self == Timer::Rfc7323
    }
}
