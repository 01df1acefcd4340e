//! Connecting again to a forwarder that went away, with notes for the user.

use crate::exit::Failure;
use crate::output::Progress;
use crate::signals::Stop;
use client::parts::{News, Reconnect, Surroundings};
use control::Time;
use net::client::{CommandError, ConnectError, Connection};

pub use client::parts::Outcome;

/// How a command returns to its forwarder: see [`Reconnect`].
pub struct Outage<'a> {
    notes: Notes<'a>,
    reconnect: Reconnect,
}

/// The user of a command, and the signals that end it.
#[derive(Clone, Copy)]
pub struct Notes<'a> {
    /// The command, such as `weir put`.
    pub command: &'static str,
    /// The signal to stop.
    pub stop: &'a Stop,
    /// Where lines go; `None`: nowhere.
    pub progress: Option<&'a Progress>,
}

impl Surroundings for Notes<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.requested()
    }

    fn note(&self, news: News<'_>) {
        let Some(progress) = self.progress else { return };
        let command = self.command;
        progress.above(&match news {
            News::Away(address) => format!(
                "{command}: the forwarder at {address} went away; trying again until it returns \
                 (`weir daemon` starts one)"
            ),
            News::Back(address) => format!("{command}: the forwarder at {address} is back"),
        });
    }
}

impl<'a> Outage<'a> {
    /// For `command`, such as `weir put`, whose connection was made at `now`.
    pub fn new(
        command: &'static str,
        stop: &'a Stop,
        progress: Option<&'a Progress>,
        now: Time,
    ) -> Outage<'a> {
        Outage { notes: Notes { command, stop, progress }, reconnect: Reconnect::new(now) }
    }

    /// The connection was of use: after its loss, the next attempt comes soon.
    pub fn was_useful(&mut self) {
        self.reconnect.was_useful();
    }

    /// `lost` ended the connection. Connects again, and lets `greet` register with the new
    /// forwarder, until that succeeds, or a signal comes, or `until`.
    ///
    /// # Errors
    ///
    /// Those of [`Reconnect::end`].
    pub fn end(
        &mut self,
        connection: &mut Connection,
        lost: ConnectError,
        until: Option<Time>,
        greet: &mut dyn FnMut(&mut Connection) -> Result<(), CommandError>,
    ) -> Result<Outcome, Failure> {
        Ok(self.reconnect.end(connection, lost, until, greet, &self.notes)?)
    }
}
