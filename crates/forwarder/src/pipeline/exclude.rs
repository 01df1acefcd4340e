//! Interests that exclude packets ([`Exclude`]), and Data that downstreams exclude.
//!
//! Interests for one name that exclude different packets share a PIT entry. Otherwise each of any
//! number of exclusions would make an entry. Data that all of them exclude counts as a Nack. Data
//! that only some exclude is sent to the others. The Interests that exclude it then count as having
//! arrived after the Data, and are sent upstream again. Each time there are fewer of them.
//!
//! Invariant: Interests with and without exclusions never share a PIT entry. So an exclusion, and a
//! Nack that it brings, changes nothing for consumers that exclude nothing.

use control::NextHop;
use packet::options::{Exclude, PathId};
use packet::{Data, HopOption, HopOptions, Interest, NackReason};
use smallvec::SmallVec;

use super::Pipeline;
use super::context::InterestCx;
use crate::state::grant::Change;
use crate::state::strategies::Trigger;
use crate::tables::pit::Side;
use crate::tables::{FaceId, InRecord, PitEntry, PitKey, Rejection};

/// True if the options of an Interest exclude packets.
#[inline]
pub(super) fn excludes(options: &HopOptions) -> bool {
    !options.is_empty() && options.get_raw(Exclude::TYPE).is_some()
}

/// Moves another next hop to the front for each further packet that is excluded: a producer that
/// makes a new forgery for each Interest is not asked every time. In each round of all next hops
/// nodes begin differently, so that two in a row do not always choose alike.
pub(super) fn rotate(node: u64, hops: &mut [NextHop], options: &HopOptions) {
    if hops.len() < 2 || !excludes(options) {
        return;
    }
    let Some(excluded) = options.get::<Exclude>() else { return };
    let (turn, all) = (excluded.len().saturating_sub(1), hops.len());
    let round = (turn / all) as u64;
    let first = if round == 0 { 0 } else { PathId(round).folded(node, 0).0 % all as u64 };
    hops.rotate_left((turn + first as usize) % all);
}

/// Downstreams that exclude the Data which the other downstreams of their entry received, and the
/// Interest of the entry.
pub(super) struct Unserved {
    interest: Vec<u8>,
    records: Vec<InRecord>,
}

/// Takes the entries out of `satisfied` whose downstreams all exclude the Data. For them the
/// upstream counts as if it had returned a Nack, so that strategies ask the next one. Takes the
/// downstreams that exclude the Data out of the other entries, into `left`. Says whether Data
/// was turned away.
pub(super) fn turn_away(
    p: &mut Pipeline<'_>,
    face: FaceId,
    data: &Data<'_>,
    satisfied: &mut Vec<PitKey>,
    left: &mut Vec<Unserved>,
) -> bool {
    let now = p.now;
    let mut digest = None;
    let mut rejected = SmallVec::<[PitKey; 2]>::new();
    let mut parted = SmallVec::<[(PitKey, SmallVec<[FaceId; 2]>); 2]>::new();
    satisfied.retain(|key| {
        let entry = p.pit().get(*key).filter(|entry| entry.excludes() && !entry.lingers());
        let Some(entry) = entry else { return true };
        let digest = digest.get_or_insert_with(|| data.implicit_digest());
        let (mut wanted, mut without) = (false, SmallVec::new());
        for record in entry.in_records().iter().filter(|record| record.expires > now) {
            match record.options.get::<Exclude>().is_some_and(|e| e.excludes(digest)) {
                true => without.push(record.face),
                false => wanted = true,
            }
        }
        if !wanted {
            rejected.push(*key);
        } else if !without.is_empty() {
            parted.push((*key, without));
        }
        wanted
    });
    for (key, faces) in parted {
        let Some(interest) = p.pit().get(key).map(|entry| entry.interest().to_vec()) else {
            continue;
        };
        let mut records = Vec::new();
        for downstream in faces {
            p.credit(key, Side::downstream(downstream), None);
            records.extend(p.tables.remove_downstream(key, downstream));
        }
        left.push(Unserved { interest, records });
    }
    let reason = NackReason::None;
    for key in &rejected {
        p.tables.note_nack(*key, face, reason);
        p.credit(*key, Side::upstream(face), None);
        let trigger = Trigger::Nack(reason);
        p.reconsider(*key, Some(face), trigger, HopOptions::new());
    }
    !rejected.is_empty()
}

/// Asks again for what is left when the Data has gone to those who take it.
pub(super) fn ask_again(p: &mut Pipeline<'_>, left: Unserved) {
    // The PIT holds only Interests that were decoded on arrival.
    let Ok(interest) = Interest::decode(&left.interest) else { return };
    let name = p.hashed(interest.name());
    let subject = p.subject_of(&name);
    for record in left.records {
        let mut a = InterestCx {
            token: record.token,
            options: record.options,
            subject,
            ..InterestCx::new(record.face, &interest, &name, record.nonce, record.expires)
        };
        ask_one_again(p, &mut a);
    }
}

fn ask_one_again(p: &mut Pipeline<'_>, a: &mut InterestCx<'_>) {
    let key = p.pit().find_entry(a.interest, a.name, true);
    if key.is_none() {
        // It was counted as one more for an entry; now it has its own, or none.
        let stats = p.stats();
        stats.aggregated = stats.aggregated.saturating_sub(1);
    }
    let stored = match key {
        Some(key) => put_in_record(p, key, a).map(|()| key),
        None => p.insert(a),
    };
    match stored {
        Ok(key) => {
            // The upstream may have had its own nonce already.
            a.nonce = p.nonces.next_u32();
            p.forward(key, a);
        }
        Err(rejection) => p.count_drop(a.face, rejection.into()),
    }
}

fn put_in_record(
    p: &mut Pipeline<'_>,
    key: PitKey,
    a: &mut InterestCx<'_>,
) -> Result<(), Rejection> {
    let mut record = a.in_record(p.now);
    let grant = p.admit(a, Change::Join { key, record: &record })?;
    record.expires = a.expires;
    p.tables.put_in_record(grant, key, record)
}

/// True if any of these entries excludes packets.
#[inline]
pub(super) fn any_excludes(p: &Pipeline<'_>, keys: &[PitKey]) -> bool {
    keys.iter().any(|key| p.pit().get(*key).is_some_and(PitEntry::excludes))
}
