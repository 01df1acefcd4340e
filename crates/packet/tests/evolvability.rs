//! Unexpected elements in decoders.
//!
//! NDN Packet Format v0.3, "Considerations for Evolvability of TLV-Based Encoding": on an
//! unrecognized or out-of-order element, decoding is aborted if its type number is odd or at most
//! 31 (it is critical), and the element is ignored if the number is even and above 31.

mod support;

use packet::{Data, DecodeError, Interest, SignatureInfoBuf, tlv};
use support::hex;
use tlv::Fault;

/// An unused even number above 31, and three that must not be ignored: all up to 31 are
/// "grandfathered", including even ones.
const IGNORABLE: u64 = 0xf0;
const CRITICAL: [u64; 3] = [0xf1, 0x1f, 0x10];

fn element(typ: u64, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    tlv::put_tlv(&mut out, typ, value);
    out
}

fn packet_of(typ: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    element(typ, &parts.concat())
}

/// Puts an element of type `typ` before each part and after the last.
fn with_an_element_anywhere(typ: u64, kind: u64, parts: &[Vec<u8>]) -> Vec<(usize, Vec<u8>)> {
    (0..=parts.len())
        .map(|at| {
            let mut parts = parts.to_vec();
            parts.insert(at, element(typ, b"new"));
            (at, packet_of(kind, &parts))
        })
        .collect()
}

fn parts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| hex(text)).collect()
}

/// Every element of an Interest, in its order.
fn interest_parts() -> Vec<Vec<u8>> {
    parts(&[
        "0703080161", // Name /a
        "2100",       // CanBePrefix
        "1200",       // MustBeFresh
        "1e05 0703080162",
        "0a0401020304", // Nonce
        "0c0203e8",     // InterestLifetime
        "220105",       // HopLimit
        "2401ff",       // ApplicationParameters
        "2c03 1b0100",
        "2e02 aabb",
    ])
}

fn data_parts() -> Vec<Vec<u8>> {
    parts(&["0703080161", "1403 190107", "1501 63", "1603 1b0100", "1702 aabb"])
}

fn fault_of<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> Fault {
    result.expect_err("it should be rejected").fault
}

/// "unrecognized non-critical TLV elements may appear in the Interest packet. However, they must
/// not appear before the Name element."
// tlv.rst, "Considerations for Evolvability": [tlv-9]; interest.rst, "Interest Packet":
// [interest-2]; data.rst, "Data Packet": [data-1].
#[test]
fn an_unknown_ignorable_element_is_ignored_behind_the_name() {
    let whole = packet_of(5, &interest_parts());
    let expected = packet::InterestBuf::from_view(&Interest::decode(&whole).unwrap());
    for (at, wire) in with_an_element_anywhere(IGNORABLE, 5, &interest_parts()) {
        match at {
            0 => assert_eq!(fault_of(Interest::decode(&wire)), Fault::Expected(7)),
            _ => {
                let view = Interest::decode(&wire).unwrap();
                assert_eq!(packet::InterestBuf::from_view(&view), expected, "at {at}");
            }
        }
    }
    for (at, wire) in with_an_element_anywhere(IGNORABLE, 6, &data_parts()) {
        match at {
            0 => assert_eq!(fault_of(Data::decode(&wire)), Fault::Expected(7)),
            _ => {
                let view = Data::decode(&wire).unwrap();
                assert_eq!((view.freshness_ms(), view.content()), (Some(7), &b"c"[..]));
                assert_eq!(view.signature_value(), [0xaa, 0xbb]);
            }
        }
    }
}

// tlv.rst, "Considerations for Evolvability": [tlv-8], [tlv-10].
#[test]
fn an_unknown_critical_element_is_rejected_everywhere() {
    for typ in CRITICAL {
        for (at, wire) in with_an_element_anywhere(typ, 5, &interest_parts()) {
            let error = Interest::decode(&wire).unwrap_err();
            let expected = if at == 0 { Fault::Expected(7) } else { Fault::Critical(typ) };
            let start: usize = interest_parts()[..at].iter().map(Vec::len).sum();
            assert_eq!((error.fault, error.at), (expected, Some(2 + start as u32)));
        }
        for (at, wire) in with_an_element_anywhere(typ, 6, &data_parts()) {
            let expected = if at == 0 { Fault::Expected(7) } else { Fault::Critical(typ) };
            assert_eq!(fault_of(Data::decode(&wire)), expected);
        }
    }
}

/// "for {F1 F2? F3} definition, F2 would be out-of-order in the sequence {F1 F3 F2}": what comes
/// too late is treated as unknown.
// tlv.rst, "Considerations for Evolvability": [tlv-8], [tlv-9].
#[test]
fn an_element_that_comes_too_late_is_treated_as_unknown() {
    let name = hex("0703080161");
    let read = |text: &str| {
        let wire = packet_of(5, &[name.clone(), hex(text)]);
        Interest::decode(&wire).map(|view| packet::InterestBuf::from_view(&view))
    };
    // MustBeFresh, Nonce, InterestLifetime and CanBePrefix are critical.
    assert_eq!(fault_of(read("1200 2100")), Fault::Critical(0x21));
    assert_eq!(fault_of(read("0a0401020304 1200")), Fault::Critical(0x12));
    assert_eq!(fault_of(read("0c0103 0a0401020304")), Fault::Critical(0x0a));
    assert_eq!(fault_of(read("220105 0c0103")), Fault::Critical(0x0c));
    assert_eq!(fault_of(read("0c0103 1e05 0703080162")), Fault::Critical(0x1e));
    // HopLimit and ApplicationParameters are not; the first one of each counts.
    assert_eq!(read("2401ff 220105").unwrap().hop_limit, None);
    assert_eq!(read("220105 220106").unwrap().hop_limit, Some(5));
    assert_eq!(read("2401ff 240100").unwrap().parameters.unwrap(), [255][..]);
    // Without ApplicationParameters before them, signature elements are out of place.
    assert_eq!(read("2c03 1b0100 2e01 aa 2400").unwrap().signature, None);
}

// tlv.rst, "Considerations for Evolvability": [tlv-8].
#[test]
fn a_repeated_critical_element_is_rejected() {
    for (kind, list) in [(5, interest_parts()), (6, data_parts())] {
        for at in 0..list.len() {
            let mut twice = list.clone();
            twice.insert(at, list[at].clone());
            let wire = packet_of(kind, &twice);
            let typ = u64::from(list[at][0]);
            let critical = tlv::is_critical(typ);
            let result = match kind {
                5 => Interest::decode(&wire).map(|_| ()),
                _ => Data::decode(&wire).map(|_| ()),
            };
            let expected = if critical { Err(Fault::Critical(typ)) } else { Ok(()) };
            assert_eq!(result.map_err(|e| e.fault), expected, "{kind} {typ}");
        }
    }
}

// interest.rst, "Interest Packet": [interest-2]; "Name": [interest-3].
// signed-interest.rst, "Processing, 2": [signed-interest-3]; "Processing, 3": [signed-interest-4];
// Other projects' programs, "Packets": [peer-9].
#[test]
fn missing_mandatory_elements_are_errors() {
    let without = |kind, list: &[Vec<u8>], at: usize| {
        let mut list = list.to_vec();
        list.remove(at);
        packet_of(kind, &list)
    };
    let data = |at| fault_of(Data::decode(&without(6, &data_parts(), at)));
    assert_eq!(data(0), Fault::Expected(7));
    assert_eq!(data(3), Fault::Expected(0x16));
    assert_eq!(data(4), Fault::Expected(0x17));
    assert!(Data::decode(&without(6, &data_parts(), 1)).is_ok(), "MetaInfo is optional");
    assert!(Data::decode(&without(6, &data_parts(), 2)).is_ok(), "Content is optional");
    let interest = |at| fault_of(Interest::decode(&without(5, &interest_parts(), at)));
    assert_eq!(interest(0), Fault::Expected(7));
    assert_eq!(interest(8), Fault::Expected(0x2c));
    assert_eq!(interest(9), Fault::Expected(0x2e));
    let typeless = parts(&["0703080161", "2400", "2c00", "2e02 aabb"]);
    assert_eq!(fault_of(Interest::decode(&packet_of(5, &typeless))), Fault::Expected(0x1b));
    // "Interests that include Name TLV that has zero name components MUST be discarded."
    assert_eq!(fault_of(Interest::decode(&hex("0502 0700"))), Fault::BadLength(7));
    assert!(Interest::decode(&hex("0504 0702 0800")).is_ok(), "a component without bytes");
    let nameless = packet_of(6, &[vec![vec![7, 0]], data_parts()[1..].to_vec()].concat());
    assert!(Data::decode(&nameless).is_ok());
}

// tlv.rst, "Non Negative Integer Encoding": [tlv-7].
// Other projects' programs, "Packets": [peer-8].
#[test]
fn values_of_a_wrong_length_are_rejected() {
    let name = hex("0703080161");
    for (text, typ) in [
        ("2101ff", 0x21),
        ("1201ff", 0x12),
        ("0a03010203", 0x0a),
        ("0a050102030405", 0x0a),
        ("0c00", 0x0c),
        ("0c03010203", 0x0c),
        ("2200", 0x22),
        ("22020101", 0x22),
        ("2400 2c05 1b0100 2600 2e01aa", 0x26),
        ("2400 2c08 1b0100 2803000000 2e01aa", 0x28),
    ] {
        let wire = packet_of(5, &[name.clone(), hex(text)]);
        assert_eq!(fault_of(Interest::decode(&wire)), Fault::BadLength(typ), "{text}");
    }
    // Wide numbers are legal: ndnd sends them.
    let wire = packet_of(5, &[name, hex("0c08 0000000000000fa0")]);
    assert_eq!(Interest::decode(&wire).unwrap().lifetime_ms(), 4000);
}

fn read_hint(hint: &str) -> Result<Vec<String>, DecodeError> {
    let wire = packet_of(5, &[hex("0703080161"), element(0x1e, &hex(hint))]);
    Interest::decode(&wire).map(|view| view.forwarding_hint().map(|n| n.to_string()).collect())
}

#[test]
fn a_forwarding_hint_has_names_and_perhaps_something_new() {
    assert_eq!(read_hint("0703080162 0703080163").unwrap(), ["/b", "/c"]);
    assert_eq!(read_hint("f000 0703080162 f000 0703080163 f000").unwrap(), ["/b", "/c"]);
    assert_eq!(fault_of(read_hint("0703080162 f100")), Fault::Critical(0xf1));
    assert_eq!(fault_of(read_hint("")), Fault::Expected(7));
    assert_eq!(fault_of(read_hint("f000")), Fault::Expected(7));
}

// Other projects' programs, "Packets": [peer-49].
#[test]
fn a_forwarding_hint_may_have_the_delegations_of_the_older_format() {
    let delegations = "1f08 1e0102 0703080162 1f0a f000 1e0101 0703080163";
    assert_eq!(read_hint(delegations).unwrap(), ["/b", "/c"]);
    assert_eq!(read_hint("0703080162 1f05 0703080163").unwrap(), ["/b", "/c"]);
    assert_eq!(fault_of(read_hint("1f03 1e0101")), Fault::Expected(7));
    assert_eq!(fault_of(read_hint("1f0a 1e0101 0703080162 f100")), Fault::Critical(0xf1));
    assert_eq!(fault_of(read_hint("1f04 1e0101 07")), Fault::Truncated);
    assert_eq!(fault_of(read_hint("1f07 0705 210101 0801")), Fault::Truncated);
}

// name.rst, "Parameters Digest Component": [name-5].
#[test]
fn a_name_has_one_parameters_digest_at_most() {
    let digest = format!("0220 {}", "00".repeat(32));
    let one = element(7, &hex(&format!("080161 {digest} 080162")));
    let two = element(7, &hex(&format!("{digest} {digest}")));
    assert!(Interest::decode(&packet_of(5, &[one])).is_ok());
    assert_eq!(fault_of(Interest::decode(&packet_of(5, &[two]))), Fault::BadValue(7));
}

// name.rst, "Parameters Digest Component": [name-5]; interest.rst, "ApplicationParameters":
// [interest-6].
#[test]
fn a_parameters_digest_and_parameters_come_together() {
    let digest = format!("0220 {}", "00".repeat(32));
    let name = element(7, &hex(&format!("080161 {digest}")));
    let check = |parts: &[Vec<u8>]| {
        Interest::decode(&packet_of(5, parts)).unwrap().check_parameters_digest()
    };
    assert!(check(&[hex("0703080161")]));
    assert!(!check(std::slice::from_ref(&name)), "a digest without parameters");
    assert!(!check(&[hex("0703080161"), hex("2400")]), "parameters without a digest");
    assert!(!check(&[name, hex("2400")]), "a wrong digest");
}

#[test]
fn meta_info_keeps_its_order() {
    let read = |meta: &str| {
        let mut parts = data_parts();
        parts[1] = element(0x14, &hex(meta));
        let wire = packet_of(6, &parts);
        Data::decode(&wire).map(|view| {
            let last = view.final_block().map(|c| c.to_string());
            (view.content_type(), view.freshness_ms(), last)
        })
    };
    assert_eq!(read("").unwrap(), (0, None, None));
    let last = Some("seg=9".to_owned());
    assert_eq!(read("180102 190107 1a03320109").unwrap(), (2, Some(7), last.clone()));
    assert_eq!(read("f000 180102 f000 190107 f000 1a03320109 f000").unwrap(), (2, Some(7), last));
    assert_eq!(fault_of(read("190107 180102")), Fault::Critical(0x18));
    assert_eq!(fault_of(read("180102 180102")), Fault::Critical(0x18));
    assert_eq!(fault_of(read("1b0100")), Fault::Critical(0x1b));
    // FinalBlockId is one component.
    assert_eq!(fault_of(read("1a00")), Fault::BadValue(0x1a));
    assert_eq!(fault_of(read("1a06320109320109")), Fault::BadValue(0x1a));
    assert_eq!(fault_of(read("1a023201")), Fault::Truncated);
}

/// `SignatureInfo = SignatureType [KeyLocator] [SignatureNonce] [SignatureTime] [SignatureSeqNum]`,
/// and in certificates a ValidityPeriod after them.
#[test]
fn signature_info_keeps_its_order() {
    let read = |info: &str| {
        let mut parts = data_parts();
        parts[3] = element(0x16, &hex(info));
        let wire = packet_of(6, &parts);
        Data::decode(&wire).map(|view| {
            let info = view.signature_info();
            let nonce = info.nonce().map(<[u8]>::to_vec);
            (info.key_locator().is_some(), nonce, info.time_ms(), info.sequence())
        })
    };
    let locator = "1c05 0703080161";
    let all = read(&format!("1b0103 {locator} 26020102 280105 2a0106")).unwrap();
    assert_eq!(all, (true, Some(vec![1, 2]), Some(5), Some(6)));
    assert_eq!(read("1b0100 2a0106 280105 26020102").unwrap(), (false, None, None, Some(6)));
    assert_eq!(fault_of(read(&format!("1b0103 26020102 {locator}"))), Fault::Critical(0x1c));
    assert_eq!(fault_of(read(locator)), Fault::Critical(0x1c));
    assert_eq!(fault_of(read("280105")), Fault::Expected(0x1b));
    assert_eq!(read("280105 1b0100").unwrap(), (false, None, None, None));
    assert_eq!(fault_of(read("1b0100 1b0100")), Fault::Critical(0x1b));
    assert!(read("1b0103 fd00fd00 fd010200").is_ok(), "a certificate's elements");
    assert_eq!(fault_of(read("1b0103 fd00fd00 fd010300")), Fault::Critical(0x103));
    // A locator of an unknown kind counts as absent; a broken one is an error.
    assert!(!read("1b0103 1c02f000").unwrap().0);
    assert!(!read("1b0103 1c00").unwrap().0);
    assert!(read("1b0103 1c04 1d02aabb").unwrap().0);
    assert_eq!(fault_of(read("1b0103 1c05 0703080361")), Fault::Truncated);
    assert_eq!(fault_of(read("1b0103 1c02f100")), Fault::Critical(0xf1));
}

/// The signature covers all elements "starting from Name, up to but not including SignatureValue",
/// new ones too.
// Other projects' programs, "Packets": [peer-10].
#[test]
fn new_elements_of_data_are_signed() {
    let mut parts = data_parts();
    parts.insert(4, element(IGNORABLE, b"new"));
    parts.push(element(IGNORABLE, b"unsigned"));
    let wire = packet_of(6, &parts);
    assert_eq!(Data::decode(&wire).unwrap().signed_portion(), parts[..5].concat());
}

/// Of an Interest, all from ApplicationParameters up to InterestSignatureValue is signed, and all
/// to the end is under the parameters digest.
// Other projects' programs, "Packets": [peer-10].
#[test]
fn new_elements_of_interests_are_signed() {
    let mut parts = interest_parts();
    parts.insert(9, element(IGNORABLE, b"new"));
    parts.push(element(IGNORABLE, b"unsigned"));
    let wire = packet_of(5, &parts);
    let [before, after, tail] = Interest::decode(&wire).unwrap().signed_portion();
    assert_eq!((before, after), (&hex("080161")[..], &[][..]));
    assert_eq!(tail, parts[7..10].concat());
}

// tlv.rst, "TLV Encoding": [tlv-5], [tlv-6].
#[test]
fn type_numbers_are_from_1_to_the_largest_of_32_bits() {
    let read = |typ: &str| {
        let wire = packet_of(5, &[hex("0703080161"), hex(&format!("{typ}00"))]);
        Interest::decode(&wire).map(|_| ()).map_err(|error| error.fault)
    };
    assert_eq!(read("00"), Err(Fault::BadType(0)));
    assert_eq!(read("ff0000000100000000"), Err(Fault::BadType(1 << 32)));
    assert_eq!(read("feffffffff"), Err(Fault::Critical((1 << 32) - 1)));
    assert_eq!(read("fefffffffe"), Ok(()), "even, so that it may be ignored");
}

/// "the number is encoded in the shortest form": a longer one is rejected wherever it stands.
// tlv.rst, "Variable Size Encoding": [tlv-4].
#[test]
fn numbers_have_their_shortest_form() {
    for text in ["05fd0005 0703080161", "fd000505 0703080161", "0507 07fd0003080161"] {
        assert_eq!(fault_of(Interest::decode(&hex(text))), Fault::NotShortest, "{text}");
    }
    let info = SignatureInfoBuf::digest();
    assert_eq!(info.as_bytes(), hex("1b0100"));
}
