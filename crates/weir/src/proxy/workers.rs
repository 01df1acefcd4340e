//! Threads that wait for origins, so that the connection to the forwarder never does.

use super::client::{BUSY, Client, OriginError, Reply};
use super::facts::{ContentVersion, Extent, Validators, max_age};
use super::fill::{Transfer, no_room};
use super::news::{Answered, Event, Job, News, Object, Task};
use super::origin::Origin;
use super::slab::{Claim, Filler, SEGMENTS};
use super::source::{Common, READ, Source, answers};
use hyper::header::{HeaderMap, RANGE};
use packet::Name;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weir::http::mirror::{Described, LONGEST_PART};

/// Requests for one origin that wait for a thread.
const MOST_WAITING: usize = 1024;
/// The maximum number of bytes of a file that has to come in one answer, because the origin does
/// not distinguish its versions. It takes at most a quarter of the cache, too.
const MOST_WHOLE: u64 = 64_000_000;
/// The maximum number of bytes of a file.
const LARGEST: u64 = 1 << 50;
/// The time for which a failure is remembered.
const FAILURE: Duration = Duration::from_secs(1);

/// The threads of one origin: a slow one takes none from others.
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    source: Source,
    jobs: Mutex<VecDeque<Job>>,
    comes: Condvar,
}

fn too_long(origin: &Origin, most: u64, validators: &Validators) -> OriginError {
    OriginError::bad(match validators.are_strong() {
        // Strong validators do not help where the size is not known.
        true => format!("{origin} does not send the size of a file of over {most} bytes"),
        false => format!(
            "{origin} has neither a strong ETag nor Docker-Content-Digest for a file of more than \
             {most} bytes, so parts of its versions could be mixed"
        ),
    })
}

impl Workers {
    /// Starts `count` threads for the origin of this number.
    ///
    /// # Errors
    /// The system has none left.
    pub fn start(number: usize, client: Client, common: Common, count: u16) -> io::Result<Workers> {
        let (jobs, comes) = (Mutex::default(), Condvar::new());
        let source = Source { number, client, common };
        let shared = Arc::new(Shared { source, jobs, comes });
        for _ in 0..count {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("origin".to_owned()).spawn(move || shared.work())?;
        }
        Ok(Workers { shared })
    }

    /// Hands over a job. Returns false if too many wait.
    pub fn push(&self, job: Job) -> bool {
        let mut jobs = self.shared.lock();
        let has_room = jobs.len() < MOST_WAITING;
        if has_room {
            jobs.push_back(job);
            self.shared.comes.notify_one();
        }
        has_room
    }

    /// The waiting jobs, for tests that have no threads.
    #[cfg(test)]
    pub fn take_jobs(&self) -> Vec<Job> {
        self.shared.lock().drain(..).collect()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut jobs = self.lock();
            let job = loop {
                match jobs.pop_front() {
                    Some(job) => break job,
                    None => jobs = self.comes.wait(jobs).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(jobs);
            match &job.task {
                Task::Describe(known, segment_size) => {
                    self.describe(&job, known.as_ref(), *segment_size);
                }
                Task::Fill(object, blocks) => {
                    let result = Transfer::new(&self.source, object).fill(&job, blocks.clone());
                    let (id, blocks) = (object.id, blocks.clone());
                    self.put(&job.key, News::Filled { id, blocks, result });
                }
            }
        }
    }

    fn put(&self, key: &Name, news: News) {
        self.source.common.outbox.put(Event { origin: self.source.number, key: key.clone(), news });
    }

    fn answered(&self, key: &Name, answered: Answered) {
        self.put(key, News::Described(Box::new(answered)));
    }

    fn describe(&self, job: &Job, known: Option<&Object>, segment_size: u64) {
        if let Err(OriginError { status, text }) = self.try_describe(job, known, segment_size) {
            let body = format!("{text}\n");
            let described = Described::error(status, &HeaderMap::new(), body.as_bytes());
            // The client has other reasons for its errors, and other statuses.
            let (complaint, is_busy) = (Some(text), status == BUSY);
            let answered = Answered::new(described, None, FAILURE);
            self.answered(&job.key, Answered { complaint, is_busy, ..answered });
        }
    }

    fn try_describe(
        &self,
        job: &Job,
        known: Option<&Object>,
        segment_size: u64,
    ) -> Result<(), OriginError> {
        let first = (RANGE, format!("bytes=0-{}", SEGMENTS * segment_size - 1));
        let conditions = known.map(|known| known.validators.conditions()).unwrap_or_default();
        let fields: Vec<_> = conditions.into_iter().chain([first]).collect();
        let mut reply = self.source.client.get(&job.target, &fields)?;
        // Some answer so for empty files.
        if reply.status == 416 {
            reply = self.source.client.get(&job.target, &[])?;
        }
        let fresh = self.freshness(&reply.headers);
        let origin = self.source.client.origin();
        match (reply.status, known) {
            (304, Some(_)) => self.put(&job.key, News::Same(fresh)),
            (200 | 206, _) => return self.found(job, known, segment_size, reply, fresh),
            (status @ 400..=599, _) => {
                let mut body = Vec::new();
                // The part that cannot be read is left out.
                let _ = reply.body.take(LONGEST_PART as u64).read_to_end(&mut body);
                let described = Described::error(status, &reply.headers, &body);
                // The body is for consumers: its text is the origin's, and may be anything.
                let complaint = (status >= 500).then(|| answers(origin, status));
                let answered = Answered::new(described, None, fresh.min(FAILURE));
                self.answered(&job.key, Answered { complaint, ..answered });
            }
            (status, _) => {
                let text = format!("{}, which has no content", answers(origin, status));
                return Err(OriginError::bad(text));
            }
        }
        Ok(())
    }

    /// The bytes of the file have begun to come.
    fn found(
        &self,
        job: &Job,
        known: Option<&Object>,
        segment_size: u64,
        reply: Reply,
        fresh: Duration,
    ) -> Result<(), OriginError> {
        let origin = self.source.client.origin();
        let validators = Validators::of(&reply.headers);
        let extent = self.first(&reply)?;
        let Some(size) = extent.size.filter(|_| validators.are_strong()) else {
            let whole = self.entire(job, reply)?;
            return self.whole(job, segment_size, whole, fresh);
        };
        let Reply { status, headers, body, .. } = reply;
        let (has_ranges, room) = (status == 206, self.source.common.slab.capacity());
        if size > LARGEST {
            let text = format!("{origin} reports a size of {size} bytes, which is too large");
            return Err(OriginError::bad(text));
        }
        if !has_ranges && size > room {
            return Err(OriginError::bad(format!(
                "{origin} sends no parts of files, and a file of {size} bytes is larger than the \
                 cache of {room} bytes; see --cache-size"
            )));
        }
        let (id, version) = match known {
            Some(known) if known.size == size && known.validators.prove(&validators) => {
                (known.id, known.version)
            }
            _ => (
                self.next_id(),
                validators.version_beside(known.map(|known| known.version), size, segment_size),
            ),
        };
        let object = Object { id, version, size, segment_size, validators, has_ranges };
        let described = Described::content(version, &headers);
        let slab = &self.source.common.slab;
        let is_there = slab.filled((id, 0)) == object.len_of(0);
        let writer = if is_there { None } else { slab.claim_for((id, 0), self.claim(false)) };
        // An answer with the whole file has all blocks.
        let last = if has_ranges { 1 } else { object.blocks() };
        let coming = writer.as_ref().map_or(0..0, |_| 0..last);
        let answered = Answered::new(described, Some(object.clone()), fresh);
        self.answered(&job.key, Answered { coming: coming.clone(), ..answered });
        if let Some(writer) = writer {
            // The answer has been reported; only bytes can be missing now.
            let body = body.take(extent.len.unwrap_or(u64::MAX));
            let result = Transfer::new(&self.source, &object).begin(coming.clone(), writer, body);
            self.put(&job.key, News::Filled { id, blocks: coming, result });
        }
        Ok(())
    }

    fn next_id(&self) -> u64 {
        self.source.common.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// The bytes of an answer that has to begin with the first byte of the file.
    fn first(&self, reply: &Reply) -> Result<Extent, OriginError> {
        let extent = self.source.extent(reply)?;
        if extent.first > 0 {
            let origin = self.source.client.origin();
            return Err(OriginError::bad(format!("{origin} sends another part than requested")));
        }
        Ok(extent)
    }

    /// The answer with the whole file, if this one has a part of it.
    fn entire(&self, job: &Job, part: Reply) -> Result<Reply, OriginError> {
        let Extent { len, size, .. } = self.first(&part)?;
        let is_part = part.status == 206 && len != size;
        if !is_part || size.is_some_and(|size| size > self.most_whole()) {
            return Ok(part);
        }
        let whole = self.source.client.get(&job.target, &[])?;
        if whole.status != 200 {
            let text = answers(self.source.client.origin(), whole.status);
            let text = format!("{text} to a request for a file of which it has sent a part");
            return Err(OriginError::bad(text));
        }
        Ok(whole)
    }

    fn most_whole(&self) -> u64 {
        MOST_WHOLE.min(self.source.common.slab.capacity() / 4)
    }

    /// Content whose digest is the proof of its version: two answers with the same weak validator
    /// may have different content (RFC 9110, section 8.8.1), so all of it is of one answer.
    fn whole(
        &self,
        job: &Job,
        segment_size: u64,
        reply: Reply,
        fresh: Duration,
    ) -> Result<(), OriginError> {
        let (origin, most) = (self.source.client.origin(), self.most_whole());
        let expected = self.first(&reply)?.size;
        let Reply { headers, body, .. } = reply;
        let validators = Validators::of(&headers);
        let mut body = body.take(expected.unwrap_or(u64::MAX));
        if expected.is_some_and(|size| size > most) {
            return Err(too_long(origin, most, &validators));
        }
        let id = self.next_id();
        let (mut version, mut size) = (ContentVersion::new(segment_size), 0);
        let block_size = SEGMENTS * segment_size;
        // Blocks keep their content until the whole file has come.
        let mut writers = Vec::new();
        let mut buffer = vec![0; READ];
        loop {
            let room = (block_size - size % block_size).min(READ as u64) as usize;
            let read = body.read(&mut buffer[..room]);
            let read = read.map_err(|error| self.source.client.stopped(&error))?;
            if read == 0 {
                break;
            }
            if size % block_size == 0 {
                let (slab, key) = (&self.source.common.slab, (id, size / block_size));
                writers.extend(slab.claim_for(key, self.claim(true)));
            }
            let kept = writers.last_mut().map(|writer| writer.append(&buffer[..read]));
            kept.transpose().map_err(|error| OriginError::busy(no_room(&error)))?;
            version.add(&buffer[..read]);
            size += read as u64;
            if size > most {
                return Err(too_long(origin, most, &validators));
            }
        }
        if expected.is_some_and(|expected| expected != size) {
            return Err(OriginError::bad(format!("{origin} ended its answer early")));
        }
        let kept = writers.iter().try_for_each(Filler::check);
        kept.map_err(|error| OriginError::busy(no_room(&error)))?;
        let version = version.end();
        let object = Object { id, version, size, segment_size, validators, has_ranges: false };
        let described = Described::content(version, &headers);
        self.answered(&job.key, Answered::new(described, Some(object), fresh));
        Ok(())
    }

    fn claim(&self, is_whole: bool) -> Claim {
        Claim { origin: self.source.number, is_whole }
    }

    fn freshness(&self, headers: &HeaderMap) -> Duration {
        let (limit, most) = (max_age(headers).map(Duration::from_secs), self.source.common.fresh);
        // A consumer needs the document and then the content.
        limit.unwrap_or(most).min(most).max(Duration::from_secs(1))
    }
}
