//! Matching of Data to Interests; names compare and hash alike in all their forms.

mod support;

use packet::interest_buf::encode_plain_interest;
use packet::{
    Component, Data, DataBuf, DataParts, Interest, InterestBuf, Name, Signature, SignatureInfoBuf,
};
use proptest::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

fn name(text: &str) -> Name {
    text.parse().expect("a valid name")
}

fn satisfies(data: &[u8], wanted: Name, can_be_prefix: bool) -> bool {
    let interest = InterestBuf { can_be_prefix, ..InterestBuf::new(wanted) }.encode();
    let interest = Interest::decode(&interest).expect("a valid Interest");
    Data::decode(data).expect("valid Data").satisfies(&interest)
}

// name.rst, "Implicit Digest Component": [name-4].
#[test]
fn by_name_by_prefix_and_by_digest() {
    let wire = DataBuf::new(name("/a/b"), &b"content"[..]).encode_digest();
    let digest = Data::decode(&wire).expect("valid Data").implicit_digest();
    assert!(satisfies(&wire, name("/a/b"), false));
    assert!(satisfies(&wire, name("/a/b"), true));
    assert!(!satisfies(&wire, name("/a"), false));
    assert!(satisfies(&wire, name("/a"), true));
    assert!(!satisfies(&wire, name("/a/b/c"), true));
    assert!(!satisfies(&wire, name("/a/bb"), true));

    let full = name("/a/b").with(&Component::implicit_digest(digest));
    assert!(satisfies(&wire, full.clone(), false));
    assert!(satisfies(&wire, full.clone(), true));
    let mut other = digest;
    other[31] ^= 1;
    assert!(!satisfies(&wire, name("/a/b").with(&Component::implicit_digest(other)), true));
    assert!(!satisfies(&wire, name("/a").with(&Component::implicit_digest(digest)), true));
    assert!(!satisfies(&wire, full.with(&Component::segment(0)), true));
    // The same bytes under another type are an ordinary component.
    assert!(!satisfies(&wire, name("/a/b").with(&Component::generic(&digest)), true));
}

/// SHA-256 of the whole packet; worked out with `sha256sum`.
// name.rst, "Implicit Digest Component": [name-4].
#[test]
fn the_implicit_digest_is_that_of_the_whole_packet() {
    let wire = support::hex("060f 0703080161 1500 1603 1b0100 1701 00");
    let digest = Data::decode(&wire).expect("valid Data").implicit_digest();
    let expected = support::hex("55d06397c739fee758302d5a03e998a89e013d689c4ab78b8450e79b6fbcc23c");
    assert_eq!(digest[..], expected);
}

// Other projects' programs, "Packets": [peer-12].
#[test]
fn conventions_are_read_in_both_revisions() {
    let old = |marker: u8| Component::generic(&[marker, 1, 0]);
    assert_eq!(old(0x00).as_ref().as_segment_any(), Some(256));
    assert_eq!(old(0xfb).as_ref().as_byte_offset_any(), Some(256));
    assert_eq!(old(0xfc).as_ref().as_timestamp_any(), Some(256));
    assert_eq!(old(0xfd).as_ref().as_version_any(), Some(256));
    assert_eq!(old(0xfe).as_ref().as_sequence_any(), Some(256));
    assert_eq!(old(0xfe).as_ref().as_timestamp_any(), None);
    assert_eq!(Component::byte_offset(9).as_ref().as_byte_offset_any(), Some(9));
    assert_eq!(Component::timestamp(9).as_ref().as_timestamp_any(), Some(9));
    assert_eq!(Component::sequence(9).as_ref().as_sequence_any(), Some(9));
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn names_compare_and_hash_alike(a in support::name(), b in support::name()) {
        prop_assert_eq!(a == b, a.as_ref() == b.as_ref());
        prop_assert_eq!(a.cmp(&b), a.as_ref().cmp(&b.as_ref()));
        prop_assert_eq!(hash(&a), hash(&a.as_ref()));
        let list = |n: &Name| n.as_ref().components().map(|c| c.to_component()).collect::<Vec<_>>();
        prop_assert_eq!(a.cmp(&b), list(&a).cmp(&list(&b)));
        prop_assert_eq!(hash(&list(&a)) == hash(&list(&b)), a == b);
        prop_assert_eq!(a.as_ref().starts_with(b.as_ref()), list(&a).starts_with(&list(&b)));
    }

    #[test]
    fn prefixes_are_what_their_ends_say(name in support::name(), n in 0_usize..8) {
        let view = name.as_ref();
        let prefix = view.prefix(n);
        prop_assert_eq!(prefix.len(), n.min(view.len()));
        prop_assert!(view.starts_with(prefix) && prefix <= view);
        let expected: Name = view.components().take(n).map(|c| c.to_component()).collect();
        prop_assert_eq!(prefix, expected.as_ref());
        let mut ends = view.prefix_ends();
        let end = if n == 0 { Some(0) } else { ends.nth(n - 1) };
        prop_assert_eq!(end.unwrap_or(view.as_bytes().len()), prefix.as_bytes().len());
    }

    /// The short encoders without owned values give the same bytes as the long ones.
    #[test]
    fn both_ways_to_encode_agree(
        prefix in support::name(), last in support::component(), nonce: u32, lifetime: u64,
        data in support::data(), value in support::signature(), room in 0_usize..300,
    ) {
        let mut short = vec![1, 2];
        encode_plain_interest(prefix.as_ref(), last.as_ref(), nonce, lifetime, &mut short);
        let long = InterestBuf {
            nonce: Some(nonce),
            lifetime_ms: Some(lifetime),
            ..InterestBuf::new(prefix.clone().with(&last))
        };
        prop_assert_eq!(&short[2..], &long.encode()[..]);

        let info = SignatureInfoBuf::digest();
        let parts = DataParts {
            name: prefix.as_ref(),
            last: Some(last.as_ref()),
            content_type: data.content_type,
            freshness_ms: data.freshness_ms,
            final_block: data.final_block.as_ref().map(Component::as_ref),
            content: &data.content,
        };
        // A wrong guess of the signature's length only costs time.
        let mut short = vec![1, 2];
        let sign = |_: &[u8]| Signature::new(value.as_bytes());
        parts.encode_into(&info, room, sign, &mut short);
        let long = DataBuf { name: prefix.with(&last), ..data.clone() };
        prop_assert_eq!(&short[2..], &support::encode_data(&long, &info, &value)[..]);
    }
}
