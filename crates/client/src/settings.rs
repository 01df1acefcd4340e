//! The settings of a client, which its operations share.

use crate::error::Error;
use crate::parts::{Surroundings, keys};
use net::client::{Address, Connection};
use net::clock::monotonic;
use packet::Name;
use schemes::Choice;
use security::TrustPolicy;
use std::time::Duration;

/// Between two attempts to connect to a forwarder that does not accept.
const BETWEEN: Duration = Duration::from_millis(50);

/// Surroundings that never stop an operation.
pub(crate) struct Unstopped;

impl Surroundings for Unstopped {
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The settings of a client, checked.
#[derive(Debug)]
pub(crate) struct Settings {
    pub address: Address,
    pub control: Choice,
    pub policy: TrustPolicy,
    pub key: Option<Name>,
    pub lifetime: Duration,
    pub patience: Duration,
}

impl Settings {
    /// A new connection to the forwarder. Waits for a forwarder that does not accept, until the
    /// patience is over or `surroundings` stop it. Signals are left to the program.
    #[expect(clippy::disallowed_methods, reason = "a driver: the kernel does not tell when it may")]
    pub fn open(&self, surroundings: &dyn Surroundings) -> Result<Connection, Error> {
        let began = monotonic();
        loop {
            if surroundings.is_stopped() {
                return Err(Error::Cancelled);
            }
            match Connection::open_soon(self.address.clone()) {
                Ok(mut connection) => {
                    connection.leave_signals();
                    return Ok(connection);
                }
                Err(error) if error.is_busy() && monotonic().since(began) < span(self.patience) => {
                    std::thread::sleep(BETWEEN);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The wanted key, or that of the client.
    pub fn signing(&self, wanted: Option<&Name>, name: &Name) -> Result<keys::Signing, Error> {
        Ok(keys::signing(wanted.or(self.key.as_ref()), name)?)
    }
}

/// A time of the standard library as one of the transport, at most 2^64 ns.
pub(crate) fn span(duration: Duration) -> control::Duration {
    control::Duration(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
