//! Pauses of the whole transfer while no answer is any good.
//!
//! A Nack frees a place in the window at once, and so does Data that is not what was asked for. If
//! nothing else happened, the next request would take the place and come back the same way: where
//! the producer is gone and the forwarder is near, that is a hundred thousand Interests a second. A
//! pause of the one request does not help, for there are others.
//!
//! So answers are counted that are no good, since the last one that was. [`ENOUGH`] of them suspend
//! the transfer: requests leave one at a time, at distances of [`FIRST_PAUSE`] at first, which
//! double to [`LONGEST_PAUSE`]. A good answer ends that. Where one comes before the first pause is
//! over, as it does while requests in flight are answered, nothing is changed: forged or stray
//! Nacks cost no more than the time between two answers. Otherwise requests in flight are bounded
//! from then on, and the bound doubles each round trip, as in slow start.
//!
//! A Nack because of congestion asks for a lower rate, which is the controller's business (a link
//! is congested, no name unreachable), so that it takes more of them. Duplicate is no answer: the
//! other Interest with that nonce is still on its way (NDNLPv2, "Network Nack").

use control::{Duration, Time};
use packet::NackReason;

/// Fewer in a row may be chance, or forged.
const ENOUGH: u32 = 3;
/// As many of congestion: no controller that lowers its rate sees them between two answers.
const ENOUGH_CONGESTION: u32 = 64;
const FIRST_PAUSE: Duration = Duration::from_millis(125);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// So many requests leave at the first distance: what a producer does not have is known soon.
const AT_FIRST: u32 = 4;
/// A bound on what is in flight is lifted here: no window grows faster.
const LIFTED_AT: u32 = 4096;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refusals {
    /// Answers that were no good, and Nacks for congestion, since the last good one.
    in_a_row: u32,
    congested: u32,
    /// The transfer is suspended until then; and how many requests have left meanwhile.
    suspended: Option<(Time, u32)>,
    /// How much may be in flight since the transfer was last suspended.
    bound: Option<u32>,
}

impl Refusals {
    /// When the next Interest may leave, if the transfer is suspended.
    pub fn suspended_until(&self) -> Option<Time> {
        self.suspended.map(|(until, _)| until)
    }

    /// True if an Interest may leave now, with `in_flight` segments in flight.
    pub fn allows(&self, now: Time, in_flight: u32) -> bool {
        match self.suspended {
            Some((until, _)) => until <= now,
            None => self.bound.is_none_or(|bound| in_flight < bound),
        }
    }

    /// A Nack came for this reason, or, without one, Data that is no good.
    pub fn bad(&mut self, now: Time, reason: Option<NackReason>) {
        match reason {
            Some(NackReason::Duplicate) => return,
            Some(NackReason::Congestion) => self.congested = self.congested.saturating_add(1),
            _ => self.in_a_row = self.in_a_row.saturating_add(1),
        }
        let enough = self.in_a_row >= ENOUGH || self.congested >= ENOUGH_CONGESTION;
        if enough && self.suspended.is_none() {
            self.suspended = Some((now + FIRST_PAUSE, 0));
        }
    }

    /// An Interest left.
    pub fn sent(&mut self, now: Time) {
        if let Some((until, sent)) = &mut self.suspended {
            let pause = FIRST_PAUSE.0 << sent.saturating_sub(AT_FIRST - 1).min(16);
            *sent += 1;
            *until = now + Duration(pause).min(LONGEST_PAUSE);
        }
    }

    /// Data came and is good. Returns true if the transfer was suspended.
    pub fn good(&mut self, in_flight: u32) -> bool {
        let was = self.suspended.take();
        (self.in_a_row, self.congested) = (0, 0);
        self.bound = match was {
            Some((_, 1..)) => Some(in_flight + 2),
            _ => self.bound.map(|bound| bound + 2).filter(|bound| *bound < LIFTED_AT),
        };
        was.is_some()
    }
}
