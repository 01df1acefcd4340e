//! Path labels: Data collects the faces that it came by, and Interests can be sent the same way.
//!
//! I. Moiseenko, D. Oran, "Path Steering in Content-Centric Networking (CCNx) and Named Data
//! Networking (NDN)", RFC 9531 (experimental), 2024.
//!
//! - Discovery: an Interest with an empty label counts its hops; its Data comes with room for so
//!   many, and each forwarder writes the label of the face by which the Data came;
//! - steering: an Interest with the label of earlier Data goes at each forwarder to the face that
//!   its last label stands for, if that face is a next hop of the FIB entry;
//! - a label that stands for no next hop: in fallback mode the Interest goes its usual way, in
//!   strict mode it is refused, as is one that asks for both;
//! - a label of a face is 12 bits, drawn by chance, and changes every few minutes; the one before
//!   it is understood for as long again.
//!
//! For any multipath scheme: the strategy is used alone, or its two calls by another one. The usual
//! way is by chance, in proportion to the bandwidth of the links, so that discovery finds all
//! paths; a scheme of its own may have another. Consumers that keep labels have them in their own
//! files.
//!
//! Deviations. Refusals are Nacks with the reason NoRoute: NDN has assigned no number for a label
//! that is invalid. An Interest of a name that is pending is not forwarded again, whatever its
//! label (the RFC's caveat on aggregation). Labels are not encrypted. The usual
//! way avoids next hops that answer nothing while another one does (`silence.rs`).

use crate::best_route::verdict_of_all;
use crate::silence;
use crate::spread::{by_bandwidth, hash};
use crate::suppression::{self, Suppression, latest};
use control::{
    Action, Duration, Equation, NextHop, ParamSpec, Params, Scheme, Strategy, StrategyCx, Time,
    Value,
};
use packet::NackReason;
use packet::options::{LabelMode, PathLabel};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "path-label",
    summary: "Interests with a path label follow it; others are split by bandwidth",
    paper: "I. Moiseenko, D. Oran, Path Steering in Content-Centric Networking (CCNx) and Named \
            Data Networking (NDN), RFC 9531, 2024",
    equations: EQUATIONS,
    params: PARAMS,
    strategy: Some(|params| silence::watch(params, LabelSteering::new(params))),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[
    ("section 2.1", "discovery: Interest: hops += 1; Data: label[hops] = label(face), hops += 1"),
    ("section 2.2", "steering: hops -= 1; next hop = face(label[hops]) if the FIB entry has it"),
    ("section 2.3", "invalid label: fallback: the usual next hop; strict: Nack"),
];

/// How long a label is given out.
pub(crate) const RENUMBER: ParamSpec = ParamSpec {
    name: "renumber",
    default: Value::Time(Duration::from_secs(300)),
    range: (1.0, 86_400.0),
    help: "how long a face keeps its label; it is understood for as long again",
    source: "RFC 9531, security considerations: labels change every few minutes",
};

const PARAMS: &[ParamSpec] = &[
    RENUMBER,
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
    silence::PARAM,
];

/// Labels there are: 12 bits.
const LABELS: u64 = 1 << 12;

/// Faces that have labels at most; beyond half of the labels a free one is hard to find.
const MOST_FACES: usize = LABELS as usize / 2;

/// The meaning of a label for an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steer {
    /// It goes to this face.
    Follow(u64),
    /// It goes its usual way.
    Usual,
    /// It goes nowhere.
    Refuse,
}

/// The labels of a node's faces.
#[derive(Debug)]
pub(crate) struct Labels {
    renumber: Duration,
    salt: u64,
    since: Option<Time>,
    /// Faces and labels: as they are given out, and as they were before.
    current: Vec<(u64, u16)>,
    former: Vec<(u64, u16)>,
}

impl Labels {
    pub(crate) fn new(params: &Params) -> Labels {
        Labels {
            renumber: params.time("renumber"),
            salt: 0,
            since: None,
            current: Vec::new(),
            former: Vec::new(),
        }
    }

    /// Draws the labels anew when their time is over. A clock that goes back changes nothing.
    fn refresh(&mut self, s: &mut StrategyCx<'_, '_>) {
        let now = s.cx.now;
        let age = self.since.map(|since| now.since(since));
        if age.is_some_and(|age| age < self.renumber) {
            return;
        }
        let is_recent = age.is_some_and(|age| age.0 < self.renumber.0.saturating_mul(2));
        self.former = std::mem::take(&mut self.current);
        if !is_recent {
            self.former.clear();
        }
        self.salt = s.cx.rng.next_u64();
        self.since = Some(now);
    }

    /// The label of a face; `None` if too many have one.
    fn of(&mut self, face: u64) -> Option<u16> {
        if let Some((_, label)) = self.current.iter().find(|(f, _)| *f == face) {
            return Some(*label);
        }
        if self.current.len() >= MOST_FACES {
            return None;
        }
        let first = hash(self.salt, face);
        let free = |label: &u16| self.current.iter().all(|(_, taken)| taken != label);
        let label = (0..LABELS).map(|i| (first.wrapping_add(i) % LABELS) as u16).find(free)?;
        self.current.push((face, label));
        Some(label)
    }

    /// The next hop with this label.
    fn face(&self, label: u16, hops: &[NextHop]) -> Option<u64> {
        let labels = self.current.iter().chain(&self.former);
        let mut faces = labels.filter(|(_, l)| *l == label).map(|(face, _)| *face);
        faces.find(|face| hops.iter().any(|hop| hop.face == *face))
    }

    /// Reads the label of an Interest that is to go to one of `hops`, and writes what the next
    /// forwarder is to read.
    pub(crate) fn steer(&mut self, s: &mut StrategyCx<'_, '_>, hops: &[NextHop]) -> Steer {
        let Some(mut label) = s.options.get::<PathLabel>() else { return Steer::Usual };
        self.refresh(s);
        let mode = label.mode();
        let next = match mode {
            None => {
                s.cx.note("label malformed", 1.0);
                return Steer::Refuse;
            }
            Some(LabelMode::Discovery) => {
                label.hop_count = label.hop_count.saturating_add(1);
                None
            }
            Some(LabelMode::Fallback | LabelMode::Strict) => {
                let before = label.hop_count;
                let next = label.pop().and_then(|label| self.face(label, hops));
                // Whatever it says, it leads on for fewer hops than before.
                label.hop_count = label.hop_count.min(before.saturating_sub(1));
                if next.is_none() {
                    s.cx.note("label missed", 1.0);
                }
                next
            }
        };
        s.options.set(&label);
        match next {
            Some(face) => Steer::Follow(face),
            None if mode == Some(LabelMode::Strict) => Steer::Refuse,
            None => Steer::Usual,
        }
    }

    /// Writes the label of the face by which Data came, if its Interest asked for it.
    pub(crate) fn label(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(mut label) = s.options.get::<PathLabel>() else { return };
        self.refresh(s);
        if let Some(own) = self.of(s.ingress)
            && label.push(own)
        {
            s.options.set(&label);
        } else {
            s.cx.note("label full", 1.0);
        }
    }
}

struct LabelSteering {
    labels: Labels,
    suppression: Suppression,
}

impl LabelSteering {
    fn new(params: &Params) -> LabelSteering {
        LabelSteering { labels: Labels::new(params), suppression: Suppression::new(params) }
    }

    fn forward(&mut self, s: &mut StrategyCx<'_, '_>) {
        let point = s.cx.rng.unit();
        let usual = by_bandwidth(s.next_hops, s.links, point);
        let face = match self.labels.steer(s, s.next_hops) {
            Steer::Follow(face) => Some(face),
            Steer::Usual => usual,
            Steer::Refuse => None,
        };
        s.act(face.map_or(Action::Nack(NackReason::NoRoute), Action::Forward));
    }
}

impl Strategy for LabelSteering {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let Some(last) = latest(s) else {
            self.suppression.begin(s);
            return self.forward(s);
        };
        if self.suppression.holds(s, &last) || s.next_hops.is_empty() {
            return;
        }
        self.suppression.lengthen(s);
        self.forward(s);
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.suppression.answered(s);
        self.labels.label(s);
    }

    /// Another next hop, by bandwidth; a strict label leaves none.
    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        let mode = s.options.get::<PathLabel>().map(|label| label.mode());
        let strict = matches!(mode, Some(None | Some(LabelMode::Strict)));
        let untried = |hop: &&NextHop| {
            s.upstream(hop.face).is_none() && s.downstreams.iter().all(|d| d.face != hop.face)
        };
        let rest: Vec<NextHop> = s.next_hops.iter().filter(untried).copied().collect();
        if !strict && !rest.is_empty() {
            let point = s.cx.rng.unit();
            let face = by_bandwidth(&rest, s.links, point);
            s.out.extend(face.map(Action::Forward));
        } else if let Some(reason) = verdict_of_all(s, reason) {
            s.act(Action::Nack(reason));
        }
    }
}

#[cfg(test)]
mod tests;
