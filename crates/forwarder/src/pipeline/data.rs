//! The way of Data.

use bytes::Bytes;
use control::{DataMeta, Kind, Size, Time};
use packet::options::{ServedBy, answer};
use packet::{Data, HopOptions, LpPacket, NameRef};

use super::finish::Ending;
use super::upstream::{Question, Trigger};
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::forwarder::Forwarder;
use crate::frames::Packet;
use crate::link::queue::QueuedData;
use crate::node::Subject;
use crate::node::{NodeAt, subject_of};
use crate::tables::FaceId;
use crate::tables::content_store::{Outcome, Verdict};
use crate::tables::{HashedName, InRecord, PitEntry, PitKey};

/// Data with what its link header says of it.
struct Arrived<'a> {
    /// The face that it came from: the upstream.
    face: FaceId,
    data: &'a Data<'a>,
    name: &'a HashedName<'a>,
    /// The packet, owned: shared by the content store and the queues of all downstreams.
    packet: Bytes,
    mark: u64,
    options: HopOptions,
    subject: Subject,
    /// The content store has it now.
    cached: bool,
    /// Whoever sent it knows nothing of options: this node answers in its place.
    answers: bool,
}

impl Forwarder {
    /// Incoming Data pipeline.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        face: FaceId,
        header: &LpPacket<'_>,
        mark: u64,
        packet: Packet<'_>,
    ) {
        let Ok(data) = Data::decode(packet.bytes) else {
            return self.count_drop(face, DropReason::Malformed);
        };
        let Some(state) = self.count_received(face, Kind::Data) else { return };
        if super::violates_scope(state, data.name()) {
            return self.count_drop(face, DropReason::Scope);
        }
        let answers = state.is_local() || !state.link.takes_options();
        let pushes = state.pushes;
        let here = state.is_local().then_some(self.id);
        let mut options = self.take_options(face, header);
        if !options.is_empty() {
            pass_on(&mut options, here);
        }
        let name = self.hashed_for(data.name(), 0);
        let mut subject = Subject::default();
        if self.parts > 0 {
            subject = subject_of(&name);
            let size = super::on_link(header, packet.bytes);
            self.crossed(now, face, Kind::Data, subject, size, &options);
            self.wake(now, face);
        }
        let mut satisfied = std::mem::take(&mut self.scratch.satisfied);
        self.find_asked(face, &data, &name, &mut satisfied);
        let mut left = Vec::new();
        if self.any_excludes(&satisfied)
            && self.turn_away(now, face, &data, &mut satisfied, &mut left)
            && satisfied.is_empty()
        {
            self.count_drop(face, DropReason::Excluded);
        } else if satisfied.is_empty() {
            let may = pushes && self.may_cache(header, data.name());
            if !may || !self.cache(now, &data, &packet.to_bytes(), &name, None) {
                self.count_drop(face, DropReason::Unsolicited);
            }
        } else {
            let packet = packet.to_bytes();
            let verdict = self.copy_verdict(face, &satisfied, &mut options);
            let may = self.may_cache(header, data.name());
            let cached = may && self.cache(now, &data, &packet, &name, verdict);
            let (data, name) = (&data, &name);
            let mut arrived =
                Arrived { face, data, name, packet, mark, options, subject, cached, answers };
            if self.parts > 0 {
                self.stamp_data_in(now, &mut arrived, &satisfied);
            }
            let mut more = satisfied.len();
            for key in satisfied.drain(..) {
                more -= 1;
                self.satisfy(now, &mut arrived, key, more == 0);
            }
            for left in left {
                self.ask_again(now, left);
            }
        }
        self.scratch.satisfied = satisfied;
    }

    /// PIT match: entries that were sent to this very face. Data that somebody else was asked for
    /// is as unsolicited as Data that nobody was asked for; taking it would let any neighbour fill
    /// the content store.
    fn find_asked(
        &self,
        face: FaceId,
        data: &Data<'_>,
        name: &HashedName<'_>,
        satisfied: &mut Vec<PitKey>,
    ) {
        self.pit.find_satisfied(data, name, satisfied);
        satisfied.retain(|key| self.pit.get(*key).is_some_and(|e| e.out_record(face).is_some()));
        if self.pit.has_runs() {
            self.find_segment(face, name, satisfied);
        }
    }

    /// The stamper of the face that the Data came by may write on it. Of several entries the one
    /// whose Interest left last says how long it took.
    fn stamp_data_in(&mut self, now: Time, a: &mut Arrived<'_>, satisfied: &[PitKey]) {
        let entries = satisfied.iter().filter_map(|key| self.pit.get(*key));
        let left = entries.filter_map(|entry| entry.out_record(a.face)?.released_at()).max();
        let Some(left) = left else { return };
        let mut meta = DataMeta {
            flow: a.subject.flow,
            segment: a.subject.segment,
            size: Size(a.packet.len() as u64),
            mark: a.mark,
            options: std::mem::take(&mut a.options),
        };
        self.with_link(now, a.face, |link, env, node| {
            let at = NodeAt { node, name: a.name.name(), subject: a.subject };
            let since = now.since(left);
            link.ask_stamper(env, |stamper, cx, view| {
                stamper.on_data_in(cx, view, &at, &mut meta, since);
            });
        });
        self.wake(now, a.face);
        // As on the way out: a mark is raised, not taken back.
        (a.mark, a.options) = (a.mark.max(meta.mark), meta.options);
    }

    /// Whether Data of this name may go into the content store.
    fn may_cache(&self, header: &LpPacket<'_>, name: NameRef<'_>) -> bool {
        let is_private = self.uncached.iter().any(|prefix| name.starts_with(prefix.as_ref()));
        !header.no_cache() && !is_private && !self.store.is_off()
    }

    /// Content store insert; the store is given the bare packet. Says whether it has it now.
    fn cache(
        &mut self,
        now: Time,
        data: &Data<'_>,
        packet: &Bytes,
        name: &HashedName<'_>,
        verdict: Option<Verdict>,
    ) -> bool {
        self.bound_store();
        // The view that was checked is of the same bytes, but not of the same memory.
        let (rng, packet) = (&mut self.store_rng, packet.clone());
        let outcome = self.store.insert_decided(now, rng, data, packet, name, verdict);
        matches!(outcome, Outcome::Inserted | Outcome::Refreshed)
    }

    /// Appends the entries for runs in which the segment of this name is pending that were asked of
    /// `face`.
    fn find_segment(&self, face: FaceId, name: &HashedName<'_>, satisfied: &mut Vec<PitKey>) {
        let start = satisfied.len();
        self.pit.find_runs(name, satisfied);
        let mut at = start;
        while let Some(key) = satisfied.get(at).copied() {
            let run = self.pit.get(key).and_then(|entry| entry.run());
            let place = run.and_then(|run| Some((run, run.place_of(name.name())?)));
            match place {
                Some((run, place)) if run.asked_of(face).has(place) => at += 1,
                _ => _ = satisfied.remove(at),
            }
        }
    }

    /// Shapers and strategy are told, downstreams get the Data, the entry ends, unless it is for a
    /// run of which more is pending. `is_last` says that
    /// no other entry wants the Data: the last downstream gets it without one more owner. The entry
    /// stays in its place until then, for moving it takes as long as the rest.
    fn satisfy(&mut self, now: Time, a: &mut Arrived<'_>, key: PitKey, is_last: bool) {
        if self.pit.get(key).is_some_and(PitEntry::lingers) {
            return self.hear_late(now, a, key);
        }
        self.stats.satisfied += 1;
        let run = self.pit.get(key).and_then(|entry| entry.run());
        let place = run.and_then(|run| run.place_of(a.name.name()));
        let answer = (a.face, a.packet.len());
        if self.parts > 0
            && let Some(place) = place
        {
            self.settle_segment(now, key, place, answer);
        } else if self.parts > 0
            && let Some(entry) = self.pit.get(key).cloned()
        {
            self.settle_all(now, key, &entry, Some(answer));
        }
        let mut options = a.options.clone();
        self.tell_satisfied(now, a, key, &mut options);
        let linger = self.heed(a.face, a.name.name(), &mut options);
        let Some(entry) = self.pit.get(key) else { return };
        // A mark that a marker of the upstream gave the Interest comes back on the Data.
        let memo = entry.out_record(a.face).map_or(0, |record| record.memo);
        let mark = a.mark.max(memo);
        let waits = |entry: &PitEntry, record: &InRecord| {
            let wants = |place| entry.run().is_some_and(|r| r.wanted_by(record.face).has(place));
            record.expires > now && place.is_none_or(wants)
        };
        let mut records = entry.in_records().iter();
        let last = records.rposition(|record| waits(entry, record)).filter(|_| is_last);
        for number in 0.. {
            let Some(entry) = self.pit.get(key) else { break };
            let Some(record) = entry.in_records().get(number) else { break };
            let (downstream, token) = (record.face, record.token.clone());
            let Some(face) = self.faces.get(downstream).filter(|_| waits(entry, record)) else {
                continue;
            };
            if downstream == a.face && face.link_type != LinkType::AdHoc {
                continue;
            }
            let mut options = options.clone();
            if a.answers && !record.options.is_empty() {
                answer_for(self.id, &record.options, &mut options);
            }
            let packet = match last == Some(number) {
                true => std::mem::take(&mut a.packet),
                false => a.packet.clone(),
            };
            let (from, subject) = (a.face.0, a.subject);
            let item = QueuedData { at: now, packet, token, mark, options, from, subject };
            self.send_data(now, downstream, item);
        }
        if let Some(place) = place {
            if !self.pit.clear_segments(key, [place].into_iter().collect()) {
                self.bury_pending(now, a.name, key, Ending::Unsatisfied);
            }
            return;
        }
        let freshness = control::Duration::from_millis(a.data.freshness_ms().unwrap_or(0));
        let ending = Ending::Satisfied { freshness, cached: a.cached };
        match linger {
            None => self.bury_pending(now, a.name, key, ending),
            Some(time) => {
                self.bury_lingering(now, a.name, key, ending);
                self.pit.linger(key, a.face, now + time);
            }
        }
    }

    /// Data for an entry that has had some already: the strategy alone wants to know.
    fn hear_late(&mut self, now: Time, a: &Arrived<'_>, key: PitKey) {
        self.tell_satisfied(now, a, key, &mut a.options.clone());
        let Some(until) = self.pit.get(key).map(PitEntry::expires) else { return };
        self.pit.linger(key, a.face, until);
        if self.pit.get(key).is_some_and(|entry| entry.out_records().is_empty()) {
            self.pit.discard(key);
        }
    }

    /// Tells the strategy; of Data below a prefix that was asked for, that of the Interest.
    fn tell_satisfied(
        &mut self,
        now: Time,
        a: &Arrived<'_>,
        key: PitKey,
        options: &mut HopOptions,
    ) {
        let Forwarder { pit, strategies, taps, scratch, hasher, faces, .. } = self;
        let links = faces.links(now);
        let Some(entry) = pit.get_mut(key) else { return };
        scratch.next_hops.clear();
        let (ingress, mark) = (a.face, a.mark);
        scratch.prefix = 0;
        let question = |name| Question {
            now,
            name,
            ingress,
            mark,
            trigger: Trigger::Data,
            segments: 1,
            reach: None,
        };
        if entry.components() == a.name.components() {
            let chosen = strategies.find_mut(a.name);
            question(a.name).ask(chosen, taps, &links, scratch, entry, options);
        } else {
            let bytes = entry.name().to_name();
            let name = hasher.hash(bytes.as_ref());
            let chosen = strategies.find_mut(&name);
            question(&name).ask(chosen, taps, &links, scratch, entry, options);
        }
    }
}

/// The Data has passed one more forwarder since it was answered, unless an application here, at
/// node `here`, answered; that one need not know where it is.
fn pass_on(options: &mut HopOptions, here: Option<u64>) {
    if let Some(served) = options.get::<ServedBy>() {
        options.set(&match here {
            None => served.passed(),
            Some(node) if served == ServedBy::ASK => ServedBy { node, hops: 0 },
            Some(_) => served,
        });
    }
}

/// Adds what the answer to an Interest with the options `asked` has to have and does not.
fn answer_for(node: u64, asked: &HopOptions, options: &mut HopOptions) {
    for (typ, value) in answer(asked, Some(node)).iter() {
        if options.get_raw(typ).is_none() {
            options.set_raw(typ, value);
        }
    }
}
