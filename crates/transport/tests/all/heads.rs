//! Heads: content in the first round trip. Producers with heads, producers without, and attackers.

use crate::support::{Memory, Pipe, Tamper, bytes, failure, name, publish, run, run_from};
use control::{Duration, Time};
use packet::tlv::{Reader, types};
use packet::{
    Bytes, Data, DataBuf, Interest, InterestBuf, LpHeader, LpPacket, NackReason, Name, NameRef,
};
use security::manifest::{Announcement, KEYWORD as MANIFEST, Layout};
use security::{SecretKey, Signer, TrustPolicy};
use transport::fetch::{Fetch, FetchConfig, FetchError, Resume, Stats, Status};
use transport::publish::{Preparation, Publication, Publish, Spec};
use transport::{head, rdr};

const LIMIT: Duration = Duration::from_secs(60);

/// A packet, if it is Data under a keyword.
fn under<'a>(frame: &'a [u8], keyword: &[u8]) -> Option<Data<'a>> {
    let data = Data::decode(LpPacket::decode(frame).ok()?.fragment()?).ok()?;
    data.name().components().any(|c| c.is_keyword(keyword)).then_some(data)
}

/// The segment whose head the frame is.
fn head_number(frame: &[u8]) -> Option<u64> {
    let data = under(frame, head::KEYWORD)?;
    head::parse(data.name(), name("/a/file").as_ref()).map(|(segment, _)| segment)
}

struct Outcome {
    fetch: Fetch,
    sink: Memory,
    took: Duration,
}

fn transfer(
    publication: Publication,
    scheme: &str,
    heads: u16,
    sink: Memory,
    tamper: Tamper<'_>,
) -> Outcome {
    let mut producer = Publish::new();
    producer.add(publication);
    let config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    let mut fetch = Fetch::new(FetchConfig { heads, ..config }, crate::support::controller(scheme));
    let mut sink = sink;
    let took = run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, tamper);
    Outcome { fetch, sink, took: took.since(Time::ZERO) }
}

/// An object of `segments` segments of 1000 bytes, the last with 500.
fn object(segments: usize) -> (Vec<u8>, Publication) {
    let content = bytes(segments * 1000 - 500);
    (content.clone(), publish("/a/file", content, &Signer::Digest))
}

/// Fetches an object whose answers are changed in transit; the fetch must succeed.
fn whole(segments: usize, scheme: &str, tamper: Tamper<'_>) -> Outcome {
    let (content, publication) = object(segments);
    let outcome = transfer(publication, scheme, 64, Memory::default(), tamper);
    assert_eq!(outcome.fetch.status(), Status::Done, "{:?}", outcome.fetch.stats());
    assert!(outcome.sink.bytes == content);
    outcome
}

/// A publication without heads, because its segments are too large for them.
fn without_heads(content: Vec<u8>) -> Publication {
    let spec = Spec { segment_size: 8690, ..Spec::new(name("/a/file"), 7) };
    let preparation = Preparation::new(spec, content, &Signer::Digest).expect("it fits");
    preparation.run(&Signer::Digest).expect("it can be read")
}

/// The numbers of retransmissions, of losses detected by later answers, and of timeouts.
fn losses(stats: &Stats) -> (u64, u64, u64) {
    (stats.counters.retransmissions, stats.overtaken(), stats.counters.timeouts)
}

#[test]
fn a_small_object_takes_one_round_trip() {
    for scheme in ["bbr", "cubic", "fixed"] {
        let outcome = whole(3, scheme, &mut |_, frame| Some(frame));
        let stats = outcome.fetch.stats();
        assert_eq!(outcome.took, Duration::from_millis(10), "{scheme}");
        // A head beyond the end costs an Interest and nothing else.
        assert_eq!(stats.counters.interests, 1 + stats.heads, "{scheme}: {stats:?}");
        assert_eq!(stats.counters.retransmissions, 0, "{stats:?}");
        assert!((3..=64).contains(&stats.heads), "{stats:?}");
    }
}

#[test]
fn without_metadata_the_first_head_gives_the_version() {
    for lost in [0, 1, 2] {
        let mut metadata_lost = false;
        let mut tamper = |_, frame: Bytes| {
            let is_lost = match under(&frame, rdr::METADATA) {
                Some(_) => !std::mem::replace(&mut metadata_lost, true),
                None => head_number(&frame).is_some_and(|n| (1..=lost).contains(&n)),
            };
            (!is_lost).then_some(frame)
        };
        let outcome = whole(40, "fixed", &mut tamper);
        // The heads arrive after a round trip. The manifest and lost packets, metadata included,
        // arrive after the second.
        assert!(outcome.took < Duration::from_millis(25), "{lost} lost: {}", outcome.took);
        let stats = outcome.fetch.stats();
        assert_eq!(stats.overtaken(), lost + 1, "what is lost is lost: {stats:?}");
        assert_eq!(outcome.sink.begun, 1);
    }
}

#[test]
fn a_head_is_believed_where_no_metadata_come() {
    // Without an answer, or with an unsigned one, the fetch waits. It accepts a Nack.
    for (reason, took) in [(None, 1000), (Some(NackReason::NoRoute), 20)] {
        let mut tamper = |_, frame: Bytes| match under(&frame, rdr::METADATA) {
            Some(data) => nack(reason?, data.name()),
            None => Some(frame),
        };
        let outcome = whole(40, "fixed", &mut tamper);
        let (least, took) = (Duration::from_millis(took), outcome.took);
        assert!(least <= took && took < least + Duration::from_millis(10), "{reason:?}: {took}");
        assert_eq!((outcome.sink.begun, outcome.fetch.stats().useless_heads), (1, 0));
    }
}

/// A Nack for the Interest that this metadata answered.
fn nack(reason: NackReason, name: NameRef<'_>) -> Option<Bytes> {
    let prefix = name.prefix(name.len() - 2).to_name();
    let interest =
        InterestBuf { can_be_prefix: true, must_be_fresh: true, ..InterestBuf::new(prefix) };
    let mut out = Vec::new();
    let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
    header.encode_into(&interest.encode(), &mut out);
    Some(out.into())
}

/// A producer or cache that has another version, with other bytes.
fn of_version(version: u64) -> (Vec<u8>, Publish) {
    let mut content = bytes(39_500);
    content.reverse();
    let spec = Spec { segment_size: 1000, ..Spec::new(name("/a/file"), version) };
    let published = Preparation::new(spec, content.clone(), &Signer::Digest).expect("it fits");
    let mut producer = Publish::new();
    producer.add(published.run(&Signer::Digest).expect("it can be read"));
    (content, producer)
}

/// The producer's answer to an Interest for names below this one.
fn answer(producer: &mut Publish, name: Name) -> Bytes {
    let interest = InterestBuf { can_be_prefix: true, ..InterestBuf::new(name) };
    producer.receive(&interest.encode());
    let mut out = Vec::new();
    assert!(producer.poll_transmit(&mut out));
    out.into()
}

/// The name of an Interest for the head of a segment.
fn head_name(segment: u64) -> Name {
    head::prefix(name("/a/file").as_ref(), segment)
}

#[test]
fn metadata_have_the_last_word() {
    // A near content store still has heads of a version that is no longer served. They arrive
    // first, because the first metadata is lost. The earlier transfer was of the newest version.
    let (_, mut cache) = of_version(6);
    let (content, publication) = object(40);
    let mut metadata_lost = false;
    let mut tamper = |_, frame: Bytes| {
        if under(&frame, rdr::METADATA).is_some() && !metadata_lost {
            metadata_lost = true;
            return None;
        }
        Some(head_number(&frame).map_or(frame, |n| answer(&mut cache, head_name(n))))
    };
    let mut resume = Resume { bytes: 35_000, ..Resume::default() };
    resume.segments.insert(2..37);
    let sink = Memory { bytes: content.clone(), resume, ..Memory::default() };
    let outcome = transfer(publication, "fixed", 64, sink, &mut tamper);
    assert_eq!(outcome.fetch.status(), Status::Done, "{:?}", outcome.fetch.stats());
    assert!(outcome.sink.bytes == content);
    assert_eq!(outcome.sink.begun, 1, "the sink knows of one version only");
    assert_eq!(outcome.sink.info.unwrap().name, name("/a/file/v=7"));
    let mut order = outcome.sink.order.clone();
    order.sort_unstable();
    assert_eq!(order, [0, 1, 37, 38, 39]);
}

#[test]
fn a_new_connection_has_rejected_no_metadata() {
    let (_, mut cache) = of_version(6);
    let (content, publication) = object(40);
    let mut producer = Publish::new();
    producer.add(publication);
    let config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    let mut fetch = Fetch::new(config, crate::support::controller("fixed"));
    let (mut sink, pipe) = (Memory::default(), Pipe::default());
    // The producer is not connected yet, so its forwarder sends Nacks.
    let mut reject =
        |_, frame: Bytes| nack(NackReason::NoRoute, under(&frame, rdr::METADATA)?.name());
    let time = Duration::from_millis(15);
    run(&mut fetch, &mut sink, &mut producer, &pipe, time, &mut reject);
    assert_eq!(fetch.status(), Status::Running);
    let at = Time::ZERO + time;
    fetch.reconnected(at);
    // Heads of an older version arrive first, because the first metadata is lost.
    let mut lost = false;
    let mut old_heads = |_, frame: Bytes| {
        if under(&frame, rdr::METADATA).is_some() && !std::mem::replace(&mut lost, true) {
            return None;
        }
        Some(head_number(&frame).map_or(frame, |n| answer(&mut cache, head_name(n))))
    };
    run_from(at, &mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut old_heads);
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert_eq!(sink.info.unwrap().name, name("/a/file/v=7"));
    assert!(sink.bytes == content);
}

#[test]
fn a_newer_version_that_has_proved_itself_is_not_given_up_for_older_metadata() {
    let (_, mut cache) = of_version(6);
    let mut metadata = 0;
    let mut tamper = |_, frame: Bytes| {
        if under(&frame, rdr::METADATA).is_none() {
            return Some(frame);
        }
        metadata += 1;
        let older = rdr::metadata_prefix(name("/a/file").as_ref());
        (metadata > 1).then(|| answer(&mut cache, older))
    };
    let outcome = whole(40, "fixed", &mut tamper);
    assert_eq!(outcome.fetch.object().unwrap().name, name("/a/file/v=7"));
    assert_eq!((metadata, outcome.sink.begun), (2, 1));
}

#[test]
fn forged_heads_cannot_fail_the_fetch() {
    // A version newer than all others, with a manifest that does not exist; and one without a
    // manifest, signed by an untrusted key.
    let (_, mut liar) = of_version(u64::MAX);
    let (_, mut silent) = of_version(u64::MAX);
    let unknown = SecretKey::ed25519(&[9; 32]);
    let key = Signer::Key { secret: unknown, key_locator: name("/eve/KEY/1/self/v=1") };
    let lies: [&mut dyn FnMut(u64) -> Bytes; 2] =
        [&mut |n| answer(&mut liar, head_name(n)), &mut |n| {
            let head = answer(&mut silent, head_name(n));
            let head = Data::decode(&head).unwrap();
            let inner = head::carried(head.content()).unwrap();
            let mut content = Vec::new();
            key.encode(&DataBuf::from_view(&inner), &mut content);
            DataBuf { content: content.into(), ..DataBuf::from_view(&head) }.encode_digest()
        }];
    for lie in lies {
        let mut metadata_lost = false;
        let mut tamper = |_, frame: Bytes| {
            if under(&frame, rdr::METADATA).is_some() && !metadata_lost {
                metadata_lost = true;
                return None;
            }
            Some(head_number(&frame).map_or(frame, &mut *lie))
        };
        let outcome = whole(40, "fixed", &mut tamper);
        assert_eq!(outcome.sink.info.unwrap().name, name("/a/file/v=7"));
        assert_eq!(outcome.sink.begun, 1);
        assert!(outcome.took < Duration::from_millis(50), "{}", outcome.took);
    }
}

/// True for metadata and the first head until the first retransmission: they are lost.
fn late(at: Time, frame: &Bytes) -> bool {
    let gives_version = under(frame, rdr::METADATA).is_some() || head_number(frame) == Some(0);
    gives_version && at < Time::ZERO + Duration::from_millis(15)
}

#[test]
fn heads_received_before_the_version_is_known_are_kept() {
    let mut tamper = |at: Time, frame: Bytes| (!late(at, &frame)).then_some(frame);
    let outcome = whole(40, "fixed", &mut tamper);
    let stats = outcome.fetch.stats();
    // The later heads showed that both are lost, and were not requested twice.
    assert_eq!((stats.useless_heads, stats.forged, stats.duplicates), (0, 0, 0), "{stats:?}");
    assert_eq!(losses(stats), (2, 2, 0), "{stats:?}");
    assert!(outcome.took < Duration::from_millis(35), "{}", outcome.took);
}

#[test]
fn heads_of_another_version_are_useless() {
    let (_, mut cache) = of_version(6);
    let mut tamper = |at: Time, frame: Bytes| match head_number(&frame).filter(|n| *n > 0) {
        Some(number) => Some(answer(&mut cache, head_name(number))),
        None => (!late(at, &frame)).then_some(frame),
    };
    let outcome = whole(40, "fixed", &mut tamper);
    let stats = outcome.fetch.stats();
    assert_eq!(outcome.fetch.object().unwrap().name, name("/a/file/v=7"));
    assert_eq!((stats.useless_heads, stats.forged), (39, 0), "{stats:?}");
}

#[test]
fn all_heads_but_the_first_may_come_from_a_cache() {
    let config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    let mut fetch = Fetch::new(config, crate::support::controller("fixed"));
    let (mut out, mut fresh) = (Vec::new(), Vec::new());
    while fetch.poll_transmit(Time::ZERO, &mut out) {
        let frame = LpPacket::decode(&out).unwrap();
        let interest = Interest::decode(frame.fragment().unwrap()).unwrap();
        fresh.push(interest.must_be_fresh());
        out.clear();
    }
    // Metadata and the first head.
    let expected: Vec<bool> = (0..fresh.len()).map(|n| n < 2).collect();
    assert!(fresh == expected && fresh.len() > 3, "{fresh:?}");
}

#[test]
fn publishers_without_heads_notice_nothing_and_cost_nothing() {
    let content = bytes(400_000);
    for scheme in ["bbr", "cubic", "aimd"] {
        let fetch = |heads, tamper: Tamper<'_>| {
            let published = without_heads(content.clone());
            let outcome = transfer(published, scheme, heads, Memory::default(), tamper);
            assert_eq!(outcome.fetch.status(), Status::Done, "{:?}", outcome.fetch.stats());
            assert!(outcome.sink.bytes == content);
            outcome
        };
        let usual = fetch(0, &mut |_, frame| Some(frame));
        let is_nack = |frame: &Bytes| LpPacket::decode(frame).unwrap().nack().is_some();
        let mut nacks = 0;
        let rejected = fetch(64, &mut |_, frame| {
            nacks += u64::from(is_nack(&frame));
            Some(frame)
        });
        let silent = fetch(64, &mut |_, frame| (!is_nack(&frame)).then_some(frame));
        for outcome in [rejected, silent] {
            let stats = outcome.fetch.stats();
            assert!(stats.heads > 0 && nacks == stats.heads, "{stats:?}");
            assert_eq!(outcome.took, usual.took, "{scheme}");
            let interests = usual.fetch.stats().counters.interests;
            assert_eq!(stats.counters.interests - stats.heads, interests, "{scheme}");
            assert_eq!(losses(stats), (0, 0, 0), "{scheme}");
        }
    }
}

#[test]
fn rejected_before_anybody_knows_the_object_is_not_rejected_at_all() {
    // Interests for heads are answered with Nacks at once; for metadata, at the second attempt.
    let content = bytes(100_000);
    let fetch = |heads| {
        let mut asked = 0;
        let mut tamper = |_, frame: Bytes| {
            asked += u64::from(under(&frame, rdr::METADATA).is_some());
            (asked != 1 || under(&frame, rdr::METADATA).is_none()).then_some(frame)
        };
        let published = without_heads(content.clone());
        let outcome = transfer(published, "cubic", heads, Memory::default(), &mut tamper);
        assert_eq!(outcome.fetch.status(), Status::Done);
        outcome
    };
    let (usual, outcome) = (fetch(0), fetch(64));
    let stats = outcome.fetch.stats();
    assert!(stats.heads > 0 && stats.counters.nacks == stats.heads, "{stats:?}");
    assert_eq!(stats.counters.retransmissions, 1, "{stats:?}");
    assert_eq!(outcome.took, usual.took);
}

#[test]
fn without_answers_heads_are_requested_once_and_the_error_is_the_same() {
    let mut errors = Vec::new();
    for heads in [0, 64] {
        let (_, publication) = object(3);
        let outcome = transfer(publication, "cubic", heads, Memory::default(), &mut |_, _| None);
        let stats = outcome.fetch.stats();
        assert!(stats.heads <= 64 && (stats.heads > 0) == (heads > 0), "{stats:?}");
        let FetchError::NotFound { waited, asked, .. } = failure(&outcome.fetch).clone() else {
            panic!("{:?}", outcome.fetch.status())
        };
        assert_eq!(u64::from(asked), stats.counters.interests - stats.heads);
        errors.push((waited, asked, stats.counters.timeouts, stats.counters.retransmissions));
    }
    assert_eq!(errors[0], errors[1]);
}

#[test]
fn a_head_with_something_else_in_it_is_dropped_and_counted() {
    let (_, publication) = object(40);
    let mut other = Publish::new();
    other.add(publication);
    let segment = |n: u64, wire: &[u8]| {
        let whole = Data::decode(wire).unwrap();
        assert_eq!(whole.name().last().unwrap().as_segment(), Some(n));
        whole.wire().to_vec()
    };
    type Change<'c> = &'c dyn Fn(&[u8], &Data<'_>) -> DataBuf;
    let changes: [(&str, Change<'_>); 4] = [
        ("no packet", &|_, head| DataBuf {
            content: vec![7; 50].into(),
            ..DataBuf::from_view(head)
        }),
        ("nothing", &|_, head| DataBuf { content: Bytes::new(), ..DataBuf::from_view(head) }),
        ("another segment", &|inner, head| {
            let mut renamed = DataBuf::from_view(&Data::decode(&segment(1, inner)).unwrap());
            renamed.name = name("/a/file/v=7/seg=2");
            DataBuf { content: renamed.encode_digest(), ..DataBuf::from_view(head) }
        }),
        ("another object", &|inner, head| {
            let mut renamed = DataBuf::from_view(&Data::decode(inner).unwrap());
            renamed.name = name("/b/file/v=7/seg=1");
            DataBuf { content: renamed.encode_digest(), ..DataBuf::from_view(head) }
        }),
    ];
    for (what, change) in changes {
        let mut tamper = |_, frame: Bytes| {
            if head_number(&frame) != Some(1) {
                return Some(frame);
            }
            let head = under(&frame, head::KEYWORD).unwrap();
            let inner = head::carried(head.content()).unwrap();
            Some(change(inner.wire(), &head).encode_digest())
        };
        let outcome = whole(40, "fixed", &mut tamper);
        let stats = outcome.fetch.stats();
        let again = stats.counters.retransmissions;
        assert_eq!((stats.useless_heads, again), (1, 1), "{what}: {stats:?}");
        assert_eq!((stats.overtaken(), stats.counters.timeouts), (0, 0), "{what}: {stats:?}");
        assert!(outcome.took < Duration::from_millis(25), "{what}: {}", outcome.took);
    }
}

#[test]
fn versions_are_never_mixed() {
    let (_, mut cache) = of_version(6);
    let mut tamper = |_, frame: Bytes| {
        let Some(number) = head_number(&frame).filter(|n| n % 3 == 1) else { return Some(frame) };
        Some(answer(&mut cache, head_name(number)))
    };
    let outcome = whole(40, "fixed", &mut tamper);
    assert_eq!(outcome.fetch.object().unwrap().name, name("/a/file/v=7"));
    // Numbers 1, 4, … 37 of the forty.
    assert_eq!(outcome.fetch.stats().useless_heads, 13);
}

#[test]
fn a_forged_segment_in_a_head_is_a_forged_segment() {
    let mut tamper = |_, frame: Bytes| {
        if head_number(&frame) != Some(1) {
            return Some(frame);
        }
        let head = under(&frame, head::KEYWORD).unwrap();
        let inner = head::carried(head.content()).unwrap();
        let forged = DataBuf { content: vec![7; 1000].into(), ..DataBuf::from_view(&inner) };
        let content = forged.encode_digest();
        Some(DataBuf { content, ..DataBuf::from_view(&head) }.encode_digest())
    };
    let outcome = whole(40, "fixed", &mut tamper);
    let stats = outcome.fetch.stats();
    let again = stats.counters.retransmissions;
    assert_eq!((stats.forged, stats.useless_heads, again), (1, 0, 1), "{stats:?}");
}

/// A reader has to reject a packet with an unknown element of a critical number (odd, or below 32).
/// In metadata only the name and ndnd's FinalBlockId, which all readers know, have such numbers.
#[test]
fn metadata_have_nothing_that_others_must_reject() {
    let (_, publication) = object(3);
    let mut producer = Publish::new();
    producer.add(publication);
    let metadata = answer(&mut producer, rdr::metadata_prefix(name("/a/file").as_ref()));
    let metadata = Data::decode(&metadata).unwrap();
    assert!(rdr::root(metadata.content()).is_some());
    let mut reader = Reader::new(metadata.content());
    let seen = std::iter::from_fn(|| reader.next_element().unwrap()).map(|element| element.typ);
    let seen: Vec<u64> = seen.collect();
    assert_eq!(seen[..2], [types::NAME, types::FINAL_BLOCK_ID]);
    assert!(seen[2..].iter().all(|typ| *typ >= 32 && typ % 2 == 0), "{seen:?}");
}

#[test]
fn a_root_in_metadata_that_is_no_good_is_asked_for_as_always() {
    let (mut roots, mut spoilt) = (0, 0);
    let mut tamper = |_, frame: Bytes| {
        roots += usize::from(under(&frame, MANIFEST).is_some());
        let Some(metadata) = under(&frame, rdr::METADATA) else { return Some(frame) };
        let root = rdr::root(metadata.content()).unwrap().wire();
        let mut content = metadata.content().to_vec();
        let at = content.windows(root.len()).position(|window| window == root).unwrap();
        // The last byte of the signature's value.
        content[at + root.len() - 1] ^= 1;
        spoilt += 1;
        Some(DataBuf { content: content.into(), ..DataBuf::from_view(&metadata) }.encode_digest())
    };
    let outcome = whole(3, "fixed", &mut tamper);
    assert_eq!(outcome.fetch.stats().forged, 1);
    assert_eq!((roots, spoilt, outcome.took), (1, 1, Duration::from_millis(20)));
}

#[test]
fn existing_segments_are_not_taken_twice() {
    let (content, publication) = object(40);
    let mut resume = Resume { bytes: 35_000, ..Resume::default() };
    resume.segments.insert(2..37);
    let sink = Memory { bytes: content, resume, ..Memory::default() };
    let outcome = transfer(publication, "fixed", 64, sink, &mut |_, frame| Some(frame));
    assert_eq!(outcome.fetch.status(), Status::Done);
    let mut order = outcome.sink.order.clone();
    order.sort_unstable();
    assert_eq!(order, [0, 1, 37, 38, 39]);
    let stats = outcome.fetch.stats();
    assert_eq!(losses(stats), (0, 0, 0), "{stats:?}");
}

/// The name and length of the Data packet that answers an Interest; `None` for a Nack.
fn asked(producer: &mut Publish, name: Name, prefix: bool) -> Option<(Name, usize)> {
    let interest =
        InterestBuf { can_be_prefix: prefix, must_be_fresh: prefix, ..InterestBuf::new(name) };
    producer.receive(&interest.encode());
    let mut out = Vec::new();
    assert!(producer.poll_transmit(&mut out));
    let link = LpPacket::decode(&out).expect("a frame");
    if link.nack().is_some() {
        return None;
    }
    let data = Data::decode(&out).expect("what is no Nack is Data");
    assert_eq!(data.freshness_ms(), Some(4000));
    Some((data.name().to_name(), out.len()))
}

#[test]
fn a_producer_answers_as_many_heads_as_it_announces() {
    let mut producer = Publish::new();
    producer.add(object(100).1);
    let heads = |n: u64| head::prefix(name("/a/file").as_ref(), n);
    for n in [0, 1, 63] {
        let (found, _) = asked(&mut producer, heads(n), true).unwrap();
        assert_eq!(found.to_string(), format!("/a/file/32=head-segment/seg={n}/v=7"));
        assert_eq!(asked(&mut producer, found.clone(), false).unwrap().0, found);
    }
    assert_eq!(asked(&mut producer, heads(64), true), None);
    assert_eq!(asked(&mut producer, heads(0), false), None, "its name is longer");
    assert_eq!(asked(&mut producer, name("/a/file/32=head-segment/seg=0/v=6"), false), None);
    assert_eq!(asked(&mut producer, name("/a/file/32=head-segment"), true), None);

    // With the default size heads fit unless the name is too long. Then there are none.
    for (len, some) in [(1, true), (100, true), (400, false)] {
        let uri = format!("/{}", "n".repeat(len));
        let spec = Spec::new(name(&uri), 1_795_181_079_307);
        let content = bytes(3 * spec.segment_size);
        let published =
            Preparation::new(spec, content, &Signer::Digest).unwrap().run(&Signer::Digest).unwrap();
        let mut producer = Publish::new();
        producer.add(published);
        let answer = asked(&mut producer, head::prefix(name(&uri).as_ref(), 2), true);
        assert_eq!(answer.is_some(), some, "a name of {len}");
        assert!(answer.is_none_or(|(_, bytes)| bytes <= packet::MAX_PACKET));
    }
}

/// Heads with false metadata reach a consumer that lacks the last of 30 segments. For two seconds
/// nothing arrives that could show it: no metadata and no manifest.
fn fetch_with_false_heads(lie: impl Fn(rdr::Metadata) -> rdr::Metadata) {
    let (content, publication) = object(30);
    let mut tamper = |now: Time, frame: Bytes| {
        let Some(data) = under(&frame, head::KEYWORD) else {
            let is_segment = under(&frame, rdr::METADATA).or(under(&frame, MANIFEST)).is_none();
            return (is_segment || now > Time(2_000_000_000)).then_some(frame);
        };
        let head = head::decode(name("/a/file").as_ref(), &data).expect("a head");
        let number = head_number(&frame).expect("a head's number");
        let mut forged = Vec::new();
        head::encode_into(&lie(head.metadata), number, head.segment.wire(), 4000, &mut forged);
        Some(forged.into())
    };
    let mut resume = Resume { bytes: 29_000, ..Resume::default() };
    resume.segments.insert(0..29);
    let sink = Memory { bytes: content[..29_000].to_vec(), resume, ..Memory::default() };
    let Outcome { fetch, sink, .. } = transfer(publication, "cubic", 64, sink, &mut tamper);
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert_eq!(sink.order, [29]);
    assert!(sink.bytes == content, "other bytes came out than went in");
}

#[test]
fn a_wrong_segment_size_in_a_head_does_not_misplace_the_last_segment() {
    fetch_with_false_heads(|truth| rdr::Metadata { segment_size: Some(1200), ..truth });
}

#[test]
fn a_head_does_not_cut_off_the_end_of_an_object() {
    fetch_with_false_heads(|truth| {
        let announced = truth.manifest.unwrap();
        let layout = Layout::new(29, announced.layout.fanout()).unwrap();
        rdr::Metadata { manifest: Some(Announcement { layout, ..announced }), ..truth }
    });
}
