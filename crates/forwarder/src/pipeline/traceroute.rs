//! Replies to the probes of a traceroute.

use packet::MAX_PACKET;
use packet::options::answer;
use packet::traceroute::{Next, Reply, target};

use super::Pipeline;
use super::checks::is_admitted;
use super::context::InterestCx;
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::events::Step;
use crate::link::queue::QueuedData;
use crate::state::faces::face::Face;
use crate::tables::FaceId;

/// Answers a probe whose HopLimit is used up here. Returns false if the Interest goes on: it is no
/// probe, it may go further, or this node does not answer it.
///
/// A probe has at most one reply, which goes back where it came from and is no larger than the
/// probe, the node's name and about 100 bytes. The rate of replies is limited per face.
pub(super) fn answer_probe(p: &mut Pipeline<'_>, a: &InterestCx<'_>) -> bool {
    let Some(traceroute) = p.settings.traceroute.as_ref() else { return false };
    if a.interest.hop_limit() != Some(1) {
        return false;
    }
    let Some(target) = target(a.name.name()) else { return false };
    // Without transit, peers learn nothing about names that no application here serves.
    if !is_admitted(p, a) {
        return false;
    }
    // On a link with several others, only a forwarder with a route is on the way. The first reply
    // counts, so one of a neighbour without a route would hide the others.
    let next = next_hop(p, a);
    let ingress = p.faces.get(a.face);
    if next == Next::None && ingress.is_some_and(|f| f.link_type() != LinkType::PointToPoint) {
        return false;
    }
    let now = p.now;
    if !p.faces.get_mut(a.face).is_some_and(|face| face.takes_probe(now, traceroute.rate)) {
        p.count_drop(a.face, DropReason::HopLimit);
        return true;
    }
    let reply = Reply {
        node: p.faces.node_id(),
        name: traceroute.name.clone(),
        next,
        is_stored: p.tables.cache().store().has_below(&p.tables.hasher().hash(target)),
    };
    let packet = reply.encode(a.interest.name());
    if packet.len() > MAX_PACKET {
        p.count_drop(a.face, DropReason::TooBig);
        return true;
    }
    p.step(a.face, Step::Answered);
    p.stats().satisfied += 1;
    let item = QueuedData {
        at: now,
        packet,
        token: a.token.clone(),
        mark: 0,
        options: answer(&a.options, Some(p.faces.node_id())),
        from: 0,
        subject: a.subject,
    };
    p.send_data(a.face, item);
    true
}

/// The next hop of the route to the target. An application that is one of several next hops is
/// reported, because it may have the content.
fn next_hop(p: &Pipeline<'_>, a: &InterestCx<'_>) -> Next {
    let (_, hops) = p.tables.fib().lookup(a.name).unwrap_or_default();
    let faces = hops.iter().map(|hop| FaceId(hop.face)).filter(|face| *face != a.face);
    let known = faces.filter_map(|face| p.faces.get(face)).map(Face::is_local);
    match known.max() {
        None => Next::None,
        Some(false) => Next::Forwarder,
        Some(true) => Next::Application,
    }
}
