//! Packets that other NDN programs sent, recorded between ndnd 31822ab2 and python-ndn 0.5.2.

mod support;

use packet::{
    Component, Data, Interest, InterestBuf, LpHeader, LpPacket, NackReason, Name, SignatureType,
    tlv,
};
use sha2::{Digest as _, Sha256};
use support::hex;

/// python-ndn: `NDNApp.register('/hello')`.
const REGISTER: &str = "
    0597 074e 08096c6f63616c686f7374 08036e6664 0803726962 08087265676973746572
    080b 6809 0707 080568656c6c6f
    0220 865ee4cdbb28ce3c172544ee8fc43e44a4a3c70177d87e3dc113aac8b2660b47
    0a0401020304 0c0203e8 2400 2c17 1b0100 26088f1d77dd3b05dd19 2808000001a1f84707a8
    2e20 2a32b2d81f4d89e9322ea07f615fef4d288868deb383446082a6830ae5780e05";

/// ndnd: `cat /demo/file` requests the metadata.
const DISCOVERY: &str =
    "0526 0716 080464656d6f 080466696c65 20086d65746164617461 2100 1200 0a0401020304 0c0203e8";

fn digest(pieces: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha256::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    hash.finalize().to_vec()
}

// signed-interest.rst, "Signed Interest": [signed-interest-1].
#[test]
fn the_register_command_of_python_ndn() {
    let wire = hex(REGISTER);
    let interest = Interest::decode(&wire).unwrap();
    let name = interest.name();
    assert_eq!(
        name.to_string(),
        "/localhost/nfd/rib/register/h%09%07%07%08%05hello/params-sha256=\
         865ee4cdbb28ce3c172544ee8fc43e44a4a3c70177d87e3dc113aac8b2660b47"
    );
    assert!(!interest.can_be_prefix() && !interest.must_be_fresh());
    assert_eq!(interest.nonce(), Some(0x0102_0304));
    assert_eq!((interest.lifetime_ms(), interest.hop_limit()), (1000, None));
    assert_eq!(interest.parameters(), Some(&[][..]));
    assert!(interest.check_parameters_digest());

    let info = interest.signature_info().unwrap();
    assert_eq!(info.signature_type(), SignatureType::DigestSha256);
    assert_eq!(info.key_locator(), None);
    assert_eq!(info.nonce(), Some(&hex("8f1d77dd3b05dd19")[..]));
    assert_eq!((info.time_ms(), info.sequence()), (Some(0x01a1_f847_07a8), None));
    assert_eq!(interest.signature_value().unwrap(), digest(&interest.signed_portion()));

    // The component that carries ControlParameters holds a Name element.
    let parameters = name.get(4).unwrap().value();
    let parameters = tlv::only(parameters, 0x68).unwrap();
    assert_eq!(packet::NameRef::decode_tlv(parameters).unwrap().to_string(), "/hello");

    let again = InterestBuf::from_view(&interest);
    assert_eq!(again.name.to_string(), "/localhost/nfd/rib/register/h%09%07%07%08%05hello");
    assert_eq!(again.encode(), wire);
}

// signed-interest.rst, "Processing, 1": [signed-interest-2].
#[test]
fn a_register_command_with_another_byte_is_noticed() {
    let wire = hex(REGISTER);
    let parameters_at = 2 + 2 + 0x4e + 6 + 4;
    assert_eq!(wire[parameters_at..parameters_at + 2], [0x24, 0]);
    for at in parameters_at..wire.len() {
        let mut broken = wire.clone();
        broken[at] ^= 1;
        if let Ok(interest) = Interest::decode(&broken) {
            assert!(!interest.check_parameters_digest(), "byte {at}");
        }
    }
}

#[test]
fn the_discovery_of_ndnd_cat() {
    let wire = hex(DISCOVERY);
    let interest = Interest::decode(&wire).unwrap();
    assert_eq!(interest.name().to_string(), "/demo/file/32=metadata");
    assert!(interest.name().last().unwrap().is_keyword(b"metadata"));
    assert!(interest.can_be_prefix() && interest.must_be_fresh());
    assert_eq!(interest.lifetime_ms(), 1000);
    assert_eq!((interest.nonce_at(), wire.len()), (Some(2 + 24 + 4 + 2), 40));
    let again = InterestBuf {
        can_be_prefix: true,
        must_be_fresh: true,
        nonce: Some(0x0102_0304),
        lifetime_ms: Some(1000),
        ..InterestBuf::new("/demo/file/32=metadata".parse().unwrap())
    };
    assert_eq!(again.encode(), wire);
}

#[test]
fn a_segment_that_ndnd_cat_asks_for() {
    let wire = hex("0521 0719 080464656d6f 080466696c65 3608000660b1d7673372 320100 0a0401020304");
    let interest = Interest::decode(&wire).unwrap();
    assert_eq!(interest.name().to_string(), "/demo/file/v=1795166799606642/seg=0");
    let last_but_one = interest.name().components().rev().nth(1).unwrap();
    assert_eq!(last_but_one.as_version(), Some(0x0006_60b1_d767_3372));
    assert_eq!(interest.stated_lifetime_ms(), None);
    assert_eq!(interest.lifetime_ms(), 4000);
    assert_eq!(InterestBuf::from_view(&interest).encode(), wire);
}

/// ndnd's forwarder always puts a PIT token of six bytes before a packet to an application.
#[test]
fn a_pit_token_of_ndnd() {
    let wire = [hex("6432 6206 000000000000 5028"), hex(DISCOVERY)].concat();
    let frame = LpPacket::decode(&wire).unwrap();
    assert_eq!(frame.pit_token(), Some(&[0; 6][..]));
    assert_eq!(frame.fragment(), Some(&hex(DISCOVERY)[..]));
    assert!(!frame.is_bare() && !frame.has_options());
    assert_eq!((frame.frag_index(), frame.frag_count(), frame.sequence()), (0, 1, None));
    let mut again = Vec::new();
    LpHeader::from(&frame).encode_into(frame.fragment().unwrap(), &mut again);
    assert_eq!(again, wire);
}

/// The answer of ndnd's forwarder to a register command: link packet, PIT token, Data.
#[test]
fn the_content_of_a_control_response_of_ndnd() {
    let content =
        hex("6523 6601c8 67024f4b 681a 070c080464656d6f080466696c65 690103 6f0100 6a0100 6c0101");
    let response = tlv::only(&content, 0x65).unwrap();
    let mut reader = tlv::Reader::new(response);
    assert_eq!(reader.expect(0x66).unwrap().nni(), Ok(200));
    assert_eq!(reader.expect(0x67).unwrap().value, b"OK");
    let mut inside = tlv::Reader::new(reader.expect(0x68).unwrap().value);
    let name = packet::NameRef::decode(inside.expect(7).unwrap().value).unwrap();
    assert_eq!(name.to_string(), "/demo/file");
    assert!(reader.is_empty());
}

/// ndnd's `put` answers discovery with this MetaInfo and a name in the content.
#[test]
fn the_metadata_of_ndnd_put() {
    let name = "070c080464656d6f080466696c65";
    let body = format!("{name} 140c 180100 19020fa0 1a03320100");
    let rest = format!("1513 {name} 1a03320102 1603 1b0100 1720 {}", "00".repeat(32));
    let value = [hex(&body), hex(&rest)].concat();
    let mut wire = Vec::new();
    tlv::put_tlv(&mut wire, tlv::types::DATA, &value);
    let data = Data::decode(&wire).unwrap();
    assert_eq!((data.content_type(), data.freshness_ms()), (0, Some(4000)));
    assert_eq!(data.final_block().unwrap().as_segment(), Some(0));
    let mut content = tlv::Reader::new(data.content());
    let versioned = packet::NameRef::decode(content.expect(7).unwrap().value).unwrap();
    assert_eq!(versioned.to_string(), "/demo/file");
    assert_eq!(content.expect(0x1a).unwrap().value, [0x32, 1, 2]);
}

/// NDNts sends it every 60 s.
#[test]
fn idle() {
    let frame = LpPacket::decode(&[0x64, 0]).unwrap();
    assert_eq!(frame.fragment(), None);
    assert!(!frame.is_bare());
    assert_eq!(LpHeader::from(&frame), LpHeader::default());
    let mut again = Vec::new();
    LpHeader::default().encode_into(&[], &mut again);
    assert_eq!(again, [0x64, 0]);
    // An empty fragment is no packet either.
    assert_eq!(LpPacket::decode(&[0x64, 2, 0x50, 0]).unwrap().fragment(), None);
}

#[test]
fn nacks_with_and_without_a_reason() {
    let interest = hex(DISCOVERY);
    let wire = [hex("6433 fd0320 05 fd0321 01 96 5028"), interest.clone()].concat();
    let frame = LpPacket::decode(&wire).unwrap();
    assert_eq!(frame.nack(), Some(NackReason::NoRoute));
    assert_eq!(frame.fragment(), Some(&interest[..]));
    let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
    let mut again = Vec::new();
    header.encode_into(&interest, &mut again);
    assert_eq!(again, wire);

    let wire = [hex("642e fd0320 00 5028"), interest.clone()].concat();
    assert_eq!(LpPacket::decode(&wire).unwrap().nack(), Some(NackReason::None));
    let header = LpHeader { nack: Some(NackReason::None), ..LpHeader::default() };
    let mut again = Vec::new();
    header.encode_into(&interest, &mut again);
    assert_eq!(again, wire);
}

/// NFD names the reply to a dataset Interest after the whole Interest, digest included.
#[test]
fn a_parameters_digest_in_the_middle_of_a_name() {
    let name: Name = "/localhost/nfd/status/general".parse().unwrap();
    let name = name.with(&Component::parameters_digest([7; 32])).with(&Component::version(9));
    let mut interest = InterestBuf::new(name);
    interest.sign_with(packet::SignatureInfoBuf::digest(), |portion| {
        <[u8; 32]>::try_from(digest(&portion)).unwrap().into()
    });
    let wire = interest.encode();
    let view = Interest::decode(&wire).unwrap();
    assert_eq!(view.name().len(), 6);
    assert_eq!(view.name().last().unwrap().as_version(), Some(9));
    assert!(view.check_parameters_digest());
    let [before, after, tail] = view.signed_portion();
    assert_eq!(
        packet::NameRef::decode(before).unwrap().to_string(),
        "/localhost/nfd/status/general"
    );
    assert_eq!(packet::NameRef::decode(after).unwrap().to_string(), "/v=9");
    assert_eq!(tail, hex("2400 2c03 1b0100"));
    assert_eq!(view.signature_value().unwrap(), digest(&view.signed_portion()));
}
