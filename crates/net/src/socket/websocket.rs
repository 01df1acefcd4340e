//! WebSocket (RFC 6455), for programs in browsers: one binary message for each packet, as NFD has
//! it.

use super::progress::Progress;
use super::stream::send_at_once;
use crate::config::Origins;
use crate::framing::MAX_FRAME;
use crate::text::shortened;
use mio::net::TcpStream;
use packet::Bytes;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use thiserror::Error;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::http::StatusCode;
use tungstenite::protocol::{Message, WebSocketConfig};
use tungstenite::{Error, WebSocket as Open, accept_hdr_with_config};

/// The bytes read in one call.
const READ: usize = 16 << 10;

/// Bytes of messages that are handed to the kernel in one call; further frames wait in the
/// forwarder's queue.
const CHUNK: usize = 32 << 10;

/// The fewest bytes that a message counts: a Ping of 6 bytes costs an answer.
const LEAST: usize = 64;

/// The maximum number of characters of an origin in a message.
const SHOWN: usize = 100;

/// Why a connection is of no more use.
#[derive(Debug, Error)]
pub enum WebSocketError {
    /// It comes from a page that may not connect.
    #[error("{0}")]
    Page(String),
    /// The opening request is invalid.
    #[error("the peer was rejected: {0}")]
    Rejected(Box<Error>),
    /// The peer violates RFC 6455, sent too long a message, or is gone.
    #[error("the connection broke: {0}")]
    Broken(Box<Error>),
    /// Packets are binary.
    #[error("the peer sent text")]
    Text,
}

/// Decides whether a page may connect.
#[derive(Debug)]
struct Guard(Arc<Origins>);

impl Callback for Guard {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let mut origins = request.headers().get_all("origin").iter();
        let other = origins.find(|origin| !origin.to_str().is_ok_and(|o| self.0.allow(o)));
        let Some(origin) = other else { return Ok(response) };
        let origin = shortened(&String::from_utf8_lossy(origin.as_bytes()), SHOWN);
        let why =
            format!("a page of `{origin}` may not connect; `websocket_origins` lists who may");
        let mut rejected = ErrorResponse::new(Some(why));
        *rejected.status_mut() = StatusCode::FORBIDDEN;
        Err(rejected)
    }
}

/// A stream that limits the bytes read in a turn. The library reads until a message is whole, and a
/// peer can send empty fragments without end; this stream then has no more bytes.
#[derive(Debug)]
struct Metered<S> {
    stream: S,
    /// Bytes that may be read until the next turn.
    left: usize,
}

impl<S: Read> Read for Metered<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let room = buffer.len().min(self.left);
        let read = self.stream.read(&mut buffer[..room])?;
        self.left -= read;
        Ok(read)
    }
}

impl<S: Write> Write for Metered<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[derive(Debug)]
enum State<S: Read + Write> {
    /// No bytes have been read yet.
    New(Metered<S>, Guard),
    /// The request has not come whole.
    Opening(MidHandshake<ServerHandshake<Metered<S>, Guard>>),
    Open(Open<Metered<S>>),
    /// It failed.
    Gone,
}

/// The forwarder's end of a connection over a stream, a TCP socket.
#[derive(Debug)]
pub struct WebSocket<S: Read + Write = TcpStream> {
    state: State<S>,
    unsent: usize,
}

impl WebSocket {
    /// Bytes of memory that a connection may hold beside a message that has not come whole:
    /// itself, the buffer of a read, and waiting frames, in a buffer that doubles.
    pub const MEMORY: usize = size_of::<WebSocket>() + READ + 2 * (CHUNK + MAX_FRAME);

    /// On an accepted connection; pages of these origins may have made it. `None` in a program
    /// without WebSocket.
    #[must_use]
    pub fn accepted(socket: TcpStream, origins: Arc<Origins>) -> Option<WebSocket> {
        send_at_once(&socket);
        Some(WebSocket::over(socket, origins))
    }
}

impl<S: Read + Write> WebSocket<S> {
    /// On any stream that does not block; pages of these origins may have made it.
    #[must_use]
    pub fn over(stream: S, origins: Arc<Origins>) -> WebSocket<S> {
        // The library limits the length of a request.
        let stream = Metered { stream, left: usize::MAX };
        WebSocket { state: State::New(stream, Guard(origins)), unsent: 0 }
    }

    /// The stream, for registration with a poll before anything is read.
    pub fn source(&mut self) -> Option<&mut S> {
        match &mut self.state {
            State::New(socket, _) => Some(&mut socket.stream),
            _ => None,
        }
    }

    /// True if the peer's request has been answered; before, no packet can be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Reads until no bytes are left or `budget` bytes were read; `each` gets every packet. Pings
    /// are answered.
    ///
    /// # Errors
    /// Close the face.
    pub fn receive(
        &mut self,
        budget: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Progress, WebSocketError> {
        if !self.is_open() {
            self.shake_hands()?;
        }
        let State::Open(socket) = &mut self.state else { return Ok(Progress::Blocked) };
        socket.get_mut().left = budget;
        let mut taken = 0;
        while taken < budget {
            taken += LEAST;
            match socket.read() {
                Ok(Message::Binary(packet)) => {
                    taken += packet.len();
                    each(&packet);
                }
                Ok(Message::Text(_)) => return Err(WebSocketError::Text),
                Ok(_) => {}
                Err(error) => match kind(&error) {
                    // The stream may have more: no later event reports it.
                    Kind::Blocked if socket.get_ref().left == 0 => return Ok(Progress::More),
                    Kind::Blocked => return Ok(Progress::Blocked),
                    Kind::Interrupted => {}
                    Kind::Closed => return Ok(Progress::Closed),
                    Kind::Broken => return Err(WebSocketError::Broken(Box::new(error))),
                },
            }
        }
        Ok(Progress::More)
    }

    fn shake_hands(&mut self) -> Result<(), WebSocketError> {
        let begun = match std::mem::replace(&mut self.state, State::Gone) {
            State::New(socket, guard) => {
                let config = WebSocketConfig::default()
                    .read_buffer_size(READ)
                    .write_buffer_size(CHUNK)
                    .max_message_size(Some(MAX_FRAME))
                    .max_frame_size(Some(MAX_FRAME));
                accept_hdr_with_config(socket, guard, Some(config))
            }
            State::Opening(handshake) => handshake.handshake(),
            State::Open(socket) => Ok(socket),
            State::Gone => Err(HandshakeError::Failure(Error::AlreadyClosed)),
        };
        self.state = match begun {
            Ok(socket) => State::Open(socket),
            Err(HandshakeError::Interrupted(handshake)) => State::Opening(handshake),
            Err(HandshakeError::Failure(error)) => return Err(rejected(error)),
        };
        Ok(())
    }

    /// Sends the packets that `fill` appends to `packet`, one at a time, until `fill` has none (it
    /// returns false then), the kernel takes no more, or `budget` bytes were sent. Only if it is
    /// open.
    ///
    /// # Errors
    /// Close the face.
    pub fn send(
        &mut self,
        budget: usize,
        packet: &mut Vec<u8>,
        mut fill: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Progress, WebSocketError> {
        let State::Open(socket) = &mut self.state else { return Ok(Progress::Blocked) };
        let mut sent = 0;
        loop {
            if !is_done(socket.flush())? {
                return Ok(Progress::Blocked);
            }
            sent += std::mem::take(&mut self.unsent);
            if sent >= budget {
                return Ok(Progress::More);
            }
            while self.unsent < CHUNK {
                packet.clear();
                if !fill(packet) {
                    break;
                }
                self.unsent += packet.len();
                let message = Message::Binary(Bytes::copy_from_slice(packet));
                // Bytes that the kernel does not accept now are kept, and flushed later.
                is_done(socket.write(message))?;
            }
            if self.unsent == 0 {
                return Ok(Progress::Done);
            }
        }
    }

    /// Bytes of packets taken for sending that the kernel may not have taken yet.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.unsent
    }
}

/// The reason why a connection failed; for a page, the text sent to it.
fn rejected(error: Error) -> WebSocketError {
    if let Error::Http(answer) = &error
        && let Some(why) = answer.body().as_deref()
    {
        return WebSocketError::Page(String::from_utf8_lossy(why).into_owned());
    }
    WebSocketError::Rejected(Box::new(error))
}

/// The consequence of an error for the connection.
enum Kind {
    Blocked,
    Interrupted,
    Closed,
    Broken,
}

fn kind(error: &Error) -> Kind {
    match error {
        Error::Io(error) if error.kind() == ErrorKind::WouldBlock => Kind::Blocked,
        Error::Io(error) if error.kind() == ErrorKind::Interrupted => Kind::Interrupted,
        Error::ConnectionClosed | Error::AlreadyClosed => Kind::Closed,
        // A page that the user leaves sends no closing frame, and may leave bytes unread.
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Kind::Closed,
        Error::Io(error) if error.kind() == ErrorKind::ConnectionReset => Kind::Closed,
        _ => Kind::Broken,
    }
}

/// True if the call succeeded; false if it would block.
fn is_done(result: Result<(), Error>) -> Result<bool, WebSocketError> {
    match result {
        Ok(()) => Ok(true),
        Err(error) => match kind(&error) {
            Kind::Blocked | Kind::Interrupted => Ok(false),
            Kind::Closed | Kind::Broken => Err(WebSocketError::Broken(Box::new(error))),
        },
    }
}
