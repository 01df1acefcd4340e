//! Path labels: Data collects the faces that it came by, and Interests can be sent the same way.
//!
//! I. Moiseenko, D. Oran, "Path Steering in Content-Centric Networking (CCNx) and Named Data
//! Networking (NDN)", RFC 9531 (experimental), 2024.
//!
//! - Discovery: an Interest with an empty label counts its hops; its Data comes with room for this
//!   number of labels, and each forwarder writes the label of the face by which the Data came;
//! - steering: an Interest with the label of earlier Data goes at each forwarder to the face that
//!   its last label stands for, if that face is a next hop of the FIB entry;
//! - a label that stands for no next hop: in fallback mode the Interest goes its usual way, in
//!   strict mode it is rejected, as is one that asks for both;
//! - a label of a face is 12 bits, drawn by chance, and changes every few minutes; the one before
//!   it is understood for as long again.
//!
//! Labels and their meaning are in `path_labels.rs`, for any multipath scheme. The usual way of
//! this strategy is by chance, in proportion to the bandwidth of the links, so that discovery finds
//! all paths. Consumers that keep labels have them in their own files.
//!
//! Deviations. Rejections are Nacks with the reason NoRoute: NDN has assigned no number for a label
//! that is invalid. An Interest of a name that is pending is not forwarded again, whatever its
//! label (the RFC's caveat on aggregation). Labels are not encrypted. The usual
//! way avoids next hops that answer nothing while another one does (`silence.rs`).

use crate::shared::strategy::attempts::{is_untried, latest, verdict_of_all};
use crate::shared::strategy::path_labels::{Labels, RENUMBER, Steer};
use crate::shared::strategy::silence;
use crate::shared::strategy::spread::by_bandwidth;
use crate::shared::strategy::suppression::{self, Suppression};
use control::{Action, Equation, NextHop, ParamSpec, Params, Scheme, Strategy, StrategyCx};
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

const PARAMS: &[ParamSpec] = &[
    RENUMBER,
    suppression::PARAMS[0],
    suppression::PARAMS[1],
    suppression::PARAMS[2],
    silence::PARAM,
];

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
            Steer::Reject => None,
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
        let untried = s.next_hops.iter().filter(|hop| is_untried(s, hop));
        let rest: Vec<NextHop> = untried.copied().collect();
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
