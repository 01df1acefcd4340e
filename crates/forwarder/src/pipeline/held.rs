//! Interests that a shaper gives back.

use control::{Direction, InterestMeta, Released, Stage, Time};
use packet::options::SegmentBits;
use packet::{HopOptions, Interest, NackReason};

use super::interest::Arrived;
use super::upstream::{Leaving, Outbound, Trigger};
use crate::counters::DropReason;
use crate::forwarder::Forwarder;
use crate::link::shaping::{Early, Expected, Waiting};
use crate::node::subject_of;
use crate::tables::FaceId;
use crate::tables::PitKey;

impl Forwarder {
    /// Takes from a face's shaper what it wants to let through, or to refuse, now.
    pub(crate) fn release_held(&mut self, now: Time, face: FaceId) {
        while let Some((stage, released, waiting)) =
            self.with_link(now, face, |link, env, _| link.release(env)).flatten()
        {
            let (meta, refused) = match released {
                Released::Pass(meta) => (meta, false),
                Released::Refused(meta) => (meta, true),
            };
            match waiting {
                Waiting::Early(early) => self.release_early(now, face, &early, meta, refused),
                Waiting::Pending(key) if stage == Stage::Miss => {
                    self.release_miss(now, face, key, &meta, refused);
                }
                Waiting::Pending(key) => self.release_departure(now, face, key, meta, refused),
            }
        }
    }

    /// The downstream's shaper lets an Interest go that the PIT does not know yet.
    fn release_early(
        &mut self,
        now: Time,
        face: FaceId,
        early: &Early,
        meta: InterestMeta,
        refused: bool,
    ) {
        let Ok(interest) = Interest::decode(&early.packet) else { return };
        let nonce = interest.nonce().unwrap_or_default();
        if refused {
            self.count_drop(face, DropReason::ShaperRefused);
            let with = (early.token.clone(), packet::options::answer(&meta.options, None));
            return self.send_nack(now, face, &interest, nonce, with, NackReason::Congestion);
        }
        let expected = Expected { flow: meta.flow, size: meta.expected, released_at: Some(now) };
        if meta.expires <= now {
            return self.drop_expired(now, face, &expected);
        }
        let name = self.hashed(interest.name());
        self.enter(
            now,
            &mut Arrived {
                face,
                interest: &interest,
                name: &name,
                nonce,
                expires: meta.expires,
                token: early.token.clone(),
                mark: early.mark,
                options: meta.options,
                next_hop: early.next_hop,
                subject: subject_of(&name),
                size: early.packet.len(),
                expected: Some(expected),
                bits: SegmentBits::NONE,
            },
        );
    }

    /// The downstream's shaper lets an Interest go that the content store could not answer.
    fn release_miss(
        &mut self,
        now: Time,
        face: FaceId,
        key: PitKey,
        meta: &InterestMeta,
        refused: bool,
    ) {
        let waits = self.pit.get(key).is_some_and(|entry| entry.in_record(face).is_some());
        let expected = Expected { flow: meta.flow, size: meta.expected, released_at: Some(now) };
        if !waits || meta.expires <= now {
            return self.drop_expired(now, face, &expected);
        }
        if refused {
            return self.refuse_pending(now, key, face, DropReason::ShaperRefused);
        }
        self.with_link(now, face, |link, env, _| {
            link.expect(env, Direction::Out, key, expected);
        });
        self.reconsider(now, key, Some(face), Trigger::Interest, HopOptions::new());
    }

    /// The upstream's shaper lets an Interest go, or refuses it after all.
    fn release_departure(
        &mut self,
        now: Time,
        face: FaceId,
        key: PitKey,
        meta: InterestMeta,
        refused: bool,
    ) {
        let expected = Expected { flow: meta.flow, size: meta.expected, released_at: Some(now) };
        let Some(entry) = self.pit.get_mut(key) else {
            return self.drop_expired(now, face, &expected);
        };
        let Some(record) = entry.out_record_mut(face) else { return };
        let nonce = record.nonce;
        if refused {
            record.release(now);
            record.nacked = Some(NackReason::Congestion);
            let bytes = entry.name().to_name();
            self.count_drop(face, DropReason::ShaperRefused);
            let name = self.hasher.hash(bytes.as_ref());
            let mut answer = HopOptions::new();
            self.stamp_nack_in(now, face, &name, &mut answer);
            let trigger = Trigger::Nack(NackReason::Congestion);
            return self.reconsider(now, key, Some(face), trigger, answer);
        }
        if meta.expires <= now {
            record.release(now);
            return self.drop_expired(now, face, &expected);
        }
        let ingress = entry.in_records().last().map_or(FaceId(0), |record| record.face);
        let bytes = entry.interest().to_vec();
        let Ok(interest) = Interest::decode(&bytes) else { return };
        let name = self.hashed(interest.name());
        let out = Outbound {
            key,
            ingress,
            interest: &interest,
            name: &name,
            nonce,
            mark: 0,
            options: HopOptions::new(),
            subject: subject_of(&name),
            answer: HopOptions::new(),
            bits: SegmentBits::NONE,
        };
        let leaving =
            Leaving { expected: meta.expected, expires: meta.expires, options: meta.options };
        self.release_interest(now, &out, face, leaving);
    }

    /// An Interest whose time is over while it was held. The shaper has let it through, so it is
    /// told that nothing will come.
    fn drop_expired(&mut self, now: Time, face: FaceId, expected: &Expected) {
        self.count_drop(face, DropReason::HeldExpired);
        self.with_link(now, face, |link, env, _| link.returned(env, expected, None));
    }
}
