//! The rate that a link offers each of its flows.
//!
//! With C the capacity less the neighbour's Interests, y the rate of the Data that Interests ask
//! for, q the Data that waiting Interests will bring, d the mean round trip, the target is
//! A = eta C - beta q / d, and never less than half of eta C. Each period of a round trip,
//! R = R (A / y)^gain. Flows that are limited elsewhere ask for less than R, so that the others are
//! offered more than an equal share: max-min fairness. With m the names asked for of late, R is
//! nearly eta C / m at least.
//!
//! A / R is the number of flows that use their offer in full. A flow that begins is one more, so R
//! falls at once: its first Data already brings an offer that leaves room for it. A flow that has
//! ended is one less. Where many that begin are soon over, one that begins counts as the part of
//! them that last, and as one when it has lasted. While Data wait at the other end, the offers
//! leave a part of the link (`backlog.rs`).
//!
//! A name that is no flow yet (`names.rs`) is offered R as it will be when the other young names
//! are flows: of many that begin at once, none begins as if it were alone.

use super::backlog::Backlog;
use super::log_rate;
use super::names::Names;
use super::neighbour;
use super::sizes::Sizes;
use crate::shared::explicit_rate::stamper::{RateLaw, Seen};
use control::{DataMeta, Duration, Flow, InterestMeta, Params, Rng, Size, Time, math};
use packet::options::{Offer, Offers, RateStamp};
use packet::{HopOption, HopOptions};

/// d before the first round trip, in s.
const FIRST_RTT: f64 = 0.1;

/// The weight of a round trip in d, and of a packet in the size of Data.
const GAIN: f64 = 1.0 / 8.0;

/// The number and the time, in s, of Data that may wait: the Interests of flows at their pace meet
/// at a link by chance. The smaller of both counts.
const FREE: f64 = 4.0;
const FREE_TIME: f64 = 0.003;

/// Fewer Data than this in a period are noise.
const FEWEST: f64 = 10.0;

/// The part of an equal share of eta C that a flow is offered at least: at first, and after many
/// periods in which the queue did not shrink. Such a queue belongs to a flow that ignores its
/// offers, and the others leave it nothing. The part rises by STEP in a period, and falls ten
/// times more slowly: the queue of a flow that measures for itself comes and goes.
const LEAST: (f64, f64) = (0.5, 0.99);
const STEP: f64 = 0.05;
const FALL: f64 = 0.005;

/// Interests that will bring this part of a round trip's Data are a queue.
const QUEUE: f64 = 0.1;

/// Flows that keep to their offers leave this part of a queue at most after a period, or ask for
/// this part at most of A, when the offers of two periods before have reached them.
const SHRINKING: f64 = 0.95;
const KEPT: f64 = 1.05;

/// The largest correction of one period.
const LARGEST: f64 = 4.0;

/// The part of an equal share that a flow is offered at least ([`LEAST`]), q of the last period,
/// and A of the last two.
struct Least {
    part: f64,
    held: f64,
    targets: [f64; 2],
}

impl Least {
    /// A period ends. `held` bits waited, of which more than `queue` are a queue, and y was `load`.
    fn turn(&mut self, held: f64, queue: f64, load: f64, target: f64) {
        let before = std::mem::replace(&mut self.held, held);
        let is_kept_to = load <= KEPT * self.targets[1];
        self.targets = [target, self.targets[0]];
        let step = if held <= queue {
            -FALL
        } else if held < SHRINKING * before || is_kept_to {
            0.0
        } else {
            STEP
        };
        self.part = (self.part + step).clamp(LEAST.0, LEAST.1);
    }
}

/// The law's parameters, by the symbols of the module.
struct Gains {
    eta: f64,
    beta: f64,
    gain: f64,
}

/// See the module. Rates are in bit/s.
pub(super) struct Law {
    gains: Gains,
    link: u16,
    /// eta C.
    full: f64,
    /// A.
    target: f64,
    /// R, and its code.
    rate: f64,
    code: u16,
    names: Names,
    sizes: Sizes,
    backlog: Backlog,
    least: Least,
    /// d, in s.
    rtt: Option<f64>,
    /// The mean size of Data, and of the Data that an Interest asks for, in bytes.
    size: f64,
    asked: f64,
    is_silent: bool,
}

impl Law {
    pub(super) fn new(params: &Params) -> Law {
        Law {
            gains: Gains {
                eta: params.number("eta"),
                beta: params.number("beta"),
                gain: params.number("gain"),
            },
            link: 0,
            full: 0.0,
            target: 0.0,
            rate: 0.0,
            code: 0,
            names: Names::new(),
            sizes: Sizes::default(),
            backlog: Backlog::default(),
            least: Least { part: LEAST.0, held: 0.0, targets: [f64::MAX; 2] },
            rtt: None,
            size: 0.0,
            asked: 0.0,
            is_silent: true,
        }
    }

    /// Sets R, within its bounds.
    fn set(&mut self, rate: f64) {
        let least = self.least.part * self.full / f64::from(self.names.count().max(1));
        self.rate = rate.clamp(least, self.full);
        self.code = log_rate::code(self.rate);
    }

    /// The code of the rate that a flow is offered: to a name that is no flow yet, R as it will be
    /// when it and others have become flows.
    fn code_for(&self, flow: Flow) -> u16 {
        if self.names.is_flow(flow) {
            return self.code;
        }
        log_rate::code(self.shared(self.names.coming()))
    }

    /// R as the number of flows that use it in full changes by `more`.
    fn shared(&self, more: f64) -> f64 {
        self.target / (self.target / self.rate + more).max(1.0)
    }
}

impl RateLaw for Law {
    fn begin(&mut self, rng: &mut Rng, capacity: f64) {
        self.link = rng.next_u64() as u16;
        self.full = self.gains.eta * capacity;
        self.target = self.full;
        self.set(self.target);
    }

    fn on_interest(&mut self, flow: Flow) {
        if let Some(more) = self.names.see(flow) {
            self.set(self.shared(more));
        }
    }

    fn on_rtt(&mut self, rtt: f64) {
        self.rtt = Some(self.rtt.map_or(rtt, |d| d + GAIN * (rtt - d)));
    }

    fn expected(&mut self, now: Time, interest: &InterestMeta) -> u64 {
        let bytes = self.sizes.charge(now, interest);
        self.asked += GAIN * (bytes as f64 - self.asked);
        bytes
    }

    fn on_data(&mut self, now: Time, data: &DataMeta, taken: Duration) -> i64 {
        self.backlog.on_data(now, taken);
        self.sizes.on_data(now, data.flow, data.size);
        let bytes = data.size.0 as f64;
        self.size = if self.size > 0.0 { self.size + GAIN * (bytes - self.size) } else { bytes };
        self.sizes.overcharge(data.flow, data.size, data.size)
    }

    fn on_nack(&mut self, flow: Flow) -> i64 {
        self.sizes.overcharge(flow, Size(0), Size(0))
    }

    fn update(&mut self, capacity: f64, seen: &Seen) {
        let full = self.gains.eta * neighbour::left(capacity, seen.neighbour);
        let full = full * self.backlog.part();
        self.full = full;
        let d = self.rtt.unwrap_or(FIRST_RTT).max(seen.span);
        let free = (FREE * self.size * 8.0).min(FREE_TIME * full);
        let queue = (seen.held - free).max(0.0);
        self.target = (full - self.gains.beta * queue / d).max(full / 2.0);
        let load = seen.offered[0] + seen.offered[1];
        self.least.turn(seen.held, QUEUE * full * d, load, self.target);
        self.is_silent = load == 0.0;
        // A flow that began in this period could not use its offer yet: what it leaves is not free.
        let begun = self.names.begun() * self.rate;
        let load = load.max((load + begun).min(self.target));
        let ratio = if load > 0.0 { self.target / load } else { LARGEST };
        self.rate *= math::pow(ratio.clamp(1.0 / LARGEST, LARGEST), self.gains.gain);
        let bits = 8.0 * self.size.max(self.asked);
        let room = if bits > 0.0 { self.target * seen.span / bits } else { 0.0 };
        let more = self.names.turn(seen.span, room);
        self.set(self.shared(more));
    }

    fn period(&self, _rng: &mut Rng, capacity: f64, _first: bool) -> f64 {
        let noise = FEWEST * self.size * 8.0 / capacity;
        self.rtt.unwrap_or(FIRST_RTT).max(noise)
    }

    fn is_at_rest(&self, _capacity: f64) -> bool {
        self.is_silent && self.rate >= self.full
    }

    fn stamp(&self) -> RateStamp {
        RateStamp { primary: self.rate as u64, secondary: 0 }
    }

    fn lower(&self, flow: Flow, options: &mut HopOptions) -> bool {
        let before = options.get::<Offers>();
        let is_readable = before.is_some() || options.get_raw(Offers::TYPE).is_none();
        let mut offers = before.unwrap_or_default();
        offers.add(Offer { rate: self.code_for(flow), link: self.link });
        options.set(&offers);
        is_readable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sluice::PARAMS;

    const C: f64 = 10e6;
    const FULL: f64 = 0.99 * C;

    fn law() -> Law {
        let mut law = Law::new(&Params::defaults(PARAMS));
        law.begin(&mut Rng::stream(1, &["link"]), C);
        law
    }

    /// A period of 100 ms in which flows asked for `load`, and Interests for `held` bits wait.
    fn period(law: &mut Law, flows: u64, load: f64, held: f64) -> f64 {
        (0..flows * 10).for_each(|i| law.on_interest(i % flows));
        law.update(C, &Seen { offered: [load, 0.0], held, ..SEEN });
        law.rate
    }

    const SEEN: Seen = Seen { span: 0.1, offered: [0.0; 2], held: 0.0, neighbour: 0.0, rtt: None };

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
    }

    #[test]
    fn a_flow_that_begins_is_offered_its_share_at_once() {
        let mut law = law();
        for (flow, share) in [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)] {
            // Those of the first window, before its first Data comes.
            (0..4).for_each(|_| law.on_interest(flow));
            close(law.rate, FULL / share);
        }
        (1..=4).for_each(|flow| law.on_interest(flow));
        close(law.rate, FULL / 4.0);
    }

    #[test]
    fn flows_that_begin_at_once_are_offered_a_share_each_from_the_first_data_on() {
        let mut law = law();
        (0..20).for_each(|flow| law.on_interest(flow));
        let mut options = HopOptions::new();
        law.lower(0, &mut options);
        let offer = options.get::<Offers>().unwrap().iter().next().unwrap();
        close(log_rate::rate(offer.rate), FULL / 20.0);
        close(law.rate, FULL);
    }

    #[test]
    fn flows_that_end_leave_their_share() {
        let mut law = law();
        period(&mut law, 4, FULL, 0.0);
        // They are seen in this period or the one before.
        period(&mut law, 2, FULL, 0.0);
        close(period(&mut law, 2, FULL, 0.0), FULL / 2.0);
    }

    #[test]
    fn capacity_unused_by_limited_flows_is_offered_to_the_others() {
        let mut law = law();
        // Two flows use their offer, two ask for a megabit each: (9.9 - 2) / 2.
        for _ in 0..30 {
            let load = 2.0 * law.rate + 2e6;
            period(&mut law, 4, load, 0.0);
        }
        close(law.rate, (FULL - 2e6) / 2.0);
    }

    #[test]
    fn a_queue_lowers_the_offer_and_one_that_stays_does_so_no_more() {
        let mut law = law();
        period(&mut law, 2, FULL, 0.0);
        // beta q / d = 0.5 * 0.5 Mbit / 0.1 s = 2.5 Mbit/s: the target is 7.4.
        close(period(&mut law, 2, FULL, 0.5e6), FULL / 2.0 * (7.4_f64 / 9.9).sqrt());
        // The queue never goes: it belongs to flows that ignore offers.
        for _ in 0..30 {
            period(&mut law, 2, 3.0 * C, 5e6);
        }
        close(law.rate, 0.99 * FULL / 2.0);
    }

    #[test]
    fn a_queue_that_becomes_less_leaves_the_offer_where_it_drains() {
        let mut law = law();
        period(&mut law, 2, FULL, 0.0);
        for i in 0..30 {
            period(&mut law, 2, FULL, 5e6 * 0.9_f64.powi(i));
        }
        // beta q / d = 0.5 * 5 Mbit * 0.9^29 / 0.1 s = 1.18 Mbit/s are drained; half is the least.
        assert!(law.rate < 0.9 * FULL / 2.0, "{}", law.rate);
    }

    #[test]
    fn a_queue_of_flows_that_ask_for_no_more_than_their_offers_is_not_given_up() {
        let mut law = law();
        period(&mut law, 2, FULL, 0.0);
        for _ in 0..30 {
            // The link is slower than it was when the flows requested this queue.
            let target = law.target;
            period(&mut law, 2, target, 5e6);
        }
        // beta q / d is more than half of the link. In the first period, the load was all of it.
        close(law.rate, FULL / 2.0 * 0.5_f64.sqrt());
    }

    #[test]
    fn interests_that_meet_by_chance_are_no_queue() {
        let mut law = law();
        let size = Size(1000);
        let data = DataMeta { flow: 1, segment: 0, size, mark: 0, options: HopOptions::new() };
        law.on_data(Time(1), &data, Duration::from_millis(1));
        period(&mut law, 2, FULL, 0.0);
        // 3 ms of the link are 29.7 kbit, four Data 32 kbit.
        for _ in 0..20 {
            let load = 2.0 * law.rate;
            period(&mut law, 2, load, 29e3);
        }
        close(law.rate, FULL / 2.0);
        for _ in 0..20 {
            let load = 2.0 * law.rate;
            period(&mut law, 2, load, 80e3);
        }
        // beta q / d = 0.5 * 50.3 kbit / 0.1 s.
        close(law.rate, (FULL - 251.5e3) / 2.0);
    }

    #[test]
    fn silence_offers_the_link_and_stops_the_clock() {
        let mut law = law();
        period(&mut law, 50, FULL, 0.0);
        for _ in 0..20 {
            period(&mut law, 0, 0.0, 0.0);
        }
        close(law.rate, FULL);
        assert!(law.is_at_rest(C));
    }

    #[test]
    fn no_number_of_names_takes_memory_or_stops_the_offers() {
        let mut law = law();
        period(&mut law, 1_000_000, 100.0 * C, 1e9);
        assert!(law.rate >= LEAST.0 * FULL / f64::from(law.names.count()), "{}", law.rate);
    }

    #[test]
    fn small_objects_leave_a_long_flow_the_rest_of_the_link() {
        let mut law = law();
        // The names differ in all bits, as hashes do.
        let hash = |of: u64| Rng::stream(of, &["name"]).next_u64();
        for round in 0..1000 {
            (0..100).for_each(|_| law.on_interest(1));
            // A hundred names for one segment each, together two megabits in a second.
            (0..100).for_each(|i| law.on_interest(hash(round * 100 + i)));
            law.update(C, &Seen { offered: [law.rate + 2e6, 0.0], ..SEEN });
        }
        assert!(law.rate > 0.9 * (FULL - 2e6), "{}", law.rate);
    }

    #[test]
    fn flows_that_are_soon_over_count_little() {
        let mut law = law();
        let hash = |of: u64| Rng::stream(of, &["name"]).next_u64();
        for round in 0..200 {
            (0..50).for_each(|_| law.on_interest(1));
            // Eight objects of eight segments, none of which is asked for again: two megabits in
            // all.
            (0..64).for_each(|i| law.on_interest(hash(round * 8 + i / 8)));
            law.update(C, &Seen { offered: [law.rate + 2e6, 0.0], ..SEEN });
        }
        // If each counted until it is forgotten, a ninth or less would be left.
        assert!(law.rate > 0.5 * (FULL - 2e6), "{}", law.rate);
    }

    #[test]
    fn flows_that_rarely_ask_are_counted() {
        // Each of 200 flows asks once in ten periods, with the load of their shares.
        let mut law = law();
        law.asked = FULL / 8.0 / 200.0;
        (0..2000).for_each(|i| law.on_interest(i / 10));
        for round in 0..200 {
            (0..20).for_each(|i| law.on_interest((round * 20 + i) % 200));
            law.update(C, &Seen { offered: [200.0 * law.rate, 0.0], ..SEEN });
            assert!(law.rate < 1.5 * FULL / 200.0, "{round}: {}", law.rate);
        }
        close(law.rate, FULL / 200.0);
    }

    #[test]
    fn the_interests_of_the_neighbour_are_not_offered() {
        let mut law = law();
        law.update(C, &Seen { neighbour: 3e6, ..SEEN });
        close(law.rate, 0.99 * 7e6);
        law.update(C, &Seen { neighbour: 30e6, ..SEEN });
        close(law.rate, 0.99 * C * neighbour::LEAST_LEFT);
    }

    #[test]
    fn offers_are_lowered_and_what_cannot_be_read_is_replaced() {
        let law = law();
        let mut options = HopOptions::new();
        assert!(law.lower(1, &mut options));
        let own = Offer { rate: law.code, link: law.link };
        assert_eq!(options.get::<Offers>().unwrap().iter().collect::<Vec<_>>(), [own]);
        options.set_raw(Offers::TYPE, &[1, 2, 3]);
        assert!(!law.lower(1, &mut options));
        assert_eq!(options.get::<Offers>().unwrap().iter().collect::<Vec<_>>(), [own]);
    }
}
