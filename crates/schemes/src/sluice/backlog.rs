//! Data that wait at the other end of a link, where no booking sees them.
//!
//! The shaper books the link's time, so Data do not wait there, unless the link has become slower
//! while they were under way, or bookings were wrong. Then all Data take longer than the quickest
//! did, and the offers leave a part of the link free until Data are quick again. Data from a node
//! further away take longer as well: if they take as long after a try as before it, they are not
//! waiting, and their time is the quickest from then on.

use control::{Baseline, Beyond, Duration, Quickest, Time};

/// The part of the link that is offered during a try.
const DRAINING: f64 = 0.8;

/// A period lasts for this time, this number of answer times and this number of Data at least.
const PERIOD: Duration = Duration::from_millis(100);
const ANSWERS: f64 = 2.0;
const FEWEST: u32 = 16;

/// Data wait if they take longer than the quickest by this time and the other limits of BEYOND.
const WAITING: Duration = Duration::from_millis(5);
const BEYOND: Beyond = Beyond { least: WAITING, part: 0.125, differences: 4.0 };

/// The number of periods of a try. The Interests of the last period's Data left when SHOWN of the
/// try was over, or later. If the wait has not become shorter by SHORTER of the time drained until
/// then, Data do not wait.
const TRY: u32 = 4;
const SHOWN: f64 = 0.5;
const SHORTER: f64 = 0.5;

/// After each try that changed nothing, the next one takes four times as many periods in a row with
/// Data that wait: flows from near and far come and go.
const MOST_FAILED: u32 = 4;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    baseline: Baseline,
    /// The period so far.
    period: Quickest,
    /// Periods in a row with Data that wait, and tries in a row that changed nothing.
    waiting: u32,
    failed: u32,
    draining: Option<Try>,
}

/// A try to empty the queue.
#[derive(Clone, Copy, Debug)]
struct Try {
    /// The quickest answer of the period before, and when that ended.
    before: Duration,
    since: Time,
    periods: u32,
    /// The same of the last period.
    last: (Duration, Time),
}

impl Backlog {
    /// The part of the link that may be offered.
    pub(super) fn part(&self) -> f64 {
        if self.draining.is_some() { DRAINING } else { 1.0 }
    }

    /// Data came at `now`, this time after its Interest had left by the link.
    pub(super) fn on_data(&mut self, now: Time, taken: Duration) {
        self.period.add(now, taken);
        let least = self.period.third();
        // While a queue is emptied, its answers have to come first.
        let known = self.baseline.quickest().unwrap_or(least);
        let longest = self.draining.map_or(known, |this| this.before);
        let enough = PERIOD.max(longest.mul_f64(ANSWERS));
        if self.period.answers() >= FEWEST && self.period.span(now) >= enough {
            self.period = Quickest::default();
            self.end_period(now, least);
        }
    }

    fn end_period(&mut self, now: Time, least: Duration) {
        if !self.baseline.end_period(now, least, &BEYOND) {
            if let Some(this) = self.draining.take() {
                // A wait that ends sooner than it can drain was none.
                let drained = now.since(this.last.1).mul_f64(1.0 - DRAINING);
                let is_drained = this.last.0.saturating_sub(least) <= drained + WAITING;
                self.failed = if is_drained { 0 } else { (self.failed + 1).min(MOST_FAILED) };
            }
            self.waiting = 0;
            return;
        }
        self.waiting += 1;
        let last = (least, now);
        let begins = Try { before: least, since: now, periods: 0, last };
        let Some(this) = &mut self.draining else {
            if self.waiting >= 1 << (2 * self.failed) {
                self.draining = Some(begins);
            }
            return;
        };
        (this.periods, this.last) = (this.periods + 1, last);
        if this.periods < TRY {
            return;
        }
        let drained = now.since(this.since).mul_f64(SHOWN * (1.0 - DRAINING));
        if least + drained.mul_f64(SHORTER) < this.before {
            *this = begins;
            return;
        }
        (self.draining, self.waiting) = (None, 0);
        self.failed = (self.failed + 1).min(MOST_FAILED);
        self.baseline.restart(now, least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Data each millisecond; returns the part of the time with less than the whole link.
    fn run(backlog: &mut Backlog, now: &mut Time, ms: u64, taken: impl Fn(f64) -> Duration) -> f64 {
        let (mut drained, mut draining) = (0.0, 0.0);
        for _ in 0..ms {
            *now += MS(1);
            backlog.on_data(*now, taken(drained));
            let rest = 1.0 - backlog.part();
            drained += rest;
            draining += f64::from(u8::from(rest > 0.0));
        }
        draining / ms as f64
    }

    #[test]
    fn a_queue_is_emptied_and_the_whole_link_used_again() {
        let (mut backlog, mut now) = (Backlog::default(), Time::ZERO);
        assert_eq!(run(&mut backlog, &mut now, 3000, |_| MS(50)), 0.0);
        // 90 ms wait. At four fifths they are gone after 450 ms, seen a round trip later.
        let queue = |drained: f64| MS(50) + MS(90).mul_f64((1.0 - drained / 90.0).max(0.0));
        let part = run(&mut backlog, &mut now, 2000, queue);
        assert!((0.2..0.5).contains(&part), "{part}");
        assert_eq!(backlog.part(), 1.0);
        assert_eq!(run(&mut backlog, &mut now, 3000, |_| MS(50)), 0.0);
    }

    #[test]
    fn a_node_further_away_costs_one_try() {
        let (mut backlog, mut now) = (Backlog::default(), Time::ZERO);
        run(&mut backlog, &mut now, 3000, |_| MS(10));
        let part = run(&mut backlog, &mut now, 10_000, |_| MS(60));
        assert!((0.01..0.1).contains(&part), "{part}");
        assert_eq!(backlog.part(), 1.0);
        // Near and far in turns cost ever less.
        let mut parts = (0..40).map(|turn| {
            let taken = if turn % 2 == 0 { MS(10) } else { MS(60) };
            run(&mut backlog, &mut now, 1000, |_| taken)
        });
        let first: f64 = parts.by_ref().take(10).sum();
        let last: f64 = parts.skip(20).sum();
        assert!(first > 0.1 && last < 0.1, "{first}, then {last}");
    }

    #[test]
    fn small_differences_and_clocks_that_go_back_are_no_queue() {
        let (mut backlog, mut now) = (Backlog::default(), Time::ZERO);
        let varying = std::cell::Cell::new(0);
        let taken = |_: f64| {
            varying.set((varying.get() + 37) % 100);
            MS(50 + varying.get())
        };
        // One in ten Data comes as soon as ever: the others wait for others' turns.
        assert_eq!(run(&mut backlog, &mut now, 3000, taken), 0.0);
        now = Time::ZERO;
        assert_eq!(run(&mut backlog, &mut now, 3000, taken), 0.0);
    }
}
