//! The settings of a client, which its operations share.

use crate::error::Error;
use crate::parts::keys;
use net::client::{Address, Connection};
use packet::Name;
use schemes::Choice;
use security::TrustPolicy;
use std::time::Duration;

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
    /// A new connection to the forwarder.
    pub fn open(&self) -> Result<Connection, Error> {
        Ok(Connection::open(self.address.clone())?)
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
