//! Interests that exclude packets ([`Exclude`]), and Data that all downstreams exclude.
//!
//! Invariant: Interests with and without exclusions never share a PIT entry. So an exclusion, and a
//! Nack that it brings, changes nothing for consumers that exclude nothing.

use control::{Direction, NextHop, Time};
use packet::options::{Exclude, PathId};
use packet::{Data, HopOption, HopOptions, NackReason};
use smallvec::SmallVec;

use super::upstream::Trigger;
use crate::face::FaceId;
use crate::forwarder::Forwarder;
use crate::tables::{InRecord, PitEntry, PitKey};

/// Whether the options of an Interest exclude packets.
#[inline]
pub(crate) fn excludes(options: &HopOptions) -> bool {
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

impl Forwarder {
    /// Takes the entries out of `satisfied` whose downstreams all exclude the Data. For them the
    /// upstream counts as if it had returned a Nack, so that strategies ask the next one.
    pub(super) fn turn_away(
        &mut self,
        now: Time,
        face: FaceId,
        data: &Data<'_>,
        satisfied: &mut Vec<PitKey>,
    ) -> bool {
        let mut digest = None;
        let mut refused = SmallVec::<[PitKey; 2]>::new();
        satisfied.retain(|key| {
            let entry = self.pit.get(*key).filter(|entry| entry.excludes() && !entry.lingers());
            let Some(entry) = entry else { return true };
            let digest = digest.get_or_insert_with(|| data.implicit_digest());
            let wants = |record: &InRecord| {
                record.expires > now
                    && record.options.get::<Exclude>().is_none_or(|e| !e.excludes(digest))
            };
            let wanted = entry.in_records().iter().any(wants);
            if !wanted {
                refused.push(*key);
            }
            wanted
        });
        let reason = NackReason::None;
        for key in &refused {
            let record = self.pit.get_mut(*key).and_then(|entry| entry.out_record_mut(face));
            if let Some(record) = record {
                record.nacked = Some(reason);
            }
            self.settle(now, face, Direction::In, *key, None);
            let trigger = Trigger::Nack(reason);
            self.reconsider(now, *key, Some(face), trigger, HopOptions::new());
        }
        !refused.is_empty()
    }

    /// Whether any of these entries excludes packets.
    #[inline]
    pub(super) fn any_excludes(&self, keys: &[PitKey]) -> bool {
        keys.iter().any(|key| self.pit.get(*key).is_some_and(PitEntry::excludes))
    }
}
