//! The server of the documentation: files of one folder, to read.

use crate::exit::{Failure, Kind};
use crate::signals::Stop;
use crate::site::body::SiteBody;
use crate::site::files::{Found, SiteFiles};
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use net::text::shortened;
use router::guard::{Guard, Head};
use router::requests;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::time::Duration;
use weir::http::media::media_type;

/// A connection is closed after this time.
const LONGEST: Duration = Duration::from_secs(60);
/// The time for which a signal may go unnoticed.
const LOOK: Duration = Duration::from_millis(100);
/// Characters of a path that an answer repeats.
const SHOWN: usize = 200;
const TEXT: &str = "text/plain; charset=utf-8";

/// The browser lets pages of the documentation request its own files only. Their scripts are in
/// files and in the pages, as their generators write them.
const POLICY: &str = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' \
                      'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

/// Answers until a signal comes.
///
/// # Errors
/// The system has no resources for waiting.
pub fn serve(files: SiteFiles, listener: TcpListener, stop: &Stop) -> Result<(), Failure> {
    serve_until(files, listener, stop)
        .map_err(|error| Failure::new(Kind::Failed, format!("cannot serve: {error}")))
}

fn serve_until(files: SiteFiles, listener: TcpListener, stop: &Stop) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = Guard::of_docs();
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::spawn(async move {
            requests::serve(&listener, LONGEST, move |request, local| {
                std::future::ready(respond(&files, &guard, &request, local))
            })
            .await;
        });
        while !stop.requested() {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    })
}

fn respond(
    files: &SiteFiles,
    guard: &Guard,
    request: &Request<Incoming>,
    local: IpAddr,
) -> Response<SiteBody> {
    let (method, uri) = (request.method(), request.uri());
    let (version, headers) = (request.version(), request.headers());
    if let Err(rejection) = guard.admit(&Head { method, uri, version, headers, local }) {
        return text_response(rejection.status, &rejection.text);
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        let mut rejected =
            text_response(StatusCode::METHOD_NOT_ALLOWED, "the documentation can only be read");
        rejected.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return rejected;
    }
    match files.get(uri.path()) {
        Some(Found::File { file, bytes, name }) => {
            with_headers(Response::new(SiteBody::file(file, bytes)), media_type(&name))
        }
        Some(Found::Moved(to)) => {
            let mut moved =
                text_response(StatusCode::MOVED_PERMANENTLY, &format!("the page is {to}"));
            // Its letters are those of a field's value.
            if let Ok(to) = HeaderValue::from_str(&to) {
                moved.headers_mut().insert(LOCATION, to);
            }
            moved
        }
        None => {
            let path = shortened(uri.path(), SHOWN);
            let text = format!("the documentation has no {path}; its first page is /");
            text_response(StatusCode::NOT_FOUND, &text)
        }
    }
}

fn text_response(status: StatusCode, text: &str) -> Response<SiteBody> {
    let mut response = with_headers(Response::new(SiteBody::text(format!("{text}\n"))), TEXT);
    *response.status_mut() = status;
    response
}

fn with_headers(mut response: Response<SiteBody>, kind: &'static str) -> Response<SiteBody> {
    let resources = HeaderName::from_static("cross-origin-resource-policy");
    for (field, value) in [
        (CONTENT_TYPE, kind),
        // The site may be built again meanwhile.
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (resources, "same-origin"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(field, HeaderValue::from_static(value));
    }
    response
}
