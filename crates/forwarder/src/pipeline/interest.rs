//! The journey of an Interest, from top to bottom.

use bytes::Bytes;
use control::{Direction, Kind, Size, Stage};
use packet::options::{Exclude, answer};
use packet::{Interest, NackReason};

use super::checks::{is_admitted, violates_scope};
use super::context::{Incoming, InterestCx};
use super::exclude::excludes;
use super::options::take_interest_options;
use super::rewrite::rewrite;
use super::traceroute::answer_probe;
use super::{Pipeline, ranges};
use crate::counters::DropReason;
use crate::events::Step;
use crate::link::queue::QueuedData;
use crate::link::shaping::{Early, Expected, Missed, Offered, Waiting};
use crate::node::{NodeAt, subject_of};
use crate::tables::{FaceId, PitEntry, PitKey, PitToken, Rejection};

/// Incoming Interest pipeline.
pub(super) fn receive(p: &mut Pipeline<'_>, incoming: &Incoming<'_>) {
    let (face, header) = (incoming.face, incoming.header);
    // 3. Decode.
    let Ok(interest) = Interest::decode(incoming.packet.bytes) else {
        return p.count_drop(face, DropReason::Malformed);
    };
    // Only local applications may choose the outgoing face of their Interests. Such a choice of
    // another sender cannot be honoured, so its Interest is dropped before it is counted, as in
    // NFD's link service.
    let chosen_face = header.next_hop_face_id().map(FaceId);
    if chosen_face.is_some() && !p.faces.get(face).is_some_and(|face| face.has_local_fields()) {
        return p.count_drop(face, DropReason::Malformed);
    }
    // 3. Count it.
    let Some(state) = p.faces.count_received(face, Kind::Interest) else { return };
    // 3. Scope and hop limit.
    if violates_scope(state, interest.name()) {
        return p.count_drop(face, DropReason::Scope);
    }
    if interest.hop_limit() == Some(0) {
        return p.count_drop(face, DropReason::HopLimit);
    }
    // 3. Take a forwarding hint out that has brought the Interest to its region; add a nonce.
    let in_region = has_reached_region(p, &interest);
    let mut buffer = std::mem::take(&mut p.scratch.interest);
    if interest.nonce().is_none() || in_region {
        rewrite(&interest, p.nonces.next_u32(), in_region, &mut buffer);
    }
    let interest = if buffer.is_empty() { Ok(interest) } else { Interest::decode(&buffer) };
    if let Ok(interest) = interest {
        let name = p.hashed(interest.name());
        let nonce = interest.nonce().unwrap_or_default();
        let expires = p.now + p.lifetime(&interest);
        let mut a = InterestCx {
            mark: incoming.mark,
            chosen_face,
            size: incoming.size(),
            ..InterestCx::new(face, &interest, &name, nonce, expires)
        };
        if let Some(token) = header.pit_token().and_then(PitToken::new) {
            a.token = token;
        }
        // 3. Read its hop-by-hop options.
        take_interest_options(p, face, header, &mut a.options);
        p.step(face, Step::Checked);
        if !answer_probe(p, &a) {
            // From here on, each segment that a range Interest stands for is an Interest.
            ranges::expand(p, &mut a, arrive);
        }
    } else {
        // A nonce may make the packet larger than a packet may be.
        p.count_drop(face, DropReason::TooBig);
    }
    buffer.clear();
    p.scratch.interest = buffer;
}

fn has_reached_region(p: &Pipeline<'_>, interest: &Interest<'_>) -> bool {
    let regions = &p.settings.regions;
    !regions.is_empty()
        && interest
            .forwarding_hint()
            .any(|hint| regions.iter().any(|region| region.as_ref().starts_with(hint)))
}

/// Before the tables: what was here already, and the parts of the downstream.
fn arrive(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
    // 3. Without transit, names that no application here serves end here.
    if !is_admitted(p, a) {
        return p.reject(a, DropReason::NoNextHop, NackReason::NoRoute);
    }
    // 3. Dead nonce list.
    if p.tables.is_dead(p.now, a.name, a.nonce) {
        return p.reject(a, DropReason::Duplicate, NackReason::Duplicate);
    }
    // 4. Stamper of the downstream, and its shaper if that works on arrival.
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
            true => link.parts().expected(a.subject.flow, &a.options),
            false => Size::ZERO,
        };
        let options = std::mem::take(&mut a.options);
        let mut meta = a.meta(options, size, a.expires);
        if !link.has_parts() {
            return Some(Offered::Pass(meta));
        }
        let mut expected = Expected { flow: a.subject.flow, size, released_at: None };
        let at = NodeAt { node, name: a.name.name(), subject: a.subject };
        link.parts().ask_stamper(env, |stamper, cx, view| {
            stamper.on_interest(cx, view, &at, &mut meta);
        });
        let offered =
            link.parts().offer(env, Stage::Arrival, None, meta, Some(a.name.whole()), || {
                Waiting::Early(Box::new(Early {
                    packet: Bytes::copy_from_slice(wire),
                    token: a.token.clone(),
                    mark: a.mark,
                    chosen_face: a.chosen_face,
                }))
            });
        if link.parts().shaper_stage() == Some(Stage::Arrival) {
            expected.released_at = Some(now);
        }
        a.expected = Some(expected);
        offered
    });
    p.wake(a.face);
    p.passes_shaper(a, Stage::Arrival, offered.flatten()).unwrap_or_else(|reason| {
        p.reject(a, reason, NackReason::Congestion);
        false
    })
}

/// PIT and content store.
pub(super) fn enter(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
    p.step(a.face, Step::Admitted);
    // 5. PIT: a nonce that is pending here has come round a loop.
    let excludes = excludes(&a.options);
    let key = p.pit().find_entry(a.interest, a.name, excludes);
    let entry = key.and_then(|key| p.pit().get(key));
    let pending = entry.is_some_and(|entry| !entry.in_records().is_empty());
    if entry.is_some_and(|entry| p.is_loop(entry, a)) {
        p.return_credit(a);
        return p.reject(a, DropReason::Duplicate, NackReason::Duplicate);
    }
    // 6. Content store, unless the same Interest is pending. An Interest that excludes packets
    // looks there in any case: the store may have a packet that another consumer excludes.
    if !pending || excludes {
        if answer_from_store(p, a) {
            return;
        }
        p.step(a.face, Step::Missed);
    }
    // 7. PIT: a new entry, or a further downstream of the one that there is.
    let key = key.filter(|key| !end_lingering(p, *key));
    let stored = match key {
        Some(key) => p.join(key, a).map(|()| key),
        None => p.insert(a),
    };
    let key = match stored {
        Ok(key) => key,
        Err(rejection) => {
            p.return_credit(a);
            return match rejection {
                // No route can be so deep, and the consumer need not wait for a timeout.
                Rejection::PrefixTooDeep => p.reject(a, rejection.into(), NackReason::NoRoute),
                _ => p.count_drop(a.face, rejection.into()),
            };
        }
    };
    if pending {
        p.stats().aggregated += 1;
        p.step(a.face, Step::Aggregated);
    } else {
        p.step(a.face, Step::Inserted);
    }
    go_on(p, key, a);
}

/// Discards an entry that lingers after its Data. Returns true if it did.
fn end_lingering(p: &mut Pipeline<'_>, key: PitKey) -> bool {
    let lingers = p.pit().get(key).is_some_and(PitEntry::lingers);
    if lingers {
        p.tables.discard(key);
    }
    lingers
}

/// Content store; a hit goes the Data's way. Nothing hop-by-hop comes out of it: the token is the
/// Interest's, the options are those of an answer to it, and there is no mark.
fn answer_from_store(p: &mut Pipeline<'_>, a: &InterestCx<'_>) -> bool {
    p.faces.bound_store(p.tables);
    let excluded = if excludes(&a.options) { a.options.get::<Exclude>() } else { None };
    let found = p.tables.cache_mut().find(p.now, a.interest, a.name, excluded.as_ref());
    let Some(packet) = found else { return false };
    p.step(a.face, Step::Hit);
    let mut options = answer(&a.options, Some(p.faces.node_id()));
    p.tables.note_answer(p.now, &a.options, &packet, &mut options);
    if let Some(expected) = a.expected {
        let size = Size(packet.len() as u64);
        p.with_link(a.face, |link, env, _| link.parts().returned(env, &expected, Some(size)));
    }
    let item = QueuedData {
        at: p.now,
        packet,
        token: a.token.clone(),
        mark: 0,
        options,
        from: 0,
        subject: a.subject,
    };
    p.send_data(a.face, item);
    true
}

/// The Interest is in the PIT and leaves for the upstreams.
fn go_on(p: &mut Pipeline<'_>, key: PitKey, a: &mut InterestCx<'_>) {
    // 8. Shaper of the downstream, if it works on a miss.
    if !p.has_parts() || pass_miss_shaper(p, key, a) {
        // 9. FIB and strategy, then the shaper and the queue of each upstream.
        p.forward(key, a);
    }
}

/// Shaper of the downstream at stage *miss*; says whether the Interest goes on now.
fn pass_miss_shaper(p: &mut Pipeline<'_>, key: PitKey, a: &mut InterestCx<'_>) -> bool {
    let Some(mut expected) = a.expected else { return true };
    let now = p.now;
    let offered = p.with_link(a.face, |link, env, _| {
        let options = std::mem::take(&mut a.options);
        let meta = a.meta(options, expected.size, a.expires);
        let missed = Missed { key, mark: a.mark, chosen_face: a.chosen_face };
        let collapse = Some(key.to_bits());
        let offered =
            link.parts().offer(env, Stage::Miss, None, meta, collapse, || Waiting::Missed(missed));
        let passed = matches!(offered, Some(Offered::Pass(_)));
        if passed && link.parts().shaper_stage() == Some(Stage::Miss) {
            expected.released_at = Some(now);
        }
        link.parts().expect(env, Direction::Out, key, expected);
        offered
    });
    p.wake(a.face);
    p.passes_shaper(a, Stage::Miss, offered.flatten()).unwrap_or_else(|reason| {
        p.reject_pending(key, a.face, reason);
        false
    })
}
