//! The measured reordering of answers.
//!
//! RACK (RFC 8985, section 6.2, step 4) widens its reordering window by a quarter of the smallest
//! round-trip time for each false loss, up to one round trip. A TCP receiver reports false losses
//! by D-SACK. NDN has no such report: a retransmitted Interest is aggregated, or answered over
//! another path, and the answer to the first one is dropped. So the window is measured:
//!
//! - An answer to an overdue Interest shows by how much it was overtaken.
//! - A few overdue Interests are left open for a trial: they are neither declared lost nor repeated
//!   until they are answered or time out. Trials become rarer and longer if losses are real, and
//!   more frequent after a false one. Longer, because the answers of an origin that is far away
//!   are never seen if each of its Interests is repeated, and a nearer one answers, before.
//!
//! At the start the order is unknown. Until [`ENOUGH`] answers have arrived, or answers stop, all
//! overdue Interests are left open: a false loss would end slow start with a window of a few
//! segments.
//!
//! If one of two origins is far away, its answers are overtaken by more than a round trip of the
//! near one. So the limit of the window is [`LONGEST`], not a round trip. One answer widens the
//! window at most fourfold, so that a single pause of a link does not disable loss detection. The
//! window narrows when no answer has needed it for some round trips (RFC 8985: 16 recoveries).

use crate::fetch::item::Item;
use control::{Duration, Time};

/// This many answers show whether the order is kept. With two origins that answer equally often, 16
/// answers come from one of them by chance once in 30,000 times.
const ENOUGH: u32 = 16;
/// The first trial is this overdue Interest after the first [`ENOUGH`] answers, so that a single
/// loss is repaired at once.
const FIRST_TRIAL: u32 = 3;
/// Overdue Interests from one trial to the next: after a false loss, at first, and at most.
const AFTER_FALSE: u32 = 4;
const AT_FIRST: u32 = 16;
const AT_MOST: u32 = 256;
/// The time of a trial is doubled so often at most: [`LONGEST`] limits it before.
const MOST_DOUBLINGS: u32 = 4;
/// The window is kept for this many round trips after the last answer that needed it.
const KEPT_ROUNDS: u64 = 16;
/// The window is kept for at least this long.
const KEPT: Duration = Duration::from_secs(2);

/// The longest window. A path over a satellite takes about 0.6 s longer than one without.
const LONGEST: Duration = Duration::from_secs(1);

/// The number of recent answers among which overtaken ones are counted.
const MEMORY: u32 = 64;
/// Reordering is usual if at least one answer in this many is overtaken. Fewer are due to a loss
/// repaired by another consumer's request, or to a pause of a link; several origins that answer
/// equally often overtake each other more often.
const USUAL: u32 = 8;
/// The value of [`Reordering::share`] that stands for one answer.
const SHARE_OF_ONE: u32 = 1024;

/// The reordering of answers, as measured so far; see the module.
#[derive(Clone, Debug)]
pub struct Reordering {
    /// The windows that answers needed in this period and in the one before.
    current: Duration,
    previous: Duration,
    since: Time,
    /// Overdue Interests until the next trial, and between later trials.
    next_trial: u32,
    interval: u32,
    trial: Option<Item>,
    /// Trials that have ended without an answer, each of which doubled the time of the next.
    doublings: u32,
    /// The number of answers, at most [`ENOUGH`].
    answers: u32,
    /// The approximate number of overtaken ones among the last [`MEMORY`] answers, in units of
    /// 1/[`SHARE_OF_ONE`].
    share: u32,
}

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering {
            current: Duration::ZERO,
            previous: Duration::ZERO,
            since: Time::ZERO,
            next_trial: FIRST_TRIAL,
            interval: AT_FIRST,
            trial: None,
            doublings: 0,
            answers: 0,
            share: 0,
        }
    }
}

impl Reordering {
    /// The time by which an Interest may be overtaken; zero if no reordering was seen.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.current.max(self.previous)
    }

    /// The time by which answers are overtaken, if at least one in [`USUAL`] is; otherwise zero.
    #[must_use]
    pub fn extent(&self) -> Duration {
        let is_usual = self.share >= SHARE_OF_ONE * MEMORY / USUAL;
        if is_usual { Duration(self.window().0 / 3 * 2) } else { Duration::ZERO }
    }

    /// Records the answer to a first Interest.
    pub fn answered(&mut self) {
        self.answers = (self.answers + 1).min(ENOUGH);
        self.share -= self.share / MEMORY;
    }

    fn is_new(&self) -> bool {
        self.answers < ENOUGH
    }

    /// Ends the start phase, because answers have stopped and a probe is sent. The Interests that
    /// its answer overtakes are lost; no other origin is about to answer them.
    pub fn fell_silent(&mut self) {
        self.answers = ENOUGH;
    }

    /// Records that an answer was overtaken by the time `by`. `mistaken`: its Interest was overdue.
    /// `least` is the window without reordering.
    pub fn overtaken(&mut self, by: Duration, mistaken: bool, least: Duration) {
        let window = self.window();
        if by > least {
            self.share += SHARE_OF_ONE;
        }
        // Half as much again, because queues may grow; `extent` reverses it.
        let needed = Duration(by.0.saturating_add(by.0 / 2));
        let most = if mistaken && self.is_new() {
            needed
        } else if mistaken {
            self.interval = AFTER_FALSE;
            self.next_trial = self.next_trial.min(AFTER_FALSE);
            Duration(window.max(least).0.saturating_mul(4))
        } else {
            window
        };
        self.current = self.current.max(needed.min(most).min(LONGEST));
    }

    /// Narrows the window at the end of a period; a round trip takes `srtt`.
    pub fn pass(&mut self, now: Time, srtt: Duration) {
        if now.since(self.since) > KEPT.max(Duration(srtt.0.saturating_mul(KEPT_ROUNDS))) {
            (self.previous, self.current) = (self.current, Duration::ZERO);
            self.since = now;
        }
    }

    /// Decides whether the overdue Interest for `item` is left open.
    pub fn tries(&mut self, item: Item) -> bool {
        if self.is_new() {
            return true;
        }
        self.next_trial = self.next_trial.saturating_sub(1);
        if self.next_trial > 0 || self.trial.is_some() {
            return false;
        }
        self.next_trial = self.interval;
        self.trial = Some(item);
        true
    }

    /// Records the end of the trial with `item`. `was_lost`: no answer arrived.
    pub fn tried(&mut self, item: Item, was_lost: bool) {
        if self.trial != Some(item) {
            return;
        }
        self.trial = None;
        if was_lost {
            self.interval = (self.interval * 4).min(AT_MOST);
            // Once an answer has been overtaken, timeouts are known to be long enough.
            if self.window() == Duration::ZERO {
                self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
            }
        }
    }

    /// The time from the departure of an Interest that is left open to its timeout. `rto` is that
    /// of others.
    #[must_use]
    pub fn trial_time(&self, rto: Duration) -> Duration {
        Duration(rto.0 << self.doublings).min(rto + LONGEST)
    }

    /// The Interest left open for a trial.
    #[must_use]
    pub fn trial(&self) -> Option<Item> {
        self.trial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_millis(5);

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// A state after enough answers in order.
    fn known() -> Reordering {
        let mut reordering = Reordering::default();
        (0..ENOUGH).for_each(|_| reordering.answered());
        reordering
    }

    #[test]
    fn at_the_start_nothing_is_lost_and_one_answer_shows_all() {
        let mut reordering = Reordering::default();
        (0..ENOUGH - 1).for_each(|_| reordering.answered());
        assert!((0..10).all(|n| reordering.tries(Item::Segment(n))));
        reordering.overtaken(ms(80), true, LEAST);
        assert_eq!(reordering.window(), ms(120));
        reordering.answered();
        assert!(!reordering.tries(Item::Segment(0)));
    }

    #[test]
    fn where_answers_have_stopped_what_is_overdue_is_lost() {
        let mut reordering = Reordering::default();
        reordering.answered();
        assert!(reordering.tries(Item::Segment(0)));
        reordering.fell_silent();
        assert!(!reordering.tries(Item::Segment(1)));
    }

    #[test]
    fn the_window_grows_fourfold_at_most_and_to_what_is_needed() {
        let mut reordering = known();
        reordering.overtaken(ms(3), false, LEAST);
        assert_eq!(reordering.window(), Duration::ZERO, "nothing was mistaken");
        reordering.overtaken(ms(80), true, LEAST);
        assert_eq!(reordering.window(), ms(20));
        reordering.overtaken(ms(80), true, LEAST);
        assert_eq!(reordering.window(), ms(80));
        reordering.overtaken(ms(80), true, LEAST);
        assert_eq!(reordering.window(), ms(120));
        (0..9).for_each(|_| reordering.overtaken(ms(60_000), true, LEAST));
        assert_eq!(reordering.window(), LONGEST);
    }

    #[test]
    fn the_window_narrows_when_it_is_not_needed() {
        let mut reordering = known();
        let at = |s: u64| Time::ZERO + Duration::from_secs(s);
        reordering.overtaken(ms(16), true, LEAST);
        reordering.pass(at(3), ms(10));
        assert_eq!(reordering.window(), ms(20));
        reordering.overtaken(ms(8), false, LEAST);
        reordering.pass(at(6), ms(10));
        assert_eq!(reordering.window(), ms(12));
        reordering.pass(at(9), ms(10));
        assert_eq!(reordering.window(), Duration::ZERO);
    }

    #[test]
    fn the_extent_is_known_where_many_answers_are_overtaken() {
        let mut reordering = known();
        let mut after = |answers: u64, overtaken: u64| {
            for n in 0..answers {
                reordering.answered();
                if n % overtaken == 0 {
                    reordering.overtaken(ms(80), true, LEAST);
                }
            }
            reordering.extent()
        };
        assert_eq!(after(500, 2), ms(80));
        assert_eq!(after(500, 50), Duration::ZERO);
    }

    /// The numbers of the overdue Interests that are left open, of `overdue` ones, if each trial
    /// ends with a loss or with an answer.
    fn trials(overdue: u64, was_lost: bool) -> Vec<u64> {
        let mut reordering = known();
        let mut trials = Vec::new();
        for n in 1..=overdue {
            if reordering.tries(Item::Segment(n)) {
                trials.push(n);
                if !was_lost {
                    reordering.overtaken(ms(1), true, LEAST);
                }
                reordering.tried(Item::Segment(n), was_lost);
            }
        }
        trials
    }

    #[test]
    fn trials_are_rare_where_losses_are_real() {
        assert_eq!(trials(700, true), [3, 19, 83, 339, 595]);
        assert_eq!(trials(20, false), [3, 7, 11, 15, 19]);
    }

    #[test]
    fn trials_without_an_answer_grow_to_the_longest_window() {
        let mut reordering = known();
        let mut times = Vec::new();
        for n in 0..2000 {
            if reordering.tries(Item::Segment(n)) {
                times.push(reordering.trial_time(ms(210)));
                reordering.tried(Item::Segment(n), true);
            }
        }
        assert_eq!(times[..4], [ms(210), ms(420), ms(840), ms(1210)]);
        assert_eq!(times.last(), Some(&ms(1210)));
    }

    #[test]
    fn there_is_one_trial_at_a_time() {
        let mut reordering = known();
        let open: Vec<u64> = (1..100).filter(|n| reordering.tries(Item::Segment(*n))).collect();
        assert_eq!(open, [3]);
        reordering.tried(Item::Segment(9), true);
        assert_eq!(reordering.trial(), Some(Item::Segment(3)));
    }
}
