//! A participant with hostile input, in virtual time.

use super::*;
use security::trust::{Chains, Schema, Validator};
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
    let ((signer, own), (_, other)) = (key("/alice", 1), key("/mallory", 2));
    let validator = Validator::new(vec![own.clone(), other], Schema::Hierarchy);
    let options = Options {
        group: group(),
        own: Stream { name: own.identity(), boot: CLOCK_S },
        signer,
        policy: TrustPolicy::Chains(Chains { validator: Arc::new(validator), now: 0 }),
        history: 2_000,
        keep: 2_000,
        rng: Rng::stream(1, &["participant"]),
        clock: Box::new(|| CLOCK_S * 1_000),
    };
    Participant::new(options, &[own], Time::ZERO).unwrap()
}

/// A vector of Mallory with streams of her own.
fn vector(streams: impl Iterator<Item = (u64, u64)>) -> Bytes {
    let mut vector = Vector::new();
    streams.for_each(|(boot, seq)| vector.raise(&"/mallory".parse().unwrap(), boot, seq));
    wire::interest(&group(), &vector, 1, &key("/mallory", 2).0, 1)
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
    // 16 at a time, each again after half a second.
    assert!((16..=16 * 21).contains(&names.len()), "{}", names.len());
}

#[test]
fn a_new_connection_brings_a_vector_and_one_more_a_second_later() {
    let (mut participant, mut now) = (alice(), Time::ZERO);
    let mut vectors = |participant: &mut Participant, millis| {
        let end = Time::ZERO + Duration::from_millis(millis);
        sent(participant, &mut now, end).iter().filter(|(_, is_vector)| *is_vector).count()
    };
    // The start of the member.
    vectors(&mut participant, 5_000);
    participant.reconnected(Time::ZERO + Duration::from_millis(5_000));
    assert_eq!(vectors(&mut participant, 5_999), 1);
    assert_eq!(vectors(&mut participant, 6_002), 1);
    assert_eq!(vectors(&mut participant, 10_000), 0);
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
    key("/mallory", 2).0.encode(&DataBuf::new(name, "content"), &mut publication);
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
    key("/mallory", 2).0.encode(&DataBuf::new(name.clone(), "content"), &mut publication);
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
