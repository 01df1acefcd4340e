//! The requests of a small HTTP server: one for each connection, and limits for all of them, so
//! that no client takes what others need.

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A connection without a request is closed after this time; others wait no longer for its place.
const SILENT: Duration = Duration::from_secs(2);
/// Connections at a time.
const MOST: usize = 64;
/// Bytes of a request's head.
const LONGEST_HEAD: usize = 16 * 1024;
/// After a connection that the system refused.
const PAUSE: Duration = Duration::from_millis(100);

/// Gives each request, and the address of this host that it came to, to `answer`, without an end.
/// A connection is closed after the time `longest`, also in the middle of its answer.
pub async fn serve<F, A, B>(listener: &TcpListener, longest: Duration, answer: F)
where
    F: Fn(Request<Incoming>, IpAddr) -> A + Send + Sync + 'static,
    A: Future<Output = Response<B>> + Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let (places, answer) = (Arc::new(Semaphore::new(MOST)), Arc::new(answer));
    loop {
        // Those for whom there is no place wait in the system's queue.
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            converse(&*answer, longest, stream).await;
            drop(place);
        });
    }
}

/// One request and its answer.
async fn converse<F, A, B>(answer: &F, longest: Duration, stream: TcpStream)
where
    F: Fn(Request<Incoming>, IpAddr) -> A,
    A: Future<Output = Response<B>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // It fails if the client is gone.
    let Ok(local) = stream.local_addr().map(|local| local.ip()) else { return };
    let answered = |request| async move { Ok::<_, Infallible>(answer(request, local).await) };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENT)
        .keep_alive(false)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service_fn(answered));
    // It ends as clients end it; one that reads nothing ends as well.
    let _ = tokio::time::timeout(longest, connection).await;
}
