//! A constant rate of Interests, deaf to every signal.
//!
//! The uncooperative consumer of the shaping papers (Wang, Rozhnova, Narayanan, Oran, Rhee, ACM ICN
//! workshop 2013, section 5; Zhang and others, ICCCN 2014, section V): it asks for `interests`
//! segments a second whatever becomes of them. Marks, Nacks and losses change nothing; what is lost
//! is asked for again at the same rate, in its turn.
//!
//! - Interest k may leave at t_0 + k / R; a pause earns no more than `burst` Interests at once.
//! - An Interest counts as lost after the time-out of RFC 6298, which says when to ask again and
//!   governs no rate.
//!
//! Own: at most `most` segments are in flight, since no host keeps a record of endlessly many.

use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Equation, Loss, ParamSpec, Params, Permit,
    RttEstimate, Scheme, Sent, Ticket, Time, Value,
};
use packet::HopOptions;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "rate",
    summary: "a constant rate of Interests; no congestion control",
    paper: "No publication: the uncooperative consumer of Y. Wang, N. Rozhnova, A. Narayanan, \
            D. Oran, I. Rhee, An Improved Hop-by-hop Interest Shaper for Congestion Control in \
            Named Data Networking, ACM ICN workshop 2013",
    equations: EQUATIONS,
    params: PARAMS,
    controller: Some(|params| Box::new(Constant::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] =
    &[("rule", "t_next = max(t_next, t - burst / R) + n / R for an Interest for n segments")];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "interests",
        default: Value::Number(1000.0),
        range: (0.01, 1e7),
        help: "R: segments asked for in a second",
        source: "own: 64 Mbit/s of segments of 8 kB",
    },
    ParamSpec {
        name: "burst",
        default: Value::Number(1.0),
        range: (0.0, 1000.0),
        help: "Interests that may leave at once after a pause",
        source: "own: a driver may wake up late and must not lose rate",
    },
    ParamSpec {
        name: "most",
        default: Value::Number(100_000.0),
        range: (1.0, 1e6),
        help: "segments in flight at most",
        source: "own: memory",
    },
];

struct Constant {
    rate: f64,
    burst: f64,
    most: f64,
    /// When the next Interest is due.
    due: Time,
    /// Bits of Data that a segment is expected to bring, for the record.
    bits: f64,
    rtt: RttEstimate,
    /// Losses of Interests that left before this have doubled the time-out already.
    backed_off_at: Option<Time>,
}

impl Constant {
    fn new(params: &Params) -> Constant {
        Constant {
            rate: params.number("interests"),
            burst: params.number("burst"),
            most: params.number("most"),
            due: Time::ZERO,
            bits: 0.0,
            rtt: RttEstimate::new(),
            backed_off_at: None,
        }
    }

    /// The time in which `segments` are due.
    fn span(&self, segments: f64) -> Duration {
        Duration::from_secs_f64(segments / self.rate)
    }
}

impl Controller for Constant {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let in_flight = ask.in_flight.total().segments;
        if in_flight > 0 && f64::from(in_flight) + f64::from(ask.count) > self.most {
            Permit::Wait
        } else if self.due > now {
            Permit::At(self.due)
        } else {
            Permit::Now(0)
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let count = f64::from(sent.count.max(1));
        self.bits = sent.expected.0 as f64 * 8.0 / count;
        let earned = Time(cx.now.0.saturating_sub(self.span(self.burst).0));
        self.due = self.due.max(earned) + self.span(count);
        Ticket { timeout: self.rtt.rto(), memo: [0; 2], options: HopOptions::default() }
    }

    fn on_data(&mut self, _cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        if let Some(rtt) = arrival.rtt {
            self.rtt.sample_of(rtt, arrival.in_flight.total().segments + 1);
        }
    }

    fn overdue_at(&self, _lane: control::Lane, sent_at: Time) -> Time {
        self.rtt.overdue_at(sent_at)
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        let first = self.backed_off_at.is_none_or(|at| at <= loss.sent_at);
        if loss.cause == Cause::Timeout && first {
            self.rtt.back_off();
            self.backed_off_at = Some(cx.now);
        }
    }

    fn gauges(&self, out: &mut dyn FnMut(control::Lane, &'static str, f64)) {
        out(0, "rate", self.rate * self.bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Flying, Play};
    use control::Size;

    fn of(set: &[(&str, &str)]) -> Play {
        let mut params = Params::defaults(PARAMS);
        for (name, text) in set {
            params.set("rate", name, text).unwrap();
        }
        Play::new(Box::new(Constant::new(&params)))
    }

    #[test]
    fn interests_leave_evenly_whatever_becomes_of_them() {
        let mut play = of(&[("interests", "100"), ("burst", "0")]);
        let mut left = Vec::new();
        for ms in 1000..1100 {
            play.at_ms(ms);
            while let Some(sent) = play.ask(1) {
                left.push(ms);
                match left.len() % 3 {
                    0 => play.lose(&sent, Cause::Nack(50)),
                    1 => play.lose(&sent, Cause::Gap),
                    _ => play.data(&sent, 1),
                }
            }
        }
        // One every 10 ms from the first on.
        assert_eq!(left, (0..10).map(|k| 1000 + 10 * k).collect::<Vec<_>>());
        // 100 segments of 8000 bytes are 6.4 Mbit/s.
        assert_eq!(play.gauge("rate"), 6.4e6);
    }

    #[test]
    fn a_pause_earns_a_burst_and_no_more() {
        let mut play = of(&[("interests", "100"), ("burst", "2")]);
        for at in [1000, 5000] {
            play.at_ms(at);
            let burst = std::iter::from_fn(|| play.ask(1)).count();
            // Due 20 ms ago: at -20, at -10, and at 0.
            assert_eq!(burst, 3);
            assert!(matches!(play.permit(1), Permit::At(t) if t == play.now + play.ms(10)));
        }
    }

    #[test]
    fn an_interest_for_many_segments_takes_their_time() {
        let mut play = of(&[("interests", "100"), ("burst", "0")]);
        play.at_ms(1000);
        play.ask(32).unwrap();
        assert_eq!(play.permit(32), Permit::At(play.now + play.ms(320)));
    }

    #[test]
    fn the_bound_on_what_is_in_flight_holds() {
        let control = Constant::new(&Params::defaults(PARAMS));
        let ask = |segments, count| {
            let in_flight = &Flying(segments);
            let ask = Ask { first: 0, count, attempt: 0, segment: Size(8000), in_flight };
            control.permit(Time(1), &ask)
        };
        assert_eq!(ask(99_999, 1), Permit::Now(0));
        assert_eq!(ask(99_999, 2), Permit::Wait);
        assert_eq!(ask(0, u16::MAX), Permit::Now(0), "an empty pipe may always send one");
    }
}
