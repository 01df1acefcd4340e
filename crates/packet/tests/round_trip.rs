//! Encoding, decoding and encoding again gives the same bytes.

mod support;

use packet::{Data, DataBuf, Interest, InterestBuf, LpHeader, LpPacket, Name, NameRef};
use packet::{SignatureInfoBuf, tlv};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

fn without_digest(name: &Name) -> Vec<packet::Component> {
    let other = |c: &packet::ComponentRef<'_>| c.typ() != tlv::types::PARAMETERS_DIGEST;
    name.as_ref().components().filter(other).map(|c| c.to_component()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn names(name in support::name()) {
        let mut wire = Vec::new();
        name.encode_into(&mut wire);
        prop_assert_eq!(wire.len(), name.encoded_len());
        let view = NameRef::decode_tlv(&wire).unwrap();
        prop_assert_eq!(view.to_name(), name.clone());
        prop_assert_eq!(view.len(), name.len());
        prop_assert_eq!(name.to_string().parse::<Name>().unwrap(), name);
    }

    /// A text that is accepted means one name, whose canonical text means the same.
    #[test]
    fn texts(text in "(ndn:)?(/([a-z.%=+0-9]|%[0-9A-Fa-f]{2}|seg=|v=|8=|50=){0,6}){0,4}/?") {
        if let Ok(name) = text.parse::<Name>() {
            prop_assert_eq!(name.to_string().parse::<Name>().unwrap(), name);
        }
    }

    // name.rst, "Parameters Digest Component": [name-5]; interest.rst, "ApplicationParameters":
    // [interest-6].
    #[test]
    fn interests(interest in support::interest()) {
        let wire = interest.encode();
        let view = Interest::decode(&wire).unwrap();
        let read = InterestBuf::from_view(&view);
        // Encoding has corrected a parameters digest in the middle of the name.
        prop_assert_eq!(without_digest(&read.name), without_digest(&interest.name));
        prop_assert_eq!(read.name.len(), interest.name.len());
        prop_assert_eq!(&InterestBuf { name: interest.name.clone(), ..read.clone() }, &interest);
        prop_assert_eq!(read.encode(), wire.clone());
        prop_assert!(view.check_parameters_digest());
        prop_assert_eq!(view.lifetime_ms(), interest.lifetime_ms.unwrap_or(4000));
        prop_assert_eq!(view.nonce_at().is_some(), interest.nonce.is_some());
        for (at, nonce) in view.nonce_at().into_iter().zip(view.nonce()) {
            prop_assert_eq!(&wire[at..at + 4], nonce.to_be_bytes());
        }
    }

    /// The signer and the verifier get the same bytes, also with a digest in the middle.
    #[test]
    fn signed_interests(
        mut interest in support::interest(), info in support::signature_info(),
    ) {
        let hash = |pieces: &[&[u8]]| -> [u8; 32] { Sha256::digest(pieces.concat()).into() };
        interest.sign_with(info, |portion| hash(&portion).into());
        let wire = interest.encode();
        let view = Interest::decode(&wire).unwrap();
        prop_assert_eq!(view.signature_value(), Some(&hash(&view.signed_portion())[..]));
        prop_assert!(view.check_parameters_digest());
    }

    #[test]
    fn data(
        data in support::data(),
        info in support::signature_info(),
        value in support::signature(),
    ) {
        let wire = support::encode_data(&data, &info, &value);
        let view = Data::decode(&wire).unwrap();
        prop_assert_eq!(DataBuf::from_view(&view), data.clone());
        prop_assert_eq!(view.signature_value(), value.as_bytes());
        let again = SignatureInfoBuf::from_view(&view.signature_info());
        prop_assert_eq!(&again, &info);
        prop_assert_eq!(support::encode_data(&DataBuf::from_view(&view), &again, &value), wire);
    }

    /// The signer gets the bytes of the packet, whatever the length of its value.
    #[test]
    fn signed_portions_of_data(data in support::data(), value in support::signature()) {
        let (mut out, mut seen) = (vec![9, 9], Vec::new());
        let sign = |portion: &[u8]| { seen = portion.to_vec(); value.clone() };
        data.encode_into(&SignatureInfoBuf::digest(), sign, &mut out);
        let view = Data::decode(&out[2..]).unwrap();
        prop_assert_eq!(view.signed_portion(), &seen[..]);
        let end = tlv::tlv_len(tlv::types::SIGNATURE_VALUE, value.as_bytes().len());
        prop_assert!(out.ends_with(value.as_bytes()) && out.len() > seen.len() + end);
    }

    #[test]
    fn link_headers(header in support::lp_header(), fragment in support::bytes(80)) {
        prop_assume!(!fragment.is_empty() || (header.nack.is_none() && header.frag_count == 0));
        let mut wire = Vec::new();
        header.encode_into(&fragment, &mut wire);
        prop_assert_eq!(wire.len(), header.encoded_len(fragment.len()));
        if header.headers_len() == 0 && !fragment.is_empty() {
            prop_assert_eq!(wire, fragment);
            return Ok(());
        }
        let view = LpPacket::decode(&wire).unwrap();
        prop_assert_eq!(view.fragment().unwrap_or_default(), &fragment[..]);
        let read = LpHeader::from(&view);
        prop_assert_eq!(&read, &header);
        let mut again = Vec::new();
        read.encode_into(&fragment, &mut again);
        prop_assert_eq!(again, wire);
    }

    /// NDNLPv2: header fields are in the order of their types, the fragment is the last.
    // NDNLPv2, "General NDNLPv2 Packet Format": [lp-3], [lp-5].
    #[test]
    fn link_headers_are_in_order(header in support::lp_header()) {
        let mut wire = Vec::new();
        header.encode_into(b"fragment", &mut wire);
        prop_assume!(wire[0] == 0x64);
        let mut reader = tlv::Reader::new(tlv::only(&wire, 0x64).unwrap());
        let mut types = Vec::new();
        while let Some(element) = reader.next_element().unwrap() {
            types.push(element.typ);
        }
        prop_assert_eq!(types.pop(), Some(tlv::types::LP_FRAGMENT));
        types.dedup_by(|a, b| a == b && *a == tlv::types::LP_ACK);
        prop_assert!(types.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", types);
    }
}
