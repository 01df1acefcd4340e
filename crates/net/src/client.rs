<<<<<<< HEAD
//! The side of applications: a connection to a forwarder, driven for a state machine.
//!
//! [`Connection`] owns the socket and the loop; what it drives is an [`Endpoint`]: a fetch, a
//! producer, a management request. One thread, no runtime: a program drives one connection.

mod address;
mod connection;
mod register;

pub use address::{Address, AddressError};
pub use connection::{ConnectError, Connection, Turn};
pub use register::RegisterError;

use control::Time;

/// A state machine at the end of a connection, with the verbs of all of them.
pub trait Endpoint {
    /// A link-layer frame came.
    fn receive(&mut self, now: Time, frame: &[u8]);

    /// Appends the next frame to send and returns true, or returns false.
    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool;

    /// When [`Endpoint::on_deadline`] wants to be called.
    fn next_deadline(&mut self, now: Time) -> Option<Time>;

    /// The instant asked for has come.
    fn on_deadline(&mut self, now: Time);
}
=======
//! The applications' side: a connection to the local forwarder and the loop that drives a state
//! machine over it.

mod command;
mod connect;
mod error;

pub use connect::{TRANSPORT_VARIABLE, locate};
pub use error::ClientError;

use crate::clock::Clock;
use crate::socket::Progress;
use crate::socket::udp::ReceiveBuffers;
use crate::timer::{Sleep, Timer};
use connect::Carrier;
use control::{Duration, Time};
use mio::{Events, Poll, Token};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::ops::ControlFlow;

const TIMER: Token = Token(0);
const SOCKET: Token = Token(1);

/// Octets that are read, or sent, before the endpoint has its turn again.
const BUDGET: usize = 256 << 10;

/// Frames that came while an answer was awaited, kept for whoever drives the connection next.
const MAX_KEPT: usize = 4096;

/// A state machine at the end of a connection: consumer, producer, or both.
///
/// The driver calls [`Endpoint::receive`] for each frame that came, [`Endpoint::on_deadline`] when
/// [`Endpoint::next_deadline`] has come, and then [`Endpoint::poll_transmit`] until it has nothing
/// or the forwarder takes no more.
pub trait Endpoint {
    /// A link-layer frame came from the forwarder.
    fn receive(&mut self, now: Time, frame: &[u8]);
    /// Appends the next frame to send; false if there is none now.
    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool;
    /// The instant asked for has come.
    fn on_deadline(&mut self, now: Time);
    /// When [`Endpoint::on_deadline`] wants to be called.
    fn next_deadline(&mut self, now: Time) -> Option<Time>;
    /// Nothing more is to be done; what was appended is still sent.
    fn is_done(&self) -> bool;
}

/// A connection to a forwarder.
#[derive(Debug)]
pub struct Client {
    clock: Clock,
    poll: Poll,
    timer: Timer,
    events: Events,
    carrier: Carrier,
    /// The forwarder's address as a face URI, for messages.
    uri: String,
    readable: bool,
    blocked: bool,
    buffer: Vec<u8>,
    datagrams: Option<ReceiveBuffers>,
    kept: VecDeque<Vec<u8>>,
}

impl Client {
    /// The connection's clock: what the endpoint is given as `now`.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The forwarder's address as a face URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Drives `endpoint` until it is done and everything is sent, or `observe` breaks off. `observe`
    /// is called after every turn of the loop, and at least every `tick`.
    ///
    /// # Errors
    /// The connection to the forwarder is lost.
    pub fn drive<E: Endpoint + ?Sized>(
        &mut self,
        endpoint: &mut E,
        tick: Duration,
        mut observe: impl FnMut(Time, &mut E) -> ControlFlow<()>,
    ) -> Result<(), ClientError> {
        while let Some(frame) = self.kept.pop_front() {
            endpoint.receive(self.clock.now(), &frame);
        }
        loop {
            let now = self.clock.now();
            if endpoint.next_deadline(now).is_some_and(|at| at <= now) {
                endpoint.on_deadline(now);
            }
            let sent = self.send(|out| endpoint.poll_transmit(now, out))?;
            if observe(now, endpoint).is_break() {
                return Ok(());
            }
            if endpoint.is_done() && sent == Progress::Done {
                return Ok(());
            }
            let tick = now + tick;
            let sleep = if self.readable || sent == Progress::More {
                Sleep::Not
            } else {
                Sleep::Until(Some(endpoint.next_deadline(now).map_or(tick, |at| at.min(tick))))
            };
            self.wait(sleep)?;
            self.receive(|now, frame| endpoint.receive(now, frame))?;
        }
    }

    /// Waits for the socket or the time.
    fn wait(&mut self, sleep: Sleep) -> Result<(), ClientError> {
        let timeout = self.timer.prepare(self.clock.now(), sleep)?;
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
        for event in self.events.iter().filter(|e| e.token() == SOCKET) {
            self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
            self.blocked &= !event.is_writable();
        }
        Ok(())
    }

    fn send(&mut self, fill: impl FnMut(&mut Vec<u8>) -> bool) -> Result<Progress, ClientError> {
        if self.blocked {
            return Ok(Progress::Blocked);
        }
        let progress = self.carrier.send(BUDGET, fill).map_err(|e| self.lost(&e))?;
        self.blocked = progress == Progress::Blocked;
        Ok(progress)
    }

    fn receive(&mut self, mut each: impl FnMut(Time, &[u8])) -> Result<(), ClientError> {
        if !self.readable {
            return Ok(());
        }
        let now = self.clock.now();
        let Client { carrier, buffer, datagrams, .. } = self;
        let received = carrier.receive(buffer, datagrams, BUDGET, |frame| each(now, frame));
        match received.map_err(|e| self.lost(&e))? {
            Progress::Closed => Err(ClientError::Closed { uri: self.uri.clone() }),
            progress => {
                self.readable = progress == Progress::More;
                Ok(())
            }
        }
    }

    fn lost(&self, error: &crate::socket::stream::StreamError) -> ClientError {
        ClientError::Lost { uri: self.uri.clone(), why: error.to_string() }
    }
}

#[cfg(test)]
mod tests;
>>>>>>> e9dc446 (Run the forwarder on real links: daemon loop, management protocol, client side)
