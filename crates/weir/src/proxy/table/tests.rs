#![expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]

use super::*;
use crate::proxy::client::{Client, Limits};
use crate::proxy::facts::Validators;
use crate::proxy::news::Outbox;
use crate::proxy::origin::origin;
use crate::proxy::source::Common;
use hyper::header::{ETAG, HeaderMap, HeaderValue};
use std::sync::atomic::AtomicU64;

const SEGMENT: u64 = 8000;
const FRESH: std::time::Duration = std::time::Duration::from_secs(10);

/// A table whose origin has no threads: the tests answer in their place.
fn table() -> Table {
    let patience = Duration::from_secs(1);
    let limits = Limits { redirects: Vec::new(), patience, headers: Vec::new() };
    let client = Client::new(origin("/a=http://127.0.0.1:9/").unwrap(), limits).unwrap();
    let slab = Slab::new(&std::env::temp_dir(), 0).unwrap();
    let outbox = Arc::new(Outbox::new().unwrap());
    let ids = Arc::new(AtomicU64::new(0));
    let common = Common { slab: Arc::clone(&slab), outbox, ids, fresh: FRESH };
    Table::new(slab, Workers::start(0, client, common, 0).unwrap())
}

fn name(file: &str) -> Name {
    format!("/a/{file}").parse().unwrap()
}

fn note(table: &mut Table, file: &str) -> bool {
    let (resource, _) = Resource::from_name(name(file).as_ref(), 1).unwrap();
    table.note(&name(file), resource, |_| SEGMENT)
}

fn look(table: &mut Table, file: &str, part: Part) -> Look {
    table.look(Time::ZERO, &name(file), Wanted { of_head: false, part })
}

fn happened(table: &mut Table, file: &str, news: News) -> Vec<Range<Place>> {
    table.happened(Time::ZERO, Event { origin: 0, key: name(file), news })
}

/// An object of `size` bytes; its number is its version.
fn object(id: u64, size: u64, has_ranges: bool) -> Object {
    let headers = HeaderMap::from_iter([(ETAG, HeaderValue::from_static("\"a\""))]);
    let validators = Validators::of(&headers);
    Object { id, version: id, size, segment_size: SEGMENT, validators, has_ranges }
}

fn described(object: Option<Object>) -> News {
    let headers = HeaderMap::new();
    let described = match &object {
        Some(object) => Described::content(object.version, &headers),
        None => Described::error(404, &headers, b"none"),
    };
    News::Described(Box::new(Answered::new(described, object, FRESH)))
}

/// The blocks of the transfers that have been handed to threads.
fn transfers(table: &Table) -> Vec<Range<u64>> {
    let jobs = table.workers.take_jobs().into_iter();
    let blocks = |job: Job| match job.task {
        Task::Fill(_, blocks) => Some(blocks),
        Task::Describe(..) => None,
    };
    jobs.filter_map(blocks).collect()
}

fn waits(id: u64, block: u64) -> Look {
    Look::Wait(Place::Bytes((id, block), SEGMENT))
}

/// The first segment of a block.
fn of_block(id: u64, block: u64) -> Part {
    Part::Segment(id, block * crate::proxy::slab::SEGMENTS)
}

#[test]
fn missing_names_displace_no_content() {
    let mut table = table();
    assert!(note(&mut table, "file"));
    assert!(matches!(look(&mut table, "file", Part::First), Look::Wait(Place::Answer(_))));
    happened(&mut table, "file", described(Some(object(1, 5, true))));
    table.slab.claim((1, 0)).unwrap().append(b"12345").unwrap();
    for n in 0..5000 {
        let file = n.to_string();
        assert!(note(&mut table, &file));
        look(&mut table, &file, Part::First);
        table.workers.take_jobs();
        happened(&mut table, &file, described(None));
    }
    assert!(table.files.len() < 1000, "the names are forgotten, too");
    assert!(matches!(look(&mut table, "file", Part::First), Look::Segment(..)));
}

#[test]
fn names_that_the_origin_has_not_answered_for_are_not_forgotten_for_others() {
    let mut table = table();
    let mut noted = 0;
    while note(&mut table, &noted.to_string()) {
        look(&mut table, &noted.to_string(), Part::First);
        noted += 1;
    }
    assert!((100..1000).contains(&noted), "then there is no room: {noted}");
    happened(&mut table, "7", described(None));
    assert!(note(&mut table, "new") && !table.files.contains_key(&name("7")));
    // A file that was forgotten before the look does not count as missing.
    assert_eq!(look(&mut table, "7", Part::First), Look::Nack(NackReason::Congestion));
}

#[test]
fn a_file_of_any_size_takes_the_same_work() {
    let mut table = table();
    for (id, has_ranges) in [(1, true), (2, false)] {
        let file = id.to_string();
        assert!(note(&mut table, &file));
        happened(&mut table, &file, described(Some(object(id, 1 << 50, has_ranges))));
        // A look at each of 2^30 blocks would take minutes.
        for block in [3, 4, 1 << 20] {
            look(&mut table, &file, of_block(id, block));
        }
    }
    let blocks = (1_u64 << 50).div_ceil(SEGMENT * crate::proxy::slab::SEGMENTS);
    assert_eq!(transfers(&table), [3..4, 4..6, 1 << 20..(1 << 20) + 1, 3..blocks]);
}

#[test]
fn blocks_wait_for_one_of_the_transfers_of_the_file() {
    let mut table = table();
    assert!(note(&mut table, "file"));
    happened(&mut table, "file", described(Some(object(1, 1 << 40, true))));
    let places = [10, 20, 30, 40, 50, 60];
    for block in places {
        assert_eq!(look(&mut table, "file", of_block(1, block)), waits(1, block));
    }
    assert_eq!(transfers(&table), [10..11, 20..21, 30..31, 40..41]);
    let end = News::Filled { id: 1, blocks: 20..21, result: Ok(()) };
    assert_eq!(happened(&mut table, "file", end), [blocks_of(1, 20..21)]);
    assert_eq!(transfers(&table), [50..51]);
    // Consumers receive the limit as a reason.
    let mut looks = (100..1000).map(|block| look(&mut table, "file", of_block(1, block)));
    assert!(looks.any(|look| look == Look::Nack(NackReason::Congestion)));
}

#[test]
fn only_a_transfer_without_progress_makes_a_pause() {
    let mut table = table();
    assert!(note(&mut table, "file"));
    happened(&mut table, "file", described(Some(object(1, 1 << 40, true))));
    look(&mut table, "file", of_block(1, 5));
    assert_eq!(transfers(&table), [5..6]);
    let failed = Unfilled::Failed { text: "slow".to_owned(), had_progress: true };
    let news = News::Filled { id: 1, blocks: 5..6, result: Err(failed) };
    assert_eq!(happened(&mut table, "file", news), [blocks_of(1, 5..6)]);
    assert_eq!(look(&mut table, "file", of_block(1, 5)), waits(1, 5));
    assert_eq!((transfers(&table), table.take_failure()), (vec![5..6], None));
}

#[test]
fn a_failed_transfer_is_a_rejection_for_a_while() {
    for (result, reason) in [
        (Unfilled::Failed { text: "why".to_owned(), had_progress: false }, NackReason::NoRoute),
        (Unfilled::Full("why".to_owned()), NackReason::Congestion),
    ] {
        let mut table = table();
        assert!(note(&mut table, "file"));
        happened(&mut table, "file", described(Some(object(1, 1 << 40, true))));
        look(&mut table, "file", of_block(1, 5));
        table.workers.take_jobs();
        let news = News::Filled { id: 1, blocks: 5..6, result: Err(result) };
        happened(&mut table, "file", news);
        assert_eq!(look(&mut table, "file", of_block(1, 5)), Look::Nack(reason));
        assert_eq!((transfers(&table), table.take_failure()), (vec![], Some("why".to_owned())));
        let wanted = Wanted { of_head: false, part: of_block(1, 5) };
        let later = Time::ZERO + PAUSE;
        assert_eq!(table.look(later, &name("file"), wanted), waits(1, 5));
    }
}

#[test]
fn interests_for_a_version_that_is_gone_are_looked_at_again() {
    let mut table = table();
    assert!(note(&mut table, "file"));
    happened(&mut table, "file", described(Some(object(1, 1 << 40, true))));
    assert_eq!(look(&mut table, "file", of_block(1, 5)), waits(1, 5));
    let evicted = News::Filled { id: 1, blocks: 5..6, result: Err(Unfilled::Evicted) };
    assert_eq!(happened(&mut table, "file", evicted), [blocks_of(1, 0..u64::MAX)]);
    assert!(matches!(look(&mut table, "file", of_block(1, 5)), Look::Wait(Place::Answer(_))));
    assert_eq!(table.take_failure(), None);
    for id in 2..=4 {
        let places = happened(&mut table, "file", described(Some(object(id, 9, true))));
        assert_eq!(places.contains(&blocks_of(2, 0..u64::MAX)), id == 4);
    }
}

#[test]
fn an_origin_that_has_another_file_for_each_request_is_not_flooded() {
    let mut table = table();
    assert!(note(&mut table, "file"));
    let mut requests = 0;
    let end = Time::ZERO + PAUSE + PAUSE;
    for now in (0..).map(|n| Time::ZERO + Duration::from_millis(n)).take_while(|now| *now < end) {
        let wanted = Wanted { of_head: false, part: of_block(1, 5) };
        let look = table.look(now, &name("file"), wanted);
        for job in table.workers.take_jobs() {
            requests += 1;
            let news = match job.task {
                Task::Describe(..) => described(Some(object(1, 1 << 40, true))),
                Task::Fill(object, blocks) => {
                    let result = Err(Unfilled::Changed("changed".to_owned()));
                    News::Filled { id: object.id, blocks, result }
                }
            };
            table.happened(now, Event { origin: 0, key: name("file"), news });
            assert!(matches!(look, Look::Wait(_)));
        }
    }
    assert_eq!(requests, 4, "a description and a transfer in each period");
    assert_eq!(table.take_failure(), Some("changed".to_owned()));
}

#[test]
fn a_proxy_without_room_is_no_missing_route() {
    for (is_busy, reason) in [(true, NackReason::Congestion), (false, NackReason::NoRoute)] {
        let mut table = table();
        assert!(note(&mut table, "file"));
        let described = Described::error(503, &HeaderMap::new(), b"why");
        let answered = Answered { is_busy, ..Answered::new(described, None, FRESH) };
        happened(&mut table, "file", News::Described(Box::new(answered)));
        assert_eq!(look(&mut table, "file", Part::First), Look::Nack(reason));
    }
}

#[test]
fn blocks_that_come_with_the_first_answer_are_not_requested() {
    let mut table = table();
    assert!(note(&mut table, "file"));
    let object = object(1, 1 << 40, false);
    let described = Described::content(object.version, &HeaderMap::new());
    let blocks = object.blocks();
    let answered = Answered::new(described, Some(object), FRESH);
    let answered = Answered { coming: 0..blocks, ..answered };
    happened(&mut table, "file", News::Described(Box::new(answered)));
    assert_eq!(look(&mut table, "file", of_block(1, 5)), waits(1, 5));
    assert_eq!(transfers(&table), []);
    happened(&mut table, "file", News::Filled { id: 1, blocks: 0..blocks, result: Ok(()) });
    assert_eq!(look(&mut table, "file", of_block(1, 5)), waits(1, 5));
    assert_eq!(transfers(&table), [5..blocks], "it has been evicted");
}
