//! Requests that are sent twice at the end of an object.

use super::{Requests, pause};
use crate::fetch::flight::{Flight, Flying, Item};
use control::{Duration, Time};
use std::collections::VecDeque;

/// A path loses if at least this share of what was asked for was lost.
const LOSSY: f64 = 0.005;
/// At most so many requests of a fetch, and one in 32, are sent twice without having been lost,
const MOST_ECHOES: u64 = 64;
/// and only where a round trip is worth it.
const ECHO_FROM: Duration = Duration::from_millis(30);

/// The state of requests that are sent twice.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// Nothing new is left to ask for.
    at_end: bool,
    /// Repetitions, in the order in which they left; some may have been answered since.
    repeated: VecDeque<(Time, Item)>,
    /// When the next request may be sent twice; see [`Requests::echo`].
    due: Option<Time>,
    /// How many that were no repetitions have been, and the last one when.
    sent: u64,
    last: Time,
}

impl Echoes {
    /// Something new is asked for.
    pub fn new_request(&mut self) {
        self.at_end = false;
    }

    /// Nothing new is left to ask for.
    pub fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// When the next request may be sent twice.
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// The connection is a new one: nothing is in flight.
    pub fn restart(&mut self) {
        self.repeated.clear();
        self.due = None;
    }

    /// A repetition left.
    pub fn repeated(&mut self, now: Time, item: Item, flight: &Flight) {
        self.repeated.push_back((now, item));
        while let Some((sent_at, item)) = self.repeated.front().copied()
            && flight.get(item).is_none_or(|flying| flying.sent_at != sent_at)
        {
            self.repeated.pop_front();
        }
    }

    /// The next repetition to be sent twice now.
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

    /// Wakes no later than then.
    fn wake(&mut self, at: Time) {
        self.due = Some(self.due.map_or(at, |before| before.min(at)));
    }
}

impl Requests {
    /// Where nothing new is left to ask for: what is to be sent twice, with its attempt, because
    /// if it is lost nothing fills the round trip until that shows. All repetitions are; what was
    /// sent twice and is seen to have been lost once is again, so that two are on their way; and on
    /// a path that loses, the last that were asked for ("gentle aggression", T. Flach and
    /// others, Reducing Web Latency, SIGCOMM 2013), no faster than answers come.
    pub fn echo(&mut self, now: Time) -> Option<(Item, u16)> {
        self.echoes.due = None;
        self.echoes.at_end = true;
        if let Some(item) = self.open() {
            return self.send_once_more(now, item);
        }
        if let Some(item) = self.echoes.next_repetition(now, &self.flight) {
            return self.send_once_more(now, item);
        }
        if let Some(item) = self.half_lost(now) {
            return self.send_once_more(now, item);
        }
        let item = self.last_to_echo(now)?;
        self.echoes.sent += 1;
        self.echoes.last = now;
        self.send_once_more(now, item)
    }

    /// A request that was sent twice, and has been lost once.
    fn half_lost(&mut self, now: Time) -> Option<Item> {
        let rtt = self.rtt();
        let longest = rtt.smoothed()? + Duration(rtt.variation().0.saturating_mul(4));
        let due = self.flight.halves(self.tolerance(), longest);
        let next = due.map(|(at, item, last)| (at.max(last.sent_at + pause(last.attempt)), item));
        let (at, item) = next.min()?;
        if at <= now {
            return Some(item);
        }
        self.echoes.wake(at);
        None
    }

    /// The last of what is in flight that was sent once only, if sending it twice now gains a
    /// quarter of a round trip over waiting for its loss to show.
    fn last_to_echo(&mut self, now: Time) -> Option<Item> {
        let lost = self.stats.overtaken() + self.stats.counters.timeouts;
        let srtt = self.rtt().smoothed()?;
        let lossy = lost as f64 >= LOSSY * self.stats.counters.data as f64;
        // Where a queue is long, what is lost is lost for that, and more makes it worse.
        let queued = self.rtt().min().is_none_or(|min| srtt > min + Duration(min.0 / 2));
        let most = MOST_ECHOES.min(self.stats.counters.data / 32);
        if !lossy || queued || self.echoes.sent >= most || srtt < ECHO_FROM {
            return None;
        }
        let late = Duration(srtt.0 / 4 * 3);
        let first = |flying: &Flying| flying.attempt == 0 && now.since(flying.sent_at) < late;
        let mut wake = Some(self.echoes.last + self.silence.spacing()).filter(|next| *next > now);
        if wake.is_none() {
            for (item, flying) in self.flight.latest().filter(|(_, flying)| first(flying)) {
                let at = flying.sent_at + pause(0);
                if at <= now {
                    return Some(item);
                }
                wake = Some(wake.map_or(at, |wake| wake.min(at)));
            }
        }
        if let Some(at) = wake {
            self.echoes.wake(at);
        }
        None
    }
}
