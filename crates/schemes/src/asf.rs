//! ASF, adaptive forwarding by round-trip time: the next hop that answers soonest, and a probe to
//! another one from time to time.
//!
//! V. Lehman, A. Gawande, B. Zhang, L. Zhang, R. Aldecoa, D. Krioukov, L. Wang, "An Experimental
//! Investigation of Hyperbolic Routing with a Smart Forwarding Plane in NDN", IEEE/ACM IWQoS 2016;
//! NFD's strategy `/localhost/nfd/strategy/asf/v=5` (daemon/fw/asf-strategy.cpp,
//! asf-measurements.cpp, asf-probing-module.cpp).
//!
//! - Each FIB entry and next hop has a smoothed round-trip time (RFC 6298) and a count of timeouts
//!   since the last Data. One Interest at a time is timed for each, by the timeout of RFC 6298;
//!   after `max-timeouts` of them, or a Nack, the next hop counts as timed out until it brings Data
//!   again. Measurements unused for five minutes are forgotten.
//! - An Interest goes to the first in this order: measured next hops by round-trip time, those
//!   without a measurement, those that have timed out; among equals the cheapest.
//! - Every `probing-interval`, for the first time after a random time of up to five seconds,
//!   another next hop gets a new Interest as well: the first without a measurement, else a random
//!   one, where rank j among n has the probability (n + 1 - j) / (1 + … + n).
//! - After its Data a PIT entry is kept for 50 ms, so that slower answers to probes are measured.
//!
//! Deviations. Data resets the count of timeouts, which NFD does not: there it counts all timeouts
//! ever. A retransmission is suppressed by the age of the entry's latest Interest
//! (`suppression.rs`), not of each next hop's; otherwise every further downstream would cause
//! another copy. After a Nack, and when the link gives an Interest up, the next in order is asked
//! at once; NFD leaves that to the consumer. Interests with a forwarding hint share their
//! measurements.

mod measured;

use crate::shared::strategy::attempts::{is_untried, latest, used_earliest, verdict_of_all};
use crate::shared::strategy::suppression::{self, Suppression};
use control::{Action, Duration, Equation, ParamSpec, Params, Scheme, Strategy, StrategyCx, Value};
use measured::{Measured, Space};
use packet::NackReason;

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "asf",
    summary: "the next hop with the shortest round trip; others are probed from time to time",
    paper: "V. Lehman and others, An Experimental Investigation of Hyperbolic Routing with a Smart \
            Forwarding Plane in NDN, IEEE/ACM IWQoS 2016",
    equations: EQUATIONS,
    params: PARAMS,
    strategy: Some(|params| Box::new(Asf::new(params))),
    version: 5,
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("FaceStatsCompare", "order: measured by SRTT, unmeasured, timed out; then by cost"),
    ("onTimeoutOrNack", "timed out: max-timeouts Interests without Data, or a Nack"),
    ("getProbingProbability", "probe: rank j of n with (n + 1 - j) / (1 + … + n)"),
    ("isProbingNeeded", "first probe after 0 to 5 s, then one every probing-interval"),
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "probing-interval",
        default: Value::Time(Duration::from_secs(60)),
        range: (1.0, 86_400.0),
        help: "how often another next hop is asked as well",
        source: "NFD, `ProbingModule::DEFAULT_PROBING_INTERVAL`",
    },
    ParamSpec {
        name: "max-timeouts",
        default: Value::Number(3.0),
        range: (1.0, 1e6),
        help: "timeouts without Data in between after which a next hop is the last choice",
        source: "NFD, `AsfStrategy::m_nMaxTimeouts`",
    },
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
];

/// NFD: the first probe comes within this time.
const FIRST_PROBE: Duration = Duration::from_secs(5);
/// NFD: how long an entry is kept for slower answers.
const LINGER: Duration = Duration::from_millis(50);

struct Asf {
    suppression: Suppression,
    interval: Duration,
    max_timeouts: u32,
    measured: Measured,
}

/// The second word of a PIT entry's note: the length of the prefix of its FIB entry, and the number
/// under which its Interest may be timed. Zero in a new one.
#[derive(Clone, Copy)]
struct Tag {
    prefix: usize,
    number: u64,
}

impl Tag {
    fn of(note: &[u64; 2]) -> Option<Tag> {
        let number = note[1] >> 16;
        (number > 0).then_some(Tag { prefix: (note[1] & 0xffff) as usize, number })
    }

    fn keep(self, note: &mut [u64; 2]) {
        note[1] = self.number << 16 | self.prefix as u64;
    }
}

impl Asf {
    fn new(params: &Params) -> Asf {
        Asf {
            suppression: Suppression::new(params),
            interval: params.time("probing-interval"),
            max_timeouts: params.number("max-timeouts").ceil() as u32,
            measured: Measured::default(),
        }
    }

    /// The measurements of a pending Interest; `None` if they were forgotten meanwhile.
    fn of_pending(&mut self, s: &StrategyCx<'_, '_>) -> Option<(&mut Space, Tag)> {
        let tag = Tag::of(s.note)?;
        let space = self.measured.find(s.name.prefix(tag.prefix).as_bytes())?;
        space.lapse(s.cx.now, self.max_timeouts);
        Some((space, tag))
    }

    /// A new Interest, or one that all who were asked have rejected.
    fn begin(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        let prefix = s.prefix.min(0xffff);
        let space = self.measured.enter(now, s.name.prefix(prefix).as_bytes());
        space.lapse(now, self.max_timeouts);
        let Some(best) = space.best(s.next_hops.iter()) else {
            return s.act(Action::Nack(NackReason::NoRoute));
        };
        let tag = Tag { prefix, number: space.next_number() };
        tag.keep(s.note);
        space.asked(now, best, tag.number);
        s.act(Action::Forward(best));
        if let Some(probed) = probe(space, s, best, self.interval) {
            space.asked(now, probed, tag.number);
            s.act(Action::Probe(probed));
        }
    }

    /// The next hop that the call is about will not answer: it has timed out, and the next in order
    /// is asked. Says whether there is one.
    fn ask_next(&mut self, s: &mut StrategyCx<'_, '_>) -> bool {
        let (now, from) = (s.cx.now, s.ingress);
        let mut next = None;
        if let Some((space, tag)) = self.of_pending(s) {
            space.failed(from, tag.number);
            next = space.best(s.next_hops.iter().filter(|hop| is_untried(s, hop)));
            if let Some(face) = next {
                space.asked(now, face, tag.number);
            }
        }
        if let Some(face) = next {
            s.act(Action::Forward(face));
        }
        next.is_some()
    }
}

/// The next hop that is to be probed with this Interest, if one is.
fn probe(
    space: &mut Space,
    s: &mut StrategyCx<'_, '_>,
    best: u64,
    interval: Duration,
) -> Option<u64> {
    let now = s.cx.now;
    if !space.wants_probe(now, || FIRST_PROBE.mul_f64(s.cx.rng.unit())) {
        return None;
    }
    let others = s.next_hops.iter().filter(|hop| hop.face != best);
    let chosen = space.to_probe(others, s.cx.rng.unit())?;
    space.set_next_probe(now + interval);
    Some(chosen)
}

impl Strategy for Asf {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            return self.begin(s);
        };
        if self.suppression.holds(s, &last) {
            return;
        }
        let mut next = None;
        if let Some((space, tag)) = self.of_pending(s) {
            let unused = s.next_hops.iter().filter(|hop| s.upstream(hop.face).is_none());
            next = space.best(unused);
            if let Some(face) = next {
                space.asked(s.cx.now, face, tag.number);
            }
        }
        if let Some(face) = next.or_else(|| used_earliest(s).map(|hop| hop.face)) {
            self.suppression.lengthen(s);
            s.act(Action::Forward(face));
        }
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        let (now, from) = (s.cx.now, s.ingress);
        let Some((space, tag)) = self.of_pending(s) else { return };
        if let Some(upstream) = s.upstream(from) {
            space.answered(now, from, now.since(upstream.released_at), tag.number);
        }
        if s.upstreams.iter().any(|u| u.face != from && u.nacked.is_none()) {
            s.act(Action::Linger(LINGER));
        }
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        if !self.ask_next(s)
            && let Some(reason) = verdict_of_all(s, reason)
        {
            s.act(Action::Nack(reason));
        }
    }

    fn on_dropped_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.ask_next(s);
    }
}

#[cfg(test)]
mod tests;
