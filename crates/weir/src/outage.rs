//! Connecting again to a forwarder that went away.

use crate::exit::Failure;
use crate::output::Progress;
use crate::signals::{LOOK, Stop};
use control::{Duration, Rng, Time};
use net::client::{CommandError, ConnectError, Connection};
use rustix::event::poll;

/// The pause before the first attempt. Each attempt doubles it.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause: how long a forwarder may be back before a program notices, at most.
const LONGEST: Duration = Duration::from_secs(5);

/// The result of connecting again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is a connection again.
    Back,
    /// A signal came.
    Stopped,
    /// The time for it is over.
    TooLate,
}

/// How a program returns to its forwarder, with pauses that grow and differ between programs, so
/// that hundreds do not come at one instant.
pub struct Outage<'a> {
    command: &'static str,
    stop: &'a Stop,
    /// Where lines go; `None`: nowhere.
    progress: Option<&'a Progress>,
    rng: Rng,
    pause: Duration,
    connected_at: Time,
}

impl<'a> Outage<'a> {
    /// For `command`, such as `weir put`, whose connection was made at `now`.
    pub fn new(
        command: &'static str,
        stop: &'a Stop,
        progress: Option<&'a Progress>,
        now: Time,
    ) -> Outage<'a> {
        // Without random numbers the pauses are those of every other program: that costs little.
        let rng = Rng::stream(getrandom::u64().unwrap_or(0), &["outage"]);
        Outage { command, stop, progress, rng, pause: FIRST, connected_at: now }
    }

    /// The connection was of use: the next one that is lost is tried again soon.
    pub fn was_useful(&mut self) {
        self.pause = FIRST;
    }

    /// `lost` ended the connection. Connects again, and lets `greet` register with the new
    /// forwarder, until that succeeds, or a signal comes, or `until`.
    ///
    /// # Errors
    ///
    /// Another attempt is useless: the forwarder rejects the registration, or does not speak NDN,
    /// or datagrams have no connection.
    pub fn end(
        &mut self,
        connection: &mut Connection,
        lost: ConnectError,
        until: Option<Time>,
        greet: &mut dyn FnMut(&mut Connection) -> Result<(), CommandError>,
    ) -> Result<Outcome, Failure> {
        if !connection.is_stream() || !lost.is_outage() {
            return Err(lost.into());
        }
        let address = connection.address().clone();
        self.note(&format!(
            "the forwarder at {address} went away; trying again until it returns (`weir daemon` \
             starts one)"
        ));
        // A forwarder that takes connections and ends them at once must not be asked in a loop.
        if connection.now() > self.connected_at + LONGEST {
            self.pause = FIRST;
        }
        loop {
            let pause = Duration(self.pause.0 / 2 + self.rng.below(self.pause.0 / 2 + 1));
            self.pause = Duration(self.pause.0.saturating_mul(2)).min(LONGEST);
            if let Some(outcome) = self.wait(connection, pause, until) {
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
                Err(error) => return Err(error.into()),
            }
        }
        self.connected_at = connection.now();
        self.note(&format!("the forwarder at {address} is back"));
        Ok(Outcome::Back)
    }

    /// Waits for `pause`, unless something ends that sooner.
    fn wait(
        &self,
        connection: &Connection,
        pause: Duration,
        until: Option<Time>,
    ) -> Option<Outcome> {
        let end = connection.now() + pause;
        loop {
            let now = connection.now();
            if self.stop.requested() {
                return Some(Outcome::Stopped);
            }
            if until.is_some_and(|until| now >= until) {
                return Some(Outcome::TooLate);
            }
            if now >= end {
                return None;
            }
            // Shorter than the pause: a signal that comes just before the wait does not end it.
            let left = end.since(now).min(Duration::from_millis(100));
            let mut span = LOOK;
            span.tv_nsec = left.0 as _;
            let _ = poll(&mut [], Some(&span));
        }
    }

    fn note(&self, text: &str) {
        if let Some(progress) = self.progress {
            progress.above(&format!("{}: {text}", self.command));
        }
    }
}

/// The next attempt may end otherwise. A signal is looked at before it.
fn may_pass(error: &CommandError) -> bool {
    match error {
        CommandError::Connection(error) => error.is_outage(),
        CommandError::Refused { code, .. } => *code >= 500,
        CommandError::NoAnswer { .. } | CommandError::Interrupted => true,
        CommandError::TooLong { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::client::Address;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    /// A connection whose forwarder has gone, and what it was lost by.
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
        let stop = Stop::never();
        let mut outage = Outage::new("weir put", &stop, None, connection.now());
        let mut greetings = 0;
        let mut greet = |_: &mut Connection| {
            greetings += 1;
            let (what, address) = (String::new(), String::new());
            let silent = CommandError::NoAnswer { what, address };
            if greetings < 3 { Err(silent) } else { Ok(()) }
        };
        let ended = outage.end(&mut connection, error, None, &mut greet).unwrap();
        assert_eq!((ended, greetings), (Outcome::Back, 3));

        let mut greet = |_: &mut Connection| {
            let (what, text) = ("register /a".to_owned(), "no".to_owned());
            Err(CommandError::Refused { what, code: 403, text })
        };
        let error = ConnectError::Closed(connection.address().clone());
        let failure = outage.end(&mut connection, error, None, &mut greet).unwrap_err();
        assert!(failure.to_string().contains("refused to register /a"), "{failure}");
    }

    #[test]
    fn patience_and_signals_end_the_wait_and_other_protocols_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, error) = lost(&folder.path().join("socket"));
        let stop = Stop::never();
        let mut outage = Outage::new("weir get", &stop, None, connection.now());
        let until = connection.now() + Duration::from_millis(1);
        let mut greet = |_: &mut Connection| panic!("there is nobody to greet");
        let ended = outage.end(&mut connection, error, Some(until), &mut greet).unwrap();
        assert_eq!(ended, Outcome::TooLate);
        assert!(connection.now() >= until);

        stop.request();
        let error = ConnectError::Closed(connection.address().clone());
        let ended = outage.end(&mut connection, error, None, &mut greet).unwrap();
        assert_eq!(ended, Outcome::Stopped);

        let address = connection.address().clone();
        let decoded = packet::LpPacket::decode(b"HTTP").map(|_| ()).unwrap_err();
        let other = ConnectError::NotNdn { address, error: decoded };
        assert!(outage.end(&mut connection, other, None, &mut greet).is_err());
    }

    #[test]
    fn pauses_grow_to_the_longest_and_begin_small_after_a_connection_that_lasted() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, _) = lost(&folder.path().join("socket"));
        let stop = Stop::never();
        let mut outage = Outage::new("weir get", &stop, None, connection.now());
        let mut greet = |_: &mut Connection| Ok(());
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pauses.push(outage.pause);
            // Too late at once: no attempt, and no waiting.
            let error = ConnectError::Closed(connection.address().clone());
            outage.end(&mut connection, error, Some(Time::ZERO), &mut greet).unwrap();
        }
        let ms: Vec<u64> = pauses.iter().map(|pause| pause.as_millis()).collect();
        assert_eq!(ms, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        outage.was_useful();
        assert_eq!(outage.pause, FIRST);
    }
}
