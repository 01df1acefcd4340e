//! The requests of a small HTTP server: one for each connection, and limits for all of them, so
//! that no client takes what others need.

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// A connection without a request is closed after this time, or when another one needs its place.
const SILENT: Duration = Duration::from_secs(2);
/// Connections at a time.
const MOST: usize = 64;
/// Bytes of a request's head.
const LONGEST_HEAD: usize = 16 * 1024;
/// After a connection that the system rejected.
const PAUSE: Duration = Duration::from_millis(100);

/// The connections that have sent no request yet, in the order in which they came.
#[derive(Debug, Default)]
struct Silent {
    waiting: Mutex<BTreeMap<u64, AbortHandle>>,
}

impl Silent {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, AbortHandle>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection with its task. The task may end before it is added: it has to wait.
    fn add(&self, number: u64, spawn: impl FnOnce() -> AbortHandle) {
        let mut waiting = self.waiting();
        waiting.insert(number, spawn());
    }

    /// A connection has sent a request, or has ended.
    fn remove(&self, number: u64) {
        self.waiting().remove(&number);
    }

    /// Ends the oldest one.
    fn end_oldest(&self) {
        if let Some((_, task)) = self.waiting().pop_first() {
            task.abort();
        }
    }
}

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
    let silent = Arc::new(Silent::default());
    for number in 0.. {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if places.available_permits() == 0 {
            silent.end_oldest();
        }
        // Where all of them are being answered, those for whom there is no place wait.
        let place = Arc::clone(&places).acquire_owned().await;
        let (answer, all) = (Arc::clone(&answer), Arc::clone(&silent));
        let conversation = async move {
            converse(&*answer, || all.remove(number), longest, stream).await;
            all.remove(number);
            drop(place);
        };
        silent.add(number, || tokio::spawn(conversation).abort_handle());
    }
}

/// One request and its answer; `asked` is called between them.
async fn converse<F, A, B>(answer: &F, asked: impl Fn(), longest: Duration, stream: TcpStream)
where
    F: Fn(Request<Incoming>, IpAddr) -> A,
    A: Future<Output = Response<B>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // It fails if the client is gone.
    let Ok(local) = stream.local_addr().map(|local| local.ip()) else { return };
    let asked = &asked;
    let service = service_fn(|request| async move {
        asked();
        Ok::<_, Infallible>(answer(request, local).await)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENT)
        .keep_alive(false)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    // It ends as clients end it; one that reads nothing ends as well.
    let _ = tokio::time::timeout(longest, connection).await;
}
