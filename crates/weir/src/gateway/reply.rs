//! Answers as the HTTP library takes them.

use crate::gateway::body::AnswerBody;
use crate::gateway::head::Head;
use crate::gateway::receive::Stored;
use crate::gateway::slots::Slot;
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use hyper::{Method, Response, StatusCode};
use router::guard::Rejection;
use std::sync::Arc;
use tokio::net::TcpStream;
use weir::http::plan::confine;

const TEXT: &str = "text/plain; charset=utf-8";

/// Seconds after which a rejected client may try again.
const RETRY: &str = "5";

/// The answer to connections beyond the limit, before their request is read.
const NO_ROOM: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n\
    Content-Length: 0\r\nConnection: close\r\n\r\n";

/// The answer that a fetch has found. It holds its slot until its body is sent.
pub fn found(head: Head, slot: Arc<Slot>) -> Response<AnswerBody> {
    let body = match head.body {
        Some(reader) => AnswerBody::fetched(reader, slot),
        None => AnswerBody::text(Bytes::new()),
    };
    let mut response = Response::new(body);
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers;
    response
}

/// A rejection, in words.
/// `puts`: there may be uploads.
pub fn rejected(rejection: &Rejection, method: &Method, puts: bool) -> Response<AnswerBody> {
    let text = match *method {
        Method::HEAD => Bytes::new(),
        _ => Bytes::from(format!("{}\n", rejection.text)),
    };
    let mut response = Response::new(AnswerBody::text(text));
    *response.status_mut() = rejection.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    confine(headers, TEXT);
    match rejection.status {
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static(methods(puts)));
        }
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY));
        }
        _ => {}
    }
    let location = rejection.location.as_ref().and_then(|at| HeaderValue::from_str(at).ok());
    if let Some(location) = location {
        headers.insert(LOCATION, location);
    }
    response
}

/// The answer to an upload: it is stored.
pub fn stored(stored: &Stored) -> Response<AnswerBody> {
    let name = stored.name.to_string();
    let mut response = Response::new(AnswerBody::text(Bytes::from(format!("{name}\n"))));
    *response.status_mut() = StatusCode::CREATED;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    confine(headers, TEXT);
    // Names are percent-encoded.
    let tag = format!("\"{}\"", stored.version);
    for (field, value) in [(LOCATION, name), (ETAG, tag)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(field, value);
        }
    }
    response
}

fn methods(puts: bool) -> &'static str {
    if puts { "GET, HEAD, PUT" } else { "GET, HEAD" }
}

/// The answer to a browser's preflight request for a page of an allowed origin. `puts`: the page
/// may upload.
pub fn preflight(puts: bool) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::text(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let fields = "Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since";
    let fields =
        if puts { format!("{fields}, Authorization, Content-Type") } else { fields.to_owned() };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods(puts)));
    if let Ok(fields) = HeaderValue::from_str(&fields) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, fields);
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    // Pages of public addresses ask for this before they may send to a local one.
    headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
    response
}

/// Sets headers: the answer depends on the page's origin, and this origin may read it.
pub fn share(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        let exposed = "Accept-Ranges, Content-Length, Content-Range, ETag, Location";
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
    }
}

/// Turns a connection away at once. A connection that cannot take these few bytes is only closed.
pub fn turn_away(stream: &TcpStream) {
    let _ = stream.try_write(NO_ROOM);
}
