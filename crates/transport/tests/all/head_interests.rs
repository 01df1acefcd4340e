//! The Interests for heads.

use crate::support::{Memory, Pipe, Watched, bytes, name, publish, run};
use control::Duration;
use packet::{Interest, LpPacket};
use security::{Signer, TrustPolicy};
use transport::fetch::{Fetch, FetchConfig};
use transport::head;
use transport::publish::Publish;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn the_first_head_has_to_be_fresh_and_the_others_may_come_from_a_cache() {
    let content = bytes(4500);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let mut watched = Watched { producer, frames: Vec::new() };
    let config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    let mut fetch = Fetch::new(config, crate::support::controller("fixed"));
    let (mut sink, pipe) = (Memory::default(), Pipe::default());
    run(&mut fetch, &mut sink, &mut watched, &pipe, LIMIT, &mut |_, frame| Some(frame));
    assert!(sink.bytes == content);
    let mut heads = Vec::new();
    let mut nonces = std::collections::BTreeSet::new();
    for frame in &watched.frames {
        let interest = LpPacket::decode(frame).unwrap().fragment().unwrap();
        let interest = Interest::decode(interest).unwrap();
        let prefix = (0..64)
            .find(|n| interest.name() == head::prefix(name("/a/file").as_ref(), *n).as_ref());
        let Some(segment) = prefix else { continue };
        assert!(interest.can_be_prefix(), "the version stands behind it");
        assert!(nonces.insert(interest.nonce().unwrap()));
        // The lifetime is that of any Interest for a segment, because the answer may take as long.
        assert_eq!(interest.lifetime_ms(), 4000);
        heads.push((segment, interest.must_be_fresh()));
    }
    assert!(heads.len() >= 5);
    assert!(heads.iter().all(|(segment, is_fresh)| *is_fresh == (*segment == 0)), "{heads:?}");
}
