//! Groups: a state vector or message that can be read is written as it was; a member that receives
//! any vectors keeps its own number, and its vector fits a packet.
#![no_main]

#[path = "../../crates/weir/src/chat/message.rs"]
mod message;

use control::{Duration, Rng, Time};
use libfuzzer_sys::fuzz_target;
use message::Message;
use packet::{Interest, Name};
use security::TrustPolicy;
use sync::{Config, Limits, Member, Stream, Vector, wire};

const CLOCK: u64 = 1_700_000_000;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(vector) = Vector::decode(bytes) {
        assert_eq!(Vector::decode(&encoded(&vector)), Ok(vector));
    }
    if let Ok(message) = Message::decode(bytes) {
        assert_eq!(Message::decode(&message.encode()), Ok(message));
    }
    let group: Name = "/a".parse().expect("a name");
    if let Ok(interest) = Interest::decode(bytes) {
        // A digest proves nothing about the sender.
        assert!(wire::open(&interest, &group, &TrustPolicy::DigestOnly).is_err());
        if let Some((stream, seq)) = wire::parse_publication(interest.name(), &group) {
            assert_eq!(wire::publication(&stream, &group, seq).as_ref(), interest.name());
        }
    }
    member(bytes);
});

fn encoded(vector: &Vector) -> Vec<u8> {
    let mut out = Vec::new();
    vector.encode_into(&mut out);
    out
}

/// A member that receives the vectors in the bytes: each one behind a byte for the passed time and
/// the signer, and a byte for its length.
fn member(mut bytes: &[u8]) {
    let limits = Limits { bytes: 500, starts: 3, ..Limits::default() };
    let own = Stream { name: "/a/me".parse().expect("a name"), boot: CLOCK };
    let rng = Rng::stream(1, &["fuzz"]);
    let config = Config { limits, ..Config::default() };
    let (mut member, mut now) = (Member::new(config, own, rng, Time::ZERO), Time::ZERO);
    let mut published = 0;
    while let [about, len, rest @ ..] = bytes {
        let (vector, rest) = rest.split_at(usize::from(*len).min(rest.len()));
        bytes = rest;
        now += Duration::from_millis(u64::from(about >> 2) * 50);
        if about & 1 == 1 {
            published += 1;
            assert_eq!(member.publish(now), published);
        }
        if let Ok(vector) = Vector::decode(vector) {
            let signer = vector.iter().next().map(|(name, ..)| name.clone());
            let signer = signer.as_ref().filter(|_| about & 2 == 2).map(|name| name.as_ref());
            member.receive(now, CLOCK, &vector, signer);
        }
        while let Some(update) = member.poll_update() {
            assert!(update.low >= 1 && update.low <= update.high);
        }
        let sent = member.poll_transmit(now, CLOCK);
        let vector = member.vector(CLOCK);
        assert!(encoded(&vector).len() <= limits.bytes + 64);
        assert_eq!(vector.get(&member.own().name, CLOCK), published);
        if let Some(sent) = sent {
            assert_eq!(sent, vector);
            assert!(member.next_deadline() > now);
        }
    }
}
