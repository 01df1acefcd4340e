//! Receiver Interest control, CHoPCoP's consumer.
//!
//! F. Zhang and others, ICCCN 2014, sections III-C and IV. The window counts chunks: runs of N
//! segments that start at a multiple of N, which one range Interest asks for, or N single Interests
//! at once; what is lost of a chunk is asked for again alone.
//!
//! - A chunk is complete, nothing of it marked: below the threshold W += 1 (slow start), from there
//!   on W += alpha every W chunks.
//! - Some of it marked: W = beta W with beta by eq. 3, between beta_2 (hardly any) and beta_1
//!   (all).
//! - It timed out (eq. 4 and 5): W = beta_0 W, and what is missing is asked for again.
//!
//! Read where the paper is silent: the window starts at 1, the timeout at 3 s; neither falls below
//! 1 and `timeout_min`; slow start begins anew whenever W is below the threshold (`slow_start`);
//! marks cut once a mean round-trip time (`mark_pause`), timeouts once for each time that a chunk
//! was asked for (`timeout_pause`); of a chunk of which something was asked for twice, what came
//! of the first asking gives the sample (Karn; without one, a round trip that an outage made long
//! would stay as long as every chunk loses something). `scenarios/chopcop/deviations.md` says what
//! the three rules that are parameters change in the paper's experiments.
//!
//! Deviations: the end of a chunk that is shorter than N, and of one whose rest was never asked
//! for, is when something of a later chunk is asked for. A Nack, and a gap (segments of the chunk
//! that were asked for later have arrived), show congestion that the paper's consumer learns of by
//! timeout: they cut by beta_0 like one, but once a mean round-trip time like marks. A window that
//! is not in use does not grow. A chunk that timed out waits until the window has room for it; the
//! timeout doubles while nothing comes at all (RFC 6298, 5.5).

use super::PAPER;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Equation, InFlight, Lane, Loss, ParamSpec,
    Params, PathEstimate, Permit, RttEstimate, Scheme, Sent, Ticket, Time, Value, Word,
};
use packet::HopOptions;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// The consumer alone.
pub const SCHEME: Scheme = Scheme {
    name: "ric",
    summary: "a window of chunks of 32 segments, cut by the share of a chunk that is marked",
    paper: PAPER,
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Ric::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("section III-C", "chunk, W < threshold: W += 1; else W += alpha every W chunks"),
    ("eq. 3", "marked chunk: W = beta W, beta = beta_2 - (beta_2 - beta_1) N_marked / N"),
    ("section III-C", "timeout: W = beta_0 W"),
    ("eq. 4", "RTT_avg = sigma RTT_avg + (1 - sigma) RTT"),
    ("eq. 5", "timeout = delta RTT_avg"),
];

const AGAIN: &str = "again";
const ONCE: &str = "once";

pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "N",
        default: Value::Number(32.0),
        range: (1.0, 256.0),
        help: "segments of a chunk",
        source: "section IV",
    },
    ParamSpec {
        name: "threshold",
        default: Value::Number(20.0),
        range: (1.0, 4096.0),
        help: "window in chunks below which slow start doubles it each round trip",
        source: "section IV",
    },
    ParamSpec {
        name: "alpha",
        default: Value::Number(1.0),
        range: (0.01, 100.0),
        help: "chunks by which a full window of chunks lets the window grow",
        source: "section IV",
    },
    ParamSpec {
        name: "beta_0",
        default: Value::Number(0.5),
        range: (0.05, 0.99),
        help: "the window's factor at a timeout",
        source: "section IV",
    },
    ParamSpec {
        name: "beta_1",
        default: Value::Number(0.5),
        range: (0.05, 0.99),
        help: "the window's factor where every segment of a chunk is marked",
        source: "eq. 3; section IV",
    },
    ParamSpec {
        name: "beta_2",
        default: Value::Number(0.8),
        range: (0.05, 0.99),
        help: "the window's factor where hardly a segment of a chunk is marked",
        source: "eq. 3; section IV",
    },
    ParamSpec {
        name: "sigma",
        default: Value::Number(0.7),
        range: (0.0, 0.999),
        help: "weight of the past in the mean round-trip time",
        source: "eq. 4; section IV",
    },
    ParamSpec {
        name: "delta",
        default: Value::Number(6.0),
        range: (1.0, 100.0),
        help: "timeout in mean round-trip times",
        source: "eq. 5; section IV",
    },
    ParamSpec {
        name: "initial_window",
        default: Value::Number(1.0),
        range: (1.0, 1000.0),
        help: "chunks at the start",
        source: "not in the paper",
    },
    ParamSpec {
        name: "initial_timeout",
        default: Value::Time(Duration::from_secs(3)),
        range: (0.01, 60.0),
        help: "timeout before the first chunk is complete",
        source: "not in the paper",
    },
    ParamSpec {
        name: "timeout_min",
        default: Value::Time(Duration::from_millis(10)),
        range: (0.0001, 10.0),
        help: "least timeout: drivers wake late by some milliseconds",
        source: "not in the paper, whose paths are long",
    },
    ParamSpec {
        name: "slow_start",
        default: Value::Word(Word { text: AGAIN, of: || vec![AGAIN, ONCE] }),
        range: (0.0, 1.0),
        help: "whether a window that a cut left below the threshold grows by slow start again; \
               with `once`, slow start ends at the first cut",
        source: "own: section III-C names the first slow start only",
    },
    ParamSpec {
        name: "mark_pause",
        default: Value::Number(1.0),
        range: (0.0, 100.0),
        help: "mean round-trip times between two cuts by marked chunks; 0: every one cuts",
        source: "own: section III-C gives no limit",
    },
    ParamSpec {
        name: "timeout_pause",
        default: Value::Number(0.0),
        range: (0.0, 100.0),
        help: "mean round-trip times between two cuts by timeouts; 0: every chunk that times out \
               cuts, once for each time that it was asked for",
        source: "section III-C, which gives no limit",
    },
];

/// The window never counts more chunks.
const MOST: f64 = 4096.0;
/// Chunks of which something was lost and never asked for again are forgotten beyond so many.
const MOST_OPEN: usize = 8192;
/// No timeout is longer than eq. 5 says or this, whichever is longer, however often it doubled.
const MAX_BACKED_OFF: Duration = RttEstimate::MAX_BACKED_OFF;

/// A chunk that is not complete.
#[derive(Clone, Copy)]
struct Chunk {
    /// Its place in the object.
    index: u64,
    /// Its own lane, so that what is in flight of it can be told from the rest, and so that answers
    /// from another source to a later chunk do not make its segments seem lost.
    lane: Lane,
    /// When its first Interest left; if it fell silent before it was complete, that after it.
    sent_at: Time,
    /// When Data of it came last.
    heard_at: Time,
    /// Something of it is in flight.
    busy: bool,
    /// Segments that arrived, N in the end, and those that were marked.
    arrived: u32,
    marked: u32,
    /// Segments that were lost and not asked for again.
    lost: u32,
    /// Nothing of it was asked for twice.
    once: bool,
    /// The longest round trip of what came of the first asking.
    rtt: Option<Duration>,
    /// The timeouts of Interests that left before are known.
    timed_out_at: Option<Time>,
}

struct Ric {
    n: u64,
    threshold: f64,
    alpha: f64,
    beta: [f64; 3],
    sigma: f64,
    delta: f64,
    initial_timeout: Duration,
    timeout_min: Duration,
    /// Slow start begins anew below the threshold.
    is_again: bool,
    /// In mean round-trip times.
    mark_pause: f64,
    timeout_pause: f64,
    /// A cut has ended the first slow start.
    was_cut: bool,
    /// W.
    window: f64,
    /// Complete chunks since the window grew.
    since_growth: f64,
    /// RTT_avg in seconds.
    rtt: Option<f64>,
    /// By number, in the order in which they were begun.
    chunks: BTreeMap<u64, Chunk>,
    /// The numbers of the open chunks, by their place in the object.
    open: BTreeMap<u64, u64>,
    /// Lanes below `lanes` that no chunk has.
    free: BTreeSet<Lane>,
    lanes: Lane,
    next: u64,
    /// Chunks of which something is in flight.
    busy: u32,
    /// When at least half of the window was in use last.
    used_at: Option<Time>,
    /// When a mark, a Nack or a gap cut last.
    cut_at: Option<Time>,
    /// When a timeout cut last.
    cut_by_timeout_at: Option<Time>,
    heard_at: Option<Time>,
    backed_off_at: Option<Time>,
    doublings: u32,
}

impl Ric {
    fn new(params: &Params) -> Ric {
        Ric {
            n: params.number("N") as u64,
            threshold: params.number("threshold"),
            alpha: params.number("alpha"),
            beta: ["beta_0", "beta_1", "beta_2"].map(|name| params.number(name)),
            sigma: params.number("sigma"),
            delta: params.number("delta"),
            initial_timeout: params.time("initial_timeout"),
            timeout_min: params.time("timeout_min"),
            is_again: params.word("slow_start") == AGAIN,
            mark_pause: params.number("mark_pause"),
            timeout_pause: params.number("timeout_pause"),
            was_cut: false,
            window: params.number("initial_window"),
            since_growth: 0.0,
            rtt: None,
            chunks: BTreeMap::new(),
            open: BTreeMap::new(),
            free: BTreeSet::new(),
            lanes: 0,
            next: 0,
            busy: 0,
            used_at: None,
            cut_at: None,
            cut_by_timeout_at: None,
            heard_at: None,
            backed_off_at: None,
            doublings: 0,
        }
    }

    fn chunk_at(&self, segment: u64) -> Option<&Chunk> {
        self.chunks.get(self.open.get(&(segment / self.n))?)
    }

    /// The lane that the next chunk gets.
    fn next_lane(&self) -> Lane {
        self.free.first().copied().unwrap_or(self.lanes)
    }

    /// The number of the chunk that this segment belongs to; it is begun if it is not open.
    fn begin(&mut self, cx: &mut Cx<'_>, segment: u64) -> u64 {
        let index = segment / self.n;
        if let Some(number) = self.open.get(&index) {
            return *number;
        }
        // What had come of the chunk before was all that was asked of it.
        if let Some((&before, chunk)) = self.chunks.last_key_value()
            && !chunk.busy
            && chunk.lost == 0
        {
            self.complete(cx, before);
        }
        while self.chunks.len() >= MOST_OPEN
            && let Some((&oldest, _)) = self.chunks.first_key_value()
        {
            self.forget(oldest);
        }
        let lane = self.next_lane();
        if !self.free.remove(&lane) {
            self.lanes = lane.saturating_add(1);
        }
        let number = self.next;
        self.next += 1;
        let chunk = Chunk {
            index,
            lane,
            sent_at: cx.now,
            heard_at: cx.now,
            busy: false,
            arrived: 0,
            marked: 0,
            lost: 0,
            once: true,
            rtt: None,
            timed_out_at: None,
        };
        self.chunks.insert(number, chunk);
        self.open.insert(index, number);
        number
    }

    fn forget(&mut self, number: u64) -> Option<Chunk> {
        let chunk = self.chunks.remove(&number)?;
        self.open.remove(&chunk.index);
        self.free.insert(chunk.lane);
        self.busy -= u32::from(chunk.busy);
        Some(chunk)
    }

    /// All that was asked of a chunk has come.
    fn complete(&mut self, cx: &mut Cx<'_>, number: u64) {
        let Some(chunk) = self.forget(number) else { return };
        if chunk.arrived == 0 {
            return;
        }
        if chunk.once {
            self.sample(chunk.heard_at.since(chunk.sent_at));
        } else if let Some(rtt) = chunk.rtt {
            self.sample(rtt);
        }
        if chunk.marked > 0 {
            // Eq. 3, at most once in `mark_pause`. N is what the chunk has.
            let [_, beta_1, beta_2] = self.beta;
            let share = f64::from(chunk.marked) / f64::from(chunk.arrived);
            self.cut_once(cx, beta_2 - (beta_2 - beta_1) * share, self.mark_pause);
        } else if self.used_at >= Some(chunk.sent_at) {
            self.grow();
        }
    }

    /// Eq. 4.
    fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.rtt = Some(self.rtt.map_or(rtt, |mean| self.sigma * mean + (1.0 - self.sigma) * rtt));
        self.doublings = 0;
    }

    /// Eq. 5.
    fn timeout(&self) -> Duration {
        let base =
            self.rtt.map_or(self.initial_timeout, |rtt| Duration::from_secs_f64(self.delta * rtt));
        let base = base.clamp(self.timeout_min, RttEstimate::MAX_RTO);
        Duration(base.0.saturating_mul(1 << self.doublings)).min(MAX_BACKED_OFF).max(base)
    }

    /// Section III-C: slow start, then congestion avoidance.
    fn grow(&mut self) {
        if self.window < self.threshold && (self.is_again || !self.was_cut) {
            self.window += 1.0;
        } else {
            self.since_growth += 1.0;
            if self.since_growth >= self.window {
                self.window += self.alpha;
                self.since_growth = 0.0;
            }
        }
        self.window = self.window.min(MOST);
    }

    fn cut(&mut self, cx: &mut Cx<'_>, beta: f64) {
        self.window = (beta * self.window).max(1.0);
        self.since_growth = 0.0;
        self.was_cut = true;
        cx.note("cut", self.window);
    }

    /// A cut that follows the one before after so many mean round-trip times or more.
    fn cut_once(&mut self, cx: &mut Cx<'_>, beta: f64, pause: f64) {
        if self.is_over(cx.now, self.cut_at, pause) {
            self.cut_at = Some(cx.now);
            self.cut(cx, beta);
        }
    }

    /// So many mean round-trip times have passed since then.
    fn is_over(&self, now: Time, then: Option<Time>, pause: f64) -> bool {
        let pause = Duration::from_secs_f64(pause * self.rtt.unwrap_or(0.0));
        then.is_none_or(|at| now.since(at) >= pause)
    }

    /// What is in flight of a chunk has changed.
    fn set_busy(&mut self, number: u64, in_flight: &dyn InFlight) {
        let Some(chunk) = self.chunks.get_mut(&number) else { return };
        let busy = in_flight.lane(chunk.lane).segments > 0;
        self.busy = self.busy + u32::from(busy) - u32::from(chunk.busy);
        chunk.busy = busy;
    }

    /// RFC 6298 (5.5): nothing came since the Interest left that was lost.
    fn silence(&mut self, now: Time, sent_at: Time) {
        let since = |at: Option<Time>| at.is_some_and(|at| at > sent_at);
        if !since(self.heard_at) && !since(self.backed_off_at) {
            self.doublings = (self.doublings + 1).min(16);
            self.backed_off_at = Some(now);
        }
    }
}

impl Controller for Ric {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let chunk = self.chunk_at(ask.first);
        let lane = chunk.map_or_else(|| self.next_lane(), |chunk| chunk.lane);
        let begun = chunk.is_some_and(|chunk| chunk.busy);
        let room = f64::from(self.busy) < self.window.floor();
        // Where nothing is in flight something may always be asked for.
        if begun || room || ask.in_flight.total().segments == 0 {
            Permit::Now(lane)
        } else {
            Permit::Wait
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let number = self.begin(cx, sent.first);
        if let Some(chunk) = self.chunks.get_mut(&number) {
            if !chunk.busy {
                chunk.busy = true;
                chunk.sent_at = cx.now;
                self.busy += 1;
                if f64::from(self.busy) * 2.0 >= self.window {
                    self.used_at = Some(cx.now);
                }
            }
            if sent.attempt > 0 {
                chunk.lost = chunk.lost.saturating_sub(u32::from(sent.count));
                chunk.once = false;
            }
        }
        Ticket { timeout: self.timeout(), memo: [number, 0], options: HopOptions::new() }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.heard_at = Some(cx.now);
        let number = arrival.memo[0];
        self.set_busy(number, arrival.in_flight);
        let Some(chunk) = self.chunks.get_mut(&number) else { return };
        chunk.heard_at = cx.now;
        chunk.arrived += 1;
        chunk.marked += u32::from(arrival.mark > 0);
        if arrival.late {
            chunk.lost = chunk.lost.saturating_sub(1);
        }
        chunk.once &= arrival.rtt.is_some();
        chunk.rtt = chunk.rtt.max(arrival.rtt);
        let all = u64::from(chunk.arrived) >= self.n || number + 1 < self.next;
        if all && !chunk.busy && chunk.lost == 0 {
            self.complete(cx, number);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        let number = loss.memo[0];
        self.set_busy(number, loss.in_flight);
        if loss.cause == Cause::Timeout {
            self.silence(cx.now, loss.sent_at);
        }
        let Some(chunk) = self.chunks.get_mut(&number) else { return };
        chunk.lost = chunk.lost.saturating_add(1);
        let [beta_0, ..] = self.beta;
        if loss.cause != Cause::Timeout {
            self.cut_once(cx, beta_0, 1.0);
        } else if chunk.timed_out_at.is_none_or(|at| loss.sent_at >= at) {
            chunk.timed_out_at = Some(cx.now);
            cx.note("timeout", chunk.index as f64);
            if self.is_over(cx.now, self.cut_by_timeout_at, self.timeout_pause) {
                self.cut_by_timeout_at = Some(cx.now);
                self.cut(cx, beta_0);
            }
        }
    }

    fn range(&self) -> u16 {
        self.n as u16
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        self.window = (estimate.window() / self.n as f64).clamp(1.0, MOST);
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", self.window * self.n as f64);
        out(0, "chunks", self.window);
    }
}
