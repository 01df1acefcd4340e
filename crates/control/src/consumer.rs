//! The consumer's side of a scheme: when may which segment be asked for.
//!
//! The order of calls: [`Controller::permit`] any number of times; after each Interest that really
//! left, [`Controller::on_sent`]; then for each segment of it exactly one of
//! [`Controller::on_data`] and [`Controller::on_loss`] — and `on_data` once more, with `late`
//! set, if Data comes after its loss was declared. [`Controller::on_deadline`] is called at or
//! after [`Controller::next_deadline`].

use crate::context::Cx;
use crate::quantity::{Rate, Size};
use crate::time::{Duration, Time};
use packet::HopOptions;

/// The most segments that a consumer has in flight, whatever its controller permits: its host sees
/// to that, and no window is larger. 2.1 GB in segments of 8,000 bytes, a tenth of a second of
/// 160 Gbit/s.
pub const MAX_WINDOW: f64 = 262_144.0;

/// The highest rate that is believed, whoever says it: no link carries more.
pub const MAX_RATE: Rate = Rate(1_000_000_000_000);

/// A controller's own small number: a source, a path and class, or always 0.
pub type Lane = u16;

/// A controller's own memory of one Interest, handed back with its outcome.
pub type Memo = [u64; 2];

/// What is on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Segments asked for and neither arrived nor declared lost.
    pub segments: u32,
    /// The bytes of Data that they are expected to bring.
    pub bytes: Size,
}

/// What is in flight, in total and by lane.
pub trait InFlight {
    /// In all lanes together.
    fn total(&self) -> Load;
    /// In one lane; nothing for a lane that was never used.
    fn lane(&self, lane: Lane) -> Load;
    /// By how much the round trips of those that answer differ, as far as their answers overtake
    /// one another: no queue is that long. Zero where answers keep the order of their Interests.
    fn spread(&self) -> Duration {
        Duration::ZERO
    }
}

/// A segment, or a run of segments, that the consumer would like to ask for.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The first segment's number.
    pub first: u64,
    /// How many segments one Interest would ask for.
    pub count: u16,
    /// 0 for the first attempt, 1 for the first retransmission, …
    pub attempt: u16,
    /// The size of a segment's Data packet as known so far.
    pub segment: Size,
    /// What is in flight now.
    pub in_flight: &'a dyn InFlight,
}

/// The answer to an [`Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Ask now, in this lane.
    Now(Lane),
    /// Not this segment; another one may do.
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
    /// How many segments it asks for.
    pub count: u16,
    /// The lane that the permit named.
    pub lane: Lane,
    /// As in [`Ask::attempt`].
    pub attempt: u16,
    /// The bytes of Data that it is expected to bring.
    pub expected: Size,
    /// What was in flight before it left.
    pub before: Load,
}

/// What the controller attaches to an Interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticket {
    /// Declare it lost after this long. A gap may show the loss earlier.
    pub timeout: Duration,
    /// Handed back with the outcome.
    pub memo: Memo,
    /// Options that travel with the Interest.
    pub options: HopOptions,
}

/// Data that arrived, with every signal as it came.
#[derive(Clone, Copy)]
pub struct Arrival<'a> {
    /// The segment's number.
    pub segment: u64,
    /// The lane in which it was asked for.
    pub lane: Lane,
    /// The controller's memory of its Interest.
    pub memo: Memo,
    /// When its latest Interest left; where `late`, the one that was declared lost.
    pub sent_at: Time,
    /// The round-trip time, if unambiguous: the segment was asked for once (Karn's rule).
    pub rtt: Option<Duration>,
    /// The Data packet's size.
    pub size: Size,
    /// The congestion mark; 0 is none.
    pub mark: u64,
    /// It had been declared lost: the loss was none, or the retransmission was needless.
    pub late: bool,
    /// Hop-by-hop options that came with it. Not to be trusted.
    pub options: &'a HopOptions,
    /// What is in flight without it.
    pub in_flight: &'a dyn InFlight,
}

/// Why a segment is believed lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing came within [`Ticket::timeout`].
    Timeout,
    /// Segments that were asked for later have arrived.
    Gap,
    /// The network returned a Nack with this reason (`packet::NackReason` as a number).
    Nack(u64),
}

/// A segment that is believed lost.
#[derive(Clone, Copy)]
pub struct Loss<'a> {
    /// The segment's number.
    pub segment: u64,
    /// The lane in which it was asked for.
    pub lane: Lane,
    /// The controller's memory of its Interest.
    pub memo: Memo,
    /// When its latest Interest left.
    pub sent_at: Time,
    /// Why it is believed lost.
    pub cause: Cause,
    /// Options that came with the Nack; empty otherwise. Not to be trusted.
    pub options: &'a HopOptions,
    /// What is in flight without it.
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
    /// May this be asked for now? Pure: asking twice changes nothing.
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit;

    /// An Interest left. Pacing and window state advance here.
    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket;

    /// The lane that this Data came in; asked just before [`Controller::on_data`]. Answers in one
    /// lane come in the order of their Interests, so that an answer shows the loss of Interests
    /// that left in its lane before its own ([`Cause::Gap`]). Data that came from elsewhere than
    /// was expected tells of the lane that it came in; `None`: it tells nothing of others.
    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        Some(arrival.lane)
    }

    /// Data arrived.
    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>);

    /// A segment is believed lost.
    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>);

    /// The timeout of the Interest that left at `sent_at` is over: it is lost, unless this is later
    /// than now. What has come since it left may show that its answer is on its way (RFC 6298,
    /// 5.3: every acknowledgement restarts the timer).
    fn overdue_at(&self, _lane: Lane, sent_at: Time) -> Time {
        sent_at
    }

    /// How many segments one Interest is to ask for, where the consumer has no other wish; an
    /// [`Ask::count`] is that, or less where fewer are left. 1 asks for them one by one.
    fn range(&self) -> u16 {
        1
    }

    /// The consumer may ask once more, on its own account, for what is overdue when nothing comes
    /// any more. A controller whose own timers are all that repeats an Interest says no.
    fn may_be_probed(&self) -> bool {
        true
    }

    /// When [`Controller::on_deadline`] wants to be called; after that call, later than now.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// The instant asked for has come.
    fn on_deadline(&mut self, _cx: &mut Cx<'_>) {}

    /// Start this lane from a measurement. Returns false if the scheme cannot.
    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, _estimate: PathEstimate) -> bool {
        false
    }

    /// Values for the record, by lane and name (`"window"` in segments, `"rate"` in bit/s).
    fn gauges(&self, _out: &mut dyn FnMut(Lane, &'static str, f64)) {}
}
