//! The shaper of the downstream, Data and Nacks that are sent there, and how PIT entries end.

use control::{Direction, Size, Stage};
use packet::options::answer;
use packet::{HopOptions, Interest, NackReason};

use super::Pipeline;
use super::context::InterestCx;
use crate::counters::DropReason;
use crate::events::Step;
use crate::link::queue::{QueuedControl, QueuedData};
use crate::link::shaping::Offered;
use crate::link::{Link, Patch};
use crate::node::subject_of;
use crate::state::tables::Ending;
use crate::tables::pit::Side;
use crate::tables::{FaceId, HashedName, InRecord, PitEntry, PitKey, PitToken};

impl Pipeline<'_> {
    /// Acts on the decision of the downstream's shaper about an Interest; says whether it goes on
    /// now, with the options that the shaper leaves.
    ///
    /// # Errors
    /// The shaper rejects the Interest.
    pub(super) fn passes_shaper(
        &mut self,
        a: &mut InterestCx<'_>,
        stage: Stage,
        offered: Option<Offered>,
    ) -> Result<bool, DropReason> {
        match offered {
            Some(Offered::Pass(meta)) => {
                a.options = meta.options;
                Ok(true)
            }
            Some(Offered::Held) => {
                self.step(a.face, Step::Held(stage));
                Ok(false)
            }
            Some(Offered::Rejected(options)) => {
                a.options = options;
                Err(DropReason::ShaperRejected)
            }
            Some(Offered::Full) => Err(DropReason::HeldLimit),
            None => {
                self.count_drop(a.face, DropReason::HeldDuplicate);
                Ok(false)
            }
        }
    }

    /// Outgoing Data pipeline.
    pub(super) fn send_data(&mut self, face: FaceId, item: QueuedData) {
        self.with_queue(face, item, Link::data_growth, |link, env, item, grant| {
            link.queue_data(env, item, grant);
        });
        self.wake(face);
    }

    /// Outgoing Nack pipeline: only to a point-to-point face that has them on. The Interest in it
    /// is as it came, with the downstream's own nonce and token; `options` are the Nack's.
    pub(super) fn send_nack(
        &mut self,
        face: FaceId,
        interest: &Interest<'_>,
        nonce: u32,
        token: PitToken,
        options: HopOptions,
        reason: NackReason,
    ) {
        let Some(state) = self.faces.get(face) else { return };
        if !state.takes_nacks() {
            return self.count_drop(face, DropReason::NackDisabled);
        }
        let mut item = QueuedControl::new(self.now, interest.wire().len());
        item.nack = Some(reason);
        (item.token, item.options) = (token, options);
        if self.has_parts() {
            item.subject = subject_of(&self.tables.hasher().hash(interest.name()));
        }
        let patch = Patch { hop_limit: None, nonce: interest.nonce_at().map(|at| (at, nonce)) };
        let packet = interest.wire();
        self.with_queue(face, item, Link::control_growth, |link, env, item, grant| {
            link.queue_control(env, item, packet, patch, grant);
        });
        self.wake(face);
    }

    /// Drops an Interest that is not in the PIT and sends the downstream a Nack with the reason.
    pub(super) fn reject(&mut self, a: &InterestCx<'_>, drop: DropReason, reason: NackReason) {
        self.count_drop(a.face, drop);
        let (token, options) = (a.token.clone(), answer(&a.options, None));
        self.send_nack(a.face, a.interest, a.nonce, token, options, reason);
    }

    /// A downstream's pending Interest is rejected by its own shaper; the entry goes with its last
    /// one if no upstream was asked.
    pub(super) fn reject_pending(&mut self, key: PitKey, face: FaceId, reason: DropReason) {
        self.count_drop(face, reason);
        self.credit(key, Side::downstream(face), None);
        let Some(record) = self.tables.remove_downstream(key, face) else { return };
        let Some(entry) = self.pit().get(key) else { return };
        let bytes = entry.interest().to_vec();
        if entry.in_records().is_empty() && entry.out_records().is_empty() {
            self.tables.discard(key);
            self.stats().nacked += 1;
        }
        if let Ok(interest) = Interest::decode(&bytes) {
            let options = nack_options(&record, &HopOptions::new());
            self.nack_record(&interest, &record, NackReason::Congestion, options);
        }
    }

    /// Ends an entry with a Nack to every downstream that still waits. `carried` are the options of
    /// the Nack from upstream that is the reason.
    pub(super) fn nack_all(
        &mut self,
        key: PitKey,
        name: &HashedName<'_>,
        reason: NackReason,
        carried: &HopOptions,
    ) {
        let Some(entry) = self.tables.remove(key) else { return };
        self.stats().nacked += 1;
        self.credit_nothing(key, &entry);
        if let Ok(interest) = Interest::decode(entry.interest()) {
            let now = self.now;
            for record in entry.in_records().iter().filter(|record| record.expires > now) {
                let options = nack_options(record, carried);
                self.nack_record(&interest, record, reason, options);
            }
        }
        self.tables.record_nonces(self.now, name, &entry, Ending::Unsatisfied);
    }

    fn nack_record(
        &mut self,
        interest: &Interest<'_>,
        record: &InRecord,
        reason: NackReason,
        options: HopOptions,
    ) {
        let token = record.token.clone();
        self.send_nack(record.face, interest, record.nonce, token, options, reason);
    }

    /// Ends an entry that is in the PIT still: its nonces are remembered as it ended.
    pub(super) fn end(&mut self, name: &HashedName<'_>, key: PitKey, ending: Ending) {
        self.tables.record_nonces_of(self.now, name, key, ending);
        self.tables.discard(key);
    }

    /// Gives the shaper at stage *arrival* its credit back for an Interest that it let through and
    /// that will bring nothing.
    pub(super) fn return_credit(&mut self, a: &InterestCx<'_>) {
        if let Some(expected) = a.expected {
            self.with_link(a.face, |link, env, _| link.parts().returned(env, &expected, None));
            self.wake(a.face);
        }
    }

    /// Reports to the shapers on both sides of a PIT entry that Data of this size came from an
    /// upstream.
    pub(super) fn credit_data(&mut self, key: PitKey, from: FaceId, size: Size) {
        if !self.has_parts() {
            return;
        }
        let Some(sides) = self.pit().get(key).map(PitEntry::sides) else { return };
        for side in sides {
            let elsewhere = side.direction == Direction::In && side.face != from;
            self.credit(key, side, (!elsewhere).then_some(size));
        }
    }

    /// Reports to the shapers on both sides of an entry that it brought nothing.
    pub(super) fn credit_nothing(&mut self, key: PitKey, entry: &PitEntry) {
        if self.has_parts() {
            entry.sides().into_iter().for_each(|side| self.credit(key, side, None));
        }
    }

    /// Reports to the shaper of a face what an entry brought over it: Data of this size, or
    /// nothing.
    pub(super) fn credit(&mut self, key: PitKey, side: Side, size: Option<Size>) {
        if self.has_parts() {
            let Side { face, direction } = side;
            self.with_link(face, |link, env, _| link.parts().credit(env, direction, key, size));
            self.wake(face);
        }
    }
}

/// The options of a Nack to a downstream: those of an answer to its Interest, and those that the
/// Nack from upstream carried.
fn nack_options(record: &InRecord, carried: &HopOptions) -> HopOptions {
    let mut options = answer(&record.options, None);
    for (typ, value) in carried.iter() {
        options.set_raw(typ, value);
    }
    options
}
