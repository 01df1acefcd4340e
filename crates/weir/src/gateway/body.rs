//! The body of an answer, as the HTTP library takes it.

use crate::file::{Cut, Reader};
use crate::gateway::slots::Slot;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A body.
pub enum AnswerBody {
    /// A few words.
    Text(Bytes),
    /// The bytes of a fetch. The client gets no proper end if the object has none.
    Fetched {
        /// Their source.
        reader: Reader,
        /// The answer's, until all of it is sent.
        _slot: Arc<Slot>,
    },
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            AnswerBody::Text(text) if text.is_empty() => Poll::Ready(None),
            AnswerBody::Text(text) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(text))))),
            AnswerBody::Fetched { reader, .. } => {
                reader.poll_next(cx).map(|next| next.map(|bytes| bytes.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, AnswerBody::Text(text) if text.is_empty())
    }

    /// The headers have the size of fetched bytes, if it is known.
    fn size_hint(&self) -> SizeHint {
        match self {
            AnswerBody::Text(text) => SizeHint::with_exact(text.len() as u64),
            AnswerBody::Fetched { .. } => SizeHint::default(),
        }
    }
}
