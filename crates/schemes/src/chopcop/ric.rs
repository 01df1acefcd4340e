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
//! 1 and `timeout_min`; slow start begins again whenever W is below the threshold (`slow_start`);
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

use super::paper::PAPER;
use chunks::Chunks;
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Equation, Lane, Loss, ParamSpec, Params,
    PathEstimate, Permit, Scheme, Sent, Ticket, Time, Value, Word,
};
use packet::HopOptions;
use timer::Timer;
use window::{MOST, Window};

mod chunks;
#[cfg(test)]
mod tests;
mod timer;
mod window;

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

struct Ric {
    n: u64,
    /// beta_0, beta_1, beta_2.
    beta: [f64; 3],
    window: Window,
    timer: Timer,
    chunks: Chunks,
    /// When at least half of the window was in use last.
    used_at: Option<Time>,
    /// Cuts by a mark, a Nack or a gap.
    cuts: Cuts,
    cuts_by_timeout: Cuts,
}

/// Cuts of one kind.
struct Cuts {
    /// Mean round-trip times between two of them.
    pause: f64,
    last: Option<Time>,
}

impl Cuts {
    fn new(pause: f64) -> Cuts {
        Cuts { pause, last: None }
    }

    /// Notes a cut, unless the last one is less than `pause` mean round-trip times ago.
    fn allow(&mut self, now: Time, pause: f64, rtt: Option<f64>) -> bool {
        let pause = Duration::from_secs_f64(pause * rtt.unwrap_or(0.0));
        let is_allowed = self.last.is_none_or(|at| now.since(at) >= pause);
        if is_allowed {
            self.last = Some(now);
        }
        is_allowed
    }
}

impl Ric {
    fn new(params: &Params) -> Ric {
        Ric {
            n: params.number("N") as u64,
            beta: ["beta_0", "beta_1", "beta_2"].map(|name| params.number(name)),
            window: Window::new(params, params.word("slow_start") == AGAIN),
            timer: Timer::new(params),
            chunks: Chunks::default(),
            used_at: None,
            cuts: Cuts::new(params.number("mark_pause")),
            cuts_by_timeout: Cuts::new(params.number("timeout_pause")),
        }
    }

    /// The number of the chunk that this segment belongs to; it is begun if it is not open.
    fn begin(&mut self, cx: &mut Cx<'_>, segment: u64) -> u64 {
        let index = segment / self.n;
        if let Some(number) = self.chunks.number_at(index) {
            return number;
        }
        // All requested segments of the chunk before had arrived.
        if let Some((before, chunk)) = self.chunks.last()
            && !chunk.busy
            && chunk.lost == 0
        {
            self.complete(cx, before);
        }
        self.chunks.begin(cx.now, index)
    }

    /// All that was asked of a chunk has come.
    fn complete(&mut self, cx: &mut Cx<'_>, number: u64) {
        let Some(chunk) = self.chunks.forget(number) else { return };
        if chunk.arrived == 0 {
            return;
        }
        if chunk.once {
            self.timer.sample(chunk.received_at.since(chunk.sent_at));
        } else if let Some(rtt) = chunk.rtt {
            self.timer.sample(rtt);
        }
        if chunk.marked > 0 {
            // Eq. 3, at most once in `mark_pause`. N is what the chunk has.
            let [_, beta_1, beta_2] = self.beta;
            let share = f64::from(chunk.marked) / f64::from(chunk.arrived);
            self.cut_once(cx, beta_2 - (beta_2 - beta_1) * share, self.cuts.pause);
        } else if self.used_at >= Some(chunk.sent_at) {
            self.window.grow();
        }
    }

    fn cut(&mut self, cx: &mut Cx<'_>, beta: f64) {
        self.window.cut(beta);
        cx.note("cut", self.window.size());
    }

    /// Cuts the window unless the previous cut is less than `pause` mean round-trip times ago.
    fn cut_once(&mut self, cx: &mut Cx<'_>, beta: f64, pause: f64) {
        if self.cuts.allow(cx.now, pause, self.timer.mean()) {
            self.cut(cx, beta);
        }
    }
}

impl Controller for Ric {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let chunk = self.chunks.at(ask.first / self.n);
        let lane = chunk.map_or_else(|| self.chunks.next_lane(), |chunk| chunk.lane);
        let begun = chunk.is_some_and(|chunk| chunk.busy);
        let room = f64::from(self.chunks.busy()) < self.window.size().floor();
        // Where nothing is in flight something may always be asked for.
        if begun || room || ask.in_flight.total().segments == 0 {
            Permit::Now(lane)
        } else {
            Permit::Wait
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let number = self.begin(cx, sent.first);
        let is_first = self.chunks.leaves(cx.now, number);
        if is_first && f64::from(self.chunks.busy()) * 2.0 >= self.window.size() {
            self.used_at = Some(cx.now);
        }
        if let Some(chunk) = self.chunks.get_mut(number).filter(|_| sent.attempt > 0) {
            chunk.lost = chunk.lost.saturating_sub(u32::from(sent.count));
            chunk.once = false;
        }
        Ticket { timeout: self.timer.timeout(), memo: [number, 0], options: HopOptions::new() }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.timer.on_data(cx.now);
        let number = arrival.memo[0];
        self.chunks.set_busy(number, arrival.in_flight);
        let Some(chunk) = self.chunks.get_mut(number) else { return };
        chunk.received_at = cx.now;
        chunk.arrived += 1;
        chunk.marked += u32::from(arrival.mark > 0);
        if arrival.late {
            chunk.lost = chunk.lost.saturating_sub(1);
        }
        chunk.once &= arrival.rtt.is_some();
        chunk.rtt = chunk.rtt.max(arrival.rtt);
        let is_done = !chunk.busy && chunk.lost == 0;
        let all = u64::from(chunk.arrived) >= self.n || self.chunks.is_followed(number);
        if all && is_done {
            self.complete(cx, number);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        let number = loss.memo[0];
        self.chunks.set_busy(number, loss.in_flight);
        if loss.cause == Cause::Timeout {
            self.timer.timed_out(cx.now, loss.sent_at);
        }
        let Some(chunk) = self.chunks.get_mut(number) else { return };
        chunk.lost = chunk.lost.saturating_add(1);
        let [beta_0, ..] = self.beta;
        if loss.cause != Cause::Timeout {
            self.cut_once(cx, beta_0, 1.0);
        } else if chunk.timed_out_at.is_none_or(|at| loss.sent_at >= at) {
            chunk.timed_out_at = Some(cx.now);
            cx.note("timeout", chunk.index as f64);
            let cuts = &mut self.cuts_by_timeout;
            if cuts.allow(cx.now, cuts.pause, self.timer.mean()) {
                self.cut(cx, beta_0);
            }
        }
    }

    fn range(&self) -> u16 {
        self.n as u16
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        self.window.set((estimate.window() / self.n as f64).clamp(1.0, MOST));
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", self.window.size() * self.n as f64);
        out(0, "chunks", self.window.size());
    }
}
