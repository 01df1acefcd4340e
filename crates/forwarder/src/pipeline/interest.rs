//! The way of an Interest.

use bytes::Bytes;
use control::{Action, Direction, Duration, InterestMeta, Kind, Size, Stage, Time};
use packet::options::{Exclude, SegmentBits, answer, segments_in};
use packet::{HopOption, HopOptions, Interest, LpPacket, NackReason};

use super::exclusion::excludes;
use super::rewrite::rewrite;
use super::upstream::{Outbound, Trigger};
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::forwarder::Forwarder;
use crate::link::queue::QueuedData;
use crate::link::shaping::{Early, Expected, Offered, Waiting};
use crate::node::Subject;
use crate::node::{NodeAt, subject_of};
use crate::tables::FaceId;
use crate::tables::{HashedName, InRecord, PitEntry, PitKey, PitToken, Refusal};

/// An Interest with what its link header and its way so far say of it.
pub(super) struct Arrived<'a> {
    /// The face that it came from: the downstream.
    pub(super) face: FaceId,
    pub(super) interest: &'a Interest<'a>,
    pub(super) name: &'a HashedName<'a>,
    pub(super) nonce: u32,
    pub(super) expires: Time,
    pub(super) token: PitToken,
    pub(super) mark: u64,
    pub(super) options: HopOptions,
    pub(super) next_hop: Option<u64>,
    pub(super) subject: Subject,
    /// Its size on the link.
    pub(super) size: usize,
    /// What the downstream's parts expect of it.
    pub(super) expected: Option<Expected>,
    /// Which segments of the PIT entry it is about, if that is for a run.
    pub(super) bits: SegmentBits,
}

impl Forwarder {
    /// Incoming Interest pipeline.
    pub(super) fn on_interest(
        &mut self,
        now: Time,
        face: FaceId,
        header: &LpPacket<'_>,
        mark: u64,
        bytes: &[u8],
    ) {
        let Ok(interest) = Interest::decode(bytes) else {
            return self.count_drop(face, DropReason::Malformed);
        };
        // Local applications alone may say where their Interests are to go. What another wants
        // cannot be done otherwise: it is dropped, as by NFD's link service, before it counts.
        let next_hop = header.next_hop_face_id();
        if next_hop.is_some() && !self.faces.get(face).is_some_and(|face| face.local_fields) {
            return self.count_drop(face, DropReason::Malformed);
        }
        let Some(state) = self.count_received(face, Kind::Interest) else { return };
        if super::violates_scope(state, interest.name()) {
            return self.count_drop(face, DropReason::Scope);
        }
        if interest.hop_limit() == Some(0) {
            return self.count_drop(face, DropReason::HopLimit);
        }
        let home = self.reached_its_region(&interest);
        let mut buffer = std::mem::take(&mut self.scratch.interest);
        if interest.nonce().is_none() || home {
            rewrite(&interest, self.nonces.next_u32(), home, &mut buffer);
        }
        let interest = if buffer.is_empty() { Ok(interest) } else { Interest::decode(&buffer) };
        // A nonce may make the packet larger than a packet may be.
        if let Ok(interest) = interest {
            let mut options = self.take_options(face, header);
            self.ignore_unproved_range(now, face, &mut options);
            let name = self.hashed(interest.name());
            self.arrive(
                now,
                &mut Arrived {
                    face,
                    interest: &interest,
                    name: &name,
                    nonce: interest.nonce().unwrap_or_default(),
                    expires: now + self.lifetime(&interest),
                    token: PitToken::new(header.pit_token().unwrap_or_default())
                        .unwrap_or_default(),
                    mark,
                    options,
                    next_hop,
                    subject: Subject::default(),
                    size: super::on_link(header, bytes),
                    expected: None,
                    bits: SegmentBits::NONE,
                },
            );
        } else {
            self.count_drop(face, DropReason::TooBig);
        }
        buffer.clear();
        self.scratch.interest = buffer;
    }

    /// A hint for a region that this node is in has done its duty and is taken out.
    fn reached_its_region(&self, interest: &Interest<'_>) -> bool {
        !self.regions.is_empty()
            && interest
                .forwarding_hint()
                .any(|hint| self.regions.iter().any(|region| region.as_ref().starts_with(hint)))
    }

    pub(super) fn lifetime(&self, interest: &Interest<'_>) -> Duration {
        Duration::from_millis(interest.lifetime_ms()).min(self.max_lifetime)
    }

    /// Dead nonces, stamper, shaper at stage *arrival*.
    fn arrive(&mut self, now: Time, a: &mut Arrived<'_>) {
        // With a content store that answers what comes round, there is often none to remember.
        if !self.dead_nonces.is_empty()
            && let nonce = self.hasher.nonce_key(a.name.whole(), a.nonce)
            && self.dead_nonces.contains(now, nonce)
        {
            return self.refuse(now, a, DropReason::Duplicate, NackReason::Duplicate);
        }
        if self.parts == 0 || self.pass_arrival_parts(now, a) {
            self.enter(now, a);
        }
    }

    /// Says whether the Interest goes on now.
    fn pass_arrival_parts(&mut self, now: Time, a: &mut Arrived<'_>) -> bool {
        a.subject = subject_of(a.name);
        let wire = a.interest.wire();
        self.crossed(now, a.face, Kind::Interest, a.subject, a.size, &a.options);
        let offered = self.with_link(now, a.face, |link, env, node| {
            if !link.has_parts() {
                return Some(Offered::Pass(a.meta(Size::ZERO)));
            }
            let size = link.expected(a.subject.flow, &a.options, segments_in(&a.options));
            let mut expected = Expected { flow: a.subject.flow, size, released_at: None };
            let mut meta = a.meta(size);
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
        self.wake(now, a.face);
        self.passes(a, offered.flatten()).unwrap_or_else(|reason| {
            self.refuse(now, a, reason, NackReason::Congestion);
            false
        })
    }

    /// What the downstream's shaper answered: whether the Interest goes on now, or why it is
    /// refused. Its options are those that the shaper leaves.
    fn passes(
        &mut self,
        a: &mut Arrived<'_>,
        offered: Option<Offered>,
    ) -> Result<bool, DropReason> {
        match offered {
            Some(Offered::Pass(meta)) => {
                a.options = meta.options;
                Ok(true)
            }
            Some(Offered::Held) => Ok(false),
            Some(Offered::Refused(options)) => {
                a.options = options;
                Err(DropReason::ShaperRefused)
            }
            Some(Offered::Full) => Err(DropReason::HeldLimit),
            None => {
                self.count_drop(a.face, DropReason::HeldDuplicate);
                Ok(false)
            }
        }
    }

    /// PIT and content store.
    pub(super) fn enter(&mut self, now: Time, a: &mut Arrived<'_>) {
        if !a.options.is_empty()
            && let Some(wanted) = self.take_range(a)
        {
            // An exclusion is about the answers to one name.
            a.options.remove(Exclude::TYPE);
            return self.enter_range(now, a, &wanted);
        }
        self.enter_one(now, a);
    }

    /// The same for one that asks for one thing.
    pub(super) fn enter_one(&mut self, now: Time, a: &mut Arrived<'_>) {
        let excludes = excludes(&a.options);
        let key = self.pit.find_entry(a.interest, a.name, excludes);
        let entry = key.and_then(|key| self.pit.get(key));
        let pending = entry.is_some_and(|entry| !entry.in_records().is_empty());
        if entry.is_some_and(|entry| self.is_loop(entry, a)) {
            self.give_back(now, a);
            return self.refuse(now, a, DropReason::Duplicate, NackReason::Duplicate);
        }
        // What another consumer excludes, and so asks for further on, may be in the store.
        if (!pending || excludes) && self.answer_from_store(now, a) {
            return;
        }
        let key = key.filter(|key| !self.end_lingering(*key));
        let stored = self.make_room_for(now, key, a).and_then(|()| match key {
            Some(key) => self.join(now, key, a).map(|()| key),
            None => self.pit.insert(a.interest, a.name, a.in_record(now)),
        });
        let key = match stored {
            Ok(key) => key,
            Err(refusal) => {
                self.give_back(now, a);
                return self.count_drop(a.face, reason_of(refusal));
            }
        };
        self.stats.aggregated += u64::from(pending);
        if self.parts == 0 || self.pass_miss_shaper(now, key, a) {
            self.forward(now, key, a);
        }
    }

    /// An entry whose Data came is none to be joined; says whether this was one.
    fn end_lingering(&mut self, key: PitKey) -> bool {
        let lingers = self.pit.get(key).is_some_and(PitEntry::lingers);
        if lingers {
            self.pit.discard(key);
        }
        lingers
    }

    /// Makes room for an Interest in an entry that there is, or in a new one. Where memory is
    /// scarce it may have to end earlier.
    pub(super) fn make_room_for(
        &mut self,
        now: Time,
        key: Option<PitKey>,
        a: &mut Arrived<'_>,
    ) -> Result<(), Refusal> {
        let mut expires = a.expires;
        let made = self.reserve_pending(now, a.face, a.name, &mut expires, |forwarder| {
            let record = a.in_record(now);
            match key {
                Some(key) => forwarder.pit.growth_of(key, &record),
                None => {
                    let len = a.interest.wire().len();
                    forwarder.pit.growth(a.name.whole(), len, &record)
                }
            }
        });
        a.expires = expires;
        made
    }

    /// Tells the shaper at stage *arrival* that an Interest that it let through will bring nothing.
    pub(super) fn give_back(&mut self, now: Time, a: &Arrived<'_>) {
        if let Some(expected) = a.expected {
            self.with_link(now, a.face, |link, env, _| link.returned(env, &expected, None));
            self.wake(now, a.face);
        }
    }

    /// Puts the in-record of an Interest that is pending already. A record keeps one nonce: the one
    /// that it had is remembered, or it could circle for ever. For the same reason a copy does not
    /// live longer than what it is a copy of.
    fn join(&mut self, now: Time, key: PitKey, a: &Arrived<'_>) -> Result<(), Refusal> {
        let mut record = a.in_record(now);
        let before = self.pit.get(key).and_then(|entry| entry.in_record(a.face));
        if let Some(before) = before.filter(|before| before.nonce == a.nonce) {
            record.expires = before.expires;
        }
        let before = self.pit.put_in_record(key, record)?;
        if let Some(before) = before.filter(|before| before.nonce != a.nonce) {
            let nonce = self.hasher.nonce_key(a.name.whole(), before.nonce);
            self.dead_nonces.insert(now, nonce);
        }
        Ok(())
    }

    /// A nonce that is here already, from or to another face, has come round a loop. On a
    /// point-to-point face the same nonce from the same face is a copy, not a loop.
    pub(super) fn is_loop(&self, entry: &PitEntry, a: &Arrived<'_>) -> bool {
        let copies = self.faces.get(a.face).is_some_and(|f| f.link_type == LinkType::PointToPoint);
        if copies && entry.in_record(a.face).is_some_and(|r| r.nonce == a.nonce) {
            return false;
        }
        entry.in_records().iter().any(|r| r.nonce == a.nonce)
            || entry.out_records().iter().any(|r| r.nonce == a.nonce)
    }

    /// Content store; a hit goes the Data's way. Nothing hop-by-hop comes out of it: the token is
    /// the Interest's, the options are those of an answer to it, and there is no mark.
    pub(super) fn answer_from_store(&mut self, now: Time, a: &Arrived<'_>) -> bool {
        self.bound_store();
        let excluded = if excludes(&a.options) { a.options.get::<Exclude>() } else { None };
        let found = match &excluded {
            None => self.store.find(now, a.interest, a.name),
            Some(excluded) => self.store.find_except(now, a.interest, a.name, excluded),
        };
        let Some(packet) = found else {
            self.stats.misses += 1;
            return false;
        };
        self.stats.hits += 1;
        let mut options = answer(&a.options, Some(self.id));
        self.copy_answered(now, &a.options, &packet, &mut options);
        if let Some(expected) = a.expected {
            let size = Size(packet.len() as u64);
            self.with_link(now, a.face, |link, env, _| link.returned(env, &expected, Some(size)));
        }
        self.send_data(
            now,
            a.face,
            QueuedData {
                at: now,
                packet,
                token: a.token.clone(),
                mark: 0,
                options,
                from: 0,
                subject: a.subject,
            },
        );
        true
    }

    /// Shaper of the downstream at stage *miss*; says whether the Interest goes on now.
    pub(super) fn pass_miss_shaper(&mut self, now: Time, key: PitKey, a: &mut Arrived<'_>) -> bool {
        let Some(mut expected) = a.expected else { return true };
        let offered = self.with_link(now, a.face, |link, env, _| {
            let meta = a.meta(expected.size);
            let offered = link
                .offer(env, Stage::Miss, None, meta, Some(key.to_bits()), || Waiting::Pending(key));
            let passed = matches!(offered, Some(Offered::Pass(_)));
            if passed && link.shaper_stage() == Some(Stage::Miss) {
                expected.released_at = Some(now);
            }
            link.expect(env, Direction::Out, key, expected);
            offered
        });
        self.wake(now, a.face);
        self.passes(a, offered.flatten()).unwrap_or_else(|reason| {
            self.refuse_pending(now, key, a.face, reason);
            false
        })
    }

    /// FIB and strategy, or the face that a local application asked for.
    pub(super) fn forward(&mut self, now: Time, key: PitKey, a: &mut Arrived<'_>) {
        let mut out = Outbound {
            key,
            ingress: a.face,
            interest: a.interest,
            name: a.name,
            nonce: a.nonce,
            mark: a.mark,
            options: std::mem::take(&mut a.options),
            subject: a.subject,
            answer: HopOptions::new(),
            bits: a.bits,
        };
        self.count_cache(&mut out.options);
        match a.next_hop {
            Some(face) if self.must_expand(&out, &[Action::Forward(face)]) => {
                self.expand(now, &out, &[Action::Forward(face)]);
            }
            Some(face) => {
                self.send_interest(now, &out, FaceId(face));
            }
            None => self.decide(now, &mut out, a.face, Trigger::Interest),
        }
    }

    /// Drops an Interest that is not in the PIT and tells the downstream why.
    pub(super) fn refuse(
        &mut self,
        now: Time,
        a: &Arrived<'_>,
        reason: DropReason,
        nack: NackReason,
    ) {
        self.count_drop(a.face, reason);
        let (token, options) = (a.token.clone(), answer(&a.options, None));
        self.send_nack(now, a.face, a.interest, a.nonce, (token, options), nack);
    }
}

impl Arrived<'_> {
    pub(super) fn in_record(&self, now: Time) -> InRecord {
        InRecord {
            face: self.face,
            nonce: self.nonce,
            arrived_at: now,
            expires: self.expires,
            token: self.token.clone(),
            options: self.options.clone(),
        }
    }

    /// The Interest as parts see it; takes its options.
    fn meta(&mut self, expected: Size) -> InterestMeta {
        InterestMeta {
            flow: self.subject.flow,
            segment: self.subject.segment,
            size: Size(self.interest.wire().len() as u64),
            expected,
            expires: self.expires,
            options: std::mem::take(&mut self.options),
            handle: 0,
        }
    }
}

pub(super) fn reason_of(refusal: Refusal) -> DropReason {
    match refusal {
        Refusal::PerFace => DropReason::PitFaceLimit,
        Refusal::PrefixTooDeep => DropReason::NameTooDeep,
        Refusal::Entries | Refusal::Memory | Refusal::Gone => DropReason::PitFull,
        Refusal::Shared => DropReason::Memory,
        Refusal::Prefix => DropReason::PitPrefixShare,
    }
}
