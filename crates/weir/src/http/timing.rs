//! The field Server-Timing of an answer (<https://www.w3.org/TR/server-timing/>): times and places of
//! the network behind the gateway, for pages of the same origin.

use control::Duration;
use packet::options::ServedBy;

/// The observations of a fetch, at the time when its answer begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From the start of the fetch to the first verified bytes.
    pub first_bytes: Duration,
    /// The mean round trip of the packets so far; `None` without a sample.
    pub round_trip: Option<Duration>,
    /// The node that sent the latest packet; `None` if no forwarder reports it.
    pub origin: Option<ServedBy>,
}

impl Timing {
    /// The value of the field. Nodes have their numbers, as on the wire: 16 hexadecimal digits.
    #[must_use]
    pub fn value(&self) -> String {
        let mut value = format!("ndn;dur={}", milliseconds(self.first_bytes));
        if let Some(round_trip) = self.round_trip {
            value += &format!(", rtt;dur={}", milliseconds(round_trip));
        }
        if let Some(ServedBy { node, hops }) = self.origin.filter(|origin| origin.node != 0) {
            value += &format!(", node;desc=\"{node:016x}\", hops;desc=\"{hops}\"");
        }
        value
    }
}

/// With microseconds behind the point.
fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_times_in_milliseconds_and_the_node_that_answered() {
        let timing = Timing {
            first_bytes: Duration::from_micros(23_412),
            round_trip: Some(Duration::from_millis(12)),
            origin: Some(ServedBy { node: 0x1f, hops: 2 }),
        };
        let expected =
            "ndn;dur=23.412, rtt;dur=12.000, node;desc=\"000000000000001f\", hops;desc=\"2\"";
        assert_eq!(timing.value(), expected);
    }

    #[test]
    fn unknown_facts_are_left_out() {
        let timing = Timing { origin: Some(ServedBy::ASK), ..Timing::default() };
        assert_eq!(timing.value(), "ndn;dur=0.000");
    }
}
