//! The beginning of an answer, and its pipe.

use crate::file::Reader;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use router::guard::Rejection;

/// Bytes that wait for one client.
pub const WAITING: usize = 4_000_000;

/// The beginning of an answer.
pub struct Head {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, unless it has none.
    pub body: Option<Reader>,
}

/// The final answer to a request.
pub type Outcome = Result<Head, Rejection>;
