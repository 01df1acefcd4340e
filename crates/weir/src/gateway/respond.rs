//! The answer to one request: who may ask, what for, and when.

use crate::gateway::answer;
use crate::gateway::body::AnswerBody;
use crate::gateway::client::{Asked, Busy, Client};
use crate::gateway::context::Gateway;
use crate::gateway::log::{Answered, Sender};
use crate::gateway::reply;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, REFERER, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Version};
use net::text::shortened;
use router::guard::Head;
use router::guard::Refusal;
use std::net::IpAddr;
use std::sync::Arc;
use weir::http::ask::{Ask, Served};

/// Characters of a field that are logged.
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
    let served = Served { prefixes: &gateway.prefixes, mirrors: &gateway.mirrors };
    let ask = admitted.and_then(|()| Ask::read(method, uri, headers, served));
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
