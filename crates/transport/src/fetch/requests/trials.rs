//! The order of answers, as answers and the few overdue Interests that are left open show it.

use super::Requests;
use crate::fetch::flight::{Flying, Item};
use control::{Duration, Lane, Time};

impl Requests {
    /// Returns true if the Data answers an Interest that was declared lost, and not its repetition.
    ///
    /// Either it comes sooner than any round trip, and before answers to what left earlier: the
    /// smallest round trip is known from first attempts, and a repetition may take a little less.
    /// A repetition takes much less if a queue that was full since the first of all has drained;
    /// but then nothing is left that should have been answered before. Or gaps alone showed the
    /// loss, and answers overtake one another by that much by now.
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

    /// A first Interest was answered after `rtt`, perhaps after later ones.
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

    /// An Interest of this lane that left at `sent_at`, and that a gap showed to be lost, was
    /// answered at `now`.
    pub(super) fn note_mistake(&mut self, now: Time, lane: Lane, sent_at: Time) {
        if let Some(longest) = self.flight.longest(lane) {
            let by = now.since(sent_at).saturating_sub(longest);
            self.reordering.overtaken(by, true, self.least_tolerance());
        }
    }

    /// The Interest for `item` is overdue: whether it is left open for a trial. At the end of an
    /// object, where nothing else is left to ask for, a trial would be a delay.
    pub(super) fn is_tried(&mut self, item: Item) -> bool {
        if let Some(trial) = self.reordering.trial()
            && self.open().is_none()
        {
            // Another way than by an answer or by time: a Nack, or it is not needed any more.
            self.reordering.tried(trial, false);
        }
        let is_segment = matches!(item, Item::Segment(_));
        let is_first = self.flight.get(item).is_some_and(|f| f.attempt == 0 && !f.is_probe());
        if self.echoes.is_at_end() || !is_segment || !is_first || !self.reordering.tries(item) {
            return false;
        }
        // Repetitions are no samples of the round-trip time (Karn's rule), so that it may be known
        // of the nearest origin alone: the time-out has a margin for others.
        self.flight.leave_open(item, self.rtt().rto());
        true
    }

    /// The Interest that is left open for a trial, if it is in flight still.
    pub(super) fn open(&self) -> Option<Item> {
        self.reordering.trial().filter(|item| self.flight.get(*item).is_some_and(Flying::is_open))
    }
}
