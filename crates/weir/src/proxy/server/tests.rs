use super::*;
use crate::proxy::client::{Client, Limits};
use crate::proxy::facts::Validators;
use crate::proxy::news::{Answered, Event, News, Object};
use crate::proxy::origin::origin;
use crate::proxy::packets::Shape;
use crate::proxy::source::Common;
use crate::proxy::workers::Workers;
use hyper::header::{ETAG, HeaderMap, HeaderValue};
use packet::{Component, InterestBuf};
use security::Signer;
use std::sync::atomic::AtomicU64;
use weir::http::mirror::Described;

const TICK: Duration = Duration::from_millis(250);
const FRESH: std::time::Duration = std::time::Duration::from_secs(10);

/// A proxy for two origins that have no threads: the tests answer in their place.
fn server() -> Server {
    let slab = Slab::new(&std::env::temp_dir(), 0).unwrap();
    let outbox = Arc::new(Outbox::new().unwrap());
    let ids = Arc::new(AtomicU64::new(0));
    let common = Common { slab: Arc::clone(&slab), outbox: Arc::clone(&outbox), ids, fresh: FRESH };
    let share = |(number, prefix): (usize, &str)| {
        let origin = origin(&format!("{prefix}=http://127.0.0.1:9/")).unwrap();
        let patience = Duration::from_secs(1);
        let limits = Limits { redirects: Vec::new(), patience, headers: Vec::new() };
        let client = Client::new(origin.clone(), limits).unwrap();
        let workers = Workers::start(number, client, common.clone(), 0).unwrap();
        (origin, Table::new(Arc::clone(&slab), workers))
    };
    let shares = ["/slow", "/other"].into_iter().enumerate().map(share).collect();
    Server::new(shares, slab, outbox, Maker::new(Signer::Digest), Limit::new(None))
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn ask(server: &mut Server, name: Name) {
    let interest = InterestBuf { can_be_prefix: true, ..InterestBuf::new(name) }.encode();
    server.receive(Time::ZERO, &interest);
}

/// The reasons of the sent Nacks; none for Data.
fn sent(server: &mut Server) -> Vec<Option<NackReason>> {
    let mut all = Vec::new();
    let mut frame = Vec::new();
    while server.poll_transmit(Time::ZERO, &mut frame) {
        all.push(LpPacket::decode(&frame).unwrap().nack());
        frame.clear();
    }
    all
}

/// The object of a file with strong validators.
fn object(id: u64, size: u64) -> Object {
    let headers = HeaderMap::from_iter([(ETAG, HeaderValue::from_static("\"a\""))]);
    let validators = Validators::of(&headers);
    Object { id, version: id, size, segment_size: 8000, validators, has_ranges: true }
}

fn put(server: &Server, origin: usize, key: &str, object: Option<Object>) {
    let headers = HeaderMap::new();
    let described = match &object {
        Some(object) => Described::content(object.version, &headers),
        None => Described::error(404, &headers, b"none"),
    };
    let news = News::Described(Box::new(Answered::new(described, object, FRESH)));
    server.outbox.put(Event { origin, key: name(key), news });
}

/// The name of a segment of the first version.
fn segment(file: &str, segment: u64) -> Name {
    name(file).with(&Component::version(1)).with(&Component::segment(segment))
}

#[test]
fn interests_beyond_the_limit_get_a_nack_and_other_files_and_origins_answers() {
    let mut server = server();
    for n in 0..8000 {
        ask(&mut server, segment("/slow/file", n));
    }
    let nacks = sent(&mut server);
    assert!(!nacks.is_empty() && nacks.iter().all(|n| *n == Some(NackReason::Congestion)));
    let waits = server.shares[0].waiting.len();
    assert_eq!((waits > 2000, waits + nacks.len() + server.counts.dropped as usize), (true, 8000));
    for (origin, file) in [(0, "/slow/more"), (1, "/other/file")] {
        ask(&mut server, name(file));
        assert_eq!(sent(&mut server), []);
        put(&server, origin, file, Some(object(1, 0)));
        assert_eq!(sent(&mut server), [None], "{file}");
    }
    // Interests whose lifetime is over leave their room to others.
    server.expire(Time::ZERO + Duration::from_secs(60), TICK);
    assert_eq!(server.shares[0].waiting.len(), 0);
    ask(&mut server, segment("/slow/file", 1));
    assert_eq!(sent(&mut server), []);
}

#[test]
fn an_interest_is_looked_at_again_only_when_its_bytes_have_come() {
    let mut server = server();
    ask(&mut server, segment("/slow/file", 0));
    assert_eq!(sent(&mut server), []);
    put(&server, 0, "/slow/file", Some(object(1, 128 * 8000)));
    (0..128).for_each(|n| ask(&mut server, segment("/slow/file", n)));
    assert_eq!(sent(&mut server), []);
    let mut writer = server.slab.claim((1, 0)).unwrap();
    for _ in 0..128 {
        writer.append(&[0; 8000]).unwrap();
        let filled = writer.filled();
        server.outbox.put_progress(0, (1, 0), filled);
        server.receive_news(Time::ZERO);
        assert_eq!(server.ready.len(), 1, "after {filled} bytes");
        assert_eq!(sent(&mut server), [None]);
    }
}

#[test]
fn a_block_with_waiting_interests_is_not_evicted() {
    let mut server = server();
    ask(&mut server, segment("/slow/file", 1));
    put(&server, 0, "/slow/file", Some(object(1, 3 * 8000)));
    assert_eq!(sent(&mut server), []);
    server.slab.claim((1, 0)).unwrap().append(&[0; 8000]).unwrap();
    let fill = |server: &Server| {
        for n in 0..200 {
            server.slab.claim((9, n)).unwrap().append(&[0; 128 * 8000]).unwrap();
        }
        server.slab.filled((1, 0))
    };
    assert_eq!(fill(&server), 8000);
    server.forget_waiting();
    assert_eq!(fill(&server), 0);
}

#[test]
fn a_full_table_is_no_missing_file() {
    let mut server = server();
    for n in 0..1000 {
        ask(&mut server, name(&format!("/slow/{n}")));
    }
    let nacks = sent(&mut server);
    assert!(nacks.len() > 100 && nacks.iter().all(|n| *n == Some(NackReason::Congestion)));
    // The other origin has a table of its own.
    ask(&mut server, name("/other/file"));
    put(&server, 1, "/other/file", None);
    assert_eq!(sent(&mut server), [Some(NackReason::None)]);
}

#[test]
fn a_name_with_an_empty_component_is_no_file() {
    let mut server = server();
    let empty = Component::generic(b"");
    for name in [name("/slow").with(&empty), name("/slow/a").with(&empty).with(&empty)] {
        ask(&mut server, name);
        assert_eq!(sent(&mut server), [Some(NackReason::None)]);
    }
}

#[test]
fn a_nack_that_waits_for_the_limit_of_the_rate_has_a_deadline() {
    let mut server = server();
    server.limit = Limit::new(Some("8 kbit/s".parse().unwrap()));
    server.limit.passed(Time::ZERO, 100_000);
    assert_eq!(server.next_deadline(Time::ZERO), None, "nothing waits");
    ask(&mut server, name("/slow").with(&Component::generic(b"")));
    assert_eq!(sent(&mut server), []);
    let deadline = server.next_deadline(Time::ZERO).unwrap();
    assert!(server.poll_transmit(deadline, &mut Vec::new()));
}

#[test]
fn a_certificate_that_is_not_sent_is_counted() {
    let mut server = server();
    let mut packet = Vec::new();
    Maker::new(Signer::Digest).segment(&shape(&name("/key")), 0, b"", &mut packet);
    server.add_certificate(packet.into());
    let key = server.certificates[0].0.clone();
    (0..=MOST_READY).for_each(|_| ask(&mut server, key.clone()));
    assert_eq!((sent(&mut server).len(), server.counts.dropped), (MOST_READY, 1));
}

fn shape(name: &Name) -> Shape<'_> {
    Shape { name, version: 1, size: 0, segment_size: 8000 }
}

#[test]
fn an_interest_for_an_answer_that_takes_long_gets_a_nack_before_its_end() {
    let mut server = server();
    ask(&mut server, name("/slow/file"));
    put(&server, 1, "/other/file", Some(object(1, 8000)));
    ask(&mut server, segment("/other/file", 0));
    assert_eq!(sent(&mut server), []);
    let end = Time::ZERO + Duration::from_millis(DEFAULT_LIFETIME_MS);
    let before = |ticks: u64| Time(end.0 - ticks * TICK.0);
    server.expire(before(3), TICK);
    assert_eq!(sent(&mut server), []);
    server.expire(before(2), TICK);
    assert_eq!(sent(&mut server), [Some(NackReason::Congestion)]);
    let waits = |server: &Server| server.shares.iter().map(|share| share.waiting.len()).sum();
    assert_eq!((waits(&server), server.counts.dropped), (1_usize, 0), "bytes are waited for");
    server.expire(end, TICK);
    assert_eq!((waits(&server), server.counts.dropped), (0, 1));
}
