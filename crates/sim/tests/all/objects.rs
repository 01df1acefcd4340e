//! The objects of producers, and their signatures.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{assert_conserved, controller, line, name, wire};
use control::{Size, Time};
use sim::{FetchSpec, ObjectSpec, Signing};
use std::sync::{Arc, Mutex};

const SECOND: u64 = 1_000_000_000;

/// Fetches an object with the signatures `signing`, while the consumer expects `wanted`.
fn fetched(signing: Signing, wanted: Signing) -> (bool, u64, Option<String>) {
    let mut line = line(1, 3, &wire(100, 1));
    line.publish("/p/film", 300_000, 1000, signing);
    let mut fetch = FetchSpec::new(name("/p/film"), controller("cubic"), "cubic");
    fetch.signing = wanted;
    line.net.fetch(line.nodes[0], fetch);
    let outcome = line.net.run(Time(20 * SECOND));
    assert_conserved(&outcome);
    let flow = &outcome.flows[0];
    (flow.transfer.complete, flow.transfer.counters.data, flow.transfer.error.clone())
}

#[test]
fn a_fetch_takes_what_is_signed_as_it_expects() {
    for signing in [Signing::Manifest, Signing::Digest, Signing::Unsigned] {
        let (complete, data, error) = fetched(signing, signing);
        // 300 segments and metadata; with a manifest, at least one node more.
        let least = if signing == Signing::Manifest { 302 } else { 301 };
        assert!(complete && data >= least && data < 310, "{signing:?}: {data} {error:?}");
    }
}

#[test]
fn a_fetch_that_verifies_rejects_what_is_not_signed() {
    let (complete, _, error) = fetched(Signing::Unsigned, Signing::Digest);
    assert!(!complete && error.is_some());
}

#[test]
fn a_node_has_one_producer_for_all_its_objects() {
    let mut line = line(1, 2, &wire(100, 1));
    let last = line.nodes[1];
    // Names of two lengths, all kinds of signatures, and a name without a producer.
    let signings = [Signing::Manifest, Signing::Digest, Signing::Unsigned];
    for n in 0..60 {
        let uri = if n % 2 == 0 { format!("/p/{n}") } else { format!("/p/odd/{n}") };
        let object = ObjectSpec {
            segment_size: 1000,
            signing: signings[n % 3],
            ..ObjectSpec::new(name(&uri), Size(2_000 + n as u64))
        };
        line.net.publish(last, object).unwrap();
        let mut fetch = FetchSpec::new(name(&uri), controller("fixed"), "fixed");
        fetch.signing = signings[n % 3];
        line.net.fetch(line.nodes[0], fetch);
    }
    line.fetch("/p/odd", "fixed", 0);
    let outcome = line.net.run(Time(20 * SECOND));
    let (last, served) = outcome.flows.split_last().unwrap();
    assert!(!last.transfer.complete);
    for (n, flow) in served.iter().enumerate() {
        assert!(flow.transfer.complete && flow.transfer.bytes == 2_000 + n as u64, "{flow:?}");
    }
    assert_eq!(line.net.faces(line.nodes[1]), 2, "the link's and the producer's");
    assert_conserved(&outcome);
}

/// Progress reports of hashing: bytes done, and total bytes.
type Reports = Arc<Mutex<Vec<(u64, u64)>>>;

/// A line of two nodes, and a fetch of an object of `size` bytes. The hashing callback stops the
/// run at the `enough`-th report.
fn line_with_hashing_reports(
    size: u64,
    signing: Signing,
    enough: usize,
) -> (crate::support::Line, Reports) {
    let mut line = line(1, 2, &wire(100, 1));
    line.publish("/p", size, 1000, signing);
    let mut fetch = FetchSpec::new(name("/p"), controller("fixed"), "fixed");
    fetch.signing = signing;
    line.net.fetch(line.nodes[0], fetch);
    let reports = Reports::default();
    let list = Arc::clone(&reports);
    line.net.on_hashing(Box::new(move |hashing| {
        assert_eq!(hashing.object, &name("/p"));
        let mut list = list.lock().unwrap();
        list.push((hashing.done, hashing.size));
        list.len() < enough
    }));
    (line, reports)
}

#[test]
fn a_large_object_is_hashed_in_slices_and_may_be_given_up() {
    let size = 500_000_000_000;
    let (mut line, reports) = line_with_hashing_reports(size, Signing::Manifest, 3);
    line.net.advance(Time(SECOND));
    // The Interest for the metadata arrives a little later than the propagation delay of 1 ms.
    assert!(line.net.is_given_up() && line.net.now() < Time(2_000_000), "{:?}", line.net.now());
    // There is a report every 8 MiB, up to a manifest leaf of at most 256 segments late.
    let reports = reports.lock().unwrap().clone();
    assert_eq!(reports.len(), 3);
    for (n, (done, of)) in (1..).zip(reports) {
        let slices = n * (8 << 20);
        assert!((slices..slices + n * 256_000).contains(&done) && of == size, "{done} of {of}");
    }
    let outcome = line.net.outcome();
    assert!(!outcome.flows[0].transfer.complete && outcome.flows[0].transfer.counters.data == 0);
}

#[test]
fn hashing_callbacks_do_not_change_the_run() {
    let hash = |enough| {
        let (mut line, reports) = line_with_hashing_reports(20_000_000, Signing::Manifest, enough);
        let outcome = line.net.run(Time(20 * SECOND));
        assert!(outcome.flows[0].transfer.complete);
        (outcome.trace_hash, reports.lock().unwrap().len())
    };
    let mut line = line(1, 2, &wire(100, 1));
    line.publish("/p", 20_000_000, 1000, Signing::Manifest);
    line.net.fetch(line.nodes[0], FetchSpec::new(name("/p"), controller("fixed"), "fixed"));
    let outcome = line.net.run(Time(20 * SECOND));
    assert_eq!(hash(usize::MAX), (outcome.trace_hash, 2));
}

#[test]
fn unsigned_and_digest_only_objects_are_not_hashed() {
    for signing in [Signing::Unsigned, Signing::Digest] {
        let (mut line, reports) = line_with_hashing_reports(1 << 50, signing, 1);
        line.net.advance(Time(SECOND));
        assert!(reports.lock().unwrap().is_empty() && line.net.now() == Time(SECOND));
        assert!(line.net.outcome().flows[0].transfer.counters.data > 1000, "{signing:?}");
    }
}
