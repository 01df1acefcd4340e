//! Requests that have neither been answered nor declared lost.
//!
//! Losses show in two ways. A *gap*: a later request in the same lane has been answered, and more
//! than a round trip and a tolerance for reordering has passed (RACK, RFC 8985, section 6.2, with
//! Interests in the place of segments and Data in the place of acknowledgements; see
//! [`crate::fetch::order`]). Or the *timeout* that the controller set for the Interest.

use crate::fetch::order::{Origin, Origins, Passed};
use control::{Duration, InFlight, Lane, Load, Memo, Size, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where a segment was in the Interest that asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// It was the only one.
    #[default]
    Alone,
    /// Its name was the Interest's, which asked for more.
    First,
    /// It was asked for by the range alone.
    Behind,
}

/// The item that an Interest requests. The order is the order of retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// The object's RDR metadata, or whatever lies under its bare name.
    Metadata,
    /// A node of the manifest.
    Node(u64),
    /// A segment.
    Segment(u64),
}

impl Item {
    /// The number by which controllers know it.
    #[must_use]
    pub const fn segment(self) -> u64 {
        match self {
            Item::Segment(n) => n,
            Item::Metadata | Item::Node(_) => 0,
        }
    }

    /// The segment that is `at` further on; other things stand alone.
    #[must_use]
    pub const fn behind(self, at: u16) -> Item {
        match self {
            Item::Segment(n) => Item::Segment(n.saturating_add(at as u64)),
            Item::Metadata | Item::Node(_) => self,
        }
    }
}

/// One Interest on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flying {
    /// When it left.
    pub sent_at: Time,
    /// When the Interest left that the controller knows of: earlier than `sent_at` if that was a
    /// probe.
    pub asked_at: Time,
    /// When the first Interest for the item left, if this one repeats it because gaps, and
    /// nothing else, showed losses since.
    pub repeats: Option<Time>,
    /// Place in the order of sending, and when it left, of the one for the same item before it, if
    /// it was sent once more in addition.
    earlier: Option<(u64, Time)>,
    /// The controller's lane.
    pub lane: Lane,
    /// The controller's memory of it.
    pub memo: Memo,
    /// 0 for the first Interest for the item.
    pub attempt: u16,
    /// The bytes of Data that it is expected to bring.
    pub expected: Size,
    /// When it times out.
    pub deadline: Time,
    /// Where it was in its Interest.
    pub place: Place,
    /// Its place in the order of sending.
    order: u64,
    /// A gap does not show its loss; see [`Flight::leave_open`].
    is_open: bool,
}

impl Flying {
    /// It was sent once more, without the controller.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.asked_at != self.sent_at
    }

    /// See [`Flight::leave_open`].
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}

/// A lane's Interests in the order in which they left, and what answers show of them.
#[derive(Debug, Default)]
struct LaneState {
    /// May hold entries that are no longer in flight; they are skipped by their order number.
    sent: VecDeque<(u64, Item)>,
    load: Load,
    origins: Origins,
}

/// So many Interests in a row may have been lost.
const THRICE: u32 = 3;
/// More need not be looked at.
const MOST_AHEAD: u32 = 64;

/// For how long answers may overtake one another before a gap counts as a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Where one or two that were sent later have been answered.
    pub overtaken: Duration,
    /// Where three or more have.
    pub thrice: Duration,
}

impl Tolerance {
    /// After how long an Interest is overdue that later ones have passed.
    fn after(self, passed: Passed) -> Duration {
        passed.after + if passed.thrice { self.thrice } else { self.overtaken }
    }
}

/// All Interests in flight.
#[derive(Debug, Default)]
pub struct Flight {
    flying: BTreeMap<Item, Flying>,
    deadlines: BTreeSet<(Time, Item)>,
    by_order: BTreeMap<u64, Item>,
    lanes: Vec<LaneState>,
    total: Load,
    next_order: u64,
    /// See [`InFlight::spread`].
    pub spread: Duration,
}

/// An Interest that is about to fly.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// When it leaves.
    pub sent_at: Time,
    /// See [`Flying::lane`].
    pub lane: Lane,
    /// See [`Flying::memo`].
    pub memo: Memo,
    /// See [`Flying::attempt`].
    pub attempt: u16,
    /// See [`Flying::expected`].
    pub expected: Size,
    /// Declared lost after this long.
    pub timeout: Duration,
    /// See [`Flying::place`].
    pub place: Place,
}

impl Flight {
    /// Records an Interest that left; an earlier one for the same item is forgotten.
    pub fn launch(&mut self, item: Item, launch: &Launch) {
        self.remove(item);
        let lane = usize::from(launch.lane);
        if self.lanes.len() <= lane {
            self.lanes.resize_with(lane + 1, LaneState::default);
        }
        let order = self.next_order;
        self.next_order += 1;
        let deadline = launch.sent_at + launch.timeout;
        let Launch { sent_at, lane: number, memo, attempt, expected, place, .. } = *launch;
        let asked_at = sent_at;
        let flying = Flying {
            sent_at,
            asked_at,
            repeats: None,
            earlier: None,
            lane: number,
            memo,
            attempt,
            expected,
            deadline,
            place,
            order,
            is_open: false,
        };
        self.flying.insert(item, flying);
        self.deadlines.insert((deadline, item));
        self.by_order.insert(order, item);
        self.lanes[lane].sent.push_back((order, item));
        for load in [&mut self.lanes[lane].load, &mut self.total] {
            load.segments += 1;
            load.bytes += expected;
        }
    }

    /// Sends what is in flight once more, without the controller: its answer shows whether others
    /// that left before are lost. Returns the attempt that it is.
    pub fn probe(&mut self, item: Item, now: Time) -> Option<u16> {
        let flying = *self.get(item)?;
        let attempt = flying.attempt.saturating_add(1);
        let Flying { sent_at, asked_at, lane, memo, expected, deadline, order, .. } = flying;
        let timeout = deadline.since(sent_at);
        let place = Place::Alone;
        self.launch(item, &Launch { sent_at: now, lane, memo, attempt, expected, timeout, place });
        if let Some(flying) = self.flying.get_mut(&item) {
            flying.asked_at = asked_at;
            flying.earlier = Some((order, sent_at));
        }
        Some(attempt)
    }

    /// Remembers that the Interest for `item` repeats the first one, which left at `first`.
    pub fn repeats(&mut self, item: Item, first: Time) {
        if let Some(flying) = self.flying.get_mut(&item) {
            flying.repeats = Some(first);
        }
    }

    /// The Interest for `item` times out at `deadline` and not before. Says whether it is in
    /// flight.
    pub fn defer(&mut self, item: Item, deadline: Time) -> bool {
        let Some(flying) = self.flying.get_mut(&item) else { return false };
        self.deadlines.remove(&(flying.deadline, item));
        flying.deadline = deadline;
        self.deadlines.insert((deadline, item))
    }

    /// The Interest for `item`, if it is in flight.
    #[must_use]
    pub fn get(&self, item: Item) -> Option<&Flying> {
        self.flying.get(&item)
    }

    /// Takes `item` out of the air.
    pub fn remove(&mut self, item: Item) -> Option<Flying> {
        let flying = self.flying.remove(&item)?;
        self.deadlines.remove(&(flying.deadline, item));
        self.by_order.remove(&flying.order);
        let lane = &mut self.lanes[usize::from(flying.lane)];
        for load in [&mut lane.load, &mut self.total] {
            load.segments -= 1;
            load.bytes = load.bytes - flying.expected;
        }
        // Answered Interests leave the queue at its front. This keeps the queue at most twice as
        // long as the flight even if one old Interest stays unanswered.
        if lane.sent.len() > 64 && lane.sent.len() as u64 > 2 * u64::from(lane.load.segments) {
            let flying = &self.flying;
            lane.sent.retain(|(order, item)| flying.get(item).is_some_and(|f| f.order == *order));
        }
        Some(flying)
    }

    /// An Interest was answered at `now`, after `rtt`, by `origin`, which answers `lane`: those
    /// that left in that lane before it should have been too.
    pub fn answered(
        &mut self,
        now: Time,
        flying: &Flying,
        lane: Lane,
        origin: Origin,
        rtt: Duration,
    ) {
        if let Some(state) = self.lanes.get_mut(usize::from(lane)) {
            state.origins.answered(now, origin, flying.order, rtt);
        }
    }

    /// The longest round trip of those that answer `lane`, if an Interest that left after `flying`
    /// was answered there.
    #[must_use]
    pub fn passed(&self, lane: Lane, flying: &Flying) -> Option<Duration> {
        let state = self.lanes.get(usize::from(lane))?;
        Some(state.origins.passed(flying.order)?.after)
    }

    /// True if an answer at `now` to `flying` comes out of turn: answers keep the order of their
    /// Interests, and earlier ones are not due yet, more than three (as many may be lost in a row)
    /// and more than an eighth of the flight.
    #[must_use]
    pub fn is_out_of_turn(&self, now: Time, flying: &Flying) -> bool {
        let Some(lane) = self.lanes.get(usize::from(flying.lane)) else { return false };
        let Some(longest) = lane.origins.longest() else { return false };
        let least = (lane.load.segments / 8).clamp(THRICE + 1, MOST_AHEAD) as usize;
        let before = self.by_order.range(..flying.order).rev();
        let before = before.filter_map(|(_, item)| self.get(*item));
        let in_time = before.take_while(|other| other.sent_at + longest > now);
        in_time.filter(|other| other.lane == flying.lane).take(least).count() == least
    }

    /// The longest round trip of those that answer `lane`.
    #[must_use]
    pub fn longest(&self, lane: Lane) -> Option<Duration> {
        self.lanes.get(usize::from(lane))?.origins.longest()
    }

    /// The Interest for `item` is overdue, and not lost until `longest` after it left.
    pub fn leave_open(&mut self, item: Item, longest: Duration) {
        let Some(flying) = self.flying.get_mut(&item) else { return };
        flying.is_open = true;
        let deadline = flying.sent_at + longest;
        let sent = &mut self.lanes[usize::from(flying.lane)].sent;
        if sent.front().is_some_and(|(order, _)| *order == flying.order) {
            sent.pop_front();
        }
        self.defer(item, deadline);
    }

    /// The first Interest that a gap shows to be lost at `now`, given the tolerance for reordering.
    pub fn gap(&mut self, now: Time, tolerance: Tolerance) -> Option<Item> {
        (0..self.lanes.len()).find_map(|lane| {
            let (due, item) = self.gap_due(lane, tolerance)?;
            (due <= now).then_some(item)
        })
    }

    /// When [`Flight::gap`] is to be asked again, if nothing arrives until then.
    pub fn next_gap(&mut self, tolerance: Tolerance) -> Option<Time> {
        (0..self.lanes.len()).filter_map(|lane| Some(self.gap_due(lane, tolerance)?.0)).min()
    }

    /// Items sent more than once, with the time at which the last but one counts as lost: by its
    /// gap, and after `longest` at the latest.
    pub fn halves(
        &self,
        tolerance: Tolerance,
        longest: Duration,
    ) -> impl Iterator<Item = (Time, Item, &Flying)> {
        self.flying.iter().filter_map(move |(item, flying)| {
            let (order, sent_at) = flying.earlier?;
            let state = self.lanes.get(usize::from(flying.lane))?;
            let passed = state.origins.passed(order)?;
            let passed = Passed { after: passed.after.min(longest), ..passed };
            Some((sent_at + tolerance.after(passed), *item, flying))
        })
    }

    /// The oldest Interest of a lane, if something sent later was answered, and when it is lost.
    fn gap_due(&mut self, lane: usize, tolerance: Tolerance) -> Option<(Time, Item)> {
        let state = &mut self.lanes[lane];
        loop {
            let (order, item) = *state.sent.front()?;
            match self.flying.get(&item) {
                Some(flying) if flying.order == order => {
                    let passed = state.origins.passed(order)?;
                    return Some((flying.sent_at + tolerance.after(passed), item));
                }
                _ => state.sent.pop_front(),
            };
        }
    }

    /// The first Interest whose time is out at `now`.
    #[must_use]
    pub fn timed_out(&self, now: Time) -> Option<Item> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now).map(|(_, item)| *item)
    }

    /// When the next Interest times out.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The Interest that has been in flight for longest.
    #[must_use]
    pub fn oldest(&self) -> Option<(Item, &Flying)> {
        let (_, item) = self.by_order.first_key_value()?;
        Some((*item, self.flying.get(item)?))
    }

    /// The requests in flight, the latest first.
    pub fn latest(&self) -> impl Iterator<Item = (Item, &Flying)> {
        let items = self.by_order.values().rev();
        items.filter_map(|item| Some((*item, self.flying.get(item)?)))
    }

    /// The Interest that left last.
    #[must_use]
    pub fn newest(&self) -> Option<Item> {
        self.by_order.last_key_value().map(|(_, item)| *item)
    }

    /// Everything in flight.
    pub fn items(&self) -> impl Iterator<Item = Item> + '_ {
        self.flying.keys().copied()
    }
}

impl InFlight for Flight {
    fn total(&self) -> Load {
        self.total
    }

    fn lane(&self, lane: Lane) -> Load {
        self.lanes.get(usize::from(lane)).map_or_else(Load::default, |l| l.load)
    }

    fn spread(&self) -> Duration {
        self.spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(flight: &mut Flight, segment: u64, at_ms: u64, lane: Lane) {
        let launch = Launch {
            sent_at: Time::ZERO + Duration::from_millis(at_ms),
            lane,
            memo: [0; 2],
            attempt: 0,
            expected: Size(8000),
            timeout: Duration::from_millis(200),
            place: Place::Alone,
        };
        flight.launch(Item::Segment(segment), &launch);
    }

    fn same(ms: u64) -> Tolerance {
        let time = Duration::from_millis(ms);
        Tolerance { overtaken: time, thrice: time }
    }

    #[test]
    fn three_later_answers_say_more_than_one() {
        let mut flight = Flight::default();
        let tolerance = Tolerance { overtaken: Duration::from_millis(5), thrice: Duration::ZERO };
        for n in 0..4 {
            launch(&mut flight, n, n, 0);
        }
        let mut answer = |n: u64| {
            let flying = flight.remove(Item::Segment(n)).unwrap();
            flight.answered(ms(20), &flying, flying.lane, None, Duration::from_millis(10));
            flight.next_gap(tolerance)
        };
        assert_eq!(answer(3), Some(ms(15)));
        assert_eq!(answer(1), Some(ms(15)));
        assert_eq!(answer(2), Some(ms(10)));
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn a_gap_needs_a_later_answer_in_the_same_lane_and_time() {
        let mut flight = Flight::default();
        let tolerance = same(5);
        launch(&mut flight, 0, 0, 0);
        launch(&mut flight, 1, 1, 1);
        launch(&mut flight, 2, 2, 0);
        assert_eq!(flight.gap(ms(100), tolerance), None, "nothing was answered");

        let other = flight.remove(Item::Segment(1)).unwrap();
        flight.answered(ms(20), &other, other.lane, None, Duration::from_millis(10));
        assert_eq!(flight.gap(ms(100), tolerance), None, "the answer came in another lane");

        let later = flight.remove(Item::Segment(2)).unwrap();
        flight.answered(ms(20), &later, later.lane, None, Duration::from_millis(10));
        // Left at 0 ms; a round trip of 10 ms and 5 ms of tolerance.
        assert_eq!(flight.next_gap(tolerance), Some(ms(15)));
        assert_eq!(flight.gap(ms(14), tolerance), None);
        assert_eq!(flight.gap(ms(15), tolerance), Some(Item::Segment(0)));
    }

    #[test]
    fn an_answer_from_elsewhere_tells_of_the_lane_that_it_came_in() {
        let mut flight = Flight::default();
        // Two to a far source, one to a near one, and one to the far one for an item of the near
        // one.
        launch(&mut flight, 0, 0, 1);
        launch(&mut flight, 1, 1, 2);
        launch(&mut flight, 2, 2, 1);
        let near = flight.remove(Item::Segment(2)).unwrap();
        flight.answered(ms(20), &near, 2, None, Duration::from_millis(10));
        // Earlier requests to the near source left at 1 ms. The far one still has time.
        assert_eq!(flight.next_gap(same(5)), Some(ms(16)));
        assert_eq!(flight.gap(ms(100), same(5)), Some(Item::Segment(1)));
        flight.remove(Item::Segment(1));
        assert_eq!(flight.next_gap(same(5)), None, "nothing is known of the far one");
        flight.answered(ms(20), &near, 9, None, Duration::from_millis(10));
        assert_eq!(flight.next_gap(same(5)), None, "nothing left in that lane");
    }

    #[test]
    fn a_retransmission_is_newer_than_what_left_before_it() {
        let mut flight = Flight::default();
        launch(&mut flight, 0, 0, 0);
        launch(&mut flight, 1, 1, 0);
        launch(&mut flight, 0, 20, 0);
        let flying = flight.remove(Item::Segment(0)).unwrap();
        flight.answered(ms(20), &flying, flying.lane, None, Duration::from_millis(10));
        assert_eq!(flight.gap(ms(30), same(0)), Some(Item::Segment(1)));
    }

    #[test]
    fn an_answer_is_out_of_turn_if_more_than_three_before_it_are_not_due() {
        let mut flight = Flight::default();
        (0..6).for_each(|n| launch(&mut flight, n, 10 * n, 0));
        launch(&mut flight, 6, 50, 1);
        let answered = |flight: &mut Flight, n: u64, at: u64| {
            let flying = flight.remove(Item::Segment(n)).unwrap();
            let is_early = flight.is_out_of_turn(ms(at), &flying);
            let rtt = ms(at).since(flying.sent_at);
            flight.answered(ms(at), &flying, 0, None, rtt);
            is_early
        };
        assert!(!answered(&mut flight, 0, 40), "nothing is known of the round trip");
        // It takes 40 ms. Those of 10 to 40 ms are due from 50 ms on.
        let last = flight.remove(Item::Segment(5)).unwrap();
        assert!(flight.is_out_of_turn(ms(49), &last));
        assert!(!flight.is_out_of_turn(ms(50), &last));
        assert!(!answered(&mut flight, 4, 45), "three before it");
    }

    #[test]
    fn loads_follow_what_is_in_flight() {
        let mut flight = Flight::default();
        launch(&mut flight, 0, 0, 0);
        launch(&mut flight, 1, 0, 3);
        launch(&mut flight, 1, 5, 3);
        assert_eq!(flight.total(), Load { segments: 2, bytes: Size(16_000) });
        assert_eq!(flight.lane(3).segments, 1);
        assert_eq!(flight.lane(9), Load::default());
        assert_eq!(flight.timed_out(ms(204)), Some(Item::Segment(0)));
        flight.remove(Item::Segment(0));
        assert_eq!(flight.timed_out(ms(204)), None, "its second Interest is younger");
        assert_eq!(flight.next_timeout(), Some(ms(205)));
        assert_eq!(flight.remove(Item::Segment(7)), None);
        flight.remove(Item::Segment(1));
        assert_eq!(flight.oldest(), None);
        assert_eq!(flight.total(), Load::default());
    }

    #[test]
    fn the_order_queue_stays_short_behind_one_unanswered_interest() {
        let mut flight = Flight::default();
        launch(&mut flight, 0, 0, 0);
        for n in 1..10_000 {
            launch(&mut flight, n, n, 0);
            flight.remove(Item::Segment(n));
        }
        assert!(flight.lanes[0].sent.len() <= 65, "{}", flight.lanes[0].sent.len());
    }

    #[test]
    fn what_is_left_open_is_lost_when_its_time_is_over_and_hides_no_other_loss() {
        let mut flight = Flight::default();
        (0..3).for_each(|n| launch(&mut flight, n, n, 0));
        let last = flight.remove(Item::Segment(2)).unwrap();
        flight.answered(ms(12), &last, 0, None, Duration::from_millis(10));
        assert_eq!(flight.gap(ms(15), same(5)), Some(Item::Segment(0)));
        flight.leave_open(Item::Segment(0), Duration::from_millis(50));
        assert_eq!(flight.gap(ms(15), same(5)), None);
        assert_eq!(flight.gap(ms(16), same(5)), Some(Item::Segment(1)));
        assert_eq!(flight.next_timeout(), Some(ms(50)));
        assert_eq!(flight.total().segments, 2);
    }
}
