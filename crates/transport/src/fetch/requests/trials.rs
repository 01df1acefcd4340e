//! The tolerance for reordering, and its evidence: answers to overdue Interests, and Interests left
//! open for a trial.

use super::Requests;
use crate::fetch::flight::{Flying, Tolerance};
use crate::fetch::item::Item;
use control::{Duration, Lane, Time};
use packet::HopOptions;
use packet::options::RttSpread;

/// The smallest tolerance for reordering, because the timers of drivers have a limited resolution.
const MIN_TOLERANCE: Duration = Duration::from_millis(1);

impl Requests {
    /// Returns true if the Data answers an Interest that was declared lost, and not its
    /// retransmission. There are two cases:
    ///
    /// - The Data arrives sooner than any round trip could take, and before answers to earlier
    ///   Interests. The smallest round trip is known from first attempts; a retransmission may take
    ///   a little less. It takes much less if a queue that was full from the start has drained, but
    ///   then no earlier Interest is still unanswered.
    /// - The loss was detected by a gap, and by now answers are known to overtake one another by
    ///   that much.
    pub(super) fn answers_the_first(&mut self, now: Time, flying: &Flying) -> bool {
        if flying.attempt == 0 {
            return false;
        }
        let least =
            self.round_trips.shortest().map_or(Duration::ZERO, |least| Duration(least.0 / 8 * 7));
        if now.since(flying.asked_at) < least && self.flight.is_out_of_turn(now, flying) {
            if let Some(first) = flying.repeats {
                self.note_mistake(now, flying.lane, first);
            }
            return true;
        }
        let window = self.reordering.window();
        let longest = self.flight.longest(flying.lane).filter(|_| window > Duration::ZERO);
        let in_order = longest.map(|longest| longest + window);
        flying.repeats.zip(in_order).is_some_and(|(first, most)| now.since(first) <= most)
    }

    /// Records by how much an answered Interest was overtaken by answers to later Interests. Only
    /// a first Interest counts.
    pub(super) fn note_overtaken(&mut self, item: Item, flying: &Flying, rtt: Duration) {
        if flying.is_open() {
            self.reordering.tried(item, false);
        }
        let is_first = flying.attempt == 0 && !flying.is_probe();
        if is_first {
            self.reordering.answered();
        }
        if let Some(after) = self.flight.passed(flying.lane, flying).filter(|_| is_first) {
            let by = rtt.saturating_sub(after);
            self.reordering.overtaken(by, flying.is_open(), self.least_tolerance());
        }
    }

    /// Records a false loss: an Interest of this lane, sent at `sent_at` and declared lost by a
    /// gap, was answered at `now`.
    pub(super) fn note_mistake(&mut self, now: Time, lane: Lane, sent_at: Time) {
        if let Some(longest) = self.flight.longest(lane) {
            let by = now.since(sent_at).saturating_sub(longest);
            self.reordering.overtaken(by, true, self.least_tolerance());
        }
    }

    /// Records by how much other answers of this lane come later than Data that came after `rtt`:
    /// as the path tells it, and as answers have shown it.
    pub(super) fn note_spread(
        &mut self,
        now: Time,
        lane: Lane,
        rtt: Duration,
        options: &HopOptions,
    ) {
        if let Some(spread) = options.get::<RttSpread>() {
            self.flight.on_spread(now, lane, rtt, spread);
        }
        let spread = self.reordering.extent().max(self.flight.spread_of(now, lane));
        self.flight.set_spread(spread);
    }

    /// Decides whether the overdue Interest for `item` is left open for a trial. At the end of an
    /// object a trial would only be a delay.
    pub(super) fn is_tried(&mut self, item: Item) -> bool {
        if let Some(trial) = self.reordering.trial()
            && self.open().is_none()
        {
            // The trial ended without an answer or timeout: by a Nack, or by cancellation.
            self.reordering.tried(trial, false);
        }
        let is_segment = matches!(item, Item::Segment(_));
        let is_first = self.flight.get(item).is_some_and(|f| f.attempt == 0 && !f.is_probe());
        if self.echoes.is_at_end() || !is_segment || !is_first || !self.reordering.tries(item) {
            return false;
        }
        // Retransmissions are not samples of the round-trip time (Karn's rule), so it may be known
        // for the nearest origin only. The timeout has a margin for the others.
        self.flight.leave_open(item, self.reordering.trial_time(self.rtt().rto()));
        true
    }

    /// The Interest left open for a trial, if it is still in flight.
    pub(super) fn open(&self) -> Option<Item> {
        self.reordering.trial().filter(|item| self.flight.get(*item).is_some_and(Flying::is_open))
    }

    /// The tolerance for reordering (RFC 8985, section 6.2, step 4): a quarter of the smallest
    /// round-trip time, or the minimum after three later answers; more if the network was seen to
    /// reorder ([`Reordering`]).
    pub(super) fn tolerance(&self) -> Tolerance {
        let window = self.reordering.window();
        let overtaken = self.least_tolerance().max(window);
        let thrice = if window == Duration::ZERO { MIN_TOLERANCE } else { overtaken };
        Tolerance { overtaken, thrice }
    }

    /// The tolerance if the network was not seen to reorder.
    fn least_tolerance(&self) -> Duration {
        Duration(self.rtt().min().unwrap_or(Duration::ZERO).0 / 4).max(MIN_TOLERANCE)
    }
}
