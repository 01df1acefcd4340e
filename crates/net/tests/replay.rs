//! Recorded exchanges between other projects' programs, sent to a daemon byte for byte. Parts that
//! a recording left out (nonces, signatures over them) are filled in, and commands have the time of
//! now, since old ones are rejected. Answers are compared byte for byte, too.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod support;

use packet::{Data, LpPacket};
use sha2::{Digest as _, Sha256};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use support::Running;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |d: u8| (d as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(stream: &mut UnixStream) -> Vec<u8> {
    let mut buffer = vec![0; 10_000];
    let len = stream.read(&mut buffer).unwrap();
    buffer.truncate(len);
    buffer
}

/// The Data of a frame.
fn data(frame: &[u8]) -> Vec<u8> {
    LpPacket::decode(frame).unwrap().fragment().unwrap().to_vec()
}

/// A value with its type and length.
fn tlv(typ: u8, value: &[u8]) -> Vec<u8> {
    let len = match value.len() {
        len @ 0..=252 => vec![len as u8],
        len => [&[0xfd][..], &(len as u16).to_be_bytes()].concat(),
    };
    [&[typ], &len[..], value].concat()
}

/// `/localhost/nfd/rib/register`, without type and length.
const REGISTER: &str = "08096c6f63616c686f7374 08036e6664 0803726962 08087265676973746572";

/// python-ndn 0.5.2, `NDNApp.register('/hello')`.
const PYTHON_NDN: &str = "0597 074e 08096c6f63616c686f7374 08036e6664 0803726962 \
    08087265676973746572 080b 6809 0707 080568656c6c6f \
    0220 865ee4cdbb28ce3c172544ee8fc43e44a4a3c70177d87e3dc113aac8b2660b47 \
    0a0401020304 0c0203e8 2400 2c17 1b0100 26088f1d77dd3b05dd19 2808000001a1f84707a8 \
    2e20 2a32b2d81f4d89e9322ea07f615fef4d288868deb383446082a6830ae5780e05";

/// The reply to a command, but for its frame: name, FreshnessPeriod of a second, the response, a
/// signature by digest.
fn reply(command: &[u8], parameters: &[u8]) -> Vec<u8> {
    let name = &command[2..4 + usize::from(command[3])];
    let response = [&bytes("6601c8 6707")[..], b"Success", &tlv(0x68, parameters)].concat();
    let content = tlv(0x15, &tlv(0x65, &response));
    let signed = [name, &bytes("1404 190203e8")[..], &content, &bytes("1603 1b0100")].concat();
    let digest = Sha256::digest(&signed);
    tlv(0x06, &[&signed[..], &tlv(0x17, &digest)].concat())
}

// Other projects' programs, "Commands": [peer-19].
#[test]
fn python_ndn_registers() {
    let daemon = Running::start("");
    let command = support::signed_now(&bytes(PYTHON_NDN));
    let mut stream = daemon.stream();
    stream.write_all(&command).unwrap();
    let answer = data(&read(&mut stream));
    let face = face_in(&answer);
    let parameters = [&bytes("0707080568656c6c6f 6901")[..], &[face]].concat();
    let parameters = [&parameters[..], &bytes("6f0100 6a0100 6c0101")].concat();
    assert_eq!(hex(&answer), hex(&reply(&command, &parameters)));
}

/// The number of the face in a reply.
fn face_in(answer: &[u8]) -> u8 {
    let content = Data::decode(answer).unwrap().content().to_vec();
    let at = content.windows(2).position(|pair| pair == [0x69, 1]).expect("a FaceId");
    content[at + 2]
}

/// A signed Interest by digest, of the name's components and the elements between the name and the
/// signature, with nonce and time of the signature.
fn signed(components: &[u8], between: &str) -> Vec<u8> {
    let info = bytes("2400 2c17 1b0100 2608 0102030405060708 2808 000001a1f84707a8");
    let signature = tlv(0x2e, &Sha256::digest([components, &info].concat()));
    let digest = Sha256::digest([&info[..], &signature].concat());
    let name = tlv(0x07, &[components, &tlv(0x02, &digest)].concat());
    let recorded = tlv(0x05, &[&name[..], &bytes(between), &info, &signature].concat());
    support::signed_now(&recorded)
}

// CommandInterest, "CommandInterest": [mgmt-4].
#[test]
fn a_recorded_command_is_neither_accepted_late_nor_twice() {
    // The content store would answer the second one itself.
    let daemon = Running::start("[content_store]\ncapacity = \"0 B\"");
    let text = |command: &[u8]| {
        let mut stream = daemon.stream();
        stream.write_all(command).unwrap();
        let answer = data(&read(&mut stream));
        String::from_utf8_lossy(Data::decode(&answer).unwrap().content()).into_owned()
    };
    let recorded = bytes(PYTHON_NDN);
    assert!(text(&recorded).contains("the command's time is "), "it is from another day");
    let fresh = support::signed_now(&recorded);
    assert!(text(&fresh).contains("Success"));
    // The signature does not cover the Interest's Nonce, by which loops are found.
    let again = hex(&fresh).replacen("0a0401020304", "0a0405060708", 1);
    assert!(text(&bytes(&again)).contains("accepted before"), "also from another face");
}

// Other projects' programs, "Commands": [peer-19].
#[test]
fn ndnd_registers_with_must_be_fresh_and_a_cost() {
    // `ndnd put /demo/file`: ControlParameters{Name, Cost 0}; MustBeFresh follows the name.
    let daemon = Running::start("");
    let components = bytes(&format!("{REGISTER} 0813 6811 070c 080464656d6f 080466696c65 6a0100"));
    let command = signed(&components, "1200 0a0411223344 0c0203e8");
    let mut stream = daemon.stream();
    stream.write_all(&command).unwrap();
    let answer = data(&read(&mut stream));
    let face = face_in(&answer);
    let parameters = bytes("070c 080464656d6f 080466696c65 6901");
    let parameters = [&parameters[..], &[face], &bytes("6f0100 6a0100 6c0101")].concat();
    assert_eq!(hex(&answer), hex(&reply(&command, &parameters)));
}

/// `ndnd cat /demo/file`: the metadata, and a segment.
const DISCOVERY: &str = "0526 0716 080464656d6f 080466696c65 20086d65746164617461 2100 1200 \
                         0a0411223344 0c0203e8";
const SEGMENT: &str = "0521 0719 080464656d6f 080466696c65 3608000660b1d7673372 320100 \
                       0a0455667788";

#[test]
fn a_nack_returns_the_unroutable_interest_unchanged() {
    let daemon = Running::start("");
    let mut stream = daemon.stream();
    for interest in [DISCOVERY, SEGMENT] {
        let interest = bytes(interest);
        stream.write_all(&interest).unwrap();
        let reason = bytes("fd0320 05 fd0321 01 96");
        let nack = tlv(0x64, &[&reason[..], &tlv(0x50, &interest)].concat());
        assert_eq!(hex(&read(&mut stream)), hex(&nack));
    }
}

// NDNLPv2, "PIT token": [lp-11].
// Other projects' programs, "Links": [peer-35].
#[test]
fn a_producers_data_come_to_who_asked_with_the_token_that_it_gave() {
    let daemon = Running::start("");
    let mut producer = daemon.stream();
    let components = bytes(&format!("{REGISTER} 0813 6811 070c 080464656d6f 080466696c65 6a0100"));
    producer.write_all(&signed(&components, "1200 0a0411223344 0c0203e8")).unwrap();
    face_in(&data(&read(&mut producer)));
    let mut consumer = daemon.stream();
    // NDNts sends an idle packet every minute.
    consumer.write_all(&bytes("6400")).unwrap();
    let token = bytes("6206 000000000000");
    let interest = bytes(SEGMENT);
    let frame = tlv(0x64, &[&token[..], &tlv(0x50, &interest)].concat());
    consumer.write_all(&frame).unwrap();
    let came = read(&mut producer);
    let link = LpPacket::decode(&came).unwrap();
    assert_eq!(hex(link.fragment().unwrap()), hex(&interest));
    // The application answers with the token of the forwarder.
    let given = link.pit_token().map(|given| tlv(0x62, given)).unwrap_or_default();
    let name = &interest[2..29];
    let signed = [name, &bytes("1405 1a03320102"), &bytes("1500 1603 1b0100")].concat();
    let segment = tlv(0x06, &[&signed[..], &tlv(0x17, &Sha256::digest(&signed))].concat());
    producer.write_all(&tlv(0x64, &[&given[..], &tlv(0x50, &segment)].concat())).unwrap();
    let expected = tlv(0x64, &[&token[..], &tlv(0x50, &segment)].concat());
    assert_eq!(hex(&read(&mut consumer)), hex(&expected));
}

// Other projects' programs, "Datasets": [peer-29].
#[test]
fn pynfdc_signs_what_it_asks_for() {
    // `pynfdc Get-Status`: CanBePrefix and MustBeFresh, and the digest of parameters in the name.
    let daemon = Running::start("");
    let components = bytes("08096c6f63616c686f7374 08036e6664 0806737461747573 080767656e6572616c");
    let asked = signed(&components, "2100 1200 0a0411223344 0c0203e8");
    let mut stream = daemon.stream();
    stream.write_all(&asked).unwrap();
    let answer = data(&read(&mut stream));
    let answer = Data::decode(&answer).unwrap();
    let interest = packet::Interest::decode(&asked).unwrap();
    assert!(answer.satisfies(&interest));
    assert_eq!(answer.name().len(), interest.name().len() + 2, "a version and a segment");
    let version = format!("weir-{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(hex(&answer.content()[..2 + version.len()]), hex(&tlv(0x80, version.as_bytes())));
}
