//! Failed fetches in the terms of HTTP.

use crate::consumer;
use hyper::StatusCode;
use transport::fetch::{Fetch, FetchError, Status};

/// The HTTP status of a failed fetch.
pub fn status(fetch: &Fetch) -> StatusCode {
    use FetchError as E;
    if consumer::is_folder(fetch).is_some() {
        return StatusCode::PERMANENT_REDIRECT;
    }
    match fetch.status() {
        Status::Failed(E::NoRoute(_) | E::NotThere(_) | E::Gone { .. } | E::NotFound { .. }) => {
            StatusCode::NOT_FOUND
        }
        Status::Failed(E::Stalled { .. }) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    }
}
