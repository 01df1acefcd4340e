//! Peers over UDP whose addresses may be forged. `unproved_exempt = []` takes the exemption from
//! loopback, where all of them are here.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod support;

use control::{Duration, Time};
use net::client::{Address, Connection, Endpoint};
use net::clock::Clock;
use net::uri::FaceUri;
use packet::options::{AddressChallenge, AddressEcho, Capability, Range};
use packet::{HopOptions, InterestBuf, LpHeader, LpPacket, Name};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use support::{Consumer, LONG, Running, udp_peer, until, with_producer};

fn start(options: &str) -> Running {
    Running::start(&format!("[on_demand]\nunproved_exempt = []\n{options}"))
}

/// A daemon with `/p/seg=0` to 63, of `size` bytes each, in its content store.
fn with_content(options: &str, size: usize) -> Running {
    let daemon = start(options);
    with_producer(&daemon, "/p", size, || Consumer::new("/p", 64, 16).fetch(&daemon, size));
    daemon
}

fn ranged(nonce: u32) -> Vec<u8> {
    let mut interest = InterestBuf::new("/p/seg=0".parse().unwrap());
    interest.nonce = Some(nonce);
    let mut header = LpHeader::default();
    header.options.set(&Range::whole(64).unwrap());
    let mut frame = Vec::new();
    header.encode_into(&interest.encode(), &mut frame);
    frame
}

fn idle(echo: u64) -> Vec<u8> {
    let mut header = LpHeader::default();
    header.options.set(&Capability::ALL);
    header.options.set(&AddressEcho(echo));
    let mut frame = Vec::new();
    header.encode_into(&[], &mut frame);
    frame
}

/// A marker behind which nothing comes that was asked for before it: a Nack.
fn marker(number: u32) -> Vec<u8> {
    let name: Name = format!("/nobody/{number}").parse().unwrap();
    InterestBuf::new(name).encode().to_vec()
}

/// The frames until the answer to the marker: the number with packets, and the options of the
/// others.
fn answers(peer: &UdpSocket) -> (usize, Vec<HopOptions>) {
    let (mut packets, mut idle) = (0, Vec::new());
    loop {
        let mut buffer = [0; 9000];
        let len = peer.recv(&mut buffer).unwrap();
        let lp = LpPacket::decode(&buffer[..len]).unwrap();
        match lp.fragment() {
            _ if lp.nack().is_some() => return (packets, idle),
            Some(_) => packets += 1,
            None => idle.push(lp.to_options()),
        }
    }
}

fn proved(daemon: &Running, uri: &str) -> Option<bool> {
    let counters = daemon.counters();
    let face = counters["faces"].as_array().unwrap().iter().find(|f| f["uri"] == uri)?.clone();
    face["proved"].as_bool()
}

fn uri_of(peer: &UdpSocket) -> String {
    FaceUri::udp(peer.local_addr().unwrap()).to_string()
}

#[test]
fn a_range_brings_one_packet_before_the_proof_and_all_after_it() {
    // 64 packets fit the socket's receive buffer: none is lost if this thread has to wait.
    let daemon = with_content("", 1000);
    let peer = udp_peer();
    peer.connect(daemon.udp[0]).unwrap();
    let ask = |frames: &[Vec<u8>], number| {
        frames.iter().for_each(|frame| _ = peer.send(frame).unwrap());
        peer.send(&marker(number)).unwrap();
        answers(&peer)
    };
    // Nacks overtake Data in a queue: later Data are found behind the next marker.
    let (early, announced) = ask(&[ranged(1)], 1);
    let (late, _) = ask(&[], 2);
    assert_eq!(early + late, 1);
    let token =
        announced[0].get::<AddressChallenge>().expect("who sends ranges is asked for a proof");
    assert_eq!(proved(&daemon, &uri_of(&peer)), Some(false));
    let (_, announced) = ask(&[idle(token.0.wrapping_add(1))], 3);
    assert_eq!(announced[0].get(), Some(token), "a wrong one proves nothing");
    let (_, announced) = ask(&[idle(token.0)], 4);
    assert_eq!((announced.len(), announced[0].get()), (1, Some(Capability::ALL)));
    assert_eq!(proved(&daemon, &uri_of(&peer)), Some(true));
    peer.send(&ranged(5)).unwrap();
    for _ in 0..64 {
        peer.recv(&mut [0; 9000]).unwrap();
    }
}

#[test]
fn addresses_that_the_configuration_exempts_need_no_proof() {
    let daemon = Running::start("");
    let peer = udp_peer();
    peer.send_to(&marker(1), daemon.udp[0]).unwrap();
    answers(&peer);
    assert_eq!(proved(&daemon, &uri_of(&peer)), Some(true));
}

/// Requests nothing, and records if ranges are answered.
struct Listening(Vec<bool>);

impl Endpoint for Listening {
    fn receive(&mut self, _now: Time, _frame: &[u8]) {}

    fn poll_transmit(&mut self, _now: Time, _out: &mut Vec<u8>) -> bool {
        false
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn set_ranges(&mut self, answered: bool) {
        if self.0.last() != Some(&answered) {
            self.0.push(answered);
        }
    }
}

#[test]
fn a_connection_proves_its_address_by_itself() {
    let daemon = start("");
    let mut connection = Connection::open(Address::Udp(daemon.udp[0])).unwrap();
    let mut endpoint = Listening(Vec::new());
    until("ranges", || {
        let soon = connection.now() + Duration::from_millis(100);
        connection.turn(&mut endpoint, soon).unwrap();
        (endpoint.0 == [false, true]).then_some(())
    });
    let faces = daemon.counters()["faces"].as_array().unwrap().clone();
    let udp = faces.iter().find(|f| f["uri"].as_str().unwrap().starts_with("udp")).unwrap();
    assert_eq!(udp["proved"], true);
    assert_eq!((&udp["received"]["frames"], &udp["sent"]["frames"]), (&2.into(), &2.into()));
}

#[test]
fn a_daemon_proves_its_address_to_another() {
    let far = start("");
    let near = Running::start(&format!("[[face]]\nuri = \"{}\"", FaceUri::udp(far.udp[0])));
    let uri = FaceUri::udp(near.udp[0]).to_string();
    until("the proof", || proved(&far, &uri).filter(|proved| *proved));
    assert_eq!(proved(&near, &FaceUri::udp(far.udp[0]).to_string()), Some(true));
}

#[test]
fn unproved_addresses_get_what_the_limits_let_through() {
    // The burst is 200 ms at the rate, 25 kB: six packets of 4 kB and a bit.
    let daemon = with_content("unproved_total_rate = \"1 Mbit/s\"", 4000);
    let clock = Clock::start();
    let peers: Vec<UdpSocket> = (0..4).map(|_| udp_peer()).collect();
    for (at, peer) in peers.iter().enumerate() {
        for segment in 0..64 {
            let name: Name = format!("/p/seg={segment}").parse().unwrap();
            let mut interest = InterestBuf::new(name);
            interest.nonce = Some((at * 64 + segment) as u32);
            peer.send_to(&interest.encode(), daemon.udp[0]).unwrap();
        }
    }
    let counted = until("an answer to each", || {
        let faces = daemon.counters()["faces"].as_array().unwrap().clone();
        let udp = faces.iter().filter(|f| f["uri"].as_str().unwrap().starts_with("udp"));
        let counts: Vec<[u64; 3]> = udp
            .map(|f| {
                let dropped = f["drops"]["unproved-limit"].as_u64().unwrap_or(0);
                let sent = &f["sent"];
                [sent["data"].as_u64().unwrap(), dropped, sent["bytes"].as_u64().unwrap()]
            })
            .collect();
        let sums = counts.iter().fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
        (sums[0] + sums[1] == 256).then_some(sums)
    });
    let seconds = clock.now().0 as f64 / 1e9;
    let most = 25_000.0 + 125_000.0 * seconds + 5000.0;
    assert!((counted[2] as f64) < most, "{counted:?} in {seconds} s");
    assert!(counted[0] >= 6, "the burst leaves: {counted:?}");
}

#[test]
fn datagrams_from_many_ports_do_not_lock_out_new_peers() {
    let daemon = start("max = 16");
    let flood: Vec<UdpSocket> = (0..64).map(|_| udp_peer()).collect();
    for (at, peer) in flood.iter().enumerate() {
        peer.send_to(&marker(at as u32), daemon.udp[0]).unwrap();
    }
    // The last of them may have taken the places of the first already.
    let udp =
        |face: &serde_json::Value| face["uri"].as_str().is_some_and(|uri| uri.starts_with("udp"));
    until("the places to be taken", || {
        let faces = daemon.counters()["faces"].as_array()?.iter().filter(|f| udp(f)).count();
        (faces == 16).then_some(())
    });
    // Connections have places of their own.
    let mut stream = TcpStream::connect(daemon.tcp[0]).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(&marker(1000)).unwrap();
    assert!(stream.read(&mut [0; 2000]).unwrap() > 0);
    // A peer that repeats its Interests finds a place once peers that sent once were quiet for a
    // moment.
    let peer = udp_peer();
    peer.set_nonblocking(true).unwrap();
    until("a place", || {
        peer.send_to(&marker(2000), daemon.udp[0]).unwrap();
        peer.recv(&mut [0; 2000]).ok()
    });
    let faces = daemon.counters()["faces"].as_array().unwrap().clone();
    assert_eq!(faces.iter().filter(|f| udp(f)).count(), 16);
}

#[test]
fn a_silent_unproved_peers_face_goes_sooner() {
    let daemon = start("unproved_idle = \"20 ms\"");
    let peer = udp_peer();
    peer.send_to(&marker(1), daemon.udp[0]).unwrap();
    answers(&peer);
    until("the face to go", || proved(&daemon, &uri_of(&peer)).is_none().then_some(()));
}

#[test]
fn nothing_more_goes_to_a_port_that_is_closed() {
    let daemon = with_content("", 4000);
    let peer = udp_peer();
    let uri = uri_of(&peer);
    peer.send_to(&marker(1), daemon.udp[0]).unwrap();
    answers(&peer);
    let local = peer.local_addr().unwrap();
    // It asks, and is closed before all answers have come.
    for segment in 0..64 {
        let name: Name = format!("/p/seg={segment}").parse().unwrap();
        peer.send_to(&InterestBuf::new(name).encode(), daemon.udp[0]).unwrap();
    }
    drop(peer);
    until("the face to go", || {
        // The face stays if all answers were there before the port was closed: then ask once more.
        if proved(&daemon, &uri).is_none() {
            return Some(());
        }
        if let Ok(again) = UdpSocket::bind(local) {
            let _ = again.send_to(&marker(3), daemon.udp[0]);
        }
        None
    });
}

#[test]
fn a_proved_peer_that_is_gone_keeps_its_face_and_gets_nothing_until_it_is_back() {
    let daemon = Running::start("");
    let peer = udp_peer();
    peer.send_to(&marker(1), daemon.udp[0]).unwrap();
    answers(&peer);
    let (uri, local) = (uri_of(&peer), peer.local_addr().unwrap());
    drop(peer);
    let mut number = 10;
    let gone = || {
        let faces = daemon.counters()["faces"].as_array().unwrap().clone();
        let face = faces.iter().find(|f| f["uri"] == *uri).expect("its face stays").clone();
        face["drops"]["unreachable"].as_u64()
    };
    until("a report of the kernel", || {
        let Ok(again) = UdpSocket::bind(local) else { return None };
        for _ in 0..8 {
            number += 1;
            again.send_to(&marker(number), daemon.udp[0]).unwrap();
        }
        drop(again);
        gone()
    });
    let back = UdpSocket::bind(local).unwrap();
    back.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    until("an answer", || {
        number += 1;
        back.send_to(&marker(number), daemon.udp[0]).unwrap();
        match back.recv(&mut [0; 2000]) {
            Ok(_) => Some(()),
            Err(e) => {
                assert!(matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused));
                None
            }
        }
    });
}
