//! Measurements of a round trip, and the resulting amount in flight.

use control::{Duration, Time};

/// Tallies of the round trip that is under way.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// Rounds that are over.
    number: u64,
    /// It is over when Data arrive for an Interest that left after this many segments had arrived.
    ends_at: u64,
    /// The smallest round-trip time of the round.
    rtt_min: Duration,
    /// The latest sample of the delivery rate was limited by the consumer.
    app_limited: bool,
    arrived: u32,
    marked: u32,
    lost: u32,
    overflowed: u32,
    /// Lost segments whose neighbour was lost just before.
    neighbours: u32,
    last_lost: Option<u64>,
    nacked: u32,
    /// The most that was in flight.
    in_flight: u32,
}

impl Default for Round {
    fn default() -> Round {
        Round {
            number: 0,
            ends_at: 1,
            rtt_min: Duration::MAX,
            app_limited: false,
            arrived: 0,
            marked: 0,
            lost: 0,
            overflowed: 0,
            neighbours: 0,
            last_lost: None,
            nacked: 0,
            in_flight: 0,
        }
    }
}

impl Round {
    /// Rounds that are over.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The smallest round-trip time of the round; `Duration::MAX` before the first.
    pub(super) fn rtt_min(&self) -> Duration {
        self.rtt_min
    }

    /// The latest sample of the delivery rate was limited by the consumer.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited
    }

    /// The most that was in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The round is over when Data comes for an Interest that left after `prior` segments had
    /// arrived.
    pub(super) fn is_over(&self, prior: u64) -> bool {
        prior >= self.ends_at
    }

    /// A round trip took `rtt`.
    pub(super) fn sample_rtt(&mut self, rtt: Duration) {
        self.rtt_min = self.rtt_min.min(rtt);
    }

    /// There is a sample of the delivery rate.
    pub(super) fn sample_rate(&mut self, app_limited: bool) {
        self.app_limited = app_limited;
    }

    pub(super) fn arrived(&mut self, marked: bool) {
        self.arrived += 1;
        self.marked += u32::from(marked);
    }

    /// A segment was lost; `queued`: while the queue of the bottleneck was long.
    pub(super) fn lost(&mut self, queued: bool, segment: u64) {
        self.lost += 1;
        self.overflowed += u32::from(queued);
        let before = self.last_lost.replace(segment);
        self.neighbours += u32::from(before.is_some_and(|n| n.abs_diff(segment) <= 1));
    }

    /// A segment that counted as lost was not.
    pub(super) fn found(&mut self) {
        self.lost = self.lost.saturating_sub(1);
        self.overflowed = self.overflowed.min(self.lost);
    }

    /// A node rejected the Interest because of congestion.
    pub(super) fn nacked(&mut self) {
        self.nacked += 1;
    }

    pub(super) fn sent(&mut self, segments: u32) {
        self.in_flight = self.in_flight.max(segments);
    }

    pub(super) fn next(&mut self, delivered: u64, in_flight: u32) {
        *self = Round {
            number: self.number + 1,
            ends_at: delivered,
            app_limited: self.app_limited,
            in_flight,
            ..Round::default()
        };
    }
}

/// BBRv2's `BBRBeta` for losses.
const BETA_LOSS: f64 = 0.7;
/// RFC 8511: a marking queue is short, so less has to be given up.
const BETA_MARK: f64 = 0.85;
/// BBRv2's `BBRHeadroom`: what is left free for others while cruising.
const HEADROOM: f64 = 0.85;
/// Loss is never considered random beyond this share.
const MOST_RANDOM: f64 = 0.35;
/// Fewer lost segments are neighbours by chance often enough.
const FEWEST_NEIGHBOURS: u32 = 6;
/// The weight of earlier evidence of random loss after a round.
const FADE: f64 = 0.9;
/// The smallest bound.
const MIN_INFLIGHT: f64 = 4.0;

/// Bounds on what is in flight, and the share that is lost at random.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    loss_threshold: f64,
    /// `inflight_hi`.
    hi: Option<f64>,
    /// It was set by a mark or a rejection: nodes on the path want less, whatever the path holds.
    asked_for: bool,
    /// By how much the bound rises with the next good round in which it was reached.
    step: f64,
    /// Segments that were lost without delay, and all of those rounds, both fading.
    random: (f64, f64),
}

impl Bounds {
    pub(super) fn new(loss_threshold: f64) -> Bounds {
        let random = (0.0, 0.0);
        Bounds { loss_threshold, hi: None, asked_for: false, step: 1.0, random }
    }

    /// The share of Interests that are answered where nothing is congested.
    pub(super) fn arriving(&self) -> f64 {
        let (lost, all) = self.random;
        // Thirty segments without a loss are assumed before the first, against small numbers.
        1.0 - (lost / (all + 30.0)).min(MOST_RANDOM)
    }

    /// The limit on the flight; all of it only while going up. If only losses set the limit, it is
    /// at least `least`.
    pub(super) fn inflight(&self, going_up: bool, least: f64) -> f64 {
        let share = if going_up { 1.0 } else { HEADROOM };
        let least = if self.asked_for { MIN_INFLIGHT } else { least.max(MIN_INFLIGHT) };
        self.hi.map_or(f64::INFINITY, |hi| (share * hi).max(least))
    }

    /// There is a bound.
    pub(super) fn is_bounded(&self) -> bool {
        self.hi.is_some()
    }

    /// The round is over. Was there congestion in it? `queued`: the queue of the bottleneck is
    /// long.
    pub(super) fn judge(&mut self, round: &Round, queued: bool, going_up: bool) -> bool {
        let all = f64::from(round.arrived + round.lost);
        let lost = f64::from(round.lost);
        let usual = 1.0 - self.arriving();
        let overrun = exceeds(round.overflowed, all, self.loss_threshold + usual)
            || exceeds(round.lost, all, self.loss_threshold + MOST_RANDOM)
            || (exceeds(round.lost, all, self.loss_threshold)
                && round.lost >= FEWEST_NEIGHBOURS
                && 2 * round.neighbours > round.lost);
        self.learn(lost, all, !queued && !overrun && round.marked == 0 && !going_up);
        let signals = round.marked + round.nacked;
        if signals > 0 {
            let many = f64::from(signals) >= 0.5 * all;
            self.asked_for = true;
            self.cut(round, if many { BETA_LOSS } else { BETA_MARK });
            return true;
        }
        if overrun {
            self.cut(round, BETA_LOSS);
            return true;
        }
        if going_up && self.reached(round) {
            let hi = self.hi.unwrap_or(MIN_INFLIGHT);
            self.hi = Some(hi + self.step);
            self.step = (2.0 * self.step).min((hi / 4.0).max(1.0));
        }
        false
    }

    /// Random loss is what is lost while nothing else shows congestion; evidence fades.
    fn learn(&mut self, lost: f64, all: f64, quiet: bool) {
        let (lost_before, all_before) = self.random;
        self.random = (FADE * lost_before, FADE * all_before);
        if quiet {
            self.random.0 += lost;
            self.random.1 += all;
        }
    }

    /// The bound kept more from being in flight.
    pub(super) fn reached(&self, round: &Round) -> bool {
        let in_flight = f64::from(round.in_flight);
        self.hi.is_some_and(|hi| in_flight >= 0.9 * hi || in_flight + 1.0 > hi)
    }

    /// Once the window is smaller for other reasons, the bound has had its say.
    pub(super) fn forget_if_loose(&mut self, window: f64) {
        if self.hi.is_some_and(|hi| HEADROOM * hi > window) {
            self.hi = None;
            self.asked_for = false;
        }
    }

    fn cut(&mut self, round: &Round, beta: f64) {
        let reached = f64::from(round.in_flight);
        let from = self.hi.map_or(reached, |hi| hi.min(reached));
        self.hi = Some((beta * from).max(MIN_INFLIGHT));
        self.step = 1.0;
    }
}

/// True if more than this share of `all` segments were lost: by three standard deviations of a
/// random loss of that share, so that chance is no pattern.
fn exceeds(lost: u32, all: f64, share: f64) -> bool {
    f64::from(lost) > share * all + 3.0 * (share * all).sqrt()
}

/// Round trips that differ by this part of the shortest, within bounds, show a queue. To go up for
/// a round trip makes one of a quarter.
const RANGE: f64 = 1.0 / 16.0;
const LEAST_RANGE: Duration = Duration::from_micros(200);
const MOST_RANGE: Duration = Duration::from_millis(8);

/// Half of the time that the longest round-trip time is remembered, at least.
const EPOCH: Duration = Duration::from_secs(10);

/// The longest smoothed round-trip time of the last ten to twenty seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Longest {
    before: Duration,
    current: Duration,
    since: Time,
}

impl Longest {
    pub(super) fn sample(&mut self, now: Time, rtt: Duration) {
        if now.since(self.since) > EPOCH {
            *self = Longest { before: self.current, current: Duration::ZERO, since: now };
        }
        self.current = self.current.max(rtt);
    }

    fn max(self) -> Duration {
        self.before.max(self.current)
    }

    /// By how much it is more than the shortest one, if that shows a queue.
    pub(super) fn beyond(self, shortest: Duration) -> Option<Duration> {
        let range = self.max().saturating_sub(shortest);
        let least = shortest.mul_f64(RANGE).clamp(LEAST_RANGE, MOST_RANGE);
        (range >= least).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(arrived: u32, lost: u32, queued: bool, in_flight: u32) -> Round {
        let mut round = Round { number: 5, ..Round::default() };
        (0..arrived).for_each(|_| round.arrived(false));
        (0..u64::from(lost)).for_each(|n| round.lost(queued, 10 * n));
        round.sent(in_flight);
        round
    }

    #[test]
    fn loss_with_a_long_queue_is_congestion() {
        let mut bounds = Bounds::new(0.02);
        // 2 % of 100 are 2, and three times the root of 2 are 4.2: six are chance, seven are not.
        assert!(!bounds.judge(&round(94, 6, true, 100), true, false));
        assert_eq!(bounds.inflight(true, 0.0), f64::INFINITY);
        assert!(bounds.judge(&round(93, 7, true, 100), true, false));
        assert!((bounds.inflight(true, 0.0) - 70.0).abs() < 1e-9);
    }

    #[test]
    fn loss_with_a_short_queue_is_random_and_made_good() {
        let mut bounds = Bounds::new(0.02);
        for _ in 0..20 {
            assert!(!bounds.judge(&round(90, 10, false, 100), false, false));
        }
        // Ten of a hundred; the thirty assumed before weigh little against 878 remembered.
        assert!((bounds.arriving() - 0.9033).abs() < 1e-3, "{}", bounds.arriving());
        // Evidence fades when the queue is long.
        for _ in 0..60 {
            bounds.judge(&round(90, 10, true, 100), true, false);
        }
        assert!(bounds.arriving() > 0.99);
    }

    #[test]
    fn loss_of_neighbours_is_an_overflow_whatever_the_queue() {
        let lose = |every: u64| {
            let mut round = round(90, 0, false, 100);
            (0..10).for_each(|n| round.lost(false, every * n));
            Bounds::new(0.02).judge(&round, false, false)
        };
        assert!(lose(1), "ten in a row");
        assert!(!lose(3), "ten here and there");
    }

    #[test]
    fn most_of_a_round_lost_is_congestion_whatever_the_queue() {
        let mut bounds = Bounds::new(0.02);
        // 35 % and 2 %, and three times the root of 37 are 18.2.
        assert!(!bounds.judge(&round(45, 55, false, 100), false, false));
        let mut bounds = Bounds::new(0.02);
        assert!(bounds.judge(&round(44, 56, false, 100), false, false));
        assert!(bounds.arriving() == 1.0, "and no evidence of random loss");
    }

    #[test]
    fn marks_weigh_by_their_share() {
        for (marked, left) in [(1, 85.0), (60, 70.0)] {
            let mut bounds = Bounds::new(0.02);
            let mut round = round(100 - marked, 0, false, 100);
            (0..marked).for_each(|_| round.arrived(true));
            assert!(bounds.judge(&round, false, false));
            assert!((bounds.inflight(true, 0.0) - left).abs() < 1e-9);
        }
    }

    #[test]
    fn a_bound_rises_while_going_up_and_is_forgotten_when_loose() {
        let mut bounds = Bounds::new(0.02);
        bounds.judge(&round(50, 50, true, 100), true, false);
        // The bound is 70 now.
        for expected in [71.0, 73.0, 77.0] {
            bounds.judge(&round(70, 0, false, 70), false, true);
            assert_eq!(bounds.inflight(true, 0.0), expected);
        }
        bounds.judge(&round(40, 0, false, 40), false, true);
        assert_eq!(bounds.inflight(true, 0.0), 77.0, "it was not reached");
        bounds.forget_if_loose(66.0);
        assert_eq!(bounds.inflight(true, 0.0), 77.0, "0.85 of 77 is 65.5");
        bounds.forget_if_loose(65.0);
        assert_eq!(bounds.inflight(true, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_longest_round_trip_is_remembered_for_ten_seconds_at_least() {
        let mut longest = Longest::default();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        longest.sample(at(0), Duration(50));
        longest.sample(at(9), Duration(20));
        longest.sample(at(11), Duration(30));
        assert_eq!(longest.max(), Duration(50));
        longest.sample(at(22), Duration(10));
        assert_eq!(longest.max(), Duration(30));
    }
}
