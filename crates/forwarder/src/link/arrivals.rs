//! The rate at which a link brings Data, where no configuration states it.
//!
//! Data take a link's own time from the departure of the Interest to their arrival, less the time
//! for which the neighbour had the Interest (`ResidenceTime`): what happens further away does not
//! count. While all Data of a period wait at the other end, the link is full, and the rate at which
//! they come is its rate. Less is stated then, so that the queue empties. While none wait, a higher
//! rate is stated for two periods, now and then; it stays if the link brings more. So does BBR
//! (draft-ietf-ccwg-bbr, ProbeBW) for one flow.
//!
//! Chance may delay all Data of a period. The rate stays then: the link brings what Interests ask
//! for, and that is less than the rate. Where some Data are always lost, the rate is that of the
//! Data that were asked for.
//!
//! A neighbour that lies about its time makes its own link slow, or has its queue fill.

use control::{Baseline, Beyond, Duration, Quickest, Rate, Size, Time};

/// A period lasts for this time, for so many of the link's answers, and for so many Data.
const PERIOD: Duration = Duration::from_millis(100);
const ANSWERS: f64 = 2.0;
const FEWEST: u32 = 32;

/// Data wait if they take so much longer. The third quickest of a hundred periods are within five
/// mean differences of each other, if chance makes them.
const BEYOND: Beyond =
    Beyond { least: Duration::from_millis(1), part: 1.0 / 16.0, differences: 6.0 };

/// The part of the rate that is stated while Data wait.
const DRAINING: f64 = 0.8;

/// A link that brings more than this part of its rate while its queue empties is full: it is half
/// of the way between what is asked for and all. So is a link that is asked for so many times more
/// than it brings: it has become slower.
const EMPTYING: f64 = 0.9;
const SLOWER: f64 = 1.125;

/// A try takes so many periods. In it, the wait gets shorter by this part of what has drained. If
/// it does not in so many tries in a row, it is none: the way to the neighbour has become longer.
/// In the first one, what was asked for before is still to come, or Interests that nobody answered
/// counted as lost Data and have ended.
const TRY: u32 = 4;
const SHORTER: f64 = 0.25;
const TRIES: u32 = 2;

/// The first rate is that of the second period in which Data wait: a flow that begins fills the
/// first one in part.
const FIRST: u32 = 2;

/// The weight of a period in the part of what is asked for that is lost, and its most: with more,
/// nothing is left to measure.
const GAIN: f64 = 1.0 / 8.0;
const MOST_LOST: f64 = 0.5;

/// A higher rate is tried if the link brings this part of the stated one. It is higher by this
/// part, and by twice as much after each success, up to the largest. It is tried for so many
/// periods, of which the first is for consumers to learn of it. It succeeds if the link then brings
/// half of that more. After a failure, or a wait, none is tried for so many periods.
const USED: f64 = 0.95;
const STEP: f64 = 0.02;
const LARGEST: f64 = 0.25;
const TRIED: u32 = 2;
const REST: u32 = 6;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ArrivalMeter {
    period: Period,
    baseline: Baseline,
    /// The mean part of what is asked for that does not come.
    lost: f64,
    wait: Wait,
    /// In bit/s; 0: unknown.
    rate: f64,
    step: f64,
    higher: Option<Higher>,
    /// Periods until a higher rate may be tried.
    rest: u32,
}

/// A period so far. It begins with Data.
#[derive(Debug, Default)]
struct Period {
    taken: Quickest,
    since: Time,
    /// Data that were asked for, and that came after the first one, with their bytes.
    asked: u32,
    brought: u32,
    bytes: u64,
    has_begun: bool,
}

/// Periods in a row in which Data waited.
#[derive(Debug, Default)]
struct Wait {
    periods: u32,
    /// How long before the latest try to drain them, and when that was.
    before: (Duration, Time),
    /// Tries that are left.
    tries: u32,
}

/// A higher rate that is tried: the rate before and what the link brought then, in bit/s, and the
/// periods since.
#[derive(Debug)]
struct Higher {
    before: f64,
    brought: f64,
    periods: u32,
}

impl Wait {
    /// Another period ends in which the third quickest answer took so long. Returns the tries that
    /// are left in which less is asked for, and the Data should wait less.
    fn goes_on(&mut self, now: Time, third: Duration) -> u32 {
        if self.periods == 0 {
            (self.before, self.tries) = ((third, now), TRIES);
        } else if self.periods.is_multiple_of(TRY) {
            let (before, since) = self.before;
            let drained = now.since(since).mul_f64((1.0 - DRAINING) * SHORTER);
            self.tries = if third + drained > before { self.tries - 1 } else { TRIES };
            self.before = (third, now);
        }
        self.periods = self.periods.saturating_add(1);
        self.tries
    }
}

impl ArrivalMeter {
    /// The rate; 0 until the link was full.
    pub(super) fn rate(&self) -> Rate {
        let part = if self.wait.periods > 0 { DRAINING } else { 1.0 };
        Rate((self.rate * part) as u64)
    }

    /// An Interest leaves that asks for so many Data.
    pub(super) fn on_interest(&mut self, segments: u16) {
        self.period.asked = self.period.asked.saturating_add(u32::from(segments));
    }

    /// A Nack came: the Interest asks for nothing.
    pub(super) fn on_nack(&mut self) {
        self.period.asked = self.period.asked.saturating_sub(1);
    }

    /// Data of this size on the link has come; `taken` of the link's own time, if that is known.
    pub(super) fn on_data(&mut self, now: Time, taken: Option<Duration>, size: Size) {
        let period = &mut self.period;
        if !period.has_begun || now < period.since {
            *period = Period { since: now, has_begun: true, ..Period::default() };
        } else {
            period.brought = period.brought.saturating_add(1);
            period.bytes = period.bytes.saturating_add(size.0);
        }
        if let Some(taken) = taken {
            period.taken.add(now, taken);
        }
        let (third, span) = (period.taken.third(), now.since(period.since));
        let quickest = self.baseline.quickest().map_or(third, |quickest| quickest.min(third));
        if period.taken.answers() < FEWEST || span < PERIOD.max(quickest.mul_f64(ANSWERS)) {
            return;
        }
        let period = std::mem::take(period);
        let brought = period.bytes as f64 * 8.0 / span.as_secs_f64();
        if !self.baseline.end_period(now, third, &BEYOND) {
            return self.on_free(&period, brought);
        }
        let tries = self.wait.goes_on(now, third);
        if tries == 0 {
            self.baseline.restart(now, third);
            return self.on_free(&period, brought);
        }
        if tries < TRIES {
            // Less is asked for only if as much is answered as before.
            self.lost = 0.0;
        }
        self.on_full(&period, brought);
    }

    /// Data waited.
    fn on_full(&mut self, period: &Period, brought: f64) {
        let answered = 1.0 - self.lost;
        let asked = f64::from(period.asked) * answered;
        let is_full = if self.rate > 0.0 {
            brought > EMPTYING * self.rate * answered || asked > SLOWER * f64::from(period.brought)
        } else {
            self.wait.periods == FIRST
        };
        if let Some(higher) = self.higher.take() {
            self.rate = higher.before;
        }
        if is_full {
            self.rate = brought / answered;
        }
        (self.step, self.rest) = (STEP, REST);
    }

    /// No Data waited: the link may bring more than this.
    fn on_free(&mut self, period: &Period, brought: f64) {
        self.wait = Wait::default();
        if self.rate == 0.0 {
            return;
        }
        let answered = f64::from(period.brought) / f64::from(period.asked.max(1));
        self.lost += GAIN * ((1.0 - answered).clamp(0.0, MOST_LOST) - self.lost);
        if let Some(higher) = &mut self.higher {
            higher.periods += 1;
            if higher.periods < TRIED {
                return;
            }
            if brought >= higher.brought * (1.0 + self.step / 2.0) {
                self.step = (2.0 * self.step).min(LARGEST);
            } else {
                (self.rate, self.step, self.rest) = (higher.before, STEP, REST);
            }
            self.higher = None;
        }
        if self.rest > 0 {
            self.rest -= 1;
        } else if brought >= USED * self.rate * (1.0 - self.lost) {
            self.higher = Some(Higher { before: self.rate, brought, periods: 0 });
            self.rate *= 1.0 + self.step;
        }
    }
}

#[cfg(test)]
mod tests;
