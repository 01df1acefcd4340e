//! A WebSocket peer that sends what it likes, cut wherever it likes: the handshake with its origin,
//! then frames. Only pages of allowed origins get past the handshake, no packet is longer than a
//! link-layer frame may be, and the memory for a peer that reads nothing is bounded.
//!
//! The input's first byte chooses: a request of the peer's own, or a correct one before its frames,
//! whose masks are put right. The second byte is how much arrives at a time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::config::Origins;
use net::framing::MAX_FRAME;
use net::socket::Progress;
use net::socket::websocket::WebSocket;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result, Write};
use std::sync::Arc;

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\
                       Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
/// A page that may connect.
const PAGE: &str = "https://app.example";

/// The peer, with limits on the bytes of one read and on the bytes written until it takes no more.
#[derive(Debug)]
struct Peer {
    sends: VecDeque<u8>,
    at_a_time: usize,
    ready: bool,
    takes: usize,
    received: Vec<u8>,
}

impl Read for Peer {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        // Every other call finds nothing, as a socket that does not block.
        self.ready = !self.ready;
        if !self.ready && !self.sends.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let len = out.len().min(self.at_a_time);
        self.sends.read(&mut out[..len])
    }
}

impl Write for Peer {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let len = bytes.len().min(self.takes);
        if len == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.takes -= len;
        self.received.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Frames as a peer sends them: each is masked, and here the mask is zero. Their opcodes, lengths
/// and contents are the input's.
fn frames(mut input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(([first, len], rest)) = input.split_first_chunk() {
        let (content, rest) = rest.split_at(usize::from(*len).min(rest.len()));
        input = rest;
        let len = content.len() as u16;
        match len {
            0..=125 => out.extend([*first, 0x80 | len as u8]),
            _ => {
                out.extend([*first, 0x80 | 126]);
                out.extend(len.to_be_bytes());
            }
        }
        out.extend([0; 4]);
        out.extend_from_slice(content);
    }
    out
}

fuzz_target!(|input: &[u8]| {
    let [how, at_a_time, input @ ..] = input else { return };
    let sends = match how & 3 {
        0 => input.to_vec(),
        1 => [REQUEST.as_bytes(), input].concat(),
        2 => [REQUEST.as_bytes(), b"\r\n", input].concat(),
        _ => [REQUEST.as_bytes(), b"\r\n", &frames(input)].concat(),
    };
    let peer = Peer {
        sends: sends.clone().into(),
        at_a_time: usize::from(*at_a_time) + 1,
        ready: true,
        takes: usize::from(how >> 2) * 64,
        received: Vec::new(),
    };
    let origins = Origins::Listed(vec![PAGE.to_owned()]);
    let mut socket = WebSocket::over(peer, Arc::new(origins));
    let mut packets = 0;
    // Each call takes something, finds nothing once, or ends it.
    for _ in 0..2 * sends.len() + 4 {
        let received = socket.receive(1 << 14, |packet| {
            assert!(packet.len() <= MAX_FRAME);
            packets += 1;
        });
        match received {
            Ok(Progress::Closed) | Err(_) => break,
            Ok(_) => {}
        }
        if socket.is_open() {
            let mut left = 3;
            let sent = socket.send(1 << 12, &mut Vec::new(), |packet| {
                packet.resize(1000, 7);
                left -= 1;
                left >= 0
            });
            assert!(socket.unsent() <= 1 << 16);
            if sent.is_err() {
                break;
            }
        }
    }
    assert!(packets <= sends.len());
    if how & 3 == 1 {
        // A request with a forbidden origin is rejected.
        let head = String::from_utf8_lossy(&sends).to_ascii_lowercase();
        let head = head.split("\r\n\r\n").next().unwrap_or_default();
        let named = head.lines().filter_map(|line| line.strip_prefix("origin:"));
        let foreign = |origin: &str| origin.trim() == "https://evil.example";
        assert!(!named.into_iter().any(foreign) || !socket.is_open());
    }
});
