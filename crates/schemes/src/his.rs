//! The hop-by-hop Interest shaper of Wang and others: each end of a link holds its Interests back
//! so that the Data they ask for, and what the other end asks for, fit both directions.
//!
//! Y. Wang, N. Rozhnova, A. Narayanan, D. Oran, I. Rhee, "An Improved Hop-by-hop Interest Shaper
//! for Congestion Control in Named Data Networking", ACM SIGCOMM ICN workshop 2013; queues and
//! constants of the first author's code for ndnSIM. At one end of a link, c1 and c2 are the rates
//! out and in; s1 and s2 those of Interests sent and received, in bits of Interests a second; r1
//! the size of Data received by that of Interests sent, r2 that of Data sent by that of Interests
//! received:
//!
//! - maximise log s1 + log s2 subject to s1 + r2 s2 <= c1, r1 s1 + s2 <= c2. In closed form:
//!   - c1 / c2 < 2 r2 / (r1 r2 + 1): s1 = c1 / 2, s2 = c1 / (2 r2);
//!   - c1 / c2 > (r1 r2 + 1) / (2 r1): s1 = c2 / (2 r1), s2 = c2 / 2;
//!   - otherwise s1 = (r2 c2 - c1) / (r1 r2 - 1), s2 = (r1 c1 - c2) / (r1 r2 - 1);
//! - these are s1_min and s2_exp; s1_max = c2 / r1, where the other end asks for nothing;
//! - s2_obs, the rate of Interests received, below h s2_exp: s1 = s1_min + (s1_max - s1_min)
//!   (1 - s2_obs / (h s2_exp))^2; otherwise s1 = s1_min. With `form` = `min` always s1_min;
//! - after an Interest of b bytes the next leaves after 8 b / (h s1).
//!
//! It keeps no state per flow and sends no messages. It works where Interests leave (stage
//! *departure*). Interests that its queue rejects return as a Nack (Congestion): the queue drops
//! its tail, or earlier with `queue` = `pie` or `codel`, as in the authors' code. The law of CoDel
//! is in `codel.rs`.
//!
//! Read or changed. s2_obs is what came in the last full 0.1 s, and falls while nothing comes; the
//! code keeps the last value. While a rate is not known nothing waits. Bytes that a link adds to
//! each packet are not seen, and must fit in 1 - h.

use crate::codel;
use crate::shared::link::wakeup;
use control::{
    Crossing, Cx, Direction, Duration, Equation, InterestMeta, Kind, LinkView, Offer, ParamSpec,
    Params, QueueView, Released, Scheme, Shaper, Size, Stage, Time, Value, Word,
};
use std::collections::VecDeque;

mod pie;
#[cfg(test)]
mod tests;

use pie::Pie;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "his",
    summary: "holds Interests so that the Data of both directions fit the link",
    paper: "Y. Wang, N. Rozhnova, A. Narayanan, D. Oran, I. Rhee, An Improved Hop-by-hop Interest \
            Shaper for Congestion Control in Named Data Networking, ACM SIGCOMM ICN workshop 2013",
    equations: EQUATIONS,
    params: PARAMS,
    shaper: Some(|params| Box::new(His::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("optimum", "max log s1 + log s2: s1 + r2 s2 <= c1, r1 s1 + s2 <= c2"),
    ("c1/c2 < 2 r2 / (r1 r2 + 1)", "s1_min = c1 / 2, s2_exp = c1 / (2 r2)"),
    ("c1/c2 > (r1 r2 + 1) / (2 r1)", "s1_min = c2 / (2 r1), s2_exp = c2 / 2"),
    ("otherwise", "s1_min = (r2 c2 - c1) / (r1 r2 - 1), s2_exp = (r1 c1 - c2) / (r1 r2 - 1)"),
    ("no demand there", "s1_max = c2 / r1"),
    ("shaping rate", "s1 = s1_min + (s1_max - s1_min) (1 - s2_obs / (h s2_exp))^2"),
    ("distance of Interests", "gap = 8 b / (h s1)"),
];

const EXACT: &str = "exact";
const MIN: &str = "min";
const TAIL: &str = "drop-tail";
const PIE: &str = "pie";
const CODEL: &str = "codel";

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "h",
        default: Value::Number(0.98),
        range: (0.1, 1.0),
        help: "share of the rate that is used; the rest is for bursts and for what links add",
        source: "authors' code, `Headroom`; their experiments have 0.97",
    },
    ParamSpec {
        name: "form",
        default: Value::Word(Word { text: EXACT, of: || vec![EXACT, MIN] }),
        range: (0.0, 1.0),
        help: "whether capacity that the other end does not request is used or always left free",
        source: "the paper",
    },
    ParamSpec {
        name: "max_interest",
        default: Value::Number(100.0),
        range: (1.0, 1_000_000.0),
        help: "Interests that may wait",
        source: "authors' code, `MaxInterest`; their experiments have 38, 40 or 75",
    },
    ParamSpec {
        name: "window",
        default: Value::Time(Duration::from_millis(100)),
        range: (0.001, 10.0),
        help: "time over which the rate of Interests received is measured",
        source: "authors' code, `UpdateInterval`",
    },
    ParamSpec {
        name: "queue",
        default: Value::Word(Word { text: TAIL, of: || vec![TAIL, PIE, CODEL] }),
        range: (0.0, 2.0),
        help: "which Interests are rejected when they wait too long",
        source: "authors' code",
    },
    ParamSpec {
        name: "target",
        default: Value::Time(Duration::from_millis(20)),
        range: (0.0001, 10.0),
        help: "for PIE and CoDel, how long Interests may wait",
        source: "authors' code",
    },
    ParamSpec {
        name: "interval",
        default: Value::Time(Duration::from_millis(100)),
        range: (0.0001, 10.0),
        help: "for CoDel, for how long they may wait longer; for PIE, how long a burst may last",
        source: "authors' code",
    },
];

/// A smoothed size in bytes; the first sample counts as it is.
#[derive(Clone, Copy)]
struct Smoothed {
    value: f64,
    sampled: bool,
}

impl Smoothed {
    /// The value is `guess` until the first sample.
    fn new(guess: f64) -> Smoothed {
        Smoothed { value: guess, sampled: false }
    }

    /// A packet of this size.
    fn sample(&mut self, size: Size) {
        let size = size.0.max(1) as f64;
        self.value = if self.sampled { self.value + (size - self.value) / 8.0 } else { size };
        self.sampled = true;
    }
}

/// The rate of Interests received.
struct Observed {
    window: Duration,
    since: Option<Time>,
    bytes: u64,
    /// Of the last full window, in bit/s.
    rate: f64,
}

impl Observed {
    fn add(&mut self, now: Time, size: Size) {
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= self.window {
            self.rate = self.at(now);
            (self.since, self.bytes) = (Some(now), 0);
        }
        self.bytes = self.bytes.saturating_add(size.0);
    }

    fn at(&self, now: Time) -> f64 {
        match self.since.map(|since| now.since(since)) {
            Some(span) if span >= self.window => self.bytes as f64 * 8.0 / span.as_secs_f64(),
            _ => self.rate,
        }
    }
}

/// The rates out and in of a link and its ratios of sizes.
#[derive(Clone, Copy, Debug)]
struct Demand {
    c1: f64,
    c2: f64,
    r1: f64,
    r2: f64,
}

impl Demand {
    /// The optimum (s1, s2) where both ends ask for as much as they can.
    fn optimum(&self) -> (f64, f64) {
        let Demand { c1, c2, r1, r2 } = *self;
        let product = r1 * r2;
        if c1 / c2 < 2.0 * r2 / (product + 1.0) {
            (c1 / 2.0, c1 / (2.0 * r2))
        } else if c1 / c2 > (product + 1.0) / (2.0 * r1) || (product - 1.0).abs() < 1e-9 {
            // Where r1 r2 = 1 both constraints are one line, and this is on it.
            (c2 / (2.0 * r1), c2 / 2.0)
        } else {
            ((r2 * c2 - c1) / (product - 1.0), (r1 * c1 - c2) / (product - 1.0))
        }
    }

    /// The shaping rate s1, given the observed rate `s2_obs` of received Interests in bit/s.
    fn rate(&self, s2_obs: f64, h: f64) -> f64 {
        let (s1_min, s2_exp) = self.optimum();
        let s1_max = self.c2 / self.r1;
        let unused = 1.0 - s2_obs / (h * s2_exp);
        if unused <= 0.0 { s1_min } else { s1_min + (s1_max - s1_min) * unused * unused }
    }
}

/// The rule that rejects Interests before the queue is full.
enum Early {
    None,
    Pie(Pie),
    Codel { law: codel::Law, state: codel::State, reject: bool },
}

struct His {
    h: f64,
    is_min: bool,
    max_interest: usize,
    early: Early,
    queue: VecDeque<(Time, InterestMeta)>,
    bytes: u64,
    interests_out: Smoothed,
    interests_in: Smoothed,
    data_out: Smoothed,
    data_in: Smoothed,
    observed: Observed,
    /// The next Interest may leave at this instant.
    open_at: Time,
}

impl His {
    fn new(params: &Params) -> His {
        let (target, interval) = (params.time("target"), params.time("interval"));
        let early = match params.word("queue") {
            PIE => Early::Pie(Pie::new(target, interval)),
            CODEL => {
                let law = codel::Law { target, interval };
                Early::Codel { law, state: codel::State::default(), reject: false }
            }
            _ => Early::None,
        };
        let window = params.time("window");
        His {
            h: params.number("h"),
            is_min: params.word("form") == MIN,
            max_interest: params.number("max_interest") as usize,
            early,
            queue: VecDeque::new(),
            bytes: 0,
            interests_out: Smoothed::new(40.0),
            interests_in: Smoothed::new(40.0),
            data_out: Smoothed::new(1100.0),
            data_in: Smoothed::new(1100.0),
            observed: Observed { window, since: None, bytes: 0, rate: 0.0 },
            open_at: Time::ZERO,
        }
    }

    /// s1 in bit/s; `None` while a rate is not known.
    fn rate(&self, now: Time, view: &LinkView) -> Option<f64> {
        if view.rate_out.0 == 0 || view.rate_in.0 == 0 {
            return None;
        }
        let demand = Demand {
            c1: view.rate_out.0 as f64,
            c2: view.rate_in.0 as f64,
            r1: self.data_in.value / self.interests_out.value,
            r2: self.data_out.value / self.interests_in.value,
        };
        let s2_obs = if self.is_min { f64::INFINITY } else { self.observed.at(now) };
        Some(demand.rate(s2_obs, self.h))
    }

    /// An Interest leaves: when the next one may, counted from `turn`.
    fn sent(&mut self, now: Time, turn: Time, view: &LinkView, interest: &InterestMeta) {
        let size = interest.size;
        self.interests_out.sample(size);
        let rate = self.rate(now, view).map_or(f64::INFINITY, |s1| self.h * s1);
        let gap = Duration::from_secs_f64(8.0 * size.0 as f64 / rate);
        self.open_at = turn + gap;
    }

    /// True if an arriving Interest is rejected although there is room.
    fn rejects_early(&mut self, cx: &mut Cx<'_>) -> bool {
        let waiting = self.queue.len();
        match &mut self.early {
            Early::None => false,
            Early::Pie(pie) => pie.rejects(cx, waiting),
            Early::Codel { reject, .. } => std::mem::take(reject),
        }
    }

    /// An Interest left the queue after `sojourn`.
    fn note_early(&mut self, now: Time, size: Size, sojourn: Duration) {
        let packets = self.queue.len();
        let queue = QueueView {
            packets: packets as u32,
            bytes: Size(self.bytes),
            head_sojourn: Duration::ZERO,
        };
        match &mut self.early {
            Early::None => {}
            Early::Pie(pie) => pie.left(now, packets),
            Early::Codel { law, state, reject } => {
                *reject |= state.dequeue(*law, now, &queue, size, sojourn);
            }
        }
    }
}

impl Shaper for His {
    fn stage(&self) -> Stage {
        Stage::Departure
    }

    fn offer(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        if self.queue.is_empty() && self.open_at <= cx.now {
            self.sent(cx.now, cx.now, view, &interest);
            return Offer::Pass(interest);
        }
        if self.rejects_early(cx) || self.queue.len() >= self.max_interest {
            return Offer::Rejected(interest);
        }
        self.bytes += interest.size.0;
        self.queue.push_back((cx.now, interest));
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, view: &LinkView) -> Option<Released> {
        let (_, head) = self.queue.front()?;
        let expired = head.expires <= cx.now;
        if self.open_at > cx.now && !expired {
            return None;
        }
        let (since, interest) = self.queue.pop_front()?;
        self.bytes -= interest.size.0;
        self.note_early(cx.now, interest.size, cx.now.since(since));
        if !expired {
            self.sent(cx.now, wakeup::gap_start(self.open_at, cx.now), view, &interest);
        }
        Some(Released::Pass(interest))
    }

    fn next_release(&self) -> Option<Time> {
        self.queue.front().map(|(_, head)| self.open_at.min(head.expires))
    }

    fn on_crossing(&mut self, cx: &mut Cx<'_>, _view: &LinkView, crossing: &Crossing<'_>) {
        match (crossing.direction, crossing.kind) {
            (Direction::In, Kind::Interest) => {
                self.interests_in.sample(crossing.size);
                self.observed.add(cx.now, crossing.size);
            }
            (Direction::In, Kind::Data) => self.data_in.sample(crossing.size),
            (Direction::Out, Kind::Data) => self.data_out.sample(crossing.size),
            _ => {}
        }
    }
}
