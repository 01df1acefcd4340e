//! The thread of a fetch: it drives the connection, and fills the queue.

use super::queue::{Found, Queue};
use crate::cancel::Cancel;
use crate::error::Error;
use crate::parts::{Absence, Host, Limit, Outcome, Surroundings, drive, is_folder};
use crate::settings::{Settings, span};
use crate::trust::Verified;
use control::{Duration, Size, Time, counted};
use net::client::{ConnectError, Connection};
use std::ops::Range;
use std::sync::Arc;
use transport::fetch::{Fetch, ObjectInfo, Resume, Sink, Status};

/// The interval at which the end is looked at, if the bell does not ring.
const TICK: Duration = Duration::from_millis(100);

/// The receiver of a fetch.
pub struct Feed {
    output: Output,
    ending: Ending,
    limit: Limit,
    absence: Option<Absence>,
    patience: Duration,
    tick: Time,
}

/// The reasons to end before the object does.
struct Ending {
    queue: Arc<Queue>,
    cancel: Cancel,
}

impl Surroundings for Ending {
    fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.queue.is_abandoned()
    }
}

/// The bytes on their way to the queue.
struct Output {
    queue: Arc<Queue>,
    range: Option<Range<u64>>,
    at_most: u64,
    /// Bytes in the queue, or taken from it.
    pushed: u64,
    /// The announced size of segments, if bytes before the range are skipped by it.
    skipped_by: Option<u64>,
    segments: Option<u64>,
    has_enough: bool,
    failure: Option<Error>,
}

impl Feed {
    /// The receiver of a new fetch.
    pub fn new(
        queue: &Arc<Queue>,
        range: Option<Range<u64>>,
        at_most: Option<u64>,
        cancel: &Cancel,
    ) -> Feed {
        let output = Output {
            queue: Arc::clone(queue),
            range,
            at_most: at_most.unwrap_or(u64::MAX),
            pushed: 0,
            skipped_by: None,
            segments: None,
            has_enough: false,
            failure: None,
        };
        let ending = Ending { queue: Arc::clone(queue), cancel: cancel.clone() };
        let (limit, patience, tick) = (Limit::new(None), Duration::ZERO, Time::ZERO);
        Feed { output, ending, limit, absence: None, patience, tick }
    }

    /// Fetches, and reports the end to the queue.
    pub fn run(mut self, settings: &Settings, mut fetch: Fetch) {
        let queue = Arc::clone(&self.output.queue);
        // If this thread panics, the program must not wait for ever.
        let _end = End(&queue);
        let end = self.drive(settings, &mut fetch);
        if let Some(proof) = fetch.proof() {
            queue.verify(Verified::from(proof));
        }
        queue.finish(end);
    }

    fn drive(&mut self, settings: &Settings, fetch: &mut Fetch) -> Result<(), Error> {
        let mut connection = settings.open(&self.ending)?;
        connection.wake_on(self.output.queue.bell().share()?);
        self.patience = span(settings.patience);
        self.absence = Some(Absence::new(self.patience, connection.now()));
        drive(&mut connection, fetch, self)?;
        match fetch.status() {
            Status::Failed(error) => Err(Error::of_fetch(error)),
            _ => self.output.check_range(fetch),
        }
    }
}

/// Ends the queue if it has not ended yet.
struct End<'a>(&'a Queue);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.finish(Err(Error::Failed("the thread of the fetch ended early".to_owned())));
    }
}

impl Host for Feed {
    type Failure = Error;

    fn sink(&mut self) -> &mut dyn Sink {
        &mut self.output
    }

    fn room(&self) -> Option<Size> {
        Some(Size(self.output.queue.room()))
    }

    fn is_satisfied(&self) -> bool {
        self.output.has_enough
    }

    fn limit(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn next(&self) -> Time {
        self.tick + TICK
    }

    fn look(&mut self, now: Time, fetch: &Fetch) -> Result<(), Error> {
        self.tick = now;
        if let Some(failure) = self.output.failure.take() {
            return Err(failure);
        }
        if is_folder(fetch) {
            let text =
                format!("{} is a folder, not an object; `weir get` fetches it", fetch.name());
            return Err(Error::Usage(text));
        }
        if self.ending.is_stopped() { Err(Error::Cancelled) } else { Ok(()) }
    }

    fn went_on(&mut self, _now: Time, _fetch: &Fetch) -> Result<(), Error> {
        Ok(())
    }

    fn lost(
        &mut self,
        connection: &mut Connection,
        fetch: &mut Fetch,
        error: ConnectError,
    ) -> Result<(), Error> {
        let Some(absence) = &mut self.absence else { return Err(error.into()) };
        match absence.end(connection, fetch, error, &self.ending)? {
            Outcome::Back => Ok(()),
            Outcome::Stopped => Err(Error::Cancelled),
            Outcome::TooLate => {
                let (address, patience) = (connection.address(), self.patience);
                Err(Error::NoForwarder(format!(
                    "the forwarder at {address} went away and was not back within {patience}"
                )))
            }
        }
    }
}

impl Output {
    /// A range must begin within the object.
    fn check_range(&self, fetch: &Fetch) -> Result<(), Error> {
        match &self.range {
            Some(range) if self.pushed == 0 => {
                let (name, start) = (fetch.name(), range.start);
                Err(Error::Usage(format!("{name} has fewer than {start} bytes, or no more")))
            }
            _ => Ok(()),
        }
    }
}

impl Sink for Output {
    /// Segments outside the range are not fetched, if their size is announced. In order, the bytes
    /// of a run at the start count as being there.
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        self.queue.find(Found { name: info.name.clone(), size: info.size });
        (self.segments, self.skipped_by) = (info.segments, None);
        let mut resume = Resume::default();
        let size = info.segment_size.filter(|size| *size > 0);
        let Some((range, size)) = self.range.as_ref().zip(size) else { return resume };
        let most = info.segments.unwrap_or(u64::MAX);
        let first = (range.start / size).min(most);
        if first > 0 {
            resume.segments.insert(0..first);
            resume.bytes = first.saturating_mul(size);
            self.skipped_by = Some(size);
        }
        let behind = range.end.div_ceil(size).max(first);
        if let Some(segments) = info.segments.filter(|segments| behind < *segments) {
            resume.segments.insert(behind..segments);
        }
        resume
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        if self.failure.is_some() || self.has_enough {
            return;
        }
        let len = content.len() as u64;
        let is_last = self.segments == segment.checked_add(1);
        if self.skipped_by.is_some_and(|size| len != size && !(is_last && len < size)) {
            let len = counted(len, "byte");
            let text = format!("segment {segment} has {len}, and others were announced");
            self.failure = Some(Error::NotVerified(text));
            return;
        }
        let end = offset.saturating_add(len);
        let range = self.range.clone().unwrap_or(0..u64::MAX);
        let (from, to) = (range.start.clamp(offset, end), range.end.clamp(offset, end));
        let wanted = &content[(from - offset) as usize..(to - offset) as usize];
        self.has_enough = end >= range.end;
        if wanted.is_empty() {
            return;
        }
        self.pushed += wanted.len() as u64;
        if self.pushed > self.at_most {
            let text = format!("the object has more than {}", counted(self.at_most, "byte"));
            self.failure = Some(Error::TooLarge(text));
            return;
        }
        self.queue.push(wanted.to_vec());
    }
}
