//! Requests sent twice at the end of an object, to save the round trip that a loss would cost.

use super::pause::pause;
use crate::fetch::flight::{Flight, Tolerance};
use crate::fetch::item::Item;
use crate::fetch::stats::Stats;
use control::{Duration, RttEstimate, Time};
use std::collections::VecDeque;

/// A path counts as lossy from this ratio of losses to answers.
const LOSSY: f64 = 0.005;
/// The maximum number of first Interests that a fetch sends twice; also at most one per 32 answers.
const MOST_ECHOES: u64 = 64;
/// First Interests are sent twice only if the round-trip time is at least this long.
const ECHO_FROM: Duration = Duration::from_millis(30);

/// The state of the fetch that decides which requests are sent twice.
pub(super) struct EchoInput<'a> {
    pub flight: &'a Flight,
    pub rtt: &'a RttEstimate,
    pub tolerance: Tolerance,
    pub stats: &'a Stats,
    /// The time between two first Interests sent twice.
    pub spacing: Duration,
}

/// The state of requests sent twice.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// All items have been requested.
    at_end: bool,
    /// Retransmissions, in the order of sending; some may have been answered since.
    repeated: VecDeque<(Time, Item)>,
    /// The instant of the next call of [`super::Requests::echo`].
    due: Option<Time>,
    /// The number of first Interests sent twice, and the instant of the last one.
    sent: u64,
    last: Time,
}

impl Echoes {
    /// Records the first request for an item.
    pub fn new_request(&mut self) {
        self.at_end = false;
    }

    /// True if all items have been requested.
    pub fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// The instant at which the next request may be sent twice.
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// Forgets the requests in flight, for a new connection.
    pub fn restart(&mut self) {
        self.repeated.clear();
        self.due = None;
    }

    /// Records a retransmission.
    pub fn repeated(&mut self, now: Time, item: Item, flight: &Flight) {
        self.repeated.push_back((now, item));
        while let Some((sent_at, item)) = self.repeated.front().copied()
            && flight.get(item).is_none_or(|flying| flying.sent_at != sent_at)
        {
            self.repeated.pop_front();
        }
    }

    /// The next retransmission to send twice now.
    fn next_repetition(&mut self, now: Time, flight: &Flight) -> Option<Item> {
        while let Some((sent_at, item)) = self.repeated.front().copied() {
            let flying = flight.get(item).filter(|f| f.sent_at == sent_at && !f.is_probe());
            match flying.map(|flying| sent_at + pause(flying.attempt)) {
                Some(at) if at > now => {
                    self.due = Some(at);
                    break;
                }
                at => {
                    self.repeated.pop_front();
                    if at.is_some() {
                        return Some(item);
                    }
                }
            }
        }
        None
    }

    /// Sets the timer to `at`, unless it expires earlier.
    fn wake(&mut self, at: Time) {
        self.due = Some(self.due.map_or(at, |before| before.min(at)));
    }

    /// Records that all items have been requested, and forgets the timer.
    pub fn reach_end(&mut self) {
        self.due = None;
        self.at_end = true;
    }

    /// The next request to send twice now, apart from trials.
    pub fn next(&mut self, now: Time, open: &EchoInput<'_>) -> Option<Item> {
        let repeated = self.next_repetition(now, open.flight);
        if let Some(item) = repeated.or_else(|| self.half_lost(now, open)) {
            return Some(item);
        }
        let item = self.last_to_echo(now, open)?;
        self.sent += 1;
        self.last = now;
        Some(item)
    }

    /// A request sent twice of which one Interest is lost.
    fn half_lost(&mut self, now: Time, open: &EchoInput<'_>) -> Option<Item> {
        let longest = open.rtt.smoothed()? + Duration(open.rtt.variation().0.saturating_mul(4));
        let due = open.flight.halves(open.tolerance, longest);
        let next = due.map(|(at, item, last)| (at.max(last.sent_at + pause(last.attempt)), item));
        let (at, item) = next.min()?;
        if at <= now {
            return Some(item);
        }
        self.wake(at);
        None
    }

    /// The latest first Interest in flight, if sending it again now gains at least a quarter of a
    /// round trip over waiting for its loss to be detected.
    fn last_to_echo(&mut self, now: Time, open: &EchoInput<'_>) -> Option<Item> {
        let lost = open.stats.overtaken() + open.stats.counters.timeouts;
        let srtt = open.rtt.smoothed()?;
        let lossy = lost as f64 >= LOSSY * open.stats.counters.data as f64;
        // If a queue is long, losses are due to congestion, and more Interests make it worse.
        let queued = open.rtt.min().is_none_or(|min| srtt > min + Duration(min.0 / 2));
        let most = MOST_ECHOES.min(open.stats.counters.data / 32);
        if !lossy || queued || self.sent >= most || srtt < ECHO_FROM {
            return None;
        }
        let late = Duration(srtt.0 / 4 * 3);
        let mut wake = Some(self.last + open.spacing).filter(|next| *next > now);
        if wake.is_none() {
            for (item, flying) in open.flight.latest() {
                if flying.attempt > 0 || now.since(flying.sent_at) >= late {
                    continue;
                }
                let at = flying.sent_at + pause(0);
                if at <= now {
                    return Some(item);
                }
                wake = Some(wake.map_or(at, |wake| wake.min(at)));
            }
        }
        if let Some(at) = wake {
            self.wake(at);
        }
        None
    }
}
