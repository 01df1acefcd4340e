//! The rules of NDNLPv2 about header fields.
//!
//! Header fields are in the order of their type numbers, the fragment last. An unknown field is
//! ignored if its number is from 800 to 959 and its two lowest bits are 0; otherwise the packet is
//! dropped.

mod support;

use packet::{HopOption, HopOptions, LpHeader, LpPacket, NackReason, tlv};
use support::hex;
use tlv::Fault;

const INTEREST: &str = "0505 0703080161";

fn field(typ: u64, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    tlv::put_tlv(&mut out, typ, value);
    out
}

/// A link packet of header fields, followed by an Interest.
fn frame(fields: &[Vec<u8>]) -> Vec<u8> {
    let fragment = field(tlv::types::LP_FRAGMENT, &hex(INTEREST));
    field(tlv::types::LP_PACKET, &[fields.concat(), fragment].concat())
}

fn fault(wire: &[u8]) -> Fault {
    LpPacket::decode(wire).expect_err("it should be rejected").fault
}

// NDNLPv2, "General NDNLPv2 Packet Format": [lp-4].
#[test]
fn an_unknown_field_is_ignored_by_its_number_alone() {
    let known = [80, 81, 82, 83, 98, 800, 812, 816, 820, 832, 836, 840, 844, 848];
    for typ in (1..1100).filter(|typ| !known.contains(typ)) {
        let wire = frame(&[field(typ, b"??")]);
        if (800..=959).contains(&typ) && typ % 4 == 0 {
            let packet = LpPacket::decode(&wire).expect("it may be ignored");
            assert_eq!(packet.fragment(), Some(&hex(INTEREST)[..]));
        } else {
            assert_eq!(fault(&wire), Fault::Header(typ));
        }
    }
}

// NDNLPv2, "General NDNLPv2 Packet Format": [lp-3].
#[test]
fn fields_are_in_the_order_of_their_numbers() {
    let (mark, token) = (hex("fd034001 01"), hex("6201aa"));
    assert!(LpPacket::decode(&frame(&[token.clone(), mark.clone()])).is_ok());
    let error = LpPacket::decode(&frame(&[mark.clone(), token])).expect_err("out of order");
    assert_eq!((error.fault, error.at), (Fault::Header(98), Some(2 + 5)));
    assert_eq!(fault(&frame(&[field(864, &[]), mark])), Fault::Header(832));
    assert_eq!(fault(&frame(&[field(868, &[]), field(864, &[])])), Fault::Header(864));
}

// NDNLPv2, "General NDNLPv2 Packet Format": [lp-2]; "Reliability": [lp-20].
#[test]
fn only_acknowledgements_are_repeated() {
    let ack = |n: u64| field(836, &n.to_be_bytes());
    let wire = frame(&[ack(3), ack(1), ack(2)]);
    let packet = LpPacket::decode(&wire).expect("acknowledgements may be repeated");
    assert_eq!(packet.acks().collect::<Vec<_>>(), [3, 1, 2]);
    let many: Vec<_> = (0..700).map(ack).collect();
    assert_eq!(LpPacket::decode(&frame(&many)).map(|p| p.acks().count()), Ok(700));
    assert_eq!(fault(&frame(&[ack(1), field(836, &[1])])), Fault::BadLength(836));

    let once = [
        hex("5108 0000000000000001"),
        hex("520100"),
        hex("530101"),
        hex("6201aa"),
        hex("fd032000"),
        hex("fd032c0101"),
        hex("fd03300101"),
        hex("fd033405 fd03350101"),
        hex("fd03400101"),
        field(840, &[0; 8]),
        hex("fd034c00"),
        hex("fd035000"),
    ];
    for list in &once {
        assert!(LpPacket::decode(&frame(std::slice::from_ref(list))).is_ok());
        assert!(matches!(fault(&frame(&[list.clone(), list.clone()])), Fault::Header(_)));
    }
    assert!(LpPacket::decode(&frame(&once)).is_ok());
    // An unknown field may or may not be repeatable: it is ignored.
    let wire = frame(&[field(864, b"1"), field(864, b"2"), field(868, b"3")]);
    let packet = LpPacket::decode(&wire).expect("unknown fields are ignored");
    let options: Vec<_> = packet.options().collect();
    assert_eq!(options, [(864, &b"1"[..]), (868, &b"3"[..])]);
    assert_eq!(packet.to_options().iter().collect::<Vec<_>>(), options);
}

// NDNLPv2, "General NDNLPv2 Packet Format": [lp-5].
#[test]
fn nothing_stands_behind_the_fragment() {
    for behind in ["6201aa", "fd03400101", "fd036000", "5000"] {
        let value = [field(80, &hex(INTEREST)), hex(behind)].concat();
        let error = LpPacket::decode(&field(100, &value)).expect_err("behind the fragment");
        assert_eq!((error.fault, error.at), (Fault::Trailing, Some(2 + 9)));
    }
    assert_eq!(fault(&[frame(&[]), vec![0x64, 0]].concat()), Fault::Trailing);
}

// NDNLPv2, "PIT token": [lp-13].
#[test]
fn pit_tokens_have_1_to_32_bytes() {
    for len in 1..=32 {
        let wire = frame(&[field(98, &vec![7; len])]);
        let packet = LpPacket::decode(&wire).expect("a legal length");
        assert_eq!(packet.pit_token(), Some(&vec![7; len][..]));
    }
    assert_eq!(fault(&frame(&[field(98, &[])])), Fault::BadLength(98));
    assert_eq!(fault(&frame(&[field(98, &[7; 33])])), Fault::BadLength(98));
}

// NDNLPv2, "Network Nack": [lp-14], [lp-15].
#[test]
fn nacks() {
    let nack = |value: &str| {
        let wire = frame(&[field(800, &hex(value))]);
        LpPacket::decode(&wire).map(|p| p.nack()).map_err(|e| e.fault)
    };
    assert_eq!(nack(""), Ok(Some(NackReason::None)));
    assert_eq!(nack("fd03210132"), Ok(Some(NackReason::Congestion)));
    assert_eq!(nack("fd03210164"), Ok(Some(NackReason::Duplicate)));
    assert_eq!(nack("fd03210196"), Ok(Some(NackReason::NoRoute)));
    assert_eq!(nack("fd0321020100"), Ok(Some(NackReason::Other(256))));
    assert_eq!(nack("f000 fd03210132 f000"), Ok(Some(NackReason::Congestion)));
    assert_eq!(nack("f100"), Err(Fault::Critical(0xf1)));
    assert_eq!(nack("fd03210132 fd03210132"), Err(Fault::Critical(801)));
    assert_eq!(nack("fd032103000000"), Err(Fault::BadLength(801)));
    let bare = field(100, &hex("fd032000"));
    assert_eq!(fault(&bare), Fault::Expected(80), "the fragment of a Nack is the Interest");
}

// NDNLPv2, "Caching policy": [lp-18].
#[test]
fn cache_policies() {
    let no_cache = |value: &str| {
        let wire = frame(&[field(820, &hex(value))]);
        LpPacket::decode(&wire).map(|p| p.no_cache()).map_err(|e| e.fault)
    };
    assert_eq!(no_cache("fd03350101"), Ok(true));
    assert_eq!(no_cache("fd03350102"), Ok(false), "another policy");
    assert_eq!(no_cache(""), Err(Fault::Expected(821)));
    assert_eq!(no_cache("fd033500"), Err(Fault::BadLength(821)));
}

// NDNLPv2, "Sequence": [lp-7]; "Reliability": [lp-20]; "Self-learning": [lp-24].
#[test]
fn numbers_have_the_width_that_the_field_demands() {
    for text in ["51020001", "fd0344020001", "fd0348020001", "5200", "fd034003000001"] {
        assert!(matches!(fault(&frame(&[hex(text)])), Fault::BadLength(_)), "{text}");
    }
    assert_eq!(fault(&frame(&[hex("fd034c01ff")])), Fault::BadLength(844), "NonDiscovery is empty");
    let wire = frame(&[hex("fd0340 08 00000000000000ff")]);
    assert_eq!(LpPacket::decode(&wire).map(|p| p.congestion_mark()), Ok(255));
}

// NDNLPv2, "Indexed fragmentation": [lp-8].
#[test]
fn fragments_have_an_index_below_their_count_and_a_sequence_number() {
    let sequence = hex("5108 0000000000000009");
    let piece =
        |index: u8, count: u8| frame(&[sequence.clone(), field(82, &[index]), field(83, &[count])]);
    let wire = piece(2, 3);
    let packet = LpPacket::decode(&wire).expect("the last of three");
    assert_eq!((packet.sequence(), packet.frag_index(), packet.frag_count()), (Some(9), 2, 3));
    assert_eq!(fault(&piece(3, 3)), Fault::BadValue(82));
    assert_eq!(fault(&piece(0, 0)), Fault::BadValue(82));
    assert_eq!(fault(&frame(&[hex("520101")])), Fault::BadValue(82), "no count is a count of 1");
    assert_eq!(fault(&frame(&[hex("530102")])), Fault::Expected(81));
    let empty = field(100, &[sequence.clone(), hex("530102")].concat());
    assert_eq!(fault(&empty), Fault::Expected(80));
    // A whole packet may have explicit fragment fields, and is written without them.
    let wire = piece(0, 1);
    let header = LpHeader::from(&LpPacket::decode(&wire).expect("one of one"));
    assert_eq!((header.frag_index, header.frag_count), (0, 0));
}

// NDNLPv2, "General NDNLPv2 Packet Format": [lp-1].
#[test]
fn a_bare_packet_is_its_own_fragment() {
    let wire = hex(INTEREST);
    let packet = LpPacket::decode(&wire).expect("a bare Interest");
    assert!(packet.is_bare());
    assert_eq!(packet.fragment(), Some(&wire[..]));
    assert_eq!(LpHeader::from(&packet), LpHeader::default());
    let wrapped = frame(&[]);
    assert!(LpPacket::decode(&wrapped).is_ok_and(|p| p.is_bare() && p.fragment() == Some(&wire)));
    assert_eq!(fault(&hex("0700")), Fault::BadType(7));
    assert_eq!(fault(&[]), Fault::Truncated);
}

struct Stamp(u64);

impl HopOption for Stamp {
    const TYPE: u32 = 872;
    fn encode(&self, out: &mut Vec<u8>) {
        tlv::put_nni(out, self.0);
    }
    fn decode(value: &[u8]) -> Option<Stamp> {
        tlv::read_nni(value).map(Stamp)
    }
}

#[test]
fn all_27_options_travel() {
    let mut header = LpHeader { congestion_mark: 1, ..LpHeader::default() };
    for typ in (852..=956).step_by(4) {
        assert!(header.options.set_raw(typ, &[typ as u8]));
    }
    assert!(header.options.set(&Stamp(1_000_000)));
    let mut wire = Vec::new();
    header.encode_into(&hex(INTEREST), &mut wire);
    let packet = LpPacket::decode(&wire).expect("every option may be there");
    assert!(packet.has_options());
    assert_eq!(packet.options().count(), 27);
    assert_eq!(packet.to_options(), header.options);
    assert_eq!(packet.to_options().get::<Stamp>().map(|stamp| stamp.0), Some(1_000_000));
    assert!(HopOptions::new().get::<Stamp>().is_none());
}

#[test]
fn a_frame_is_its_packet_and_the_rest() {
    let small = hex(INTEREST);
    let large = field(tlv::types::DATA, &[0; 300]);
    for packet in [&small[..], &large] {
        assert_eq!(LpPacket::decode(packet).expect("a bare packet").overhead(), 0);
        for fields in [vec![field(832, &[1])], vec![field(832, &[1]), field(900, &[7; 300])]] {
            let fragment = field(tlv::types::LP_FRAGMENT, packet);
            let wire = field(tlv::types::LP_PACKET, &[fields.concat(), fragment].concat());
            let overhead = LpPacket::decode(&wire).expect("a frame").overhead();
            assert_eq!(overhead, wire.len() - packet.len(), "{fields:?}");
        }
    }
    let idle = field(tlv::types::LP_PACKET, &field(832, &[1]));
    assert_eq!(LpPacket::decode(&idle).expect("a frame").overhead(), idle.len());
}
