//! A participant with hostile input, in virtual time.

use super::*;
use packet::{Component, ContentType, LpHeader, NackReason};
use security::trust::{Chains, Rule, Schema, Subject, Validator};
use security::{KeyType, SecretKey, Validity};
use std::sync::Arc;

const CLOCK_S: u64 = 1_700_000_000;

fn key(identity: &str, seed: u8) -> (Signer, Certificate) {
    let secret = SecretKey::generate(KeyType::Ed25519, &[seed; 32]).unwrap();
    let name: Name = identity.parse().unwrap();
    let validity = Validity::days(CLOCK_S - 1_000, 10);
    let own = Certificate::self_signed(name.as_ref(), &secret, validity, CLOCK_S * 1_000);
    (Signer::Key { secret, key_locator: own.name().clone() }, own)
}

fn group() -> Name {
    "/group".parse().unwrap()
}

/// Alice, who trusts Mallory.
fn alice() -> Participant {
    let schema = Schema::Hierarchy;
    let policy = policy(&["/alice", "/mallory"], schema);
    participant("/alice", CLOCK_S, 2_000, policy)
}

/// The accepted signers: the keys of these members.
fn policy(members: &[&str], schema: Schema) -> TrustPolicy {
    let anchors = members.iter().map(|member| key(member, seed(member)).1).collect();
    TrustPolicy::Chains(Chains { validator: Arc::new(Validator::new(anchors, schema)), now: 0 })
}

/// A number for each member's key.
fn seed(member: &str) -> u8 {
    member.as_bytes()[1] - b'a'
}

/// A member that has started in the second `boot` and keeps `keep` own publications.
fn participant(member: &str, boot: u64, keep: usize, policy: TrustPolicy) -> Participant {
    let (signer, own) = key(member, seed(member));
    let options = Options {
        group: group(),
        own: Stream { name: own.identity(), boot },
        signer,
        policy,
        history: 2_000,
        keep,
        rng: Rng::stream(boot, &["participant", member]),
        clock: Box::new(|| CLOCK_S * 1_000),
    };
    Participant::new(options, &[own], Time::ZERO).unwrap()
}

fn mallory() -> Signer {
    key("/mallory", seed("/mallory")).0
}

/// A vector of Mallory with streams of her own.
fn vector(streams: impl Iterator<Item = (u64, u64)>) -> Bytes {
    let mut vector = Vector::new();
    streams.for_each(|(boot, seq)| vector.raise(&"/mallory".parse().unwrap(), boot, seq));
    wire::interest(&group(), &vector, 1, &mallory(), 1)
}

/// The Interests for publications that are sent until `end`.
fn asked(participant: &mut Participant, now: &mut Time, end: Time) -> Vec<Name> {
    let sent = sent(participant, now, end).into_iter();
    sent.filter(|(_, is_vector)| !is_vector).map(|(name, _)| name).collect()
}

/// The Interests that are sent until `end`, and whether they are vectors.
fn sent(participant: &mut Participant, now: &mut Time, end: Time) -> Vec<(Name, bool)> {
    let mut names = Vec::new();
    while *now < end {
        let mut out = Vec::new();
        while participant.poll_transmit(*now, &mut out) {
            let interest = Interest::decode(&out).unwrap();
            names.push((interest.name().to_name(), wire::is_sync(&interest, &group())));
            out.clear();
        }
        let next = participant.next_deadline(*now).unwrap_or(end);
        *now = next.max(*now + Duration(1)).min(end);
        participant.on_deadline(*now);
    }
    names
}

#[test]
fn a_claim_of_many_publications_leads_to_few_interests() {
    let (mut participant, mut now) = (alice(), Time::ZERO);
    participant.receive(now, &vector((1..=8).map(|boot| (boot, 1 << 63))));
    participant.receive(now, &vector((9..=16).map(|boot| (boot, u64::MAX))));
    assert_eq!(participant.member().others().count(), 8);
    let names = asked(&mut participant, &mut now, Time::ZERO + Duration::from_secs(10));
    // 16 at a time, each again after half a second: 20 rounds in 10 s, and the one at their end.
    assert!((16..=16 * 21).contains(&names.len()), "{}", names.len());
}

#[test]
fn a_new_connection_brings_a_vector_and_one_more_a_second_later() {
    let (mut participant, mut now) = (alice(), Time::ZERO);
    // The start of the member.
    vectors(&mut participant, &mut now, 5_000);
    participant.reconnected(Time::ZERO + Duration::from_millis(5_000));
    assert_eq!(vectors(&mut participant, &mut now, 5_999), 1);
    assert_eq!(vectors(&mut participant, &mut now, 6_002), 1);
    assert_eq!(vectors(&mut participant, &mut now, 10_000), 0);
}

/// The number of vectors that are sent up to this millisecond.
fn vectors(participant: &mut Participant, now: &mut Time, millis: u64) -> usize {
    let end = Time::ZERO + Duration::from_millis(millis);
    sent(participant, now, end).iter().filter(|(_, is_vector)| *is_vector).count()
}

#[test]
fn a_participant_that_is_paused_asks_for_nothing_and_forgets_nothing() {
    let (mut participant, mut now) = (alice(), Time::ZERO);
    participant.pause(true);
    for seq in 1..=100 {
        participant.receive(now, &vector([(1, seq)].into_iter()));
    }
    let end = Time::ZERO + Duration::from_secs(10);
    assert_eq!(asked(&mut participant, &mut now, end), Vec::<Name>::new());
    participant.pause(false);
    let end = now + Duration::from_secs(1);
    let names = asked(&mut participant, &mut now, end);
    assert_eq!(names[0].to_string(), "/mallory/group/t=1/seq=1");
}

#[test]
fn damaged_packets_lead_to_nothing() {
    let (mut participant, now) = (alice(), Time::ZERO);
    let mut out = Vec::new();
    participant.receive(now, &vector([(1, 2)].into_iter()));
    while participant.poll_transmit(now, &mut out) {}
    assert!(matches!(participant.poll_event(), Some(Event::Vector(_))));
    let name = "/mallory/group/t=1/seq=1".parse().unwrap();
    let mut publication = Vec::new();
    mallory().encode(&DataBuf::new(name, "content"), &mut publication);
    let good = [vector([(1, 2)].into_iter()).to_vec(), publication.clone()];
    for whole in &good {
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            participant.receive(now, &damaged);
            participant.receive(now, &whole[..at]);
        }
    }
    while let Some(event) = participant.poll_event() {
        // The nonce and the lifetime of an Interest are not signed.
        assert!(matches!(event, Event::Rejected { .. } | Event::Vector(_)), "{event:?}");
    }
}

#[test]
fn a_damaged_publication_is_asked_for_again() {
    let (mut participant, mut now) = (alice(), Time::ZERO);
    participant.receive(now, &vector([(1, 1)].into_iter()));
    assert!(matches!(participant.poll_event(), Some(Event::Vector(_))));
    let name: Name = "/mallory/group/t=1/seq=1".parse().unwrap();
    let mut publication = Vec::new();
    mallory().encode(&DataBuf::new(name.clone(), "content"), &mut publication);
    let first = asked(&mut participant, &mut now, Time::ZERO + Duration(1));
    assert_eq!(first, std::slice::from_ref(&name));
    let mut damaged = publication.clone();
    *damaged.last_mut().unwrap() ^= 0x55;
    participant.receive(now, &damaged);
    assert!(matches!(participant.poll_event(), Some(Event::Rejected { .. })));
    // It is given up only after several attempts.
    let end = now + Duration::from_secs(1);
    assert!(asked(&mut participant, &mut now, end).contains(&name));
    participant.receive(now, &publication);
    let event = participant.poll_event();
    assert!(matches!(event, Some(Event::Publication { seq: 1, .. })), "{event:?}");
}

/// Members at one forwarder, which has no cache and sends Interests to all of the group.
struct Network {
    members: Vec<Participant>,
    now: Time,
    /// Nacks of all members reach the consumer. In some networks none does.
    has_nacks: bool,
    pending: Vec<Pending>,
    /// Interests for publications and certificates.
    asked: usize,
}

struct Pending {
    from: usize,
    interest: Bytes,
    /// The members that may answer.
    open: BTreeSet<usize>,
}

impl Network {
    fn new(members: Vec<Participant>, has_nacks: bool) -> Network {
        Network { members, now: Time::ZERO, has_nacks, pending: Vec::new(), asked: 0 }
    }

    /// Runs for this time. Returns the events of the last member, and when they happened.
    fn run(&mut self, millis: u64) -> Vec<(Time, Event)> {
        let (end, mut events) = (self.now + Duration::from_millis(millis), Vec::new());
        while self.now < end {
            while (0..self.members.len()).any(|from| self.transmit(from)) {}
            let last = self.members.last_mut().unwrap();
            events.extend(std::iter::from_fn(|| last.poll_event()).map(|event| (self.now, event)));
            let deadlines = self.members.iter_mut().filter_map(|one| one.next_deadline(self.now));
            let next = deadlines.min().unwrap_or(end);
            self.now = next.max(self.now + Duration(1)).min(end);
        }
        events
    }

    /// Carries the next packet of a member.
    fn transmit(&mut self, from: usize) -> bool {
        let mut frame = Vec::new();
        if !self.members[from].poll_transmit(self.now, &mut frame) {
            return false;
        }
        let link = LpPacket::decode(&frame).unwrap();
        let fragment = link.fragment().unwrap();
        if link.nack().is_some() {
            self.reject(from, fragment);
        } else if let Ok(interest) = Interest::decode(fragment) {
            self.ask(from, &interest, fragment);
        } else {
            let data = Data::decode(fragment).unwrap();
            let pending = self.pending.extract_if(.., |pending| {
                Interest::decode(&pending.interest).unwrap().name() == data.name()
            });
            let to: Vec<usize> = pending.map(|pending| pending.from).collect();
            to.into_iter().for_each(|to| self.members[to].receive(self.now, &frame));
        }
        true
    }

    fn ask(&mut self, from: usize, interest: &Interest<'_>, wire: &[u8]) {
        let is_sync = wire::is_sync(interest, &group());
        let is_of_group = interest.name().starts_with(group().as_ref());
        let mut open = BTreeSet::new();
        for (i, member) in self.members.iter().enumerate().filter(|(i, _)| *i != from) {
            let name = &member.member().own().name;
            if is_of_group || interest.name().starts_with(name.as_ref()) {
                open.insert(i);
            }
        }
        if !is_sync {
            self.asked += 1;
            let interest = Bytes::copy_from_slice(wire);
            self.pending.push(Pending { from, interest, open: open.clone() });
        }
        open.into_iter().for_each(|to| self.members[to].receive(self.now, wire));
    }

    fn reject(&mut self, from: usize, interest: &[u8]) {
        let name = Interest::decode(interest).unwrap().name().to_name();
        let mut rejected = Vec::new();
        for (at, pending) in self.pending.iter_mut().enumerate() {
            let is_meant = Interest::decode(&pending.interest).unwrap().name() == name.as_ref();
            if is_meant && pending.open.remove(&from) && pending.open.is_empty() {
                rejected.push(at);
            }
        }
        for at in rejected.into_iter().rev().filter(|_| self.has_nacks) {
            let Pending { from, interest, .. } = self.pending.remove(at);
            let header = LpHeader { nack: Some(NackReason::None), ..LpHeader::default() };
            let mut frame = Vec::new();
            header.encode_into(&interest, &mut frame);
            self.members[from].receive(self.now, &frame);
        }
    }

    /// The first member publishes, and its vector is received before it publishes again.
    fn publish(&mut self, count: usize) {
        for _ in 0..count {
            let now = self.now;
            self.members[0].publish(now, Bytes::from("text"), true).unwrap();
            self.run(300);
        }
    }
}

const ALL: [&str; 4] = ["/alice", "/bob", "/carol", "/mallory"];

fn trusted(member: &str, boot: u64, keep: usize) -> Participant {
    participant(member, boot, keep, policy(&ALL, Schema::Hierarchy))
}

/// The numbers of the publications among the events, none of which is late.
fn numbers(events: &[(Time, Event)]) -> Vec<u64> {
    let publications = events.iter().filter_map(|(_, event)| match event {
        Event::Publication { seq, is_late, .. } => Some((*seq, *is_late)),
        _ => None,
    });
    publications.inspect(|(seq, is_late)| assert!(!is_late, "{seq}")).map(|(seq, _)| seq).collect()
}

/// When publications were reported missing, and the first, the last and their number.
fn missing_of(events: &[(Time, Event)]) -> Vec<(Time, u64, u64, u64)> {
    let missing = events.iter().filter_map(|(at, event)| match event {
        Event::Missing { low, high, count, .. } => Some((*at, *low, *high, *count)),
        _ => None,
    });
    missing.collect()
}

#[test]
fn a_late_member_gets_the_few_publications_that_another_one_keeps() {
    for has_nacks in [true, false] {
        let mut alice = trusted("/alice", CLOCK_S, 2);
        for _ in 0..3_000 {
            alice.publish(Time::ZERO, Bytes::from("text"), true).unwrap();
        }
        let mut network = Network::new(vec![alice, trusted("/carol", CLOCK_S + 9, 2)], has_nacks);
        let events = network.run(5_000);
        assert_eq!(numbers(&events), [2_999, 3_000], "{has_nacks}");
        let vector = events.iter().find(|(_, event)| matches!(event, Event::Vector(_))).unwrap().0;
        let missing = missing_of(&events);
        let [(at, 1_001, 2_998, 1_998)] = missing[..] else { panic!("{missing:?}") };
        // Without Nacks, the history is given the lifetime of an Interest.
        let most = if has_nacks { Duration::ZERO } else { Duration::from_secs(1) };
        assert!(at.since(vector) <= most, "{:?}", at.since(vector));
        // 16 before the first statement comes, 2 that arrive, and 8 in succession by both names.
        assert!(network.asked <= 2 + 8 * 2 + 16, "{}", network.asked);
        assert_eq!(network.members[0].unfetched(), 2_998);
        // The next ones are live as ever, even if they are gone before their requests.
        for _ in 0..5 {
            network.members[0].publish(network.now, Bytes::from("text"), true).unwrap();
        }
        let events = network.run(2_000);
        assert_eq!(numbers(&events), [3_004, 3_005]);
        assert_eq!(missing_of(&events).iter().map(|gone| gone.3).sum::<u64>(), 3);
    }
}

#[test]
fn publications_that_their_member_keeps_no_longer_come_from_the_history_of_others() {
    for has_nacks in [true, false] {
        let alice = trusted("/alice", CLOCK_S, 2);
        let mut network = Network::new(vec![alice], has_nacks);
        network.publish(20);
        network.members.push(trusted("/bob", CLOCK_S + 9, 2));
        assert_eq!(numbers(&network.run(5_000)), [19, 20]);
        network.publish(20);
        network.members.push(trusted("/carol", CLOCK_S + 99, 2));
        let events = network.run(10_000);
        assert_eq!(numbers(&events), (19..=40).collect::<Vec<_>>(), "{has_nacks}");
        let missing = missing_of(&events);
        assert!(matches!(missing[..], [(_, 1, 18, 18)]), "{missing:?}");
    }
}

#[test]
fn publications_that_are_gone_come_when_a_member_that_has_them_is_back() {
    for has_nacks in [true, false] {
        let members = vec![trusted("/alice", CLOCK_S, 2), trusted("/bob", CLOCK_S + 9, 2)];
        let mut network = Network::new(members, has_nacks);
        network.publish(4);
        let bob = network.members.pop().unwrap();
        network.pending.clear();
        network.members.push(trusted("/carol", CLOCK_S + 99, 2));
        let events = network.run(5_000);
        assert_eq!((numbers(&events), missing_of(&events).len()), (vec![3, 4], 1));
        network.pending.clear();
        network.members.insert(1, bob);
        let mut late = Vec::new();
        for _ in 0..2 {
            let now = network.now;
            network.members[2].again(now, |_| true);
            let events = network.run(61_000).into_iter();
            late.extend(events.filter_map(|(_, event)| match event {
                Event::Publication { seq, is_late, .. } => Some((seq, is_late)),
                _ => None,
            }));
        }
        late.sort_unstable();
        assert_eq!(late, [(1, true), (2, true)], "{has_nacks}");
    }
}

/// A statement by Mallory in place of a publication.
fn lie(stream: &Stream, seq: u64, low: u64) -> Bytes {
    let content = Name::new().with(&Component::sequence(low));
    let content = Bytes::copy_from_slice(content.as_bytes());
    let name = wire::publication(stream, &group(), seq);
    let data = DataBuf { content_type: ContentType::NACK, ..DataBuf::new(name, content) };
    let mut wire = Vec::new();
    mallory().encode(&data, &mut wire);
    wire.into()
}

/// The first publication of Alice, with another packet in it.
fn around(inner: Bytes) -> Bytes {
    let name = "/alice/group/t=1/seq=1".parse().unwrap();
    let content_type = ContentType::NACK;
    DataBuf { content_type, ..DataBuf::new(name, inner) }.encode_digest()
}

#[test]
fn a_member_speaks_for_its_own_publications_only() {
    let of_alice = Stream { name: "/alice".parse().unwrap(), boot: 1 };
    let own = Stream { name: "/mallory".parse().unwrap(), boot: 1 };
    let lies = [
        lie(&of_alice, 1, 9),
        around(lie(&of_alice, 8, 9)),
        around(lie(&own, 8, 9)),
        around(Bytes::from("no packet")),
    ];
    let any = Rule {
        subject: Subject::Data,
        names: "/{...}".parse().unwrap(),
        signer: "/{}".parse().unwrap(),
    };
    let schemas = [Schema::Hierarchy, Schema::Rules(vec![any])];
    for (schema, lie) in schemas.iter().flat_map(|schema| lies.iter().map(move |lie| (schema, lie)))
    {
        let mut carol = participant("/carol", CLOCK_S, 2, policy(&ALL, schema.clone()));
        let mut vector = Vector::new();
        vector.raise(&of_alice.name, 1, 8);
        let signer = key("/alice", seed("/alice")).0;
        carol.receive(Time::ZERO, &wire::interest(&group(), &vector, 1, &signer, 1));
        let mut now = Time::ZERO;
        assert_eq!(asked(&mut carol, &mut now, Time(1)).len(), 8);
        carol.receive(now, lie);
        let events: Vec<Event> = std::iter::from_fn(|| carol.poll_event()).collect();
        assert!(matches!(events[..], [Event::Vector(_), Event::Rejected { .. }]), "{events:?}");
        // It is requested again, and taken.
        let name = wire::publication(&of_alice, &group(), 1);
        let end = now + Duration::from_millis(400);
        assert!(asked(&mut carol, &mut now, end).contains(&name));
        let mut publication = Vec::new();
        signer.encode(&DataBuf::new(name, "content"), &mut publication);
        carol.receive(now, &publication);
        let event = carol.poll_event();
        assert!(matches!(event, Some(Event::Publication { seq: 1, .. })), "{event:?}");
    }
}

/// Every answer of Mallory, under both names, says that she keeps nothing.
#[test]
fn a_member_that_denies_all_its_publications_gets_few_interests() {
    for low in [u64::MAX, 1 << 63, 1] {
        let (mut carol, mut now, mut asked) = (trusted("/carol", CLOCK_S, 2), Time::ZERO, 0);
        carol.receive(now, &vector([(1, 1 << 63)].into_iter()));
        let stream = Stream { name: "/mallory".parse().unwrap(), boot: 1 };
        let history = kept::history(&group());
        let (end, mut events) = (now + Duration::from_secs(30), Vec::new());
        while now < end {
            let (mut out, mut answers) = (Vec::new(), Vec::new());
            while carol.poll_transmit(now, &mut out) {
                let interest = Interest::decode(&out).unwrap();
                let is_history = interest.name().starts_with(history.as_ref());
                let skip = if is_history { history.len() } else { 0 };
                let name = interest.name().suffix(skip);
                if let Some((_, seq)) = wire::parse_publication(name, &group()) {
                    let lie = lie(&stream, seq, low);
                    answers.push(match is_history {
                        true => DataBuf::new(interest.name().to_name(), lie).encode_digest(),
                        false => lie,
                    });
                }
                out.clear();
            }
            asked += answers.len();
            answers.iter().for_each(|answer| carol.receive(now, answer));
            events.extend(std::iter::from_fn(|| carol.poll_event()));
            now = carol.next_deadline(now).unwrap().max(now + Duration(1)).min(end);
        }
        let missing = events.iter().map(|event| match event {
            Event::Missing { count, .. } => *count,
            _ => 0,
        });
        let missing: u64 = missing.sum();
        // 2,000 numbers: each by its own name, and then once more by both names.
        assert!(asked <= 3 * 2_000, "{low}: {asked}");
        // A statement about all: 16 by their own names before it comes, and 8 by both names. About
        // all but the last: that one is requested until its attempts are spent.
        assert!(low == 1 || (asked < 100 && missing > 1_990), "{low}: {asked}, {missing}");
    }
}

/// Carol, who asks for both publications of Alice.
fn asks_for_two() -> (Participant, Time, Stream, Signer) {
    let (mut carol, mut now) = (trusted("/carol", CLOCK_S, 2), Time::ZERO);
    let stream = Stream { name: "/alice".parse().unwrap(), boot: 1 };
    let signer = key("/alice", seed("/alice")).0;
    let mut vector = Vector::new();
    vector.raise(&stream.name, 1, 2);
    carol.receive(now, &wire::interest(&group(), &vector, 1, &signer, 1));
    assert_eq!(asked(&mut carol, &mut now, Time(1)).len(), 2);
    let mut second = Vec::new();
    signer.encode(&DataBuf::new(wire::publication(&stream, &group(), 2), "text"), &mut second);
    carol.receive(now, &second);
    (carol, now, stream, signer)
}

fn has_second(participant: &mut Participant) -> bool {
    let mut events = std::iter::from_fn(|| participant.poll_event());
    events.any(|event| matches!(event, Event::Publication { seq: 2, .. }))
}

#[test]
fn a_wrong_packet_from_history_does_not_stop_a_stream_whose_first_one_is_gone() {
    let (mut carol, mut now, stream, signer) = asks_for_two();
    let first = wire::publication(&stream, &group(), 1);
    let in_history = kept::in_history(&kept::history(&group()), first.as_ref());
    let mut wrong = Vec::new();
    signer.encode(&DataBuf::new(first.clone(), "text"), &mut wrong);
    *wrong.last_mut().unwrap() ^= 0x55;
    let wrong = DataBuf::new(in_history.clone(), wrong).encode_digest();
    carol.receive(now, &statement::signed(&stream, &group(), 2, &signer));
    let (end, mut count) = (now + Duration::from_secs(20), 0);
    while now < end {
        let until = now + Duration(1);
        for name in asked(&mut carol, &mut now, until) {
            count += 1;
            if name == first {
                carol.receive(now, &statement::signed(&stream, &group(), 2, &signer));
            } else if name == in_history {
                carol.receive(now, &wrong);
            }
        }
        now = carol.next_deadline(now).unwrap_or(end).max(now);
    }
    assert!(has_second(&mut carol));
    // At least by both names after the statement, and once after a wrong packet. At most, each of
    // three wrong packets leads to three more: by its own name, and after the statement there by
    // both names. A wrong packet costs two of eight attempts, so the fourth one is the last.
    assert!((3..=2 + 3 * 3).contains(&count), "{count}");
}

/// It is requested again, and its member states that it no longer keeps it.
#[test]
fn a_missing_publication_that_is_gone_comes_from_history() {
    let (mut carol, mut now, stream, signer) = asks_for_two();
    let end = now + Duration::from_secs(60);
    asked(&mut carol, &mut now, end);
    let mut events = std::iter::from_fn(|| carol.poll_event());
    assert!(events.any(|event| matches!(event, Event::Missing { low: 1, high: 1, .. })));
    carol.again(now, |_| true);
    let first = wire::publication(&stream, &group(), 1);
    let end = now + Duration(1);
    assert_eq!(asked(&mut carol, &mut now, end), std::slice::from_ref(&first));
    carol.receive(now, &statement::signed(&stream, &group(), 2, &signer));
    let in_history = kept::in_history(&kept::history(&group()), first.as_ref());
    let end = now + Duration::from_millis(600);
    assert!(asked(&mut carol, &mut now, end).contains(&in_history));
    let mut packet = Vec::new();
    signer.encode(&DataBuf::new(first, "text"), &mut packet);
    carol.receive(now, &DataBuf::new(in_history, packet).encode_digest());
    let mut events = std::iter::from_fn(|| carol.poll_event());
    assert!(events.any(|event| matches!(event, Event::Publication { seq: 1, is_late: true, .. })));
}

#[test]
fn a_publication_that_is_gone_and_cannot_be_asked_for_stops_no_stream() {
    let (mut carol, now, stream, _) = asks_for_two();
    let first = wire::publication(&stream, &group(), 1);
    // Each is of another source, so none makes room.
    let names = (0..).map(|i| format!("/others/{i}/1").parse().unwrap());
    carol.asker.stop(&first);
    names.take_while(|name: &Name| carol.asker.ask(now, name.clone(), false)).for_each(drop);
    let key = "/alice/KEY/k".parse().unwrap();
    let content_type = ContentType::NACK;
    let none = DataBuf { content_type, ..DataBuf::new(first.clone(), "") }.encode_digest();
    carol.gone(now, first, &Data::decode(&none).unwrap(), &key);
    assert!(has_second(&mut carol));
}
