//! An origin, and the parts of the proxy that the transfers from it use.

use super::client::{Client, OriginError, Reply};
use super::facts::Extent;
use super::news::Outbox;
use super::origin::Origin;
use super::slab::Slab;
use hyper::StatusCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The maximum number of bytes of one read.
pub const READ: usize = 64 * 1024;

/// The parts of the proxy that the threads of all origins use.
#[derive(Clone)]
pub struct Common {
    /// The content.
    pub slab: Arc<Slab>,
    /// The news of the threads.
    pub outbox: Arc<Outbox>,
    /// The number of the next object.
    pub ids: Arc<AtomicU64>,
    /// The maximum time for which answers may be used.
    pub fresh: Duration,
}

/// The origin of a transfer.
pub struct Source {
    /// Its number.
    pub number: usize,
    /// Sends the requests.
    pub client: Client,
    /// The parts that all origins use.
    pub common: Common,
}

impl Source {
    /// The bytes of the file that an answer with the status 200 or 206 has.
    ///
    /// # Errors
    /// See [`Extent::of`].
    pub fn extent(&self, reply: &Reply) -> Result<Extent, OriginError> {
        let extent = Extent::of(reply.status, &reply.headers, reply.len);
        extent.map_err(|why| OriginError::bad(format!("{} {why}", self.client.origin())))
    }
}

/// The status of an answer, with its standard phrase.
pub fn answers(origin: &Origin, status: u16) -> String {
    let phrase = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    match phrase {
        Some(phrase) => format!("{origin} answers with status {status} {phrase}"),
        None => format!("{origin} answers with status {status}"),
    }
}
