//! The answer to one request: its checks, its slot, its head.

use crate::gateway::answer;
use crate::gateway::body::AnswerBody;
use crate::gateway::client::{Asked, Busy, Client};
use crate::gateway::context::Gateway;
use crate::gateway::log::{Answered, Sender};
use crate::gateway::receive::{leave, receive};
use crate::gateway::reply;
use crate::gateway::uploads::Uploads;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, REFERER, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use net::text::shortened;
use router::guard::Head;
use router::guard::Rejection;
use std::net::IpAddr;
use std::sync::Arc;
use weir::http::ask::{Ask, Served};

/// The maximum number of characters of a field in the log.
const SHOWN: usize = 200;

/// The two ends of a connection.
#[derive(Clone)]
pub struct Ends {
    /// The gateway.
    pub gateway: Arc<Gateway>,
    /// The client.
    pub client: Arc<Client>,
    /// The address of this host that the client has connected to.
    pub local: IpAddr,
    /// The client's own.
    pub peer: IpAddr,
}

/// Answers one request of a client, which is the connection or a stream of it.
pub async fn respond(
    ends: &Ends,
    client: &Arc<Client>,
    request: Request<Incoming>,
) -> Response<AnswerBody> {
    let (gateway, local) = (&ends.gateway, ends.local);
    let _busy = Busy::new(client);
    let asked = Asked::new(client);
    let (parts, body) = request.into_parts();
    let Parts { method, uri, version, headers, .. } = &parts;
    let version = *version;
    let mut answered = Answered::new(method.as_str(), uri.path());
    answered.sender = sender(ends.peer, version, headers);
    let admitted = gateway.guard.admit(&Head { method, uri, version, headers, local });
    let (origin, admitted) = match admitted {
        Ok(origin) => (origin, Ok(())),
        Err(rejection) => (None, Err(rejection)),
    };
    if *method == Method::PUT
        && let (Some(uploads), Ok(())) = (&gateway.uploads, &admitted)
    {
        let is_foreign = origin.is_some();
        let stored = receive(gateway, uploads, client, &parts, body, is_foreign, answered).await;
        let response = match stored {
            Ok(stored) => reply::stored(&stored),
            Err(rejection) => reply::rejected(&rejection, method, true),
        };
        return finish(gateway, response, origin, asked);
    }
    leave(version, headers, body);
    let puts = gateway.uploads.is_some();
    if admitted.is_ok()
        && let Some(found) = gateway.player.answer(method, uri.path(), headers).await
    {
        let response = found.unwrap_or_else(|rejection| {
            answered.fail(&rejection.text);
            reply::rejected(&rejection, method, puts)
        });
        answered.status = response.status().as_u16();
        gateway.log.answered(&answered);
        return finish(gateway, response, origin, asked);
    }
    let served = Served { prefixes: &gateway.prefixes, mirrors: &gateway.mirrors };
    let ask = admitted.and_then(|()| Ask::read(method, uri, headers, served));
    let response = match ask {
        Ok(ask) => match outcome(gateway, client, ask, &mut answered).await {
            Ok(response) => response,
            Err(rejection) => reply::rejected(&rejection, method, puts),
        },
        Err(_) if origin.is_some() && *method == Method::OPTIONS => {
            // A page of another origin needs the token in addition.
            reply::preflight(gateway.uploads.as_ref().is_some_and(Uploads::has_token))
        }
        Err(rejection) => {
            reject(gateway, answered, &rejection);
            reply::rejected(&rejection, method, puts)
        }
    };
    finish(gateway, response, origin, asked)
}

/// Completes an answer.
fn finish(
    gateway: &Gateway,
    mut response: Response<AnswerBody>,
    origin: Option<HeaderValue>,
    asked: Asked,
) -> Response<AnswerBody> {
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
) -> Result<Response<AnswerBody>, Rejection> {
    let Ok(slot) = gateway.slots.take(client) else {
        let text = "too many requests are waiting; try again in a few seconds";
        let rejection = Rejection::new(StatusCode::SERVICE_UNAVAILABLE, text);
        reject(gateway, std::mem::take(answered), &rejection);
        return Err(rejection);
    };
    // The slots outlive all requests that wait for one.
    let slot = Arc::new(slot.await.map_err(|_| failed())?);
    let coming = answer::begin(gateway, ask, std::mem::take(answered), Arc::clone(&slot));
    let head = coming.head().await.unwrap_or_else(|| Err(failed()))?;
    Ok(reply::found(head, slot))
}

fn failed() -> Rejection {
    let text = "the answer could not be started; try again in a few seconds";
    Rejection::new(StatusCode::SERVICE_UNAVAILABLE, text)
}

/// The sender of a request, shortened.
fn sender(peer: IpAddr, version: Version, headers: &HeaderMap) -> Sender {
    let (referer, agent) = (text(headers, &REFERER), text(headers, &USER_AGENT));
    Sender { address: Some(peer), version: format!("{version:?}"), referer, agent }
}

/// The text of a field, shortened; empty if it is not there.
fn text(headers: &HeaderMap, field: &HeaderName) -> String {
    let bytes = headers.get(field).map_or(&b""[..], HeaderValue::as_bytes);
    shortened(&String::from_utf8_lossy(bytes), SHOWN)
}

fn reject(gateway: &Gateway, mut answered: Answered, rejection: &Rejection) {
    answered.status = rejection.status.as_u16();
    answered.fail(&rejection.text);
    gateway.log.answered(&answered);
}
