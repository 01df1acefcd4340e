//! Programs in browsers, which attach by WebSocket (RFC 6455), one packet a message, as with NFD.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod support;

use net::client::lists;
use packet::{Bytes, Data, DataBuf, Interest, InterestBuf, LpPacket};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use support::{Consumer, LONG, Running, content, until, with_producer};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Error, HandshakeError, Message, WebSocket};

fn start(rest: &str) -> Running {
    Running::start(&format!("websocket = \"127.0.0.1:0\"\n{rest}"))
}

/// Attaches, as a page of this origin if there is one.
fn attach(daemon: &Running, origin: Option<&str>) -> Result<WebSocket<TcpStream>, Error> {
    let at = daemon.websocket[0];
    let stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut request = format!("ws://{at}/").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("Origin", origin.parse().unwrap());
    }
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(error)) => Err(error),
        Err(HandshakeError::Interrupted(_)) => panic!("it does not answer"),
    }
}

fn asking(name: &str) -> Bytes {
    let mut interest = InterestBuf::new(name.parse().unwrap());
    (interest.can_be_prefix, interest.must_be_fresh, interest.nonce) = (true, true, Some(1));
    interest.encode()
}

/// The next network packet that comes.
fn next(socket: &mut WebSocket<TcpStream>) -> Vec<u8> {
    loop {
        let Message::Binary(frame) = socket.read().unwrap() else { continue };
        if let Some(packet) = LpPacket::decode(&frame).unwrap().fragment() {
            return packet.to_vec();
        }
    }
}

/// True if the daemon ends the connection; otherwise nothing arrives for long.
fn is_closed(page: &mut WebSocket<TcpStream>) -> bool {
    loop {
        match page.read() {
            Ok(_) => {}
            Err(Error::Io(error)) => return error.kind() != ErrorKind::WouldBlock,
            Err(_) => return true,
        }
    }
}

// Other projects' programs, "Other carriers": [peer-44].
#[test]
fn packets_go_both_ways_one_in_a_message() {
    let daemon = start("");
    let mut page = attach(&daemon, None).unwrap();
    with_producer(&daemon, "/p", 8000, || {
        for segment in 0..20 {
            page.write(Message::binary(asking(&format!("/p/seg={segment}")))).unwrap();
        }
        page.flush().unwrap();
        let mut got: Vec<Vec<u8>> = Vec::new();
        while got.len() < 20 {
            got.push(Data::decode(&next(&mut page)).unwrap().content().to_vec());
        }
        got.sort();
        let mut expected: Vec<Vec<u8>> = (0..20).map(|segment| content(segment, 8000)).collect();
        expected.sort();
        assert_eq!(got, expected);
    });
}

#[test]
fn a_page_produces_for_others() {
    let daemon = start("");
    let mut page = attach(&daemon, None).unwrap();
    let mut manager = daemon.connect();
    let face = until("the page's face", || {
        let faces = lists::faces(&mut manager).unwrap();
        let page = faces.iter().find(|face| face.uri.starts_with("wsclient://127.0.0.1:"));
        page.map(|face| face.id)
    });
    manager.add_route(&"/page".parse().unwrap(), face, 0).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                let asked = next(&mut page);
                let name = Interest::decode(&asked).unwrap().name().to_name();
                let segment = name.as_ref().last().unwrap().as_segment().unwrap();
                let data = DataBuf::new(name, content(segment, 8000)).encode_digest();
                page.send(Message::binary(data)).unwrap();
            }
            page.close(None).unwrap();
            while page.read().is_ok() {}
        });
        Consumer::new("/page", 300, 100).fetch(&daemon, 8000);
    });
    // Its route goes with it.
    until("the route to go", || {
        let routes = lists::routes(&mut manager).unwrap();
        routes.iter().all(|route| route.prefix.to_string() != "/page").then_some(())
    });
}

#[test]
fn pages_of_other_servers_may_connect_only_if_configured() {
    let rejected = |daemon: &Running, origin: &str| match attach(daemon, Some(origin)) {
        Ok(_) => false,
        Err(Error::Http(answer)) => {
            let text = String::from_utf8(answer.body().clone().unwrap()).unwrap();
            assert!(text.contains(origin) && text.contains("websocket_origins"), "{text}");
            answer.status() == 403
        }
        Err(error) => panic!("{origin}: {error}"),
    };
    let daemon = start("");
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://"] {
        assert!(rejected(&daemon, origin), "{origin}");
    }
    for origin in ["http://localhost:8000", "https://127.0.0.1", "http://[::1]:80"] {
        assert!(!rejected(&daemon, origin), "{origin}");
    }
    let daemon = start("websocket_origins = [\"https://app.example\"]");
    assert!(!rejected(&daemon, "https://app.example") && !rejected(&daemon, "http://localhost"));
    assert!(
        rejected(&daemon, "http://app.example") && rejected(&daemon, "https://app.example:444")
    );
    let daemon = start("websocket_origins = \"any\"");
    assert!(!rejected(&daemon, "https://evil.example"));
}

// Other projects' programs, "Other carriers": [peer-44].
#[test]
fn invalid_messages_close_the_face_and_not_the_daemon() {
    let daemon = start("");
    for message in [Message::text("hello"), Message::binary(vec![5; 20_000])] {
        let mut page = attach(&daemon, None).unwrap();
        page.send(message).unwrap();
        assert!(is_closed(&mut page));
    }
    // A Pong longer than RFC 6455, 5.5, lets it be, which the library here would not send.
    let mut page = attach(&daemon, None).unwrap();
    let pong = [&[0x8a, 0xfe, 0, 126, 0, 0, 0, 0][..], &[0; 126]].concat();
    page.get_mut().write_all(&pong).unwrap();
    assert!(is_closed(&mut page));
    // Those that never speak WebSocket.
    for junk in [&b"\x05\x02\x21\x00"[..], b"GET / HTTP/1.1\r\n\r\n", &[b'a'; 200_000]] {
        let mut stream = TcpStream::connect(daemon.websocket[0]).unwrap();
        let _ = stream.write_all(junk);
        stream.shutdown(std::net::Shutdown::Write).unwrap_or_default();
        let _ = stream.read_to_end(&mut Vec::new());
    }
    until("all to be gone", || {
        (daemon.counters()["faces"].as_array().unwrap().len() <= 2).then_some(())
    });
    with_producer(&daemon, "/p", 10, || Consumer::new("/p", 5, 1).fetch(&daemon, 10));
}

#[test]
fn a_page_on_this_host_is_local_only_if_configured() {
    let daemon = start("[on_demand]\nlocal = true");
    let mut page = attach(&daemon, None).unwrap();
    page.send(Message::binary(asking("/localhost/nfd/faces/channels"))).unwrap();
    let answer = next(&mut page);
    let listed = Data::decode(&answer).unwrap().content().to_vec();
    let uri = format!("ws://{}", daemon.websocket[0]);
    assert!(listed.windows(uri.len()).any(|part| part == uri.as_bytes()), "{listed:?}");
    let daemon = start("");
    let mut page = attach(&daemon, None).unwrap();
    with_producer(&daemon, "/p", 10, || {
        page.send(Message::binary(asking("/localhost/nfd/faces/channels"))).unwrap();
        page.send(Message::binary(asking("/p/seg=0"))).unwrap();
        let first = next(&mut page);
        assert_eq!(Data::decode(&first).unwrap().name().to_string(), "/p/seg=0");
    });
    assert_eq!(daemon.counters()["drops"]["scope"], 1);
}

/// A peer with all bytes ready, which takes every answer.
struct Ready<R> {
    sent: R,
}

impl<R: Read> Read for Ready<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.sent.read(buffer)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            read => Ok(read),
        }
    }
}

impl<R> Write for Ready<R> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A frame of a client (RFC 6455, 5.2): its first byte, the masked length 0 or 1, a mask of zeros.
fn frame(first: u8, content: &[u8]) -> Vec<u8> {
    [&[first, 0x80 | content.len() as u8, 0, 0, 0, 0][..], content].concat()
}

#[test]
fn a_turn_reads_a_part_of_what_a_peer_has_sent_however_it_is_cut() {
    const BUDGET: usize = 64 << 10;
    const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\
                           Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                           Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    const TURNS: usize = 20;
    let count = TURNS * BUDGET / 6;
    // One message in many empty fragments, and a message in many pongs.
    let fragments = [frame(0x02, b""), frame(0x00, b"").repeat(count), frame(0x80, b"x")].concat();
    let pongs = [frame(0x8a, b"").repeat(count), frame(0x82, b"x")].concat();
    for sent in [fragments, pongs] {
        let origins = std::sync::Arc::new(net::config::Origins::Listed(Vec::new()));
        // No read has both the request and the peer's bytes after its answer.
        let stream = Ready { sent: REQUEST.as_bytes().chain(&sent[..]) };
        let mut socket = net::socket::websocket::WebSocket::over(stream, origins);
        let (mut packets, mut turns) = (Vec::new(), 1);
        while socket.receive(BUDGET, |packet| packets.push(packet.to_vec())).unwrap()
            == net::socket::Progress::More
        {
            turns += 1;
        }
        assert_eq!(packets, [b"x"]);
        assert!(turns >= TURNS, "all was read in {turns} turns");
    }
}
