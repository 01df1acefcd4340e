//! A startup from a packet pair: the first two Data that were requested back to back show the
//! bottleneck, and the controller begins where slow start would end.
//!
//! "Packet-Pair based startup" poster, ACM ICN 2019, pp. 155-156; the estimate after N. Hu, P.
//! Steenkiste, "Estimating Available Bandwidth Using Packet Pair Probing", 2002.
//!
//! - The window is 1; the first Data makes it 2, and two Interests leave back to back at t_0.
//! - Their Data, of S bytes each, comes at t_1 and t_2. (1) RTT / cwnd = 1 / b; (2) b = S / (t_2 -
//!   t_1); (3) cwnd = b (t_1 - t_0), in segments (t_1 - t_0) / (t_2 - t_1).
//! - The inner controller starts from that, and decides everything else.
//!
//! It wraps any controller that accepts a start value. The poster leaves some rules open: a pair
//! counts only if its Data is unmarked, equal in size, in order, not retransmitted, and apart;
//! otherwise another pair is tried (a transfer begins with metadata and manifests, whose sizes
//! differ), up to `pairs`. cwnd is kept within 2 and `cwnd_max`. Data that took less than
//! `rtt_floor` came from a content store beside the consumer and does not measure the path. Only
//! the pair is in flight until it is answered; the controller is informed of all its Interests and
//! Data all the same.

use control::{
    Arrival, Ask, Controller, Cx, Duration, Equation, Lane, Loss, ParamSpec, Params, PathEstimate,
    Permit, Rate, Scheme, Sent, Size, Ticket, Time, Value,
};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "packet-pair",
    summary: "starts with a window from the spacing of two Data packets",
    paper: "Packet-Pair based startup for NDN congestion control, poster, ACM ICN 2019, \
            pp. 155-156",
    equations: EQUATIONS,
    params: PARAMS,
    startup: Some(|params, inner| Box::new(PacketPair::new(params, inner))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("eq. 1", "RTT / cwnd = 1 / b"),
    ("eq. 2", "b = S / (t_2 - t_1)"),
    ("eq. 3", "cwnd = b (t_1 - t_0) / S = (t_1 - t_0) / (t_2 - t_1) segments"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "pairs",
        default: Value::Number(3.0),
        range: (1.0, 100.0),
        help: "pairs that are tried before the controller starts without a measurement",
        source: "own: the poster has one; metadata and a manifest come before the first of equals",
    },
    ParamSpec {
        name: "cwnd_max",
        default: Value::Number(1000.0),
        range: (2.0, 1e6),
        help: "segments that the measured window has at most",
        source: "own: two Data may leave a store as one burst",
    },
    ParamSpec {
        name: "rtt_floor",
        default: Value::Time(Duration::from_millis(1)),
        range: (0.0, 10.0),
        help: "Data that arrive sooner come from a neighbour and show no bottleneck",
        source: "own",
    },
];

/// An Interest of the pair.
#[derive(Clone, Copy)]
struct Member {
    segment: u64,
    sent_at: Time,
    /// When its Data came, and their size.
    came: Option<(Time, Size)>,
}

enum Stage {
    /// One Interest, to be answered.
    First,
    /// The pair: what of it has left.
    Pair(Vec<Member>),
    /// The controller inside is on its own.
    Over,
}

struct PacketPair {
    inner: Box<dyn Controller>,
    stage: Stage,
    pairs_left: u32,
    cwnd_max: f64,
    rtt_floor: Duration,
}

impl PacketPair {
    fn new(params: &Params, inner: Box<dyn Controller>) -> PacketPair {
        PacketPair {
            inner,
            stage: Stage::First,
            pairs_left: params.number("pairs") as u32,
            cwnd_max: params.number("cwnd_max"),
            rtt_floor: params.time("rtt_floor"),
        }
    }

    /// The pair measures nothing: another one, or none.
    fn fail(&mut self) {
        self.pairs_left = self.pairs_left.saturating_sub(1);
        let again = self.pairs_left > 0;
        self.stage = if again { Stage::Pair(Vec::new()) } else { Stage::Over };
    }

    /// Data of the pair: the first is noted, the second measures.
    fn note(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let Stage::Pair(members) = &mut self.stage else { return };
        let Some(member) = members.iter_mut().find(|m| {
            m.came.is_none() && m.segment == arrival.segment && m.sent_at == arrival.sent_at
        }) else {
            return;
        };
        let clear = arrival.mark == 0 && !arrival.late && arrival.rtt.is_some();
        member.came = Some((cx.now, arrival.size));
        // If the second Data packet arrives before the first, the pair measures nothing.
        match members[..] {
            [Member { sent_at, came: Some((t1, s)), .. }, Member { came: Some((t2, s2)), .. }]
                if clear && s == s2 && t2 > t1 =>
            {
                self.measured(cx, arrival.lane, sent_at, t1, t2, s);
            }
            [Member { came: Some(_), .. }, Member { came: None, .. }]
            | [Member { came: Some(_), .. }]
                if clear => {}
            _ => self.fail(),
        }
    }

    fn measured(&mut self, cx: &mut Cx<'_>, lane: Lane, t0: Time, t1: Time, t2: Time, s: Size) {
        if t1.since(t0) < self.rtt_floor {
            return self.fail();
        }
        let apart = t2.since(t1);
        // (2)
        let rate = Rate::of(s, apart);
        // (3), in segments
        let cwnd = t1.since(t0).as_secs_f64() / apart.as_secs_f64();
        let cwnd = cwnd.clamp(2.0, self.cwnd_max);
        // (1): the round-trip time of which this window is the path's.
        let estimate = PathEstimate { rate, rtt_min: apart.mul_f64(cwnd), segment: s };
        self.stage = Stage::Over;
        if self.inner.seed(cx, lane, estimate) {
            cx.note("packet_pair", cwnd);
        }
    }

    /// The lane that the controller inside would take; what it says of when does not count yet.
    fn lane(&self, now: Time, ask: &Ask<'_>) -> Permit {
        match self.inner.permit(now, ask) {
            permit @ (Permit::Now(_) | Permit::NotThis) => permit,
            Permit::At(_) | Permit::Wait => Permit::Now(0),
        }
    }
}

impl Controller for PacketPair {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let idle = ask.in_flight.total().segments == 0;
        match &self.stage {
            Stage::Over => self.inner.permit(now, ask),
            Stage::Pair(members) if members.len() < 2 => self.lane(now, ask),
            Stage::First | Stage::Pair(_) if idle => self.lane(now, ask),
            Stage::First | Stage::Pair(_) => Permit::Wait,
        }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        if let Stage::Pair(members) = &mut self.stage {
            let member = Member { segment: sent.first, sent_at: cx.now, came: None };
            // A third one leaves only when nothing is in flight: the pair is gone.
            if members.len() >= 2 {
                members.clear();
            }
            members.push(member);
            // An Interest for many segments brings a train, not half of a pair.
            if sent.count > 1 || sent.attempt > 0 {
                self.fail();
            }
        }
        self.inner.on_sent(cx, sent)
    }

    /// A pair is of two Interests for a segment each.
    fn range(&self) -> u16 {
        if matches!(self.stage, Stage::Over) { self.inner.range() } else { 1 }
    }

    fn may_be_probed(&self) -> bool {
        self.inner.may_be_probed()
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.inner.came_in(arrival)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.inner.on_data(cx, arrival);
        match &self.stage {
            Stage::First => self.stage = Stage::Pair(Vec::new()),
            Stage::Pair(_) => self.note(cx, arrival),
            Stage::Over => {}
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.inner.on_loss(cx, loss);
        if let Stage::Pair(members) = &self.stage
            && members.iter().any(|m| (m.segment, m.sent_at) == (loss.segment, loss.sent_at))
        {
            self.fail();
        }
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.inner.overdue_at(lane, sent_at)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.inner.next_deadline()
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.inner.on_deadline(cx);
    }

    fn seed(&mut self, cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        self.stage = Stage::Over;
        self.inner.seed(cx, lane, estimate)
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.inner.gauges(out);
    }
}

#[cfg(test)]
mod tests;
