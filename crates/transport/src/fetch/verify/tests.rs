use super::*;
use packet::{DataBuf, Name};
use security::manifest::{Builder, Children, Tree};
use security::{SecretKey, Signer, TrustedKey};

const LIMIT: Size = Size(10_000);
const SEGMENT: Size = Size(1000);

fn object() -> Name {
    "/a/file/v=7".parse().expect("a name")
}

fn digest(segment: u64) -> Digest {
    [segment as u8; 32]
}

/// A manifest of `segments` segments with a fanout of two.
fn tree(segments: u64) -> Tree {
    let mut builder = Builder::new(object(), 2).expect("two is a fan-out");
    (0..segments).for_each(|n| builder.push(digest(n)).expect("it fits"));
    builder.finish(&Signer::Digest).expect("it fits")
}

fn verification() -> Verification {
    Verification::new(TrustPolicy::DigestOnly, LIMIT)
}

fn announced(tree: &Tree) -> Verification {
    let mut verification = verification();
    verification.announce(tree.announcement());
    verification
}

fn offer(verification: &mut Verification, tree: &Tree, number: u64) -> Result<(), ManifestError> {
    let mut wire = Vec::new();
    match tree.layout().children(number).expect("there is such a node") {
        Children::Segments(run) => {
            let digests: Vec<_> = run.map(digest).collect();
            tree.encode_leaf(number, &digests, &mut wire).expect("as it was published");
        }
        Children::Nodes(_) => tree.encode_inner(number, &mut wire).expect("there is such a node"),
    }
    verification.node(object().as_ref(), number, &Data::decode(&wire).expect("a packet"))
}

#[test]
fn of_nodes_that_come_early_64_are_kept() {
    // 130 segments: leaves 0 to 64, nodes 65 to 97 above them, and so on.
    let tree = tree(130);
    let mut verification = announced(&tree);
    assert!(verification.has_manifest());
    for leaf in 0..65 {
        assert_eq!(offer(&mut verification, &tree, leaf), Ok(()));
    }
    assert!(!verification.nodes_for(126..127).contains(&63), "the 64th is there");
    assert!(verification.nodes_for(128..129).contains(&64), "the 65th is asked for again");
    // Kept nodes are used as soon as their parents have arrived.
    for node in (65..=tree.layout().root()).rev() {
        assert_eq!(offer(&mut verification, &tree, node), Ok(()));
    }
    for segment in 0..128 {
        assert!(verification.is_ready(segment), "{segment}");
        assert_eq!(verification.check(segment, &digest(segment)), Verdict::Verified);
    }
    assert!(!verification.is_ready(128));
    assert_eq!(verification.nodes_for(0..130), [64]);
}

#[test]
fn early_nodes_are_bounded_behind_the_root_too() {
    let tree = tree(130);
    let mut verification = announced(&tree);
    let root = tree.layout().root();
    assert_eq!(offer(&mut verification, &tree, root), Ok(()));
    for leaf in 0..65 {
        assert_eq!(offer(&mut verification, &tree, leaf), Ok(()));
    }
    for node in (65..root).rev() {
        assert_eq!(offer(&mut verification, &tree, node), Ok(()));
    }
    assert_eq!(verification.nodes_for(0..130), [64]);
}

/// True if the stash has room for exactly `left` more bytes.
fn has_left(verification: &Verification, left: u64) {
    assert!(verification.has_room(1, Size(left - 1)), "{left} bytes are left");
    assert!(!verification.has_room(1, Size(left)), "no more than {left} bytes are left");
}

#[test]
fn stashed_segments_take_room_until_they_are_taken() {
    let mut verification = verification();
    assert!(!verification.has_manifest());
    has_left(&verification, 10_000);
    assert!(verification.has_room(9, SEGMENT) && !verification.has_room(10, SEGMENT));
    verification.stash(5, &[1; 1000], None);
    has_left(&verification, 9000);
    // Another packet of the segment replaces the first.
    verification.stash(5, &[2; 600], None);
    has_left(&verification, 9400);
    verification.stash(6, &[3; 100], Some(digest(6)));
    has_left(&verification, 9300);
    assert_eq!(verification.take(5), Some(Bytes::from(vec![2; 600])));
    assert_eq!(verification.take(5), None);
    has_left(&verification, 9900);
    let mut done = RangeSet::new();
    done.insert(0..7);
    verification.stash(7, &[4; 50], None);
    verification.forget_stashed(&done);
    has_left(&verification, 9950);
    assert!(!verification.is_stashed(6) && verification.is_stashed(7));
}

#[test]
fn segments_awaiting_a_certificate_take_room_until_verified() {
    let mut verification = verification();
    assert!(verification.is_ready(0));
    verification.wait(0, &[1; 1000]);
    verification.wait(0, &[2; 700]);
    verification.wait(1, &[3; 200]);
    has_left(&verification, 9100);
    assert!(verification.is_stashed(0) && !verification.is_stashed(2));
    assert!(!verification.is_ready(0), "nothing is handed on meanwhile");
    let waited: Vec<_> = verification.take_waiting().into_iter().collect();
    assert_eq!(waited, [(0, Bytes::from(vec![2; 700])), (1, Bytes::from(vec![3; 200]))]);
    has_left(&verification, 10_000);
    assert!(verification.is_ready(0));
}

#[test]
fn the_stash_holds_so_many_segments_and_two_at_least() {
    let verification = verification();
    assert_eq!(verification.capacity(SEGMENT), 10);
    assert_eq!(verification.capacity(Size(9999)), 2);
    assert_eq!(verification.capacity(Size(0)), 10_000);
}

#[test]
fn a_segment_is_ready_once_its_leaf_is_there() {
    // Leaves 0 and 1, and the root 2.
    let tree = tree(4);
    let mut verification = announced(&tree);
    assert!(!verification.is_ready(0), "its manifest is announced and not there");
    assert_eq!(offer(&mut verification, &tree, 2), Ok(()));
    assert!(!verification.is_ready(0));
    assert_eq!(offer(&mut verification, &tree, 0), Ok(()));
    assert!(verification.is_ready(0) && !verification.is_ready(2));
    verification.forget_before(2);
    assert!(!verification.is_ready(0), "nobody needs it any more");
}

#[test]
fn only_verified_segments_determine_the_length_of_the_object() {
    let mut verification = verification();
    verification.stash(3, &[1; 500], Some(digest(3)));
    assert!(!verification.has_verified(4, 500), "it may be anything");
    verification.stash(3, &[1; 500], None);
    assert!(verification.has_verified(4, 500));
    assert!(!verification.has_verified(3, 500) && !verification.has_verified(4, 499));
}

#[test]
fn forged_items_are_requested_alone_until_they_are_complete() {
    let mut verification = verification();
    let (known, unknown, node) = (Item::Segment(2), Item::Segment(3), Item::Node(1));
    assert_eq!(verification.count_forged(known, Some(digest(9)), None), 1);
    assert_eq!(verification.count_forged(known, None, None), 2);
    assert_eq!(verification.count_forged(unknown, None, Some(&digest(8))), 1);
    verification.count_forged(node, Some(digest(7)), None);
    // It is requested by its digest if known, otherwise with the forged packet excluded.
    assert_eq!(verification.ask_by_digest(known), Some(digest(9)));
    assert!(verification.excluded(known).is_none());
    assert_eq!(verification.ask_by_digest(unknown), None);
    assert!(verification.excluded(unknown).is_some_and(|e| e.excludes(&digest(8))));
    let alone = [1, 2, 3, 4].map(|segment| verification.is_asked_alone(segment));
    assert_eq!(alone, [false, true, true, false]);
    verification.forget_before(3);
    assert!(!verification.is_asked_alone(2) && verification.is_asked_alone(3));
    assert_eq!(verification.ask_by_digest(node), Some(digest(7)), "it covers more than those");
}

#[test]
fn an_object_proves_what_the_least_of_its_segments_does() {
    let keys = [1, 2].map(|seed| SecretKey::ed25519(&[seed; 32]));
    let name = |n: usize| format!("/a/KEY/{n}").parse::<Name>().expect("a name");
    let trusted = |n: usize| TrustedKey::new(name(n), keys[n].public(), Name::new());
    let policy = TrustPolicy::AnySigned(vec![trusted(0), trusted(1)]);
    let mut verification = Verification::new(policy, LIMIT);
    let mut judge = |signer: &Signer| {
        let mut wire = Vec::new();
        signer.encode(&DataBuf::new(object(), b"hello".to_vec()), &mut wire);
        let verdict = verification.judge(0, &Data::decode(&wire).expect("a packet"));
        (verdict, verification.proof().cloned())
    };
    let by = |n: usize| Signer::Key { secret: keys[n].clone(), key_locator: name(n) };
    let unknown = Signer::Key { secret: keys[0].clone(), key_locator: name(9) };
    for (signer, proof) in [
        (by(0), Proof::Key(name(0))),
        // It is as strong as the first proof, which is kept.
        (by(1), Proof::Key(name(0))),
        (Signer::Digest, Proof::Digest),
        (by(0), Proof::Digest),
        (unknown, Proof::Unchecked),
        (Signer::Digest, Proof::Unchecked),
    ] {
        assert_eq!(judge(&signer), (Verdict::Verified, Some(proof)));
    }
}
