//! Connections of HTTP clients.

use crate::exit::{Failure, Kind};
use crate::gateway::answer::{self, Head};
use crate::gateway::ask::{Ask, Refusal};
use crate::gateway::body::Octets;
use crate::gateway::log::{Answered, Log};
use crate::output;
use crate::signals::Stop;
use crate::transfer::Transfers;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use net::client::Address;
use packet::Name;
use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// How long a signal may go unnoticed.
const LOOK: Duration = Duration::from_millis(100);
/// A client that has asked for nothing for so long makes room for others.
const IDLE: Duration = Duration::from_secs(20);
/// Octets of a request's head; no browser sends as many.
const LONGEST_HEAD: usize = 32 * 1024;

/// What all answers have in common.
pub struct Gateway {
    /// The forwarder.
    pub address: Address,
    /// How to fetch.
    pub transfers: Transfers,
    /// Names under one of these are served; all, if there is none.
    pub prefixes: Vec<Name>,
    /// How many connections at a time.
    pub clients: usize,
    /// Who is told.
    pub log: Log,
    /// When to end.
    pub stop: Stop,
}

/// Answers until a signal comes.
///
/// # Errors
/// The system has nothing left to wait with.
pub fn serve(gateway: Gateway, listener: TcpListener) -> Result<(), Failure> {
    let failed = |error| Failure::new(Kind::Failed, format!("cannot serve: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    runtime.block_on(accept(Arc::new(gateway), listener)).map_err(failed)
}

async fn accept(gateway: Arc<Gateway>, listener: TcpListener) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(gateway.clients));
    let mut place = None;
    while !gateway.stop.requested() {
        // Those for whom there is no place wait in the system's queue.
        if place.is_none() {
            let free = tokio::time::timeout(LOOK, Arc::clone(&places).acquire_owned()).await;
            place = free.ok().and_then(Result::ok);
            continue;
        }
        match tokio::time::timeout(LOOK, listener.accept()).await {
            Ok(Ok((stream, _))) => {
                let (gateway, place) = (Arc::clone(&gateway), place.take());
                tokio::spawn(async move {
                    converse(gateway, stream).await;
                    drop(place);
                });
            }
            Ok(Err(error)) => {
                output::note(&format!("cannot take a connection now: {error}"));
                tokio::time::sleep(LOOK).await;
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// All requests of one connection, one after the other.
async fn converse(gateway: Arc<Gateway>, stream: TcpStream) {
    let service = service_fn(move |request| {
        let gateway = Arc::clone(&gateway);
        async move { Ok::<_, Infallible>(respond(&gateway, &request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(LONGEST_HEAD)
        .max_header_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    // It ends as clients end it; what went wrong with an answer has been said of the answer.
    let _ = connection.await;
}

async fn respond(gateway: &Arc<Gateway>, request: &Request<Incoming>) -> Response<Octets> {
    let (method, uri) = (request.method(), request.uri());
    let mut answered =
        Answered { method: method.to_string(), path: uri.path().to_owned(), ..Answered::default() };
    let outcome = match Ask::read(method, uri, request.headers(), &gateway.prefixes) {
        Ok(ask) => answer::begin(gateway, ask, answered).await.unwrap_or_else(|_| {
            let text = "too much is going on here; try again";
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text))
        }),
        Err(refusal) => {
            answered.status = refusal.status.as_u16();
            answered.error = Some(refusal.text.clone());
            gateway.log.answered(&answered);
            Err(refusal)
        }
    };
    match outcome {
        Ok(head) => response(head),
        Err(refusal) => refused(&refusal, method),
    }
}

fn response(head: Head) -> Response<Octets> {
    let body = head.body.map_or(Octets::Text(Bytes::new()), Octets::Fetched);
    let mut response = Response::new(body);
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers;
    response
}

fn refused(refusal: &Refusal, method: &Method) -> Response<Octets> {
    let text = match *method {
        Method::HEAD => Bytes::new(),
        _ => Bytes::from(format!("{}\n", refusal.text)),
    };
    let mut response = Response::new(Octets::Text(text));
    *response.status_mut() = refusal.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if refusal.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
