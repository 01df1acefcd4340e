//! The Information Centric Transport Protocol: TCP at the receiver, over pieces of a chunk.
//!
//! S. Salsano, A. Detti, M. Cancellieri, M. Pomposini, N. Blefari-Melazzi, "Transport-Layer Issues
//! in Information Centric Networks", ACM SIGCOMM ICN workshop 2012; draft-salsano-ictp. A chunk,
//! the unit of naming and signing, is cut into segments of about a packet, and these are the unit
//! of request, of reliability and of the window; the receiver runs TCP's sender over them. The
//! papers do not name the variant of TCP: this is NewReno (RFC 5681, RFC 6582), with Data as
//! acknowledgements.
//!
//! - Data of the oldest outstanding request, in the order of requests: W += 1 below ssthresh, else
//!   W += 1 / W.
//! - Data of a younger request is a duplicate acknowledgement. The third one is a fast retransmit:
//!   ssthresh = W = max(flight / 2, 2), and recovery until the answer to a request that left after
//!   all that were outstanding then. No second cut in recovery.
//! - Timeout: ssthresh = max(flight / 2, 2), W = 1, and the timeout doubles (RFC 6298). Its timer
//!   restarts with each answer to the oldest request (RFC 6298, 5.3).
//!
//! The window and the flight are counted in segments and never in Interests, so that one Interest
//! may request a run of segments (a chunk of 32) if the consumer wants that. By default it requests
//! them one by one: a request of ICTP is for one piece of a chunk, given by its edges, and the
//! authors show that control must work on pieces and not on chunks. With N above 1 it works on
//! chunks of N segments nevertheless, as F. Zhang and others ran it (ICCCN 2014, figure 5, counts
//! its window in chunks of 32): window, steps and duplicates are counted in chunks.
//!
//! Deviations. The flight is known here segment by segment, while a TCP sender estimates it from
//! duplicate acknowledgements: the window is not inflated in recovery, which corrects that estimate
//! (RFC 5681, section 3.2, step 4). The host declares the loss that duplicates show, and repeats
//! the request; a gap or Nack that it reports first is a fast retransmit.
//!
//! Limits. Answers of several paths or sources overtake one another, and are duplicates to it as to
//! NewReno: of two paths of 30 and 110 ms it uses 1 %, and 92 % if no duplicate shows a loss
//! (`dupthresh` = 1000; `weir sim run scenarios/limits/ictp.toml`). CHoPCoP's authors report the
//! same (F. Zhang and others, ICCCN 2014, section V-C2).

use control::{
    Arrival, Ask, Cause, Controller, Cx, Equation, InFlight, Lane, Loss, MAX_WINDOW, ParamSpec,
    Params, PathEstimate, Permit, Recovery, RttEstimate, Scheme, Sent, TIMERS, Ticket, Time, Timer,
    Value,
};
use packet::HopOptions;
use packet::options::SegmentBits;
use std::collections::BTreeMap;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "ictp",
    summary: "TCP's NewReno at the receiver, over segments; fast retransmit on gaps",
    paper: "S. Salsano, A. Detti, M. Cancellieri, M. Pomposini, N. Blefari-Melazzi, \
            Transport-Layer Issues in Information Centric Networks, ACM SIGCOMM ICN workshop 2012",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Ictp::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("RFC 5681, eq. 2", "oldest answered, W < ssthresh: W += 1"),
    ("RFC 5681, eq. 3", "oldest answered, W >= ssthresh: W += 1 / W"),
    ("RFC 5681, eq. 4", "dupthresh younger answered: ssthresh = W = max(flight / 2, 2), recovery"),
    ("RFC 6582, 3.2", "recovery ends when a request is answered that left after it began"),
    ("RFC 5681, 3.1", "time-out: ssthresh = max(flight / 2, 2), W = 1, RTO *= 2"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "initial_window",
        default: Value::Number(1.0),
        range: (1.0, 1000.0),
        help: "the window at the start, in units of N segments",
        source: "own: TCP's of 2012 in segments of 1 kB",
    },
    ParamSpec {
        name: "ssthresh",
        default: Value::Number(1e6),
        range: (2.0, 1e6),
        help: "the window, in units of N segments, at which slow start ends if nothing ended it \
               before",
        source: "RFC 5681, section 3.1: arbitrarily high",
    },
    ParamSpec {
        name: "dupthresh",
        default: Value::Number(3.0),
        range: (1.0, 1000.0),
        help: "answers to younger requests that show a loss",
        source: "RFC 5681, section 3.2",
    },
    ParamSpec {
        name: "N",
        default: Value::Number(1.0),
        range: (1.0, 256.0),
        help: "segments that an Interest requests, which the window counts as one",
        source: "the paper's is 1; ICCCN 2014, section IV, has 32",
    },
    TIMERS[0],
    TIMERS[1],
    ParamSpec {
        name: "restart",
        default: Value::Switch(true),
        range: (0.0, 1.0),
        help: "answers to the oldest request restart the timer; off: a request has the timeout \
               that it left with",
        source: "RFC 6298, 5.3; off is what consumers of ndn-cxx do",
    },
];

/// RFC 5681, equation 4: the smallest ssthresh, in units of N segments.
const MIN_SSTHRESH: f64 = 2.0;

/// The outstanding segments of an Interest.
struct Outstanding {
    /// How many segments.
    left: u16,
    /// Their distances from the first. Unknown for a repeated run, which leaves out the segments
    /// that had arrived: its answers count as arriving in order.
    which: Option<SegmentBits>,
}

struct Ictp {
    /// N.
    unit: f64,
    /// W, in segments like all the rest.
    cwnd: f64,
    ssthresh: f64,
    dupthresh: u32,
    dup: u32,
    /// The youngest request when recovery began.
    recover: Option<u64>,
    /// Interests of which something is outstanding, by the place of their first segment in the
    /// order of requests.
    outstanding: BTreeMap<u64, Outstanding>,
    next_order: u64,
    rtt: RttEstimate,
    /// RFC 6298 (5.3) is kept.
    restarts: bool,
    /// When the oldest request was answered last.
    restarted_at: Time,
    /// The last time-out, with W and ssthresh before it.
    timed_out: Recovery<(f64, f64)>,
}

impl Ictp {
    fn new(params: &Params) -> Ictp {
        let unit = params.number("N").floor();
        Ictp {
            unit,
            cwnd: params.number("initial_window") * unit,
            ssthresh: params.number("ssthresh") * unit,
            dupthresh: (params.number("dupthresh") * unit) as u32,
            dup: 0,
            recover: None,
            outstanding: BTreeMap::new(),
            next_order: 0,
            rtt: RttEstimate::with_timer(Timer::of(params)),
            restarts: params.switch("restart"),
            restarted_at: Time::ZERO,
            timed_out: Recovery::new(),
        }
    }

    /// RFC 5681, equation 4; `in_flight` is without the segment at hand.
    fn halve(&mut self, in_flight: &dyn InFlight) {
        let flight = f64::from(in_flight.total().segments) + 1.0;
        self.ssthresh = (flight / 2.0).max(MIN_SSTHRESH * self.unit);
    }

    fn fast_retransmit(&mut self, cx: &mut Cx<'_>, in_flight: &dyn InFlight) {
        if self.recover.is_some() {
            return;
        }
        self.halve(in_flight);
        self.cwnd = self.ssthresh;
        self.recover = Some(self.next_order.saturating_sub(1));
        cx.note("cut", self.cwnd);
    }

    /// The outstanding request of a segment is answered or lost. Returns true if it was the oldest
    /// of all; `None` if it was not outstanding.
    fn resolve(&mut self, segment: u64, memo: control::Memo) -> Option<bool> {
        let [order, first] = memo;
        let is_first = self.outstanding.first_key_value().map(|(order, _)| *order) == Some(order);
        let interest = self.outstanding.get_mut(&order)?;
        let at = u16::try_from(segment.checked_sub(first)?).ok()?;
        let in_order = match &mut interest.which {
            Some(bits) => {
                let lowest = bits.iter().next();
                bits.remove(at).then_some(lowest == Some(at))?
            }
            None => true,
        };
        interest.left = interest.left.saturating_sub(1);
        if interest.left == 0 {
            self.outstanding.remove(&order);
        }
        Some(is_first && in_order)
    }

    fn oldest_answered(&mut self, order: u64) {
        self.dup = 0;
        // All requests outstanding at the start of recovery are answered or repeated.
        if self.recover.is_some_and(|recover| order > recover) {
            self.recover = None;
        }
        if self.recover.is_none() {
            // (2) and (3)
            let step = if self.cwnd < self.ssthresh { 1.0 } else { self.unit / self.cwnd };
            self.cwnd = (self.cwnd + step).min(MAX_WINDOW);
        }
    }
}

impl Controller for Ictp {
    fn permit(&self, _now: Time, ask: &Ask<'_>) -> Permit {
        let in_flight = ask.in_flight.total().segments;
        let after = f64::from(in_flight) + f64::from(ask.count);
        if in_flight > 0 && after > self.cwnd.floor() { Permit::Wait } else { Permit::Now(0) }
    }

    fn on_sent(&mut self, _cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let first = self.next_order;
        self.next_order += u64::from(sent.count);
        let whole = sent.attempt == 0 || sent.count == 1;
        let which = whole.then(|| SegmentBits::first(sent.count));
        self.outstanding.insert(first, Outstanding { left: sent.count, which });
        Ticket {
            timeout: self.rtt.rto(),
            memo: [first, sent.first],
            options: HopOptions::default(),
        }
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        // A chunk has come with the last of its segments.
        let is_last = (arrival.segment + 1).is_multiple_of(self.unit as u64);
        if let Some(rtt) = arrival.rtt.filter(|_| is_last) {
            let segments = f64::from(arrival.in_flight.total().segments + 1);
            self.rtt.sample_of(rtt, (segments / self.unit) as u32);
        }
        if arrival.late
            && self.rtt.timer().undoes()
            && let Some((cwnd, ssthresh)) = self.timed_out.disproved(arrival.sent_at)
            && cwnd > self.cwnd
        {
            // RFC 5682, section 3, which leaves the response to RFC 4015.
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
            cx.note("undo", cwnd);
        }
        let oldest = self.resolve(arrival.segment, arrival.memo);
        let Some(oldest) = oldest.filter(|_| !arrival.late) else { return };
        if oldest {
            self.restarted_at = cx.now;
            self.oldest_answered(arrival.memo[0]);
            return;
        }
        self.dup = self.dup.saturating_add(1);
        if self.dup == self.dupthresh {
            self.fast_retransmit(cx, arrival.in_flight);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.resolve(loss.segment, loss.memo);
        if loss.cause != Cause::Timeout {
            return self.fast_retransmit(cx, loss.in_flight);
        }
        if self.timed_out.covers(loss.sent_at) {
            return self.timed_out.again(loss.sent_at, Some(loss.cause));
        }
        self.timed_out.begin(cx.now, Some(loss.cause), (self.cwnd, self.ssthresh));
        self.halve(loss.in_flight);
        self.cwnd = self.unit;
        self.dup = 0;
        self.recover = None;
        self.rtt.back_off();
        cx.note("cut", self.cwnd);
    }

    /// RFC 6298 (5.3). After a time-out all that is outstanding is lost (RFC 5681, section 3.1).
    fn overdue_at(&self, _lane: Lane, sent_at: Time) -> Time {
        if !self.restarts {
            return sent_at;
        }
        let timed_out = self.timed_out.covers(sent_at);
        let began = if timed_out { sent_at } else { sent_at.max(self.restarted_at) };
        self.rtt.overdue_at(began)
    }

    fn range(&self) -> u16 {
        self.unit as u16
    }

    fn seed(&mut self, _cx: &mut Cx<'_>, _lane: Lane, estimate: PathEstimate) -> bool {
        self.cwnd = estimate.window();
        self.ssthresh = self.cwnd.max(MIN_SSTHRESH * self.unit);
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        out(0, "window", self.cwnd);
    }
}

#[cfg(test)]
mod tests;
