//! The loop of a fetch over a connection.

use crate::parts::limit::Limit;
use control::{Duration, Size, Time};
use net::client::{ConnectError, Connection, Endpoint};
use transport::fetch::{Fetch, Sink, Status};

/// The program around a fetch: the receiver of the bytes, and the reasons to end.
pub trait Host {
    /// Ends the fetch.
    type Failure;

    /// The receiver of the bytes.
    fn sink(&mut self) -> &mut dyn Sink;

    /// Bytes that the sink takes now, if it has a limit.
    fn room(&self) -> Option<Size>;

    /// True if the sink needs no more, though there may be more.
    fn is_satisfied(&self) -> bool;

    /// The maximum rate.
    fn limit(&mut self) -> &mut Limit;

    /// A frame was received.
    fn received(&mut self, _fetch: &Fetch) {}

    /// The instant at which a turn of the loop ends.
    fn next(&self) -> Time;

    /// Called after each turn.
    ///
    /// # Errors
    /// The fetch is to end.
    fn look(&mut self, now: Time, fetch: &Fetch) -> Result<(), Self::Failure>;

    /// Called after each turn, while the connection lasts.
    ///
    /// # Errors
    /// The fetch is to end.
    fn went_on(&mut self, now: Time, fetch: &Fetch) -> Result<(), Self::Failure>;

    /// The connection was lost before the fetch was over: makes another.
    ///
    /// # Errors
    /// No forwarder is there.
    fn lost(
        &mut self,
        connection: &mut Connection,
        fetch: &mut Fetch,
        error: ConnectError,
    ) -> Result<(), Self::Failure>;
}

/// A fetch and its host.
struct Driven<'a, H> {
    fetch: &'a mut Fetch,
    host: &'a mut H,
}

impl<H: Host> Endpoint for Driven<'_, H> {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.fetch.receive(now, frame, self.host.sink());
        self.host.received(self.fetch);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some(room) = self.host.limit().room(now) {
            self.fetch.set_allowance(now, room);
        }
        let before = self.fetch.requested();
        let sent = self.fetch.poll_transmit(now, out);
        self.host.limit().passed(now, (self.fetch.requested() - before) as usize);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.fetch.next_deadline(now).into_iter().chain(self.host.limit().next(now)).min()
    }

    fn on_deadline(&mut self, now: Time) {
        self.fetch.on_deadline(now, self.host.sink());
    }

    fn set_ranges(&mut self, answered: bool) {
        self.fetch.set_ranges(answered);
    }
}

/// Runs a fetch until it is over or its sink is satisfied, and returns the time that it took. The
/// caller looks at [`Fetch::status`].
///
/// # Errors
/// Those of the host.
pub fn drive<H: Host>(
    connection: &mut Connection,
    fetch: &mut Fetch,
    host: &mut H,
) -> Result<Duration, H::Failure> {
    let started = connection.now();
    while fetch.status() == Status::Running && !host.is_satisfied() {
        if let Some(room) = host.room() {
            fetch.set_room(connection.now(), room);
        }
        let until = host.next();
        let moved = connection.turn(&mut Driven { fetch, host }, until);
        let now = connection.now();
        host.look(now, fetch)?;
        // The connection may have ended after the last segment.
        match moved {
            Err(error) if fetch.status() == Status::Running => {
                host.lost(connection, fetch, error)?;
            }
            _ => host.went_on(now, fetch)?,
        }
    }
    Ok(connection.now().since(started))
}

/// True if the object of the fetched name is the list of a folder.
#[must_use]
pub fn is_folder(fetch: &Fetch) -> bool {
    let Some(object) = fetch.object().map(|object| &object.name) else { return false };
    let name = fetch.name();
    let next = object.as_ref().get(name.len()).filter(|_| object.len() > name.len() + 1);
    next.is_some_and(|next| next.is_keyword(tree::KEYWORD))
}
