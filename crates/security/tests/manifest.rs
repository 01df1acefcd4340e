//! Publisher and consumer of a manifest together: every segment of any object is accepted, and
//! every change of a single bit is rejected.
#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use packet::{Bytes, Component, Data, DataBuf, Name};
use proptest::prelude::*;
use security::manifest::{
    BuildError, Builder, Check, Children, DEFAULT_FANOUT, ManifestError, Tree, Verifier,
    largest_fanout, node_name,
};
use security::{Digest, Proof, SecretKey, Signer, TrustPolicy, TrustedKey};
use sha2::{Digest as _, Sha256};

fn object() -> Name {
    "/weir/file/v=7".parse().unwrap()
}

fn key_name() -> Name {
    "/weir/KEY/1".parse().unwrap()
}

fn secret() -> SecretKey {
    SecretKey::ed25519(&[9; 32])
}

fn signer() -> Signer {
    Signer::Key { secret: secret(), key_locator: key_name() }
}

fn policy() -> TrustPolicy {
    TrustPolicy::Keys(vec![TrustedKey::new(
        key_name(),
        secret().public(),
        "/weir".parse().unwrap(),
    )])
}

fn segment(number: u64) -> Vec<u8> {
    let mut name = object();
    name.push(Component::segment(number).as_ref());
    let data = DataBuf {
        name,
        content_type: 0,
        freshness_ms: Some(10_000),
        final_block: None,
        content: Bytes::from(number.to_be_bytes().to_vec()),
    };
    let mut wire = Vec::new();
    Signer::Digest.encode(&data, &mut wire);
    wire
}

fn digest(wire: &[u8]) -> Digest {
    Sha256::digest(wire).into()
}

fn build(digests: &[Digest], fanout: u32) -> Tree {
    let mut builder = Builder::new(object(), fanout).unwrap();
    for digest in digests {
        builder.push(*digest).unwrap();
    }
    builder.finish(&signer()).unwrap()
}

/// The publisher's answer to an Interest for a node.
fn node(tree: &Tree, digests: &[Digest], number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    match tree.layout().children(number).unwrap() {
        Children::Segments(run) => tree
            .encode_leaf(number, &digests[run.start as usize..run.end as usize], &mut out)
            .unwrap(),
        Children::Nodes(_) => tree.encode_inner(number, &mut out).unwrap(),
    }
    out
}

fn consumer(tree: &Tree) -> Verifier {
    let root = Data::decode(tree.root()).unwrap();
    Verifier::from_root(object().as_ref(), &root, &policy()).unwrap()
}

/// Fetches nodes until `segments` need no more.
fn fetch(verifier: &mut Verifier, tree: &Tree, digests: &[Digest], segments: std::ops::Range<u64>) {
    loop {
        let wanted: Vec<u64> = verifier.needed(segments.clone()).take(8).collect();
        if wanted.is_empty() {
            return;
        }
        for number in wanted {
            let wire = node(tree, digests, number);
            let data = Data::decode(&wire).unwrap();
            assert_eq!(verifier.expected_node(number), Some(data.implicit_digest()));
            assert_eq!(verifier.accept(&data), Ok(number));
        }
    }
}

fn digests(count: u64, seed: u64) -> Vec<Digest> {
    (0..count).map(|n| digest(&[seed.to_be_bytes(), n.to_be_bytes()].concat())).collect()
}

#[test]
fn real_segments_of_a_file_are_verified() {
    let wires: Vec<Vec<u8>> = (0..20).map(segment).collect();
    let digests: Vec<Digest> = wires.iter().map(|wire| digest(wire)).collect();
    let tree = build(&digests, 4);
    let mut verifier = consumer(&tree);
    assert_eq!(verifier.proof(), &Proof::Key(key_name()));
    fetch(&mut verifier, &tree, &digests, 0..20);
    for (number, wire) in wires.iter().enumerate() {
        let data = Data::decode(wire).unwrap();
        let found = verifier.check_segment(number as u64, &data.implicit_digest());
        assert_eq!(found, Check::Verified);
        // The right packet in the wrong place.
        let elsewhere = (number as u64 + 1) % 20;
        assert_eq!(
            verifier.check_segment(elsewhere, &data.implicit_digest()),
            Check::Mismatch { expected: digests[elsewhere as usize] }
        );
    }
    assert_eq!(verifier.check_segment(20, &digests[0]), Check::Beyond);
}

#[test]
fn nodes_are_asked_for_from_the_root_down() {
    // 9 segments by twos: leaves 0..5, then 5..8, then 8 and 9, then the root 10.
    let digests = digests(9, 1);
    let tree = build(&digests, 2);
    let mut verifier = consumer(&tree);
    assert_eq!(tree.layout().root(), 10);
    assert_eq!(verifier.needed(0..9).collect::<Vec<_>>(), [8, 9]);
    assert_eq!(verifier.needed(7..9).collect::<Vec<_>>(), [8, 9]);
    assert_eq!(verifier.needed(8..9).collect::<Vec<_>>(), [9]);
    // Node 8 covers 0 to 7; a run that ends there needs no higher node.
    assert_eq!(verifier.needed(0..8).collect::<Vec<_>>(), [8]);
    assert_eq!(verifier.needed(8..8).collect::<Vec<_>>(), [0; 0]);
    assert_eq!(verifier.node_name(8), node_name(object().as_ref(), 8));
    assert_eq!(verifier.check_segment(3, &digests[3]), Check::NeedNode(8));

    let early = node(&tree, &digests, 0);
    let early = Data::decode(&early).unwrap();
    assert_eq!(verifier.accept(&early), Err(ManifestError::NeedParent { node: 0, parent: 5 }));

    for (number, next) in [(8, vec![5, 6, 9]), (5, vec![0, 1, 6, 9]), (1, vec![0, 6, 9])] {
        let wire = node(&tree, &digests, number);
        assert_eq!(verifier.accept(&Data::decode(&wire).unwrap()), Ok(number));
        assert_eq!(verifier.needed(0..100).collect::<Vec<_>>(), next);
    }
    assert_eq!(verifier.check_segment(3, &digests[3]), Check::Verified);
    assert_eq!(verifier.check_segment(0, &digests[0]), Check::NeedNode(0));

    verifier.forget_before(4);
    assert_eq!(verifier.check_segment(3, &digests[3]), Check::NeedNode(5));
    assert_eq!(verifier.held(), 1);
}

#[test]
fn the_root_of_a_small_object_lists_its_segments() {
    for count in 1..=4 {
        let digests = digests(count, 7);
        let tree = build(&digests, 4);
        assert_eq!((tree.layout().root(), tree.layout().leaves()), (0, 1));
        let verifier = consumer(&tree);
        for (number, digest) in (0..).zip(&digests) {
            assert_eq!(verifier.check_segment(number, digest), Check::Verified);
        }
        assert_eq!(verifier.check_segment(count, &digests[0]), Check::Beyond);
    }
}

#[test]
fn the_node_limit_holds() {
    let digests = digests(40, 2);
    let tree = build(&digests, 4);
    let mut verifier = consumer(&tree).with_node_limit(5);
    // Three nodes of level 1 (10, 11, 12) below the root, and two leaves.
    for number in [10, 11, 12, 0, 1] {
        let wire = node(&tree, &digests, number);
        assert_eq!(verifier.accept(&Data::decode(&wire).unwrap()), Ok(number));
    }
    let wire = node(&tree, &digests, 2);
    let third = Data::decode(&wire).unwrap();
    assert_eq!(verifier.accept(&third), Err(ManifestError::Full(5)));
    verifier.forget_before(4);
    assert_eq!(verifier.accept(&third), Ok(2));
}

#[test]
fn a_changed_file_is_not_served_under_the_old_signature() {
    let mut digests = digests(10, 3);
    let tree = build(&digests, 4);
    digests[5][0] ^= 1;
    let mut out = vec![1, 2, 3];
    assert_eq!(tree.encode_leaf(1, &digests[4..8], &mut out), Err(BuildError::Changed(1)));
    assert_eq!(out, [1, 2, 3]);
    assert_eq!(tree.encode_inner(1, &mut out), Err(BuildError::NoSuchNode(1)));
    assert_eq!(tree.encode_leaf(4, &[], &mut out), Err(BuildError::NoSuchNode(4)));
}

#[test]
fn a_root_by_another_key_or_for_another_object_is_rejected() {
    let digests = digests(10, 4);
    let mut builder = Builder::new(object(), 4).unwrap();
    digests.iter().for_each(|digest| builder.push(*digest).unwrap());
    let secret = SecretKey::ed25519(&[8; 32]);
    let forged = builder.finish(&Signer::Key { secret, key_locator: key_name() }).unwrap();
    let forged = Data::decode(forged.root()).unwrap();
    let rejected = Verifier::from_root(object().as_ref(), &forged, &policy()).unwrap_err();
    assert!(matches!(rejected, ManifestError::Untrusted(_)), "{rejected}");

    let tree = build(&digests, 4);
    let root = Data::decode(tree.root()).unwrap();
    let other: Name = "/weir/file/v=8".parse().unwrap();
    let rejected = Verifier::from_root(other.as_ref(), &root, &policy()).unwrap_err();
    assert_eq!(rejected, ManifestError::WrongName(root.name().to_name()));

    // A leaf cannot be a root.
    let leaf = node(&tree, &digests, 0);
    let leaf = Data::decode(&leaf).unwrap();
    let rejected = Verifier::from_digest(object().as_ref(), &leaf, &leaf.implicit_digest());
    assert!(matches!(rejected, Err(ManifestError::Node { .. })));
}

#[test]
fn a_root_is_known_by_its_digest() {
    let digests = digests(10, 5);
    let tree = build(&digests, 4);
    let root = Data::decode(tree.root()).unwrap();
    assert_eq!(root.implicit_digest(), tree.root_digest());
    assert!(Verifier::from_digest(object().as_ref(), &root, &tree.root_digest()).is_ok());
    assert_eq!(
        Verifier::from_digest(object().as_ref(), &root, &[0; 32]).unwrap_err(),
        ManifestError::Mismatch(root.name().to_name())
    );
}

#[test]
fn the_memory_of_a_publisher_is_32_bytes_a_leaf() {
    let segments = 1_000_000_u64;
    let mut builder = Builder::new(object(), DEFAULT_FANOUT).unwrap();
    let mut most = 0;
    for number in 0..segments {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        builder.push(digest).unwrap();
        most = most.max(builder.memory());
    }
    // 4000 leaves; a growing vector has at most twice the room it needs, and then there are the
    // open leaf and one packet.
    assert!((4000 * 32..=2 * 4000 * 32 + 2 * 8800).contains(&most), "{most}");
    let tree = builder.finish(&signer()).unwrap();
    assert_eq!(tree.layout().levels(), 3);
    // 4000 leaves, 16 nodes above them, and the root's packet.
    let least = 4016 * 32 + tree.root().len();
    assert!((least..=2 * 4016 * 32 + 8800).contains(&tree.memory()), "{}", tree.memory());
    let small = build(&digests(4, 1), 2);
    assert!(small.memory() >= 2 * 32 + small.root().len(), "{}", small.memory());
}

#[test]
fn the_memory_of_a_consumer_is_that_of_its_window() {
    let count = 100_000;
    let digests = digests(count, 6);
    let tree = build(&digests, 100);
    let mut verifier = consumer(&tree);
    for start in (0..count).step_by(500) {
        fetch(&mut verifier, &tree, &digests, start..start + 1000);
        for number in start..start + 500 {
            let found = verifier.check_segment(number, &digests[number as usize]);
            assert_eq!(found, Check::Verified);
        }
        // The lists of the window's leaves are held.
        assert!(verifier.memory() >= 5 * 100 * 32, "{}", verifier.memory());
        verifier.forget_before(start + 500);
        // The root, the nodes of level 1 on both sides of the window, its ten leaves.
        assert!(verifier.memory() <= (10 + 2 * 100 + 10 * 100) * 32, "{}", verifier.memory());
    }
    assert!(verifier.held() <= 2);
}

#[test]
fn long_names_get_a_smaller_fanout_that_fits() {
    let mut long = object();
    assert_eq!(largest_fanout(long.as_ref(), &signer()), DEFAULT_FANOUT);
    long.push(Component::generic(&[b'x'; 2000]).as_ref());
    for signer in [Signer::Digest, signer()] {
        let fanout = largest_fanout(long.as_ref(), &signer);
        assert!((190..220).contains(&fanout), "{fanout}");
        let mut builder = Builder::new(long.clone(), fanout).unwrap();
        let count = u64::from(fanout) * u64::from(fanout);
        (0..count).for_each(|_| builder.push([1; 32]).unwrap());
        let tree = builder.finish(&signer).unwrap();
        assert!(tree.root().len() <= packet::MAX_PACKET);
        assert!(tree.root().len() + 3 * 32 > packet::MAX_PACKET, "{}", tree.root().len());
    }
    long.push(Component::generic(&[b'x'; 7000]).as_ref());
    let mut builder = Builder::new(long, 2).unwrap();
    builder.push([1; 32]).unwrap();
    assert!(matches!(builder.finish(&signer()), Err(BuildError::TooBig { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_segment_is_accepted_and_no_other_digest(
        count in 1_u64..5000,
        fanout in 2_u32..24,
        window in 1_u64..700,
        seed: u64,
        flip in 0_usize..256,
    ) {
        let digests = digests(count, seed);
        let tree = build(&digests, fanout);
        let mut verifier = consumer(&tree).with_node_limit(1000);
        prop_assert_eq!(verifier.layout(), tree.layout());
        let mut start = 0;
        while start < count {
            let end = count.min(start + window);
            fetch(&mut verifier, &tree, &digests, start..end);
            for number in start..end {
                let mut digest = digests[number as usize];
                prop_assert_eq!(verifier.check_segment(number, &digest), Check::Verified);
                digest[flip / 8] ^= 1 << (flip % 8);
                let expected = digests[number as usize];
                prop_assert_eq!(
                    verifier.check_segment(number, &digest),
                    Check::Mismatch { expected }
                );
            }
            verifier.forget_before(end);
            start = end;
        }
        prop_assert_eq!(verifier.held(), 0);
    }

    #[test]
    fn no_flipped_bit_in_any_packet_is_accepted(
        count in 1_u64..60,
        fanout in 2_u32..6,
        seed: u64,
        which: prop::sample::Index,
        bit: prop::sample::Index,
    ) {
        let digests = digests(count, seed);
        let tree = build(&digests, fanout);
        let root = tree.layout().root();
        let number = which.index(root as usize + 1) as u64;
        let mut wire = node(&tree, &digests, number);
        let bit = bit.index(wire.len() * 8);
        wire[bit / 8] ^= 1 << (bit % 8);
        // Some flips leave no packet.
        if let Ok(data) = Data::decode(&wire) {
            if number == root {
                let found = Verifier::from_root(object().as_ref(), &data, &policy());
                prop_assert!(found.is_err());
                let found =
                    Verifier::from_digest(object().as_ref(), &data, &tree.root_digest());
                prop_assert!(found.is_err());
            } else {
                let mut verifier = consumer(&tree).with_node_limit(1000);
                let ancestors: Vec<u64> =
                    std::iter::successors(tree.layout().parent_of(number), |node| {
                        tree.layout().parent_of(*node)
                    })
                    .collect();
                for ancestor in ancestors.iter().rev().skip(1) {
                    let wire = node(&tree, &digests, *ancestor);
                    verifier.accept(&Data::decode(&wire).unwrap()).unwrap();
                }
                prop_assert!(verifier.expected_node(number).is_some());
                let held = verifier.held();
                // A flip in the name can turn it into the name of a held node: no effect.
                if let Ok(taken) = verifier.accept(&data) {
                    prop_assert!(taken != number);
                }
                prop_assert_eq!(verifier.held(), held);
            }
        }
    }
}
