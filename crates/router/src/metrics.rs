//! The daemon's counters by HTTP: `GET /metrics`, from a thread of its own. Pages of other servers
//! do not get them ([`Guard::of_metrics`]).

use crate::guard::{Guard, Head};
use crate::requests;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use net::daemon::Observer;
use std::any::Any;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::Duration;
use tokio::sync::oneshot;

/// The format and its version.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
/// A connection is closed after this time.
const LONGEST: Duration = Duration::from_secs(10);

struct Server {
    observer: Observer,
    guard: Guard,
}

/// Answers at this address until the returned value is dropped.
///
/// # Errors
/// The system refuses the address or a thread.
pub fn serve(address: SocketAddr, observer: Observer) -> io::Result<Box<dyn Any + Send>> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _within = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let guard = Guard::of_metrics(address.ip(), &host_name());
    let server = Server { observer, guard };
    let thread = std::thread::Builder::new().name("metrics".to_owned());
    let (end, ended) = oneshot::channel::<()>();
    thread.spawn(move || {
        runtime.block_on(async {
            tokio::spawn(async move {
                let answer = move |request: &_, local| respond(&server, request, local);
                requests::serve(&listener, LONGEST, answer).await;
            });
            // Nothing is sent: its other end is dropped.
            let _ = ended.await;
        });
    })?;
    Ok(Box::new(end))
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn respond(server: &Server, request: &Request<Incoming>, local: IpAddr) -> Response<String> {
    let said = |status, text: &str| {
        let mut response = Response::new(text.to_owned());
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, TEXT);
        response
    };
    let (method, uri) = (request.method(), request.uri());
    let (version, headers) = (request.version(), request.headers());
    if let Err(refusal) = server.guard.admit(&Head { method, uri, version, headers, local }) {
        return said(refusal.status, &format!("{}\n", refusal.text));
    }
    if uri.path() != "/metrics" {
        return said(StatusCode::NOT_FOUND, "there is nothing here but /metrics\n");
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        let mut refused = said(StatusCode::METHOD_NOT_ALLOWED, "metrics can be read only\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match server.observer.metrics() {
        Some(text) => said(StatusCode::OK, &text),
        None => said(StatusCode::SERVICE_UNAVAILABLE, "the forwarder does not answer\n"),
    }
}
