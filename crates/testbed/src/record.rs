//! How a transfer goes: what `weir get --record` writes, and a testbed reads.

use control::{Duration, Size, Time};
use serde::{Deserialize, Serialize};
use sim::{FetchMeter, FlowId, FlowResult, FlowSample};
use transport::fetch::{Fetch, Status};

/// A transfer at an instant: a line of JSON. Counts are those since its beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowRecord {
    /// When, in nanoseconds of the host's monotonic clock, which all its processes share.
    pub monotonic_ns: u64,
    /// Segments that may be in flight, if the scheme has a window.
    pub window: Option<f64>,
    /// Segments in flight.
    pub in_flight: u64,
    /// Bytes of content that came and were verified.
    pub bytes: u64,
    /// The smoothed round-trip time.
    pub rtt_ms: Option<f64>,
    /// Interests sent, the repeated ones included.
    pub interests: u64,
    /// Data that was asked for.
    pub data: u64,
    /// Losses found by time-out.
    pub timeouts: u64,
    /// Losses that later answers, or silence, showed.
    pub gaps: u64,
    /// Losses that were none.
    pub false_timeouts: u64,
    /// Nacks.
    pub nacks: u64,
    /// Interests sent again.
    pub retransmissions: u64,
    /// Data with a congestion mark.
    pub marks: u64,
    /// Mean of the window over time.
    pub window_mean: Option<f64>,
    /// Its standard deviation.
    pub window_stdev: Option<f64>,
    /// The mean round-trip time.
    pub rtt_mean_ms: Option<f64>,
    /// The time that 99 % of the round trips stay below, to within 1/64.
    pub rtt_p99_ms: Option<f64>,
    /// It has ended: this is the last line.
    pub ended: bool,
    /// Everything came.
    pub complete: bool,
    /// Why it failed.
    pub error: Option<String>,
}

impl FlowRecord {
    /// The transfer as it is now.
    #[must_use]
    pub fn of(monotonic: Time, fetch: &Fetch, meter: &FetchMeter) -> FlowRecord {
        let sample = meter.sample(monotonic, FlowId::new(0), fetch);
        let mut result = FlowResult::default();
        meter.result(fetch, &mut result);
        FlowRecord {
            monotonic_ns: monotonic.0,
            window: sample.window,
            in_flight: result.in_flight,
            bytes: result.bytes,
            rtt_ms: sample.rtt.map(|rtt| rtt as f64 / 1e6),
            interests: result.interests,
            data: result.data,
            timeouts: result.timeouts,
            gaps: result.gaps,
            false_timeouts: result.false_timeouts,
            nacks: result.nacks,
            retransmissions: result.retransmissions,
            marks: result.marks,
            window_mean: result.window.map(|(mean, _)| mean),
            window_stdev: result.window.map(|(_, stdev)| stdev),
            rtt_mean_ms: result.rtt_mean.map(millis),
            rtt_p99_ms: result.rtt_p99.map(millis),
            ended: fetch.status() != Status::Running,
            complete: result.complete,
            error: result.error,
        }
    }

    /// As a sample of the flow at an instant of the run.
    #[must_use]
    pub fn sample(&self, at: Time, flow: FlowId) -> FlowSample {
        FlowSample {
            at,
            flow,
            window: self.window,
            in_flight: u32::try_from(self.in_flight).unwrap_or(u32::MAX),
            bytes: Size(self.bytes),
            rtt: self.rtt_ms.map(|rtt| (rtt * 1e6) as u64),
            retransmissions: self.retransmissions,
            video: None,
        }
    }

    /// As what a run says of its flow, except for where and when that was.
    #[must_use]
    pub fn result(&self) -> FlowResult {
        let span = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        FlowResult {
            complete: self.complete,
            error: self.error.clone(),
            bytes: self.bytes,
            interests: self.interests,
            data: self.data,
            timeouts: self.timeouts,
            gaps: self.gaps,
            false_timeouts: self.false_timeouts,
            nacks: self.nacks,
            retransmissions: self.retransmissions,
            marks: self.marks,
            in_flight: self.in_flight,
            window: self.window_mean.zip(self.window_stdev),
            rtt_mean: self.rtt_mean_ms.map(span),
            rtt_p99: self.rtt_p99_ms.map(span),
            ..FlowResult::default()
        }
    }
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
