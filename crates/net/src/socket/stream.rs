//! Byte streams: TCP and Unix sockets.

use super::peer;
use super::progress::Progress;
use crate::framing::{MAX_FRAME, Unframer};
use crate::management::authority::Account;
use forwarder::tables::memory;
use mio::net::{TcpStream, UnixStream};
use packet::tlv::DecodeError;
use std::io::{self, ErrorKind, Read, Write};

/// The size of the buffer for reads from all streams: that of a Unix socket's buffer, so that one
/// call empties it.
pub const READ_BUFFER: usize = 256 << 10;

/// The bytes passed to the kernel in one call. Further packets wait in the forwarder's queue, where
/// their sojourn time is known.
pub const WRITE_CHUNK: usize = 128 << 10;

/// A connected stream socket.
#[derive(Debug)]
pub enum Socket {
    /// To another host, or over the loopback interface.
    Tcp(TcpStream),
    /// To a program on this host.
    Unix(UnixStream),
}

impl Socket {
    /// The socket, for registration with a poll.
    pub fn source(&mut self) -> &mut dyn mio::event::Source {
        match self {
            Socket::Tcp(s) => s,
            Socket::Unix(s) => s,
        }
    }

    /// The user whose program is at the other end, if it is on this host and the kernel reports it.
    /// Over a Unix socket this is the user who connected; a TCP connection is looked up.
    #[must_use]
    pub fn account(&self) -> Option<Account> {
        match self {
            Socket::Tcp(s) => peer::account(s.peer_addr().ok()?, s.local_addr().ok()?),
            Socket::Unix(s) => peer::credentials(s),
        }
    }

    /// The error that the connection ended with, if it did.
    ///
    /// # Errors
    ///
    /// The system's error of the call itself.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Socket::Tcp(s) => s.take_error(),
            Socket::Unix(s) => s.take_error(),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s) => s.read(buffer),
            Socket::Unix(s) => s.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s) => s.write(bytes),
            Socket::Unix(s) => s.write(bytes),
        }
    }
}

/// A lone Interest must not wait for the acknowledgement of the one before it.
pub(super) fn send_at_once(socket: &TcpStream) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY rejected");
    }
}

/// Why a stream is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The peer sent bytes that are no frame.
    #[error("the peer sent invalid NDN data: {0}")]
    NotNdn(#[from] DecodeError),
    /// The peer closed it, perhaps with unread bytes: it needed no more.
    #[error("the other end closed it")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> StreamError {
        match error.kind() {
            // A socket closed with unread bytes resets its connection.
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => StreamError::Closed,
            _ => StreamError::Broken(error),
        }
    }
}

/// A stream, with bytes that were read or written in part.
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    unframer: Unframer,
    out: Vec<u8>,
    written: usize,
}

impl Stream {
    /// A stream on a connected (or connecting) socket.
    #[must_use]
    pub fn new(socket: Socket) -> Stream {
        if let Socket::Tcp(s) = &socket {
            send_at_once(s);
        }
        Stream { socket, unframer: Unframer::new(), out: Vec::new(), written: 0 }
    }

    /// See [`Socket::account`].
    #[must_use]
    pub fn account(&self) -> Option<Account> {
        self.socket.account()
    }

    /// The socket.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// Reads until no bytes are left or `budget` bytes were taken; `each` gets every whole frame.
    /// `buffer` has [`READ_BUFFER`] bytes and is shared between streams.
    ///
    /// # Errors
    /// The connection broke, or the received bytes are no frame; close the face.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        budget: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Progress, StreamError> {
        debug_assert!(buffer.len() > 2 * MAX_FRAME);
        let mut taken = 0;
        while taken < budget {
            let kept = self.unframer.begin(buffer);
            let room = buffer.len() - kept;
            let read = self.socket.read(&mut buffer[kept..]);
            let bytes = *read.as_ref().unwrap_or(&0);
            self.unframer.frames(&buffer[..kept + bytes], &mut each)?;
            match read {
                Ok(0) => return Ok(Progress::Closed),
                // After a short read the socket is empty; later bytes are a new edge.
                Ok(n) if n < room => return Ok(Progress::Blocked),
                Ok(n) => taken += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Progress::Blocked),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(Progress::More)
    }

    /// Sends the frames that `fill` appends until `fill` has none (it returns false then), the
    /// kernel takes no more, or `budget` bytes were sent.
    ///
    /// # Errors
    /// The connection broke; close the face.
    pub fn send(
        &mut self,
        budget: usize,
        mut fill: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Progress, StreamError> {
        let mut sent = 0;
        loop {
            let mut more = true;
            while more && self.out.len() < WRITE_CHUNK {
                more = fill(&mut self.out);
            }
            while self.written < self.out.len() {
                match self.socket.write(&self.out[self.written..]) {
                    Ok(n) => {
                        self.written += n;
                        sent += n;
                    }
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Progress::Blocked),
                    Err(e) if e.kind() == ErrorKind::NotConnected => return Ok(Progress::Blocked),
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(e.into()),
                }
            }
            self.out.clear();
            self.written = 0;
            if !more {
                return Ok(Progress::Done);
            }
            if sent >= budget {
                return Ok(Progress::More);
            }
        }
    }

    /// Takes a buffer that faces lend each other to collect frames to send, unless bytes wait in
    /// its own.
    pub fn borrow(&mut self, spare: &mut Vec<u8>) {
        if self.out.is_empty() {
            std::mem::swap(&mut self.out, spare);
        }
    }

    /// Returns the buffer. Bytes that wait to be sent keep it; if `tight`, they keep only as much
    /// memory as they need.
    pub fn return_buffer(&mut self, spare: &mut Vec<u8>, tight: bool) {
        if self.unsent() == 0 {
            let out = std::mem::take(&mut self.out);
            if spare.capacity() < out.capacity() {
                *spare = out;
                spare.clear();
            }
            self.written = 0;
        } else if tight {
            self.out.drain(..std::mem::take(&mut self.written));
            self.out.shrink_to_fit();
        }
    }

    /// Bytes of memory that it holds for waiting frames.
    #[must_use]
    pub fn memory(&self) -> usize {
        memory::block(self.out.capacity())
    }

    /// Bytes taken for sending that the kernel has not taken yet.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.out.len() - self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Stream, UnixStream) {
        let (a, b) = UnixStream::pair().unwrap();
        (Stream::new(Socket::Unix(a)), b)
    }

    #[test]
    fn frames_come_whole_whatever_the_writes_were() {
        let (mut stream, mut peer) = pair();
        let mut buffer = vec![0; READ_BUFFER];
        let mut got: Vec<Vec<u8>> = Vec::new();
        let frame = [vec![6, 253, 3, 232], vec![7; 1000]].concat();
        peer.write_all(&frame[..3]).unwrap();
        let first = stream.receive(&mut buffer, 1 << 20, |f| got.push(f.to_vec())).unwrap();
        assert_eq!((first, got.len()), (Progress::Blocked, 0));
        peer.write_all(&[&frame[3..], &frame, &frame[..500]].concat()).unwrap();
        stream.receive(&mut buffer, 1 << 20, |f| got.push(f.to_vec())).unwrap();
        assert_eq!(got, [frame.clone(), frame]);
        drop(peer);
        let end = stream.receive(&mut buffer, 1 << 20, |_| ()).unwrap();
        assert_eq!(end, Progress::Closed);
    }

    #[test]
    fn only_what_waits_keeps_a_buffer() {
        let (mut stream, mut peer) = pair();
        let mut spare = Vec::new();
        let mut send = |stream: &mut Stream, packets: usize| {
            let mut left = packets;
            stream.borrow(&mut spare);
            let sent = stream.send(64 << 20, |out| {
                out.extend([1; 4000]);
                left -= 1;
                left > 0
            });
            stream.return_buffer(&mut spare, true);
            (sent.unwrap(), spare.capacity())
        };
        let (sent, spare) = send(&mut stream, 3);
        assert_eq!((sent, stream.memory()), (Progress::Done, 0));
        assert!(spare >= 12_000, "the next one need not allocate: {spare}");
        let (sent, _) = send(&mut stream, 1000);
        assert_eq!(sent, Progress::Blocked);
        assert_eq!(stream.memory(), memory::block(stream.unsent()), "and no more");
        let mut read = vec![0; 12_000];
        peer.read_exact(&mut read).unwrap();
        assert_eq!(read, vec![1; 12_000]);
    }

    #[test]
    fn a_peer_that_leaves_before_it_has_read_everything_has_closed_it() {
        let (mut stream, peer) = pair();
        let mut is_first = true;
        let fill = |out: &mut Vec<u8>| {
            out.extend([1; 4000]);
            std::mem::take(&mut is_first)
        };
        assert_eq!(stream.send(1 << 20, fill).unwrap(), Progress::Done);
        drop(peer);
        let error = stream.receive(&mut vec![0; READ_BUFFER], 1 << 20, |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "the other end closed it");
        let full = |out: &mut Vec<u8>| {
            out.push(1);
            false
        };
        let error = stream.send(1 << 20, full).unwrap_err();
        assert!(matches!(error, StreamError::Closed), "{error}");
    }

    #[test]
    fn a_stream_that_is_not_ndn_is_an_error() {
        let (mut stream, mut peer) = pair();
        let mut buffer = vec![0; READ_BUFFER];
        peer.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let error = stream.receive(&mut buffer, 1 << 20, |_| ()).unwrap_err();
        assert!(matches!(error, StreamError::NotNdn(_)), "{error}");
    }

    #[test]
    fn a_full_kernel_leaves_the_rest_with_the_caller() {
        let (mut stream, mut peer) = pair();
        let mut filled = 0;
        let fill = |filled: &mut usize, out: &mut Vec<u8>| {
            *filled += 1;
            out.extend([1; 4000]);
            *filled < 1000
        };
        let stopped = stream.send(64 << 20, |out| fill(&mut filled, out)).unwrap();
        assert_eq!(stopped, Progress::Blocked);
        // No more than one chunk was taken beyond the kernel's buffer.
        assert!(stream.unsent() > 0 && stream.unsent() <= WRITE_CHUNK + 4000);
        let mut read = 0;
        let mut sink = vec![0; 1 << 20];
        let mut state = stopped;
        while read < 4_000_000 {
            read += peer.read(&mut sink).unwrap_or(0);
            if state == Progress::Blocked && filled < 1000 {
                state = stream.send(64 << 20, |out| fill(&mut filled, out)).unwrap();
            } else if stream.unsent() > 0 {
                stream.send(64 << 20, |_| false).unwrap();
            }
        }
        assert_eq!((read, filled, stream.unsent()), (4_000_000, 1000, 0));
    }
}
