//! The sender of a request.

use std::net::IpAddr;

/// The sender of a request, as its line names it.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// Its address.
    pub address: Option<IpAddr>,
    /// The version of HTTP.
    pub version: String,
    /// The page that led to the request.
    pub referer: String,
    /// The program.
    pub agent: String,
}
