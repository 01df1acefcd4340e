//! One upload: its body from the connection into the store.

use crate::exit::{Failure, Kind};
use crate::gateway::client::Client;
use crate::gateway::context::Gateway;
use crate::gateway::log::{Answered, Log};
use crate::gateway::pieces::{Writer, pieces};
use crate::gateway::uploads::{StoreFailure, StoredObject, Upload, Uploads};
use crate::signals::Stop;
use control::{Duration, Time};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::EXPECT;
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode, Version};
use net::clock::monotonic;
use packet::{Component, Name};
use router::guard::Rejection;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::oneshot;
use weir::http::plan;
use weir::http::put::Put;

/// The fewest bytes of an upload within the time that clients have.
const LEAST: u64 = 10_000;
/// The time for which a rejected body is read on. A client whose connection closes while it sends
/// may not see the answer.
const DRAINED: Duration = Duration::from_secs(2);
/// The maximum number of bytes of it that are read.
const DRAINED_BYTES: u64 = 4_000_000;

/// A stored upload.
pub struct Stored {
    /// The name with the version.
    pub name: Name,
    /// Its last component, which is the tag of the version.
    pub version: Component,
}

/// Receives an upload, and logs it. `is_foreign` if it comes from a page of another origin that may
/// read. An upload with a complete body is stored even if the client goes away before the answer,
/// which drops this future.
///
/// # Errors
/// It is not permitted, breaks off, or cannot be stored. Then the store keeps nothing of it.
pub async fn receive(
    gateway: &Gateway,
    uploads: &Uploads,
    client: &Client,
    parts: &Parts,
    mut body: Incoming,
    is_foreign: bool,
    answered: Answered,
) -> Result<Stored, Rejection> {
    let (log, stop) = (gateway.log.clone(), gateway.stop.clone());
    let mut line = LogLine { log, stop, began: monotonic(), answered, is_over: false };
    let answered = &mut line.answered;
    let received = async {
        uploads.authorize(&parts.headers, client.source, is_foreign)?;
        let put = Put::read(&parts.uri, &parts.headers, uploads.prefixes())?;
        let mut body = UploadBody { body: &mut body, version: parts.version, size: put.size };
        send_to_store(gateway, uploads, client, put, &mut body, answered).await
    };
    let result = match received.await {
        Ok(storing) => {
            // The upload will be stored, and logged as stored, even if the client goes away.
            let ended = tokio::spawn(storing.end(line));
            ended.await.unwrap_or_else(|_| Err(lost().into_rejection()))
        }
        Err(rejection) => {
            line.reject(&rejection);
            Err(rejection)
        }
    };
    if result.is_err() {
        leave(parts.version, &parts.headers, body);
    }
    result
}

/// The line of an upload, which is written when this is dropped: the HTTP library drops requests
/// that the client takes back, and the runtime drops all tasks when the gateway ends.
struct LogLine {
    log: Log,
    stop: Stop,
    began: Time,
    answered: Answered,
    is_over: bool,
}

impl LogLine {
    fn reject(&mut self, rejection: &Rejection) {
        self.answered.status = rejection.status.as_u16();
        if self.answered.error.is_none() {
            self.answered.fail(&rejection.text);
        }
        self.is_over = true;
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        if !self.is_over {
            // No status was sent. This is the one of other bodies that break off.
            self.answered.status = StatusCode::BAD_REQUEST.as_u16();
            self.answered.fail(match self.stop.requested() {
                true => "the gateway ended before the upload was stored",
                false => "the client cancelled the upload",
            });
        }
        self.answered.duration_s = monotonic().since(self.began).as_secs_f64();
        self.log.answered(&self.answered);
    }
}

/// An upload whose body has come.
struct Storing {
    name: Name,
    result: oneshot::Receiver<Result<StoredObject, StoreFailure>>,
}

impl Storing {
    /// Waits until it is stored, and logs it.
    async fn end(self, mut line: LogLine) -> Result<Stored, Rejection> {
        match self.result.await.unwrap_or_else(|_| Err(lost())) {
            Ok(StoredObject { version, bytes }) => {
                let version = Component::version(version);
                let name = self.name.with(&version);
                line.answered.bytes = bytes;
                line.answered.status = StatusCode::CREATED.as_u16();
                line.answered.name = Some(name.to_string());
                line.is_over = true;
                Ok(Stored { name, version })
            }
            Err(failure) => {
                let rejection = rejection(failure, &mut line.answered);
                line.reject(&rejection);
                Err(rejection)
            }
        }
    }
}

/// Sends the body to a thread that stores it. The store is read and written by a thread of its own,
/// because the disk may be slow.
async fn send_to_store(
    gateway: &Gateway,
    uploads: &Uploads,
    client: &Client,
    put: Put,
    body: &mut UploadBody<'_>,
    answered: &mut Answered,
) -> Result<Storing, Rejection> {
    let upload = Arc::new(uploads.begin(&put.name, client.source)?);
    let (writer, mut reader) = pieces();
    let (show, shown) = oneshot::channel();
    let (give, take) = oneshot::channel();
    let keeper = Arc::clone(uploads.keeper());
    let put = Arc::new(put);
    let (under_way, wanted) = (Arc::clone(&upload), Arc::clone(&put));
    let keep = move || {
        let found = keeper.room().map_err(StoreFailure::from);
        let found = found.and_then(|room| Ok((room, keeper.version(&wanted.name)?)));
        // The store is unchanged until the upload is permitted and begins.
        let begins = show.send(found).is_ok() && reader.wait_for_start();
        let kept = begins.then(|| {
            let permit = |newest| {
                under_way.clear_account();
                check(&wanted, newest)
            };
            keeper.keep(&wanted.name, wanted.media_type.clone(), &mut reader, &permit)
        });
        // The name is free before the client gets an answer.
        drop(under_way);
        kept.map(|kept| give.send(kept));
    };
    if let Err(error) = uploads.threads().start(keep) {
        answered.fail(&error.to_string());
        let text = "too many uploads are under way; try again in a few seconds";
        return Err(Rejection::new(StatusCode::SERVICE_UNAVAILABLE, text));
    }
    let sent = async {
        let found = shown.await.unwrap_or_else(|_| Err(lost()));
        let (room, newest) = found.map_err(|failure| rejection(failure, answered))?;
        upload.reserve(room, put.size.unwrap_or(0))?;
        check(&put, newest)?;
        send(body, writer, &upload, gateway.client_timeout).await
    };
    let sent = sent.await;
    drop(upload);
    if let Err(rejection) = sent {
        // Without the writer, the thread ends.
        let _ = take.await;
        return Err(rejection);
    }
    Ok(Storing { name: put.name.clone(), result: take })
}

/// Checks the conditions of an upload against the newest version.
fn check(put: &Put, newest: Option<u64>) -> Result<(), Rejection> {
    let tag = newest.map(|version| format!("\"{}\"", Component::version(version)));
    put.check(tag.as_deref(), newest.and_then(plan::modified_of))
}

/// The failure of a thread that gives no result.
fn lost() -> StoreFailure {
    Failure::new(Kind::Failed, "the thread of the upload has ended").into()
}

/// The body of an upload.
struct UploadBody<'a> {
    body: &'a mut Incoming,
    /// The version of HTTP.
    version: Version,
    /// Its size in bytes, if the request has it.
    size: Option<u64>,
}

impl UploadBody<'_> {
    /// Checks that no byte is missing after the last of `bytes`. HTTP/2 has an explicit end of the
    /// body, and the HTTP library takes a reset with NO_ERROR for it (RFC 9113, section 8.1).
    fn check_end(&self, bytes: u64) -> Result<(), Rejection> {
        let has_end = self.version != Version::HTTP_2 || self.body.is_end_stream();
        if has_end && self.size.is_none_or(|size| size == bytes) {
            return Ok(());
        }
        let text = "the upload ended before all of it had arrived; send it again";
        Err(Rejection::new(StatusCode::BAD_REQUEST, text))
    }
}

/// Sends the body to the thread that stores it. Dropping the writer breaks it off.
async fn send(
    body: &mut UploadBody<'_>,
    writer: Writer,
    upload: &Upload,
    patience: Duration,
) -> Result<(), Rejection> {
    let mut pace = Pace::new(patience);
    let mut taken = 0;
    loop {
        let next = tokio::time::timeout(pace.left(), next(body.body)).await;
        let len = match &next {
            Ok(Some(Ok(bytes))) => bytes.len() as u64,
            _ => 0,
        };
        taken += len;
        if !pace.goes_on(len, next.is_err()) {
            let text = "the upload was too slow and was stopped; send it again";
            return Err(Rejection::new(StatusCode::REQUEST_TIMEOUT, text));
        }
        match next {
            Err(_) => {}
            Ok(None) => {
                body.check_end(taken)?;
                writer.end().await;
                return Ok(());
            }
            Ok(Some(Ok(bytes))) => {
                upload.grow(taken)?;
                // The thread has failed if it takes no more. Its result has the reason.
                if !bytes.is_empty() && !writer.write(bytes).await {
                    return Ok(());
                }
                pace.begin();
            }
            Ok(Some(Err(error))) => {
                let text = format!("the upload is broken: {error}; send it again");
                return Err(Rejection::new(StatusCode::BAD_REQUEST, text));
            }
        }
    }
}

/// The next bytes of a body; empty for trailers.
async fn next(body: &mut Incoming) -> Option<hyper::Result<Bytes>> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// The progress of a body, over the time in which the gateway waits for its client.
struct Pace {
    patience: Duration,
    waited: Duration,
    since: Time,
    bytes: u64,
}

impl Pace {
    fn new(patience: Duration) -> Pace {
        Pace { patience, waited: Duration::ZERO, since: monotonic(), bytes: 0 }
    }

    /// The time until the next look.
    fn left(&self) -> std::time::Duration {
        let left = self.patience.as_secs_f64() - self.waited.as_secs_f64();
        std::time::Duration::from_secs_f64(left.max(0.0))
    }

    /// The gateway waits for the client from now on.
    fn begin(&mut self) {
        self.since = monotonic();
    }

    /// Adds bytes that have come, or notes that the time has passed. Returns false if there were
    /// too few in that time.
    fn goes_on(&mut self, bytes: u64, has_passed: bool) -> bool {
        self.waited += monotonic().since(self.since);
        self.bytes += bytes;
        self.begin();
        if !has_passed && self.waited < self.patience {
            return true;
        }
        let is_enough = self.bytes >= LEAST;
        self.waited = Duration::ZERO;
        self.bytes = 0;
        is_enough
    }
}

/// Takes an unwanted body, in a task of its own: the answer is sent meanwhile, and with HTTP/2 the
/// stream is reset after it (RFC 9113, section 8.1).
pub fn leave(version: Version, headers: &HeaderMap, body: Incoming) {
    // With HTTP/1, a client that waits for the answer before it sends the body may begin another
    // request. With HTTP/2 that is another stream, and a missing answer would cause a reset.
    let may_begin_another = version != Version::HTTP_2 && headers.contains_key(EXPECT);
    if !body.is_end_stream() && !may_begin_another {
        tokio::spawn(drain(body));
    }
}

/// Reads some more of an unwanted body.
async fn drain(mut body: Incoming) {
    let read = async {
        let mut bytes = 0;
        while bytes < DRAINED_BYTES
            && let Some(Ok(some)) = next(&mut body).await
        {
            bytes += some.len() as u64;
        }
    };
    let limit = std::time::Duration::from_secs_f64(DRAINED.as_secs_f64());
    let _ = tokio::time::timeout(limit, read).await;
}

/// The rejection of a failure of the store. The log has all of it.
fn rejection(failure: StoreFailure, answered: &mut Answered) -> Rejection {
    answered.fail(&failure.failure().to_string());
    failure.into_rejection()
}
