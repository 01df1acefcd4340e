//! WebSocket in a program built without it. The configuration cannot ask for it, so no such
//! connection exists.

use super::progress::Progress;
use crate::config::Origins;
use mio::net::TcpStream;
use std::convert::Infallible;
use std::sync::Arc;

/// The forwarder's end of a connection, which does not exist.
#[derive(Debug)]
pub enum WebSocket {}

impl WebSocket {
    /// Bytes of memory that a connection holds.
    pub const MEMORY: usize = 0;

    /// On an accepted connection.
    #[must_use]
    pub fn accepted(_: TcpStream, _: Arc<Origins>) -> Option<WebSocket> {
        None
    }

    /// The stream, for registration with a poll.
    pub fn source(&mut self) -> Option<&mut TcpStream> {
        match *self {}
    }

    /// True if packets can be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match *self {}
    }

    /// Reads packets.
    ///
    /// # Errors
    /// Close the face.
    pub fn receive(&mut self, _: usize, _: impl FnMut(&[u8])) -> Result<Progress, Infallible> {
        match *self {}
    }

    /// Sends packets.
    ///
    /// # Errors
    /// Close the face.
    pub fn send(
        &mut self,
        _: usize,
        _: &mut Vec<u8>,
        _: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Progress, Infallible> {
        match *self {}
    }

    /// Bytes that wait to be sent.
    #[must_use]
    pub fn unsent(&self) -> usize {
        match *self {}
    }
}
