//! Requests in flight, which have neither been answered nor declared lost.
//!
//! Losses are detected in two ways:
//!
//! - A *gap*: a later request in the same lane has been answered, and more than a round trip and a
//!   tolerance for reordering has passed. This is RACK (RFC 8985, section 6.2) with Interests in
//!   place of segments and Data in place of acknowledgements; see [`crate::fetch::order`].
//! - The *timeout* that the controller has set for the Interest.

use crate::fetch::item::Item;
use crate::fetch::order::{Origin, Origins, Passed};
use control::{Duration, InFlight, Lane, Load, Memo, Size, Time};
use packet::options::RttSpread;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The place of a segment in the Interest that requested it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The only segment.
    #[default]
    Alone,
    /// The segment that the Interest names, followed by others.
    First,
    /// A segment requested by the range option only.
    Behind,
}

/// An item in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flying {
    /// The instant at which the latest Interest was sent.
    pub sent_at: Time,
    /// The instant at which the Interest was sent that the controller permitted. Earlier than
    /// `sent_at` if the latest one is a probe.
    pub asked_at: Time,
    /// The instant at which the first Interest for the item was sent, if this one repeats it and
    /// all losses since then were detected by gaps.
    pub repeats: Option<Time>,
    /// If the item was sent once more without a loss: order number and time of sending of the
    /// Interest before.
    earlier: Option<(u64, Time)>,
    /// The controller's lane.
    pub lane: Lane,
    /// The controller's own record of the Interest.
    pub memo: Memo,
    /// The attempt number; 0 for the first Interest for the item.
    pub attempt: u16,
    /// The expected size of the Data.
    pub expected: Size,
    /// The instant of the timeout.
    pub deadline: Time,
    /// Its place in the Interest.
    pub place: Place,
    /// The number in the order of sending.
    order: u64,
    /// Left open for a trial; see [`Flight::leave_open`].
    is_open: bool,
}

impl Flying {
    /// True if the item was sent once more without the controller.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.asked_at != self.sent_at
    }

    /// True if the item is left open for a trial; see [`Flight::leave_open`].
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}

/// The Interests of a lane in the order of sending, and the evidence from answers.
#[derive(Debug, Default)]
struct LaneState {
    /// May hold entries that are no longer in flight. They are recognised by their order number.
    sent: VecDeque<(u64, Item)>,
    load: Load,
    origins: Origins,
}

/// The number of Interests that may be lost in a row.
const LOST_IN_A_ROW: u32 = 3;
/// The maximum number of earlier Interests to inspect.
const MOST_AHEAD: u32 = 64;

/// The time by which answers may overtake one another before a gap counts as a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// After answers to one or two later Interests.
    pub overtaken: Duration,
    /// After answers to three or more later Interests.
    pub thrice: Duration,
}

impl Tolerance {
    /// The time after sending at which an Interest is overdue, given the evidence.
    fn after(self, passed: Passed) -> Duration {
        passed.after + if passed.thrice { self.thrice } else { self.overtaken }
    }
}

/// All items in flight.
#[derive(Debug, Default)]
pub struct Flight {
    flying: BTreeMap<Item, Flying>,
    deadlines: BTreeSet<(Time, Item)>,
    by_order: BTreeMap<u64, Item>,
    lanes: Vec<LaneState>,
    total: Load,
    next_order: u64,
    /// See [`InFlight::spread`].
    spread: Duration,
}

/// The properties of an Interest that is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// The instant of sending.
    pub sent_at: Time,
    /// See [`Flying::lane`].
    pub lane: Lane,
    /// See [`Flying::memo`].
    pub memo: Memo,
    /// See [`Flying::attempt`].
    pub attempt: u16,
    /// See [`Flying::expected`].
    pub expected: Size,
    /// The time from sending to the timeout.
    pub timeout: Duration,
    /// See [`Flying::place`].
    pub place: Place,
}

impl Flight {
    /// Records an Interest. An earlier one for the same item is forgotten.
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

    /// Records that an item in flight is sent once more without the controller. Its answer shows
    /// the loss of earlier Interests. Returns the attempt number; `None` if it is not in flight.
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

    /// Records that the Interest for `item` repeats the first one, sent at `first`.
    pub fn repeats(&mut self, item: Item, first: Time) {
        if let Some(flying) = self.flying.get_mut(&item) {
            flying.repeats = Some(first);
        }
    }

    /// Moves the timeout of `item` to `deadline`. Returns false if it is not in flight.
    pub fn defer(&mut self, item: Item, deadline: Time) -> bool {
        let Some(flying) = self.flying.get_mut(&item) else { return false };
        self.deadlines.remove(&(flying.deadline, item));
        flying.deadline = deadline;
        self.deadlines.insert((deadline, item))
    }

    /// The record of `item`, if it is in flight.
    #[must_use]
    pub fn get(&self, item: Item) -> Option<&Flying> {
        self.flying.get(&item)
    }

    /// Removes `item` from the items in flight.
    pub fn remove(&mut self, item: Item) -> Option<Flying> {
        let flying = self.flying.remove(&item)?;
        self.deadlines.remove(&(flying.deadline, item));
        self.by_order.remove(&flying.order);
        let lane = &mut self.lanes[usize::from(flying.lane)];
        for load in [&mut lane.load, &mut self.total] {
            load.segments -= 1;
            load.bytes = load.bytes - flying.expected;
        }
        // Entries leave the queue at its front only. This keeps it short behind an old Interest
        // without an answer: at most 64 entries, or twice the number of items in flight.
        if lane.sent.len() > 64 && lane.sent.len() as u64 > 2 * u64::from(lane.load.segments) {
            let flying = &self.flying;
            lane.sent.retain(|(order, item)| flying.get(item).is_some_and(|f| f.order == *order));
        }
        Some(flying)
    }

    /// Records an answer at `now`, after `rtt`, from `origin`, which serves `lane`: evidence
    /// against earlier Interests of that lane. `flying` is the answered one, already removed.
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

    /// The longest round trip of the origins in `lane`, if an Interest sent after `flying` was
    /// answered there.
    #[must_use]
    pub fn passed(&self, lane: Lane, flying: &Flying) -> Option<Duration> {
        let state = self.lanes.get(usize::from(lane))?;
        Some(state.origins.passed(flying.order)?.after)
    }

    /// True if an answer at `now` to `flying` is too early for its place in the order: earlier
    /// Interests are not due yet, more than three of them (that many may be lost in a row) and at
    /// least an eighth of those in flight, up to 64.
    #[must_use]
    pub fn is_out_of_turn(&self, now: Time, flying: &Flying) -> bool {
        let Some(lane) = self.lanes.get(usize::from(flying.lane)) else { return false };
        let Some(longest) = lane.origins.longest() else { return false };
        let least = (lane.load.segments / 8).clamp(LOST_IN_A_ROW + 1, MOST_AHEAD) as usize;
        let before = self.by_order.range(..flying.order).rev();
        let before = before.filter_map(|(_, item)| self.get(*item));
        let in_time = before.take_while(|other| other.sent_at + longest > now);
        in_time.filter(|other| other.lane == flying.lane).take(least).count() == least
    }

    /// The longest round trip of the origins in `lane`.
    #[must_use]
    pub fn longest(&self, lane: Lane) -> Option<Duration> {
        self.lanes.get(usize::from(lane))?.origins.longest()
    }

    /// Data that came at `now` after `rtt` tells by how much other answers of `lane` come later.
    pub fn on_spread(&mut self, now: Time, lane: Lane, rtt: Duration, spread: RttSpread) {
        if let Some(lane) = self.lanes.get_mut(usize::from(lane)) {
            lane.origins.on_spread(now, rtt, spread);
        }
    }

    /// The time by which answers of `lane` may come later than others, as the path has reported it.
    #[must_use]
    pub fn spread_of(&self, now: Time, lane: Lane) -> Duration {
        let lane = self.lanes.get(usize::from(lane));
        lane.map_or(Duration::ZERO, |lane| lane.origins.spread(now))
    }

    /// Sets the time that controllers read as [`InFlight::spread`].
    pub fn set_spread(&mut self, spread: Duration) {
        self.spread = spread;
    }

    /// Leaves the overdue Interest for `item` open: no gap declares it lost, only a timeout at
    /// `longest` after its sending.
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

    /// The first Interest that is lost at `now` because of a gap.
    pub fn gap(&mut self, now: Time, tolerance: Tolerance) -> Option<Item> {
        (0..self.lanes.len()).find_map(|lane| {
            let (due, item) = self.gap_due(lane, tolerance)?;
            (due <= now).then_some(item)
        })
    }

    /// The instant at which to call [`Flight::gap`] again, if nothing arrives before.
    pub fn next_gap(&mut self, tolerance: Tolerance) -> Option<Time> {
        (0..self.lanes.len()).filter_map(|lane| Some(self.gap_due(lane, tolerance)?.0)).min()
    }

    /// Items sent once more without a loss, and the instant at which the earlier Interest counts as
    /// lost: by its gap, with a round trip of at most `longest`.
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

    /// The oldest Interest of a lane and the instant at which it is lost, if a later one was
    /// answered.
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

    /// The first Interest that has timed out at `now`.
    #[must_use]
    pub fn timed_out(&self, now: Time) -> Option<Item> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now).map(|(_, item)| *item)
    }

    /// The instant of the next timeout.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The instant of the next timeout of a segment.
    #[must_use]
    pub fn next_segment_timeout(&self) -> Option<Time> {
        let mut segments = self.deadlines.iter().filter(|d| matches!(d.1, Item::Segment(_)));
        segments.next().map(|(deadline, _)| *deadline)
    }

    /// The item whose latest Interest was sent first.
    #[must_use]
    pub fn oldest(&self) -> Option<(Item, &Flying)> {
        let (_, item) = self.by_order.first_key_value()?;
        Some((*item, self.flying.get(item)?))
    }

    /// The items in flight, the one sent last first.
    pub fn latest(&self) -> impl Iterator<Item = (Item, &Flying)> {
        let items = self.by_order.values().rev();
        items.filter_map(|item| Some((*item, self.flying.get(item)?)))
    }

    /// The item that was sent last.
    #[must_use]
    pub fn newest(&self) -> Option<Item> {
        self.by_order.last_key_value().map(|(_, item)| *item)
    }

    /// All items in flight, in order.
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
    fn an_answer_from_another_source_counts_for_the_lane_it_arrived_in() {
        let mut flight = Flight::default();
        // Segments 0 and 2 are requested from a far source (lane 1), segment 1 from a near one
        // (lane 2). The near one answers segment 2.
        launch(&mut flight, 0, 0, 1);
        launch(&mut flight, 1, 1, 2);
        launch(&mut flight, 2, 2, 1);
        let near = flight.remove(Item::Segment(2)).unwrap();
        flight.answered(ms(20), &near, 2, None, Duration::from_millis(10));
        // The earlier request to the near source was sent at 1 ms. The far source still has time.
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
        // The round trip is 40 ms. Interests sent at 10 to 40 ms are due from 50 ms on.
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
    fn an_open_segment_is_lost_at_its_deadline_and_hides_no_other_loss() {
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
