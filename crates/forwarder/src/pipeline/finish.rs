//! How Interests end, and what is sent to downstreams.

use control::{Direction, Duration, Size, Time};
use packet::options::{Range, answer};
use packet::{HopOptions, Interest, NackReason};

use super::upstream::Trigger;
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::forwarder::Forwarder;
use crate::link::Patch;
use crate::link::queue::{QueuedControl, QueuedData};
use crate::node::subject_of;
use crate::tables::FaceId;
use crate::tables::{DeadNonces, HashedName, InRecord, NameHasher, PitEntry, PitKey, PitToken};

/// How a PIT entry ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Satisfied { freshness: Duration, cached: bool },
    Unsatisfied,
}

impl Forwarder {
    /// Outgoing Data pipeline.
    pub(super) fn send_data(&mut self, now: Time, face: FaceId, item: QueuedData) {
        self.reserve_queue(face, |face| face.link.data_growth(&item));
        self.with_link(now, face, |link, env, _| link.queue_data(env, item));
        self.wake(now, face);
    }

    /// Outgoing Nack pipeline: only to a point-to-point face that has them on. The Interest in it
    /// is as it came, with the downstream's own nonce; `with` are its token and the Nack's options.
    pub(super) fn send_nack(
        &mut self,
        now: Time,
        face: FaceId,
        interest: &Interest<'_>,
        nonce: u32,
        with: (PitToken, HopOptions),
        reason: NackReason,
    ) {
        let Some(state) = self.faces.get(face) else { return };
        if !state.nacks || state.link_type != LinkType::PointToPoint {
            return self.count_drop(face, DropReason::NackDisabled);
        }
        let mut item = QueuedControl::new(now, interest.wire().len());
        item.nack = Some(reason);
        (item.token, item.options) = with;
        if self.parts > 0 {
            item.subject = subject_of(&self.hasher.hash(interest.name()));
        }
        let patch = Patch { hop_limit: None, nonce: interest.nonce_at().map(|at| (at, nonce)) };
        let packet = interest.wire();
        self.reserve_queue(face, |face| face.link.control_growth(&item));
        self.with_link(now, face, |link, env, _| link.queue_control(env, item, packet, patch));
        self.wake(now, face);
    }

    /// Ends an entry with a Nack to everyone who still waits. `answer` are the options of the Nack
    /// from upstream that is the reason.
    pub(super) fn nack_all(
        &mut self,
        now: Time,
        key: PitKey,
        name: &HashedName<'_>,
        reason: NackReason,
        answer: &HopOptions,
    ) {
        let Some(entry) = self.pit.remove(key) else { return };
        self.stats.nacked += 1;
        self.settle_all(now, key, &entry, None);
        if let Ok(interest) = Interest::decode(entry.interest()) {
            for record in entry.in_records().iter().filter(|record| record.expires > now) {
                let range = entry.run().and_then(|run| Range::of(run.wanted_by(record.face)));
                self.nack_record(now, &interest, record, (reason, range), answer);
            }
        }
        self.bury(now, name, &entry, Ending::Unsatisfied);
    }

    fn nack_record(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        record: &InRecord,
        (reason, range): (NackReason, Option<Range>),
        carried: &HopOptions,
    ) {
        let mut options = answer(&record.options, None);
        range.map(|range| options.set(&range));
        for (typ, value) in carried.iter() {
            options.set_raw(typ, value);
        }
        let with = (record.token.clone(), options);
        self.send_nack(now, record.face, interest, record.nonce, with, reason);
    }

    /// A downstream's pending Interest is refused by its own shaper; the entry goes with its last
    /// one if nobody was asked.
    pub(super) fn refuse_pending(
        &mut self,
        now: Time,
        key: PitKey,
        face: FaceId,
        reason: DropReason,
    ) {
        self.count_drop(face, reason);
        self.settle(now, face, Direction::Out, key, None);
        let run = self.pit.get(key).and_then(|entry| entry.run());
        let range = run.and_then(|run| Range::of(run.wanted_by(face)));
        let Some(record) = self.pit.remove_in_record(key, face) else { return };
        let Some(entry) = self.pit.get(key) else { return };
        let bytes = entry.interest().to_vec();
        if entry.in_records().is_empty() && entry.out_records().is_empty() {
            self.pit.remove(key);
            self.stats.nacked += 1;
        }
        if let Ok(interest) = Interest::decode(&bytes) {
            let none = HopOptions::new();
            let why = (NackReason::Congestion, range);
            self.nack_record(now, &interest, &record, why, &none);
        }
    }

    /// Expired entries, and those that a strategy wanted to be asked about again.
    pub(crate) fn expire_pending(&mut self, now: Time) {
        for _ in 0..self.ended_at_once {
            let Some((key, mut entry)) = self.pit.pop_expired(now) else { break };
            if entry.lingers() {
                continue;
            }
            self.stats.expired += 1;
            self.settle_all(now, key, &entry, None);
            let bytes = entry.name().to_name();
            let name = self.hasher.hash(bytes.as_ref());
            let ingress = entry.in_records().first().map_or(FaceId(0), |record| record.face);
            let mut options = HopOptions::new();
            self.tell(now, &name, &mut entry, ingress, &mut options, 0, Trigger::Expiry);
            self.bury(now, &name, &entry, Ending::Unsatisfied);
        }
        for _ in 0..self.ended_at_once {
            let Some(key) = self.pit.pop_retry(now) else { break };
            self.reconsider(now, key, None, Trigger::Timer, HopOptions::new());
        }
    }

    /// Dead nonce list insert. While Data can answer from the content store, a looping Interest
    /// meets it there; otherwise its nonces have to be remembered (NFD Developer's Guide, 4.2.1).
    pub(super) fn bury(
        &mut self,
        now: Time,
        name: &HashedName<'_>,
        entry: &PitEntry,
        ending: Ending,
    ) {
        let Forwarder { hasher, dead_nonces, dead_nonce_lifetime, .. } = self;
        bury(now, hasher, dead_nonces, *dead_nonce_lifetime, name, entry, ending);
    }

    /// The same for an entry that is in the PIT still, and is taken out.
    pub(super) fn bury_pending(
        &mut self,
        now: Time,
        name: &HashedName<'_>,
        key: PitKey,
        ending: Ending,
    ) {
        self.bury_lingering(now, name, key, ending);
        self.pit.discard(key);
    }

    /// The same for one that stays there.
    pub(super) fn bury_lingering(
        &mut self,
        now: Time,
        name: &HashedName<'_>,
        key: PitKey,
        ending: Ending,
    ) {
        let Forwarder { pit, hasher, dead_nonces, dead_nonce_lifetime, .. } = self;
        if let Some(entry) = pit.get(key) {
            bury(now, hasher, dead_nonces, *dead_nonce_lifetime, name, entry, ending);
        }
    }

    /// Tells the shapers on both sides of an entry what it brought: Data of `answer.1` bytes from
    /// the face `answer.0`, or nothing.
    pub(super) fn settle_all(
        &mut self,
        now: Time,
        key: PitKey,
        entry: &PitEntry,
        answer: Option<(FaceId, usize)>,
    ) {
        if self.parts == 0 {
            return;
        }
        let size = answer.map(|(_, len)| Size(len as u64));
        for record in entry.out_records() {
            let from_here = answer.is_some_and(|(face, _)| face == record.face());
            let size = size.filter(|_| from_here);
            self.settle(now, record.face(), Direction::In, key, size);
        }
        for record in entry.in_records() {
            self.settle(now, record.face, Direction::Out, key, size);
        }
    }

    pub(super) fn settle(
        &mut self,
        now: Time,
        face: FaceId,
        direction: Direction,
        key: PitKey,
        size: Option<Size>,
    ) {
        if self.parts > 0 {
            self.with_link(now, face, |link, env, _| link.settle(env, direction, key, size));
            self.wake(now, face);
        }
    }
}

/// See [`Forwarder::bury`].
fn bury(
    now: Time,
    hasher: &NameHasher,
    dead_nonces: &mut DeadNonces,
    lifetime: Duration,
    name: &HashedName<'_>,
    entry: &PitEntry,
    ending: Ending,
) {
    let stops_loops = match ending {
        Ending::Unsatisfied => false,
        Ending::Satisfied { freshness, cached } => {
            cached && (!entry.must_be_fresh() || freshness >= lifetime)
        }
    };
    if stops_loops || entry.out_records().is_empty() {
        return;
    }
    let hash = if entry.components() == name.components() {
        name.whole()
    } else {
        hasher.hash(entry.name()).whole()
    };
    for record in entry.out_records() {
        let key = hasher.nonce_key(hash, record.nonce);
        dead_nonces.insert(now, key);
    }
}
