//! The journey of an Interest, from top to bottom.

use bytes::Bytes;
use control::{Kind, Size, Stage};
use packet::{Interest, NackReason};

use super::checks::violates_scope;
use super::context::{Incoming, InterestCx};
use super::options::take_interest_options;
use super::rewrite::rewrite;
use super::traceroute::answer_probe;
use super::{Pipeline, lookup, ranges};
use crate::counters::DropReason;
use crate::link::shaping::{Early, Expected, Offered, Waiting};
use crate::node::{NodeAt, subject_of};
use crate::tables::PitToken;

/// Incoming Interest pipeline.
pub(super) fn receive(p: &mut Pipeline<'_>, incoming: &Incoming<'_>) {
    let (face, header) = (incoming.face, incoming.header);
    // Decode.
    let Ok(interest) = Interest::decode(incoming.packet.bytes) else {
        return p.count_drop(face, DropReason::Malformed);
    };
    // Only local applications may choose the outgoing face of their Interests. Such a choice of
    // another sender cannot be honoured, so its Interest is dropped before it is counted, as in
    // NFD's link service.
    let next_hop = header.next_hop_face_id();
    if next_hop.is_some() && !p.faces.get(face).is_some_and(|face| face.has_local_fields()) {
        return p.count_drop(face, DropReason::Malformed);
    }
    // Count it.
    let Some(state) = p.faces.count_received(face, Kind::Interest) else { return };
    // Scope and hop limit.
    if violates_scope(state, interest.name()) {
        return p.count_drop(face, DropReason::Scope);
    }
    if interest.hop_limit() == Some(0) {
        return p.count_drop(face, DropReason::HopLimit);
    }
    // Take a forwarding hint out that has brought the Interest to its region; add a nonce.
    let home = reached_its_region(p, &interest);
    let mut buffer = std::mem::take(&mut p.scratch.interest);
    if interest.nonce().is_none() || home {
        rewrite(&interest, p.nonces.next_u32(), home, &mut buffer);
    }
    let interest = if buffer.is_empty() { Ok(interest) } else { Interest::decode(&buffer) };
    if let Ok(interest) = interest {
        // Read its hop-by-hop options.
        let options = take_interest_options(p, face, header);
        let name = p.hashed(interest.name());
        let nonce = interest.nonce().unwrap_or_default();
        let expires = p.now + p.lifetime(&interest);
        let mut a = InterestCx {
            token: PitToken::new(header.pit_token().unwrap_or_default()).unwrap_or_default(),
            mark: incoming.mark,
            options,
            next_hop,
            size: incoming.size(),
            ..InterestCx::new(face, &interest, &name, nonce, expires)
        };
        if !answer_probe(p, &a) {
            arrive(p, &mut a);
        }
    } else {
        // A nonce may make the packet larger than a packet may be.
        p.count_drop(face, DropReason::TooBig);
    }
    buffer.clear();
    p.scratch.interest = buffer;
}

fn reached_its_region(p: &Pipeline<'_>, interest: &Interest<'_>) -> bool {
    let regions = &p.settings.regions;
    !regions.is_empty()
        && interest
            .forwarding_hint()
            .any(|hint| regions.iter().any(|region| region.as_ref().starts_with(hint)))
}

/// Before the tables: what was here already, and the parts of the downstream.
fn arrive(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
    // Without transit, names that no application here serves end here.
    if !p.is_admitted(a) {
        return p.reject(a, DropReason::NoNextHop, NackReason::NoRoute);
    }
    // Dead nonce list.
    if p.tables.is_dead(p.now, a.name, a.nonce) {
        return p.reject(a, DropReason::Duplicate, NackReason::Duplicate);
    }
    // Stamper of the downstream, and its shaper if that works on arrival.
    if !p.has_parts() || pass_arrival_parts(p, a) {
        enter(p, a);
    }
}

/// Says whether the Interest goes on now.
fn pass_arrival_parts(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) -> bool {
    let now = p.now;
    a.subject = subject_of(a.name);
    let wire = a.interest.wire();
    p.crossed(a.face, Kind::Interest, a.subject, a.size, &a.options);
    let offered = p.with_link(a.face, |link, env, node| {
        let size = match link.has_parts() {
            true => link.expected(a.subject.flow, &a.options),
            false => Size::ZERO,
        };
        let options = std::mem::take(&mut a.options);
        let mut meta = a.meta(options, size, a.expires);
        if !link.has_parts() {
            return Some(Offered::Pass(meta));
        }
        let mut expected = Expected { flow: a.subject.flow, size, released_at: None };
        let at = NodeAt { node, name: a.name.name(), subject: a.subject };
        link.ask_stamper(env, |stamper, cx, view| {
            stamper.on_interest(cx, view, &at, &mut meta);
        });
        let offered = link.offer(env, Stage::Arrival, None, meta, Some(a.name.whole()), || {
            Waiting::Early(Box::new(Early {
                packet: Bytes::copy_from_slice(wire),
                token: a.token.clone(),
                mark: a.mark,
                next_hop: a.next_hop,
            }))
        });
        if link.shaper_stage() == Some(Stage::Arrival) {
            expected.released_at = Some(now);
        }
        a.expected = Some(expected);
        offered
    });
    p.wake(a.face);
    lookup::passes(p, a, offered.flatten()).unwrap_or_else(|reason| {
        p.reject(a, reason, NackReason::Congestion);
        false
    })
}

/// PIT and content store. A range Interest enters with its segments, which take the same steps.
pub(super) fn enter(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
    if !ranges::enter(p, a) {
        lookup::enter_one(p, a);
    }
}
