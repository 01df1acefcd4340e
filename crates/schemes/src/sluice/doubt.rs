//! The doubt in offers: they are too high where a link without our parts is the bottleneck.
//!
//! One of these proves it:
//!
//! - The first Data come so far apart that the path has less than half of the offered rate, as in a
//!   packet pair. They have to come by one path: by several, each brings a part of them.
//! - Round trips lose Data while a queue waits, or 15 % of all with any queue: the queue of a link
//!   with a small buffer is not visible. Or a single round trip loses a quarter. Random loss alone
//!   is no proof: a link that offers a rate measures its queue.
//! - The window is full, as it was a round trip ago, and Data come more slowly than offered then.
//!
//! Round trips at the offered rate refute it; so do losses that prove false, an unknown path, and
//! tries (`retry.rs`).

use super::retry::{Outcome, Retry, Trip};
use crate::shared::consumer::train::Train;
use control::{Duration, Time};

/// Shares of lost Data that show an overflow; three standard deviations are added. The first counts
/// if there is a queue, beyond the usual share. The second counts without a queue as well: it is
/// 1.5 times the loss of Data if one frame in twenty is lost by chance each way. The third counts
/// in a single round trip.
const LOSSY: f64 = 0.03;
const MORE_LOSSY: f64 = 0.15;
const VERY_LOSSY: f64 = 0.25;
const DEVIATIONS: f64 = 3.0;

/// The weight of a round trip without a queue in the usual share of losses.
const USUAL: f64 = 1.0 / 16.0;

/// The weight of a round trip's losses in the next one: a loss may prove false by then.
const MEMORY: f64 = 0.5;

/// If first Data show a rate below this part of the offers, the path is slower than the offers.
/// Flows that share a link unequally for a moment show as little as a half.
const FAR_BELOW: f64 = 0.5;

/// The number of first Data after which a missing rate means that Data came as requested.
const FIRST_DATA: u32 = 16;

/// Data come as offered if they come at this part of the rate.
const BINDING: f64 = 0.9;

/// Round trips in a row with an overflow, after which offers are too high; and round trips at the
/// offered rate, after which they are not. Fewer are enough if only the first Data were the proof.
const PROOF: u32 = 2;
const TRUST: u32 = 16;
const TRUST_AFTER_FIRST: u32 = 2;

/// After this number of round trips without a doubt, the next doubt is a new one.
const RELIABLE: u32 = 256;

/// Losses refute the doubt that they have proved if this part of them proves false.
const FALSE: f64 = 0.5;

/// The number of times that paths which come or go refute a doubt in a transfer. On a path with
/// more than three links, Data carry the offers of varying links, and each set of links looks like
/// a new path.
const PATHS: u32 = 4;

/// Losses are attributed to a path that has fallen silent, for this number of the longest round
/// trips and this time. A node sends to a silent next hop for two round trips and a tenth of a
/// second (`splitter.rs`); the last of these Interests are missed after two more.
const FAILING_ROUNDS: f64 = 4.0;
const FAILING: Duration = Duration::from_millis(100);

/// A round trip, as it looked to the consumer.
pub(super) struct Seen {
    /// The rate that links offer, in bit/s; 0 if none does.
    pub(super) offered: f64,
    /// The rate of the path by the model, in bit/s.
    pub(super) found: f64,
    /// The smallest round-trip time of this round trip, and of all.
    pub(super) rtt: Duration,
    pub(super) rtt_min: Duration,
    /// The round trip of the longest path.
    pub(super) longest: Duration,
}

/// The lowest rate that was offered while the window was full, in bit/s, in this round trip and in
/// the one before: Data that come now were requested then.
#[derive(Default)]
struct Full([Option<f64>; 2]);

impl Full {
    /// The window is full at this rate, if at any.
    fn note(&mut self, offered: Option<f64>) {
        self.0[0] =
            offered.map(|rate| self.0[0].map_or(rate, |least| least.min(rate))).or(self.0[0]);
    }

    /// A round trip ends, with this offer. Returns the rate at which Data had to come, if the
    /// window was full in both.
    fn end(&mut self, offered: f64) -> Option<f64> {
        let [this, before] = self.0;
        self.0 = [None, this];
        Some(this?.min(before?).min(offered))
    }
}

/// The proof that offers are too high.
#[derive(Default)]
struct Proof {
    at: Time,
    /// Nothing was lost: Data came too slowly, or too far apart.
    is_of_pace: bool,
    /// Losses that proved it, and the number of them that have proved false since.
    blamed: [f64; 2],
}

/// See the module.
pub(super) struct Doubt {
    /// The first Data and their number; `None` when they have shown the rate of the path.
    first: Option<(Train, u32)>,
    /// Data, and losses that did not prove false, of the last round trips.
    came: f64,
    lost: f64,
    /// The share of losses without a queue: those by chance.
    usual: f64,
    full: Full,
    /// When this round trip began, and the bytes that have come.
    since: Time,
    bytes: u64,
    /// Offers have proved too high.
    stands: bool,
    /// Round trips in a row that contradict this, and the number that is enough.
    evidence: u32,
    enough: u32,
    proof: Proof,
    /// The number of times that paths may still refute the doubt.
    paths: u32,
    /// The time until which losses are attributed to a failed path.
    failing_until: Time,
    retry: Retry,
    /// Round trips since offers proved right.
    trusted: u32,
}

impl Doubt {
    pub(super) fn new() -> Doubt {
        Doubt {
            first: Some((Train::default(), 0)),
            came: 0.0,
            lost: 0.0,
            usual: 0.0,
            full: Full::default(),
            since: Time::ZERO,
            bytes: 0,
            stands: false,
            evidence: 0,
            enough: PROOF,
            proof: Proof::default(),
            paths: PATHS,
            failing_until: Time::ZERO,
            retry: Retry::new(),
            trusted: 0,
        }
    }

    /// True while the first Data have not shown a rate.
    pub(super) fn is_open(&self) -> bool {
        self.first.is_some()
    }

    /// True if offers have proved too high, and are not tried again now.
    pub(super) fn stands(&self) -> bool {
        self.stands && self.retry.pace().is_none()
    }

    /// The pace for this offer, both in bit/s: a part of it while it is tried again.
    pub(super) fn pace(&self, offered: f64) -> f64 {
        self.retry.pace().map_or(offered, |pace| pace.min(offered))
    }

    fn judge(&mut self, stands: bool, enough: u32) {
        (self.stands, self.evidence, self.enough) = (stands, 0, enough);
        self.trusted = 0;
        self.retry.stop();
    }

    /// Data came at `now`. Links have booked `bytes` for it, and its Interest left at `sent_at`.
    /// `offered` is in bit/s.
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
        let shown = train.rate().filter(|_| train.is_steady());
        let shown = shown.map(|segments| segments * bytes as f64 * 8.0);
        if shown.is_none() && *data < FIRST_DATA {
            return;
        }
        self.first = None;
        if is_one_path && shown.is_some_and(|shown| shown < FAR_BELOW * offered) {
            self.judge(true, TRUST_AFTER_FIRST);
            self.proof.is_of_pace = true;
        }
    }

    /// Data of this size came; a loss was false if it is late. `full_at` is the offered rate, in
    /// bit/s, if the window is full at it.
    pub(super) fn on_data(&mut self, now: Time, bytes: u64, is_late: bool, full_at: Option<f64>) {
        self.came += 1.0;
        self.bytes = self.bytes.saturating_add(bytes);
        self.retry.on_data(now, bytes);
        self.full.note(full_at);
        if !is_late {
            return;
        }
        self.lost = (self.lost - 1.0).max(0.0);
        let [blamed, mistaken] = &mut self.proof.blamed;
        *mistaken += 1.0;
        if self.stands && !self.proof.is_of_pace && *mistaken >= FALSE * *blamed {
            self.judge(false, PROOF);
        }
    }

    /// A segment was lost.
    pub(super) fn on_loss(&mut self, now: Time) {
        if now >= self.failing_until {
            self.lost += 1.0;
        }
    }

    /// A path has fallen silent: its losses are no sign that the offers of others are too high.
    /// `longest` is the longest round trip.
    pub(super) fn on_silent_path(&mut self, now: Time, longest: Duration) {
        if self.paths == 0 {
            return;
        }
        self.paths -= 1;
        let failing = longest.mul_f64(FAILING_ROUNDS) + FAILING;
        (self.lost, self.failing_until) = (0.0, now + failing);
        if !self.stands {
            self.evidence = 0;
        } else if !self.proof.is_of_pace && now.since(self.proof.at) <= failing {
            self.judge(false, PROOF);
        }
    }

    /// Data came by an unknown link: earlier Data came by one of several paths, and other Data are
    /// under way on this one.
    pub(super) fn on_new_path(&mut self) {
        if self.stands && self.proof.is_of_pace && self.paths > 0 {
            self.paths -= 1;
            self.judge(false, PROOF);
        }
    }

    /// More Data were lost than this share of all, and than chance adds to it.
    fn is_beyond(&self, share: f64) -> bool {
        let expected = share * (self.came + self.lost);
        self.lost > expected + DEVIATIONS * expected.sqrt()
    }

    /// A round trip ends.
    pub(super) fn on_round(&mut self, now: Time, seen: &Seen) {
        let (lost, all) = (self.lost, (self.came + self.lost).max(1.0));
        let arriving = 1.0 - lost / all;
        let queue = seen.rtt.saturating_sub(seen.rtt_min);
        let is_queued = queue > seen.rtt_min.mul_f64(0.25) + Duration::from_millis(5);
        // Data lost by chance would have come at the same pace.
        let came = self.bytes as f64 * 8.0 / now.since(self.since).as_secs_f64().max(1e-9);
        let asked = self.full.end(seen.offered);
        let is_slow = asked.is_some_and(|asked| came < BINDING * arriving * asked);
        let is_lossy =
            self.is_beyond(MORE_LOSSY) || is_queued && self.is_beyond(LOSSY + self.usual);
        let is_plain = !self.stands && self.is_beyond(VERY_LOSSY);
        if !is_queued && !is_lossy {
            self.usual += USUAL * (lost / all - self.usual);
        }
        (self.came, self.lost) = (self.came * MEMORY, self.lost * MEMORY);
        (self.since, self.bytes) = (now, 0);
        if self.stands {
            let trip = Trip {
                is_calm: !is_queued && !is_lossy,
                came,
                arriving,
                offered: seen.offered,
                longest: seen.longest,
            };
            if self.retry.on_round(now, &trip) == Outcome::Well {
                return self.judge(false, PROOF);
            }
        } else {
            self.trusted = self.trusted.saturating_add(1);
            if self.trusted == RELIABLE {
                self.retry.forget();
            }
        }
        let is_as_offered = seen.found >= BINDING * arriving * seen.offered;
        let contradicts = if self.stands { is_as_offered } else { is_lossy || is_slow };
        self.evidence = if contradicts { self.evidence + 1 } else { 0 };
        if self.evidence >= if is_plain { 1 } else { self.enough } {
            self.judge(!self.stands, if self.stands { PROOF } else { TRUST });
            self.proof = Proof { at: now, is_of_pace: !is_lossy, blamed: [lost, 0.0] };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const OFFERED: f64 = 100e6;
    const RTT: Duration = Duration::from_millis(50);
    const SEEN: Seen = Seen { offered: OFFERED, found: 0.0, rtt: RTT, rtt_min: RTT, longest: RTT };

    /// Round trips of 50 ms and 10 Mbit of Data, with these losses, at this model's rate.
    fn rounds(doubt: &mut Doubt, count: u64, lost: u64, rtt: u64, found: f64) {
        for _ in 0..count {
            let now = doubt.since + MS(50);
            (0..100 - lost).for_each(|_| doubt.on_data(now, 6250, false, None));
            (0..lost).for_each(|_| doubt.on_loss(now));
            let seen = Seen { found, rtt: MS(rtt), ..SEEN };
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

    /// Three round trips with a full window and a tenth of the offered Data.
    fn slow_rounds(doubt: &mut Doubt) {
        for _ in 0..3 {
            let now = doubt.since + MS(50);
            (0..10).for_each(|_| doubt.on_data(now, 6250, false, Some(OFFERED)));
            doubt.on_round(now, &SEEN);
        }
    }

    #[test]
    fn another_path_refutes_a_slow_pace_and_no_losses() {
        let mut doubt = Doubt::new();
        first(&mut doubt, 800, true);
        doubt.on_new_path();
        assert!(!doubt.stands());
        slow_rounds(&mut doubt);
        assert!(doubt.stands());
        doubt.on_new_path();
        assert!(!doubt.stands());
        rounds(&mut doubt, 2, 10, 80, 0.2 * OFFERED);
        doubt.on_new_path();
        assert!(doubt.stands());
    }

    #[test]
    fn a_path_that_falls_silent_explains_losses_for_some_round_trips() {
        // Four round trips of 50 ms and 100 ms are six rounds.
        for before in [0, 2] {
            let mut doubt = Doubt::new();
            rounds(&mut doubt, before, 50, 80, 0.2 * OFFERED);
            assert_eq!(doubt.stands(), before > 0);
            doubt.on_silent_path(doubt.since, RTT);
            assert!(!doubt.stands());
            rounds(&mut doubt, 5, 50, 80, 0.2 * OFFERED);
            assert!(!doubt.stands());
            rounds(&mut doubt, 2, 50, 80, 0.2 * OFFERED);
            assert!(doubt.stands());
        }
        // Losses of long before are none of this path.
        let mut doubt = Doubt::new();
        rounds(&mut doubt, 20, 50, 80, 0.2 * OFFERED);
        doubt.on_silent_path(doubt.since, RTT);
        assert!(doubt.stands());
    }

    #[test]
    fn paths_that_always_seem_new_refute_no_doubt_for_ever() {
        let mut doubt = Doubt::new();
        for _ in 0..PATHS {
            slow_rounds(&mut doubt);
            doubt.on_new_path();
            assert!(!doubt.stands());
        }
        slow_rounds(&mut doubt);
        doubt.on_new_path();
        doubt.on_silent_path(doubt.since, RTT);
        assert!(doubt.stands());
    }

    #[test]
    fn losses_with_a_queue_prove_it_and_sixteen_round_trips_refute_it() {
        let mut doubt = Doubt::new();
        rounds(&mut doubt, 50, 10, 55, 0.2 * OFFERED);
        assert!(!doubt.stands(), "random loss");
        rounds(&mut doubt, 10, 10, 80, 0.2 * OFFERED);
        assert!(!doubt.stands(), "no more of it beside a queue");
        rounds(&mut doubt, 2, 40, 80, 0.2 * OFFERED);
        assert!(doubt.stands());
        rounds(&mut doubt, 15, 0, 50, 0.95 * OFFERED);
        assert!(doubt.stands());
        rounds(&mut doubt, 1, 0, 50, 0.95 * OFFERED);
        assert!(!doubt.stands());
        rounds(&mut doubt, 1, 80, 50, 0.2 * OFFERED);
        assert!(doubt.stands(), "a loss of four fifths needs no second round trip");
    }

    #[test]
    fn few_data_with_a_loss_are_chance_and_few_data_that_are_lost_are_not() {
        // Of eight Data a round trip one is lost in four of five, and sometimes two.
        let mut doubt = Doubt::new();
        for round in 0..1000 {
            let now = doubt.since + MS(50);
            let lost = u64::from(round % 5 > 0) + u64::from(round % 50 == 0);
            (0..8 - lost).for_each(|_| doubt.on_data(now, 6250, false, None));
            (0..lost).for_each(|_| doubt.on_loss(now));
            doubt.on_round(now, &SEEN);
            assert!(!doubt.stands(), "{round}");
        }
        for _ in 0..3 {
            let now = doubt.since + MS(50);
            (0..2).for_each(|_| doubt.on_data(now, 6250, false, None));
            (0..6).for_each(|_| doubt.on_loss(now));
            doubt.on_round(now, &SEEN);
        }
        assert!(doubt.stands());
    }

    #[test]
    fn losses_that_prove_false_refute_it() {
        let mut doubt = Doubt::new();
        rounds(&mut doubt, 1, 60, 50, 0.2 * OFFERED);
        assert!(doubt.stands());
        // 60 were lost; with 30 false losses, half of them are false.
        let now = doubt.since;
        (0..29).for_each(|_| doubt.on_data(now, 6250, true, None));
        assert!(doubt.stands());
        doubt.on_data(now, 6250, true, None);
        assert!(!doubt.stands());
        // Earlier losses are no proof against later ones.
        rounds(&mut doubt, 1, 60, 50, 0.2 * OFFERED);
        assert!(doubt.stands());
    }

    /// Calm round trips at a fifth of the offer, or at the pace of a try.
    fn calm_rounds(doubt: &mut Doubt, count: u64) {
        for _ in 0..count {
            let now = doubt.since + MS(50);
            let pace = if doubt.stands() { 0.2 * OFFERED } else { doubt.pace(OFFERED) };
            (0..100).for_each(|_| doubt.on_data(now, (pace * 0.05 / 800.0) as u64, false, None));
            doubt.on_round(now, &SEEN);
        }
    }

    #[test]
    fn offers_are_tried_again_and_refute_it_if_data_come_as_offered() {
        let mut doubt = Doubt::new();
        rounds(&mut doubt, 2, 60, 80, 0.2 * OFFERED);
        assert!(doubt.stands());
        // The losses of before are half forgotten in each round trip.
        calm_rounds(&mut doubt, 20);
        assert!(!doubt.stands());
        assert!(doubt.pace(OFFERED) < OFFERED, "a part of it while it is tried");
        calm_rounds(&mut doubt, 10);
        assert!(!doubt.stands());
        assert_eq!(doubt.pace(OFFERED), OFFERED);
        rounds(&mut doubt, 1, 80, 50, 0.2 * OFFERED);
        assert!(doubt.stands(), "and may be proved again");
    }

    #[test]
    fn a_full_window_proves_it_only_if_data_come_slowly() {
        for (bytes, proves) in [(62_500, false), (6_250, true)] {
            let mut doubt = Doubt::new();
            for round in 1..=3 {
                let now = Time::ZERO + MS(50 * round);
                (0..10).for_each(|_| doubt.on_data(now, bytes, false, Some(OFFERED)));
                let seen = Seen { rtt: MS(150), ..SEEN };
                doubt.on_round(now, &seen);
            }
            assert_eq!(doubt.stands(), proves, "{bytes}");
        }
    }
}
