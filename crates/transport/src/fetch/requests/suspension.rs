//! Suspension of a transfer that receives only Nacks or wrong Data.
//!
//! A Nack frees a place in the window at once; so does wrong Data. The next request takes the place
//! and fails in the same way. If the producer is gone and the forwarder is near, the result is a
//! hundred thousand Interests per second. Pausing the one request does not help, because others
//! take its place.
//!
//! So the bad answers since the last good one are counted. [`ENOUGH`] of them suspend the transfer:
//! requests leave one at a time, first at intervals of [`FIRST_PAUSE`], which double up to
//! [`LONGEST_PAUSE`]. A good answer ends the suspension. If it arrives before the first pause is
//! over, as it does while requests in flight are answered, there is no further effect: forged or
//! stray Nacks cost no more than the time between two answers. Otherwise the number of requests in
//! flight is limited from then on. Each good answer raises the limit by two.
//!
//! A Congestion Nack asks for a lower rate, which is the controller's task: a link is congested,
//! but the name is reachable. So many more of them are needed. A Duplicate Nack is not an answer:
//! the other Interest with that nonce is still pending (NDNLPv2, "Network Nack").

use control::{Duration, Time};
use packet::NackReason;

/// The number of bad answers in a row that suspends a transfer. Fewer may be chance, or forged.
const ENOUGH: u32 = 3;
/// The number of Congestion Nacks that suspends a transfer. A controller that lowers its rate does
/// not get this many between two answers.
const ENOUGH_CONGESTION: u32 = 64;
const FIRST_PAUSE: Duration = Duration::from_millis(125);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The number of requests sent at intervals of [`FIRST_PAUSE`], so that an object that does not
/// exist is reported soon.
const AT_FIRST: u32 = 4;
/// The limit on requests in flight is removed at this value: no window grows faster.
const LIFTED_AT: u32 = 4096;

/// The bad answers of a transfer, and its suspension; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TransferSuspension {
    /// Bad answers and Congestion Nacks since the last good answer.
    in_a_row: u32,
    congested: u32,
    /// If suspended: the instant of the next request, and the number of requests sent meanwhile.
    suspended: Option<(Time, u32)>,
    /// The limit on items in flight after a suspension.
    bound: Option<u32>,
}

impl TransferSuspension {
    /// The instant at which the next Interest may leave, if the transfer is suspended.
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

    /// Counts a Nack with this reason; `None` stands for Data that was rejected.
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

    /// Records the sending of an Interest.
    pub fn sent(&mut self, now: Time) {
        if let Some((until, sent)) = &mut self.suspended {
            let pause = FIRST_PAUSE.0 << sent.saturating_sub(AT_FIRST - 1).min(16);
            *sent += 1;
            *until = now + Duration(pause).min(LONGEST_PAUSE);
        }
    }

    /// Records a good answer. Returns true if the transfer was suspended.
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
