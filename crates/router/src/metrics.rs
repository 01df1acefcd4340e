//! The daemon's counters by HTTP, `GET /metrics`, and whether it is alive and ready, `GET /healthz`
//! and `GET /readyz`, from a thread of its own. Pages of other servers do not get them
//! ([`Guard::of_metrics`]).

use crate::guard::{Guard, Head};
use crate::requests;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use net::daemon::{Health, Observer};
use std::any::Any;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// The format of the metrics and its version.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
/// The format of the answers about health.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// A connection is closed after this time.
const LONGEST: Duration = Duration::from_secs(10);

/// Questions about the counters, and about health, that wait for the daemon at a time. A client
/// that goes away leaves its question behind.
const QUESTIONS: usize = 8;

struct Server {
    observer: Observer,
    guard: Guard,
    counters: Arc<Semaphore>,
    health: Arc<Semaphore>,
}

/// Answers at this address until the returned value is dropped.
///
/// # Errors
/// The address cannot be bound, or no thread started.
pub fn serve(address: SocketAddr, observer: Observer) -> io::Result<Box<dyn Any + Send>> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _within = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let guard = Guard::of_metrics(address.ip(), &host_name());
    let counters = Arc::new(Semaphore::new(QUESTIONS));
    let health = Arc::new(Semaphore::new(QUESTIONS));
    let server = Arc::new(Server { observer, guard, counters, health });
    let thread = std::thread::Builder::new().name("metrics".to_owned());
    let (end, ended) = oneshot::channel::<()>();
    thread.spawn(move || {
        runtime.block_on(async {
            tokio::spawn(async move {
                requests::serve(&listener, LONGEST, move |request, local| {
                    respond(Arc::clone(&server), request, local)
                })
                .await;
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

type Question = fn(&Observer) -> Response<String>;

impl Server {
    /// A question for the daemon by its path, and the places for such questions.
    fn question(&self, path: &str) -> Option<(Question, &Arc<Semaphore>)> {
        match path {
            "/metrics" => Some((counters, &self.counters)),
            "/healthz" => Some((|observer| health(observer.alive()), &self.health)),
            "/readyz" => Some((|observer| health(observer.ready()), &self.health)),
            _ => None,
        }
    }
}

fn counters(observer: &Observer) -> Response<String> {
    match observer.metrics() {
        Some(text) => text_response(StatusCode::OK, TEXT, text.as_ref().to_owned()),
        None => plain(StatusCode::SERVICE_UNAVAILABLE, "the forwarder does not answer\n"),
    }
}

fn health(Health { is_good, json }: Health) -> Response<String> {
    let status = if is_good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    text_response(status, JSON, json)
}

fn failed() -> Response<String> {
    plain(StatusCode::INTERNAL_SERVER_ERROR, "the answer failed\n")
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    text_response(status, TEXT, text.to_owned())
}

fn text_response(status: StatusCode, format: HeaderValue, text: String) -> Response<String> {
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, format);
    response
}

async fn respond(
    server: Arc<Server>,
    request: Request<Incoming>,
    local: IpAddr,
) -> Response<String> {
    let (method, uri) = (request.method(), request.uri());
    let (version, headers) = (request.version(), request.headers());
    if let Err(rejection) = server.guard.admit(&Head { method, uri, version, headers, local }) {
        return plain(rejection.status, &format!("{}\n", rejection.text));
    }
    let Some((question, places)) = server.question(uri.path()) else {
        let text = "there is nothing here but /metrics, /healthz and /readyz\n";
        return plain(StatusCode::NOT_FOUND, text);
    };
    if !matches!(*method, Method::GET | Method::HEAD) {
        let mut rejected = plain(StatusCode::METHOD_NOT_ALLOWED, "this can be read only\n");
        rejected.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return rejected;
    }
    // The daemon may be blocked: others are answered meanwhile. The place is that of the question,
    // also when the client is gone.
    let Ok(place) = Arc::clone(places).acquire_owned().await else { return failed() };
    let server = Arc::clone(&server);
    let answer = tokio::task::spawn_blocking(move || {
        let _place = place;
        question(&server.observer)
    });
    answer.await.unwrap_or_else(|_| failed())
}
