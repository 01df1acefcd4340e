//! The arguments of calls of schemes, as objects of Python. Times are seconds, sizes bytes, rates
//! bit/s.

use control::{Cause, DataMeta, Duration, InterestMeta, LinkView, RttEstimate, Signal, StrategyCx};
use packet::NackReason;
use pyo3::prelude::*;

fn seconds(span: Option<Duration>) -> Option<f64> {
    span.map(Duration::as_secs_f64)
}

/// A signal of congestion as a word.
pub fn signal(signal: Signal) -> &'static str {
    match signal {
        Signal::Mark => "mark",
        Signal::Lost(cause) => self::cause(cause),
    }
}

/// The cause of a loss as a word.
pub fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Timeout => "timeout",
        Cause::Gap => "gap",
        Cause::Nack(_) => "nack",
    }
}

/// The reason of a Nack as a word.
pub fn nack(reason: NackReason) -> &'static str {
    match reason {
        NackReason::None => "none",
        NackReason::Congestion => "congestion",
        NackReason::Duplicate => "duplicate",
        NackReason::NoRoute => "no-route",
        NackReason::Other(_) => "other",
    }
}

/// A round trip: `number`, Data that `arrived`, of these `marked`, segments `lost`, the smallest
/// round-trip time `rtt_min`, and `window_limited`.
#[pyclass(frozen, get_all, module = "weir._weir")]
#[derive(Clone, Copy)]
pub struct Round {
    number: u64,
    arrived: u32,
    marked: u32,
    lost: u32,
    rtt_min: Option<f64>,
    window_limited: bool,
}

impl From<&control::Round> for Round {
    fn from(round: &control::Round) -> Round {
        Round {
            number: round.number,
            arrived: round.arrived,
            marked: round.marked,
            lost: round.lost,
            rtt_min: seconds(round.rtt_min),
            window_limited: round.window_limited,
        }
    }
}

/// Data that came in time, for a window law.
#[pyclass(frozen, module = "weir._weir")]
pub struct Ack(control::Ack);

impl From<&control::Ack> for Ack {
    fn from(ack: &control::Ack) -> Ack {
        Ack(*ack)
    }
}

#[pymethods]
impl Ack {
    /// The round-trip time, if unambiguous.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        seconds(self.0.rtt)
    }

    /// The smoothed round-trip time, this sample included.
    #[getter]
    fn srtt(&self) -> f64 {
        self.0.srtt.as_secs_f64()
    }

    /// The smallest round-trip time so far.
    #[getter]
    fn rtt_min(&self) -> f64 {
        self.0.rtt_min.as_secs_f64()
    }

    /// When the segment's Interest left.
    #[getter]
    fn sent_at(&self) -> f64 {
        self.0.sent_at.as_secs_f64()
    }

    /// Segments in flight when the Data arrived, including this one.
    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }

    /// The Data packet's size in bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size.0
    }

    /// The window was in use when the Interest left. A window that is not used must not grow.
    #[getter]
    fn window_limited(&self) -> bool {
        self.0.window_limited
    }

    /// The round trip that is under way.
    #[getter]
    fn round(&self) -> Round {
        Round::from(&self.0.round)
    }
}

/// The estimate of the round-trip time: `smoothed`, `variation`, `min` and `latest`, `None` before
/// the first sample.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Rtt {
    smoothed: Option<f64>,
    variation: f64,
    min: Option<f64>,
    latest: Option<f64>,
}

impl From<&RttEstimate> for Rtt {
    fn from(rtt: &RttEstimate) -> Rtt {
        Rtt {
            smoothed: seconds(rtt.smoothed()),
            variation: rtt.variation().as_secs_f64(),
            min: seconds(rtt.min()),
            latest: seconds(rtt.latest()),
        }
    }
}

/// A segment, or a run of `count` segments from `first`, that the consumer could request next.
/// `segment` is the size of a segment's Data.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Ask {
    first: u64,
    count: u16,
    attempt: u16,
    segment: u64,
    in_flight: u32,
    in_flight_bytes: u64,
}

impl From<&control::Ask<'_>> for Ask {
    fn from(ask: &control::Ask<'_>) -> Ask {
        let load = ask.in_flight.total();
        Ask {
            first: ask.first,
            count: ask.count,
            attempt: ask.attempt,
            segment: ask.segment.0,
            in_flight: load.segments,
            in_flight_bytes: load.bytes.0,
        }
    }
}

/// An Interest that left. `in_flight` and `in_flight_bytes` are the load before it.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Sent {
    first: u64,
    count: u16,
    attempt: u16,
    expected: u64,
    in_flight: u32,
    in_flight_bytes: u64,
}

impl From<&control::Sent> for Sent {
    fn from(sent: &control::Sent) -> Sent {
        Sent {
            first: sent.first,
            count: sent.count,
            attempt: sent.attempt,
            expected: sent.expected.0,
            in_flight: sent.before.segments,
            in_flight_bytes: sent.before.bytes.0,
        }
    }
}

/// Data that arrived. `late`: it had been declared lost. The load is without it.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Arrival {
    segment: u64,
    sent_at: f64,
    rtt: Option<f64>,
    size: u64,
    mark: u64,
    late: bool,
    in_flight: u32,
    in_flight_bytes: u64,
}

impl From<&control::Arrival<'_>> for Arrival {
    fn from(arrival: &control::Arrival<'_>) -> Arrival {
        let load = arrival.in_flight.total();
        Arrival {
            segment: arrival.segment,
            sent_at: arrival.sent_at.as_secs_f64(),
            rtt: seconds(arrival.rtt),
            size: arrival.size.0,
            mark: arrival.mark,
            late: arrival.late,
            in_flight: load.segments,
            in_flight_bytes: load.bytes.0,
        }
    }
}

/// A segment that is considered lost; `cause` is `timeout`, `gap` or `nack`. The load is without
/// it.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Loss {
    segment: u64,
    sent_at: f64,
    cause: &'static str,
    in_flight: u32,
    in_flight_bytes: u64,
}

impl From<&control::Loss<'_>> for Loss {
    fn from(loss: &control::Loss<'_>) -> Loss {
        let load = loss.in_flight.total();
        Loss {
            segment: loss.segment,
            sent_at: loss.sent_at.as_secs_f64(),
            cause: cause(loss.cause),
            in_flight: load.segments,
            in_flight_bytes: load.bytes.0,
        }
    }
}

/// A part's view of its link.
#[pyclass(frozen, module = "weir._weir")]
#[derive(Clone, Copy)]
pub struct Link(pub LinkView);

#[pymethods]
impl Link {
    /// The rate out; 0 if unknown.
    #[getter]
    fn rate_out(&self) -> u64 {
        self.0.rate_out.0
    }

    /// The rate in; 0 if unknown.
    #[getter]
    fn rate_in(&self) -> u64 {
        self.0.rate_in.0
    }

    /// Packets of Data in the queue.
    #[getter]
    fn queue_packets(&self) -> u32 {
        self.0.data_out.packets
    }

    /// Bytes of Data in the queue.
    #[getter]
    fn queue_bytes(&self) -> u64 {
        self.0.data_out.bytes.0
    }

    /// The limit of the queue in bytes; 0 if unknown.
    #[getter]
    fn queue_limit(&self) -> u64 {
        self.0.data_limit.0
    }

    /// How long the Data at the head of the queue has been in it.
    #[getter]
    fn head_sojourn(&self) -> f64 {
        self.0.data_out.head_sojourn.as_secs_f64()
    }

    /// Interests that the shaper holds.
    #[getter]
    fn held_packets(&self) -> u32 {
        self.0.held.packets
    }

    /// The bytes of Data that Interests which were let out will bring.
    #[getter]
    fn expected_in(&self) -> u64 {
        self.0.expected_in.0
    }

    /// Flows active on the link.
    #[getter]
    fn flows(&self) -> u32 {
        self.0.flows
    }
}

/// A packet at a link: its `flow`, `segment`, `size`, congestion `mark`, and of an Interest the
/// bytes of Data `expected` and the time that it `expires`.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Packet {
    flow: u64,
    segment: u64,
    size: u64,
    mark: u64,
    expected: u64,
    expires: f64,
    /// The number by which a shaper releases a held Interest.
    handle: u64,
}

impl From<&DataMeta> for Packet {
    fn from(data: &DataMeta) -> Packet {
        Packet {
            flow: data.flow,
            segment: data.segment,
            size: data.size.0,
            mark: data.mark,
            expected: 0,
            expires: f64::INFINITY,
            handle: 0,
        }
    }
}

impl From<&InterestMeta> for Packet {
    fn from(interest: &InterestMeta) -> Packet {
        Packet {
            flow: interest.flow,
            segment: interest.segment,
            size: interest.size.0,
            mark: 0,
            expected: interest.expected.0,
            expires: interest.expires.as_secs_f64(),
            handle: interest.handle,
        }
    }
}

/// A pending Interest as a strategy sees it. `next_hops` are pairs of face and cost, cheapest
/// first;
/// `upstreams` are triples of face, time of release, and the reason of a Nack that came back or
/// None; `downstreams` are pairs of face and time of arrival.
#[pyclass(frozen, get_all, module = "weir._weir")]
pub struct Entry {
    now: f64,
    name: String,
    ingress: u64,
    mark: u64,
    next_hops: Vec<(u64, u64)>,
    upstreams: Vec<(u64, f64, Option<&'static str>)>,
    downstreams: Vec<(u64, f64)>,
}

impl Entry {
    pub fn of(s: &StrategyCx<'_, '_>) -> Entry {
        Entry {
            now: s.cx.now.as_secs_f64(),
            name: s.name.to_string(),
            ingress: s.ingress,
            mark: s.mark,
            next_hops: s.next_hops.iter().map(|hop| (hop.face, hop.cost)).collect(),
            upstreams: s
                .upstreams
                .iter()
                .map(|up| (up.face, up.released_at.as_secs_f64(), up.nacked.map(nack)))
                .collect(),
            downstreams: s
                .downstreams
                .iter()
                .map(|down| (down.face, down.arrived_at.as_secs_f64()))
                .collect(),
        }
    }
}
