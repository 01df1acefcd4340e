//! Forged packets in a cache on the path: metadata, manifests and segments.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Answers, Memory, Pipe, bytes, cubic, failure, name, run};
use control::{Duration, Time};
use packet::options::Exclude;
use packet::{Bytes, Component, Data, DataBuf, Interest, LpHeader, LpPacket, Name};
use security::manifest::node_name;
use security::{SecretKey, Signer, TrustPolicy, TrustedKey};
use std::collections::VecDeque;
use transport::fetch::{Fetch, FetchConfig, FetchError, Status};
use transport::publish::{Preparation, Publish, Spec};
use transport::rdr::{self, Metadata};

const LIMIT: Duration = Duration::from_secs(60);
const FILE: &str = "/alice/file";
const HUGE: u64 = 1 << 63;

fn alice() -> (Signer, TrustPolicy) {
    let (secret, key_name) = (SecretKey::ed25519(&[7; 32]), name("/alice/KEY/1"));
    let trusted = TrustedKey::new(key_name.clone(), secret.public(), name("/alice"));
    (Signer::Key { secret, key_locator: key_name }, TrustPolicy::Keys(vec![trusted]))
}

/// A cache with packets in it, in front of a producer.
struct Cache {
    packets: Vec<Bytes>,
    producer: Publish,
    /// It supports the option Exclude.
    is_new: bool,
    /// Rejected Interests get no answer.
    is_silent: bool,
    out: VecDeque<Vec<u8>>,
    interests: u32,
}

impl Cache {
    /// A cache in front of alice's producer of `content`, as version 7.
    fn before(content: &[u8], spec: impl Fn(Signer) -> Spec) -> Cache {
        let (signer, _) = alice();
        let mut producer = Publish::new();
        producer.claim(name("/alice"));
        let spec = Spec { segment_size: 1000, ..spec(signer.clone()) };
        let object = Preparation::new(spec, content.to_vec(), &signer).unwrap().run(&signer);
        producer.add(object.unwrap());
        let (packets, out) = (Vec::new(), VecDeque::new());
        Cache { packets, producer, is_new: true, is_silent: false, out, interests: 0 }
    }

    fn with(content: &[u8], packets: impl IntoIterator<Item = Bytes>) -> Cache {
        let mut cache = Cache::before(content, |_| Spec::new(name(FILE), 7));
        cache.packets.extend(packets);
        cache
    }

    fn fetch(&mut self, uri: &str, policy: TrustPolicy) -> (Fetch, Memory, Time) {
        let mut fetch = Fetch::new(FetchConfig::new(name(uri), policy), cubic());
        let mut sink = Memory::default();
        let pipe = Pipe::default();
        let took = run(&mut fetch, &mut sink, self, &pipe, LIMIT, &mut |_, frame| Some(frame));
        (fetch, sink, took)
    }

    /// Fetches the object of that name, which must succeed with version 7.
    fn succeeds(&mut self, uri: &str, policy: TrustPolicy, content: &[u8]) -> (Fetch, Time) {
        let (fetch, sink, took) = self.fetch(uri, policy);
        assert_eq!(fetch.status(), Status::Done, "{uri}: {:?}", fetch.stats());
        assert_eq!(fetch.object().unwrap().name, name("/alice/file/v=7"));
        assert!(sink.bytes == content, "{uri}: other bytes came out than went in");
        (fetch, took)
    }
}

impl Answers for Cache {
    fn receive(&mut self, frame: &[u8]) {
        self.interests += 1;
        let link = LpPacket::decode(frame).unwrap();
        let interest = Interest::decode(link.fragment().unwrap()).unwrap();
        let excluded = link.to_options().get::<Exclude>().filter(|_| self.is_new);
        let answers = |wire: &&Bytes| {
            let data = Data::decode(wire).unwrap();
            let digest = data.implicit_digest();
            data.satisfies(&interest) && !excluded.as_ref().is_some_and(|e| e.excludes(&digest))
        };
        match self.packets.iter().find(answers) {
            Some(packet) => self.out.push_back(packet.to_vec()),
            None if self.is_new => self.producer.receive(frame),
            // Unknown packets are not forwarded.
            None => {
                let mut bare = Vec::new();
                LpHeader::default().encode_into(link.fragment().unwrap(), &mut bare);
                self.producer.receive(&bare);
            }
        }
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        while self.out.is_empty() {
            let mut frame = Vec::new();
            if !self.producer.poll_transmit(&mut frame) {
                break;
            }
            let is_nack = LpPacket::decode(&frame).unwrap().nack().is_some();
            if !(is_nack && self.is_silent) {
                self.out.push_back(frame);
            }
        }
        self.out.pop_front().is_some_and(|frame| {
            out.extend(frame);
            true
        })
    }
}

fn encoded(signer: &Signer, name: Name, content: Vec<u8>) -> Bytes {
    let mut wire = Vec::new();
    let data = DataBuf { freshness_ms: Some(3_600_000), ..DataBuf::new(name, content) };
    signer.encode(&data, &mut wire);
    wire.into()
}

/// Metadata that announces a version.
fn metadata(version: u64, signer: &Signer) -> Bytes {
    let object = name(FILE).with(&Component::version(version));
    let mut content = Vec::new();
    Metadata::bare(object).encode_into(&mut content);
    let version = Component::version(version);
    let under = rdr::metadata_prefix(name(FILE).as_ref()).with(&version);
    encoded(signer, under.with(&Component::segment(0)), content)
}

fn mallory() -> Signer {
    Signer::Key { secret: SecretKey::ed25519(&[66; 32]), key_locator: name("/alice/KEY/1") }
}

#[test]
fn metadata_that_the_policy_rejects_are_passed_over() {
    let content = bytes(30_000);
    for signer in [Signer::Digest, mallory()] {
        let mut cache = Cache::with(&content, [metadata(HUGE, &signer)]);
        let (fetch, took) = cache.succeeds(FILE, alice().1, &content);
        assert_eq!(fetch.stats().forged, 1);
        assert!(took < Time(1_000_000_000), "{took:?}");
    }
}

#[test]
fn many_forgeries_in_one_cache_are_passed_over() {
    let content = bytes(30_000);
    let forged = (0..5).map(|n| metadata(HUGE + n, &Signer::Digest));
    let mut cache = Cache::with(&content, forged);
    let (fetch, _) = cache.succeeds(FILE, alice().1, &content);
    assert!((1..=5).contains(&fetch.stats().forged), "{:?}", fetch.stats());
}

#[test]
fn a_version_is_fetched_though_a_newer_one_is_announced() {
    let content = bytes(300_000);
    let (signer, policy) = alice();
    for newer in [metadata(9, &signer), metadata(HUGE, &Signer::Digest)] {
        let mut cache = Cache::with(&content, [newer]);
        let (fetch, took) = cache.succeeds("/alice/file/v=7", policy.clone(), &content);
        // The fetch needs only the root packet of its version, and receives no forged packet.
        assert_eq!((fetch.stats().forged, fetch.stats().counters.nacks), (0, 0));
        assert!(took < Time(1_000_000_000), "{took:?}");
        assert!(fetch.object().unwrap().root_digest.is_some());
    }
}

#[test]
fn a_version_whose_root_gets_lost_is_asked_for_again() {
    let content = bytes(300_000);
    let (signer, policy) = alice();
    let mut cache = Cache::with(&content, [metadata(9, &signer)]);
    let mut fetch = Fetch::new(FetchConfig::new(name("/alice/file/v=7"), policy), cubic());
    let mut sink = Memory::default();
    let root = rdr::root_name(name("/alice/file/v=7").as_ref());
    let mut lost = 0;
    let mut lose = |_, frame: Bytes| {
        let is_root = Data::decode(&frame).is_ok_and(|data| data.name() == root.as_ref());
        lost += u32::from(is_root && lost == 0);
        (!is_root || std::mem::replace(&mut lost, 2) == 2).then_some(frame)
    };
    run(&mut fetch, &mut sink, &mut cache, &Pipe::default(), LIMIT, &mut lose);
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content);
}

#[test]
fn a_manifest_that_a_cache_has_is_not_taken_for_the_object() {
    let content = bytes(30_000);
    let (_, policy) = alice();
    let mut cache = Cache::with(&content, []);
    let root = node_name(name("/alice/file/v=7").as_ref(), 0);
    cache.producer.receive(&packet::InterestBuf::new(root.clone()).encode());
    let mut frame = Vec::new();
    assert!(cache.producer.poll_transmit(&mut frame));
    let root = Bytes::copy_from_slice(LpPacket::decode(&frame).unwrap().fragment().unwrap());
    cache.packets.push(root.clone());
    let mut fetch = Fetch::new(FetchConfig::new(name(FILE), policy), cubic());
    let mut sink = Memory::default();
    // All other packets are lost until the cache has answered the bare name.
    let mut came = false;
    let mut lose = |_, frame: Bytes| {
        came |= frame == root;
        came.then_some(frame)
    };
    run(&mut fetch, &mut sink, &mut cache, &Pipe::default(), LIMIT, &mut lose);
    assert!(came && fetch.status() == Status::Done, "{:?}", fetch.stats());
    assert_eq!(fetch.object().unwrap().name, name("/alice/file/v=7"));
    assert!(sink.bytes == content, "other bytes came out than went in");
}

#[test]
fn forged_roots_nodes_and_segments_are_asked_for_by_digest() {
    // Leaves 0 and 1, and the root 2.
    let content = bytes(300_000);
    let (_, policy) = alice();
    let object = name("/alice/file/v=7");
    let segment = object.clone().with(&Component::segment(3));
    let forged = [
        node_name(object.as_ref(), 2),
        node_name(object.as_ref(), 1),
        segment,
        rdr::root_name(object.as_ref()),
    ];
    for forged in &forged {
        for uri in [FILE, "/alice/file/v=7"] {
            for signer in [Signer::Digest, mallory()] {
                let packet = encoded(&signer, forged.clone(), b"forged".to_vec());
                Cache::with(&content, [packet]).succeeds(uri, policy.clone(), &content);
            }
        }
    }
    let all = forged.iter().map(|name| encoded(&mallory(), name.clone(), b"forged".to_vec()));
    let mut cache = Cache::with(&content, all);
    cache.succeeds("/alice/file/v=7", policy, &content);
}

#[test]
fn forged_segments_without_a_manifest_are_excluded() {
    let content = bytes(30_000);
    let (_, policy) = alice();
    let hides = |data: &Data<'_>| data.name().components().any(|c| c.typ() == 32);
    for forged in [&[0][..], &[3], &[0, 3, 29]] {
        let mut cache = Cache::before(&content, |signer| Spec::signed_by(signer, name(FILE), 7));
        let segment = |n: &u64| name("/alice/file/v=7").with(&Component::segment(*n));
        let packet = |n: &u64| encoded(&Signer::Digest, segment(n), vec![1; 1000]);
        cache.packets.extend(forged.iter().map(packet));
        let mut fetch = Fetch::new(FetchConfig::new(name(FILE), policy.clone()), cubic());
        let mut sink = Memory::default();
        let mut no_metadata =
            |_, frame: Bytes| Data::decode(&frame).map_or(true, |d| !hides(&d)).then_some(frame);
        run(&mut fetch, &mut sink, &mut cache, &Pipe::default(), LIMIT, &mut no_metadata);
        assert_eq!(fetch.status(), Status::Done, "{forged:?}: {:?}", fetch.stats());
        assert!(sink.bytes == content);
        assert!(fetch.stats().forged >= forged.len() as u64);
    }
}

#[test]
fn a_version_that_is_not_there_is_skipped() {
    // Without a policy that needs a key, forged metadata is used until its candidate fails: soon
    // if the producer sends Nacks, later if it is silent.
    let content = bytes(30_000);
    for (is_silent, seconds) in [(false, 2), (true, 6)] {
        let mut cache = Cache::with(&content, [metadata(HUGE, &Signer::Digest)]);
        cache.is_silent = is_silent;
        let policy = TrustPolicy::AnySigned(Vec::new());
        let (_, took) = cache.succeeds(FILE, policy, &content);
        assert!(took < Time(seconds * 1_000_000_000), "{took:?}");
    }
}

#[test]
fn a_forged_word_that_there_is_nothing_is_no_end() {
    let content = bytes(30_000);
    for uri in [FILE, "/alice/file/v=7"] {
        let denied = |name: Name| {
            let data = DataBuf::new(name, Bytes::new());
            DataBuf { content_type: packet::ContentType::NACK, ..data }.encode_digest()
        };
        let under = rdr::metadata_prefix(name(FILE).as_ref()).with(&Component::version(9));
        let root = rdr::root_name(name("/alice/file/v=7").as_ref());
        let mut cache = Cache::with(&content, [denied(under), denied(root)]);
        cache.succeeds(uri, alice().1, &content);
    }
}

#[test]
fn a_cache_that_knows_no_exclusion_costs_a_bounded_number_of_requests() {
    let content = bytes(30_000);
    let (signer, policy) = alice();
    // Metadata of the version under every name that answers discovery, heads included.
    let forged = metadata(HUGE, &Signer::Digest);
    let heads = (0..64).map(|n| transport::head::prefix(name(FILE).as_ref(), n));
    let heads = heads.map(|name| encoded(&Signer::Digest, name, b"forged".to_vec()));
    let mut cache = Cache::with(&content, heads.chain([forged]));
    cache.is_new = false;
    let (fetch, _, took) = cache.fetch(FILE, policy.clone());
    assert!(matches!(failure(&fetch), FetchError::Untrusted(_)), "{:?}", fetch.status());
    assert!(took < Time(10_000_000_000), "{took:?}");
    assert!(cache.interests < 200, "{} Interests", cache.interests);
    // A known version can still be fetched, because no forged packet has the name of its root.
    let mut cache = Cache::with(&content, [metadata(HUGE, &signer)]);
    cache.is_new = false;
    cache.succeeds("/alice/file/v=7", policy, &content);
}

#[test]
fn a_key_that_is_not_trusted_is_known_soon() {
    let content = bytes(30_000);
    let other = SecretKey::ed25519(&[8; 32]).public();
    let trusted = TrustedKey::new(name("/alice/KEY/2"), other, name("/alice"));
    for uri in [FILE, "/alice/file/v=7"] {
        let mut cache = Cache::with(&content, []);
        let (fetch, sink, took) = cache.fetch(uri, TrustPolicy::Keys(vec![trusted.clone()]));
        assert!(failure(&fetch).to_string().contains("not trusted"), "{}", failure(&fetch));
        assert!(took < Time(2_000_000_000), "{uri}: {took:?}");
        assert!(sink.bytes.is_empty(), "nothing unverified is handed on");
    }
}

#[test]
fn a_producer_rejects_to_send_what_is_excluded_and_sends_the_rest() {
    let mut cache = Cache::with(&bytes(3000), []);
    let metadata = rdr::metadata_prefix(name(FILE).as_ref());
    let mut ask = |exclude: Option<&Exclude>| {
        let interest = packet::InterestBuf {
            can_be_prefix: true,
            ..packet::InterestBuf::new(metadata.clone())
        };
        let mut header = LpHeader::default();
        exclude.map(|exclude| header.options.set(exclude));
        let mut frame = Vec::new();
        header.encode_into(&interest.encode(), &mut frame);
        cache.producer.receive(&frame);
        let mut out = Vec::new();
        assert!(cache.producer.poll_transmit(&mut out));
        out
    };
    let first = ask(None);
    let mut exclude = Exclude::new();
    exclude.add(&[9; 32]);
    assert_eq!(ask(Some(&exclude)), first, "signed once, and sent from memory");
    exclude.add(&Data::decode(&first).unwrap().implicit_digest());
    assert!(LpPacket::decode(&ask(Some(&exclude))).unwrap().nack().is_some());
}
