//! Daemons on real sockets of this host.

mod support;

use control::Duration;
use net::client::{Address, Connection};
use net::uri::FaceUri;
use packet::{Data, LpPacket, Name};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use support::{Consumer, LONG, Running, udp_peer, until, with_producer};

#[test]
fn an_application_fetches_from_another_over_unix_sockets() {
    let daemon = Running::start("");
    with_producer(&daemon, "/p", 8000, || Consumer::new("/p", 500, 32).fetch(&daemon, 8000));
    let counters = daemon.counters();
    assert_eq!(counters["content_store"]["entries"].as_u64(), Some(500));
    // A second consumer is served by the content store: the producer is gone.
    let second = Consumer::new("/p", 500, 32).fetch(&daemon, 8000);
    assert_eq!(second.resent, 0);
    assert!(daemon.counters()["content_store"]["hits"].as_u64() >= Some(500));
}

fn through_two(uri: impl Fn(&Running) -> FaceUri, link: &str) -> Consumer {
    let producer = Running::start("");
    let uri = uri(&producer);
    let consumer = Running::start(&format!(
        "[[face]]\nname = \"up\"\nuri = \"{uri}\"\n{link}\n\
         [[route]]\nprefix = \"/p\"\nface = \"up\"\n"
    ));
    with_producer(&producer, "/p", 8000, || Consumer::new("/p", 300, 16).fetch(&consumer, 8000))
}

#[test]
fn data_crosses_udp_in_fragments() {
    let fetched = through_two(|d| FaceUri::udp(d.udp[0]), "mtu = 1400");
    assert_eq!(fetched.received.len(), 300);
}

#[test]
fn data_crosses_udp_whole() {
    let fetched = through_two(|d| FaceUri::udp(d.udp[0]), "");
    assert_eq!(fetched.received.len(), 300);
}

#[test]
fn data_crosses_tcp() {
    let fetched = through_two(|d| FaceUri::tcp(d.tcp[0]), "");
    assert_eq!(fetched.received.len(), 300);
}

#[test]
fn data_crosses_the_other_daemons_unix_socket() {
    let fetched = through_two(|d| FaceUri::Unix(d.socket.clone()), "");
    assert_eq!(fetched.received.len(), 300);
}

#[test]
fn an_emulated_link_delays_and_loses() {
    let fetched = through_two(|d| FaceUri::udp(d.udp[0]), "delay = \"30 ms\"\nloss = \"10 %\"\n");
    // Only the Interests' way is emulated: one delay, and a tenth of 300 Interests lost.
    assert!(fetched.first_rtt.unwrap() >= Duration::from_millis(30));
    assert!(fetched.resent > 0);
}

#[test]
fn a_packet_that_is_alone_on_an_emulated_link_takes_its_time() {
    let producer = Running::start("[on_demand]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n");
    let consumer = Running::start(&format!(
        "[[face]]\nname = \"up\"\nuri = \"{}\"\n[[route]]\nprefix = \"/p\"\nface = \"up\"\n",
        FaceUri::udp(producer.udp[0])
    ));
    let fetch = || Consumer::new("/p", 1, 1).fetch(&consumer, 8000);
    let fetched = with_producer(&producer, "/p", 8000, fetch);
    // 8000 bytes of content at 125 a millisecond, and then the delay.
    assert!(fetched.first_rtt.unwrap() >= Duration::from_millis(64 + 5));
}

#[test]
fn both_ends_of_a_udp_link_see_one_face() {
    let first = Running::start("");
    let second = Running::start(&format!("[[face]]\nuri = \"{}\"", FaceUri::udp(first.udp[0])));
    // The second daemon's face is bound to the address that it listens at, so that a face of the
    // first one to that address is the same link.
    let third = Running::start(&format!(
        "[[face]]\nuri = \"{}\"\n[[route]]\nprefix = \"/p\"\nface = \"{}\"",
        FaceUri::udp(first.udp[0]),
        FaceUri::udp(first.udp[0]),
    ));
    with_producer(&first, "/p", 100, || Consumer::new("/p", 10, 1).fetch(&third, 100));
    let faces = first.counters()["faces"].as_array().unwrap().clone();
    let uris: Vec<_> = faces.iter().filter_map(|f| f["uri"].as_str()).collect();
    assert!(uris.contains(&FaceUri::udp(third.udp[0]).to_string().as_str()), "{uris:?}");
    drop(second);
}

#[test]
fn a_peer_that_comes_late_or_again_is_found() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let near = Running::start(&format!(
        "[[face]]\nname = \"far\"\nuri = \"tcp4://{port}\"\n[[route]]\nprefix = \"/p\"\nface = \"far\""
    ));
    for round in ["/p/first", "/p/second"] {
        let far = Running::start_at("\"off\"", &format!("\"{port}\""), "");
        // The consumer asks again until the face is up.
        with_producer(&far, "/p", 100, || Consumer::new(round, 3, 1).fetch(&near, 100));
        far.stop();
    }
    let faces = near.counters()["faces"].as_array().unwrap().clone();
    let far = faces.iter().find(|f| f["name"] == "far").unwrap();
    assert_eq!(far["local"], true, "TCP over loopback is local");
}

#[test]
fn hostile_streams_end_and_the_daemon_does_not() {
    let daemon = Running::start("");
    for hostile in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        // A frame with a stated length of two gigabytes; one with a length in too long a form.
        &[0x64, 0xfe, 0x7f, 0xff, 0xff, 0xff][..],
        &[0x06, 0xfd, 0x00, 0x01, 0x00][..],
    ] {
        let mut stream = daemon.stream();
        stream.write_all(hostile).unwrap();
        let mut rest = Vec::new();
        // The daemon closes the stream: reading ends, by its end or a reset.
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty());
    }
    with_producer(&daemon, "/p", 10, || Consumer::new("/p", 5, 1).fetch(&daemon, 10));
}

#[test]
fn malformed_packets_are_counted_and_the_stream_goes_on() {
    let daemon = Running::start("");
    let mut stream = daemon.stream();
    // An Interest without a name, and a Data packet cut short inside.
    stream.write_all(&[0x05, 0x02, 0x21, 0x00, 0x06, 0x03, 0x07, 0x05, 0x08]).unwrap();
    stream.write_all(&[0x64, 0x00]).unwrap();
    let counted = until("two malformed packets", || {
        let malformed = daemon.counters()["drops"]["malformed"].as_u64();
        malformed.filter(|count| *count >= 2)
    });
    assert_eq!(counted, 2);
}

// Other projects' programs, "Faces": [peer-1].
#[test]
fn udp_from_this_host_is_local_only_if_configured() {
    let ask = |daemon: &Running| {
        let peer = udp_peer();
        let mut asked = packet::InterestBuf::new("/localhost/nfd/cs/info".parse().unwrap());
        (asked.can_be_prefix, asked.must_be_fresh, asked.nonce) = (true, true, Some(1));
        peer.send_to(&asked.encode(), daemon.udp[0]).unwrap();
        peer
    };
    let daemon = Running::start("[on_demand]\nlocal = true");
    let peer = ask(&daemon);
    let mut frame = [0; 9000];
    let answer = loop {
        // Other frames state the daemon's capabilities.
        let len = peer.recv(&mut frame).unwrap();
        if let Some(packet) = LpPacket::decode(&frame[..len]).unwrap().fragment() {
            break Data::decode(packet).unwrap().name().to_string();
        }
    };
    assert!(answer.starts_with("/localhost/nfd/cs/info/v="), "{answer}");
    let daemon = Running::start("");
    let peer = ask(&daemon);
    peer.set_nonblocking(true).unwrap();
    until("an Interest out of scope", || {
        while let Ok(len) = peer.recv(&mut frame) {
            assert_eq!(LpPacket::decode(&frame[..len]).unwrap().fragment(), None);
        }
        (daemon.counters()["drops"]["scope"] == 1).then_some(())
    });
}

#[test]
fn malformed_options_are_counted_by_face_and_altogether() {
    let daemon = Running::start("");
    let mut stream = daemon.stream();
    // An Interest for /a with a Range of one segment and a TrafficClass of 7.
    let options = [0xfd, 0x03, 0x60, 0x01, 0x01, 0xfd, 0x03, 0x64, 0x01, 0x07];
    let interest = [0x05, 0x0b, 0x07, 0x03, 0x08, 0x01, b'a', 0x0a, 0x04, 0, 0, 0, 1];
    let frame = [&[0x64, 25][..], &options, &[0x50, 13], &interest].concat();
    stream.write_all(&frame).unwrap();
    let counters = until("two malformed options", || {
        let counters = daemon.counters();
        let reasons = counters["malformed_options"].as_object().map_or(0, |reasons| reasons.len());
        (reasons == 2).then_some(counters)
    });
    let both = serde_json::json!({ "range-count": 1, "traffic-class": 1 });
    assert_eq!(counters["malformed_options"], both);
    let faces = counters["faces"].as_array().unwrap();
    assert!(faces.iter().any(|face| face["malformed_options"] == both), "{faces:?}");
}

#[test]
fn datagrams_that_are_not_ndn_make_no_faces() {
    let daemon = Running::start("");
    let unknown = udp_peer();
    for _ in 0..100 {
        unknown.send_to(b"junk", daemon.udp[0]).unwrap();
    }
    // An Interest behind the junk shows that the junk has been read.
    let peer = udp_peer();
    let interest = packet::InterestBuf::new("/nobody".parse().unwrap()).encode();
    peer.send_to(&interest, daemon.udp[0]).unwrap();
    let uri = FaceUri::udp(peer.local_addr().unwrap()).to_string();
    until("a face of the peer", || {
        let faces = daemon.counters()["faces"].as_array().unwrap().clone();
        let of = |uri: &str| faces.iter().any(|f| f["uri"] == uri);
        assert!(!of(&FaceUri::udp(unknown.local_addr().unwrap()).to_string()));
        of(&uri).then_some(())
    });
    // There is no route for the name, so the peer gets a Nack on its on-demand face.
    let mut buffer = [0; 2000];
    let len = peer.recv(&mut buffer).unwrap();
    let nack = LpPacket::decode(&buffer[..len]).unwrap();
    assert_eq!(nack.nack(), Some(packet::NackReason::NoRoute));
}

#[test]
fn faces_of_unknown_peers_are_bounded() {
    // Programs of this host have half of the places.
    let daemon = Running::start("[on_demand]\nmax = 6");
    let interest = packet::InterestBuf::new("/nobody".parse().unwrap()).encode();
    let peers: Vec<UdpSocket> = (0..10).map(|_| udp_peer()).collect();
    for peer in &peers {
        peer.send_to(&interest, daemon.udp[0]).unwrap();
    }
    let mut buffer = [0; 2000];
    peers[2].recv(&mut buffer).unwrap();
    let faces = daemon.counters()["faces"].as_array().unwrap().clone();
    let udp = faces.iter().filter(|f| f["uri"].as_str().unwrap().starts_with("udp"));
    assert_eq!(udp.count(), 3);
}

/// True if the daemon ends the connection; otherwise nothing arrives for long.
fn is_ended(stream: &mut TcpStream) -> bool {
    loop {
        match stream.read(&mut [0; 2000]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn silent_connections_do_not_keep_others_out() {
    let interest = packet::InterestBuf::new("/nobody".parse().unwrap()).encode();
    let attach = |daemon: &Running| {
        let stream = TcpStream::connect(daemon.tcp[0]).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    };
    let start_and_attach = |options: &str| {
        let daemon = Running::start(&format!("[on_demand]\nmax = 1\n{options}"));
        let first = attach(&daemon);
        let uri = FaceUri::tcp(first.local_addr().unwrap()).to_string();
        until("its face", || {
            let counters = daemon.counters();
            counters["faces"].as_array().unwrap().iter().any(|f| f["uri"] == *uri).then_some(())
        });
        (daemon, first)
    };
    // One that comes before it was silent for long finds no place; a later one does.
    let (daemon, mut first) = start_and_attach("idle = \"20 ms\"");
    until("a place for a connection", || {
        let mut stream = attach(&daemon);
        stream.write_all(&interest).ok()?;
        (stream.read(&mut [0; 2000]).ok()? > 0).then_some(())
    });
    assert!(is_ended(&mut first));
    let (daemon, mut first) = start_and_attach("");
    first.write_all(&interest).unwrap();
    assert!(first.read(&mut [0; 2000]).unwrap() > 0);
    assert!(is_ended(&mut attach(&daemon)), "the first was not silent for long");
    // Peers over UDP have places of their own.
    let peer = udp_peer();
    peer.send_to(&interest, daemon.udp[0]).unwrap();
    assert!(peer.recv(&mut [0; 2000]).unwrap() > 0);
    first.write_all(&packet::InterestBuf::new("/void".parse().unwrap()).encode()).unwrap();
    assert!(first.read(&mut [0; 2000]).unwrap() > 0);
}

#[test]
fn a_silent_on_demand_face_is_closed() {
    let daemon = Running::start("[on_demand]\nidle = \"20 ms\"");
    let interest = packet::InterestBuf::new("/nobody".parse().unwrap()).encode();
    let peer = udp_peer();
    peer.send_to(&interest, daemon.udp[0]).unwrap();
    let mut buffer = [0; 2000];
    peer.recv(&mut buffer).unwrap();
    let udp_faces = || {
        let faces = daemon.counters()["faces"].as_array().unwrap().clone();
        faces.iter().filter(|f| f["uri"].as_str().unwrap().starts_with("udp")).count()
    };
    until("the face to go", || (udp_faces() == 0).then_some(()));
    // It may come again.
    peer.send_to(&interest, daemon.udp[0]).unwrap();
    peer.recv(&mut buffer).unwrap();
}

#[test]
fn queued_packets_are_sent_before_the_daemon_exits() {
    // 50 Data of 8 kB at 8 Mbit/s take 400 ms; the daemon is stopped as soon as they are queued.
    let far = Running::start("[daemon]\ndrain = \"30 s\"\n[application]\nrate = \"8 Mbit/s\"");
    let mut stream = far.stream();
    with_producer(&far, "/p", 8000, || {
        for i in 0..50 {
            let name: Name = format!("/p/seg={i}").parse().unwrap();
            stream.write_all(&packet::InterestBuf::new(name).encode()).unwrap();
        }
        until("all in the store", || {
            (far.counters()["content_store"]["entries"] == 50).then_some(())
        });
    });
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all
    });
    far.stop();
    let all = reader.join().unwrap();
    assert!(all.len() > 50 * 8000, "{} bytes came", all.len());
}

/// The register command that python-ndn 0.5.2 sends for `/hello` (captured).
const CAPTURED: &str = "0597074e08096c6f63616c686f737408036e6664080372696208087265676973746572\
    080b68090707080568656c6c6f0220865ee4cdbb28ce3c172544ee8fc43e44a4a3c70177d87e3dc113aac8b2660b47\
    0a04010203040c0203e824002c171b010026088f1d77dd3b05dd192808000001a1f84707a8\
    2e202a32b2d81f4d89e9322ea07f615fef4d288868deb383446082a6830ae5780e05";

// Other projects' programs, "Commands": [peer-15].
#[test]
fn a_captured_register_command_is_executed_and_answered() {
    let daemon = Running::start("");
    let command: Vec<u8> = CAPTURED
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let command = support::signed_now(&command);
    let mut stream = daemon.stream();
    stream.write_all(&command).unwrap();
    let mut buffer = vec![0; 10_000];
    let len = stream.read(&mut buffer).unwrap();
    let link = LpPacket::decode(&buffer[..len]).unwrap();
    let data = Data::decode(link.fragment().unwrap()).unwrap();
    let asked = packet::Interest::decode(&command).unwrap();
    assert_eq!(data.name(), asked.name(), "exactly the command's name");
    assert_eq!(data.freshness_ms(), Some(1000));
    // ControlResponse { 200, "Success", ControlParameters { Name /hello, FaceId, Origin 0, Cost 0,
    // Flags 1 } }, in this order.
    let content = data.content();
    let head = [&[0x65, 0x23, 0x66, 1, 200, 0x67, 7][..], b"Success", &[0x68, 0x15]].concat();
    assert_eq!(&content[..head.len()], head);
    let body = &content[head.len()..];
    assert_eq!(&body[..9], b"\x07\x07\x08\x05hello");
    assert_eq!((body[9], body[10]), (0x69, 1));
    assert!(body[11] > 0, "the face's number");
    assert_eq!(&body[12..], [0x6f, 1, 0, 0x6a, 1, 0, 0x6c, 1, 1]);
}

// Other projects' programs, "Datasets": [peer-31].
#[test]
fn datasets_are_served_and_bad_commands_are_answered() {
    let daemon = Running::start("[[strategy]]\nprefix = \"/m\"\nstrategy = \"multicast\"");
    let mut client = daemon.connect();
    for (name, marker) in [
        ("/localhost/nfd/status/general", Some(128)),
        ("/localhost/nfd/faces/list", Some(128)),
        ("/localhost/nfd/faces/channels", Some(130)),
        ("/localhost/nfd/fib/list", Some(128)),
        ("/localhost/nfd/rib/list", None),
        ("/localhost/nfd/cs/info", Some(128)),
        ("/localhost/nfd/strategy-choice/list", Some(128)),
    ] {
        let name: Name = name.parse().unwrap();
        let content = client.dataset(&name).unwrap();
        assert_eq!(content.first().copied(), marker, "{name}");
    }
    let error = client.register(&"/localhost/nfd/x".parse().unwrap()).unwrap_err().to_string();
    assert!(error.contains("belongs to the forwarder") && error.contains("403"), "{error}");
}

#[test]
fn routes_go_with_their_application() {
    let daemon = Running::start("");
    let mut first = daemon.connect();
    first.register(&"/a".parse().unwrap()).unwrap();
    first.register(&"/b".parse().unwrap()).unwrap();
    first.unregister(&"/b".parse().unwrap()).unwrap();
    // Two prefixes of the forwarder's own, and /a.
    assert_eq!(daemon.counters()["fib"], 3);
    drop(first);
    until("the route to go", || (daemon.counters()["fib"] == 2).then_some(()));
}

#[test]
fn applications_that_only_connect_lock_out_no_others() {
    let daemon = Running::start("[application]\nmax = 3");
    let mut first = daemon.connect();
    first.register(&"/a".parse().unwrap()).unwrap();
    let silent: Vec<_> = (0..5).map(|_| UnixStream::connect(&daemon.socket).unwrap()).collect();
    // A new one is let in, and the one that registered before them keeps its face and its route:
    // two prefixes of the forwarder's own, /a and /b.
    let mut second = daemon.connect();
    second.register(&"/b".parse().unwrap()).unwrap();
    assert_eq!(daemon.counters()["fib"], 4);
    drop(silent);
}

#[test]
fn a_stopped_daemon_takes_its_socket_along_and_two_are_one_too_many() {
    let daemon = Running::start("");
    let text =
        format!("[listen]\nunix = \"{}\"\nudp = \"off\"\ntcp = \"off\"", daemon.socket.display());
    let config = net::config::parse(&text, "second.toml").unwrap();
    let error = net::daemon::Daemon::new(&config).unwrap_err().to_string();
    assert!(error.starts_with("a daemon is already running at /"), "{error}");
    let socket = daemon.socket.clone();
    daemon.stop();
    assert!(!socket.exists());
    let error = Connection::open(Address::Unix(socket)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("there is no such socket"), "{error}");
}

#[test]
fn two_configured_faces_whose_hosts_have_one_address_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("sock");
    for carrier in ["udp4", "tcp4"] {
        let text = format!(
            "[listen]\nudp = \"off\"\ntcp = \"off\"\nunix = \"{}\"\n\
             [[face]]\nuri = \"{carrier}://127.0.0.1:9\"\n\
             [[face]]\nname = \"other\"\nuri = \"{carrier}://localhost:9\"",
            socket.display(),
        );
        let config = net::config::parse(&text, "twice.toml").unwrap();
        let error = net::daemon::Daemon::new(&config).err().unwrap().to_string();
        let expected = format!("the faces `{carrier}://127.0.0.1:9` and `other` lead to the same");
        assert!(error.starts_with(&expected), "{error}");
        assert!(!socket.exists(), "left behind");
    }
}
