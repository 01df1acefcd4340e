//! A daemon without routes finds a producer behind its neighbour, and learns the way.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use net::client::lists;
use net::clock::unix_millis;
use net::uri::FaceUri;
use packet::{
    DataBuf, Interest, InterestBuf, LpHeader, LpPacket, Name, PrefixAnnouncement, Signature,
    SignatureInfoBuf, tlv,
};
use sha2::{Digest as _, Sha256};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use support::{Consumer, Running, content, until};

const SIZE: usize = 1000;

/// The command `rib/announce` for a prefix, with a digest.
fn announce(prefix: &str) -> Vec<u8> {
    let prefix: Name = prefix.parse().unwrap();
    let data = PrefixAnnouncement::build(prefix.as_ref(), 1, 60_000).encode_digest();
    let mut interest = InterestBuf::new("/localhost/nfd/rib/announce".parse().unwrap());
    (interest.nonce, interest.parameters) = (Some(1), Some(data));
    let info = SignatureInfoBuf::digest().with_nonce(&[7; 8]).with_time_ms(unix_millis());
    interest.sign_with(info, |parts| {
        let mut digest = Sha256::new();
        parts.iter().for_each(|part| digest.update(part));
        Signature::from(<[u8; 32]>::from(digest.finalize()))
    });
    interest.encode().to_vec()
}

/// Announces the prefix and answers Interests for its segments until the stream ends.
fn produce(mut stream: UnixStream, prefix: &str) {
    stream.write_all(&announce(prefix)).unwrap();
    let (mut buffer, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(count) = stream.read(&mut chunk)
        && count > 0
    {
        buffer.extend_from_slice(&chunk[..count]);
        while let Ok(Some(length)) = tlv::frame_len(&buffer, 1 << 16) {
            let frame: Vec<u8> = buffer.drain(..length).collect();
            let link = LpPacket::decode(&frame).unwrap();
            let Some(Ok(interest)) = link.fragment().map(Interest::decode) else { continue };
            let segment = interest.name().last().unwrap().as_segment().unwrap();
            let data = DataBuf::new(interest.name().to_name(), content(segment, SIZE));
            let pit_token = link.pit_token().unwrap_or_default().into();
            let header = LpHeader { pit_token, ..LpHeader::default() };
            let mut out = Vec::new();
            header.encode_into(&data.encode_digest(), &mut out);
            if stream.write_all(&out).is_err() {
                return;
            }
        }
    }
}

#[test]
fn a_producer_that_announces_its_prefix_is_found_and_the_route_is_learned() {
    let learns = "[[strategy]]\nprefix = \"/\"\nstrategy = \"self-learning\"\n\
                  [announcements]\naccept = \"any\"\n";
    let far = Running::start(learns);
    let uri = FaceUri::udp(far.udp[0]);
    let near = Running::start(&format!("{learns}[[face]]\nuri = \"{uri}\"\n"));
    let stream = far.stream();
    let ours = stream.try_clone().unwrap();
    let producer = std::thread::spawn(move || produce(stream, "/p"));
    until("the announced route", || {
        (!lists::routes(&mut far.connect()).unwrap().is_empty()).then_some(())
    });
    let fetched = Consumer::new("/p", 100, 4).fetch(&near, SIZE);
    assert_eq!(fetched.received.len(), 100);
    let routes = lists::routes(&mut near.connect()).unwrap();
    let [route] = &routes[..] else { panic!("{routes:?}") };
    assert_eq!((route.prefix.to_string().as_str(), route.origin, route.cost), ("/p", 129, 2048));
    let left = route.expires_ms.expect("it has an end");
    assert!(left <= 60_000 && left > 0, "{left}");
    ours.shutdown(std::net::Shutdown::Both).unwrap();
    producer.join().unwrap();
}
