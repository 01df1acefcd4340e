//! Rooms over a network in memory, in virtual time.

use super::*;
use packet::{Component, Data, Interest, InterestBuf, LpPacket};
use security::certificate::Issue;
use security::trust::{Chains, Schema, Validator};
use security::{KeyType, SecretKey, Signer, TrustPolicy, Validity};
use std::sync::Arc;
use sync::Vector;

const CLOCK_S: u64 = 1_700_000_000;

struct Key {
    signer: Signer,
    certificate: Certificate,
}

fn key(identity: &str, seed: u8, issuer: Option<&Key>) -> Key {
    let secret = SecretKey::generate(KeyType::Ed25519, &[seed; 32]).unwrap();
    let name: Name = identity.parse().unwrap();
    let validity = Validity::days(CLOCK_S - 1_000, 10);
    let own = Certificate::self_signed(name.as_ref(), &secret, validity, CLOCK_S * 1_000);
    let certificate = match issuer {
        Some(by) => {
            let issuer = Component::generic(b"by");
            own.issued(&by.signer, &Issue { issuer, validity, version: 1 })
        }
        None => own,
    };
    let key_locator = certificate.name().clone();
    Key { signer: Signer::Key { secret, key_locator }, certificate }
}

/// Each Interest reaches all other rooms, and each Data packet the rooms that asked for it.
struct Network {
    now: Time,
    root: Certificate,
    rooms: Vec<Option<Room>>,
    asked: Vec<(usize, Name, bool)>,
    events: Vec<Vec<Event>>,
    /// The sync Interests of each room.
    vectors: Vec<(usize, Vec<u8>)>,
    /// Seconds by which the clock of the next member is ahead.
    ahead_s: u64,
}

impl Network {
    fn new(root: &Key) -> Network {
        let (rooms, asked, events) = (Vec::new(), Vec::new(), Vec::new());
        let (now, root, vectors) = (Time::ZERO, root.certificate.clone(), Vec::new());
        Network { now, root, rooms, asked, events, vectors, ahead_s: 0 }
    }

    fn join(&mut self, key: &Key) -> usize {
        let at = self.rooms.len();
        let mut room = self.new_room(key).unwrap();
        room.send(self.now, Body::Joined).unwrap();
        self.rooms.push(Some(room));
        self.events.push(Vec::new());
        at
    }

    fn new_room(&self, key: &Key) -> Result<Room, usize> {
        let validator = Validator::new(vec![self.root.clone()], Schema::Hierarchy);
        let boot = CLOCK_S + self.ahead_s + self.now.0 / 1_000_000_000;
        let options = group::Options {
            group: "/chat".parse().unwrap(),
            own: Stream { name: key.certificate.identity(), boot },
            signer: key.signer.clone(),
            policy: TrustPolicy::Chains(Chains { validator: Arc::new(validator), now: 0 }),
            history: 100,
            keep: group::MOST_PACKETS,
            rng: Rng::stream(self.rooms.len() as u64, &["room"]),
            clock: Box::new(move || boot * 1_000),
        };
        Room::new(
            options,
            Duration::from_secs(10),
            std::slice::from_ref(&key.certificate),
            self.now,
        )
    }

    fn room(&mut self, at: usize) -> &mut Room {
        self.rooms[at].as_mut().unwrap()
    }

    fn say(&mut self, at: usize, text: &str) {
        let now = self.now;
        self.room(at).send(now, Body::Text(text.to_owned())).unwrap();
    }

    fn deliver(&mut self, from: usize, frame: &[u8]) {
        let link = LpPacket::decode(frame).unwrap();
        let packet = link.fragment().unwrap();
        let to: Vec<usize> = if link.nack().is_some() {
            Vec::new()
        } else if let Ok(interest) = Interest::decode(packet) {
            if wire::is_sync(&interest, &"/chat".parse().unwrap()) {
                self.vectors.push((from, packet.to_vec()));
            }
            self.asked.push((from, interest.name().to_name(), interest.can_be_prefix()));
            (0..self.rooms.len()).filter(|to| *to != from).collect()
        } else {
            let data = Data::decode(packet).unwrap();
            let answers = |(_, name, is_prefix): &(usize, Name, bool)| match is_prefix {
                true => data.name().starts_with(name.as_ref()),
                false => data.name() == name.as_ref(),
            };
            let answered: Vec<_> = self.asked.extract_if(.., |asked| answers(asked)).collect();
            answered.into_iter().map(|(to, ..)| to).collect()
        };
        for to in to {
            if let Some(room) = &mut self.rooms[to] {
                room.receive(self.now, packet);
            }
        }
    }

    /// Runs for `span`.
    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let mut moved = false;
            for at in 0..self.rooms.len() {
                let mut frame = Vec::new();
                let now = self.now;
                let Some(room) = &mut self.rooms[at] else { continue };
                let sent = room.poll_transmit(now, &mut frame);
                while let Some(event) = room.poll_event() {
                    self.events[at].push(event);
                }
                if sent {
                    self.deliver(at, &frame);
                    moved = true;
                }
            }
            if moved {
                continue;
            }
            let now = self.now;
            let rooms = self.rooms.iter_mut().flatten();
            let next = rooms.filter_map(|room| room.next_deadline(now)).min().unwrap_or(end);
            self.now = next.max(now + Duration(1));
            if self.now > end {
                return;
            }
            let now = self.now;
            for room in self.rooms.iter_mut().flatten() {
                if room.next_deadline(now).is_some_and(|at| at <= now) {
                    room.on_deadline(now);
                }
            }
        }
    }

    /// Sends all vectors of a room again.
    fn replay(&mut self, from: usize, to: usize) {
        let now = self.now;
        let vectors: Vec<_> = self.vectors.iter().filter(|(of, _)| *of == from).cloned().collect();
        for (_, vector) in vectors {
            self.room(to).receive(now, &vector);
        }
    }

    fn texts<'a>(&'a self, at: usize) -> Vec<&'a str> {
        let text = |event: &'a Event| match event {
            Event::Message { message, .. } => match &message.body {
                Body::Text(text) => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        };
        self.events[at].iter().filter_map(text).collect()
    }
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn a_late_member_gets_history_and_certificates_from_those_that_are_here() {
    let root = key("/chat", 1, None);
    let keys = [2, 3, 4].map(|seed| key(&format!("/chat/m{seed}"), seed, Some(&root)));
    let mut network = Network::new(&root);
    let (first, second) = (network.join(&keys[0]), network.join(&keys[1]));
    network.run(seconds(1));
    for text in ["one", "two", "three"] {
        network.say(first, text);
        network.run(seconds(1));
    }
    network.say(second, "four");
    network.run(seconds(1));
    assert_eq!(network.texts(second), ["one", "two", "three"]);
    assert_eq!(network.texts(first), ["four"]);
    // The first member is gone without a word.
    network.rooms[first] = None;
    let third = network.join(&keys[2]);
    network.run(seconds(20));
    let mut texts = network.texts(third);
    texts.sort_unstable();
    assert_eq!(texts, ["four", "one", "three", "two"]);
    let silent = Event::Gone { member: "/chat/m2".parse().unwrap(), has_left: false };
    assert!(!network.events[second].contains(&silent));
    network.run(seconds(30));
    assert!(network.events[second].contains(&silent));
}

#[test]
fn forged_vectors_and_messages_are_rejected_and_counted() {
    let (root, other) = (key("/chat", 1, None), key("/chat", 9, None));
    let (alice, bob) = (key("/chat/a", 2, Some(&root)), key("/chat/b", 3, Some(&root)));
    let forger = key("/chat/a", 8, Some(&other));
    let mut network = Network::new(&root);
    let (alice, bob) = (network.join(&alice), network.join(&bob));
    network.run(seconds(1));
    let forger = network.join(&forger);
    network.say(forger, "forged");
    network.run(seconds(15));
    network.say(alice, "true");
    network.run(seconds(15));
    assert_eq!(network.texts(bob), ["true"]);
    let counts = network.room(bob).counts().clone();
    assert!(counts.rejected_vectors > 0 && counts.rejected >= counts.rejected_vectors);
    let known = network.room(bob).member().others().count();
    assert_eq!(known, 1, "the forged stream is not there");
}

/// A router can keep vectors and send them again, to members that know them and to later ones.
#[test]
fn replayed_vectors_show_no_member_as_here_and_no_message_as_live() {
    let root = key("/chat", 1, None);
    let keys = [2, 3, 4].map(|seed| key(&format!("/chat/m{seed}"), seed, Some(&root)));
    let mut network = Network::new(&root);
    let (first, second) = (network.join(&keys[0]), network.join(&keys[1]));
    network.run(seconds(12));
    for text in ["one", "two"] {
        network.say(first, text);
        network.run(seconds(1));
    }
    let first_name: Name = "/chat/m2".parse().unwrap();
    assert!(network.room(second).presence().get(&first_name).unwrap().is_here);
    let is_live = |event: &Event| matches!(event, Event::Message { is_live: true, .. });
    assert_eq!(network.events[second].iter().filter(|event| is_live(event)).count(), 2);
    network.rooms[first] = None;
    let third = network.join(&keys[2]);
    for _ in 0..12 {
        network.replay(first, second);
        network.replay(first, third);
        network.run(seconds(5));
    }
    assert!(!network.room(second).presence().get(&first_name).unwrap().is_here);
    assert_eq!(network.texts(third), ["one", "two"]);
    assert!(!network.events[third].iter().any(is_live));
    assert!(!network.events[third].contains(&Event::Here(first_name)));
    let second_name = "/chat/m3".parse().unwrap();
    assert!(network.events[third].contains(&Event::Here(second_name)));
}

#[test]
fn the_first_messages_after_the_welcome_are_live() {
    let root = key("/chat", 1, None);
    let keys = [2, 3].map(|seed| key(&format!("/chat/m{seed}"), seed, Some(&root)));
    let mut network = Network::new(&root);
    let first = network.join(&keys[0]);
    network.run(seconds(5));
    let second = network.join(&keys[1]);
    let mut waited = 0;
    while !network.rooms[second].as_ref().unwrap().is_welcome(network.now) {
        network.run(Duration::from_millis(10));
        waited += 10;
    }
    assert!(waited < 1_000, "{waited} ms");
    network.say(second, "hello");
    network.run(seconds(1));
    let is_live = |event: &Event| matches!(event, Event::Message { is_live: true, .. });
    assert!(network.events[first].iter().any(is_live), "{:?}", network.events[first]);
    // Without others, it waits for a second.
    let mut alone = Network::new(&root);
    let only = alone.join(&keys[0]);
    alone.run(Duration::from_millis(900));
    let room = alone.room(only);
    assert!(!room.is_welcome(Time::ZERO + Duration::from_millis(999)));
    assert!(room.is_welcome(Time::ZERO + WELCOME));
}

#[test]
fn a_member_with_many_starts_takes_bounded_memory() {
    let root = key("/chat", 1, None);
    let keys = [2, 3].map(|seed| key(&format!("/chat/m{seed}"), seed, Some(&root)));
    let mut network = Network::new(&root);
    let (first, second) = (network.join(&keys[0]), network.join(&keys[1]));
    network.run(seconds(1));
    network.rooms[second] = None;
    let (now, group) = (network.now, "/chat".parse().unwrap());
    for start in 1..=1_000 {
        let mut vector = Vector::new();
        vector.raise(&"/chat/m3".parse().unwrap(), CLOCK_S + start, 2_000);
        let interest = wire::interest(&group, &vector, 1, &keys[1].signer, 1);
        network.room(first).receive(now, &interest);
    }
    let room = network.room(first);
    assert!(room.member().stats().received > 1_000);
    assert_eq!((room.participant.streams(), room.member().others().count()), (8, 8));
}

/// Others do not send its start: the specification would have it ignored.
#[test]
fn a_member_with_a_clock_that_is_days_ahead_sees_others() {
    let root = key("/chat", 1, None);
    let keys = [2, 3].map(|seed| key(&format!("/chat/m{seed}"), seed, Some(&root)));
    let mut network = Network::new(&root);
    let first = network.join(&keys[0]);
    network.run(seconds(1));
    network.ahead_s = 2 * 86_400;
    let second = network.join(&keys[1]);
    network.run(seconds(30));
    assert!(network.events[second].contains(&Event::Here("/chat/m2".parse().unwrap())));
    assert!(network.events[first].contains(&Event::Here("/chat/m3".parse().unwrap())));
}

#[test]
fn names_that_fit_no_packet_are_rejected_at_the_start() {
    let root = key("/chat", 1, None);
    let network = Network::new(&root);
    let long = |bytes| key(&format!("/chat/{}", "m".repeat(bytes)), 1, None);
    assert!(network.new_room(&long(2_500)).is_ok());
    assert!(network.new_room(&long(3_000)).is_err());
}

#[test]
fn an_interest_for_another_group_is_answered_by_nothing() {
    let root = key("/chat", 1, None);
    let mut network = Network::new(&root);
    let member = network.join(&root);
    network.run(seconds(1));
    let interest = InterestBuf::new("/other/v=3".parse().unwrap()).encode();
    let now = network.now;
    let room = network.room(member);
    room.receive(now, &interest);
    room.receive(now, b"\x05\x00");
    room.receive(now, b"HTTP/1.1");
    let mut out = Vec::new();
    assert!(!room.poll_transmit(now, &mut out) && out.is_empty());
}

#[test]
fn a_message_that_fits_no_packet_is_not_sent() {
    let long = format!("/chat/{}", "m".repeat(2_500));
    let root = key(&long, 1, None);
    let mut network = Network::new(&root);
    let member = network.join(&root);
    let now = network.now;
    let room = network.room(member);
    let before = room.member().seq();
    assert!(room.send(now, Body::Text("x".repeat(4_000))).is_err());
    assert_eq!(room.member().seq(), before);
    room.send(now, Body::Text("short".to_owned())).unwrap();
}
