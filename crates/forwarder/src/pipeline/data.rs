//! The journey of Data, from top to bottom.

use control::{DataMeta, Duration, Kind, Size, Time};
use packet::options::{ResidenceTime, ServedBy, answer};
use packet::traceroute;
use packet::{Data, HopOption, HopOptions, LpPacket};

use super::Pipeline;
use super::checks::violates_scope;
use super::context::{DataCx, Incoming};
use super::options::take_options;
use super::{exclude, learned};
use crate::config::LinkType;
use crate::counters::DropReason;
use crate::events::Step;
use crate::link::queue::QueuedData;
use crate::node::NodeAt;
use crate::state::strategies::{Question, Trigger};
use crate::state::tables::Ending;
use crate::tables::content_store::Verdict;
use crate::tables::{FaceId, HashedName, PitEntry, PitKey};

/// Incoming Data pipeline.
pub(super) fn receive(p: &mut Pipeline<'_>, incoming: &Incoming<'_>) {
    let (face, header) = (incoming.face, incoming.header);
    // 12. Decode.
    let Ok(data) = Data::decode(incoming.packet.bytes) else {
        return p.count_drop(face, DropReason::Malformed);
    };
    let Some(state) = p.faces.count_received(face, Kind::Data) else { return };
    // 12. Scope.
    if violates_scope(state, data.name()) {
        return p.count_drop(face, DropReason::Scope);
    }
    let (is_local, pushes) = (state.is_local(), state.pushes());
    let completes = is_local || !state.link().takes_options();
    // 12. Read its hop-by-hop options; report it to the parts of the upstream.
    let mut options = take_data_options(p, face, is_local, header);
    let name = p.hashed_for(data.name(), 0);
    let subject = p.subject_of(&name);
    if p.has_parts() {
        p.crossed(face, Kind::Data, subject, incoming.size(), &options);
        p.wake(face);
    }
    p.step(face, Step::Checked);
    // 12. PIT: the entries that wait for it and were sent to this very face. Data that another
    // upstream was asked for is as unsolicited as Data that nothing asked for; taking it would let
    // any neighbour fill the content store. Entries whose downstreams all exclude it do not wait.
    let mut satisfied = std::mem::take(&mut p.scratch.satisfied);
    p.pit().find_asked(face, &data, &name, &mut satisfied);
    p.step(face, Step::Matched(satisfied.len()));
    let mut left = Vec::new();
    if exclude::any_excludes(p, &satisfied)
        && exclude::turn_away(p, face, &data, &mut satisfied, &mut left)
        && satisfied.is_empty()
    {
        p.count_drop(face, DropReason::Excluded);
    } else if satisfied.is_empty() {
        receive_unsolicited(p, incoming, &data, &name, pushes);
    } else {
        // 13. Content store: the bare packet, without what belongs to one hop.
        let packet = incoming.packet.to_bytes();
        let is_original = p.faces.is_local(face);
        let verdict = p.tables.copy_verdict(&satisfied, is_original, &mut options);
        let may = !header.no_cache() && p.tables.cache().may_take(data.name());
        let cached = may && cache(p, &data, &packet, &name, verdict);
        p.step(face, if cached { Step::Cached } else { Step::NotCached });
        let (data, name, mark) = (&data, &name, incoming.mark);
        let mut a = DataCx { face, data, name, packet, mark, options, subject, cached, completes };
        // 13. Round-trip time; stamper of the upstream.
        if let Some((left, is_repeated)) = latest_asked(p, face, &satisfied) {
            let since = p.now.since(left);
            let of_link = (!is_repeated).then_some(since);
            p.faces.count_round_trip(face, of_link);
            if p.has_parts() {
                stamp(p, &mut a, since, of_link, incoming.size());
            }
        }
        // 14, 15. Each entry that it satisfies.
        let mut more = satisfied.len();
        for key in satisfied.drain(..) {
            more -= 1;
            satisfy(p, &mut a, key, more == 0);
        }
        // 15. Downstreams that exclude it are asked for again.
        for left in left {
            exclude::ask_again(p, left);
        }
    }
    p.scratch.satisfied = satisfied;
}

/// The options, with one more forwarder that they have passed.
fn take_data_options(
    p: &mut Pipeline<'_>,
    face: FaceId,
    is_local: bool,
    header: &LpPacket<'_>,
) -> HopOptions {
    let mut options = take_options(p, face, header);
    if !options.is_empty() {
        pass_on(&mut options, is_local.then_some(p.faces.node_id()));
    }
    options
}

/// Unsolicited Data goes into the content store from faces that may push, or nowhere.
fn receive_unsolicited(
    p: &mut Pipeline<'_>,
    incoming: &Incoming<'_>,
    data: &Data<'_>,
    name: &HashedName<'_>,
    pushes: bool,
) {
    let may = pushes && !incoming.header.no_cache() && p.tables.cache().may_take(data.name());
    if may && cache(p, data, &incoming.packet.to_bytes(), name, None) {
        p.step(incoming.face, Step::Cached);
    } else {
        p.count_drop(incoming.face, DropReason::Unsolicited);
    }
}

/// Content store insert. Returns true if the store has the Data now. Replies to probes are never
/// requested again, and they are no content of the target.
fn cache(
    p: &mut Pipeline<'_>,
    data: &Data<'_>,
    packet: &bytes::Bytes,
    name: &HashedName<'_>,
    verdict: Option<Verdict>,
) -> bool {
    if traceroute::target(data.name()).is_some() {
        return false;
    }
    p.faces.bound_store(p.tables);
    p.tables.cache_mut().insert(p.now, data, packet, name, verdict)
}

/// When the Interest of these entries that left last by `face` did, and whether that was repeated.
fn latest_asked(p: &Pipeline<'_>, face: FaceId, satisfied: &[PitKey]) -> Option<(Time, bool)> {
    let entries = satisfied.iter().filter_map(|key| p.pit().get(*key));
    let records = entries.filter_map(|entry| entry.out_record(face));
    let latest = records.max_by_key(|record| record.released_at())?;
    Some((latest.released_at()?, latest.is_repeated))
}

/// The stamper of the face that the Data came by may write on it, `since` its Interest left;
/// `of_link` is the same if the Data is known to answer that one.
fn stamp(
    p: &mut Pipeline<'_>,
    a: &mut DataCx<'_>,
    since: Duration,
    of_link: Option<Duration>,
    size: usize,
) {
    // The meter of its rate in.
    let (now, residence) = (p.now, a.options.get::<ResidenceTime>());
    p.with_link(a.face, |link, _, _| link.on_arrival(now, of_link, residence, Size(size as u64)));
    let mut meta = DataMeta {
        flow: a.subject.flow,
        segment: a.subject.segment,
        size: Size(a.packet.len() as u64),
        mark: a.mark,
        options: std::mem::take(&mut a.options),
    };
    p.with_link(a.face, |link, env, node| {
        let at = NodeAt { node, name: a.name.name(), subject: a.subject };
        link.parts().ask_stamper(env, |stamper, cx, view| {
            stamper.on_data_in(cx, view, &at, &mut meta, since);
        });
    });
    p.wake(a.face);
    // As on the way out: a mark is raised, not taken back.
    (a.mark, a.options) = (a.mark.max(meta.mark), meta.options);
}

/// One entry gets its Data. `is_last` says that no other entry wants the Data: the last downstream
/// gets it without one more owner. The entry stays in its place until then, for moving it takes as
/// long as the rest.
fn satisfy(p: &mut Pipeline<'_>, a: &mut DataCx<'_>, key: PitKey, is_last: bool) {
    if p.pit().get(key).is_some_and(PitEntry::lingers) {
        return satisfy_again(p, a, key);
    }
    p.stats().satisfied += 1;
    // 14. The shapers that let its Interests through.
    p.credit_data(key, a.face, Size(a.packet.len() as u64));
    // 14. The strategy: round-trip time, mark, options.
    let mut options = a.options.clone();
    ask(p, a, key, &mut options);
    let linger = learned::apply(p, a.face, a.name.name(), &mut options);
    // 15. Each downstream that waits.
    send(p, a, key, &options, is_last);
    // 15. The entry ends, unless it lingers.
    p.step(a.face, if linger.is_some() { Step::Lingers } else { Step::Satisfied });
    let freshness = Duration::from_millis(a.data.freshness_ms().unwrap_or(0));
    let ending = Ending::Satisfied { freshness, cached: a.cached };
    match linger {
        None => p.end(a.name, key, ending),
        Some(time) => {
            p.tables.record_nonces_of(p.now, a.name, key, ending);
            let until = p.now + time;
            p.tables.linger(key, a.face, until);
        }
    }
}

/// Data for an entry that has had some already is for the strategy alone.
fn satisfy_again(p: &mut Pipeline<'_>, a: &DataCx<'_>, key: PitKey) {
    ask(p, a, key, &mut a.options.clone());
    let Some(until) = p.pit().get(key).map(PitEntry::expires) else { return };
    p.tables.linger(key, a.face, until);
    if p.pit().get(key).is_some_and(|entry| entry.out_records().is_empty()) {
        p.tables.discard(key);
    }
}

/// Asks the strategy; of Data below a prefix that was asked for, that of the Interest.
fn ask(p: &mut Pipeline<'_>, a: &DataCx<'_>, key: PitKey, options: &mut HopOptions) {
    let question = Question {
        now: p.now,
        name: a.name,
        trigger: Trigger::Data,
        ingress: a.face,
        mark: a.mark,
        reach: None,
    };
    let (links, taps) = p.faces.links_and_taps(p.now);
    p.tables.ask_of_data(question, key, options, &links, taps);
    p.step(a.face, Step::Decided(p.tables.strategies().actions().len()));
}

/// Sends the Data to each downstream of an entry whose Interest has not expired.
fn send(
    p: &mut Pipeline<'_>,
    a: &mut DataCx<'_>,
    key: PitKey,
    options: &HopOptions,
    is_last: bool,
) {
    let now = p.now;
    let Some(entry) = p.pit().get(key) else { return };
    // A mark that a marker of the upstream gave the Interest comes back on the Data.
    let memo = entry.out_record(a.face).map_or(0, |record| record.memo);
    let mark = a.mark.max(memo);
    let mut records = entry.in_records().iter();
    let last = records.rposition(|record| record.expires > now).filter(|_| is_last);
    for number in 0.. {
        let Some(entry) = p.pit().get(key) else { break };
        let Some(record) = entry.in_records().get(number) else { break };
        let (downstream, token) = (record.face, record.token.clone());
        if record.expires <= now {
            continue;
        }
        let Some(face) = p.faces.get(downstream) else { continue };
        if downstream == a.face && face.link_type() != LinkType::AdHoc {
            continue;
        }
        let mut options = options.clone();
        if a.completes && !record.options.is_empty() {
            answer_for(p.faces.node_id(), &record.options, &mut options);
        }
        // The time here is of use to a downstream that asks for it; that upstream is not.
        options.remove(ResidenceTime::TYPE);
        if record.options.get_raw(ResidenceTime::TYPE).is_some() {
            options.set(&ResidenceTime::of(now.since(record.arrived_at).0));
        }
        let packet = match last == Some(number) {
            true => std::mem::take(&mut a.packet),
            false => a.packet.clone(),
        };
        let (from, subject) = (a.face.0, a.subject);
        let item = QueuedData { at: now, packet, token, mark, options, from, subject };
        p.send_data(downstream, item);
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

/// Adds the missing options that an answer to an Interest with the options `asked` must have.
fn answer_for(node: u64, asked: &HopOptions, options: &mut HopOptions) {
    for (typ, value) in answer(asked, Some(node)).iter() {
        if options.get_raw(typ).is_none() {
            options.set_raw(typ, value);
        }
    }
}
