//! The body of an upload on its way from the connection to the thread that stores it.

use hyper::body::Bytes;
use std::io::{Error, ErrorKind, Read, Result};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Pieces that wait. The HTTP library makes none larger than its buffer.
const WAITING: usize = 8;

/// A part of a body.
enum Piece {
    Bytes(Bytes),
    /// All of it has come.
    End,
}

/// The writing end. Dropping it before [`Writer::end`] breaks the body off.
pub struct Writer(Sender<Piece>);

/// The reading end, for a thread that may wait.
pub struct Pieces {
    pieces: Receiver<Piece>,
    rest: Bytes,
    is_over: bool,
}

/// Both ends.
pub fn pieces() -> (Writer, Pieces) {
    let (writer, pieces) = channel(WAITING);
    (Writer(writer), Pieces { pieces, rest: Bytes::new(), is_over: false })
}

impl Writer {
    /// Gives bytes. Returns false if the other end is gone.
    pub async fn write(&self, bytes: Bytes) -> bool {
        self.0.send(Piece::Bytes(bytes)).await.is_ok()
    }

    /// The body is whole.
    pub async fn end(self) {
        // The other end may have gone already.
        let _ = self.0.send(Piece::End).await;
    }
}

impl Pieces {
    /// Waits for the first bytes, or for the end of the body. Returns false if the client
    /// disconnects before.
    pub fn wait_for_start(&mut self) -> bool {
        self.wait().is_ok()
    }

    /// Waits until there are bytes, or all of them have come.
    fn wait(&mut self) -> Result<()> {
        while self.rest.is_empty() && !self.is_over {
            match self.pieces.blocking_recv() {
                Some(Piece::Bytes(bytes)) => self.rest = bytes,
                Some(Piece::End) => self.is_over = true,
                None => {
                    let what = "the client disconnected before the upload was complete";
                    return Err(Error::new(ErrorKind::UnexpectedEof, what));
                }
            }
        }
        Ok(())
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.wait()?;
        let len = self.rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self.rest.split_to(len));
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that the reader gets of a body that ends, or breaks off.
    fn read(ends: bool) -> Result<Vec<u8>> {
        let (writer, mut pieces) = pieces();
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(async {
            for bytes in [&b"ab"[..], b"", b"c"] {
                assert!(writer.write(Bytes::from_static(bytes)).await);
            }
            if ends {
                writer.end().await;
            }
        });
        let mut all = Vec::new();
        pieces.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn a_body_without_an_end_is_not_whole() {
        assert_eq!(read(true).unwrap(), b"abc");
        assert_eq!(read(false).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
