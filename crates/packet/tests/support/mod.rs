//! Random packets of every kind, for property tests, and a walk over all accessors of a view.
#![allow(dead_code, reason = "each test uses the part that it needs")]

use packet::interest_buf::{InterestBuf, InterestSignature};
use packet::{
    Component, Data, DataBuf, HopOptions, Interest, LpHeader, LpPacket, NackReason, Name, NameRef,
    Signature, SignatureInfo, SignatureInfoBuf, SignatureType,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

pub fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=max)
}

/// Numbers of every width, borders included.
pub fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u8>().prop_map(u64::from),
        any::<u16>().prop_map(u64::from),
        any::<u32>().prop_map(u64::from),
        any::<u64>(),
        prop::sample::select(vec![
            0,
            252,
            253,
            255,
            256,
            65_535,
            65_536,
            4_294_967_295,
            4_294_967_296,
            u64::MAX
        ]),
    ]
}

/// Components of every convention, of any type but the digests, and implicit digests.
pub fn component() -> impl Strategy<Value = Component> {
    prop_oneof![
        4 => bytes(12).prop_map(|v| Component::generic(&v)),
        1 => number().prop_map(Component::segment),
        1 => number().prop_map(Component::version),
        1 => number().prop_map(Component::timestamp),
        1 => number().prop_map(Component::sequence),
        1 => number().prop_map(Component::byte_offset),
        1 => bytes(8).prop_map(|v| Component::keyword(&v)),
        1 => any::<[u8; 32]>().prop_map(Component::implicit_digest),
        1 => (3..=u16::MAX, bytes(300)).prop_map(|(t, v)| Component::new(t, &v)),
    ]
}

/// Names of up to 6 components, including the empty name.
pub fn name() -> impl Strategy<Value = Name> {
    vec(component(), 0..=6).prop_map(Name::from_iter)
}

/// Names of an Interest: with a component, and perhaps with a digest in the middle.
pub fn interest_name(with_parameters: bool) -> impl Strategy<Value = Name> {
    let digest = option::weighted(0.3, any::<[u8; 32]>());
    let parts = (vec(component(), 0..=3), digest, vec(component(), 1..=3));
    parts.prop_map(move |(before, digest, after)| {
        let digest = digest.filter(|_| with_parameters).map(Component::parameters_digest);
        before.into_iter().chain(digest).chain(after).collect()
    })
}

pub fn signature_type() -> impl Strategy<Value = SignatureType> {
    prop_oneof![Just(0), Just(1), Just(3), Just(4), Just(5), Just(200), number()]
        .prop_map(SignatureType::from)
}

/// For Interests and Data, with all known elements.
pub fn signature_info() -> impl Strategy<Value = SignatureInfoBuf> {
    (
        (signature_type(), option::of(name())),
        (option::of(vec(any::<u8>(), 1..=9)), option::of(number()), option::of(number())),
    )
        .prop_map(|((typ, locator), (nonce, time, sequence))| {
            let info = SignatureInfoBuf::new(typ, locator);
            let info = nonce.into_iter().fold(info, |info, n| info.with_nonce(&n));
            let info = time.into_iter().fold(info, SignatureInfoBuf::with_time_ms);
            sequence.into_iter().fold(info, SignatureInfoBuf::with_sequence)
        })
}

/// Values with the lengths of signatures, the longest above the size kept without allocation.
pub fn signature() -> impl Strategy<Value = Signature> {
    prop_oneof![vec(any::<u8>(), 0..=72), vec(any::<u8>(), 256)].prop_map(|v| Signature::new(&v))
}

pub fn interest() -> impl Strategy<Value = InterestBuf> {
    let parameters = option::of((bytes(300), option::of((signature_info(), signature()))));
    parameters.prop_flat_map(|parameters| {
        let fields = (
            interest_name(parameters.is_some()),
            (any::<bool>(), any::<bool>()),
            vec(name(), 0..=2),
            (option::of(any::<u32>()), option::of(number()), option::of(any::<u8>())),
        );
        (fields, Just(parameters)).prop_map(|((name, flags, hint, guiders), parameters)| {
            let (parameters, signature) = parameters.unzip();
            InterestBuf {
                name,
                can_be_prefix: flags.0,
                must_be_fresh: flags.1,
                forwarding_hint: hint,
                nonce: guiders.0,
                lifetime_ms: guiders.1,
                hop_limit: guiders.2,
                parameters: parameters.map(Into::into),
                signature: signature
                    .flatten()
                    .map(|(info, value)| InterestSignature { info, value }),
            }
        })
    })
}

pub fn data() -> impl Strategy<Value = DataBuf> {
    let meta = (number(), option::of(number()), option::of(component()));
    (name(), meta, prop_oneof![bytes(300), bytes(2000)]).prop_map(|(name, meta, content)| DataBuf {
        name,
        content_type: meta.0,
        freshness_ms: meta.1,
        final_block: meta.2,
        content: content.into(),
    })
}

pub fn options() -> impl Strategy<Value = HopOptions> {
    vec((213_u32..=239, bytes(24)), 0..=4).prop_map(|list| {
        let mut options = HopOptions::new();
        for (quarter, value) in list {
            assert!(options.set_raw(4 * quarter, &value));
        }
        options
    })
}

/// A link header; one with a Nack or with fragments needs a fragment that is not empty.
pub fn lp_header() -> impl Strategy<Value = LpHeader> {
    let fragments = option::of(
        (any::<u64>(), 2_u64..400)
            .prop_flat_map(|(sequence, count)| (Just(sequence), 0..count, Just(count))),
    );
    let ids = (option::of(number()), option::of(number()), option::of(any::<u64>()));
    let flags = (any::<bool>(), any::<bool>(), number());
    let parts = (
        fragments,
        (bytes(32), option::of(number().prop_map(NackReason::from))),
        ids,
        flags,
        (vec(any::<u64>(), 0..5), option::of(bytes(60)), options()),
    );
    parts.prop_map(|(fragments, (token, nack), ids, flags, (acks, announcement, options))| {
        let (sequence, frag_index, frag_count) = fragments.unwrap_or((0, 0, 0));
        LpHeader {
            sequence: (frag_count > 0).then_some(sequence),
            frag_index,
            frag_count,
            pit_token: token.into(),
            nack,
            incoming_face_id: ids.0,
            next_hop_face_id: ids.1,
            no_cache: flags.0,
            congestion_mark: flags.2,
            acks,
            tx_sequence: ids.2,
            non_discovery: flags.1,
            prefix_announcement: announcement.map(Into::into),
            options,
        }
    })
}

/// The packet, signed with `value`.
pub fn encode_data(data: &DataBuf, info: &SignatureInfoBuf, value: &Signature) -> Vec<u8> {
    let mut out = Vec::new();
    data.encode_into(info, |_| value.clone(), &mut out);
    out
}

fn walk_name(name: NameRef<'_>) {
    assert_eq!(name.components().count(), name.len());
    assert_eq!(name.components().rev().count(), name.len());
    assert_eq!(name.prefix_ends().count(), name.len());
    assert!(name.starts_with(name.parent()) && name.to_name().as_ref() == name);
    let _ = (name.first(), name.last(), name.to_string());
}

fn walk_info(info: SignatureInfo<'_>) {
    let _ = (info.signature_type(), info.key_locator(), info.nonce(), info.time_ms());
    let _ = (info.sequence(), info.element(253), SignatureInfoBuf::from_view(&info));
}

/// Calls every accessor of every possible view of `wire`; none may panic.
pub fn walk(wire: &[u8]) {
    if let Ok(name) = NameRef::decode(wire) {
        walk_name(name);
    }
    if let Ok(interest) = Interest::decode(wire) {
        walk_name(interest.name());
        interest.forwarding_hint().for_each(walk_name);
        interest.signature_info().into_iter().for_each(walk_info);
        let _ = (interest.signed_portion(), interest.check_parameters_digest());
        assert!(interest.nonce_at().is_none_or(|at| at + 4 <= wire.len()));
        assert!(interest.hop_limit_at().is_none_or(|at| Some(wire[at]) == interest.hop_limit()));
        assert!(Interest::decode(&InterestBuf::from_view(&interest).encode()).is_ok());
    }
    if let Ok(data) = Data::decode(wire) {
        walk_name(data.name());
        walk_info(data.signature_info());
        assert_eq!(DataBuf::from_view(&data).content, data.content());
        let _ = (data.signed_portion(), data.signature_value(), data.implicit_digest());
    }
    if let Ok(link) = LpPacket::decode(wire) {
        let header = LpHeader::from(&link);
        let fragment = link.fragment().unwrap_or_default();
        let mut out = Vec::new();
        header.encode_into(fragment, &mut out);
        assert_eq!(out.len(), header.encoded_len(fragment.len()));
        // Without any header the fragment is alone, and may have any type.
        if header.headers_len() > 0 || fragment.is_empty() {
            let again = LpPacket::decode(&out).expect("what is written can be read");
            assert_eq!(LpHeader::from(&again), header);
            assert_eq!(again.fragment().unwrap_or_default(), fragment);
        }
    }
}

/// The bytes of a text of hexadecimal digits; spaces are ignored.
pub fn hex(text: &str) -> Vec<u8> {
    let digit = |c: char| c.to_digit(16).expect("a hexadecimal digit") as u8;
    let digits: Vec<u8> = text.chars().filter(|c| !c.is_whitespace()).map(digit).collect();
    assert!(digits.len().is_multiple_of(2), "an odd number of digits: {text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
