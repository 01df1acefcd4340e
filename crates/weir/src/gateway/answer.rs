//! One answer: the fetch behind it, on a thread of its own.

use crate::consumer::{self, Keep, Summary, Watch};
use crate::exit::{Failure, Kind};
use crate::file::{Reader, Writer, pipe};
use crate::gateway::context::Gateway;
use crate::gateway::folder;
use crate::gateway::head::{Head, Outcome, WAITING};
use crate::gateway::log::Answered;
use crate::gateway::mirror;
use crate::gateway::observed::Observed;
use crate::gateway::slots::Slot;
use crate::gateway::status::status;
use crate::gateway::uploads::Kept;
use crate::output::Progress;
use crate::signals::{Needed, Stop};
use control::{Duration, Size, Time};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, HeaderName, HeaderValue};
use net::client::Connection;
use net::clock::monotonic;
use packet::Name;
use router::guard::Rejection;
use std::io::Write;
use std::sync::Arc;
use tokio::sync::oneshot;
use transport::fetch::{Fetch, ObjectInfo, Resume, Sink};
use transport::head;
use weir::http::ask::Ask;
use weir::http::parts::Part;
use weir::http::plan::Plan;
use weir::http::range::Wanted;
use weir::http::timing::Timing;

/// Bytes of content of a segment, if its publisher did not choose another size.
const SEGMENT: u64 = 8000;
/// The longest patience for objects that this process serves: an object removed meanwhile does not
/// come back.
const STORED: Duration = Duration::from_secs(5);
/// Times and places for pages of the gateway; see [`Timing`].
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
/// The failure of an answer that the client no longer needs.
const GONE: &str = "the client disconnected";

/// The head of an answer that has begun. If it is dropped, the client has gone.
pub struct PendingHead {
    take: oneshot::Receiver<Outcome>,
    _needed: Needed,
}

impl PendingHead {
    /// Waits for the head; `None` if none comes.
    pub async fn head(self) -> Option<Outcome> {
        self.take.await.ok()
    }
}

/// Begins to answer. The answer's head comes when something of the object was verified.
/// The fetch holds the slot until it is over.
pub fn begin(gateway: &Arc<Gateway>, ask: Ask, answered: Answered, slot: Arc<Slot>) -> PendingHead {
    let (give, take) = oneshot::channel();
    let (stop, needed) = gateway.stop.part();
    let gateway = Arc::clone(gateway);
    // Without a thread, `give` is dropped, and the client gets an error.
    let _ = std::thread::Builder::new().spawn(move || {
        answer(&gateway, ask, give, answered, &stop);
        drop(slot);
    });
    PendingHead { take, _needed: needed }
}

/// `stop` is also set when the client has gone, or has the head.
fn answer(
    gateway: &Gateway,
    ask: Ask,
    give: oneshot::Sender<Outcome>,
    mut answered: Answered,
    stop: &Stop,
) {
    let ask = match mirror::find(gateway, ask, &mut answered, stop) {
        mirror::Found::Content(ask) => *ask,
        mirror::Found::Answer(outcome) => return conclude(gateway, outcome, give, answered),
    };
    let ask = match folder::answer(gateway, ask, &mut answered, stop) {
        folder::Found::Content(ask) => *ask,
        folder::Found::Page(outcome) => return conclude(gateway, outcome, give, answered),
    };
    match Answering::new(ask, give) {
        Ok(mut sink) => fetch(gateway, &mut sink, &mut answered),
        Err(error) => {
            // The waiting client gets the same answer.
            answered.status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
            answered.fail(&error.to_string());
        }
    }
    gateway.log.answered(&answered);
}

/// Gives an answer that needs no fetch.
fn conclude(
    gateway: &Gateway,
    outcome: Outcome,
    give: oneshot::Sender<Outcome>,
    mut answered: Answered,
) {
    if give.send(outcome).is_err() {
        answered.fail(GONE);
    }
    gateway.log.answered(&answered);
}

/// Fetches the content of the answer, and records the result.
fn fetch(gateway: &Gateway, sink: &mut Answering, answered: &mut Answered) {
    let result = run(gateway, sink, answered);
    answered.bytes = sink.given;
    answered.status = match &sink.plan {
        Some(plan) => plan.status.as_u16(),
        None => StatusCode::BAD_GATEWAY.as_u16(),
    };
    let Err((status, failure)) = result else { return sink.end() };
    answered.fail(&failure.to_string());
    if let Some(give) = sink.waits.take() {
        answered.status = status.as_u16();
        let location =
            (status == StatusCode::PERMANENT_REDIRECT).then(|| folder_of(&sink.ask.name));
        let text = match location {
            Some(_) => "this is a folder; its path ends in a slash".to_owned(),
            None => failure.to_string(),
        };
        let rejection = Rejection { status, text, location };
        // A client that is gone needs no rejection.
        let _ = give.send(Err(rejection));
    }
}

fn run(
    gateway: &Gateway,
    sink: &mut Answering,
    answered: &mut Answered,
) -> Result<(), (StatusCode, Failure)> {
    let mut connection =
        Connection::open(gateway.address.clone()).map_err(|error| bad(error.into()))?;
    let bell = sink.writer.bell().map_err(|error| bad(Failure::new(Kind::Failed, error)))?;
    connection.wake_on(bell);
    let heads = heads(&sink.ask);
    sink.stored = stored(gateway, &sink.ask);
    let is_stored = sink.stored.is_some();
    let name = sink.stored.as_ref().map_or(&sink.ask.name, |stored| &stored.name).clone();
    sink.ask.media_type = sink.stored.as_ref().and_then(|stored| stored.media_type.clone());
    let mut first = First { name, heads, is_stored };
    // Parts that lie apart are fetched one after the other, and of one version.
    while let Some(name) = fetch_run(gateway, &mut connection, sink, answered, first)? {
        first = First { name, heads: 0, is_stored };
    }
    sink.complete().map_err(bad)
}

fn bad(failure: Failure) -> (StatusCode, Failure) {
    (StatusCode::BAD_GATEWAY, failure)
}

/// Fetches one run of segments. Returns the versioned name if there are more runs.
fn fetch_run(
    gateway: &Gateway,
    connection: &mut Connection,
    sink: &mut Answering,
    answered: &mut Answered,
    first: First,
) -> Result<Option<Name>, (StatusCode, Failure)> {
    let mut config = gateway.transfers.config(first.name).map_err(bad)?;
    config.in_order = true;
    config.stash = Size(WAITING as u64);
    config.heads = first.heads;
    if first.is_stored {
        config.patience = config.patience.min(STORED);
    }
    let by = |controller| sink.observed.by(controller);
    let mut fetch = gateway.transfers.fetch_by(config, by).map_err(bad)?;
    let progress = Progress::new("", true);
    let (verbose, resumes, absence) = (false, false, None);
    let (stop, rate) = (&gateway.stop, None);
    let watch = Watch { progress: &progress, stop, verbose, resumes, absence, rate };
    let started = connection.now();
    let result = consumer::drive(connection, &mut fetch, sink, &watch, &mut None);
    let took = connection.now().since(started);
    note(answered, sink, &fetch, took);
    result.map_err(|failure| (status(&fetch), failure))?;
    sink.run += 1;
    let more = sink.plan.as_ref().and_then(Plan::runs).is_some_and(|runs| sink.run < runs.len());
    Ok(fetch.object().filter(|_| more).map(|info| info.name.clone()))
}

/// The beginning of a fetch.
struct First {
    name: Name,
    /// Segments that are requested before the object is known.
    heads: u16,
    /// This process serves it.
    is_stored: bool,
}

/// The object, if it is in the store of uploads. Its version is read from there, so that a client
/// gets its latest upload: the forwarder may return the version before for seconds.
fn stored(gateway: &Gateway, ask: &Ask) -> Option<Kept> {
    let uploads = gateway.uploads.as_ref().filter(|_| !ask.is_mirrored)?;
    let version = ask.name.as_ref().last().and_then(|last| last.as_version());
    let name = match version {
        Some(_) => ask.name.as_ref().parent().to_name(),
        None => ask.name.clone(),
    };
    uploads.prefix_of(&name)?;
    // If the store cannot be read, its publisher complains, and others may have the object.
    uploads.keeper().find(&name, version).ok().flatten()
}

/// The number of segments requested before the object is known: no more than the answer may need.
fn heads(ask: &Ask) -> u16 {
    let bytes = match &ask.ranges {
        _ if ask.is_head || ask.is_conditional() => 1,
        None => u64::MAX,
        Some(ranges) => match ranges.single() {
            Some(Wanted::From(0, last)) => last.map_or(u64::MAX, |last| last.saturating_add(1)),
            _ => return 0,
        },
    };
    bytes.div_ceil(SEGMENT).min(head::MOST) as u16
}

fn note(answered: &mut Answered, sink: &Answering, fetch: &Fetch, took: Duration) {
    let range = sink.plan.as_ref().and_then(|plan| plan.headers.get(CONTENT_RANGE));
    answered.range = range.and_then(|range| range.to_str().ok()).map(str::to_owned);
    answered.duration_s += took.as_secs_f64();
    answered.interests += fetch.stats().counters.interests;
    answered.segments += fetch.stats().verified;
    if fetch.object().is_some() {
        let summary = Summary::of(fetch, "", took);
        answered.name = Some(summary.name);
        answered.verified = Some(summary.verified);
        answered.key = summary.key;
    }
}

/// The address of the folder of this name, relative to that of the name.
fn folder_of(name: &Name) -> String {
    let last = name.as_ref().last().map(|last| last.to_string());
    format!("./{}/", last.unwrap_or_default())
}

/// Turns segments into an answer.
struct Answering {
    ask: Ask,
    plan: Option<Plan>,
    /// The receiver of the head and of the reading end of the pipe.
    waits: Option<oneshot::Sender<Outcome>>,
    reader: Option<Reader>,
    writer: Writer,
    /// The run of segments that is being fetched, and the object of the first.
    run: usize,
    object: Option<ObjectInfo>,
    /// The object as the store of uploads has it.
    stored: Option<Kept>,
    /// The first part that the client has not received yet.
    part: usize,
    /// Bytes of the object that the client has received.
    given: u64,
    /// Compresses the body, if it is to be.
    packer: Option<GzEncoder<Vec<u8>>>,
    failure: Option<Failure>,
    began: Time,
    observed: Observed,
}

impl Answering {
    fn new(ask: Ask, give: oneshot::Sender<Outcome>) -> std::io::Result<Answering> {
        let (writer, reader) = pipe(WAITING)?;
        let (waits, reader) = (Some(give), Some(reader));
        let (plan, object, stored, packer, failure) = (None, None, None, None, None);
        let (run, part, given) = (0, 0, 0);
        let (began, observed) = (monotonic(), Observed::default());
        Ok(Answering {
            ask,
            plan,
            waits,
            reader,
            writer,
            run,
            object,
            stored,
            part,
            given,
            packer,
            failure,
            began,
            observed,
        })
    }

    /// Sends the head: a part of the object has been verified.
    fn give_head(&mut self) {
        let (Some(give), Some(plan)) = (self.waits.take(), &self.plan) else { return };
        let body = self.reader.take().filter(|_| plan.body.is_some());
        let (status, mut headers) = (plan.status, plan.headers.clone());
        let first_bytes = monotonic().since(self.began);
        let (round_trip, origin) = self.observed.end();
        let timing = Timing { first_bytes, round_trip, origin }.value();
        if let Ok(timing) = HeaderValue::from_str(&timing) {
            headers.insert(SERVER_TIMING, timing);
        }
        // If the client has gone, the reader is dropped with the head, and the fetch ends.
        let _ = give.send(Ok(Head { status, headers, body }));
    }

    /// The segment has the length that its publisher states.
    fn fits(&self, segment: u64, content: &[u8]) -> bool {
        let sizes = self.plan.as_ref().and_then(|plan| plan.sizes);
        sizes.is_none_or(|sizes| sizes.len_of(segment) == content.len() as u64)
    }

    /// The object with its sizes, if the store has them. The fetch may have none: under the name of
    /// a version, segments can come before the object's description.
    fn complete_info(&self, info: &ObjectInfo) -> ObjectInfo {
        let mut info = info.clone();
        if let Some(stored) = self.stored.as_ref().filter(|stored| stored.name == info.name) {
            info.size = Some(stored.size);
            info.segment_size = Some(stored.segment_size);
            info.segments = Some(stored.size.div_ceil(stored.segment_size.max(1)).max(1));
        }
        info
    }

    /// The fetch is over: so is the answer, if it is whole.
    fn complete(&mut self) -> Result<(), Failure> {
        let body = self.plan.as_ref().and_then(|plan| plan.body.as_ref());
        let Some(body) = body else { return Ok(()) };
        match body.content_len().zip(body.all().last()) {
            Some((len, last)) if len != self.given => Err(self.wrong_size(last.bytes.end)),
            _ => {
                self.writer.write(body.tail().as_bytes());
                // Into memory, which does not fail.
                let end = self.packer.take().and_then(|packer| packer.finish().ok());
                end.into_iter().for_each(|end| self.writer.write(&end));
                Ok(())
            }
        }
    }

    /// Gives bytes of the object.
    fn give(&mut self, content: &[u8]) {
        self.given += content.len() as u64;
        let Some(packer) = &mut self.packer else { return self.writer.write(content) };
        // Into memory, which does not fail.
        let _ = packer.write_all(content);
        self.writer.write(packer.get_ref());
        packer.get_mut().clear();
    }

    /// True if the pipe has all promised bytes, or no body was promised.
    fn has_given_all(&self) -> bool {
        let body = self.plan.as_ref().map(|plan| plan.body.as_ref());
        body.is_some_and(|body| body.is_none_or(|body| body.content_len() == Some(self.given)))
    }

    /// True if the client has all of this run of segments. The fetch may go on: under the name of a
    /// version it learns the end of the object late, and until then requests segments behind the
    /// run.
    fn has_given_run(&self) -> bool {
        let Some(plan) = &self.plan else { return false };
        let Some(body) = &plan.body else { return true };
        let Some(next) = body.all().get(self.part) else { return true };
        let run = plan.runs().and_then(|runs| runs.get(self.run).cloned());
        plan.sizes
            .zip(run)
            .is_some_and(|(sizes, run)| next.bytes.start >= run.end.saturating_mul(sizes.segment))
    }

    /// Gives the bytes of a segment that belong to the current part. Returns false if there are
    /// none.
    fn give_part(&mut self, offset: u64, content: &[u8]) -> bool {
        let body = self.plan.as_ref().and_then(|plan| plan.body.as_ref());
        let Some(Part { head, bytes }) = body.and_then(|body| body.all().get(self.part)) else {
            return false;
        };
        let end = offset + content.len() as u64;
        let from = (bytes.start.clamp(offset, end) - offset) as usize;
        let to = (bytes.end.clamp(offset, end) - offset) as usize;
        if from >= to {
            return false;
        }
        if offset + from as u64 == bytes.start {
            self.writer.write(head.as_bytes());
        }
        let is_over = offset + to as u64 == bytes.end;
        self.give(&content[from..to]);
        self.part += usize::from(is_over);
        is_over
    }

    fn wrong_size(&self, end: u64) -> Failure {
        let message = format!(
            "{} is not as long as its metadata say: they have byte {end}, and it ends elsewhere",
            self.ask.name
        );
        Failure::new(Kind::Failed, message).then("inform its publisher")
    }

    fn end(&mut self) {
        self.give_head();
        self.writer.end();
    }
}

impl Sink for Answering {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        let info = &self.complete_info(info);
        if let Some(plan) = self.plan.as_ref().filter(|_| self.run > 0) {
            if self.object.as_ref() != Some(info) {
                let message = format!("{} changed during the transfer", info.name);
                let failure = Failure::new(Kind::Failed, message);
                self.failure = Some(failure.then("ask for it again"));
            }
            return plan.rest(self.run);
        }
        let plan = Plan::new(&self.ask, info);
        let rest = plan.rest(0);
        let packed = plan.is_compressed && plan.body.is_some();
        self.packer = packed.then(|| GzEncoder::new(Vec::new(), Compression::fast()));
        self.plan = Some(plan);
        self.object = Some(info.clone());
        rest
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        if !self.fits(segment, content) {
            self.failure = Some(self.wrong_size(offset.saturating_add(content.len() as u64)));
            return;
        }
        self.give_head();
        while self.give_part(offset, content) {}
    }
}

impl Keep for Answering {
    fn room(&self) -> Option<Size> {
        Some(Size(self.writer.room() as u64))
    }

    fn is_satisfied(&self) -> bool {
        self.waits.is_none() && self.has_given_run()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        let is_gone = self.waits.as_ref().is_some_and(oneshot::Sender::is_closed)
            || self.writer.is_left() && !self.has_given_all();
        let gone = is_gone.then(|| Failure::new(Kind::File, GONE));
        self.failure.take().or(gone)
    }

    fn flush(&mut self) {}
}

#[cfg(test)]
mod tests;
