//! Names and packets that collide often enough to be interesting.

use bytes::Bytes;
use packet::{Component, Data, DataBuf, InterestBuf, Name};
use proptest::prelude::*;

/// Names of up to four components from an alphabet of three.
pub fn name() -> impl Strategy<Value = Name> {
    prop::collection::vec(0u8..3, 0..5)
        .prop_map(|letters| letters.into_iter().map(|l| Component::generic(&[b'a' + l])).collect())
}

/// As [`name`], and with at least one component.
pub fn full_name() -> impl Strategy<Value = Name> {
    prop::collection::vec(0u8..3, 1..5)
        .prop_map(|letters| letters.into_iter().map(|l| Component::generic(&[b'a' + l])).collect())
}

/// A Data packet whose bytes depend on its arguments alone.
pub fn data(name: &Name, variant: u8, size: usize, freshness_ms: Option<u64>) -> Bytes {
    let mut data = DataBuf::new(name.clone(), vec![variant; size]);
    data.freshness_ms = freshness_ms;
    data.encode_digest()
}

/// An Interest; `of` asks for the Data with these bytes by its digest.
pub fn interest(
    name: &Name,
    can_be_prefix: bool,
    must_be_fresh: bool,
    of: Option<&Bytes>,
) -> Bytes {
    let mut name = name.clone();
    if let Some(wire) = of {
        let digest = Data::decode(wire).unwrap().implicit_digest();
        name.push(Component::implicit_digest(digest).as_ref());
    }
    let mut interest = InterestBuf::new(name);
    interest.can_be_prefix = can_be_prefix;
    interest.must_be_fresh = must_be_fresh;
    interest.nonce = Some(1);
    interest.encode()
}
