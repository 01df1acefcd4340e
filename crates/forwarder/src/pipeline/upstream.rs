//! Strategies and what they ask for: Interests that are sent upstream.

use control::{Action, Direction, InterestMeta, NextHop, Size, Stage};
use packet::options::ResidenceTime;
use packet::{HopOption, HopOptions, Interest, NackReason};
use smallvec::{SmallVec, smallvec};

use super::checks::{LOCALHOP, LOCALHOST, is_under};
use super::context::InterestCx;
use super::{Pipeline, exclude};
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::events::Step;
use crate::link::queue::QueuedControl;
use crate::link::shaping::{Expected, Missed, Offered, Waiting};
use crate::link::{Link, Patch};
use crate::node::{NodeAt, subject_of};
use crate::state::faces::face::Face;
use crate::state::grant::Change;
use crate::state::learned::LearnedRoute;
use crate::state::strategies::{Question, Trigger};
use crate::tables::{FaceId, HashedName, OutRecord, PitKey};

/// The maximum number of decisions for one packet: a shaper that rejects it makes the strategy
/// decide again.
const MAX_DECISIONS: usize = 16;

impl Pipeline<'_> {
    /// 9. FIB and strategy, or the face that a local application asked for.
    pub(super) fn forward(&mut self, key: PitKey, a: &mut InterestCx<'_>) {
        self.tables.cache().count_passage(&mut a.options);
        let Some(face) = a.chosen_face else {
            return self.decide(key, a, a.face, Trigger::Interest);
        };
        self.send_interest(key, a, face);
    }

    /// Asks the strategy what to do with a pending Interest, and does it. `from` is the face that
    /// the packet came from that the question is about.
    pub(super) fn decide(
        &mut self,
        key: PitKey,
        out: &mut InterestCx<'_>,
        from: FaceId,
        trigger: Trigger,
    ) {
        let mut questions: SmallVec<[(FaceId, Trigger); 2]> = smallvec![(from, trigger)];
        for _ in 0..MAX_DECISIONS {
            let Some((ingress, trigger)) = questions.pop() else { return };
            self.collect_next_hops(key, out, ingress);
            let question = Question {
                now: self.now,
                name: out.name,
                trigger,
                ingress,
                mark: out.mark,
                reach: Some(self.tables.reach(out.interest)),
            };
            let (links, taps) = self.faces.links_and_taps(self.now);
            if !self.tables.ask(question, key, &mut out.options, &links, taps) {
                return;
            }
            let mut actions = self.tables.strategies_mut().take_actions();
            self.step(ingress, Step::Decided(actions.len()));
            for action in actions.drain(..) {
                questions.extend(self.act(key, out, action));
            }
            self.tables.strategies_mut().recycle_actions(actions);
        }
    }

    /// FIB: longest-prefix match by the name, or by the first hint that has a route.
    fn collect_next_hops(&mut self, key: PitKey, out: &InterestCx<'_>, ingress: FaceId) {
        let mut hops = self.tables.strategies_mut().take_next_hops();
        let routed = self.tables.find_next_hops(out.interest, out.name, &mut hops);
        self.tables.count_prefix(key, out.name, routed);
        hops.retain(|hop: &NextHop| {
            let face = self.faces.get(FaceId(hop.face));
            // A face that has just sent a Nack is not asked again.
            let nacked = FaceId(hop.face) == ingress && ingress != out.face;
            face.is_some_and(|face| !nacked && self.may_leave(out, face))
        });
        exclude::rotate(self.faces.node_id(), &mut hops, &out.options);
        self.step(ingress, Step::Routed(hops.len()));
        self.tables.strategies_mut().set_next_hops(hops, routed.unwrap_or(0));
    }

    /// Executes an action of a strategy. Returns a note for the strategy if a face's shaper rejects
    /// the Interest.
    pub(super) fn act(
        &mut self,
        key: PitKey,
        out: &mut InterestCx<'_>,
        action: Action,
    ) -> Option<(FaceId, Trigger)> {
        match action {
            Action::Forward(face) => return self.send_or_reject(key, out, FaceId(face)),
            Action::Probe(face) => {
                let nonce = self.nonces.next_u32();
                let nonce = std::mem::replace(&mut out.nonce, nonce);
                let rejected = self.send_or_reject(key, out, FaceId(face));
                out.nonce = nonce;
                return rejected;
            }
            Action::Nack(reason) => self.nack_all(key, out.name, reason, &out.nack_options),
            Action::RetryAt(at) => self.tables.set_retry(key, at),
            Action::Forget(face) => {
                let (face, name) = (FaceId(face), out.name.name().to_name());
                self.learned.push(LearnedRoute::Withdrawn { face, name });
            }
            // These are for Data.
            Action::Linger(_) | Action::Learn(_) | Action::Announce => {}
        }
        None
    }

    /// Sends the Interest by this face. Returns a note for the strategy if the face's shaper
    /// rejects it.
    fn send_or_reject(
        &mut self,
        key: PitKey,
        out: &mut InterestCx<'_>,
        face: FaceId,
    ) -> Option<(FaceId, Trigger)> {
        let reason = self.send_interest(key, out, face)?;
        out.nack_options = HopOptions::new();
        self.stamp_nack_in(face, out.name, &mut out.nack_options);
        Some((face, Trigger::Nack(reason)))
    }

    /// 10. Outgoing Interest: out-record and shaper. Returns the reason if that rejects it.
    pub(super) fn send_interest(
        &mut self,
        key: PitKey,
        out: &InterestCx<'_>,
        face: FaceId,
    ) -> Option<NackReason> {
        if !self.faces.get(face).is_some_and(|state| self.may_leave(out, state)) {
            self.count_drop(out.face, DropReason::NoNextHop);
            return None;
        }
        let entry = self.pit().get(key)?;
        let earlier = entry.out_record(face);
        if earlier.is_some_and(|record| record.released_at().is_none()) {
            // The shaper has it already.
            return None;
        }
        let is_repeated = earlier.is_some();
        let expires = self.now + self.lifetime(out.interest);
        let mut record = OutRecord::new(face, out.nonce, self.now, expires);
        record.set_reach(self.tables.reach(out.interest));
        record.is_repeated = is_repeated;
        let Some(grant) = self.reserve(Change::Upstream { key }) else {
            self.count_drop(out.face, DropReason::Memory);
            return None;
        };
        if self.tables.put_out_record(grant, key, record).is_err() {
            self.count_drop(out.face, DropReason::PitFull);
            return None;
        }
        let mut leaving = out.meta(out.options.clone(), Size::ZERO, expires);
        // The downstream's question is about its own link.
        leaving.options.remove(ResidenceTime::TYPE);
        if self.has_parts() {
            match self.pass_departure_shaper(key, out, face, leaving)? {
                Ok(passed) => leaving = passed,
                Err(rejected) => return Some(rejected),
            }
        }
        self.release_interest(key, out, face, leaving);
        None
    }

    /// 10. Shaper of the upstream at stage *departure*. `None` if it holds the Interest.
    fn pass_departure_shaper(
        &mut self,
        key: PitKey,
        out: &InterestCx<'_>,
        face: FaceId,
        mut meta: InterestMeta,
    ) -> Option<Result<InterestMeta, NackReason>> {
        let (now, expires) = (self.now, meta.expires);
        let other = self.faces.get(out.face).map(|face| face.link().view(now));
        let offered = self.with_link(face, |link, env, node| {
            if link.has_parts() {
                meta.expected = link.parts().expected(out.subject.flow, &meta.options);
            }
            let at = NodeAt { node, name: out.name.name(), subject: out.subject };
            link.parts().ask_stamper(env, |stamper, cx, view| {
                stamper.on_interest_out(cx, view, &at, &mut meta);
            });
            link.parts()
                .offer(env, Stage::Departure, other.as_ref(), meta, None, || Waiting::Pending(key))
        });
        self.wake(face);
        match offered?? {
            Offered::Pass(meta) => Some(Ok(InterestMeta { expires, ..meta })),
            Offered::Held => {
                self.step(face, Step::Held(Stage::Departure));
                None
            }
            Offered::Rejected(_) => {
                Some(Err(self.reject_upstream(key, face, DropReason::ShaperRejected)))
            }
            Offered::Full => Some(Err(self.reject_upstream(key, face, DropReason::HeldLimit))),
        }
    }

    fn reject_upstream(&mut self, key: PitKey, face: FaceId, reason: DropReason) -> NackReason {
        self.count_drop(face, reason);
        self.tables.note_rejected(self.now, key, face);
        NackReason::Congestion
    }

    /// 11. The Interest leaves: from here on its round trip counts.
    pub(super) fn release_interest(
        &mut self,
        key: PitKey,
        out: &InterestCx<'_>,
        face: FaceId,
        leaving: InterestMeta,
    ) {
        let now = self.now;
        self.tables.note_released(now, key, face);
        self.step(face, Step::Released);
        let interest = out.interest;
        let limit = interest.hop_limit().map(|limit| limit.saturating_sub(1));
        let patch = Patch {
            hop_limit: interest.hop_limit_at().zip(limit),
            nonce: interest.nonce_at().map(|at| (at, out.nonce)),
        };
        let packet = interest.wire();
        let mut item = QueuedControl::new(now, packet.len());
        (item.mark, item.options, item.from) = (out.mark, leaving.options, out.face.0);
        if self.has_parts() {
            self.with_link(face, |link, _, _| link.on_interest(&mut item.options));
        }
        self.with_queue(face, item, Link::control_growth, |link, env, mut item, grant| {
            if link.has_parts() {
                let shaped = link.parts().shaper_stage() == Some(Stage::Departure);
                let released_at = shaped.then_some(now);
                let (flow, size) = (out.subject.flow, leaving.expected);
                link.parts().expect(env, Direction::In, key, Expected { flow, size, released_at });
                (item.subject, item.expected) = (out.subject, leaving.expected);
                (item.expires, item.key) = (leaving.expires, Some(key));
            }
            link.queue_control(env, item, packet, patch, grant);
        });
        self.wake(face);
    }

    /// Asks the strategy again about an entry, for another reason than an Interest that came. The
    /// Interest that it may send is that of the latest downstream; `answer` are the options of a
    /// Nack that the question is about.
    pub(super) fn reconsider(
        &mut self,
        key: PitKey,
        from: Option<FaceId>,
        trigger: Trigger,
        answer: HopOptions,
    ) {
        self.with_latest(key, |p, out| {
            out.nack_options = answer;
            p.tables.cache().count_passage(&mut out.options);
            p.decide(key, out, from.unwrap_or(out.face), trigger);
        });
    }

    /// 9. The shaper of the downstream at stage *miss* has let an Interest go.
    pub(super) fn forward_missed(&mut self, downstream: FaceId, missed: Missed) {
        let Missed { key, mark, chosen_face } = missed;
        self.with_latest(key, |p, out| {
            (out.face, out.mark, out.chosen_face) = (downstream, mark, chosen_face);
            p.forward(key, out);
        });
    }

    /// Calls `f` with the Interest of the latest downstream of an entry.
    fn with_latest(&mut self, key: PitKey, f: impl FnOnce(&mut Self, &mut InterestCx<'_>)) {
        let Some(entry) = self.pit().get(key) else { return };
        let Some(latest) = entry.in_records().iter().max_by_key(|r| r.arrived_at) else { return };
        let (ingress, nonce, options) = (latest.face, latest.nonce, latest.options.clone());
        let expires = latest.expires;
        let bytes = entry.interest().to_vec();
        // The PIT holds only Interests that were decoded on arrival.
        let Ok(interest) = Interest::decode(&bytes) else { return };
        let name = self.hashed(interest.name());
        let mut out = InterestCx {
            options,
            subject: self.subject_of(&name),
            ..InterestCx::new(ingress, &interest, &name, nonce, expires)
        };
        f(self, &mut out);
    }

    /// Lets the stamper of the face that a Nack came from write on it.
    pub(super) fn stamp_nack_in(
        &mut self,
        face: FaceId,
        name: &HashedName<'_>,
        options: &mut HopOptions,
    ) {
        if !self.has_parts() {
            return;
        }
        self.with_link(face, |link, env, node| {
            link.parts().ask_stamper(env, |stamper, cx, view| {
                let subject = subject_of(name);
                let at = NodeAt { node, name: name.name(), subject };
                stamper.on_nack_in(cx, view, &at, subject.flow, options);
            });
        });
        self.wake(face);
    }

    /// True if the Interest may leave by this face: not the one it came from (unless ad hoc), scope
    /// control, hop limit, transit.
    fn may_leave(&self, out: &InterestCx<'_>, face: &Face) -> bool {
        if face.id() == out.face && face.link_type() != LinkType::AdHoc {
            return false;
        }
        if face.is_local() {
            return true;
        }
        let name = out.name.name();
        // A hop limit of 1 is 0 after this hop: only applications here may still answer.
        let spent = out.interest.hop_limit().is_some_and(|limit| limit <= 1);
        if !self.settings.transit && !self.faces.is_local(out.face) {
            return false;
        }
        !spent
            && !is_under(name, LOCALHOST)
            && (!is_under(name, LOCALHOP) || self.faces.is_local(out.face))
    }
}
