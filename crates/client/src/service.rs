//! A producer in a thread: it keeps its registrations, and comes back after the forwarder does.

use crate::bell::Bell;
use crate::error::Error;
use crate::parts::{Outcome, Reconnect, Surroundings, group};
use control::Duration;
use net::client::{CommandError, ConnectError, Connection, Endpoint};
use packet::Name;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, ThreadId};

/// The maximum time of a turn. The bell ends it sooner.
const TURN: Duration = Duration::from_secs(1);

/// A state machine that answers Interests.
pub(crate) trait Producer: Endpoint + Send {
    /// The connection broke: answers that wait are void.
    fn forget(&mut self) {}

    /// The connection has been made again.
    fn returned(&mut self) {}

    /// The number of answers so far.
    fn answered(&self) -> u64;

    /// Takes the bell that wakes its thread, before the first turn.
    fn attach(&mut self, _bell: &Arc<Bell>) {}

    /// Called after each turn.
    fn look(&mut self) {}
}

/// The prefixes of a producer.
pub(crate) struct Prefixes {
    /// The prefix that the service cannot work without.
    pub main: Name,
    /// For certificates; if the forwarder rejects them, the service continues.
    pub others: Vec<Name>,
    /// The main prefix is a group, whose Interests go to all members.
    pub is_group: bool,
}

impl Prefixes {
    /// Registers them. Returns a line for the user if members of the group may miss something.
    fn register(&self, connection: &mut Connection) -> Result<Option<String>, CommandError> {
        if self.is_group {
            return group::register(connection, &self.main, &self.others);
        }
        connection.register(&self.main)?;
        for other in &self.others {
            if let Err(error @ CommandError::Connection(_)) = connection.register(other) {
                return Err(error);
            }
        }
        Ok(None)
    }
}

/// A running producer, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Service {
    shared: Arc<Shared>,
    note: Option<String>,
    id: ThreadId,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    is_stopped: AtomicBool,
    bell: Arc<Bell>,
    end: Mutex<Option<Error>>,
}

impl Surroundings for Shared {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }
}

impl Shared {
    /// The first error counts.
    fn fail(&self, error: Error) {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// The end of the thread. A panic counts as a failure.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Failed("the thread that answers has ended early".to_owned()));
        }
    }
}

impl Service {
    /// Registers the prefixes, and serves them from a thread.
    pub fn start(
        mut connection: Connection,
        prefixes: Prefixes,
        mut producer: Box<dyn Producer>,
    ) -> Result<Service, Error> {
        let (is_stopped, end) = (AtomicBool::new(false), Mutex::default());
        let shared = Arc::new(Shared { is_stopped, bell: Arc::new(Bell::new()?), end });
        producer.attach(&shared.bell);
        connection.wake_on(shared.bell.share()?);
        let note = prefixes.register(&mut connection)?;
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("weir-serve".to_owned());
        let thread = thread.spawn(move || {
            let end = End(of_thread);
            // The producer goes last: its end is seen when the error is known.
            if let Err(error) = serve(&mut connection, &prefixes, &mut *producer, &end.0) {
                end.0.fail(error);
            }
        });
        let thread = thread.map_err(|error| Error::system("start a thread", &error))?;
        let id = thread.thread().id();
        Ok(Service { shared, note, id, thread: Mutex::new(Some(thread)) })
    }

    /// A line for the user about the registration.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Has the thread look at its producer now.
    pub fn wake(&self) {
        self.shared.bell.ring();
    }

    /// The error that has ended it, if any.
    pub fn error(&self) -> Option<Error> {
        self.shared.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it. Its thread has ended on return, unless this is that thread.
    pub fn stop(&self) {
        self.shared.is_stopped.store(true, Ordering::Release);
        self.shared.bell.ring();
        // The function that answers may drop its own registration: its thread ends after it.
        if self.id == std::thread::current().id() {
            return;
        }
        // The lock is held meanwhile, so that each caller waits for the end.
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Serves until it is stopped. Waits for a forwarder that goes away.
fn serve(
    connection: &mut Connection,
    prefixes: &Prefixes,
    producer: &mut dyn Producer,
    shared: &Shared,
) -> Result<(), Error> {
    let mut reconnect = Reconnect::new(connection.now());
    let mut answered = 0;
    while !shared.is_stopped() {
        let until = connection.now() + TURN;
        if let Err(lost) = connection.turn(producer, until) {
            producer.forget();
            if producer.answered() > answered {
                answered = producer.answered();
                reconnect.was_useful();
            }
            match back(connection, prefixes, &mut reconnect, lost, shared)? {
                Outcome::Back => producer.returned(),
                Outcome::Stopped | Outcome::TooLate => return Ok(()),
            }
        }
        producer.look();
    }
    // The forwarder would notice the end by itself. But with an answer, nothing is registered any
    // more when the value has been dropped. Over a lost connection nothing is.
    for prefix in std::iter::once(&prefixes.main).chain(&prefixes.others) {
        if let Err(CommandError::Connection(_) | CommandError::NoAnswer { .. }) =
            connection.unregister(prefix)
        {
            break;
        }
    }
    Ok(())
}

fn back(
    connection: &mut Connection,
    prefixes: &Prefixes,
    reconnect: &mut Reconnect,
    lost: ConnectError,
    shared: &Shared,
) -> Result<Outcome, Error> {
    let greet = &mut |connection: &mut Connection| prefixes.register(connection).map(drop);
    Ok(reconnect.end(connection, lost, None, greet, shared)?)
}
