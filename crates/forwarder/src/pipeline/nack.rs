//! The journey of a Nack, and of an Interest that the link gave up.

use control::{Direction, Kind};
use packet::options::Range;
use packet::{HopOption, HopOptions, Interest, NackReason};
use smallvec::SmallVec;

use super::Pipeline;
use super::context::Incoming;
use super::options::take_options;
use super::runs::split_sent;
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::node::subject_of;
use crate::state::strategies::Trigger;
use crate::tables::{FaceId, HashedName, PitKey};

/// Incoming Nack pipeline.
pub(super) fn receive(p: &mut Pipeline<'_>, incoming: &Incoming<'_>, reason: NackReason) {
    let (face, header) = (incoming.face, incoming.header);
    // Decode the Interest in it.
    let Ok(interest) = Interest::decode(incoming.packet.bytes) else {
        return p.count_drop(face, DropReason::Malformed);
    };
    // Count it.
    let Some(state) = p.faces.count_received(face, Kind::Nack) else { return };
    // On a link with several others, one's Nack says nothing about what the rest would answer.
    if state.link_type() != LinkType::PointToPoint {
        return p.count_drop(face, DropReason::NackUnsolicited);
    }
    // Read its hop-by-hop options; report it to the parts of the upstream.
    let name = p.hashed(interest.name());
    let mut options = take_options(p, face, header);
    if p.has_parts() {
        p.crossed(face, Kind::Nack, subject_of(&name), incoming.size(), &options);
        p.wake(face);
    }
    // PIT: the entries for which this very Interest was sent to the upstream.
    let range = if options.is_empty() { None } else { options.get::<Range>() };
    options.remove(Range::TYPE);
    let nacked = sent_as(p, face, &interest, &name, range);
    if nacked.is_empty() {
        return p.count_drop(face, DropReason::NackUnsolicited);
    }
    // Their out-records keep the reason; the shaper of the upstream gets its credit back.
    for key in &nacked {
        let entry = p.pit_mut().get_mut(*key);
        if let Some(record) = entry.and_then(|entry| entry.out_record_mut(face)) {
            record.nacked = Some(reason);
        }
        p.credit(face, Direction::In, *key, None);
    }
    // The meter of its rate in; its stamper.
    if p.has_parts() {
        p.with_link(face, |link, _, _| link.on_nack());
    }
    p.stamp_nack_in(face, &name, &mut options);
    // The strategy tries another next hop, or passes the Nack on.
    for key in nacked {
        p.reconsider(key, Some(face), Trigger::Nack(reason), options.clone());
    }
}

/// Asks the strategies about the Interests that the link of `face` gave up; see
/// [`control::Strategy::on_dropped_interest`].
pub(super) fn given_up(p: &mut Pipeline<'_>, face: FaceId) {
    let Some(state) = p.faces.get_mut(face) else { return };
    for (bytes, range) in state.link_mut().take_given_up() {
        // It was decoded when it came.
        let Ok(interest) = Interest::decode(&bytes) else { continue };
        let name = p.hashed(interest.name());
        for key in sent_as(p, face, &interest, &name, range) {
            let record = p.pit().get(key).and_then(|entry| entry.out_record(face));
            if record.is_some_and(|record| record.nacked.is_some()) {
                continue;
            }
            p.reconsider(key, Some(face), Trigger::Dropped, HopOptions::new());
        }
    }
}

/// The entries for which this very Interest was sent to `face`: the nonce distinguishes it from an
/// earlier one. Entries for runs are split, so that only the requested share is returned.
fn sent_as(
    p: &mut Pipeline<'_>,
    face: FaceId,
    interest: &Interest<'_>,
    name: &HashedName<'_>,
    range: Option<Range>,
) -> SmallVec<[PitKey; 1]> {
    let mut keys = SmallVec::<[PitKey; 1]>::new();
    if range.is_none() {
        for excludes in [false, true] {
            keys.extend(p.pit().find_entry(interest, name, excludes));
        }
    }
    if p.pit().has_runs() {
        keys.extend(split_sent(p, face, interest, name, range));
    }
    keys.retain(|key| {
        let record = p.pit().get(*key).and_then(|entry| entry.out_record(face));
        record.is_some_and(|record| interest.nonce() == Some(record.nonce))
    });
    keys
}
