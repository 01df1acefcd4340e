use packet::Name;

use super::*;
use crate::base64_text;

/// Compiled by `tests/interop/python-ndn/vectors.py`, which contains its text.
fn bytes() -> Vec<u8> {
    base64_text::decode(include_str!("../../../tests/python-ndn/model.b64")).unwrap().to_vec()
}

#[test]
fn the_verdicts_are_those_of_python_ndn() {
    let model = LightVerSec::decode(&bytes()).unwrap();
    let ann = "/blog/author/ann/KEY/1/up/v=1";
    let zoe = "/blog/admin/zoe/KEY/1/up/v=1";
    let root = "/blog/KEY/1/self/v=1";
    for (packet, certificate, expected) in [
        ("/blog/article/ann/v=3/x", ann, true),
        ("/blog/article/ann/3/x", ann, false),
        ("/blog/article/ben/v=3/x", ann, false),
        ("/blog/article/ann/v=3/x", zoe, false),
        (ann, zoe, true),
        (ann, root, false),
        ("/blog/author/eve/KEY/1/up/v=1", zoe, false),
        (zoe, root, true),
        ("/blog/article/ann/v=3", ann, false),
    ] {
        let [packet, certificate] = [packet, certificate].map(|uri| uri.parse::<Name>().unwrap());
        let found = model.allows(packet.as_ref(), certificate.as_ref());
        assert_eq!(found, expected, "{packet} by {certificate}");
    }
}

#[test]
fn invalid_models_are_rejected() {
    let good = bytes();
    assert!(matches!(LightVerSec::decode(&[]), Err(ModelError::Shape(_))));
    assert!(matches!(LightVerSec::decode(&good[..good.len() - 1]), Err(ModelError::Tlv(_))));
    let mut newer = good.clone();
    let at = newer.windows(4).position(|bytes| bytes == [0, 1, 0x10, 0]).unwrap();
    newer[at + 1] = 2;
    assert_eq!(LightVerSec::decode(&newer), Err(ModelError::Version(0x0002_1000)));
    let function = include_str!("../../../tests/python-ndn/function.b64");
    let function = base64_text::decode(function).unwrap();
    assert_eq!(LightVerSec::decode(&function), Err(ModelError::Function("$mine".into())));
}

#[test]
fn edges_that_lead_in_circles_are_rejected() {
    // The first edge leads back to the start.
    let mut circle = bytes();
    let at = circle.windows(3).position(|bytes| bytes == [0x25, 1, 1]).unwrap();
    circle[at + 2] = 0;
    assert!(matches!(LightVerSec::decode(&circle), Err(ModelError::Shape(_))));
    // And one to nowhere.
    circle[at + 2] = 200;
    assert!(matches!(LightVerSec::decode(&circle), Err(ModelError::Shape(_))));
}

fn element(typ: u64, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    packet::tlv::put_tlv(&mut out, typ, value);
    out
}

/// A pattern of node `to` with a tag and, in a constraint, one option.
fn edge(to: u8, tag: u8, option: Option<Vec<u8>>) -> Vec<u8> {
    let constraint = option.map(|option| element(0x43, &element(0x41, &option)));
    let constraint = constraint.unwrap_or_default();
    element(0x53, &[element(0x25, &[to]), element(0x23, &[tag]), constraint].concat())
}

/// A model of nodes in order, each with its edges and its signing nodes; tags up to 1 store their
/// values.
fn model(nodes: &[(Vec<u8>, &[u8])]) -> LightVerSec {
    let mut wire = element(0x61, &[0, 1, 0x10, 0]);
    wire.extend([element(0x25, &[0]), element(0x69, &[1])].concat());
    for (id, (edges, signers)) in nodes.iter().enumerate() {
        let mut node = element(0x25, &[id as u8]);
        node.extend_from_slice(edges);
        signers.iter().for_each(|signer| node.extend(element(0x55, &[*signer])));
        wire.extend(element(0x63, &node));
    }
    LightVerSec::decode(&wire).unwrap()
}

fn allows(model: &LightVerSec, packet: &str, certificate: &str) -> bool {
    let [packet, certificate] = [packet, certificate].map(|uri| uri.parse::<Name>().unwrap());
    model.allows(packet.as_ref(), certificate.as_ref())
}

#[test]
fn only_named_patterns_stand_for_the_same_in_packet_and_key() {
    // One component, signed by a key of the same form.
    for (tag, other_is_good) in [(1, false), (2, true), (3, true)] {
        let one = model(&[(edge(1, tag, None), &[]), (Vec::new(), &[1])]);
        assert!(allows(&one, "/a", "/a"), "{tag}");
        assert_eq!(allows(&one, "/a", "/b"), other_is_good, "{tag}");
        assert!(!allows(&one, "/a/b", "/a"), "{tag}");
    }
}

#[test]
fn an_option_of_a_constraint_compares_with_what_a_pattern_stands_for() {
    // Two components, the second of which has to be as the first: by its tag, or by a function.
    let tag = |tag: u8| element(0x23, &[tag]);
    let call = |name: &[u8]| element(0x31, &[element(0x27, name), element(0x33, &tag(1))].concat());
    for (option, name, expected) in [
        (tag(1), "/x/x", true),
        (tag(1), "/x/y", false),
        (call(b"$eq"), "/x/x", true),
        (call(b"$eq"), "/x/y", false),
        (call(b"$eq_type"), "/x/y", true),
        (call(b"$eq_type"), "/x/v=1", false),
    ] {
        let second = model(&[
            (edge(1, 1, None), &[]),
            (edge(2, 2, Some(option.clone())), &[]),
            (Vec::new(), &[2]),
        ]);
        assert_eq!(allows(&second, name, name), expected, "{option:?} {name}");
    }
}
