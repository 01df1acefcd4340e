//! The body of an answer, as the HTTP library takes it.

use crate::file::{Cut, Reader};
use crate::gateway::client::Asked;
use crate::gateway::slots::Slot;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Bytes that are given to a stream of HTTP/2 at a time. The library keeps them if the client's
/// window has no room for them.
pub const FRAME: usize = 16 * 1024;

/// A body.
pub struct AnswerBody {
    content: Content,
    /// The request, until all of the answer is given to the connection.
    asked: Option<Asked>,
}

enum Content {
    /// A few words, or a page.
    Text(Bytes),
    /// The bytes of a fetch. The client gets no proper end if the object has none.
    Fetched {
        /// Their source.
        reader: Reader,
        /// Bytes that have come from there.
        rest: Bytes,
        /// The answer's, until all of it is sent.
        _slot: Arc<Slot>,
    },
}

impl AnswerBody {
    /// A few words, or none.
    pub fn text(text: impl Into<Bytes>) -> AnswerBody {
        AnswerBody { content: Content::Text(text.into()), asked: None }
    }

    /// The bytes of a fetch, which holds its slot.
    pub fn fetched(reader: Reader, slot: Arc<Slot>) -> AnswerBody {
        let content = Content::Fetched { reader, rest: Bytes::new(), _slot: slot };
        AnswerBody { content, asked: None }
    }

    /// The body of the answer to this request.
    pub fn of(mut self, mut asked: Asked) -> AnswerBody {
        if matches!(self.content, Content::Text(_)) {
            asked.end();
        }
        self.asked = Some(asked);
        self
    }

    fn is_stream(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.client().is_stream())
    }

    fn note(&mut self, next: Option<&Result<Frame<Bytes>, Cut>>) {
        let Some(asked) = &mut self.asked else { return };
        match next {
            // It is polled for the next bytes when the client's window has room for them.
            Some(Ok(_)) if asked.client().is_stream() => asked.client().mark_stalled(),
            Some(Ok(_)) => {}
            // A truncated answer was not cancelled by the client.
            Some(Err(_)) | None => asked.end(),
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let body = self.get_mut();
        let most = if body.is_stream() { FRAME } else { usize::MAX };
        if let Some(asked) = body.asked.as_ref().filter(|asked| asked.client().is_stream()) {
            asked.client().mark_progress();
        }
        let next = match &mut body.content {
            Content::Text(text) if text.is_empty() => None,
            Content::Text(text) => Some(Ok(std::mem::take(text))),
            Content::Fetched { reader, rest, .. } if rest.is_empty() => {
                let next = ready!(reader.poll_next(cx));
                next.map(|bytes| {
                    *rest = bytes?;
                    Ok(rest.split_to(rest.len().min(most)))
                })
            }
            Content::Fetched { rest, .. } => Some(Ok(rest.split_to(rest.len().min(most)))),
        };
        let next = next.map(|bytes| bytes.map(Frame::data));
        body.note(next.as_ref());
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Text(text) if text.is_empty())
    }

    /// The headers have the size of fetched bytes, if it is known.
    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Text(text) => SizeHint::with_exact(text.len() as u64),
            Content::Fetched { .. } => SizeHint::default(),
        }
    }
}
