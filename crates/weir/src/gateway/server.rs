//! Connections of HTTP clients.

use crate::exit::{Failure, Kind};
use crate::gateway::answer;
use crate::gateway::body::AnswerBody;
use crate::gateway::client::{Asked, Busy, Client};
use crate::gateway::clients::{Clients, Place};
use crate::gateway::context::Gateway;
use crate::gateway::log::{Answered, Sender};
use crate::gateway::reply;
use crate::gateway::source::Source;
use crate::gateway::stream::Watched;
use crate::gateway::wire::{Ends, converse};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, REFERER, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Version};
use net::text::shortened;
use router::guard::Head;
use router::guard::Refusal;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use weir::http::ask::Ask;

/// How long a signal, or a client that does not read, may go unnoticed.
const LOOK: Duration = Duration::from_millis(100);
/// Characters of a field that are logged.
const SHOWN: usize = 200;
/// Connections for each slot, and at least: most are idle, or wait.
const CONNECTIONS: usize = 8;
const FEWEST_CONNECTIONS: usize = 128;

/// Answers until a signal comes; `slots` requests at a time.
///
/// # Errors
/// The system has nothing left to wait with.
pub fn serve(gateway: Gateway, listener: TcpListener, slots: usize) -> Result<(), Failure> {
    let failed = |error| Failure::new(Kind::Failed, format!("cannot serve: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let clients = Clients::new(FEWEST_CONNECTIONS.max(CONNECTIONS * slots));
    runtime.block_on(accept(Arc::new(gateway), listener, clients)).map_err(failed)
}

async fn accept(
    gateway: Arc<Gateway>,
    listener: TcpListener,
    clients: Arc<Clients>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    while !gateway.stop.requested() {
        for client in gateway.slots.stalled(gateway.client_timeout) {
            client.close();
        }
        match tokio::time::timeout(LOOK, listener.accept()).await {
            Ok(Ok((stream, peer))) => {
                // It fails if the client is gone.
                let Ok(local) = stream.local_addr() else { continue };
                match clients.admit(Source::of(peer, local)) {
                    Some(place) => {
                        begin(Arc::clone(&gateway), stream, [local.ip(), peer.ip()], place)
                    }
                    None if gateway.tls.is_none() => reply::turn_away(&stream),
                    None => {}
                }
            }
            Ok(Err(error)) => {
                gateway.log.note(format!("cannot take a connection now: {error}"));
                tokio::time::sleep(LOOK).await;
            }
            Err(_) => {}
        }
    }
    Ok(())
}

fn begin(gateway: Arc<Gateway>, stream: TcpStream, ends: [IpAddr; 2], place: Place) {
    let client = Arc::clone(&place.client);
    let [local, peer] = ends;
    let ends = Ends { gateway, client: Arc::clone(&client), local, peer };
    let task = tokio::spawn(async move {
        let stream = Watched::new(stream, Arc::clone(&ends.client));
        converse(ends, stream).await;
        drop(place);
    });
    client.set_task(task.abort_handle());
}

/// Answers one request of a client, which is the connection or a stream of it.
pub async fn respond(
    ends: &Ends,
    client: &Arc<Client>,
    request: &Request<Incoming>,
) -> Response<AnswerBody> {
    let (gateway, local) = (&ends.gateway, ends.local);
    let _busy = Busy::new(client);
    let asked = Asked::new(client);
    let (method, uri) = (request.method(), request.uri());
    let (version, headers) = (request.version(), request.headers());
    let mut answered = Answered::new(method.as_str(), uri.path());
    answered.sender = sender(ends.peer, version, headers);
    let admitted = gateway.guard.admit(&Head { method, uri, version, headers, local });
    let (origin, admitted) = match admitted {
        Ok(origin) => (origin, Ok(())),
        Err(refusal) => (None, Err(refusal)),
    };
    let ask = admitted.and_then(|()| Ask::read(method, uri, headers, &gateway.prefixes));
    let mut response = match ask {
        Ok(ask) => match outcome(gateway, client, ask, &mut answered).await {
            Ok(response) => response,
            Err(refusal) => reply::refused(&refusal, method),
        },
        Err(_) if origin.is_some() && *method == Method::OPTIONS => reply::preflight(),
        Err(refusal) => {
            refuse(gateway, answered, &refusal);
            reply::refused(&refusal, method)
        }
    };
    if gateway.guard.has_origins() {
        reply::share(response.headers_mut(), origin);
    }
    response.map(|body| body.of(asked))
}

/// Waits for a slot, and then for the head of the answer.
async fn outcome(
    gateway: &Arc<Gateway>,
    client: &Arc<Client>,
    ask: Ask,
    answered: &mut Answered,
) -> Result<Response<AnswerBody>, Refusal> {
    let Ok(slot) = gateway.slots.take(client) else {
        let text = "too many requests are waiting; try again in a few seconds";
        let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text);
        refuse(gateway, std::mem::take(answered), &refusal);
        return Err(refusal);
    };
    let failed = || {
        let text = "the answer could not begin; try again in a few seconds";
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
    };
    // The slots outlive all who wait for one.
    let slot = Arc::new(slot.await.map_err(|_| failed())?);
    let head = answer::begin(gateway, ask, std::mem::take(answered), Arc::clone(&slot));
    let head = head.await.unwrap_or_else(|_| Err(failed()))?;
    Ok(reply::found(head, slot))
}

/// The sender of a request, shortened.
fn sender(peer: IpAddr, version: Version, headers: &HeaderMap) -> Sender {
    let text = |field: HeaderName| {
        let bytes = headers.get(field).map_or(&b""[..], HeaderValue::as_bytes);
        shortened(&String::from_utf8_lossy(bytes), SHOWN)
    };
    let (referer, agent) = (text(REFERER), text(USER_AGENT));
    Sender { address: Some(peer), version: format!("{version:?}"), referer, agent }
}

fn refuse(gateway: &Gateway, mut answered: Answered, refusal: &Refusal) {
    answered.status = refusal.status.as_u16();
    answered.fail(&refusal.text);
    gateway.log.answered(&answered);
}
