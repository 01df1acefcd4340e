//! The doubt in offers: they are too high where a link without our parts is the bottleneck.
//!
//! One of these proves it:
//!
//! - The first Data come so far apart that the path has less than half of the offered rate, as in a
//!   packet pair. They have to come by one path: by several, each brings a part of them.
//! - Round trips lose Data while a queue stands, or a tenth of all, whatever the queue: that of a
//!   link with a small buffer is not seen. A single one loses a quarter. Random loss alone is no
//!   proof: a link that offers a rate knows its queue.
//! - The window is full, and Data come more slowly than offered.
//!
//! Round trips at the offered rate refute it.

use crate::train::Train;
use control::{Duration, Time};

/// Lost shares of a round trip that show an overflow: with a queue; whatever the queue, twice of
/// the random loss that the scheme is to bear; and in a single round trip.
const LOSSY: f64 = 0.03;
const MORE_LOSSY: f64 = 0.1;
const VERY_LOSSY: f64 = 0.25;

/// The weight of a round trip's losses in the next one: a loss may prove false by then.
const MEMORY: f64 = 0.5;

/// The rate that the first Data show is not that of the offers if it is below this part of them:
/// flows that share a link unequally for a moment show as little as a half.
const FAR_BELOW: f64 = 0.5;

/// First Data that show no rate by then came as they were asked for.
const FIRST_DATA: u32 = 16;

/// Data come as offered if they come at this part of the rate.
const BINDING: f64 = 0.9;

/// Round trips in a row with an overflow, after which offers are too high; and at the rate that is
/// offered, after which they are not. It takes fewer if only the first Data said so.
const PROOF: u32 = 2;
const TRUST: u32 = 16;
const TRUST_AFTER_FIRST: u32 = 2;

/// A round trip, as it looked to the consumer.
pub(super) struct Seen {
    /// The rate that links offer, in bit/s; 0 if none does.
    pub(super) offered: f64,
    /// The rate of the path by the model, in bit/s.
    pub(super) found: f64,
    /// The smallest round-trip time, and the smallest that is known.
    pub(super) rtt: Duration,
    pub(super) rtt_min: Duration,
}

/// See the module.
pub(super) struct Doubt {
    /// The first Data and their number; `None` when they have shown the rate of the path.
    first: Option<(Train, u32)>,
    /// Data, and losses that did not prove false, of the last round trips.
    came: f64,
    lost: f64,
    /// The window was full in this round trip, when that began, and the bytes that have come.
    is_full: bool,
    since: Time,
    bytes: u64,
    /// Offers have proved too high.
    stands: bool,
    /// Round trips in a row that say otherwise, and how many it takes.
    evidence: u32,
    enough: u32,
}

impl Doubt {
    pub(super) fn new() -> Doubt {
        Doubt {
            first: Some((Train::default(), 0)),
            came: 0.0,
            lost: 0.0,
            is_full: false,
            since: Time::ZERO,
            bytes: 0,
            stands: false,
            evidence: 0,
            enough: PROOF,
        }
    }

    /// True if the first Data have not shown anything yet.
    pub(super) fn is_open(&self) -> bool {
        self.first.is_some()
    }

    /// True if offers have proved too high.
    pub(super) fn stands(&self) -> bool {
        self.stands
    }

    fn judge(&mut self, stands: bool, enough: u32) {
        (self.stands, self.evidence, self.enough) = (stands, 0, enough);
    }

    /// Data of this size came at `now`, and its Interest left at `sent_at`. `offered` is in bit/s.
    pub(super) fn on_first(
        &mut self,
        now: Time,
        sent_at: Time,
        bytes: u64,
        offered: f64,
        is_one_path: bool,
    ) {
        let Some((train, data)) = &mut self.first else { return };
        train.arrived(sent_at, now);
        *data += 1;
        let shown = train.rate().map(|segments| segments * bytes as f64 * 8.0);
        if shown.is_none() && *data < FIRST_DATA {
            return;
        }
        self.first = None;
        if is_one_path && shown.is_some_and(|shown| shown < FAR_BELOW * offered) {
            self.judge(true, TRUST_AFTER_FIRST);
        }
    }

    /// Data of this size came; a loss was false if it is late.
    pub(super) fn on_data(&mut self, bytes: u64, is_late: bool, is_full: bool) {
        self.came += 1.0;
        self.bytes = self.bytes.saturating_add(bytes);
        self.is_full |= is_full;
        if is_late {
            self.lost = (self.lost - 1.0).max(0.0);
        }
    }

    /// A segment was lost.
    pub(super) fn on_loss(&mut self) {
        self.lost += 1.0;
    }

    /// Data came by a link that was not known: the first Data were of one of several paths.
    pub(super) fn on_new_path(&mut self) {
        if self.stands && self.enough == TRUST_AFTER_FIRST {
            self.judge(false, PROOF);
        }
    }

    /// A round trip ends.
    pub(super) fn on_round(&mut self, now: Time, seen: &Seen) {
        let share = self.lost / (self.came + self.lost).max(1.0);
        let queue = seen.rtt.saturating_sub(seen.rtt_min);
        let is_queued = queue > seen.rtt_min.mul_f64(0.25) + Duration::from_millis(5);
        let came = self.bytes as f64 * 8.0 / now.since(self.since).as_secs_f64().max(1e-9);
        let is_slow = self.is_full && came < BINDING * seen.offered;
        (self.came, self.lost) = (self.came * MEMORY, self.lost * MEMORY);
        (self.is_full, self.since, self.bytes) = (false, now, 0);
        let overflows = share > MORE_LOSSY || share > LOSSY && is_queued || is_slow;
        let is_as_offered = seen.found >= BINDING * seen.offered;
        let says_otherwise = if self.stands { is_as_offered } else { overflows };
        self.evidence = if says_otherwise { self.evidence + 1 } else { 0 };
        let is_plain = !self.stands && share > VERY_LOSSY;
        if self.evidence >= if is_plain { 1 } else { self.enough } {
            self.judge(!self.stands, if self.stands { PROOF } else { TRUST });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const OFFERED: f64 = 100e6;

    /// Round trips of 50 ms and 10 Mbit of Data, with these losses, at this model's rate.
    fn rounds(doubt: &mut Doubt, count: u64, lost: u64, rtt: u64, found: f64) {
        for _ in 0..count {
            let now = doubt.since + MS(50);
            (0..100 - lost).for_each(|_| doubt.on_data(6250, false, false));
            (0..lost).for_each(|_| doubt.on_loss());
            let seen = Seen { offered: OFFERED, found, rtt: MS(rtt), rtt_min: MS(50) };
            doubt.on_round(now, &seen);
        }
    }

    fn first(doubt: &mut Doubt, apart_us: u64, is_one_path: bool) {
        for i in 0..6 {
            let now = Time::ZERO + MS(50) + Duration::from_micros(i * apart_us);
            doubt.on_first(now, Time::ZERO, 1000, OFFERED, is_one_path);
        }
    }

    #[test]
    fn first_data_far_apart_prove_it_and_two_round_trips_refute_it() {
        // 8000 bits in 800 us are 10 Mbit/s; in 100 us, 80.
        for (apart, is_one_path, proves) in
            [(800, true, true), (800, false, false), (101, true, false)]
        {
            let mut doubt = Doubt::new();
            first(&mut doubt, apart, is_one_path);
            assert_eq!((doubt.is_open(), doubt.stands()), (false, proves), "{apart}");
        }
        let mut doubt = Doubt::new();
        first(&mut doubt, 800, true);
        rounds(&mut doubt, 1, 0, 50, 0.95 * OFFERED);
        assert!(doubt.stands());
        rounds(&mut doubt, 1, 0, 50, 0.95 * OFFERED);
        assert!(!doubt.stands());
    }

    #[test]
    fn another_path_refutes_first_data_and_no_more_than_them() {
        let mut doubt = Doubt::new();
        first(&mut doubt, 800, true);
        doubt.on_new_path();
        assert!(!doubt.stands());
        rounds(&mut doubt, 2, 10, 80, 0.2 * OFFERED);
        doubt.on_new_path();
        assert!(doubt.stands());
    }

    #[test]
    fn losses_with_a_queue_prove_it_and_sixteen_round_trips_refute_it() {
        let mut doubt = Doubt::new();
        rounds(&mut doubt, 10, 10, 55, 0.2 * OFFERED);
        assert!(!doubt.stands(), "random loss");
        rounds(&mut doubt, 2, 10, 80, 0.2 * OFFERED);
        assert!(doubt.stands());
        rounds(&mut doubt, 15, 0, 50, 0.95 * OFFERED);
        assert!(doubt.stands());
        rounds(&mut doubt, 1, 0, 50, 0.95 * OFFERED);
        assert!(!doubt.stands());
        rounds(&mut doubt, 1, 80, 50, 0.2 * OFFERED);
        assert!(doubt.stands(), "a loss of four fifths needs no second round trip");
    }

    #[test]
    fn a_full_window_proves_it_only_if_data_come_slowly() {
        for (bytes, proves) in [(62_500, false), (6_250, true)] {
            let mut doubt = Doubt::new();
            for round in 1..=2 {
                (0..10).for_each(|_| doubt.on_data(bytes, false, true));
                let seen = Seen { offered: OFFERED, found: 0.0, rtt: MS(150), rtt_min: MS(50) };
                doubt.on_round(Time::ZERO + MS(50 * round), &seen);
            }
            assert_eq!(doubt.stands(), proves, "{bytes}");
        }
    }
}
