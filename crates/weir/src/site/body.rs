//! The body of an answer: a text, or the bytes of a file, read as the client takes them.

use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::fs::File;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The number of bytes of a file in memory for a client.
const PIECE: usize = 64 * 1024;

/// A body.
pub struct SiteBody {
    text: Bytes,
    file: Option<File>,
    left: u64,
}

impl SiteBody {
    /// A few words.
    pub fn text(text: String) -> SiteBody {
        SiteBody { left: text.len() as u64, text: Bytes::from(text), file: None }
    }

    /// This many bytes of a file.
    pub fn file(file: File, bytes: u64) -> SiteBody {
        SiteBody { text: Bytes::new(), file: Some(file), left: bytes }
    }

    /// Reads the next bytes. A disk answers soon enough to be waited for.
    fn next(&mut self) -> io::Result<Bytes> {
        let Some(file) = &mut self.file else { return Ok(std::mem::take(&mut self.text)) };
        let size = usize::try_from(self.left).map_or(PIECE, |left| left.min(PIECE));
        let mut piece = vec![0; size];
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        piece.truncate(read);
        Ok(Bytes::from(piece))
    }
}

impl Body for SiteBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let content = self.get_mut();
        if content.left == 0 {
            return Poll::Ready(None);
        }
        let next = content.next().map(|bytes| {
            content.left = content.left.saturating_sub(bytes.len() as u64);
            Frame::data(bytes)
        });
        Poll::Ready(Some(next))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
