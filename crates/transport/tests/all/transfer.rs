//! Fetch and publish together. Whatever the pipe does, the object arrives complete or the fetch
//! reports what is missing.

use crate::support::{Memory, Pipe, bytes, failure, name, publish, run, succeed};
use control::{Duration, Rate, Size};
use packet::{Bytes, Data, LpHeader, NackReason};
use rangemap::RangeSet;
use security::{Proof, SecretKey, Signer, TrustPolicy, TrustedKey};
use transport::fetch::{Fetch, FetchConfig, FetchError, Resume, Status};
use transport::head;
use transport::publish::{Preparation, Publish, Spec};

const LIMIT: Duration = Duration::from_secs(600);

#[test]
fn sizes_at_the_borders_of_segments() {
    for size in [0, 1, 999, 1000, 1001, 2000, 249_999, 250_000, 250_001, 600_123] {
        let content = bytes(size);
        let (fetch, _, _) = succeed("/a/file", &content, &Pipe::default());
        let segments = (size as u64).div_ceil(1000).max(1);
        assert_eq!(fetch.stats().verified, segments);
        assert_eq!(fetch.stats().counters.retransmissions, 0, "a clean pipe loses nothing");
        assert_eq!(fetch.bytes(), (0, size as u64));
    }
}

#[test]
fn loss_jitter_and_a_shallow_queue_cost_time_only() {
    let content = bytes(1_500_000);
    let jitter = Duration::from_millis(3);
    let rate = Some((Rate::from_mbps(20), Size(20_000)));
    for (loss, jitter, rate) in [
        (0.01, Duration::ZERO, None),
        (0.05, Duration::ZERO, None),
        (0.3, Duration::ZERO, None),
        (0.0, jitter, None),
        (0.02, jitter, None),
        (0.0, Duration::ZERO, rate),
        (0.02, jitter, rate),
    ] {
        let pipe = Pipe { loss, jitter, rate, ..Pipe::default() };
        let (fetch, _, _) = succeed("/a/file", &content, &pipe);
        if loss == 0.0 && rate.is_none() {
            let needless = fetch.stats().counters.retransmissions;
            assert!(needless < 40, "reordering within 3 ms is learned: {needless} of 1500");
        }
    }
}

#[test]
fn a_lost_last_segment_costs_round_trips_and_no_second() {
    let content = bytes(20_000);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let mut dropped = false;
    let mut tamper = |_, frame: Bytes| {
        let data = Data::decode(&frame).unwrap();
        let last = data.name().last().unwrap().as_segment() == Some(19);
        let first_time = last && !dropped;
        dropped |= last;
        (!first_time).then_some(frame)
    };
    let pipe = Pipe::default();
    let took = run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    // Metadata, two windows of ten, a silence of two round trips, and the answer: ten round trips
    // of 10 ms.
    assert!(took.0 < 150_000_000, "{took:?}: no time-out of 200 ms was waited for");
}

#[test]
fn a_producer_that_pauses_is_asked_once_more_and_not_for_everything() {
    let content = bytes(3_000_000);
    for ms in [30, 60, 100] {
        let pause = control::Time(100_000_000)..control::Time(100_000_000 + ms * 1_000_000);
        let rate = Some((Rate::from_mbps(100), Size(1_000_000)));
        let pipe = Pipe { pause: Some(pause), rate, ..Pipe::default() };
        let mut producer = Publish::new();
        producer.add(publish("/a/file", content.clone(), &Signer::Digest));
        let config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
        let mut fetch = Fetch::new(config, crate::support::controller("fixed"));
        let mut sink = Memory::default();
        run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
        assert!(sink.bytes == content);
        let stats = fetch.stats();
        assert!(stats.probes >= 1, "{ms} ms: silence was noticed");
        assert_eq!(
            (stats.overtaken(), stats.counters.timeouts),
            (0, 0),
            "{ms} ms: what waits is not lost"
        );
        assert_eq!(stats.counters.retransmissions, stats.probes, "{ms} ms");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let content = bytes(300_000);
    let pipe = Pipe { loss: 0.05, jitter: Duration::from_millis(1), ..Pipe::default() };
    let (a, x, at) = succeed("/a/file", &content, &pipe);
    let (b, y, bt) = succeed("/a/file", &content, &pipe);
    assert_eq!((a.stats(), x.order, at), (b.stats(), y.order, bt));
}

#[test]
fn a_signed_object_is_accepted_by_those_who_trust_the_key() {
    let secret = SecretKey::ed25519(&[7; 32]);
    let key = name("/a/KEY/1");
    let signer = Signer::Key { secret: secret.clone(), key_locator: key.clone() };
    let content = bytes(700_000);
    let attempt = |policy| {
        let mut producer = Publish::new();
        producer.add(publish("/a/file", content.clone(), &signer));
        let mut fetch =
            Fetch::new(FetchConfig::new(name("/a/file"), policy), crate::support::cubic());
        let mut sink = Memory::default();
        run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut |_, f| Some(f));
        (fetch, sink)
    };
    let trusted = TrustedKey::new(key.clone(), secret.public(), name("/a"));
    let (fetch, sink) = attempt(TrustPolicy::Keys(vec![trusted]));
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!(fetch.proof(), Some(&Proof::Key(key.clone())));
    assert!(sink.bytes == content);

    let other = SecretKey::ed25519(&[8; 32]).public();
    let (fetch, sink) = attempt(TrustPolicy::Keys(vec![TrustedKey::new(key, other, name("/a"))]));
    assert!(failure(&fetch).to_string().contains("is wrong"), "{}", failure(&fetch));
    assert!(sink.bytes.is_empty(), "nothing unverified is handed on");
}

#[test]
fn forged_segments_are_dropped_and_asked_for_by_digest() {
    let content = bytes(400_000);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    // A poisoned cache answers requests for segment 17 without a digest with other content and a
    // valid digest signature. The test cannot see whether a request has a digest, so the second
    // answer passes.
    let mut poisoned = 0;
    let mut tamper = |_, frame: Bytes| {
        let data = Data::decode(&frame).unwrap();
        if data.name().last().unwrap().as_segment() != Some(17) || poisoned == 1 {
            return Some(frame);
        }
        poisoned += 1;
        let mut forged = packet::DataBuf::from_view(&data);
        forged.content = Bytes::from(vec![0; 1000]);
        Some(forged.encode_digest())
    };
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
    assert_eq!(fetch.stats().forged, 1);
}

#[test]
fn a_segment_that_stays_forged_ends_the_fetch_with_its_number() {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(400_000), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let mut tamper = |_, frame: Bytes| {
        let data = Data::decode(&frame).unwrap();
        if data.name().last().unwrap().as_segment() != Some(17) {
            return Some(frame);
        }
        let mut forged = packet::DataBuf::from_view(&data);
        forged.content = Bytes::from(vec![0; 1000]);
        Some(forged.encode_digest())
    };
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut tamper);
    assert!(matches!(failure(&fetch), FetchError::Forged { segment: 17, .. }));
    assert!(!sink.order.contains(&17));
}

#[test]
fn segments_of_an_earlier_transfer_are_not_fetched_again() {
    let content = bytes(600_000);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let mut fetch = crate::support::fetch("/a/file");
    let mut sink = Memory { bytes: content[..300_000].to_vec(), ..Memory::default() };
    let segments: RangeSet<u64> = [0..300, 420..430].into_iter().collect();
    sink.bytes.resize(600_000, 0);
    sink.bytes[420_000..430_000].copy_from_slice(&content[420_000..430_000]);
    sink.resume = Resume { segments, bytes: 310_000 };
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
    assert_eq!(fetch.bytes(), (310_000, 290_000));
    assert!(sink.order.iter().all(|n| *n >= 300 && !(420..430).contains(n)));
    assert_eq!(fetch.stats().verified, 290);
}

#[test]
fn a_sink_that_cannot_seek_gets_segments_in_order() {
    let content = bytes(500_000);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let mut config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    config.in_order = true;
    config.stash = Size(50_000);
    let (mut fetch, mut sink) = (Fetch::new(config, crate::support::cubic()), Memory::default());
    let pipe = Pipe { loss: 0.05, ..Pipe::default() };
    run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!(sink.order, (0..500).collect::<Vec<_>>());
    assert!(sink.bytes == content);
}

// Other projects' programs, "Files": [peer-40].
#[test]
fn a_producer_without_metadata_is_found_by_its_bare_name() {
    // Answers like NDNts `serve`: the bare name returns a segment, only the last has FinalBlockId.
    let content = bytes(50_000);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let mut tamper = |_, frame: Bytes| {
        // Requests beyond the end, which is not known yet, are answered with Nacks.
        let Ok(data) = Data::decode(&frame) else { return Some(frame) };
        if data
            .name()
            .components()
            .any(|c| c.is_keyword(b"metadata") || c.is_keyword(head::KEYWORD))
        {
            return None;
        }
        let mut bare = packet::DataBuf::from_view(&data);
        if data.name().last().unwrap().as_segment() != Some(49) {
            bare.final_block = None;
        }
        Some(bare.encode_digest())
    };
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut tamper);
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content);
}

#[test]
fn a_version_that_is_named_is_the_one_that_is_fetched() {
    let content = bytes(30_000);
    let (fetch, ..) = {
        let mut producer = Publish::new();
        producer.add(publish("/a/file", content.clone(), &Signer::Digest));
        let (mut fetch, mut sink) = (crate::support::fetch("/a/file/v=7"), Memory::default());
        run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut |_, f| Some(f));
        assert_eq!(fetch.status(), Status::Done);
        assert!(sink.bytes == content);
        (fetch, sink)
    };
    assert_eq!(fetch.object().unwrap().name, name("/a/file/v=7"));
}

#[test]
fn silence_ends_with_what_is_missing() {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(400_000), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let mut tamper = |_, frame: Bytes| {
        let data = Data::decode(&frame).unwrap();
        let missing = data.name().last().unwrap().as_segment() == Some(321);
        (!missing).then_some(frame)
    };
    let took = run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut tamper);
    let FetchError::Stalled { missing, have, of, .. } = failure(&fetch) else {
        panic!("{}", failure(&fetch))
    };
    assert_eq!((missing.to_string().as_str(), *have, *of), ("segment 321", 399, 400));
    assert!(took.0 > 30_000_000_000 && took.0 < 32_000_000_000, "patience is 30 s: {took:?}");
}

/// The end of a fetch whose Interests all get this Nack.
fn rejected(reason: NackReason) -> (FetchError, control::Time) {
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let (mut now, mut out) = (control::Time::ZERO, Vec::new());
    while fetch.status() == Status::Running {
        while fetch.poll_transmit(now, &mut out) {
            let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
            let mut frame = Vec::new();
            header.encode_into(&std::mem::take(&mut out), &mut frame);
            fetch.receive(now, &frame, &mut sink);
        }
        let Some(next) = fetch.next_deadline(now) else { break };
        now = next;
        fetch.on_deadline(now, &mut sink);
    }
    (failure(&fetch).clone(), now)
}

#[test]
fn a_producer_that_reports_congestion_gets_the_whole_patience() {
    let (failure, now) = rejected(NackReason::Congestion);
    assert!(matches!(failure, FetchError::NotFound { .. }), "{failure}");
    assert!(now.0 >= 30_000_000_000 && now.0 < 32_000_000_000, "patience is 30 s: {now:?}");
}

#[test]
fn silence_and_no_route_are_different_errors() {
    let mut silent = Publish::new();
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    run(&mut fetch, &mut sink, &mut silent, &Pipe::default(), LIMIT, &mut |_, f| Some(f));
    assert!(matches!(failure(&fetch), FetchError::NotFound { .. }));

    let (failure, now) = rejected(NackReason::NoRoute);
    assert!(matches!(failure, FetchError::NoRoute(_)));
    assert!(now.0 < 2_000_000_000, "a missing route is known soon: {now:?}");
}

#[test]
fn names_that_the_producer_lacks_fail_soon() {
    // A missing name under the published one; another name of the same producer; another version,
    // whose metadata is that of the existing one.
    for uri in ["/a/file/other", "/a/other", "/a/file/v=8"] {
        let mut producer = Publish::new();
        producer.claim(name("/a"));
        producer.add(publish("/a/file", bytes(5000), &Signer::Digest));
        let (mut fetch, mut sink) = (crate::support::fetch(uri), Memory::default());
        let pipe = Pipe::default();
        let took = run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
        assert_eq!(failure(&fetch), &FetchError::NotThere(name(uri)));
        // Five round trips of 10 ms, with pauses of 50, 100 and 200 ms between four of them. The
        // rest is due to the controller's pacing.
        assert!(took.0 < 500_000_000, "{uri}: {took:?}");
        assert!(sink.order.is_empty());
    }
}

#[test]
fn a_producers_signed_word_that_there_is_nothing_is_no_content() {
    let content = bytes(50_000);
    // As the answer to discovery, it ends the fetch at once.
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let deny = |data: &Data<'_>| {
        let denied = packet::DataBuf::new(data.name().to_name(), Bytes::new());
        packet::DataBuf { content_type: packet::ContentType::NACK, ..denied }.encode_digest()
    };
    let mut tamper = |_, frame: Bytes| Some(deny(&Data::decode(&frame).unwrap()));
    let pipe = Pipe::default();
    let took = run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut tamper);
    assert_eq!(failure(&fetch), &FetchError::NotThere(name("/a/file")));
    assert_eq!(took.0, 10_000_000, "one round trip");

    // As the answer to a segment beyond an unknown end, it is ignored. A segment before the end is
    // requested again if it is denied at first.
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let mut denials = 0;
    let mut tamper = |_, frame: Bytes| {
        let link = packet::LpPacket::decode(&frame).unwrap();
        if link.nack().is_some() {
            let interest = packet::Interest::decode(link.fragment().unwrap()).unwrap();
            let denied = packet::DataBuf {
                content_type: packet::ContentType::NACK,
                ..packet::DataBuf::new(interest.name().to_name(), Bytes::new())
            };
            return Some(denied.encode_digest());
        }
        let data = Data::decode(&frame).unwrap();
        if data
            .name()
            .components()
            .any(|c| c.is_keyword(b"metadata") || c.is_keyword(head::KEYWORD))
        {
            return None;
        }
        let segment = data.name().last().unwrap().as_segment();
        if segment == Some(20) && denials == 0 {
            denials += 1;
            return Some(deny(&data));
        }
        let mut bare = packet::DataBuf::from_view(&data);
        if segment != Some(49) {
            bare.final_block = None;
        }
        Some(bare.encode_digest())
    };
    run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut tamper);
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content);
}

#[test]
fn a_producer_that_comes_back_goes_on() {
    let content = bytes(400_000);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", content.clone(), &Signer::Digest));
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let away = control::Time(40_000_000)..control::Time(10_000_000_000);
    let mut tamper = |now, frame: Bytes| (!away.contains(&now)).then_some(frame);
    let took = run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut tamper);
    assert_eq!(fetch.status(), Status::Done);
    assert!(sink.bytes == content);
    assert!(took.0 < 16_000_000_000, "it goes on within the largest back-off: {took:?}");
}

#[test]
fn frames_of_any_kind_do_no_damage() {
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    let mut out = Vec::new();
    fetch.poll_transmit(control::Time::ZERO, &mut out);
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(5000), &Signer::Digest));
    for frame in [&[][..], &[0x64, 0], &[5], &[6, 0], &[0x64, 2, 0x50, 0], &[0xff; 40]] {
        fetch.receive(control::Time::ZERO, frame, &mut sink);
        producer.receive(frame);
    }
    assert_eq!(fetch.status(), Status::Running);
    assert!(!producer.has_answers());
}

#[test]
fn an_object_whose_digests_do_not_all_fit_is_served_all_the_same() {
    let content = bytes(51_000);
    let spec = Spec { segment_size: 100, digest_memory: 300 * 64, ..Spec::new(name("/a/file"), 7) };
    let mut producer = Publish::new();
    // Runs of 250, 250 and 10 segments. The second does not fit with the first; the third would.
    let preparation = Preparation::new(spec, content.clone(), &Signer::Digest).unwrap();
    producer.add(preparation.run(&Signer::Digest).unwrap());
    let (mut fetch, mut sink) = (crate::support::fetch("/a/file"), Memory::default());
    run(&mut fetch, &mut sink, &mut producer, &Pipe::default(), LIMIT, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done);
    assert_eq!((fetch.stats().forged, producer.stats().failed), (0, 0));
    assert!(sink.bytes == content);
}

/// Runs `scheme` over a path that is cut for `span` from `from` on. Returns the instants at which
/// Interests reached the producer in that time and until the first answer after it.
fn asked_while_cut(scheme: &str, pipe: &Pipe, from: Duration, span: Duration) -> Vec<Duration> {
    let mut config = FetchConfig::new(name("/a/file"), TrustPolicy::DigestOnly);
    config.patience = Duration::from_secs(600);
    let (mut fetch, mut sink) =
        (Fetch::new(config, crate::support::controller(scheme)), Memory::default());
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(2_000_000), &Signer::Digest));
    let (begin, end) = (control::Time::ZERO + from, control::Time::ZERO + from + span);
    let (mut asked, mut over) = (Vec::new(), false);
    let mut tamper = |now: control::Time, frame: Bytes| {
        if now >= begin && !over {
            asked.push(now.since(begin));
            over = now >= end;
        }
        (now < begin || now >= end).then_some(frame)
    };
    let limit = Duration::from_secs(300);
    run(&mut fetch, &mut sink, &mut producer, pipe, limit, &mut tamper);
    assert!(over, "{scheme}: nothing was asked for any more");
    asked
}

#[test]
fn a_path_that_comes_back_is_noticed_within_an_interests_lifetime() {
    let fast = Pipe { rate: Some((Rate::from_mbps(10), Size(100_000))), ..Pipe::default() };
    // With a segment per second, some seconds without an answer are normal.
    let slow = Pipe { rate: Some((Rate(8_000), Size(2_500))), ..Pipe::default() };
    // On the slow path timeouts are as long as a few segments, even without backoff.
    for (pipe, from, most) in [(&fast, 1, 4), (&slow, 40, 8)] {
        for scheme in ["aimd", "cubic", "bbr", "fixed"] {
            let (from, span) = (Duration::from_secs(from), Duration::from_secs(200));
            let asked = asked_while_cut(scheme, pipe, from, span);
            let longest = asked.windows(2).map(|two| two[1].0 - two[0].0).max().unwrap();
            assert!(longest <= most * 1_000_000_000, "{scheme} was silent for {longest} ns");
            let later = asked.iter().filter(|at| at.0 > span.0 / 2).count();
            // A path that may be congested is not overloaded. `fixed` does not react to loss.
            assert!(later < 120 || scheme == "fixed", "{scheme}: {later} in 100 s of silence");
        }
    }
}
