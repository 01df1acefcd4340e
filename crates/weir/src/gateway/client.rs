//! A client: its connection, or one stream of a connection with HTTP/2.

use crate::gateway::source::Source;
use control::{Duration, Time};
use net::clock::monotonic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::task::AbortHandle;

/// The most requests that a client may take back within [`SPAN`]; more close its connection (rapid
/// reset, CVE-2023-44487). A player whose slider is dragged takes back a few in a second.
const MOST_RESETS: u32 = 100;
const SPAN: Duration = Duration::from_secs(10);

/// One connection, or one stream of it.
pub struct Client {
    /// Where it comes from.
    pub source: Source,
    /// The connection of a stream.
    connection: Option<Arc<Client>>,
    flow: Mutex<Flow>,
    /// Requests that wait or are answered.
    busy: AtomicUsize,
    task: OnceLock<AbortHandle>,
}

/// Bytes and requests over time.
struct Flow {
    /// The time since which it takes none of the bytes ready for it.
    stalled: Option<Time>,
    /// When it has taken bytes, or was opened.
    moved: Time,
    /// Requests that the client has cancelled since this time.
    resets: (Time, u32),
}

impl Client {
    /// A connection without a task yet.
    pub fn new(source: Source) -> Arc<Client> {
        Client::of(source, None)
    }

    /// A stream of a connection.
    #[cfg(feature = "http2")]
    pub fn stream(connection: &Arc<Client>) -> Arc<Client> {
        Client::of(connection.source, Some(Arc::clone(connection)))
    }

    fn of(source: Source, connection: Option<Arc<Client>>) -> Arc<Client> {
        let now = monotonic();
        let flow = Mutex::new(Flow { stalled: None, moved: now, resets: (now, 0) });
        let (busy, task) = (AtomicUsize::new(0), OnceLock::new());
        Arc::new(Client { source, connection, flow, busy, task })
    }

    fn lock(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if it is one of several streams of a connection.
    pub fn is_stream(&self) -> bool {
        self.connection.is_some()
    }

    /// Records that the client takes no bytes now.
    pub fn mark_stalled(&self) {
        self.lock().stalled.get_or_insert_with(monotonic);
    }

    /// Records that the client has taken bytes.
    pub fn mark_progress(&self) {
        let mut flow = self.lock();
        flow.stalled = None;
        flow.moved = monotonic();
    }

    /// The time for which it, or its connection, has taken nothing.
    pub fn stalled(&self) -> Option<Duration> {
        let own = self.lock().stalled.map(|since| monotonic().since(since));
        own.max(self.connection.as_ref().and_then(|connection| connection.stalled()))
    }

    /// It has requests that wait or are answered.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

    /// The time for which it has had no request, and taken no bytes.
    #[cfg(feature = "http2")]
    pub fn idle(&self) -> Duration {
        let now = monotonic();
        if self.is_busy() { Duration::ZERO } else { now.since(self.lock().moved) }
    }

    /// Counts a request that was cancelled before its answer. Closes the connection at too many.
    pub fn count_reset(&self) {
        let Some(connection) = &self.connection else { return };
        let now = monotonic();
        let mut flow = connection.lock();
        if now.since(flow.resets.0) > SPAN {
            flow.resets = (now, 0);
        }
        flow.resets.1 += 1;
        let is_attack = flow.resets.1 > MOST_RESETS;
        drop(flow);
        if is_attack {
            connection.close();
        }
    }

    /// Sets the task that serves it.
    pub fn set_task(&self, task: AbortHandle) {
        // Once: right after it was made.
        let _ = self.task.set(task);
    }

    /// Closes it. An answer under way is truncated.
    pub fn close(&self) {
        self.task.get().into_iter().for_each(AbortHandle::abort);
    }

    fn connection_and_self(&self) -> impl Iterator<Item = &Client> {
        std::iter::once(self).chain(self.connection.as_deref())
    }
}

/// A request of the connection waits or is answered, until this is dropped.
pub struct Busy(Arc<Client>);

impl Busy {
    /// Another request.
    pub fn new(client: &Arc<Client>) -> Busy {
        for one in client.connection_and_self() {
            one.busy.fetch_add(1, Ordering::Relaxed);
        }
        Busy(Arc::clone(client))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for one in self.0.connection_and_self() {
            one.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A request whose answer is not over. If it is dropped before, it counts as cancelled.
pub struct Asked {
    client: Arc<Client>,
    is_over: bool,
}

impl Asked {
    /// A request of this client.
    pub fn new(client: &Arc<Client>) -> Asked {
        Asked { client: Arc::clone(client), is_over: false }
    }

    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// All of the answer was given to the connection.
    pub fn end(&mut self) {
        self.is_over = true;
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_over {
            self.client.count_reset();
        }
    }
}

#[cfg(all(test, feature = "http2"))]
mod tests {
    use super::*;

    fn connection() -> Arc<Client> {
        Client::new(Source::host(std::net::Ipv4Addr::new(192, 0, 2, 1).into()))
    }

    /// A task that runs until it is aborted.
    fn endless(runtime: &tokio::runtime::Runtime) -> tokio::task::JoinHandle<()> {
        runtime.spawn(std::future::pending())
    }

    #[test]
    fn requests_of_streams_are_requests_of_their_connection() {
        let connection = connection();
        let streams = [Client::stream(&connection), Client::stream(&connection)];
        let busy = streams.each_ref().map(Busy::new);
        assert!(connection.is_busy() && streams[0].is_busy());
        assert_eq!(connection.idle(), Duration::ZERO);
        drop(busy);
        assert!(!connection.is_busy() && !streams[0].is_busy());
    }

    #[test]
    fn a_stream_stalls_alone_or_with_its_connection() {
        let connection = connection();
        let streams = [Client::stream(&connection), Client::stream(&connection)];
        streams[0].mark_stalled();
        assert!(streams[0].stalled().is_some() && streams[1].stalled().is_none());
        assert!(connection.stalled().is_none());
        connection.mark_stalled();
        assert!(streams[1].stalled().is_some());
        connection.mark_progress();
        streams[0].mark_progress();
        assert!(streams.iter().all(|stream| stream.stalled().is_none()));
    }

    #[test]
    fn a_connection_that_takes_back_its_requests_is_closed_and_one_that_waits_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (ends, is_closed) in [(true, false), (false, true)] {
            let (connection, task) = (connection(), endless(&runtime));
            connection.set_task(task.abort_handle());
            for n in 0..=MOST_RESETS {
                runtime.block_on(tokio::task::yield_now());
                assert!(!task.is_finished(), "{n}");
                let mut asked = Asked::new(&Client::stream(&connection));
                if ends {
                    asked.end();
                }
            }
            runtime.block_on(tokio::task::yield_now());
            assert_eq!(task.is_finished(), is_closed);
        }
        // Without streams the connection itself is at its end.
        drop(Asked::new(&connection()));
    }
}
