//! What producers serve, and how it is signed.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use control::{Size, Time};
use support::{assert_conserved, controller, line, name, wire};
use weir_sim::{FetchSpec, ObjectSpec, Signing};

const SECOND: u64 = 1_000_000_000;

/// A fetch that expects `wanted` of an object that is signed as `signing`.
fn fetched(signing: Signing, wanted: Signing) -> (bool, u64, Option<String>) {
    let mut line = line(1, 3, &wire(100, 1));
    line.publish("/p/film", 300_000, 1000, signing);
    let mut fetch = FetchSpec::new(name("/p/film"), controller("cubic"), "cubic");
    fetch.signing = wanted;
    line.net.fetch(line.nodes[0], fetch);
    let outcome = line.net.run(Time(20 * SECOND));
    assert_conserved(&outcome);
    let flow = &outcome.flows[0];
    (flow.complete, flow.data, flow.error.clone())
}

#[test]
fn a_fetch_takes_what_is_signed_as_it_expects() {
    for signing in [Signing::Manifest, Signing::Digest, Signing::Unsigned] {
        let (complete, data, error) = fetched(signing, signing);
        // 300 segments and metadata; a manifest besides.
        let least = if signing == Signing::Manifest { 302 } else { 301 };
        assert!(complete && data >= least && data < 310, "{signing:?}: {data} {error:?}");
    }
}

#[test]
fn a_fetch_that_verifies_refuses_what_is_not_signed() {
    let (complete, _, error) = fetched(Signing::Unsigned, Signing::Digest);
    assert!(!complete && error.is_some());
}

#[test]
fn a_node_has_one_producer_for_all_its_objects() {
    let mut line = line(1, 2, &wire(100, 1));
    let last = line.nodes[1];
    // Names of two lengths, ways of signing side by side, and a name that nobody serves.
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
    assert!(!last.complete);
    for (n, flow) in served.iter().enumerate() {
        assert!(flow.complete && flow.bytes == 2_000 + n as u64, "{flow:?}");
    }
    assert_eq!(line.net.faces(line.nodes[1]), 2, "the link's and the producer's");
    assert_conserved(&outcome);
}
