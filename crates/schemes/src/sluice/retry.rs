//! Offers that have proved too high are tried again: the cause may have gone. A link that failed
//! may carry Data again, or routes may avoid it. Other traffic on a link without offers may have
//! ended.
//!
//! A try begins after round trips without a queue and without losses, at a little more than the
//! rate at which Data come. It doubles its pace as long as Data keep up, and ends well at the pace
//! that is offered. A queue, losses and Data that do not keep up end it badly, and the next one
//! waits twice as long: where offers stay too high, tries cost ever less.

use control::{Duration, Time};

/// Calm round trips before a try: at first, and after many that ended badly.
const FIRST_WAIT: u32 = 16;
const LONGEST_WAIT: u32 = 1024;

/// A try begins at this multiple of the rate at which Data come. Each step multiplies the pace.
const FIRST_STEP: f64 = 1.5;
const STEP: f64 = 2.0;

/// Data keep up if this part of the pace comes. At the first step it is more than a link that was
/// full before can carry, which is 1 / [`FIRST_STEP`].
const KEPT_UP: f64 = 0.8;

/// How a try goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    Open,
    /// Data came at the pace that is offered.
    Well,
    Badly,
}

/// A round trip, as it looked to the doubt.
pub(super) struct Trip {
    /// It had no queue, and no more losses than chance makes.
    pub(super) is_calm: bool,
    /// The rate of Data, in bit/s, and the part of them that is not lost.
    pub(super) came: f64,
    pub(super) arriving: f64,
    /// The rate that links offer, in bit/s.
    pub(super) offered: f64,
    /// The round trip of the longest path.
    pub(super) longest: Duration,
}

/// One pace of a try.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Bit/s.
    pace: f64,
    /// From here on, Data were asked for at this pace.
    from: Time,
    bytes: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Retry {
    calm: u32,
    wait: u32,
    step: Option<Step>,
}

impl Retry {
    pub(super) fn new() -> Retry {
        Retry { calm: 0, wait: FIRST_WAIT, step: None }
    }

    /// The pace of the try under way, in bit/s.
    pub(super) fn pace(&self) -> Option<f64> {
        self.step.map(|step| step.pace)
    }

    /// Ends the try under way: the doubt is another one, or none.
    pub(super) fn stop(&mut self) {
        (self.calm, self.step) = (0, None);
    }

    /// The offers have long been right: the next doubt is a new one.
    pub(super) fn forget(&mut self) {
        *self = Retry::new();
    }

    /// Counts bytes of Data that came at `now`.
    pub(super) fn on_data(&mut self, now: Time, bytes: u64) {
        if let Some(step) = self.step.as_mut().filter(|step| now > step.from) {
            step.bytes = step.bytes.saturating_add(bytes);
        }
    }

    /// A round trip ends.
    pub(super) fn on_round(&mut self, now: Time, trip: &Trip) -> Outcome {
        let Some(step) = self.step else {
            self.calm = if trip.is_calm { self.calm + 1 } else { 0 };
            if self.calm >= self.wait {
                self.begin(now, trip, FIRST_STEP * trip.came / trip.arriving);
            }
            return Outcome::Open;
        };
        if !trip.is_calm {
            return self.end_badly();
        }
        let counted = now.since(step.from);
        if counted < trip.longest {
            return Outcome::Open;
        }
        let came = step.bytes as f64 * 8.0 / counted.as_secs_f64().max(1e-9);
        if came < KEPT_UP * trip.arriving * step.pace {
            return self.end_badly();
        }
        if step.pace >= trip.offered {
            self.stop();
            return Outcome::Well;
        }
        self.begin(now, trip, STEP * step.pace);
        Outcome::Open
    }

    fn begin(&mut self, now: Time, trip: &Trip, pace: f64) {
        let pace = pace.min(trip.offered);
        self.step = Some(Step { pace, from: now + trip.longest, bytes: 0 });
    }

    fn end_badly(&mut self) -> Outcome {
        self.stop();
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
        Outcome::Badly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);
    const OFFERED: f64 = 100e6;

    /// A consumer whose link carries `carried` bit/s, of which `arriving` arrive.
    struct Link {
        retry: Retry,
        now: Time,
        carried: f64,
        arriving: f64,
    }

    impl Link {
        fn new(carried: f64) -> Link {
            Link { retry: Retry::new(), now: Time::ZERO, carried, arriving: 1.0 }
        }

        /// A round trip whose Data come at the pace of the try, or at this rate without one.
        fn round(&mut self, rate: f64, is_calm: bool) -> Outcome {
            let came = self.arriving * self.retry.pace().unwrap_or(rate).min(self.carried);
            self.now += RTT;
            self.retry.on_data(self.now, (came * RTT.as_secs_f64() / 8.0) as u64);
            let trip =
                Trip { is_calm, came, arriving: self.arriving, offered: OFFERED, longest: RTT };
            self.retry.on_round(self.now, &trip)
        }

        /// Calm round trips at this rate until a try begins.
        fn until_a_try(&mut self, rate: f64) -> u32 {
            for rounds in 1.. {
                self.round(rate, true);
                if self.retry.pace().is_some() {
                    return rounds;
                }
            }
            unreachable!()
        }
    }

    #[test]
    fn a_try_doubles_its_pace_up_to_the_offer_and_ends_well() {
        for arriving in [1.0, 0.9] {
            let mut link = Link { arriving, ..Link::new(1e9) };
            assert_eq!(link.until_a_try(10e6), FIRST_WAIT);
            let mut paces = vec![link.retry.pace().unwrap()];
            let outcome = loop {
                let outcome = link.round(10e6, true);
                if outcome != Outcome::Open {
                    break outcome;
                }
                let pace = link.retry.pace().unwrap();
                if paces.last() != Some(&pace) {
                    paces.push(pace);
                }
            };
            let paces: Vec<_> = paces.iter().map(|pace| (pace / 1e6).round()).collect();
            assert_eq!((outcome, paces), (Outcome::Well, vec![15.0, 30.0, 60.0, 100.0]));
            assert_eq!(link.retry.pace(), None);
        }
    }

    #[test]
    fn data_that_do_not_keep_up_end_it_and_the_next_one_waits_twice_as_long() {
        let mut link = Link::new(10e6);
        for wait in [16, 32, 64, 128, 256, 512, 1024, 1024] {
            assert_eq!(link.until_a_try(10e6), wait);
            assert_eq!(link.round(10e6, true), Outcome::Open, "asked for before the try");
            assert_eq!(link.round(10e6, true), Outcome::Badly);
        }
        link.retry.forget();
        assert_eq!(link.until_a_try(10e6), FIRST_WAIT);
    }

    #[test]
    fn a_queue_or_losses_end_it_at_once_and_put_it_off() {
        let mut link = Link::new(1e9);
        (0..15).for_each(|_| assert_eq!(link.round(10e6, true), Outcome::Open));
        link.round(10e6, false);
        assert_eq!(link.until_a_try(10e6), FIRST_WAIT);
        assert_eq!(link.round(10e6, false), Outcome::Badly);
        assert_eq!(link.retry.pace(), None);
    }
}
