//! Connecting again to a forwarder that went away.

use control::{Duration, Rng, Time};
use net::client::{Address, CommandError, ConnectError, Connection};
use rustix::event::{Timespec, poll};

/// The pause before the first attempt. Each attempt doubles it.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause: the maximum time until the program notices that a forwarder is back.
const LONGEST: Duration = Duration::from_secs(5);
/// The time for which a request to stop may go unnoticed.
const LOOK: Duration = Duration::from_millis(100);

/// The result of connecting again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The connection has been made again.
    Back,
    /// The program is to stop.
    Stopped,
    /// The time for it is over.
    TooLate,
}

/// News for the user.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// The forwarder went away.
    Away(&'a Address),
    /// It is back.
    Back(&'a Address),
}

/// The program around a connection.
pub trait Surroundings {
    /// True if the program is to stop.
    fn is_stopped(&self) -> bool;

    /// Takes news for the user.
    fn note(&self, _news: News<'_>) {}
}

/// How a program returns to its forwarder, with pauses that grow and differ between programs, so
/// that hundreds do not come at one instant.
#[derive(Debug)]
pub struct Reconnect {
    rng: Rng,
    pause: Duration,
    connected_at: Time,
}

impl Reconnect {
    /// For a connection made at `now`.
    #[must_use]
    pub fn new(now: Time) -> Reconnect {
        // Without random numbers the pauses are equal to those of other programs, which costs
        // little.
        let rng = Rng::stream(getrandom::u64().unwrap_or(0), &["outage"]);
        Reconnect { rng, pause: FIRST, connected_at: now }
    }

    /// The connection was of use: after its loss, the next attempt comes soon.
    pub fn was_useful(&mut self) {
        self.pause = FIRST;
    }

    /// `lost` ended the connection. Connects again, and lets `greet` register with the new
    /// forwarder, until that succeeds, or the program is to stop, or `until`.
    ///
    /// # Errors
    ///
    /// Another attempt is useless: the forwarder rejects the registration, or is not an NDN
    /// forwarder, or datagrams have no connection.
    pub fn end(
        &mut self,
        connection: &mut Connection,
        lost: ConnectError,
        until: Option<Time>,
        greet: &mut dyn FnMut(&mut Connection) -> Result<(), CommandError>,
        program: &dyn Surroundings,
    ) -> Result<Outcome, CommandError> {
        if !connection.is_stream() || !lost.is_outage() {
            return Err(lost.into());
        }
        let address = connection.address().clone();
        program.note(News::Away(&address));
        // A forwarder that takes connections and ends them at once must not be asked in a loop.
        if connection.now() > self.connected_at + LONGEST {
            self.pause = FIRST;
        }
        loop {
            let pause = Duration(self.pause.0 / 2 + self.rng.below(self.pause.0 / 2 + 1));
            self.pause = Duration(self.pause.0.saturating_mul(2)).min(LONGEST);
            if let Some(outcome) = wait(connection, pause, until, program) {
                return Ok(outcome);
            }
            match connection.reconnect() {
                Ok(()) => {}
                Err(error) if error.is_outage() => continue,
                Err(error) => return Err(error.into()),
            }
            match greet(connection) {
                Ok(()) => break,
                Err(error) if may_pass(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.connected_at = connection.now();
        program.note(News::Back(&address));
        Ok(Outcome::Back)
    }
}

/// Waits for `pause`, unless something ends that sooner.
fn wait(
    connection: &Connection,
    pause: Duration,
    until: Option<Time>,
    program: &dyn Surroundings,
) -> Option<Outcome> {
    let end = connection.now() + pause;
    loop {
        let now = connection.now();
        if program.is_stopped() {
            return Some(Outcome::Stopped);
        }
        if until.is_some_and(|until| now >= until) {
            return Some(Outcome::TooLate);
        }
        if now >= end {
            return None;
        }
        // Shorter than the pause: a signal just before the wait does not end it.
        let left = end.since(now).min(LOOK);
        let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: left.0 as _ }));
    }
}

/// The next attempt may end otherwise. A request to stop is looked at before it.
fn may_pass(error: &CommandError) -> bool {
    match error {
        CommandError::Connection(error) => error.is_outage(),
        CommandError::Rejected { code, .. } => *code >= 500,
        CommandError::NoAnswer { .. } | CommandError::Interrupted => true,
        CommandError::TooLong { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    /// A program that may be stopped.
    #[derive(Default)]
    struct Program(Cell<bool>);

    impl Surroundings for Program {
        fn is_stopped(&self) -> bool {
            self.0.get()
        }
    }

    /// A connection whose forwarder has gone, and the error of the loss.
    fn lost(path: &Path) -> (Connection, ConnectError) {
        let listener = UnixListener::bind(path).unwrap();
        let connection = Connection::open(Address::Unix(path.to_owned())).unwrap();
        drop(listener);
        let error = ConnectError::Closed(connection.address().clone());
        (connection, error)
    }

    #[test]
    fn a_forwarder_that_is_back_is_greeted_and_one_that_rejects_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (mut connection, error) = lost(&path);
        std::fs::remove_file(&path).unwrap();
        let _listener = UnixListener::bind(&path).unwrap();
        let program = Program::default();
        let mut reconnect = Reconnect::new(connection.now());
        let mut greetings = 0;
        let mut greet = |_: &mut Connection| {
            greetings += 1;
            let (what, address) = (String::new(), String::new());
            let silent = CommandError::NoAnswer { what, address };
            if greetings < 3 { Err(silent) } else { Ok(()) }
        };
        let ended = reconnect.end(&mut connection, error, None, &mut greet, &program).unwrap();
        assert_eq!((ended, greetings), (Outcome::Back, 3));

        let mut greet = |_: &mut Connection| {
            let (what, text) = ("register /a".to_owned(), "no".to_owned());
            Err(CommandError::Rejected { what, code: 403, text })
        };
        let error = ConnectError::Closed(connection.address().clone());
        let failure =
            reconnect.end(&mut connection, error, None, &mut greet, &program).unwrap_err();
        assert!(failure.to_string().contains("refused to register /a"), "{failure}");
    }

    #[test]
    fn patience_and_signals_end_the_wait_and_other_protocols_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, error) = lost(&folder.path().join("socket"));
        let program = Program::default();
        let mut reconnect = Reconnect::new(connection.now());
        let until = connection.now() + Duration::from_millis(1);
        let mut greet = |_: &mut Connection| panic!("no forwarder is there to be greeted");
        let ended =
            reconnect.end(&mut connection, error, Some(until), &mut greet, &program).unwrap();
        assert_eq!(ended, Outcome::TooLate);
        assert!(connection.now() >= until);

        program.0.set(true);
        let error = ConnectError::Closed(connection.address().clone());
        let ended = reconnect.end(&mut connection, error, None, &mut greet, &program).unwrap();
        assert_eq!(ended, Outcome::Stopped);

        let address = connection.address().clone();
        let decoded = packet::LpPacket::decode(b"HTTP").map(|_| ()).unwrap_err();
        let other = ConnectError::NotNdn { address, error: decoded };
        assert!(reconnect.end(&mut connection, other, None, &mut greet, &program).is_err());
    }

    #[test]
    fn pauses_grow_to_the_longest_and_begin_small_after_a_connection_that_lasted() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, _) = lost(&folder.path().join("socket"));
        let program = Program::default();
        let mut reconnect = Reconnect::new(connection.now());
        let mut greet = |_: &mut Connection| Ok(());
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pauses.push(reconnect.pause);
            // Too late at once: no attempt, and no waiting.
            let error = ConnectError::Closed(connection.address().clone());
            reconnect.end(&mut connection, error, Some(Time::ZERO), &mut greet, &program).unwrap();
        }
        let ms: Vec<u64> = pauses.iter().map(|pause| pause.as_millis()).collect();
        assert_eq!(ms, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        reconnect.was_useful();
        assert_eq!(reconnect.pause, FIRST);
    }
}
