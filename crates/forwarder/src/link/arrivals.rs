//! The rate at which a link brings Data, where no configuration states it.
//!
//! Data take a link's own time from the departure of the Interest to their arrival, less the time
//! for which the neighbour had the Interest (`ResidenceTime`): what happens further away does not
//! count. While all Data of a period wait at the other end, the link is full, and the rate at which
//! they come is its rate. Less is stated then, so that the queue empties. While none wait, a higher
//! rate is stated for two periods, now and then; it stays if the link brings more. So does BBR
//! (draft-ietf-ccwg-bbr, ProbeBW) for one flow.
//!
//! Chance may delay all Data of a period. The rate stays then, since the link brings what Interests
//! ask for, and that is less than the rate. Where some Data are always lost, the rate is that of
//! the Data that were asked for.
//!
//! A neighbour that lies about its time makes its own link slow, or has its queue fill.

use control::{Baseline, Beyond, Duration, Quickest, Rate, Size, Time};

/// A period lasts at least this long and at least this many times the link's quickest answer, and
/// has at least this many timed answers.
const PERIOD: Duration = Duration::from_millis(100);
const ANSWERS: f64 = 2.0;
const FEWEST: u32 = 32;

/// Data count as waiting if they take this much longer than usual. By chance alone, the third
/// quickest times of a hundred periods are within five mean differences of each other.
const BEYOND: Beyond =
    Beyond { least: Duration::from_millis(1), part: 1.0 / 16.0, differences: 6.0 };

/// The part of the rate that is stated while Data wait.
const DRAINING: f64 = 0.8;

/// While Data wait, only [`DRAINING`] of the rate is requested. If the link then brings at most
/// this part of its rate (halfway between `DRAINING` and 1), it brings what was requested: chance
/// has delayed the Data. If it brings more, that is its new rate. The rate then falls by at most
/// [`STEP`], and does not rise in the first period, in which earlier requests are still answered.
const EMPTYING: f64 = 0.9;

/// A link has become slower if, within a try, the requested Data exceed this multiple of the Data
/// received by more than a standard deviation.
const SLOWER: f64 = 1.125;

/// While Data wait, less is requested, in tries of [`TRY`] periods. Each should shorten the wait by
/// [`SHORTER`] of the time drained. If [`TRIES`] tries in a row do not, no Data wait: the path to
/// the neighbour has become longer. One try is not enough: Data requested before may still arrive,
/// or Interests without an answer were counted as lost Data and have ended.
const TRY: u32 = 4;
const SHORTER: f64 = 0.25;
const TRIES: u32 = 2;

/// The first rate is set when Data waited in [`FIRST`] periods in a row and the link brought the
/// same in each, within [`STEADY`]. Before a link is full, it brings more in every period.
const FIRST: u32 = 3;
const STEADY: f64 = 1.0 / 8.0;

/// The weight of a period in the part of what is asked for that comes, and its least: with less,
/// nothing is left to measure.
const GAIN: f64 = 1.0 / 16.0;
const LEAST_ANSWERED: f64 = 0.5;

/// A higher rate is tried if the link brings [`USED`] of the stated one. It is higher by [`STEP`],
/// and by twice as much after each success, up to [`LARGEST`]. It is tried for [`TRIED`] periods;
/// in the first, consumers learn of it. It succeeds if the link then brings more by half of the
/// step. After a failure, or when the link was full, no rate is tried for [`REST`] periods.
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
    tally: Tally,
    wait: Wait,
    /// The rate in the period before, in bit/s.
    before: f64,
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

/// Data that were asked for and that came while the rate was known; evidence fades.
#[derive(Debug, Default)]
struct Tally {
    asked: f64,
    brought: f64,
}

/// Periods in a row in which Data waited.
#[derive(Debug, Default)]
struct Wait {
    periods: u32,
    /// How long before the latest try to drain them, and when that was.
    before: (Duration, Time),
    /// Tries that are left.
    tries: u32,
    /// The last of them in which the link brought the same.
    steady: u32,
    /// Data that were asked for, and that came, in those of this try.
    asked: f64,
    brought: f64,
}

/// A higher rate that is tried: the rate before and what the link brought then, in bit/s, and the
/// periods since.
#[derive(Debug)]
struct Higher {
    before: f64,
    brought: f64,
    periods: u32,
}

impl Tally {
    fn add(&mut self, period: &Period) {
        self.asked += f64::from(period.asked) - GAIN * self.asked;
        self.brought += f64::from(period.brought) - GAIN * self.brought;
    }

    /// The part of what is asked for that comes.
    fn answered(&self) -> f64 {
        if self.asked > 0.0 { (self.brought / self.asked).clamp(LEAST_ANSWERED, 1.0) } else { 1.0 }
    }
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
            (self.asked, self.brought) = (0.0, 0.0);
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

    /// An Interest leaves.
    pub(super) fn on_interest(&mut self) {
        self.period.asked = self.period.asked.saturating_add(1);
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
        if self.rate > 0.0 {
            self.tally.add(&period);
        }
        if self.waits(now, third) {
            self.on_wait(&period, brought);
        } else {
            self.on_free(brought);
        }
        self.before = brought;
    }

    /// True if the Data of a period waited, of which the third quickest took so long.
    fn waits(&mut self, now: Time, third: Duration) -> bool {
        if !self.baseline.end_period(now, third, &BEYOND) {
            return false;
        }
        match self.wait.goes_on(now, third) {
            0 => {
                self.baseline.restart(now, third);
                return false;
            }
            TRIES => {}
            // Less is asked for only if as much is answered as before.
            _ => self.tally = Tally::default(),
        }
        true
    }

    /// Data waited: the link may be full.
    fn on_wait(&mut self, period: &Period, brought: f64) {
        let answered = self.tally.answered();
        self.wait.asked += f64::from(period.asked) * answered;
        self.wait.brought += f64::from(period.brought);
        if let Some(higher) = self.higher.take() {
            self.rate = higher.before;
        }
        let found = brought / answered;
        let likely = SLOWER * self.wait.brought;
        let is_slower = self.wait.asked > likely + likely.sqrt();
        if self.rate == 0.0 {
            let is_steady = (brought - self.before).abs() < STEADY * brought;
            self.wait.steady = if is_steady { self.wait.steady + 1 } else { 0 };
            if self.wait.steady < FIRST {
                return;
            }
            // Chance may have made it: more is tried at once.
            (self.rate, self.step, self.rest) = (found, LARGEST, 0);
            return;
        } else if is_slower {
            self.rate = found;
        } else if found > EMPTYING * self.rate {
            let most = if self.wait.periods == 1 { self.rate } else { found };
            self.rate = found.min(most).max(self.rate * (1.0 - STEP));
        } else {
            return;
        }
        (self.step, self.rest) = (STEP, REST);
    }

    /// No Data waited: the link may bring more than this.
    fn on_free(&mut self, brought: f64) {
        self.wait = Wait::default();
        if self.rate == 0.0 {
            return;
        }
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
        } else if brought >= USED * self.rate * self.tally.answered() {
            self.higher = Some(Higher { before: self.rate, brought, periods: 0 });
            self.rate *= 1.0 + self.step;
        }
    }
}

#[cfg(test)]
mod tests;
