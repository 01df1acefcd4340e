//! How much may be on its way to a peer whose socket buffer is small.
//!
//! A peer's program is now and then not running for some milliseconds, and what comes meanwhile
//! waits in its socket's receive buffer: with Linux 212,992 bytes unless somebody asked for more,
//! and what finds it full is lost. So the bytes on the way are bounded by what that buffer holds.
//! Some packets, the *markers*, carry a TxSequence (NDNLPv2, "Reliability"); the peer's Ack of one
//! says that it has read everything up to there. A peer that does not acknowledge is sent to
//! without a bound.
//!
//! The buffer is not the only place where bytes may be: a long path holds some, and a slow one has
//! queues of its own that are none of our business. Therefore
//!
//! 1. the bound grows by what the path itself holds, the acknowledged rate times the smallest
//!    round-trip time;
//! 2. there is none while no acknowledgement comes within [`SLOW`]: a program that gets no
//!    processor for a while answers at once when it does, the packets behind a long queue all come
//!    late;
//! 3. what has not been acknowledged for [`PATIENCE`] counts as gone.

use control::{Duration, Time};
use std::collections::VecDeque;

/// What Linux adds to each datagram's bytes when it counts them against a receive buffer: the
/// buffer of 212,992 bytes was seen to hold 92 datagrams of 1472 bytes (2304 each) and 256 of 40
/// (832 each). Datagrams that arrive joined (GRO) are cheaper by a third.
const FRAME_COST: u64 = 832;

/// No bound holds a packet back for longer than this. A receiver that does not run for longer loses
/// something.
const PATIENCE: Duration = Duration::from_millis(100);

/// Acknowledgements all of which take so long come over a path with a queue, or a long one.
const SLOW: Duration = Duration::from_millis(20);

/// The latest acknowledgements are those of this span, and of the one before.
const LATELY: Duration = Duration::from_millis(200);

/// A marker that was not acknowledged for so long is not waited for.
const LOST: Duration = Duration::from_secs(1);

/// A marker is sent each time that this part of what may be on the way was sent.
const PARTS: u64 = 6;

/// The most markers whose acknowledgement is awaited.
const MAX_MARKERS: usize = 16;

/// After so many markers without acknowledgement the peer is taken for one that does not
/// acknowledge, or not in time.
const SILENCE: u32 = 8;

/// How long such a peer is not asked again.
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
    /// What had been sent when its first frame was.
    upto: u64,
    sent_at: Time,
    /// What had been acknowledged then.
    heard: u64,
    /// What was sent before it counts as gone.
    gone: bool,
}

/// Whether the peer acknowledges.
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
    /// How much of `sent` the peer is known to have read, or is taken for gone.
    heard: u64,
    /// `sent` at the latest marker.
    marked: Option<u64>,
    markers: VecDeque<Marker>,
    peer: Peer,
    unanswered: u32,
    /// The smallest round-trip time that is remembered, and the smallest of late.
    smallest: Smallest,
    lately: Smallest,
    /// What the path itself holds.
    path: u64,
}

impl Window {
    /// A bound of so many bytes.
    pub(crate) fn new(bound: u64) -> Window {
        Window {
            bound,
            sent: 0,
            heard: 0,
            marked: None,
            markers: VecDeque::with_capacity(MAX_MARKERS),
            peer: Peer::Unknown,
            unanswered: 0,
            smallest: Smallest::over(MEMORY),
            lately: Smallest::over(LATELY),
            path: 0,
        }
    }

    /// What may be on the way.
    fn limit(&self) -> u64 {
        let more = if self.smallest.get() >= LONG { 2 * self.path } else { self.path };
        self.bound + more
    }

    /// The first instant at which the next packet may leave, as far as the peer is concerned.
    pub(crate) fn opens(&self) -> Time {
        let free = self.peer != Peer::Acknowledges || self.lately.get() >= SLOW;
        if free || self.sent - self.heard < self.limit() {
            return Time::ZERO;
        }
        let waiting = self.markers.iter().find(|marker| !marker.gone);
        waiting.map_or(Time::ZERO, |marker| marker.sent_at + PATIENCE)
    }

    /// Whether the next packet has to be a marker.
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
                heard: self.heard,
                gone: false,
            });
            self.marked = Some(self.sent);
            if let Peer::Silent(_) = self.peer {
                self.peer = Peer::Silent(now + PROBE);
            }
        }
        self.sent += cost;
    }

    /// What was not acknowledged in time is not waited for.
    pub(crate) fn expire(&mut self, now: Time) {
        for marker in self.markers.iter_mut().take_while(|m| m.sent_at + PATIENCE <= now) {
            marker.gone = true;
            self.heard = self.heard.max(marker.upto);
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
        self.heard = self.heard.max(marker.upto);
        let rtt = now.since(marker.sent_at).max(Duration(1));
        self.smallest.sample(now, rtt);
        self.lately.sample(now, rtt);
        // Acknowledged while the marker was on its way: the rate times this round-trip time. The
        // smallest one's part of it is what the path holds when nothing waits anywhere.
        let delivered = u128::from(self.heard.saturating_sub(marker.heard));
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
