//! The way of range Interests.
//!
//! One is as many Interests as it wants segments, which share nonce, lifetime and options. What of
//! them neither the content store has nor anybody waits for becomes one PIT entry, is asked about
//! once, and goes on as one Interest where the other end of the face understands that; elsewhere as
//! many.

use control::{Action, Direction, Size, Time};
use packet::options::{Range, SegmentBits, answer};
use packet::tlv::{put_header, tlv_len, types};
use packet::{Component, HopOption, HopOptions, Interest, NackReason};

use super::interest::Arrived;
use super::upstream::Outbound;
use crate::budget::Part;
use crate::counters::{DropReason, OptionFault};
use crate::forwarder::Forwarder;
use crate::link::shaping::Expected;
use crate::node::subject_of;
use crate::tables::FaceId;
use crate::tables::pit::{Segments, segment_of};
use crate::tables::{HashedName, InRecord, MAX_PREFIX, OutRecord, PitEntry, PitKey};

/// Writes the Interest with another last component to its name.
fn with_last(interest: &Interest<'_>, last: &Component, out: &mut Vec<u8>) {
    let last = last.as_ref();
    out.clear();
    let Ok(value) = packet::tlv::only(interest.wire(), types::INTEREST) else { return };
    let name = interest.name();
    let parent = name.parent().as_bytes();
    let name_len = parent.len() + last.encoded_len();
    let rest = &value[tlv_len(types::NAME, name.as_bytes().len())..];
    put_header(out, types::INTEREST, tlv_len(types::NAME, name_len) + rest.len());
    put_header(out, types::NAME, name_len);
    out.extend_from_slice(parent);
    last.encode_into(out);
    out.extend_from_slice(rest);
}

/// The segments that an Interest asks for with a range, if it can ask so.
fn segments(a: &Arrived<'_>, range: &Range) -> Option<Segments> {
    let plain = !a.interest.can_be_prefix() && a.interest.parameters().is_none();
    let (first, convention) = segment_of(a.interest.name().last()?)?;
    first.checked_add(u64::from(range.count()))?;
    a.name.prefix(a.name.components() - 1)?;
    plain.then(|| Segments { first, convention, bits: range.wanted() })
}

/// The faces that something is expected over for an entry, and in which direction.
fn sides(entry: &PitEntry) -> Vec<(FaceId, Direction)> {
    let ins = entry.in_records().iter().map(|record| (record.face, Direction::Out));
    ins.chain(entry.out_records().iter().map(|r| (r.face(), Direction::In))).collect()
}

impl Forwarder {
    /// Takes the range out of an Interest's options: what it wants, if it can be had in this way.
    /// Otherwise it is an Interest for what its name says, as it is to whoever knows no ranges.
    pub(super) fn take_range(&mut self, a: &mut Arrived<'_>) -> Option<Segments> {
        a.options.get_raw(Range::TYPE)?;
        let range = a.options.get::<Range>();
        a.options.remove(Range::TYPE);
        if self.max_range <= 1 {
            return None;
        }
        let wanted = range.and_then(|range| segments(a, &range));
        if wanted.is_none() {
            self.count_option_fault(a.face, OptionFault::RangeMisplaced);
        }
        wanted
    }

    /// PIT and content store, for each segment.
    pub(super) fn enter_range(&mut self, now: Time, a: &mut Arrived<'_>, wanted: &Segments) {
        let each = a.expected.map(|expected| Expected {
            size: Size(expected.size.0 / u64::from(wanted.bits.count().max(1))),
            ..expected
        });
        let allowed = SegmentBits::first(self.max_range);
        let mut left = Segments { bits: wanted.bits.and(allowed), ..*wanted };
        let beyond = wanted.bits.without(allowed);
        if !beyond.is_empty() {
            // More than is taken here at once: the rest is to be asked for again.
            self.refuse_segments(now, a, beyond, DropReason::RangeTooLong, each);
        }
        let Some(mut parts) = self.join_runs(now, a, &mut left) else {
            self.give_back(now, a);
            Range::of(wanted.bits).map(|range| a.options.set(&range));
            return self.refuse(now, a, DropReason::Duplicate, NackReason::Duplicate);
        };
        for at in left.bits.iter() {
            if self.enter_segment(now, a, &left, at, each) {
                left.bits.remove(at);
            }
        }
        if !left.bits.is_empty() {
            let made = self.make_room_for(now, None, a);
            let made = made
                .and_then(|()| self.pit.insert_run(a.interest, a.name, &left, a.in_record(now)));
            match made {
                Ok(key) => parts.push((key, left.bits)),
                Err(refusal) => {
                    self.give_back_part(now, a, each, left.bits.count());
                    self.count_drop(a.face, super::interest::reason_of(refusal));
                }
            }
        }
        for (key, bits) in parts {
            self.forward_part(now, a, key, bits, each);
        }
    }

    /// An Interest for `bits` of an entry's run goes on. Its name is that of the entry, from whose
    /// first segment they count: the downstream's run may begin elsewhere.
    fn forward_part(
        &mut self,
        now: Time,
        a: &Arrived<'_>,
        key: PitKey,
        bits: SegmentBits,
        each: Option<Expected>,
    ) {
        let Some(run) = self.pit.get(key).and_then(|entry| entry.run()) else { return };
        let pending = run.pending();
        let mut buffer = std::mem::take(&mut self.scratch.segment);
        with_last(a.interest, &pending.convention.component(pending.first), &mut buffer);
        if let Ok(interest) = Interest::decode(&buffer) {
            let name = self.hashed(interest.name());
            let size = |one: Expected| Size(one.size.0 * u64::from(bits.count()));
            let mut part = Arrived {
                interest: &interest,
                name: &name,
                token: a.token.clone(),
                options: a.options.clone(),
                subject: subject_of(&name),
                expected: each.map(|one| Expected { size: size(one), ..one }),
                bits,
                ..*a
            };
            if self.parts == 0 || self.pass_miss_shaper(now, key, &mut part) {
                self.forward(now, key, &mut part);
            }
        }
        self.scratch.segment = buffer;
    }

    /// Joins the entries in which some of what is `left` is pending, and takes that out of it: the
    /// entries, with what is asked of each. `None` if the Interest has come round a loop.
    fn join_runs(
        &mut self,
        now: Time,
        a: &mut Arrived<'_>,
        left: &mut Segments,
    ) -> Option<Vec<(PitKey, SegmentBits)>> {
        let (mut runs, mut parts) = (Vec::new(), Vec::new());
        if self.pit.has_runs() {
            self.pit.find_runs(a.name, &mut runs);
        }
        let fresh = a.interest.must_be_fresh();
        for key in runs {
            let Some(entry) = self.pit.get(key).filter(|e| e.must_be_fresh() == fresh) else {
                continue;
            };
            let Some(pending) = entry.run().map(|run| run.pending()) else { continue };
            let shared = left.within(&pending);
            if shared.is_empty() {
                continue;
            }
            if self.is_loop(entry, a) {
                return None;
            }
            let taken = Segments { bits: shared, ..pending }.within(left);
            left.bits = left.bits.without(taken);
            parts.push((key, shared));
        }
        parts.retain_mut(|(key, bits)| {
            *key = self.split(now, *key, *bits).unwrap_or(*key);
            self.join_run(now, *key, a, *bits)
        });
        Some(parts)
    }

    /// Makes an entry of its own of some segments of a run, so that what is decided of them is
    /// decided of them alone: whether to ask again is a matter of each segment. Not while a shaper
    /// holds the Interest, which is one. `None` if there is no room.
    fn split(&mut self, now: Time, key: PitKey, bits: SegmentBits) -> Option<PitKey> {
        let entry = self.pit.get(key)?;
        if entry.out_records().iter().any(|record| record.released_at().is_none()) {
            return Some(key);
        }
        let (of, faces) = (entry.segments(), sides(entry));
        if !self.reserve(Part::Pending, |forwarder| forwarder.pit.growth_copy(key)) {
            return None;
        }
        let split = self.pit.split_run(key, bits).ok()?;
        if split != key {
            self.move_expected(now, key, split, &faces, (bits.count(), of));
        }
        Some(split)
    }

    /// As [`Forwarder::join`]; says whether there was room.
    fn join_run(&mut self, now: Time, key: PitKey, a: &mut Arrived<'_>, bits: SegmentBits) -> bool {
        let made = self.make_room_for(now, Some(key), a);
        let mut record = a.in_record(now);
        let before = self.pit.get(key).and_then(|entry| entry.in_record(a.face));
        if let Some(before) = before.filter(|before| before.nonce == a.nonce) {
            record.expires = before.expires;
        }
        let joined = made.and_then(|()| self.pit.join_run(key, record, bits));
        match joined {
            Ok(before) => {
                if let Some(before) = before.filter(|before| before.nonce != a.nonce) {
                    let nonce = self.hasher.nonce_key(a.name.whole(), before.nonce);
                    self.dead_nonces.insert(now, nonce);
                }
                self.stats.aggregated += u64::from(bits.count());
                true
            }
            Err(refusal) => {
                self.count_drop(a.face, super::interest::reason_of(refusal));
                false
            }
        }
    }

    /// One segment, as if it had been asked for alone: if it is pending so, or in the content
    /// store. Otherwise nothing is done, and it is for the rest's entry.
    fn enter_segment(
        &mut self,
        now: Time,
        a: &Arrived<'_>,
        wanted: &Segments,
        at: u16,
        expected: Option<Expected>,
    ) -> bool {
        let segment = wanted.first.saturating_add(u64::from(at));
        let mut buffer = std::mem::take(&mut self.scratch.segment);
        with_last(a.interest, &wanted.convention.component(segment), &mut buffer);
        let done = Interest::decode(&buffer).is_ok_and(|interest| {
            let name = self.hashed(interest.name());
            let mut one = Arrived {
                interest: &interest,
                name: &name,
                token: a.token.clone(),
                options: a.options.clone(),
                subject: subject_of(&name),
                expected,
                bits: SegmentBits::NONE,
                ..*a
            };
            if self.is_routed_alone(&name) || self.pit.find(&interest, &name).is_some() {
                self.enter_one(now, &mut one);
                return true;
            }
            self.answer_from_store(now, &one)
        });
        self.scratch.segment = buffer;
        done
    }

    /// There are routes for names as long as this one: segments of one run may lead to different
    /// places, so that each goes its own way.
    fn is_routed_alone(&self, name: &HashedName<'_>) -> bool {
        name.components() >= MAX_PREFIX || self.fib.lengths() >> name.components() & 1 == 1
    }

    /// Tells the shaper at stage *arrival* that `count` segments will bring nothing.
    fn give_back_part(&mut self, now: Time, a: &Arrived<'_>, each: Option<Expected>, count: u16) {
        let Some(one) = each else { return };
        let expected = Expected { size: Size(one.size.0 * u64::from(count)), ..one };
        self.with_link(now, a.face, |link, env, _| link.returned(env, &expected, None));
        self.wake(now, a.face);
    }

    fn refuse_segments(
        &mut self,
        now: Time,
        a: &Arrived<'_>,
        bits: SegmentBits,
        reason: DropReason,
        each: Option<Expected>,
    ) {
        self.give_back_part(now, a, each, bits.count());
        self.count_drop(a.face, reason);
        let mut options = answer(&a.options, None);
        Range::of(bits).map(|range| options.set(&range));
        let with = (a.token.clone(), options);
        self.send_nack(now, a.face, a.interest, a.nonce, with, NackReason::Congestion);
    }

    /// Whether one of the faces that a strategy wants to send a run by understands no ranges.
    /// Probes make single entries as well: the answer that comes second is of use to the strategy
    /// only if the entry lingers, and a run does not.
    pub(super) fn must_expand(&self, out: &Outbound<'_>, actions: &[Action]) -> bool {
        !out.bits.is_empty()
            && actions.iter().any(|action| match action {
                Action::Probe(_) => true,
                Action::Forward(face) => {
                    let face = self.faces.get(FaceId(*face));
                    face.is_some_and(|face| !face.link.takes_ranges())
                }
                _ => false,
            })
    }

    /// Makes an entry of its own of each segment that is to be asked for, and does with each what
    /// the strategy wants.
    pub(super) fn expand(&mut self, now: Time, out: &Outbound<'_>, actions: &[Action]) {
        let Some(entry) = self.pit.get(out.key) else { return };
        let Some(run) = entry.run() else { return };
        let pending = run.pending();
        let ins: Vec<(InRecord, SegmentBits)> =
            entry.in_records().iter().map(|r| (r.clone(), run.wanted_by(r.face))).collect();
        let outs: Vec<(OutRecord, SegmentBits)> =
            entry.out_records().iter().map(|r| (r.clone(), run.asked_of(r.face()))).collect();
        let (faces, note) = (sides(entry), entry.note);
        let mut buffer = Vec::new();
        let mut number = pending.bits.count();
        for at in pending.bits.and(out.bits).iter() {
            let segment = pending.first.saturating_add(u64::from(at));
            with_last(out.interest, &pending.convention.component(segment), &mut buffer);
            let Ok(interest) = Interest::decode(&buffer) else { continue };
            let name = self.hashed(interest.name());
            let made = self.make_single(&interest, &name, note, at, &ins, &outs);
            if let Some(key) = made {
                self.move_expected(now, out.key, key, &faces, (1, number));
            }
            let mut bit = SegmentBits::NONE;
            bit.insert(at);
            self.pit.clear_segments(out.key, bit);
            number -= 1;
            let Some(key) = made else {
                self.count_drop(out.ingress, DropReason::PitFull);
                continue;
            };
            let mut one = Outbound {
                key,
                interest: &interest,
                name: &name,
                options: out.options.clone(),
                subject: subject_of(&name),
                answer: HopOptions::new(),
                bits: SegmentBits::NONE,
                ..*out
            };
            for action in actions {
                if let Some((face, trigger)) = self.act(now, &mut one, *action) {
                    self.decide(now, &mut one, face, trigger);
                }
            }
        }
        if self.pit.get(out.key).is_some_and(|entry| entry.in_records().is_empty()) {
            self.pit.discard(out.key);
        }
    }

    /// The PIT entry of one segment of a run, with those that wait for it and were asked for it.
    fn make_single(
        &mut self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        note: [u64; 2],
        at: u16,
        ins: &[(InRecord, SegmentBits)],
        outs: &[(OutRecord, SegmentBits)],
    ) -> Option<PitKey> {
        let mut key = self.pit.find(interest, name);
        let is_new = key.is_none();
        for (record, _) in ins.iter().filter(|(_, bits)| bits.has(at)) {
            let (hash, bytes) = (name.whole(), interest.wire().len());
            let has_room = self.reserve(Part::Pending, |forwarder| match key {
                Some(key) => forwarder.pit.growth_of(key, record),
                None => forwarder.pit.growth(hash, bytes, record),
            });
            match key {
                _ if !has_room => {}
                Some(key) => _ = self.pit.put_in_record(key, record.clone()),
                None => key = self.pit.insert(interest, name, record.clone()).ok(),
            }
        }
        let key = key?;
        if is_new && let Some(entry) = self.pit.get_mut(key) {
            // What the strategy noted when it decided about the run.
            entry.note = note;
        }
        for (record, _) in outs.iter().filter(|(_, bits)| bits.has(at)) {
            let grows = |forwarder: &Forwarder| forwarder.pit.growth_upstream(key);
            if record.released_at().is_some() && self.reserve(Part::Pending, grows) {
                _ = self.pit.put_out_record(key, record.clone());
            }
        }
        Some(key)
    }

    /// Moves what is expected for `share.0` of the `share.1` segments of an entry to another one.
    fn move_expected(
        &mut self,
        now: Time,
        from: PitKey,
        to: PitKey,
        faces: &[(FaceId, Direction)],
        share: (u16, u16),
    ) {
        if self.parts == 0 {
            return;
        }
        for (face, direction) in faces {
            self.with_link(now, *face, |link, _, _| {
                link.move_expected(*direction, from, to, share);
            });
        }
    }

    /// What was sent to `face` under this nonce for segments of runs will bring no Data: each
    /// entry's share is split off. The entries that are asked for as a whole then.
    pub(super) fn split_sent(
        &mut self,
        now: Time,
        face: FaceId,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        range: Option<Range>,
    ) -> Vec<PitKey> {
        let (mut runs, mut sent) = (Vec::new(), Vec::new());
        let Some((first, convention)) = interest.name().last().and_then(segment_of) else {
            return sent;
        };
        self.pit.find_runs(name, &mut runs);
        let bits = range.map_or(SegmentBits::first(1), |range| range.wanted());
        let asked_for = Segments { first, convention, bits };
        for key in runs {
            let Some(entry) = self.pit.get(key) else { continue };
            let (Some(run), Some(record)) = (entry.run(), entry.out_record(face)) else { continue };
            let asked = run.pending().bits.and(run.asked_of(face));
            let bits = asked_for.within(&Segments { bits: asked, ..run.pending() });
            if bits.is_empty() || interest.nonce() != Some(record.nonce) {
                continue;
            }
            // Where there is no room for another entry, it expires.
            sent.extend(self.split(now, key, bits));
        }
        sent
    }

    /// Tells the shapers on both sides of an entry for a run that one of its segments came from
    /// `from`, in Data of `len` bytes.
    pub(super) fn settle_segment(
        &mut self,
        now: Time,
        key: PitKey,
        at: u16,
        (from, len): (FaceId, usize),
    ) {
        let Some(entry) = self.pit.get(key) else { return };
        let Some(run) = entry.run() else { return };
        let size = Size(len as u64);
        let mut told: Vec<(FaceId, Direction, u16, Option<Size>)> = Vec::new();
        let pending = run.pending().bits;
        for record in entry.out_records() {
            let asked = run.asked_of(record.face()).and(pending);
            if asked.has(at) {
                let size = Some(size).filter(|_| record.face() == from);
                told.push((record.face(), Direction::In, asked.count(), size));
            }
        }
        for record in entry.in_records() {
            let wanted = run.wanted_by(record.face);
            if wanted.has(at) {
                told.push((record.face, Direction::Out, wanted.count(), Some(size)));
            }
        }
        for (face, direction, of, size) in told {
            self.with_link(now, face, |link, env, _| {
                link.settle_part(env, direction, key, of, size);
            });
            self.wake(now, face);
        }
    }
}
