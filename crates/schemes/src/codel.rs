//! Controlled delay: marks (or drops) what leaves a queue in which everything waits too long.
//!
//! K. Nichols, V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012; in the form of RFC
//! 8289 (K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, 2018), section 5: `dequeue`, `dodequeue`
//! and `control_law` of its pseudocode. NDN takes it for marking: PCON (Schneider and others, ACM
//! ICN 2016, section 3.1) and NDN-DPDK.
//!
//! - Ok to signal: sojourn times have been at least `target` for an `interval`, and more than one
//!   packet of the largest size is still queued.
//! - Signals come `interval` / sqrt(count) apart; after a pause of less than 16 intervals the count
//!   starts from where it was, less what had been counted before.
//!
//! Data and Interests wait in queues of their own, so each has a state of its own; a mark on an
//! Interest comes back on its Data (PCON, section 3.2).
//!
//! Deviations: a signal is a congestion mark unless `drop` is set (the RFC leaves the choice to the
//! queue). The pseudocode drops in a loop until one packet may leave; here the host asks again for
//! the packet behind a dropped one, at the same instant, with the same result.

use control::{
    Cx, DataMeta, Duration, Equation, InterestMeta, LinkView, Marker, ParamSpec, Params, QueueView,
    Scheme, Size, Time, Value, Verdict,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "codel",
    summary: "marks Data while the queueing time stays above 5 ms",
    paper: "K. Nichols, V. Jacobson, Controlling Queue Delay, ACM Queue 10(5), 2012; \
            RFC 8289, 2018",
    equations: EQUATIONS,
    params: PARAMS,
    marker: Some(|params| Box::new(Codel::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    (
        "RFC 8289, section 5.6",
        "signal: sojourn >= target for an interval, and more than \
     maxpacket bytes queued",
    ),
    ("RFC 8289, control_law", "drop_next = t + interval / sqrt(count)"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "target",
        default: Value::Time(Duration::from_millis(5)),
        range: (1e-6, 10.0),
        help: "sojourn time that is acceptable for good",
        source: "RFC 8289, section 5.3",
    },
    ParamSpec {
        name: "interval",
        default: Value::Time(Duration::from_millis(100)),
        range: (1e-5, 100.0),
        help: "how long it may be exceeded; the longest usual round-trip time",
        source: "RFC 8289, section 5.3",
    },
    ParamSpec {
        name: "drop",
        default: Value::Switch(false),
        range: (0.0, 1.0),
        help: "drop instead of marking",
        source: "RFC 8289, section 5.5 drops; marks are for consumers that read them",
    },
];

struct Codel {
    law: Law,
    signal: Verdict,
    data: State,
    interests: State,
}

/// The rule that decides when to signal, for any queue.
#[derive(Clone, Copy)]
pub(crate) struct Law {
    /// See the parameters.
    pub(crate) target: Duration,
    /// See the parameters.
    pub(crate) interval: Duration,
}

/// The variables of the RFC's pseudocode, one set for each queue.
#[derive(Clone, Copy, Default)]
pub(crate) struct State {
    first_above_time: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    /// The largest packet that was seen.
    maxpacket: Size,
}

impl Codel {
    fn new(params: &Params) -> Codel {
        Codel {
            law: Law { target: params.time("target"), interval: params.time("interval") },
            signal: if params.switch("drop") { Verdict::Drop } else { Verdict::Mark(1) },
            data: State::default(),
            interests: State::default(),
        }
    }

    fn verdict(&self, signal: bool) -> Verdict {
        if signal { self.signal } else { Verdict::Pass }
    }
}

impl Law {
    /// `control_law`: the next signal after one at `t`.
    fn next(self, t: Time, count: u32) -> Time {
        t + self.interval.mul_f64(1.0 / f64::from(count.max(1)).sqrt())
    }
}

impl State {
    /// `dodequeue`: is it ok to signal?
    fn above(&mut self, law: Law, now: Time, queue: &QueueView, sojourn: Duration) -> bool {
        if sojourn < law.target || queue.bytes <= self.maxpacket {
            self.first_above_time = None;
            return false;
        }
        let since = *self.first_above_time.get_or_insert(now + law.interval);
        now >= since
    }

    /// `dequeue`, for a packet of `size` that leaves after `sojourn` and leaves `queue` behind.
    pub(crate) fn dequeue(
        &mut self,
        law: Law,
        now: Time,
        queue: &QueueView,
        size: Size,
        sojourn: Duration,
    ) -> bool {
        self.maxpacket = self.maxpacket.max(size);
        let ok = self.above(law, now, queue, sojourn);
        if self.dropping {
            self.dropping = ok;
            let signal = ok && now >= self.drop_next;
            if signal {
                self.count = self.count.saturating_add(1);
                self.drop_next = law.next(self.drop_next, self.count);
            }
            return signal;
        }
        if !ok {
            return false;
        }
        self.dropping = true;
        let delta = self.count.saturating_sub(self.lastcount);
        let recent = now.since(self.drop_next).0 < law.interval.0.saturating_mul(16);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = law.next(now, self.count);
        self.lastcount = self.count;
        true
    }
}

impl Marker for Codel {
    fn on_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        data: &DataMeta,
        sojourn: Duration,
    ) -> Verdict {
        let signal = self.data.dequeue(self.law, cx.now, &view.data_out, data.size, sojourn);
        self.verdict(signal)
    }

    fn on_interest_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        interest: &InterestMeta,
        sojourn: Duration,
    ) -> Verdict {
        let queue = &view.interests_out;
        let signal = self.interests.dequeue(self.law, cx.now, queue, interest.size, sojourn);
        self.verdict(signal)
    }
}

#[cfg(test)]
mod tests;
