//! The protocols of a connection: TLS or none, HTTP/1.1 or HTTP/2.

use crate::gateway::respond::{Ends, respond};
use crate::gateway::stream::Watched;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// The limit of each step: the TLS handshake, the first bytes without TLS, and a whole head.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a request's head; no browser sends as many.
const LONGEST_HEAD: usize = 32 * 1024;

/// All requests of one connection. It ends as clients end it; an error of an answer has been
/// reported with the answer.
pub async fn converse(ends: Ends, stream: Watched) {
    #[cfg(feature = "tls")]
    if let Some(tls) = ends.gateway.tls.clone() {
        let Ok(Ok(stream)) = tokio::time::timeout(HEAD, tls.accept(stream)).await else { return };
        #[cfg(feature = "http2")]
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            return http2::serve(ends, stream).await;
        }
        return serve_one_by_one(ends, stream).await;
    }
    #[cfg(feature = "http2")]
    let stream = match tokio::time::timeout(HEAD, http2::begins(stream)).await {
        Ok(Ok((stream, true))) => return http2::serve(ends, stream).await,
        Ok(Ok((stream, false))) => stream,
        Ok(Err(_)) | Err(_) => return,
    };
    serve_one_by_one(ends, stream).await;
}

/// HTTP/1.1: one request after the other.
async fn serve_one_by_one(ends: Ends, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let service = service_fn(move |request| {
        let ends = ends.clone();
        async move { Ok::<_, Infallible>(respond(&ends, &ends.client, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .max_header_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let _ = connection.await;
}

#[cfg(feature = "http2")]
mod http2 {
    use super::{Ends, LONGEST_HEAD, Watched};
    use crate::gateway::client::Client;
    use crate::gateway::respond::respond;
    use hyper::rt::Executor;
    use hyper::server::conn::http2::Builder;
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioIo, TokioTimer};
    use std::convert::Infallible;
    use std::future::{Future, poll_fn};
    use std::io;
    use std::pin::{Pin, pin};
    use std::sync::{Arc, OnceLock};
    use std::task::Poll;
    use std::time::Duration;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use tokio::task::AbortHandle;

    /// The first bytes of a client (RFC 9113, section 3.4).
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    /// Concurrent requests of a connection, and resets of requests that were not seen yet.
    const STREAMS: u32 = 32;
    /// Bytes that a client may send of bodies before they are read.
    const WINDOW: u32 = 65_535;
    /// A connection without requests that takes no bytes for this time takes no more requests. It
    /// is closed when the client has all answers.
    const IDLE: control::Duration = control::Duration::from_secs(10);
    /// The same, if ends of answers are still there for it: it is closed without them. Until then
    /// it makes room for others, as all connections without requests do.
    const UNREAD: control::Duration = control::Duration::from_secs(600);
    const LOOK: Duration = Duration::from_secs(1);

    /// True if the client begins with HTTP/2. The bytes stay in the stream.
    pub async fn begins(mut stream: Watched) -> io::Result<(Watched, bool)> {
        let mut read = Vec::with_capacity(PREFACE.len());
        while read.len() < PREFACE.len() && PREFACE.starts_with(&read) {
            let mut some = [0; PREFACE.len()];
            let mut buffer = ReadBuf::new(&mut some[read.len()..]);
            poll_fn(|cx| Pin::new(&mut stream).poll_read(cx, &mut buffer)).await?;
            if buffer.filled().is_empty() {
                break;
            }
            read.extend_from_slice(buffer.filled());
        }
        let begins = read == PREFACE;
        stream.put_back(read);
        Ok((stream, begins))
    }

    tokio::task_local! {
        /// The handle of the task that serves a stream, within that task.
        static TASK: Arc<OnceLock<AbortHandle>>;
    }

    /// Runs each stream as a task that can be ended without the others.
    #[derive(Clone)]
    struct Streams;

    impl<F> Executor<F> for Streams
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        fn execute(&self, stream: F) {
            let handle = Arc::new(OnceLock::new());
            let task = tokio::spawn(TASK.scope(Arc::clone(&handle), stream));
            let _ = handle.set(task.abort_handle());
        }
    }

    /// HTTP/2: many requests at a time.
    pub async fn serve<S>(ends: Ends, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connection = Arc::clone(&ends.client);
        let service = service_fn(move |request| {
            let (ends, client) = (ends.clone(), Client::stream(&ends.client));
            async move {
                let task = TASK.try_with(|task| task.get().cloned());
                task.ok().flatten().into_iter().for_each(|task| client.set_task(task));
                Ok::<_, Infallible>(respond(&ends, &client, request).await)
            }
        });
        let mut builder = Builder::new(Streams);
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_pending_accept_reset_streams(STREAMS as usize)
            .max_local_error_reset_streams(STREAMS as usize)
            .max_header_list_size(LONGEST_HEAD as u32)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_send_buf_size(crate::gateway::body::FRAME);
        let mut served = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut unused = pin!(idle(&connection, IDLE));
        let is_over = poll_fn(|cx| match served.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending => unused.as_mut().poll(cx).map(|()| false),
        });
        if is_over.await {
            return;
        }
        // The library has the last bytes of answers until the client takes them.
        served.as_mut().graceful_shutdown();
        let mut unread = pin!(idle(&connection, UNREAD));
        let both = poll_fn(|cx| match served.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => unread.as_mut().poll(cx),
        });
        both.await;
    }

    async fn idle(connection: &Client, longest: control::Duration) {
        while connection.idle() < longest {
            tokio::time::sleep(LOOK).await;
        }
    }
}
