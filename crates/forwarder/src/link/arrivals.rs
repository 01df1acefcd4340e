//! The rate at which a link brings Data, where no configuration states it.
//!
//! Data take a link's own time from the departure of the Interest to their arrival, less the time
//! for which the neighbour had the Interest (`ResidenceTime`): what happens further away does not
//! count. While all Data of a period wait at the other end, the link is full, and the rate at which
//! they come is its rate. Less is stated then, so that the queue empties. While none wait, a higher
//! rate is stated for two periods, now and then; it stays if the link brings more. So does BBR
//! (draft-ietf-ccwg-bbr, ProbeBW) for one flow.
//!
//! A neighbour that lies about its time makes its own link slow, or has its queue fill.

use control::{Duration, Quickest, Rate, Size, Time};

/// A period lasts for this time, for so many of the link's answers, and for so many Data.
const PERIOD: Duration = Duration::from_millis(100);
const ANSWERS: f64 = 2.0;
const FEWEST: u32 = 32;

/// Data wait if the quickest of a period takes longer than the quickest of all by this time, and by
/// this part of it, and by more than so many mean differences of two periods: jitter makes these.
const WAITING: Duration = Duration::from_millis(1);
const WAITING_PART: f64 = 1.0 / 16.0;
const DIFFERENCES: f64 = 4.0;
const GAIN: f64 = 1.0 / 8.0;

/// The quickest answer of all is of this time.
const AGE: Duration = Duration::from_secs(10);

/// The part of the rate that is stated while Data wait.
const DRAINING: f64 = 0.8;

/// A link whose queue empties brings more than this part of its rate: half of the way between what
/// is asked for and all.
const EMPTYING: f64 = 0.9;

/// A try takes so many periods. In it, the wait gets shorter by this part of what has drained. If it
/// does not in so many tries in a row, it is none: the way to the neighbour has become longer. In
/// the first one, what was asked for before is still to come.
const TRY: u32 = 4;
const SHORTER: f64 = 0.25;
const TRIES: u32 = 2;

/// The first rate is that of the second period in which Data wait: a flow that begins fills the
/// first one in part.
const FIRST: u32 = 2;

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
    /// The period so far, and the bytes of Data after its first one.
    period: Quickest,
    bytes: u64,
    /// The quickest answer of all, and when there was one as quick.
    quickest: Option<(Duration, Time)>,
    /// The same of the last period without Data that wait, and the mean difference of two of these.
    last: Option<Duration>,
    difference: Duration,
    /// Periods in a row in which Data waited; how long before the latest try to drain them, and
    /// when that was; tries that are left.
    waiting: u32,
    before: (Duration, Time),
    tries: u32,
    /// In bit/s; 0: unknown.
    rate: f64,
    step: f64,
    higher: Option<Higher>,
    /// Periods until a higher rate may be tried.
    rest: u32,
}

/// A higher rate that is tried: the rate before and what the link brought then, in bit/s, and the
/// periods since.
#[derive(Debug)]
struct Higher {
    before: f64,
    brought: f64,
    periods: u32,
}

impl ArrivalMeter {
    /// The rate; 0 until the link was full.
    pub(super) fn rate(&self) -> Rate {
        let part = if self.waiting > 0 { DRAINING } else { 1.0 };
        Rate((self.rate * part) as u64)
    }

    /// Data of this size on the link has come, which has taken so much of the link's own time.
    pub(super) fn on_data(&mut self, now: Time, taken: Duration, size: Size) {
        self.period.add(now, taken);
        self.bytes = match self.period.answers() {
            1 => 0,
            _ => self.bytes.saturating_add(size.0),
        };
        let (third, span) = (self.period.third(), self.period.span(now));
        let quickest = self.quickest.map_or(third, |(quickest, _)| quickest.min(third));
        if self.period.answers() < FEWEST || span < PERIOD.max(quickest.mul_f64(ANSWERS)) {
            return;
        }
        self.period = Quickest::default();
        let brought = self.bytes as f64 * 8.0 / span.as_secs_f64();
        if self.waits(now, third) {
            self.on_full(brought);
        } else {
            self.on_free(brought);
        }
    }

    /// True if all Data waited in the period that ends.
    fn waits(&mut self, now: Time, third: Duration) -> bool {
        let (quickest, seen_at) = match self.quickest {
            Some((quickest, seen_at)) if quickest < third => (quickest, seen_at),
            _ => *self.quickest.insert((third, now)),
        };
        let beyond = self.difference.mul_f64(DIFFERENCES);
        if third <= quickest + beyond.max(WAITING + quickest.mul_f64(WAITING_PART)) {
            let last = self.last.replace(third).unwrap_or(third);
            let difference = last.max(third).saturating_sub(last.min(third));
            self.difference = self.difference.mul_f64(1.0 - GAIN) + difference.mul_f64(GAIN);
            if now.since(seen_at) > AGE {
                self.quickest = Some((third, now));
            }
            return false;
        }
        if self.waiting == 0 {
            (self.before, self.tries) = ((third, now), TRIES);
        } else if self.waiting.is_multiple_of(TRY) {
            let (before, since) = self.before;
            let drained = now.since(since).mul_f64((1.0 - DRAINING) * SHORTER);
            self.tries = if third + drained > before { self.tries - 1 } else { TRIES };
            self.before = (third, now);
            if self.tries == 0 {
                self.quickest = Some((third, now));
                return false;
            }
        }
        true
    }

    /// Data waited: the link brings no more than this, if it brings more than flows may ask for
    /// while its queue empties. If not, something else made the Data take longer.
    fn on_full(&mut self, brought: f64) {
        self.waiting = self.waiting.saturating_add(1);
        let is_first = if self.rate > 0.0 { self.waiting == 1 } else { self.waiting == FIRST };
        if is_first || self.rate > 0.0 && brought > EMPTYING * self.rate {
            self.rate = brought;
        }
        (self.higher, self.step, self.rest) = (None, STEP, REST);
    }

    /// No Data waited: the link may bring more than this.
    fn on_free(&mut self, brought: f64) {
        self.waiting = 0;
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
        } else if self.rate > 0.0 && brought >= USED * self.rate {
            self.higher = Some(Higher { before: self.rate, brought, periods: 0 });
            self.rate *= 1.0 + self.step;
        }
    }
}

#[cfg(test)]
mod tests;
