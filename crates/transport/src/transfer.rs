//! The record of a transfer. Simulator, testbed, `weir get` and all results share it.

use control::{Duration, Time, listed};
use serde::{Deserialize, Serialize};

listed! {
    /// Counters of a transfer.
    #[derive(Copy, Serialize, Deserialize)]
    #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
    #[serde(default)]
    pub struct Counters {
        /// Interests sent, retransmissions included.
        pub interests: u64,
        /// Data packets that answered a request.
        pub data: u64,
        /// Losses detected by timeout, or by the end of an Interest's lifetime.
        pub timeouts: u64,
        /// Losses detected by later answers; also Interests sent once more before a loss was
        /// detected.
        pub gaps: u64,
        /// False losses: the Data arrived after all.
        #[serde(alias = "false_timeouts")]
        pub false_losses: u64,
        /// Nacks for Interests in flight.
        pub nacks: u64,
        /// Interests for items requested before.
        pub retransmissions: u64,
        /// Data packets with a congestion mark.
        pub marks: u64,
    }
}

/// A transfer from its start up to an instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Transfer {
    /// Bytes of content received; only verified content if the consumer verifies.
    pub bytes: u64,
    /// The counters.
    #[serde(flatten)]
    pub counters: Counters,
    /// Segments in flight.
    pub in_flight: u64,
    /// Mean of the window over time, in segments.
    pub window_mean: Option<f64>,
    /// Standard deviation of the window over time, in segments.
    pub window_stdev: Option<f64>,
    /// The mean round-trip time.
    #[serde(rename = "rtt_mean_ms", with = "millis")]
    pub rtt_mean: Option<Duration>,
    /// The 99th percentile of the round-trip times, rounded down by at most 1/64.
    #[serde(rename = "rtt_p99_ms", with = "millis")]
    pub rtt_p99: Option<Duration>,
    /// The transfer is complete.
    pub complete: bool,
    /// The reason if it has failed.
    pub error: Option<String>,
}

/// The state of a transfer at an instant: a JSON line in the file of `weir get --record`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The instant, by the monotonic clock that all processes of the host share.
    #[serde(rename = "monotonic_ns", with = "nanos")]
    pub at: Time,
    /// The window in segments, if the scheme has one.
    pub window: Option<f64>,
    /// The smoothed round-trip time.
    #[serde(rename = "rtt_ms", with = "millis")]
    pub rtt: Option<Duration>,
    /// The transfer so far.
    #[serde(flatten)]
    pub transfer: Transfer,
    /// The transfer is over: this is the last line.
    pub ended: bool,
}

/// Encodes times as whole nanoseconds.
mod nanos {
    use control::Time;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Time, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        u64::deserialize(from).map(Time)
    }
}

/// Encodes durations as fractional milliseconds.
mod millis {
    use control::Duration;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        span.map(|span| span.as_secs_f64() * 1e3).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let millis = Option::<f64>::deserialize(from)?;
        Ok(millis.map(|millis| Duration::from_secs_f64(millis / 1e3)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_flat_and_reads_back() {
        let counters = Counters { interests: 12, gaps: 2, ..Counters::default() };
        let rtt_mean = Some(Duration::from_micros(1_500));
        let transfer = Transfer { bytes: 80_000, counters, rtt_mean, ..Transfer::default() };
        let snapshot = Snapshot { at: Time(7), window: Some(2.5), transfer, ..Default::default() };
        let line = serde_json::to_value(&snapshot).unwrap();
        assert_eq!((&line["monotonic_ns"], &line["interests"]), (&7.into(), &12.into()));
        assert_eq!((&line["bytes"], &line["rtt_mean_ms"]), (&80_000.into(), &1.5.into()));
        assert_eq!(line["rtt_ms"], serde_json::Value::Null);
        let line = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&line).unwrap(), snapshot);
        assert_eq!(serde_json::from_str::<Snapshot>("{}").unwrap(), Snapshot::default());
    }

    #[test]
    fn a_former_name_is_read_and_not_written() {
        let line = r#"{"timeouts":5,"false_timeouts":4,"ended":true}"#;
        let snapshot: Snapshot = serde_json::from_str(line).unwrap();
        assert_eq!(snapshot.transfer.counters.false_losses, 4);
        let line = serde_json::to_value(&snapshot).unwrap();
        assert_eq!((&line["false_losses"], line.get("false_timeouts")), (&4.into(), None));
    }
}
