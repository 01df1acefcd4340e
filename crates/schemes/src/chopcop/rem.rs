//! Random early marking of Data, CHoPCoP's signal.
//!
//! F. Zhang and others, ICCCN 2014, sections III-A and IV. Each Data that is to join a face's queue
//! is a sample of the bytes that wait there, and is marked with a probability that grows with
//! their average (eq. 1 and figure 2, after "gentle" RED of Floyd, 2000). Marks from upstream stay.
//!
//! Read where the paper is silent: the second line of the probability is printed as a broken
//! fraction; the form used here is the only one that joins P_max at q_max to 1 at 2 q_max.
//! "Always above 2 q_max" is meant of the average, as the rest.
//!
//! Added: while the queue is empty the average falls as if Data had passed it all the time (S.
//! Floyd, V. Jacobson, "Random Early Detection Gateways", 1993, section 4); with `idle` off it
//! stays where it was, as eq. 1 alone has it.

use super::capacity::{CAPACITY, Capacity};
use super::paper::PAPER;
use crate::shared::link::average_queue::{Average, gentle};
use control::params::joined;
use control::{
    Cx, DataMeta, Duration, Equation, LinkView, Marker, ParamSpec, Params, Scheme, Value, Verdict,
};

/// The marker alone.
pub const SCHEME: Scheme = Scheme {
    name: "rem",
    summary: "marks Data with a probability that grows with the average queue",
    paper: PAPER,
    equations: EQUATIONS,
    params: PARAMS,
    marker: Some(|params| Box::new(Rem::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 1", "q_avg = (1 - mu) q_avg + mu q"),
    ("section III-A", "q_min <= q_avg <= q_max: P = P_max (q_avg - q_min) / (q_max - q_min)"),
    (
        "section III-A",
        "q_max < q_avg <= 2 q_max: P = P_max + (1 - P_max) (q_avg - q_max) / q_max; above: P = 1",
    ),
];

const PARAMS: &[ParamSpec] = &joined::<_, { OWN.len() + CAPACITY.len() }>(&[OWN, CAPACITY]);

/// The rows that the marker has for itself.
pub(super) const OWN: &[ParamSpec] = &[
    ParamSpec {
        name: "mu",
        default: Value::Number(0.05),
        range: (1e-6, 1.0),
        help: "weight of a sample in the average queue",
        source: "eq. 1; section IV",
    },
    ParamSpec {
        name: "q_min",
        default: Value::Number(0.1),
        range: (0.0, 10.0),
        help: "average queue from which on Data are marked, as a share of C",
        source: "section IV",
    },
    ParamSpec {
        name: "q_max",
        default: Value::Number(0.2),
        range: (1e-6, 10.0),
        help: "average queue at which the probability is P_max, as a share of C; at twice it, 1",
        source: "section IV",
    },
    ParamSpec {
        name: "P_max",
        default: Value::Number(0.002),
        range: (0.0, 1.0),
        help: "probability of a mark at q_max",
        source: "section IV",
    },
    ParamSpec {
        name: "idle",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "let the average fall while the queue is empty",
        source: "Floyd and Jacobson 1993, section 4; CHoPCoP does not say",
    },
];

struct Rem {
    /// Shares of C.
    q_min: f64,
    q_max: f64,
    p_max: f64,
    capacity: Capacity,
    ages: bool,
    average: Average,
}

impl Rem {
    fn new(params: &Params) -> Rem {
        let q_max = params.number("q_max");
        Rem {
            q_min: params.number("q_min").min(q_max),
            q_max,
            p_max: params.number("P_max"),
            capacity: Capacity::new(params),
            ages: params.switch("idle"),
            average: Average::new(params.number("mu")),
        }
    }

    /// The probability of a mark, of figure 2.
    fn probability(&self, c: f64) -> f64 {
        let q = self.average.bytes();
        if q > 0.0 { gentle(q, self.q_min * c, self.q_max * c, self.p_max) } else { 0.0 }
    }
}

impl Marker for Rem {
    fn on_enqueue(&mut self, cx: &mut Cx<'_>, view: &LinkView, data: &DataMeta) -> Verdict {
        // Eq. 1.
        match self.ages {
            true => self.average.sample_or_age(cx.now, view, data.size),
            false => self.average.sample(view),
        }
        let probability = self.probability(self.capacity.of(view));
        if cx.rng.chance(probability) { Verdict::Mark(1) } else { Verdict::Pass }
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _data: &DataMeta,
        _sojourn: Duration,
    ) -> Verdict {
        self.average.left(cx.now, view);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{QueueView, Rate, Rng, Size, Time, math};
    use packet::HopOptions;

    fn rem(set: &[(&str, &str)]) -> Rem {
        let mut params = Params::defaults(PARAMS);
        set.iter().for_each(|(name, text)| params.set("rem", name, text).unwrap());
        Rem::new(&params)
    }

    /// The baseline of section V-B: 40 Mbit/s, 1500 kB.
    fn view(queued: u64) -> LinkView {
        LinkView {
            rate_out: Rate::from_mbps(40),
            data_limit: Size(1_500_000),
            data_out: QueueView {
                packets: u32::from(queued > 0),
                bytes: Size(queued),
                head_sojourn: Duration::ZERO,
            },
            ..LinkView::default()
        }
    }

    fn data() -> DataMeta {
        let (size, options) = (Size(1000), HopOptions::new());
        DataMeta { flow: 1, segment: 0, size, mark: 0, options }
    }

    /// The verdict on Data that arrives `at` microseconds and finds `queued` bytes.
    fn enqueue(rem: &mut Rem, rng: &mut Rng, at: u64, queued: u64) -> Verdict {
        let mut tap = |_| {};
        let mut cx = Cx { now: Time(at * 1000), rng, tap: &mut tap };
        rem.on_enqueue(&mut cx, &view(queued), &data())
    }

    #[test]
    fn the_average_follows_equation_1() {
        let mut rem = rem(&[]);
        let mut rng = Rng::stream(0, &[]);
        enqueue(&mut rem, &mut rng, 0, 100_000);
        // 0.95 * 0 + 0.05 * 100,000.
        assert!((rem.average.bytes() - 5_000.0).abs() < 1e-9, "{}", rem.average.bytes());
        enqueue(&mut rem, &mut rng, 1, 200_000);
        // 0.95 * 5,000 + 0.05 * 200,000.
        assert!((rem.average.bytes() - 14_750.0).abs() < 1e-9, "{}", rem.average.bytes());
    }

    #[test]
    fn the_probability_is_that_of_figure_2() {
        let mut rem = rem(&[]);
        // q_min = 150 kB, q_max = 300 kB, P_max = 0.002 (section IV).
        for (average, p) in [
            (0.0, 0.0),
            (149_999.0, 0.0),
            (225_000.0, 0.001),
            (300_000.0, 0.002),
            // Half way to 600 kB: 0.002 + 0.998 / 2.
            (450_000.0, 0.501),
            (600_000.0, 1.0),
            (2_000_000.0, 1.0),
        ] {
            rem.average.set_bytes(average);
            let got = rem.probability(1_500_000.0);
            assert!((got - p).abs() < 1e-12, "{average}: {got}");
        }
    }

    #[test]
    fn marks_have_the_calculated_probability() {
        let mut rem = rem(&[]);
        let mut rng = Rng::stream(3, &[]);
        rem.average.set_bytes(375_000.0);
        // A quarter of the way from 0.002 to 1: 0.2515. The average stays: every sample equals it.
        let marks = (0..10_000)
            .filter(|i| enqueue(&mut rem, &mut rng, *i, 375_000) == Verdict::Mark(1))
            .count();
        // The standard deviation is 43; five of them.
        assert!(marks.abs_diff(2_515) < 217, "{marks}");
    }

    #[test]
    fn an_empty_queue_lets_the_average_fall_as_empty_samples_would() {
        let empty_for = |idle, us| {
            let mut rem = rem(&[("idle", idle)]);
            let mut rng = Rng::stream(0, &[]);
            enqueue(&mut rem, &mut rng, 0, 0);
            rem.average.set_bytes(400_000.0);
            let mut tap = |_| {};
            let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
            rem.on_dequeue(&mut cx, &view(0), &data(), Duration::ZERO);
            enqueue(&mut rem, &mut rng, us, 0);
            rem.average.bytes()
        };
        // 1000 bytes take 200 us: 2 ms are ten Data.
        let expected = 400_000.0 * math::pow(0.95, 10.0);
        assert!((empty_for("on", 2_000) - expected).abs() < 1e-6);
        assert!((empty_for("off", 2_000) - 380_000.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_marked_where_nothing_is_known_or_nothing_waits() {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut rem = rem(&[("q_min", "0"), ("P_max", "1")]);
        let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
        assert_eq!(rem.on_enqueue(&mut cx, &LinkView::default(), &data()), Verdict::Pass);
        // Without a known rate idle time ages nothing, and does no harm.
        rem.on_dequeue(&mut cx, &LinkView::default(), &data(), Duration::ZERO);
        cx.now = Time::MAX;
        assert_eq!(rem.on_enqueue(&mut cx, &LinkView::default(), &data()), Verdict::Pass);
        assert!(rem.average.bytes().is_finite());
    }
}
