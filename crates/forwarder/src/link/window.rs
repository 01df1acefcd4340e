//! The limit on bytes in flight to a peer with a small socket buffer.
//!
//! A peer's program sometimes does not run for some milliseconds. Meanwhile frames wait in its
//! socket's receive buffer: 212,992 bytes on Linux by default. Frames that find it full are lost.
//! So the bytes in flight are limited to the size of that buffer. Some packets, the *markers*,
//! carry a TxSequence (NDNLPv2, "Reliability"). The peer's Ack of a marker shows that it has read
//! everything up to there. There is no limit for a peer that does not acknowledge.
//!
//! Bytes in flight may also be elsewhere: on a long path, or in the queues of a slow one, which
//! this limit must not count. Therefore
//!
//! 1. the limit grows by the bytes on the path itself, the acknowledged rate times the smallest
//!    round-trip time;
//! 2. there is no limit while no acknowledgement comes within [`SLOW`]: a program that waited for
//!    the processor answers at once when it runs, but packets behind a long queue are all overdue;
//! 3. bytes without an acknowledgement for [`PATIENCE`] count as lost.

use control::{Duration, Time};
use std::collections::VecDeque;

/// The bytes that Linux adds to each datagram when it charges a receive buffer: a buffer of 212,992
/// bytes held 92 datagrams of 1472 bytes (2304 each) and 256 of 40 (832 each). Datagrams that
/// arrive joined (GRO) cost a third less.
const FRAME_COST: u64 = 832;

/// The limit delays no packet for longer than this. A receiver that is suspended for longer loses
/// frames.
const PATIENCE: Duration = Duration::from_millis(100);

/// If all recent acknowledgements take at least this long, the path is long or has a queue.
const SLOW: Duration = Duration::from_millis(20);

/// The latest acknowledgements are those of this span, and of the one before.
const LATELY: Duration = Duration::from_millis(200);

/// A marker that was not acknowledged for so long is not waited for.
const LOST: Duration = Duration::from_secs(1);

/// A marker is sent each time that this part of the limit has been sent.
const PARTS: u64 = 6;

/// The most markers whose acknowledgement is awaited.
const MAX_MARKERS: usize = 16;

/// After this many markers without an acknowledgement, the peer counts as one that does not
/// acknowledge, or not in time.
const SILENCE: u32 = 8;

/// The time until such a peer is asked again.
const PROBE: Duration = Duration::from_secs(10);

/// How long the smallest round-trip time is believed, at least; at most twice as long.
const MEMORY: Duration = Duration::from_secs(30);

/// On a path as long as this the bound may grow by twice what the path holds, so that the sending
/// rate can double each round trip.
const LONG: Duration = Duration::from_millis(1);

/// A packet whose receipt is to be acknowledged.
#[derive(Clone, Copy, Debug)]
struct Marker {
    tx: u64,
    /// The bytes sent before its first frame.
    upto: u64,
    sent_at: Time,
    /// The bytes acknowledged at that time.
    acknowledged: u64,
    /// Set if the bytes sent before it count as lost.
    gone: bool,
}

/// The peer's habit of acknowledging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Unknown,
    Acknowledges,
    /// Not before this instant will it be asked again.
    Silent(Time),
}

/// The bound on what is on its way to a peer. Bytes in here are what they cost the peer's buffer.
#[derive(Debug)]
pub(crate) struct Window {
    bound: u64,
    sent: u64,
    /// How much of `sent` the peer is known to have read, or counts as lost.
    acknowledged: u64,
    /// `sent` at the latest marker.
    marked: Option<u64>,
    markers: VecDeque<Marker>,
    peer: Peer,
    unanswered: u32,
    /// The smallest round-trip time that is remembered, and the smallest of late.
    smallest: Smallest,
    lately: Smallest,
    /// The bytes that the path itself holds.
    path: u64,
}

impl Window {
    /// A limit of `bound` bytes.
    pub(crate) fn new(bound: u64) -> Window {
        Window {
            bound,
            sent: 0,
            acknowledged: 0,
            marked: None,
            markers: VecDeque::with_capacity(MAX_MARKERS),
            peer: Peer::Unknown,
            unanswered: 0,
            smallest: Smallest::over(MEMORY),
            lately: Smallest::over(LATELY),
            path: 0,
        }
    }

    /// The limit on bytes in flight.
    fn limit(&self) -> u64 {
        let more = if self.smallest.get() >= LONG { 2 * self.path } else { self.path };
        self.bound + more
    }

    /// The first instant at which the next packet may leave, as far as the peer is concerned.
    pub(crate) fn opens_at(&self) -> Time {
        let free = self.peer != Peer::Acknowledges || self.lately.get() >= SLOW;
        if free || self.sent - self.acknowledged < self.limit() {
            return Time::ZERO;
        }
        let waiting = self.markers.iter().find(|marker| !marker.gone);
        waiting.map_or(Time::ZERO, |marker| marker.sent_at + PATIENCE)
    }

    /// True if the next packet has to be a marker.
    pub(crate) fn wants_marker(&self, now: Time) -> bool {
        if let Peer::Silent(until) = self.peer {
            return now >= until;
        }
        let due = self.marked.is_none_or(|marked| self.sent - marked >= self.limit() / PARTS);
        due && self.markers.len() < MAX_MARKERS
    }

    /// `frames` of `bytes` leave; `marker` is the TxSequence of the first of them, if it is to be
    /// acknowledged and [`Window::wants_marker`].
    pub(crate) fn on_sent(&mut self, now: Time, bytes: usize, frames: u64, marker: Option<u64>) {
        let cost = bytes as u64 + frames * FRAME_COST;
        if let Some(tx) = marker {
            let upto = self.sent + cost / frames.max(1);
            self.markers.push_back(Marker {
                tx,
                upto,
                sent_at: now,
                acknowledged: self.acknowledged,
                gone: false,
            });
            self.marked = Some(self.sent);
            if let Peer::Silent(_) = self.peer {
                self.peer = Peer::Silent(now + PROBE);
            }
        }
        self.sent += cost;
    }

    /// Stops waiting for acknowledgements that are overdue.
    pub(crate) fn expire(&mut self, now: Time) {
        for marker in self.markers.iter_mut().take_while(|m| m.sent_at + PATIENCE <= now) {
            marker.gone = true;
            self.acknowledged = self.acknowledged.max(marker.upto);
        }
        while self.markers.front().is_some_and(|marker| marker.sent_at + LOST <= now) {
            self.markers.pop_front();
            self.unanswered += 1;
            if self.unanswered >= SILENCE && !matches!(self.peer, Peer::Silent(_)) {
                self.peer = Peer::Silent(now + PROBE);
            }
        }
    }

    /// The peer acknowledges a TxSequence, of ours or not.
    pub(crate) fn on_ack(&mut self, now: Time, tx: u64) {
        let Some(at) = self.markers.iter().position(|marker| marker.tx == tx) else { return };
        let marker = self.markers[at];
        self.markers.drain(..=at);
        self.peer = Peer::Acknowledges;
        self.unanswered = 0;
        self.acknowledged = self.acknowledged.max(marker.upto);
        let rtt = now.since(marker.sent_at).max(Duration(1));
        self.smallest.sample(now, rtt);
        self.lately.sample(now, rtt);
        // Acknowledged while the marker was on its way: the rate times this round-trip time. The
        // smallest one's part of it is what the path holds when nothing waits anywhere.
        let delivered = u128::from(self.acknowledged.saturating_sub(marker.acknowledged));
        let path = delivered * u128::from(self.smallest.get().0) / u128::from(rtt.0);
        let path = u64::try_from(path).unwrap_or(u64::MAX);
        self.path = path.max(self.path - self.path / 8);
    }
}

/// The smallest sample of a span of time and of what has passed of the next one.
#[derive(Debug)]
struct Smallest {
    span: Duration,
    since: Time,
    now: Duration,
    before: Duration,
}

impl Smallest {
    fn over(span: Duration) -> Smallest {
        Smallest { span, since: Time::ZERO, now: Duration::MAX, before: Duration::MAX }
    }

    fn sample(&mut self, now: Time, rtt: Duration) {
        if now.since(self.since) >= self.span {
            self.before = std::mem::replace(&mut self.now, Duration::MAX);
            self.since = now;
        }
        self.now = self.now.min(rtt);
    }

    fn get(&self) -> Duration {
        self.now.min(self.before)
    }
}

#[cfg(test)]
mod tests;
