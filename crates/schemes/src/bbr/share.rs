//! A flow's share beside other flows: a window that a standing queue and overflow reduce.
//!
//! The largest of ten samples of the bandwidth is more than a flow's share as soon as there are
//! several, and two pipes of it for each flow are a queue of a pipe or more. FAST (C. Jin, D. X.
//! Wei, S. H. Low, "FAST TCP", INFOCOM 2004) moves a window towards that with which the flow itself
//! has a certain number of segments in the queue: all that see the same queue have the same rate
//! then. As in Swift's scaling of its target (G. Kumar and others, SIGCOMM 2020) that number goes
//! with the root of the window, so that large windows come together soon and many small ones make
//! no long queue.
//!
//! Where the buffer holds less than that, it overflows: the queue that is wanted becomes shorter,
//! by a factor, and longer again by a constant in a second. By Chiu and Jain (1989) flows that do
//! this come to want the same.

use super::flight::Round;
use control::{Duration, Time};

/// Segments that a flow wants to have in the queue: one, and with its window Swift's root.
fn own(window: f64) -> f64 {
    2.0 * window.max(1.0).sqrt() - 1.0
}

/// The queue's size beyond the wanted one, for hosts that wake up late.
const ALLOWANCE: Duration = Duration::from_millis(2);
/// FAST's gamma: how much of the way to the wanted window is gone in a round trip.
const GAMMA: f64 = 1.0;
/// The most by which a round with a long queue makes the window smaller.
const MOST_CUT: f64 = 0.3;
/// By how much a round with hardly a queue makes it larger at least, from the second such round on;
/// less where the wanted queue is shorter.
const FREE_GROWTH: f64 = 0.1;
/// How much less at most.
const LEAST_GROWTH: f64 = 0.1;
/// The rest of the window after an overflow: BBRv2's headroom.
const BETA: f64 = 0.85;
/// The same where more was lost: what was not lost, but not less than TCP keeps.
const LEAST_BETA: f64 = 0.5;
/// The rest of the wanted queue after an overflow, BBRv2's `BBRBeta`, and its least share.
const BETA_SCALE: f64 = 0.7;
const LEAST_SCALE: f64 = 0.01;
/// By how much its share grows in a second.
const SCALE_GROWTH: f64 = 0.04;
/// Rounds in a row with a queue but nothing left to give: it is not the flow's own.
const STARVED: u32 = 8;
/// A window of less than a segment is a segment now and then.
const LEAST_WINDOW: f64 = 0.1;

/// A flow's share of the bottleneck, as a window.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// In segments; infinite as long as nothing bounds it.
    window: f64,
    /// Smoothed over few samples, in s: it follows a queue that grows.
    trip: Option<f64>,
    /// Rounds in a row with hardly a queue.
    free: u32,
    /// Rounds in a row with a queue and the least window that a queue leaves.
    starving: u32,
    /// By how much overflow has made the wanted queue shorter, from 1 down.
    scale: f64,
    overflow: Overflow,
}

impl Default for Share {
    fn default() -> Share {
        let overflow = Overflow::default();
        Share { window: f64::INFINITY, trip: None, free: 0, starving: 0, scale: 1.0, overflow }
    }
}

impl Share {
    /// The limit on the flight. Pacing keeps the flight at the share: a segment more lets the pace
    /// decide, and not the arrival times of Data.
    pub(super) fn window(&self) -> f64 {
        self.window.max(1.0) + 1.0
    }

    /// The rate in segments per second that uses the window up, and a little more.
    pub(super) fn pace(&self) -> f64 {
        self.trip.map_or(f64::INFINITY, |trip| 1.1 * self.window / trip)
    }

    /// Startup has found this many segments to be what the path holds, or silence is over.
    pub(super) fn begin(&mut self, window: f64) {
        self.window = window;
    }

    /// The apparent queue has persisted for as long as the flow had nothing to give up: the path is
    /// longer than its known length, as after a link became slower.
    pub(super) fn is_starved(&self) -> bool {
        self.starving > 0 && self.starving.is_multiple_of(STARVED)
    }

    /// An unambiguous round-trip time.
    pub(super) fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64().max(1e-6);
        self.trip = Some(self.trip.map_or(rtt, |trip| trip + (rtt - trip) / 4.0));
    }

    /// A segment came. `queued`: the queue of the bottleneck is long.
    pub(super) fn arrived(&mut self, queued: bool) {
        self.overflow.count(false, queued);
    }

    /// A segment that left at `sent_at` was lost.
    pub(super) fn lost(&mut self, sent_at: Time, queued: bool) {
        // RFC 9002, 7.3.2: what left before the last cut belongs to the congestion it answered.
        if sent_at > self.overflow.cut_at {
            self.overflow.count(true, queued);
        }
    }

    /// A round is over. `most`: what the window is otherwise, in segments.
    pub(super) fn judge(&mut self, now: Time, round: &Round, path: Path, most: f64) {
        let mut window = self.window.min(most);
        if let Some(lost) = self.overflow.judge(now) {
            self.scale = (BETA_SCALE * self.scale).max(LEAST_SCALE);
            window *= (1.0 - lost).clamp(LEAST_BETA, BETA);
        }
        if let (Some(trip), true) = (self.trip, round.rtt_min() != Duration::MAX) {
            let queue = round.rtt_min().saturating_sub(path.rtt_min).as_secs_f64();
            self.scale = (self.scale + SCALE_GROWTH * trip).min(1.0);
            let own = own(window) * trip / window;
            let ways = path.spread.as_secs_f64() / 2.0;
            let wanted = self.scale * (ALLOWANCE.as_secs_f64() + ways + own);
            let starves = window <= 1.0 && queue > wanted;
            self.starving = if starves { self.starving + 1 } else { 0 };
            self.free = if queue < wanted / 4.0 { self.free + 1 } else { 0 };
            let least = if self.free >= 2 {
                1.0 + FREE_GROWTH * self.scale.max(LEAST_GROWTH)
            } else {
                1.0 - MOST_CUT
            };
            let factor = (1.0 + GAMMA * (wanted - queue) / trip).clamp(least, 2.0);
            // A queue of others may be long for good: who keeps less than a segment in flight
            // because of it would hardly learn that it has gone.
            window = (factor * window).max(window.min(1.0));
        }
        self.window = window.min(most).max(LEAST_WINDOW);
    }
}

/// A flow's measurements of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// The shortest round-trip time.
    pub(super) rtt_min: Duration,
    /// By how much the round trips of those that answer differ, where they come by several ways:
    /// the queue of one is not that of the others.
    pub(super) spread: Duration,
}

/// Segments by which an overflow is judged: 2 % of fewer are less than one.
const JUDGED: f64 = 30.0;
/// Segments that say what chance takes.
const REMEMBERED: f64 = 1000.0;
/// The tolerated loss in a long queue beyond random loss: BBRv2's `BBRLossThresh`.
const TOLERATED: f64 = 0.02;
/// The largest share of losses that is taken for chance.
const FORGIVEN: f64 = 0.12;

/// Came and were lost.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: f64,
    lost: f64,
}

/// Does a buffer overflow? Losses by chance do not ask how long the queue is.
#[derive(Clone, Debug, Default)]
struct Overflow {
    /// While the queue was long, since the last judgement.
    long: Tally,
    /// While it was short.
    short: Tally,
    /// When it did.
    cut_at: Time,
}

impl Overflow {
    fn count(&mut self, lost: bool, queued: bool) {
        let tally = if queued { &mut self.long } else { &mut self.short };
        tally.all += 1.0;
        tally.lost += f64::from(u8::from(lost));
        if self.short.all > REMEMBERED {
            self.short = Tally { all: self.short.all / 2.0, lost: self.short.lost / 2.0 };
        }
    }

    /// The share that was lost, if that is more while the queue was long than chance takes, or more
    /// than chance ever does. The latter is that of a flow which came when the queue was long, and
    /// knows of no shorter.
    fn judge(&mut self, now: Time) -> Option<f64> {
        let (long, short) = (self.long, self.short);
        let forgiven = FORGIVEN * short.all;
        let beyond_chance = short.all >= 3.0 * JUDGED && short.lost > forgiven + forgiven.sqrt();
        let chance = short.lost / (short.all + JUDGED);
        let overrun = long.lost >= 2.0 && long.lost > (TOLERATED + chance) * long.all.max(JUDGED);
        if beyond_chance {
            self.short = Tally::default();
        }
        if beyond_chance || overrun || long.all >= JUDGED {
            self.long = Tally::default();
        }
        if !beyond_chance && !overrun {
            return None;
        }
        self.cut_at = now;
        let tally = if overrun { long } else { short };
        Some(tally.lost / tally.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { rtt_min: Duration::from_millis(40), spread: Duration::ZERO };

    /// A share of this window after rounds whose shortest round trip is `rtt_ms`.
    fn after(window: f64, rtt_ms: u64, rounds: u64) -> f64 {
        let mut share = Share::default();
        share.begin(window);
        let mut round = Round::default();
        round.sample_rtt(Duration::from_millis(rtt_ms));
        for n in 0..rounds {
            share.sample(round.rtt_min());
            share.judge(Time(n), &round, PATH, 1000.0);
        }
        share.window
    }

    #[test]
    fn a_queue_that_is_wanted_changes_nothing_and_others_come_to_it() {
        // By FAST's equation with 16 segments, of which 2 * 4 - 1 are in the queue, and 2 ms: the
        // round trip T is 40 + 2 + 7/16 T, that is 74.7 ms.
        assert!((after(16.0, 75, 1) - 16.0).abs() < 0.1);
        assert!(after(64.0, 75, 1) < 60.0, "who has more has to give");
        assert!(after(4.0, 75, 1) > 4.5, "who has less gets");
    }

    #[test]
    fn without_a_queue_the_window_grows_by_a_tenth_at_least_and_no_further_than_it_may() {
        assert!(after(400.0, 40, 10) > 400.0 * (1.0 + FREE_GROWTH).powi(8));
        assert_eq!(after(400.0, 40, 100), 1000.0);
    }

    #[test]
    fn the_longest_queue_takes_three_tenths_a_round() {
        assert!((after(100.0, 4000, 2) - 49.0).abs() < 1e-9);
        assert!((1.0..2.0).contains(&after(100.0, 40_000, 100)), "but not all");
    }

    /// True if an overflow is detected when every tenth of `of` segments is lost in a long and a
    /// short queue.
    fn overflows(long: u32, short: u32, of: u32) -> bool {
        let mut overflow = Overflow::default();
        (0..long).for_each(|n| overflow.count(n % 10 == 9, true));
        (0..short).for_each(|n| overflow.count(n % of == of - 1, false));
        overflow.judge(Time(1)).is_some()
    }

    #[test]
    fn loss_in_a_long_queue_only_is_an_overflow() {
        assert!(overflows(100, 0, 10));
        assert!(overflows(100, 1000, 50), "chance takes a fiftieth");
        assert!(!overflows(100, 1000, 10), "chance takes as much");
        assert!(!overflows(19, 0, 10), "one is too few to say");
    }

    #[test]
    fn chance_does_not_take_a_fifth() {
        assert!(overflows(0, 200, 5));
        assert!(!overflows(0, 200, 10));
    }

    #[test]
    fn an_overflow_is_answered_once() {
        let mut share = Share::default();
        share.begin(100.0);
        let mut round = Round::default();
        round.sample_rtt(Duration::from_millis(41));
        share.sample(round.rtt_min());
        (0..100).for_each(|_| share.lost(Time(5), true));
        share.judge(Time(10), &round, PATH, 1000.0);
        let cut = share.scale;
        assert!((0.7..0.72).contains(&cut), "{cut}");
        (0..100).for_each(|_| share.lost(Time(9), true));
        share.judge(Time(20), &round, PATH, 1000.0);
        assert!(share.scale > cut, "they had left before");
    }
}
