//! A client's connection, which notes whether the client reads.

use crate::gateway::client::Client;
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The connection.
pub struct Watched {
    stream: TcpStream,
    client: Arc<Client>,
    /// Bytes that were read to detect the protocol, and are read again.
    ahead: Vec<u8>,
}

impl Watched {
    /// One of this client.
    pub fn new(stream: TcpStream, client: Arc<Client>) -> Watched {
        Watched { stream, client, ahead: Vec::new() }
    }

    /// Returns read bytes to the stream, before the bytes that follow.
    #[cfg(feature = "http2")]
    pub fn put_back(&mut self, bytes: Vec<u8>) {
        self.ahead = bytes;
    }

    fn note(&self, written: Poll<Result<usize>>) -> Poll<Result<usize>> {
        match written {
            Poll::Pending => self.client.mark_stalled(),
            Poll::Ready(_) => self.client.mark_progress(),
        }
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let some = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead[..some]);
        self.ahead.drain(..some);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
