use packet::Name;

use super::*;
use crate::base64_text;

/// Compiled by `tests/interop/python-ndn/vectors.py`, where its text is.
fn octets() -> Vec<u8> {
    base64_text::decode(include_str!("../../../tests/python-ndn/model.b64")).unwrap().to_vec()
}

#[test]
fn the_verdicts_are_those_of_python_ndn() {
    let model = LightVerSec::decode(&octets()).unwrap();
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
fn what_is_no_model() {
    let good = octets();
    assert!(matches!(LightVerSec::decode(&[]), Err(ModelError::Shape(_))));
    assert!(matches!(LightVerSec::decode(&good[..good.len() - 1]), Err(ModelError::Tlv(_))));
    let mut newer = good.clone();
    let at = newer.windows(4).position(|octets| octets == [0, 1, 0x10, 0]).unwrap();
    newer[at + 1] = 2;
    assert_eq!(LightVerSec::decode(&newer), Err(ModelError::Version(0x0002_1000)));
    let function = include_str!("../../../tests/python-ndn/function.b64");
    let function = base64_text::decode(function).unwrap();
    assert_eq!(LightVerSec::decode(&function), Err(ModelError::Function("$mine".into())));
}

#[test]
fn edges_that_lead_in_circles_are_refused() {
    // The first edge leads back to the start.
    let mut circle = octets();
    let at = circle.windows(3).position(|octets| octets == [0x25, 1, 1]).unwrap();
    circle[at + 2] = 0;
    assert!(matches!(LightVerSec::decode(&circle), Err(ModelError::Shape(_))));
    // And one to nowhere.
    circle[at + 2] = 200;
    assert!(matches!(LightVerSec::decode(&circle), Err(ModelError::Shape(_))));
}
