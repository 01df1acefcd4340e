//! Random early detection.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993: the algorithm of figure 2, with the queue in bytes
//! (section VII); `gentle` is S. Floyd's "Recommendations on using the gentle variant of RED",
//! 2000.
//!
//! - For each Data that joins: (1) avg <- (1 - w_q) avg + w_q q; if the queue is empty, for the
//!   time in which it was, avg <- (1 - w_q)^m avg with m = time idle / time of a packet.
//! - min_th <= avg < max_th: (2) p_b = max_p (avg - min_th) / (max_th - min_th), times size / mean
//!   size with `by_size`; (3) p_a = p_b / (1 - count p_b), count the Data since the last mark.
//! - avg >= max_th: with `gentle` p_b = max_p + (1 - max_p) (avg - max_th) / max_th; otherwise, and
//!   from 2 max_th on, every packet.
//!
//! Deviations: a signal is a congestion mark unless `drop` is set. Thresholds are bytes, since
//! Data are as large as their publishers make them; their defaults are the paper's 5 and 15 packets
//! at 8 kB. The time of a packet is that of the mean size at the link's rate; while no rate is
//! known an empty queue is one sample of 0.

use crate::shared::link::average_queue::{Average, gentle};
use control::{
    Cx, DataMeta, Duration, Equation, LinkView, Marker, ParamSpec, Params, Scheme, Size, Value,
    Verdict,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "red",
    summary: "marks at random, with a probability that grows with the average queue",
    paper: "S. Floyd, V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, \
            IEEE/ACM Transactions on Networking 1(4), 1993",
    equations: EQUATIONS,
    params: PARAMS,
    marker: Some(|params| Box::new(Red::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 1", "avg <- (1 - w_q) avg + w_q q"),
    ("figure 2", "queue empty: avg <- (1 - w_q)^m avg, m = time idle / time of a packet"),
    ("eq. 2", "p_b = max_p (avg - min_th) / (max_th - min_th)"),
    ("eq. 3", "p_a = p_b / (1 - count p_b)"),
    ("gentle", "max_th <= avg < 2 max_th: p_b = max_p + (1 - max_p) (avg - max_th) / max_th"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "min_th",
        default: Value::Size(Size(40_000)),
        range: (0.0, 1e12),
        help: "average queue below which nothing is marked",
        source: "section VI: 5 packets, here of 8 kB",
    },
    ParamSpec {
        name: "max_th",
        default: Value::Size(Size(120_000)),
        range: (1.0, 1e12),
        help: "average queue at which max_p is reached",
        source: "section VI: 15 packets, here of 8 kB",
    },
    ParamSpec {
        name: "max_p",
        default: Value::Number(0.02),
        range: (0.0, 1.0),
        help: "probability of a mark at max_th",
        source: "section VI: 1/50",
    },
    ParamSpec {
        name: "w_q",
        default: Value::Number(0.002),
        range: (1e-6, 1.0),
        help: "weight of the queue as it is in its average",
        source: "section VI",
    },
    ParamSpec {
        name: "gentle",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "from max_th to twice that, rise to 1 instead of leaping",
        source: "S. Floyd, 2000",
    },
    ParamSpec {
        name: "by_size",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "large packets are marked more than small ones",
        source: "section VII",
    },
    ParamSpec {
        name: "drop",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "drop instead of marking",
        source: "section IV: marks or drops; marks are for consumers that read them",
    },
];

struct Red {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    gentle: bool,
    by_size: bool,
    signal: Verdict,
    avg: Average,
    /// Data since the last mark; -1 below min_th.
    count: f64,
    /// The mean size of Data.
    mean: f64,
}

impl Red {
    fn new(params: &Params) -> Red {
        let min_th = params.number("min_th");
        Red {
            min_th,
            max_th: params.number("max_th").max(min_th + 1.0),
            max_p: params.number("max_p"),
            gentle: params.switch("gentle"),
            by_size: params.switch("by_size"),
            signal: if params.switch("drop") { Verdict::Drop } else { Verdict::Mark(1) },
            avg: Average::new(params.number("w_q")),
            count: -1.0,
            mean: 0.0,
        }
    }

    /// p_b; `None`: every packet is marked.
    fn probability(&self, size: f64) -> Option<f64> {
        let avg = self.avg.bytes();
        if avg >= 2.0 * self.max_th || (avg >= self.max_th && !self.gentle) {
            return None;
        }
        let p_b = gentle(avg, self.min_th, self.max_th, self.max_p);
        Some(if self.by_size { p_b * size / self.mean.max(1.0) } else { p_b })
    }
}

/// The weight of a size in the mean size.
const SIZE_WEIGHT: f64 = 1.0 / 16.0;

impl Marker for Red {
    fn on_enqueue(&mut self, cx: &mut Cx<'_>, view: &LinkView, data: &DataMeta) -> Verdict {
        let size = data.size.0 as f64;
        self.mean =
            if self.mean == 0.0 { size } else { self.mean + SIZE_WEIGHT * (size - self.mean) };
        self.avg.sample_or_age(cx.now, view, Size(self.mean as u64));
        if self.avg.bytes() < self.min_th {
            self.count = -1.0;
            return Verdict::Pass;
        }
        let Some(p_b) = self.probability(size) else {
            self.count = 0.0;
            return self.signal;
        };
        self.count += 1.0;
        // (3); from the 1/p_b-th on it is certain.
        let left = 1.0 - self.count * p_b;
        let p_a = if left > 0.0 { p_b / left } else { 1.0 };
        if !cx.rng.chance(p_a.clamp(0.0, 1.0)) {
            return Verdict::Pass;
        }
        self.count = 0.0;
        self.signal
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _data: &DataMeta,
        _sojourn: Duration,
    ) -> Verdict {
        self.avg.left(cx.now, view);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests;
