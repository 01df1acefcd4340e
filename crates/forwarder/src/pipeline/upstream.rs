//! Strategies and what they ask for: Interests that are sent upstream.

use control::{
    Action, Cx, Direction, Downstream, InterestMeta, Links, NextHop, Size, Stage, StrategyCx, Time,
    Upstream,
};
use packet::options::{Range, SegmentBits};
use packet::{HopOptions, Interest, NackReason};
use smallvec::{SmallVec, smallvec};

use super::{LOCALHOP, LOCALHOST, LearnedRoute, Scratch, is_under};
use crate::budget::Part;
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::events::{Reporter, Taps};
use crate::face::Face;
use crate::forwarder::{Chosen, Forwarder};
use crate::link::Patch;
use crate::link::queue::QueuedControl;
use crate::link::shaping::{Expected, Offered, Waiting};
use crate::node::NodeAt;
use crate::node::Subject;
use crate::tables::FaceId;
use crate::tables::{HashedName, OutRecord, PitEntry, PitKey, Reach};

/// An Interest of a PIT entry that a strategy may send upstream.
pub(super) struct Outbound<'a> {
    pub(super) key: PitKey,
    /// The downstream that it is sent for.
    pub(super) ingress: FaceId,
    /// The Interest as it came; its hop limit is that of the hop before.
    pub(super) interest: &'a Interest<'a>,
    pub(super) name: &'a HashedName<'a>,
    pub(super) nonce: u32,
    pub(super) mark: u64,
    pub(super) options: HopOptions,
    pub(super) subject: Subject,
    /// The options of the Nack that the strategy is asked about; they go on with it.
    pub(super) answer: HopOptions,
    /// Which segments are to be asked for, if the PIT entry is for a run.
    pub(super) bits: SegmentBits,
}

/// What a strategy is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    Interest,
    Data,
    Nack(NackReason),
    Dropped,
    Timer,
    Expiry,
}

/// Shapers that refuse make a strategy decide anew; a strategy that never tires of asking them is
/// stopped after so many decisions for one packet.
const MAX_DECISIONS: usize = 16;

/// Hints beyond these are not looked up: a packet of nothing but hints would cost thousands of
/// lookups.
const MAX_HINTS: usize = 16;

/// A packet that a strategy is asked about.
pub(super) struct Question<'a> {
    pub(super) now: Time,
    pub(super) name: &'a HashedName<'a>,
    pub(super) ingress: FaceId,
    pub(super) mark: u64,
    pub(super) trigger: Trigger,
    pub(super) segments: u16,
    /// How far the Interest goes that it is about, if it is about one.
    pub(super) reach: Option<Reach>,
}

impl Question<'_> {
    /// Asks the strategy of the name; its actions are in `scratch` then.
    pub(super) fn ask(
        self,
        chosen: &mut Chosen,
        taps: &mut Taps,
        links: &dyn Links,
        scratch: &mut Scratch,
        entry: &mut PitEntry,
        options: &mut HopOptions,
    ) {
        scratch.downstreams.clear();
        scratch.downstreams.extend(entry.in_records().iter().map(|r| Downstream {
            face: r.face.0,
            arrived_at: r.arrived_at,
            expires: r.expires,
        }));
        scratch.upstreams.clear();
        scratch.upstreams.extend(entry.out_records().iter().map(|r| Upstream {
            face: r.face().0,
            released_at: r.released_at().unwrap_or(r.sent_at),
            nacked: r.nacked,
            expires: r.expires,
            falls_short: self.reach.is_some_and(|reach| reach.exceeds(r.reach)),
        }));
        scratch.actions.clear();
        let mut tap = taps.of(Reporter::Strategy);
        let mut cx = Cx { now: self.now, rng: &mut chosen.rng, tap: &mut tap };
        let mut s = StrategyCx {
            cx: &mut cx,
            name: self.name.name(),
            ingress: self.ingress.0,
            next_hops: &scratch.next_hops,
            prefix: scratch.prefix,
            links,
            segments: self.segments,
            downstreams: &scratch.downstreams,
            upstreams: &scratch.upstreams,
            options,
            mark: self.mark,
            note: &mut entry.note,
            out: &mut scratch.actions,
        };
        match self.trigger {
            Trigger::Interest => chosen.strategy.on_interest(&mut s),
            Trigger::Data => chosen.strategy.on_data(&mut s),
            Trigger::Nack(reason) => chosen.strategy.on_nack(&mut s, reason),
            Trigger::Dropped => chosen.strategy.on_dropped_interest(&mut s),
            Trigger::Timer => chosen.strategy.on_timer(&mut s),
            Trigger::Expiry => chosen.strategy.on_expiry(&mut s),
        }
    }
}

impl Forwarder {
    /// Tells the strategy of the end of an entry that is out of the PIT already; there is nothing
    /// left that it could do.
    #[allow(clippy::too_many_arguments, reason = "the fields of a question, one by one")]
    pub(super) fn tell(
        &mut self,
        now: Time,
        name: &HashedName<'_>,
        entry: &mut PitEntry,
        ingress: FaceId,
        options: &mut HopOptions,
        mark: u64,
        trigger: Trigger,
    ) {
        let Forwarder { strategies, taps, scratch, faces, .. } = self;
        scratch.next_hops.clear();
        scratch.prefix = 0;
        let segments = entry.segments();
        let question = Question { now, name, ingress, mark, trigger, segments, reach: None };
        let chosen = strategies.find_mut(name);
        question.ask(chosen, taps, &faces.links(now), scratch, entry, options);
    }

    /// Asks the strategy what to do with a pending Interest, and does it. `from` is the face that
    /// the packet came from that the question is about.
    pub(super) fn decide(
        &mut self,
        now: Time,
        out: &mut Outbound<'_>,
        from: FaceId,
        trigger: Trigger,
    ) {
        let mut questions: SmallVec<[(FaceId, Trigger); 2]> = smallvec![(from, trigger)];
        for _ in 0..MAX_DECISIONS {
            let Some((ingress, trigger)) = questions.pop() else { return };
            self.collect_next_hops(out, ingress);
            let reach = Some(self.reach(out.interest));
            let Forwarder { pit, strategies, taps, scratch, faces, .. } = self;
            let Some(entry) = pit.get_mut(out.key) else { return };
            let segments = out.bits.count().max(1);
            let question =
                Question { now, name: out.name, ingress, mark: out.mark, trigger, segments, reach };
            let (chosen, links) = (strategies.find_mut(out.name), faces.links(now));
            question.ask(chosen, taps, &links, scratch, entry, &mut out.options);
            let mut actions = std::mem::take(&mut self.scratch.actions);
            if self.must_expand(out, &actions) {
                return self.expand(now, out, &actions);
            }
            for action in actions.drain(..) {
                questions.extend(self.act(now, out, action));
            }
            self.scratch.actions = actions;
        }
    }

    /// Does what a strategy wants. If a face's shaper refuses the Interest, what the strategy is to
    /// be told of that.
    pub(super) fn act(
        &mut self,
        now: Time,
        out: &mut Outbound<'_>,
        action: Action,
    ) -> Option<(FaceId, Trigger)> {
        match action {
            Action::Forward(face) => return self.send_or_refuse(now, out, FaceId(face)),
            Action::Probe(face) => {
                let nonce = self.nonces.next_u32();
                let nonce = std::mem::replace(&mut out.nonce, nonce);
                let refused = self.send_or_refuse(now, out, FaceId(face));
                out.nonce = nonce;
                return refused;
            }
            Action::Nack(reason) => self.nack_all(now, out.key, out.name, reason, &out.answer),
            Action::RetryAt(at) => self.pit.set_retry(out.key, at),
            Action::Forget(face) => {
                let (face, name) = (FaceId(face), out.name.name().to_name());
                self.teach(LearnedRoute::Refused { face, name });
            }
            // These are for Data.
            Action::Linger(_) | Action::Learn(_) | Action::Announce => {}
        }
        None
    }

    /// Sends the Interest by this face; if the face's shaper refuses it, what the strategy is to be
    /// told of that.
    fn send_or_refuse(
        &mut self,
        now: Time,
        out: &mut Outbound<'_>,
        face: FaceId,
    ) -> Option<(FaceId, Trigger)> {
        let reason = self.send_interest(now, out, face)?;
        out.answer = HopOptions::new();
        self.stamp_nack_in(now, face, out.name, &mut out.answer);
        Some((face, Trigger::Nack(reason)))
    }

    /// Asks the strategy anew about an entry, for another reason than an Interest that came. The
    /// Interest that it may send is that of the latest downstream; `answer` are the options of a
    /// Nack that the question is about.
    pub(super) fn reconsider(
        &mut self,
        now: Time,
        key: PitKey,
        from: Option<FaceId>,
        trigger: Trigger,
        answer: HopOptions,
    ) {
        let Some(entry) = self.pit.get(key) else { return };
        let Some(latest) = entry.in_records().iter().max_by_key(|r| r.arrived_at) else { return };
        let (ingress, nonce, mut options) = (latest.face, latest.nonce, latest.options.clone());
        let bits = entry.run().map_or(SegmentBits::NONE, |run| run.pending().bits);
        let bytes = entry.interest().to_vec();
        self.count_cache(&mut options);
        // What is in the PIT was decoded when it came.
        let Ok(interest) = Interest::decode(&bytes) else { return };
        let name = self.hashed(interest.name());
        let subject =
            if self.parts > 0 { crate::node::subject_of(&name) } else { Subject::default() };
        let mark = 0;
        let interest = &interest;
        let name = &name;
        let mut out =
            Outbound { key, ingress, interest, name, nonce, mark, options, subject, answer, bits };
        self.decide(now, &mut out, from.unwrap_or(ingress), trigger);
    }

    /// FIB: longest-prefix match by the name, or by the first hint that has a route.
    fn collect_next_hops(&mut self, out: &Outbound<'_>, ingress: FaceId) {
        let mut hops = std::mem::take(&mut self.scratch.next_hops);
        hops.clear();
        self.scratch.prefix = 0;
        let mut hinted = false;
        for hint in out.interest.forwarding_hint().take(MAX_HINTS) {
            hinted = true;
            if let Some((_, found)) = self.fib.lookup(&self.hasher.hash(hint)) {
                hops.extend_from_slice(found);
                break;
            }
        }
        if !hinted && let Some((length, found)) = self.fib.lookup(out.name) {
            self.scratch.prefix = length;
            hops.extend_from_slice(found);
        }
        let routed = (!hinted).then_some(self.scratch.prefix);
        self.count_prefix(out.key, out.name, routed);
        hops.retain(|hop: &NextHop| {
            let face = self.faces.get(FaceId(hop.face));
            // Whoever has just said no is not asked again.
            let nacked = FaceId(hop.face) == ingress && ingress != out.ingress;
            face.is_some_and(|face| !nacked && self.may_leave(out, face))
        });
        super::exclusion::rotate(self.id, &mut hops, &out.options);
        self.scratch.next_hops = hops;
    }

    /// Whether the Interest may leave by this face: not back to where it came from (unless ad hoc),
    /// scope control, hop limit.
    fn may_leave(&self, out: &Outbound<'_>, face: &Face) -> bool {
        if face.id == out.ingress && face.link_type != LinkType::AdHoc {
            return false;
        }
        if face.is_local() {
            return true;
        }
        let name = out.name.name();
        // A hop limit of 1 is 0 after this hop: only applications here may still answer.
        let spent = out.interest.hop_limit().is_some_and(|limit| limit <= 1);
        let from_here = || self.faces.get(out.ingress).is_some_and(Face::is_local);
        !spent && !is_under(name, LOCALHOST) && (!is_under(name, LOCALHOP) || from_here())
    }

    fn reach(&self, interest: &Interest<'_>) -> Reach {
        let hops = interest.hop_limit().unwrap_or(u8::MAX);
        let hint = interest.forwarding_hint().fold(0, |before: u16, name| {
            before.wrapping_mul(31).wrapping_add(self.hasher.hash(name).whole() as u16)
        });
        Reach { hops, hint }
    }

    /// Outgoing Interest pipeline. Gives the reason if the face's shaper refused it.
    pub(super) fn send_interest(
        &mut self,
        now: Time,
        out: &Outbound<'_>,
        face: FaceId,
    ) -> Option<NackReason> {
        if !self.faces.get(face).is_some_and(|state| self.may_leave(out, state)) {
            self.count_drop(out.ingress, DropReason::NoNextHop);
            return None;
        }
        let entry = self.pit.get(out.key)?;
        if entry.out_record(face).is_some_and(|record| record.released_at().is_none()) {
            // The shaper has it already.
            return None;
        }
        let expires = now + self.lifetime(out.interest);
        let mut record = OutRecord::new(face, out.nonce, now, expires);
        record.reach = self.reach(out.interest);
        if !self.reserve(Part::Pending, |forwarder| forwarder.pit.growth_upstream(out.key)) {
            self.count_drop(out.ingress, DropReason::Memory);
            return None;
        }
        if self.pit.put_out_record(out.key, record).is_err() {
            self.count_drop(out.ingress, DropReason::PitFull);
            return None;
        }
        let mut leaving = Leaving { expires, options: out.options.clone(), ..Leaving::default() };
        if !out.bits.is_empty() {
            self.pit.note_asked(out.key, face, out.bits);
            leaving.options.set(&Range::of(out.bits)?);
        }
        if self.parts > 0 {
            let options = std::mem::take(&mut leaving.options);
            match self.pass_departure_shaper(now, out, face, expires, options)? {
                Ok(passed) => leaving = passed,
                Err(refused) => return Some(refused),
            }
        }
        self.release_interest(now, out, face, leaving);
        None
    }

    /// Shaper of the upstream at stage *departure*. `None` if it holds the Interest.
    fn pass_departure_shaper(
        &mut self,
        now: Time,
        out: &Outbound<'_>,
        face: FaceId,
        expires: Time,
        options: HopOptions,
    ) -> Option<Result<Leaving, NackReason>> {
        let other = self.faces.get(out.ingress).map(|face| face.link.view(now));
        let offered = self.with_link(now, face, |link, env, node| {
            let mut size = Size::ZERO;
            if link.has_parts() {
                size = link.expected(out.subject.flow, &options, out.bits.count().max(1));
            }
            let mut meta = InterestMeta {
                flow: out.subject.flow,
                segment: out.subject.segment,
                size: Size(out.interest.wire().len() as u64),
                expected: size,
                expires,
                options,
                handle: 0,
            };
            let at = NodeAt { node, name: out.name.name(), subject: out.subject };
            link.ask_stamper(env, |stamper, cx, view| {
                stamper.on_interest_out(cx, view, &at, &mut meta);
            });
            let waiting = || Waiting::Pending(out.key);
            link.offer(env, Stage::Departure, other.as_ref(), meta, None, waiting)
        });
        self.wake(now, face);
        match offered?? {
            Offered::Pass(meta) => {
                Some(Ok(Leaving { expected: meta.expected, expires, options: meta.options }))
            }
            Offered::Held => None,
            Offered::Refused(_) => {
                Some(Err(self.refused_upstream(out, face, DropReason::ShaperRefused)))
            }
            Offered::Full => Some(Err(self.refused_upstream(out, face, DropReason::HeldLimit))),
        }
    }

    /// Lets the stamper of the face that a Nack came from write on it.
    pub(super) fn stamp_nack_in(
        &mut self,
        now: Time,
        face: FaceId,
        name: &HashedName<'_>,
        options: &mut HopOptions,
    ) {
        if self.parts == 0 {
            return;
        }
        self.with_link(now, face, |link, env, node| {
            link.ask_stamper(env, |stamper, cx, view| {
                let subject = crate::node::subject_of(name);
                let at = NodeAt { node, name: name.name(), subject };
                stamper.on_nack_in(cx, view, &at, subject.flow, options);
            });
        });
        self.wake(now, face);
    }

    fn refused_upstream(
        &mut self,
        out: &Outbound<'_>,
        face: FaceId,
        reason: DropReason,
    ) -> NackReason {
        self.count_drop(face, reason);
        let record = self.pit.get_mut(out.key).and_then(|entry| entry.out_record_mut(face));
        if let Some(record) = record {
            record.release(record.sent_at);
            record.nacked = Some(NackReason::Congestion);
        }
        NackReason::Congestion
    }

    /// The Interest leaves: from here on its round trip counts.
    pub(super) fn release_interest(
        &mut self,
        now: Time,
        out: &Outbound<'_>,
        face: FaceId,
        leaving: Leaving,
    ) {
        if let Some(record) = self.pit.get_mut(out.key).and_then(|e| e.out_record_mut(face)) {
            record.release(now);
        }
        let interest = out.interest;
        let limit = interest.hop_limit().map(|limit| limit.saturating_sub(1));
        let patch = Patch {
            hop_limit: interest.hop_limit_at().zip(limit),
            nonce: interest.nonce_at().map(|at| (at, out.nonce)),
        };
        let packet = interest.wire();
        let mut item = QueuedControl::new(now, packet.len());
        (item.mark, item.options, item.from) = (out.mark, leaving.options, out.ingress.0);
        self.reserve_queue(face, |face| face.link.control_growth(&item));
        self.with_link(now, face, |link, env, _| {
            if link.has_parts() {
                let shaped = link.shaper_stage() == Some(Stage::Departure);
                let released_at = shaped.then_some(now);
                let (flow, size) = (out.subject.flow, leaving.expected);
                link.expect(env, Direction::In, out.key, Expected { flow, size, released_at });
                (item.subject, item.expected) = (out.subject, leaving.expected);
                (item.expires, item.key) = (leaving.expires, Some(out.key));
            }
            link.queue_control(env, item, packet, patch);
        });
        self.wake(now, face);
    }
}

/// An Interest that passed the shaper of the face that it leaves by, if there is one.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    pub(super) expected: Size,
    pub(super) expires: Time,
    pub(super) options: HopOptions,
}
