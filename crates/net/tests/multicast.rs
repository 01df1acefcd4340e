//! Daemons that share a link by a multicast group: the loopback interface, on which every socket of
//! the group receives everything. It has no routes to groups of IPv6; those are tested between
//! network namespaces.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use net::config;
use std::net::UdpSocket;
use support::{Consumer, Running, with_producer};

/// A port that is free at the moment.
fn port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn member(uri: &str, interface: &str) -> Running {
    Running::start(&format!(
        "[[face]]\nname = \"all\"\nuri = \"{uri}\"\n{interface}\n\
         [[route]]\nprefix = \"/p\"\nface = \"all\"\n"
    ))
}

/// The face to the group.
fn group(daemon: &Running) -> serde_json::Value {
    let counters = daemon.counters();
    let faces = counters["faces"].as_array().unwrap().iter();
    faces.clone().find(|face| face["name"] == "all").unwrap().clone()
}

fn crosses(uri: &str, interface: &str) {
    let (one, two) = (member(uri, interface), member(uri, interface));
    let fetched = with_producer(&two, "/p", 8000, || Consumer::new("/p", 20, 2).fetch(&one, 8000));
    assert_eq!(fetched.received.len(), 20);
    let (one, two) = (group(&one), group(&two));
    assert!(one["sent"]["interests"].as_u64() >= Some(20), "{one}");
    assert!(two["sent"]["data"].as_u64() >= Some(20), "{two}");
    // The returning Interest is a loop, and no Nack goes to a group.
    assert_eq!(one["sent"]["nacks"], 0);
    assert_eq!(one["local_uri"], "dev://lo");
}

// Other projects' programs, "Faces": [peer-7].
#[test]
fn data_cross_a_group_of_ipv4_in_fragments() {
    crosses(&format!("udp4://224.0.23.170:{}", port()), "interface = \"lo\"");
}

// Other projects' programs, "Faces": [peer-7].
#[test]
fn a_multicast_face_names_its_interface() {
    let of = |face: &str| config::parse(&format!("[[face]]\n{face}"), "t.toml");
    let error = |face: &str| of(face).unwrap_err().to_string();
    assert!(error("uri = \"udp4://224.0.23.170\"").contains("needs an `interface`"));
    let both = "uri = \"udp6://[ff02::1%eth0]\"\ninterface = \"eth1\"";
    assert!(error(both).contains("`eth0`"));
    let single = "uri = \"udp4://192.0.2.1\"\ninterface = \"eth0\"";
    assert!(error(single).contains("only a multicast group"));
    let config = of("uri = \"udp6://[ff02::1%25eth0]\"").unwrap();
    assert_eq!(config.faces[0].interface.as_deref(), Some("eth0"));
    // One group on two interfaces is two faces.
    let two = "uri = \"udp4://224.0.23.170\"\ninterface = \"eth0\"\n[[face]]\n\
               uri = \"udp4://224.0.23.170\"\ninterface = \"eth1\"";
    assert_eq!(of(two).unwrap().faces.len(), 2);
}

/// A link-type of several, in the list of faces.
#[test]
fn a_list_of_faces_shows_multi_access_links() {
    let daemon = member(&format!("udp4://224.0.23.170:{}", port()), "interface = \"lo\"");
    let list = daemon.connect().dataset(&"/localhost/nfd/faces/list".parse().unwrap()).unwrap();
    // LinkType 134 is 1: multi-access.
    assert!(list.windows(3).any(|window| window == [134, 1, 1]), "{list:02x?}");
}

/// The two frames of an Interest in halves, the first of which has this number.
fn halves(name: &str, nonce: u32, sequence: u64) -> [Vec<u8>; 2] {
    let mut interest = packet::InterestBuf::new(name.parse().unwrap());
    interest.nonce = Some(nonce);
    let wire = interest.encode();
    let cut = wire.len() / 2;
    [(0, &wire[..cut]), (1, &wire[cut..])].map(|(index, payload)| {
        let mut frame = Vec::new();
        let header = packet::LpHeader {
            sequence: Some(sequence + index),
            frag_index: index,
            frag_count: 2,
            ..packet::LpHeader::default()
        };
        header.encode_into(payload, &mut frame);
        frame
    })
}

// NDNLPv2, "Indexed fragmentation": [lp-9].
#[test]
fn fragments_of_two_senders_with_equal_numbers_are_distinguished() {
    use std::io::Read as _;
    let group_port = port();
    let daemon = Running::start(&format!(
        "[[face]]\nname = \"all\"\nuri = \"udp4://224.0.23.170:{group_port}\"\n\
         interface = \"lo\"\n"
    ));
    let mut producer = daemon.stream();
    // The application's own stream, so that the test can read its Interests.
    std::io::Write::write_all(&mut producer, &support::register("/p")).unwrap();
    let mut buffer = vec![0; 9000];
    assert!(producer.read(&mut buffer).unwrap() > 0);
    let senders = [(); 2].map(|()| UdpSocket::bind("0.0.0.0:0").unwrap());
    let both = [("/p/one", 1), ("/p/two", 2)].map(|(name, nonce)| halves(name, nonce, 7));
    let to = std::net::SocketAddr::from(([224, 0, 23, 170], group_port));
    for half in 0..2 {
        for (sender, frames) in senders.iter().zip(&both) {
            rustix::net::sockopt::set_ip_multicast_if(sender, &std::net::Ipv4Addr::LOCALHOST)
                .unwrap();
            sender.send_to(&frames[half], to).unwrap();
        }
    }
    let (mut came, mut asked) = (Vec::new(), std::collections::BTreeSet::new());
    while asked.len() < 2 {
        let count = producer.read(&mut buffer).unwrap();
        came.extend_from_slice(&buffer[..count]);
        while let Ok(Some(length)) = packet::tlv::frame_len(&came, 1 << 16) {
            let frame: Vec<u8> = came.drain(..length).collect();
            let link = packet::LpPacket::decode(&frame).unwrap();
            let interest = packet::Interest::decode(link.fragment().unwrap()).unwrap();
            asked.insert(interest.name().to_string());
        }
    }
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), ["/p/one", "/p/two"]);
}
