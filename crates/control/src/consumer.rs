//! The consumer's part of a scheme decides when to request which segment.
//!
//! The order of calls: [`Controller::permit`] any number of times; [`Controller::on_sent`] after
//! each Interest that has left; then exactly one of [`Controller::on_data`] and
//! [`Controller::on_loss`] per segment. If Data arrives after its loss was declared, `on_data` is
//! called once more with `late` set. [`Controller::on_deadline`] is called at or after
//! [`Controller::next_deadline`].

use crate::context::Cx;
use crate::quantity::{Rate, Size};
use crate::time::{Duration, Time};
use packet::HopOptions;

/// The maximum number of segments in flight, whatever the controller permits. The host enforces it,
/// and no window is larger. 2.1 GB in segments of 8,000 bytes, a tenth of a second of 160 Gbit/s.
pub const MAX_WINDOW: f64 = 262_144.0;

/// The highest accepted rate from any source: no link is faster.
pub const MAX_RATE: Rate = Rate(1_000_000_000_000);

/// A controller's own small number: a source, a path and class, or always 0.
pub type Lane = u16;

/// A controller's own memory of one Interest, handed back with its outcome.
pub type Memo = [u64; 2];

/// Segments and bytes in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Segments that were requested and neither arrived nor were declared lost.
    pub segments: u32,
    /// The expected bytes of their Data.
    pub bytes: Size,
}

/// The load in flight, in total and by lane.
pub trait InFlight {
    /// In all lanes together.
    fn total(&self) -> Load;
    /// The load of one lane; zero for an unused lane.
    fn lane(&self, lane: Lane) -> Load;
    /// The difference between the round trips of answers that overtake one another: no queue is
    /// that long. Zero if answers keep the order of their Interests.
    fn spread(&self) -> Duration {
        Duration::ZERO
    }
}

/// A segment, or a run of segments, that the consumer could request next.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The first segment's number.
    pub first: u64,
    /// The number of segments that one Interest would request.
    pub count: u16,
    /// 0 for the first attempt, 1 for the first retransmission, …
    pub attempt: u16,
    /// The size of a segment's Data packet, as known so far.
    pub segment: Size,
    /// The load in flight.
    pub in_flight: &'a dyn InFlight,
}

/// The answer to an [`Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Ask now, in this lane.
    Now(Lane),
    /// Not this segment; another one may be permitted.
    NotThis,
    /// Nothing before this instant.
    At(Time),
    /// Nothing until something arrives or is lost.
    Wait,
}

/// An Interest that left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The first segment's number.
    pub first: u64,
    /// The number of requested segments.
    pub count: u16,
    /// The lane that the permit named.
    pub lane: Lane,
    /// As in [`Ask::attempt`].
    pub attempt: u16,
    /// The expected bytes of Data.
    pub expected: Size,
    /// The bytes of Data by what the object's metadata say of its segments, as long as none has
    /// come. Unlike `expected`, this is no guess.
    pub stated: Option<Size>,
    /// The load in flight before it left.
    pub before: Load,
}

/// The controller's settings for an Interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticket {
    /// Declare it lost after this long. A gap may show the loss earlier.
    pub timeout: Duration,
    /// Handed back with the outcome.
    pub memo: Memo,
    /// Options that travel with the Interest.
    pub options: HopOptions,
}

/// Data that arrived, with all its signals.
#[derive(Clone, Copy)]
pub struct Arrival<'a> {
    /// The segment's number.
    pub segment: u64,
    /// The lane of the request.
    pub lane: Lane,
    /// The controller's memory of its Interest.
    pub memo: Memo,
    /// The departure of its latest Interest; if `late`, of the one that was declared lost.
    pub sent_at: Time,
    /// The round-trip time, if the segment was requested once (Karn's rule).
    pub rtt: Option<Duration>,
    /// The Data packet's size.
    pub size: Size,
    /// The congestion mark; 0 is none.
    pub mark: u64,
    /// It had been declared lost: the loss was false, or the retransmission unnecessary.
    pub late: bool,
    /// Its hop-by-hop options. Not to be trusted.
    pub options: &'a HopOptions,
    /// The load in flight without it.
    pub in_flight: &'a dyn InFlight,
}

/// Why a segment is considered lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No answer within [`Ticket::timeout`].
    Timeout,
    /// Segments that were requested later have arrived.
    Gap,
    /// The network returned a Nack with this reason (`packet::NackReason` as a number).
    Nack(u64),
}

/// A segment that is considered lost.
#[derive(Clone, Copy)]
pub struct Loss<'a> {
    /// The segment's number.
    pub segment: u64,
    /// The lane of the request.
    pub lane: Lane,
    /// The controller's memory of its Interest.
    pub memo: Memo,
    /// When its latest Interest left.
    pub sent_at: Time,
    /// Why it is considered lost.
    pub cause: Cause,
    /// The Nack's options; empty otherwise. Not to be trusted.
    pub options: &'a HopOptions,
    /// The load in flight without it.
    pub in_flight: &'a dyn InFlight,
}

/// A measurement to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEstimate {
    /// The bottleneck's rate in bits of Data per second.
    pub rate: Rate,
    /// The smallest round-trip time seen.
    pub rtt_min: Duration,
    /// The size of one segment's Data packet.
    pub segment: Size,
}

impl PathEstimate {
    /// The window that fills the path, in segments: from 1 to [`MAX_WINDOW`].
    #[must_use]
    pub fn window(&self) -> f64 {
        let Size(bytes) = self.rate.min(MAX_RATE).size_in(self.rtt_min);
        (bytes as f64 / self.segment.0.max(1) as f64).clamp(1.0, MAX_WINDOW)
    }
}

/// A congestion controller of a consumer: one for each fetch.
pub trait Controller: Send {
    /// Decides about a request now. Pure: a repeated call changes nothing.
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit;

    /// An Interest left. Pacing and window state advance here.
    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket;

    /// The lane of this Data; called just before [`Controller::on_data`]. Answers in one lane keep
    /// the order of their Interests, so an answer shows the loss of earlier Interests in its lane
    /// ([`Cause::Gap`]). If Data arrives in another lane than expected, it is evidence for its own
    /// lane. `None`: it is not evidence for other Interests.
    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        Some(arrival.lane)
    }

    /// Data arrived.
    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>);

    /// A segment is considered lost.
    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>);

    /// The timeout of the Interest that left at `sent_at`: the Interest is lost if this is not
    /// later than now. Later arrivals may show that its answer is still on its way (RFC 6298, 5.3:
    /// every acknowledgement restarts the timer).
    fn overdue_at(&self, _lane: Lane, sent_at: Time) -> Time {
        sent_at
    }

    /// The number of segments per Interest, if the consumer has no other preference. [`Ask::count`]
    /// is this number, or less if fewer are left. 1 requests segments one by one.
    fn range(&self) -> u16 {
        1
    }

    /// `true` if the consumer may repeat overdue Interests on its own when no packets arrive.
    /// `false` for a controller that repeats Interests only by its own timers.
    fn may_be_probed(&self) -> bool {
        true
    }

    /// The time of the next [`Controller::on_deadline`]; after that call, it is later than now.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// The deadline has come.
    fn on_deadline(&mut self, _cx: &mut Cx<'_>) {}

    /// Start this lane from a measurement. Returns false if the scheme cannot.
    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, _estimate: PathEstimate) -> bool {
        false
    }

    /// Values for the record, by lane and name (`"window"` in segments, `"rate"` in bit/s).
    fn gauges(&self, _out: &mut dyn FnMut(Lane, &'static str, f64)) {}
}
