//! A fetch whose forwarder went away.

use crate::parts::reconnect::{Outcome, Reconnect, Surroundings};
use control::{Duration, Time};
use net::client::{CommandError, ConnectError, Connection};
use transport::fetch::Fetch;

/// The limit of the wait for a forwarder: the fetch's patience, counted from the last progress.
#[derive(Debug)]
pub struct Absence {
    reconnect: Reconnect,
    patience: Duration,
    /// The time of the first loss of the forwarder since the last progress, and the bytes until
    /// then.
    since: Time,
    bytes: u64,
    /// The time at which its present or last connection was made.
    back_at: Time,
}

impl Absence {
    /// For a fetch whose connection was made at `now`.
    #[must_use]
    pub fn new(patience: Duration, now: Time) -> Absence {
        let reconnect = Reconnect::new(now);
        Absence { reconnect, patience, since: now, bytes: 0, back_at: now }
    }

    /// `lost` ended the connection: waits for another, and lets the fetch go on with it.
    ///
    /// # Errors
    ///
    /// Those of [`Reconnect::end`].
    pub fn end(
        &mut self,
        connection: &mut Connection,
        fetch: &mut Fetch,
        lost: ConnectError,
        program: &dyn Surroundings,
    ) -> Result<Outcome, CommandError> {
        let (bytes, now) = (fetch.bytes().1, connection.now());
        // A forwarder that comes and goes without any progress counts as absent.
        let came = std::mem::replace(&mut self.bytes, bytes) != bytes;
        if came {
            self.reconnect.was_useful();
        }
        if came || now >= self.back_at + self.patience || self.since == self.back_at {
            self.since = now;
        }
        let until = self.since + self.patience;
        let greet = &mut |_: &mut Connection| Ok(());
        let outcome = self.reconnect.end(connection, lost, Some(until), greet, program)?;
        if outcome == Outcome::Back {
            self.back_at = connection.now();
            fetch.reconnected(self.back_at);
        }
        Ok(outcome)
    }
}
