//! The journey of a Nack, and of an Interest that the link gave up.

use control::Kind;
use packet::{HopOptions, Interest, NackReason};
use smallvec::SmallVec;

use super::context::Incoming;
use super::options::take_options;
use super::{Pipeline, ranges};
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::events::Step;
use crate::node::subject_of;
use crate::state::strategies::Trigger;
use crate::tables::pit::Side;
use crate::tables::{FaceId, HashedName, PitKey};

/// Incoming Nack pipeline.
pub(super) fn receive(p: &mut Pipeline<'_>, incoming: &Incoming<'_>, reason: NackReason) {
    let (face, header) = (incoming.face, incoming.header);
    // 19. Decode the Interest in it.
    let Ok(interest) = Interest::decode(incoming.packet.bytes) else {
        return p.count_drop(face, DropReason::Malformed);
    };
    // 19. Count it.
    let Some(state) = p.faces.count_received(face, Kind::Nack) else { return };
    // 19. On a link with several others, one's Nack says nothing about what the rest would answer.
    if state.link_type() != LinkType::PointToPoint {
        return p.count_drop(face, DropReason::NackUnsolicited);
    }
    // 19. Read its hop-by-hop options; report it to the parts of the upstream.
    let mut options = take_options(p, face, header);
    if p.has_parts() {
        let subject = subject_of(&p.hashed(interest.name()));
        p.crossed(face, Kind::Nack, subject, incoming.size(), &options);
        p.wake(face);
    }
    p.step(face, Step::Checked);
    // From here on, each segment that a Range names is returned by itself.
    let range = ranges::take_of_nack(p, face, &mut options);
    let matched = ranges::each_returned(p, Some(face), &interest, range, |p, interest| {
        pass_back(p, face, interest, reason, &options)
    });
    if matched == 0 {
        p.count_drop(face, DropReason::NackUnsolicited);
    }
}

/// An upstream has returned an Interest. Returns how many entries waited for its Data.
fn pass_back(
    p: &mut Pipeline<'_>,
    face: FaceId,
    interest: &Interest<'_>,
    reason: NackReason,
    options: &HopOptions,
) -> usize {
    // 20. PIT: the entries for which this very Interest was sent to the upstream.
    let name = p.hashed(interest.name());
    let nacked = sent_as(p, face, interest, &name);
    p.step(face, Step::Matched(nacked.len()));
    if nacked.is_empty() {
        return 0;
    }
    // 20. Their out-records keep the reason; the shaper of the upstream gets its credit back.
    for key in &nacked {
        p.tables.note_nack(*key, face, reason);
        p.credit(*key, Side::upstream(face), None);
    }
    // 20. The meter of its rate in; its stamper.
    if p.has_parts() {
        p.with_link(face, |link, _, _| link.on_nack());
    }
    let mut options = options.clone();
    p.stamp_nack_in(face, &name, &mut options);
    // 21. The strategy tries another next hop, or passes the Nack on.
    for key in &nacked {
        p.reconsider(*key, Some(face), Trigger::Nack(reason), options.clone());
    }
    nacked.len()
}

/// Asks the strategies about the Interests that the link of `face` gave up; see
/// [`control::Strategy::on_dropped_interest`].
pub(super) fn given_up(p: &mut Pipeline<'_>, face: FaceId) {
    let Some(state) = p.faces.get_mut(face) else { return };
    for given_up in state.link_mut().take_given_up() {
        // It was decoded when it came.
        let Ok(interest) = Interest::decode(&given_up.packet) else { continue };
        ranges::each_returned(p, None, &interest, given_up.range, |p, interest| {
            let name = p.hashed(interest.name());
            let sent = sent_as(p, face, interest, &name);
            for key in &sent {
                let record = p.pit().get(*key).and_then(|entry| entry.out_record(face));
                if record.is_some_and(|record| record.nacked.is_none()) {
                    p.reconsider(*key, Some(face), Trigger::Dropped, HopOptions::new());
                }
            }
            sent.len()
        });
    }
}

/// The entries for which this very Interest was sent to `face`: the nonce distinguishes it from an
/// earlier one.
fn sent_as(
    p: &Pipeline<'_>,
    face: FaceId,
    interest: &Interest<'_>,
    name: &HashedName<'_>,
) -> SmallVec<[PitKey; 1]> {
    let find = |excludes| p.pit().find_entry(interest, name, excludes);
    let mut keys: SmallVec<[PitKey; 1]> = [false, true].into_iter().filter_map(find).collect();
    keys.retain(|key| {
        let record = p.pit().get(*key).and_then(|entry| entry.out_record(face));
        record.is_some_and(|record| interest.nonce() == Some(record.nonce))
    });
    keys
}
