//! Any network input is decoded or rejected with an error, without a panic.

mod support;

use packet::{Data, Interest, LpPacket, NameRef, SignatureInfoBuf, tlv};
use proptest::prelude::*;

/// Tries every decoder.
fn rejected_everywhere(wire: &[u8]) -> bool {
    support::walk(wire);
    Interest::decode(wire).is_err()
        && Data::decode(wire).is_err()
        && LpPacket::decode(wire).is_err()
}

/// A valid packet of any kind, whole.
fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        support::interest().prop_map(|interest| interest.encode().to_vec()),
        (support::data(), support::signature_info(), support::signature())
            .prop_map(|(data, info, value)| support::encode_data(&data, &info, &value)),
        (support::lp_header(), support::interest()).prop_map(|(header, interest)| {
            let mut out = Vec::new();
            header.encode_into(&interest.encode(), &mut out);
            out
        }),
    ]
}

/// Elements with known types, in any order and nesting, with any values.
fn elements() -> impl Strategy<Value = Vec<u8>> {
    let types = prop_oneof![
        1_u64..64,
        80_u64..101,
        prop::sample::select(vec![800_u64, 801, 812, 816, 820, 821, 832, 836, 840, 844, 848, 864]),
    ];
    let leaf = (types.clone(), support::bytes(9)).prop_map(|(typ, value)| {
        let mut out = Vec::new();
        tlv::put_tlv(&mut out, typ, &value);
        out
    });
    leaf.prop_recursive(4, 40, 6, move |inner| {
        (types.clone(), prop::collection::vec(inner, 0..6)).prop_map(|(typ, parts)| {
            let mut out = Vec::new();
            tlv::put_tlv(&mut out, typ, &parts.concat());
            out
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_packet_cut_anywhere_is_rejected(wire in any_packet()) {
        prop_assert!(!rejected_everywhere(&wire));
        for cut in 0..wire.len() {
            prop_assert!(rejected_everywhere(&wire[..cut]), "{} of {} bytes", cut, wire.len());
        }
    }

    // Other projects' programs, "Faces": [peer-5].
    #[test]
    fn a_packet_with_bytes_behind_it_is_rejected(wire in any_packet(), more in 1_usize..4) {
        prop_assert!(rejected_everywhere(&[&wire[..], &[0x24, 0, 0][..more]].concat()));
    }

    #[test]
    fn one_wrong_byte_never_panics(wire in any_packet(), flip in 1_u8..=255) {
        for at in 0..wire.len() {
            let mut broken = wire.clone();
            broken[at] ^= flip;
            support::walk(&broken);
        }
    }

    #[test]
    fn bytes_put_in_or_left_out_never_panic(
        wire in any_packet(),
        at: prop::sample::Index,
        more in support::bytes(5),
        fewer in 0_usize..5,
    ) {
        let at = at.index(wire.len());
        let end = wire.len().min(at + fewer);
        support::walk(&[&wire[..at], &more, &wire[end..]].concat());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(wire in support::bytes(200), kind in 0_usize..4) {
        support::walk(&wire);
        let mut framed = Vec::new();
        tlv::put_tlv(&mut framed, [5, 6, 7, 100][kind], &wire);
        support::walk(&framed);
    }

    #[test]
    fn random_elements_never_panic(
        parts in prop::collection::vec(elements(), 0..8),
        kind in 0_usize..4,
    ) {
        let parts = parts.concat();
        let mut framed = Vec::new();
        tlv::put_tlv(&mut framed, [5, 6, 7, 100][kind], &parts);
        support::walk(&framed);
        // After a name, more of it is decoded.
        let mut named = Vec::new();
        tlv::put_tlv(&mut named, [5, 6, 5, 6][kind], &[&[7, 3, 8, 1, b'a'], &parts[..]].concat());
        support::walk(&named);
    }

    #[test]
    fn a_stream_is_cut_or_rejected(buffer in support::bytes(40), max in 0_usize..9000) {
        let known = |len| tlv::frame_len(&buffer[..len], max);
        let whole = known(buffer.len());
        if let Ok(Some(len)) = whole {
            prop_assert!((2..=max).contains(&len));
        }
        // More bytes do not change a result.
        for len in 0..buffer.len() {
            prop_assert!(known(len) == Ok(None) || known(len) == whole);
        }
    }
}

// Other projects' programs, "Faces": [peer-4].
#[test]
fn packets_larger_than_the_limit_are_rejected() {
    let data = |content: usize| {
        let data = packet::DataBuf::new("/a".parse().unwrap(), vec![0; content]);
        support::encode_data(&data, &SignatureInfoBuf::digest(), &[0; 32].into())
    };
    let overhead = data(8000).len() - 8000;
    let largest = data(packet::MAX_PACKET - overhead);
    assert_eq!(largest.len(), packet::MAX_PACKET);
    assert!(Data::decode(&largest).is_ok());
    let error = Data::decode(&data(packet::MAX_PACKET - overhead + 1)).unwrap_err();
    assert_eq!(error.fault, tlv::Fault::TooLarge(8801));
    assert_eq!(
        error.to_string(),
        "malformed Data at byte 0: it has 8801 bytes, more than are accepted"
    );

    let mut interest = packet::InterestBuf::new("/a".parse().unwrap());
    interest.parameters = Some(vec![0; packet::MAX_PACKET].into());
    let error = Interest::decode(&interest.encode()).unwrap_err();
    assert!(matches!(error.fault, tlv::Fault::TooLarge(_)));
}

/// Lengths that lie about the following bytes, up to the largest possible number.
#[test]
fn lengths_beyond_the_end_are_rejected() {
    for length in [&[0x7f][..], &[0xfd, 0xff, 0xff], &[0xfe, 255, 255, 255, 255], &[0xff; 9]] {
        for typ in [5, 6, 7, 8, 100] {
            let wire = [&[typ], length, &[8, 1, b'a']].concat();
            assert!(rejected_everywhere(&wire) && NameRef::decode(&wire).is_err());
        }
    }
}
