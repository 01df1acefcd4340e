//! The sockets of faces.

use crate::batch::Batch;
use crate::socket::ether::Sender;
use crate::socket::stream::{Socket, Stream};
use crate::socket::udp::Udp;
use crate::socket::websocket::WebSocket;
use control::Time;
use mio::{Interest, Registry, Token};
use std::io;

/// The socket, or other carrier, of a face's frames.
#[derive(Debug)]
pub(in crate::daemon) enum Link {
    Stream(Stream),
    /// Few faces have one, and it is large.
    WebSocket(Box<WebSocket>),
    Udp(Udp, Batch),
    Ether(Sender, Batch),
    /// Broken or not yet connected; what is sent meanwhile is lost, as on a broken wire.
    Down {
        retry: Time,
    },
}

impl Link {
    /// True if frames can be sent.
    pub fn is_up(&self) -> bool {
        match self {
            Link::Stream(_) | Link::Udp(..) | Link::Ether(..) => true,
            Link::WebSocket(socket) => socket.is_open(),
            Link::Down { .. } => false,
        }
    }

    /// True for UDP and Ethernet.
    pub fn is_framed(&self) -> bool {
        matches!(self, Link::Udp(..) | Link::Ether(..))
    }

    /// Bytes of memory that it takes beyond what every face keeps.
    pub fn memory(&self) -> usize {
        match self {
            Link::Stream(stream) => stream.memory(),
            Link::WebSocket(_) => WebSocket::MEMORY,
            Link::Udp(_, batch) | Link::Ether(_, batch) => batch.memory(),
            Link::Down { .. } => 0,
        }
    }

    /// Has the poll report what it is ready for.
    ///
    /// # Errors
    /// The system's.
    pub fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interests = Interest::READABLE | Interest::WRITABLE;
        match self {
            Link::Udp(udp, _) => registry.register(udp.source(), token, interests),
            Link::Ether(sender, _) => sender.register(registry, token),
            Link::Stream(stream) => registry.register(stream.socket().source(), token, interests),
            Link::WebSocket(socket) => match socket.source() {
                Some(source) => registry.register(source, token, interests),
                None => Ok(()),
            },
            Link::Down { .. } => Ok(()),
        }
    }

    /// True if the TCP handshake is complete. True for Unix sockets.
    ///
    /// # Errors
    /// The reason why it never will be connected.
    pub fn is_connected(&mut self) -> Result<bool, String> {
        let Link::Stream(stream) = self else {
            return Err("it was rejected".to_owned());
        };
        let Socket::Tcp(socket) = stream.socket() else { return Ok(true) };
        match socket.take_error() {
            Ok(None) => Ok(socket.peer_addr().is_ok()),
            Ok(Some(error)) | Err(error) => Err(error.to_string()),
        }
    }

    /// True if something waits for the kernel to take it.
    pub fn has_unsent(&self) -> bool {
        match self {
            Link::Stream(stream) => stream.unsent() > 0,
            Link::WebSocket(socket) => socket.unsent() > 0,
            Link::Udp(_, batch) | Link::Ether(_, batch) => !batch.is_empty(),
            Link::Down { .. } => false,
        }
    }

    /// Collects frames in this buffer, which all faces share, unless some wait in its own.
    pub fn borrow(&mut self, out: &mut Vec<u8>) {
        match self {
            Link::Stream(stream) => stream.borrow(out),
            Link::Udp(_, batch) | Link::Ether(_, batch) => batch.borrow(out),
            Link::WebSocket(_) | Link::Down { .. } => {}
        }
    }

    /// Gives the shared buffer back. `tight`: memory is short, so that its own shrinks.
    pub fn return_buffer(&mut self, out: &mut Vec<u8>, tight: bool) {
        match self {
            Link::Stream(stream) => stream.return_buffer(out, tight),
            Link::Udp(_, batch) | Link::Ether(_, batch) => batch.return_buffer(out, tight),
            Link::WebSocket(_) | Link::Down { .. } => {}
        }
    }
}
