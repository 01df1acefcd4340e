//! The measured reordering of answers.
//!
//! RACK (RFC 8985, section 6.2, step 4) widens its reordering window by a quarter of the smallest
//! round-trip time for each false loss, up to a round trip. A TCP receiver reports those by D-SACK.
//! NDN has no such report: a repeated Interest is aggregated, or answered by another path, and the
//! answer to the first is dropped. So this window is measured:
//!
//! - an answer to an overdue Interest shows how far it was overtaken;
//! - a few of the overdue Interests are left open for a trial, neither declared lost nor repeated,
//!   until they are answered or time out. Trials are rarer if losses turn out real, and more
//!   frequent if one was false.
//!
//! At the start nothing is known of the order. Until [`ENOUGH`] answers have come, or none comes
//! any more, all overdue Interests are left open: a false loss would end slow start with a window
//! of a few segments.
//!
//! Two origins of which one is far away overtake each other by more than a round trip of the near
//! one, so no round trip limits the window, only [`LONGEST`] does. One answer widens it at most
//! fourfold, so that a single pause of a link does not disable it. It narrows when no answer has
//! needed it for some round trips (RFC 8985: 16 recoveries).

use crate::fetch::flight::Item;
use control::{Duration, Time};

/// So many answers show whether the order is kept: of two origins that answer alike, 16 come in one
/// order by chance once in 30,000 times.
const ENOUGH: u32 = 16;
/// The first overdue Interest after that which becomes a trial. A single loss is repaired at once.
const FIRST_TRIAL: u32 = 3;
/// From one trial to the next where the last one was none, where nothing is known, and at most.
const AFTER_FALSE: u32 = 4;
const AT_FIRST: u32 = 16;
const AT_MOST: u32 = 256;
/// The window is kept for so many round trips after the last answer that needed it,
const KEPT_ROUNDS: u64 = 16;
/// and for this long at least.
const KEPT: Duration = Duration::from_secs(2);

/// No window is longer: of two paths of which one leads over a satellite that one takes 0.6 s
/// more.
const LONGEST: Duration = Duration::from_secs(1);

/// Answers among which overtaken ones are counted.
const MEMORY: u32 = 64;
/// Where fewer than one answer in so many is overtaken, a loss was repaired by another consumer's
/// request, or a link has paused; several origins that answer alike overtake more often.
const USUAL: u32 = 8;
const SHARE_OF_ONE: u32 = 1024;

/// See the module.
#[derive(Clone, Debug)]
pub struct Reordering {
    /// The windows that answers of this period needed, and of the one before.
    current: Duration,
    previous: Duration,
    since: Time,
    /// Overdue Interests until the next trial, and from that one to the next.
    next_trial: u32,
    interval: u32,
    trial: Option<Item>,
    /// Answers so far, to [`ENOUGH`].
    answers: u32,
    /// How many of the last [`MEMORY`] answers were overtaken, about, in [`SHARE_OF_ONE`].
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
            answers: 0,
            share: 0,
        }
    }
}

impl Reordering {
    /// For how long an Interest may be overtaken; zero where reordering has not shown.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.current.max(self.previous)
    }

    /// By how much answers are overtaken where that is usual: with one in [`USUAL`] or more.
    #[must_use]
    pub fn extent(&self) -> Duration {
        let is_usual = self.share >= SHARE_OF_ONE * MEMORY / USUAL;
        if is_usual { Duration(self.window().0 / 3 * 2) } else { Duration::ZERO }
    }

    /// A first Interest was answered.
    pub fn answered(&mut self) {
        self.answers = (self.answers + 1).min(ENOUGH);
        self.share -= self.share / MEMORY;
    }

    fn is_new(&self) -> bool {
        self.answers < ENOUGH
    }

    /// Answers had begun to come, and nothing has come for so long that a probe leaves: what its
    /// answer overtakes was not answered by another origin a little later, it is lost.
    pub fn fell_silent(&mut self) {
        self.answers = ENOUGH;
    }

    /// An answer came this much later than answers that had overtaken it. `mistaken`: its Interest
    /// was overdue. `least` is the window where reordering has not shown.
    pub fn overtaken(&mut self, by: Duration, mistaken: bool, least: Duration) {
        let window = self.window();
        if by > least {
            self.share += SHARE_OF_ONE;
        }
        // A half more, for queues that grow; see `extent`.
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

    /// Time passes; a round trip takes `srtt`.
    pub fn pass(&mut self, now: Time, srtt: Duration) {
        if now.since(self.since) > KEPT.max(Duration(srtt.0.saturating_mul(KEPT_ROUNDS))) {
            (self.previous, self.current) = (self.current, Duration::ZERO);
            self.since = now;
        }
    }

    /// The Interest for `item` is overdue: is it to be left open?
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

    /// The trial with `item` ended: `was_lost` if no answer came.
    pub fn tried(&mut self, item: Item, was_lost: bool) {
        if self.trial != Some(item) {
            return;
        }
        self.trial = None;
        if was_lost {
            self.interval = (self.interval * 4).min(AT_MOST);
        }
    }

    /// The Interest that is left open.
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

    /// Enough answers have come in order.
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

    /// The overdue Interests, of `overdue`, that are left open if each trial ends like this.
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
    fn there_is_one_trial_at_a_time() {
        let mut reordering = known();
        let open: Vec<u64> = (1..100).filter(|n| reordering.tries(Item::Segment(*n))).collect();
        assert_eq!(open, [3]);
        reordering.tried(Item::Segment(9), true);
        assert_eq!(reordering.trial(), Some(Item::Segment(3)));
    }
}
