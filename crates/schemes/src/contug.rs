//! A window and a timeout for each source, for consumers that know the source of each segment.
//!
//! S. Arianfar, P. Nikander, L. Eggert, J. Ott, W. Wong, "ConTug: A Receiver-Driven Transport
//! Protocol for Content-Centric Networks", IEEE ICNP 2010, poster. Its text gives no complete
//! algorithm. This file follows its abstract and the description by Saino, Cocora and Pavlou
//! (CCTCP, IEEE ICC 2013, section I): the receiver keeps a window and a timeout for each source,
//! and knows before the transfer which source has which segment.
//!
//! - (1) Segment p may be requested if the flight to `map[p]` is less than `W[map[p]]`.
//! - (2) Data from s: `W[s] += 1` below `ssthresh[s]`, else `W[s] += 1 / W[s]`; `RTO[s]` by RFC
//!   6298.
//! - (3) Timeout of a segment expected from s: `ssthresh[s] = max(2, W[s] / 2)`, `W[s] =
//!   ssthresh[s]`, `RTO[s]` doubled, the segment is requested again.
//! - (4) Data from an unexpected source belongs to the source that it came from, and later segments
//!   are expected from there.
//!
//! The text does not describe the origin of this knowledge. There are two ways: with `sources` = n,
//! content lies in stripes of `stripe` segments at n sources in turn, and stays there; then answers
//! need no identity. With `sources` = 0 the consumer begins without knowledge, requests the
//! identity of the answering node (the served-by option), and follows (4).
//!
//! Deviations. One decrease for each round trip and source: it answers all losses of earlier
//! requests. An unused window does not grow (RFC 7661). It uses neither congestion marks nor gaps:
//! answers of several sources overtake one another, and the text has timeouts only; `gaps` adds the
//! gaps in the answers of one source.

use crate::shared::consumer::sources::Sources;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Equation, Lane, Loss, MAX_WINDOW, ParamSpec,
    Params, PathEstimate, Permit, Recovery, RttEstimate, Scheme, Sent, Ticket, Time, Value,
};
use packet::HopOptions;
use packet::options::ServedBy;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "contug",
    summary: "a window and a timeout per source; sources are known in advance or by their answers",
    paper: "S. Arianfar, P. Nikander, L. Eggert, J. Ott, W. Wong, ConTug: A Receiver-Driven \
            Transport Protocol for Content-Centric Networks, IEEE ICNP 2010, poster",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Contug::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("(1)", "segment p may be asked for if in_flight[map[p]] < W[map[p]]"),
    ("(2)", "Data from s: W[s] += 1 if W[s] < ssthresh[s], else W[s] += 1 / W[s]"),
    ("(3)", "timeout at s: ssthresh[s] = max(2, W[s] / 2), W[s] = ssthresh[s], RTO[s] = 2 RTO[s]"),
    ("(4)", "Data p from s, s not map[p]: map[p+1], map[p+2], ... = s"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "sources",
        default: Value::Number(0.0),
        range: (0.0, 32.0),
        help: "the number of sources of the content, used in turn; 0: learn them from the answers",
        source: "own: the text says only that the receiver knows",
    },
    ParamSpec {
        name: "stripe",
        default: Value::Number(1.0),
        range: (1.0, 1e6),
        help: "segments in a row at one source",
        source: "own, as `sources`",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(1.0),
        range: (1.0, 1000.0),
        help: "segments at the start, for each source",
        source: "TCP of its time, RFC 2581, section 3.1: at most 2",
    },
    ParamSpec {
        name: "gaps",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "also count segments that a later answer of the same source overtook as lost",
        source: "own: the text has timeouts only",
    },
];

/// In the memo: the window was in use when the Interest left.
const LIMITED: u64 = 1;

#[derive(Clone, Debug)]
struct Source {
    window: f64,
    ssthresh: f64,
    rtt: RttEstimate,
    /// In flight, as of the latest call.
    out: u32,
    /// The last congestion, with the window and ssthresh before it.
    recovery: Recovery<(f64, f64)>,
}

impl Source {
    fn new(window: f64) -> Source {
        let (rtt, ssthresh) = (RttEstimate::new(), f64::INFINITY);
        Source { window, ssthresh, rtt, out: 0, recovery: Recovery::new() }
    }
}

/// The source of each segment.
#[derive(Clone, Copy, Debug)]
enum Map {
    /// `sources` in turn, with `stripe` segments at each.
    Stripes { sources: u64, stripe: u64 },
    /// All that is not asked for yet is at the source that showed itself last.
    Learned(Lane),
}

struct Contug {
    map: Map,
    /// Those that say who they are.
    named: Sources<Source>,
    /// Those that are known beforehand; with [`Map::Learned`] one, of no name.
    fixed: Vec<Source>,
    initial_window: f64,
    gaps: bool,
}

impl Contug {
    fn new(params: &Params) -> Contug {
        let sources = params.number("sources") as u64;
        let initial_window = params.number("initial_window");
        Contug {
            map: match sources {
                0 => Map::Learned(0),
                _ => Map::Stripes { sources, stripe: params.number("stripe") as u64 },
            },
            named: Sources::new(),
            fixed: vec![Source::new(initial_window); sources.max(1) as usize],
            initial_window,
            gaps: params.switch("gaps"),
        }
    }

    fn expected(&self, segment: u64) -> Lane {
        match self.map {
            Map::Stripes { sources, stripe } => (segment / stripe.max(1) % sources) as Lane,
            Map::Learned(lane) => lane,
        }
    }

    fn learns(&self) -> bool {
        matches!(self.map, Map::Learned(_))
    }

    fn get(&self, lane: Lane) -> &Source {
        match self.named.get(lane) {
            Some(known) if self.learns() => &known.state,
            _ => self.fixed.get(usize::from(lane)).unwrap_or(&self.fixed[0]),
        }
    }

    fn get_mut(&mut self, lane: Lane) -> &mut Source {
        let learns = self.learns();
        match self.named.get_mut(lane) {
            Some(known) if learns => &mut known.state,
            _ => {
                let at = Some(usize::from(lane)).filter(|at| *at < self.fixed.len()).unwrap_or(0);
                &mut self.fixed[at]
            }
        }
    }

    /// The answering node, if it is reported and wanted.
    fn server(&self, options: &HopOptions) -> Option<u64> {
        if !self.learns() {
            return None;
        }
        let served = options.get::<ServedBy>()?;
        Some(served.node).filter(|node| *node != 0)
    }

    /// The lane that Data came in.
    fn origin(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) -> Lane {
        // A node without an identity (not every Interest asks for it) is taken for the expected
        // one.
        let Some(id) = self.server(arrival.options) else { return arrival.lane };
        let window = self.initial_window;
        let before = self.named.evicted();
        let (lane, _) = self.named.observe(cx.now, id, || Source::new(window));
        if self.named.evicted() > before {
            cx.note("source forgotten", self.named.evicted() as f64);
        }
        // (4)
        if lane != self.expected(arrival.segment) {
            self.map = Map::Learned(lane);
        }
        lane
    }
}

impl Controller for Contug {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let lane = self.expected(ask.first);
        let flight = ask.in_flight.lane(lane).segments;
        // (1)
        if flight == 0 || f64::from(flight) + f64::from(ask.count) <= self.get(lane).window {
            return Permit::Now(lane);
        }
        if self.fixed.len() > 1 { Permit::NotThis } else { Permit::Wait }
    }

    fn on_sent(&mut self, _cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let learns = self.learns();
        let source = self.get_mut(sent.lane);
        source.out = source.out.saturating_add(u32::from(sent.count));
        // RFC 7661: half of the window counts as using it.
        let limited = f64::from(source.out) * 2.0 >= source.window;
        let mut options = HopOptions::default();
        if learns {
            options.set(&ServedBy::ASK);
        }
        Ticket { timeout: source.rtt.rto(), memo: [0, u64::from(limited) * LIMITED], options }
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        match self.server(arrival.options) {
            _ if !self.gaps => None,
            Some(id) => self.named.lane(id),
            None => Some(arrival.lane),
        }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let expected = self.get_mut(arrival.lane);
        expected.out = arrival.in_flight.lane(arrival.lane).segments;
        if arrival.late
            && let Some((window, ssthresh)) = expected.recovery.disproved(arrival.sent_at)
            && window > expected.window
        {
            (expected.window, expected.ssthresh) = (window, ssthresh);
            cx.note("undo", window);
        }
        let lane = self.origin(cx, arrival);
        let asked = self.get(arrival.lane).window;
        let source = self.get_mut(lane);
        if let Some(rtt) = arrival.rtt {
            let in_flight = arrival.in_flight.lane(lane).segments + 1;
            source.rtt.sample_of(rtt, in_flight);
        }
        // Where it was expected elsewhere, that window was in use, and this one follows it at most.
        let used = arrival.memo[1] == LIMITED && (lane == arrival.lane || source.window <= asked);
        if used && !arrival.late {
            // (2)
            let step = if source.window < source.ssthresh { 1.0 } else { 1.0 / source.window };
            source.window = (source.window + step).min(MAX_WINDOW);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        let fixed = !self.learns() || loss.lane == 0;
        let same = self.named.get(loss.lane).is_some_and(|known| known.since <= loss.sent_at);
        self.get_mut(loss.lane).out = loss.in_flight.lane(loss.lane).segments;
        if !fixed && !same {
            // It was another one's that has been forgotten.
            return;
        }
        let source = self.get_mut(loss.lane);
        let cause = Some(loss.cause);
        if source.recovery.covers(loss.sent_at) {
            return source.recovery.again(loss.sent_at, cause);
        }
        source.recovery.begin(cx.now, cause, (source.window, source.ssthresh));
        // (3)
        source.ssthresh = (source.window / 2.0).max(2.0);
        source.window = source.ssthresh;
        if loss.cause == Cause::Timeout {
            source.rtt.back_off();
        }
        cx.note("cut", source.window);
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.get(lane).rtt.overdue_at(sent_at)
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        let source = self.get_mut(lane);
        source.window = estimate.window();
        source.ssthresh = source.window.max(2.0);
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        let fixed = self.fixed.iter().zip(0..).map(|(source, lane)| (lane, source));
        let named = self.named.iter().map(|(lane, known)| (lane, &known.state));
        for (lane, source) in fixed.chain(named) {
            out(lane, "window", source.window);
            let timeout: Duration = source.rtt.rto();
            out(lane, "timeout", timeout.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests;
