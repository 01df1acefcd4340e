//! Threads that wait for origins, so that the connection to the forwarder never does.

use super::client::{Client, Refused, Reply};
use super::facts::{Validators, content_range, max_age, version_of};
use super::slab::{SEGMENTS, Slab};
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderName, RANGE};
use packet::Name;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::Body;
use weir::http::mirror::{Described, LONGEST_PART};

/// Requests for one origin that wait for a thread.
const MOST_WAITING: usize = 1024;
/// Bytes that are read at a time.
const READ: usize = 64 * 1024;
/// The maximum number of bytes of content whose size or version its headers do not tell. It is in
/// memory until it is complete.
const MOST_WHOLE: u64 = 4_000_000;
/// The maximum number of bytes of a file.
const LARGEST: u64 = 1 << 50;
/// How long a failure is remembered.
const FAILURE: Duration = Duration::from_secs(1);

/// A file of which there may be segments.
#[derive(Clone, Debug)]
pub struct Object {
    /// The number of its blocks.
    pub id: u64,
    /// The version.
    pub version: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes in a segment.
    pub segment_size: u64,
    /// The state of the file at the origin.
    pub validators: Validators,
    /// The origin answers requests for parts.
    pub has_ranges: bool,
}

impl Object {
    /// The number of segments.
    pub fn segments(&self) -> u64 {
        self.size.div_ceil(self.segment_size).max(1)
    }

    /// Bytes in each block but the last.
    pub fn block_size(&self) -> u64 {
        SEGMENTS * self.segment_size
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u64 {
        self.size.div_ceil(self.block_size())
    }

    /// The number of bytes in a block.
    pub fn len_of(&self, block: u64) -> u64 {
        self.size.saturating_sub(block * self.block_size()).min(self.block_size())
    }
}

/// A request to an origin.
pub struct Job {
    /// The name of the resource.
    pub key: Name,
    /// Its path and query.
    pub target: String,
    /// The purpose.
    pub task: Task,
}

/// The purpose of a request.
pub enum Task {
    /// To find the version; with the latest known one, and the bytes of a segment.
    Describe(Option<Object>, u64),
    /// To fetch these blocks.
    Fill(Object, std::ops::Range<u64>),
}

/// News from a thread.
pub struct Event {
    /// The name of the resource.
    pub key: Name,
    /// The change.
    pub news: News,
}

/// See [`Event`].
pub enum News {
    /// The answer to [`Task::Describe`], with the object if there is content, and how long it may
    /// be used.
    Described { described: Described, object: Option<Object>, fresh: Duration },
    /// The object has not changed.
    Same(Duration),
    /// More bytes are there.
    Progress,
    /// The end of [`Task::Fill`].
    Filled { id: u64, blocks: std::ops::Range<u64>, result: Result<(), Unfilled> },
}

/// Why blocks were not fetched.
pub enum Unfilled {
    /// The file is another one now.
    Changed,
    /// The origin fails.
    Failed(String),
}

impl From<Refused> for Unfilled {
    fn from(refused: Refused) -> Unfilled {
        Unfilled::Failed(refused.text)
    }
}

/// Carries events to the thread of the connection.
pub struct Outbox {
    events: Mutex<Vec<Event>>,
    bell: OwnedFd,
}

impl Outbox {
    /// An empty one.
    ///
    /// # Errors
    /// The system has no bell left.
    pub fn new() -> io::Result<Outbox> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Outbox { events: Mutex::default(), bell })
    }

    /// A descriptor that is readable when there are events.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn bell(&self) -> io::Result<OwnedFd> {
        self.bell.try_clone()
    }

    fn put(&self, key: &Name, news: News) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        // The number of events is bounded, though none is taken while the forwarder is away.
        let is_told = matches!(news, News::Progress)
            && events.iter().any(|event| event.key == *key && matches!(event.news, News::Progress));
        if !is_told {
            events.push(Event { key: key.clone(), news });
        }
        drop(events);
        // A full counter wakes as well.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Takes all events.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The threads of one origin: a slow one takes none from others.
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    slab: Arc<Slab>,
    outbox: Arc<Outbox>,
    ids: Arc<AtomicU64>,
    jobs: Mutex<VecDeque<Job>>,
    comes: Condvar,
    fresh: Duration,
}

impl Workers {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// The system has none left.
    pub fn start(
        client: Client,
        slab: &Arc<Slab>,
        outbox: &Arc<Outbox>,
        ids: &Arc<AtomicU64>,
        fresh: Duration,
        count: u16,
    ) -> io::Result<Workers> {
        let (slab, outbox, ids) = (Arc::clone(slab), Arc::clone(outbox), Arc::clone(ids));
        let (jobs, comes) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { client, slab, outbox, ids, jobs, comes, fresh });
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
                    let result = self.fill(&job, object, blocks);
                    let (id, blocks) = (object.id, blocks.clone());
                    self.outbox.put(&job.key, News::Filled { id, blocks, result });
                }
            }
        }
    }

    fn describe(&self, job: &Job, known: Option<&Object>, segment_size: u64) {
        if let Err(Refused { status, text }) = self.try_describe(job, known, segment_size) {
            let body = format!("{text}\n");
            let described = Described::error(status, &HeaderMap::new(), body.as_bytes());
            let news = News::Described { described, object: None, fresh: FAILURE };
            self.outbox.put(&job.key, news);
        }
    }

    fn try_describe(
        &self,
        job: &Job,
        known: Option<&Object>,
        segment_size: u64,
    ) -> Result<(), Refused> {
        let first = (RANGE, format!("bytes=0-{}", SEGMENTS * segment_size - 1));
        let conditions = known.map(|known| known.validators.conditions()).unwrap_or_default();
        let fields: Vec<_> = conditions.into_iter().chain([first]).collect();
        let mut reply = self.client.get(&job.target, &fields)?;
        // Some answer so for empty files.
        if reply.status == 416 {
            reply = self.client.get(&job.target, &[])?;
        }
        let fresh = self.freshness(&reply.headers);
        let origin = self.client.origin();
        match (reply.status, known) {
            (304, Some(_)) => self.outbox.put(&job.key, News::Same(fresh)),
            (200 | 206, _) => return self.found(job, known, segment_size, reply, fresh),
            (400..=599, _) => {
                let mut body = Vec::new();
                // The part that cannot be read is left out.
                let _ = reply.body.as_reader().take(LONGEST_PART as u64).read_to_end(&mut body);
                let described = Described::error(reply.status, &reply.headers, &body);
                let fresh = fresh.min(FAILURE);
                self.outbox.put(&job.key, News::Described { described, object: None, fresh });
            }
            (status, _) => {
                let text = format!("{origin} answers with status {status}, which has no content");
                return Err(Refused::bad(text));
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
    ) -> Result<(), Refused> {
        let origin = self.client.origin();
        let Reply { status, headers, body } = self.entire(job, segment_size, reply)?;
        if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            let text = format!("{origin} compresses what was requested uncompressed");
            return Err(Refused::bad(text));
        }
        let validators = Validators::of(&headers);
        let size = match (status, content_range(&headers)) {
            (206, Some((0, size))) => Some(size),
            (206, _) => return Err(Refused::bad(format!("{origin} sends another part"))),
            _ => body.content_length(),
        };
        let Some(size) = size.filter(|_| !validators.are_missing()) else {
            return self.whole(job, segment_size, &headers, body, fresh);
        };
        if size > LARGEST {
            return Err(Refused::bad(format!("{origin} says that the file has {size} bytes")));
        }
        let version = validators.version(size, segment_size);
        let id = match known.filter(|known| known.version == version) {
            Some(known) => known.id,
            None => self.ids.fetch_add(1, Ordering::Relaxed),
        };
        let has_ranges = status == 206;
        let object = Object { id, version, size, segment_size, validators, has_ranges };
        let described = Described::content(version, &headers);
        let is_there = self.slab.filled((id, 0)) == object.len_of(0);
        let is_writer = !is_there && self.slab.claim((id, 0));
        let news = News::Described { described, object: Some(object.clone()), fresh };
        self.outbox.put(&job.key, news);
        if !is_writer {
            return Ok(());
        }
        // The answer has been reported; from here on, only bytes can be missing.
        let result = self.store(&job.key, &object, 0..1, 0, body).map_err(Unfilled::from);
        self.outbox.put(&job.key, News::Filled { id, blocks: 0..1, result });
        Ok(())
    }

    /// The whole file, if this is a part of one without validators, which cannot be fetched in
    /// parts: they could be of different versions.
    fn entire(&self, job: &Job, segment_size: u64, part: Reply) -> Result<Reply, Refused> {
        let is_part = content_range(&part.headers).is_some_and(|(_, size)| {
            part.status == 206 && (SEGMENTS * segment_size < size && size <= MOST_WHOLE)
        });
        if !is_part || !Validators::of(&part.headers).are_missing() {
            return Ok(part);
        }
        let whole = self.client.get(&job.target, &[])?;
        if whole.status != 200 {
            let (origin, status) = (self.client.origin(), whole.status);
            let text = format!("{origin} answers with status {status} to a request for a file");
            return Err(Refused::bad(format!("{text} of which it has sent a part")));
        }
        Ok(whole)
    }

    /// Content that is its own and only proof of its version.
    fn whole(
        &self,
        job: &Job,
        segment_size: u64,
        headers: &HeaderMap,
        mut body: Body,
        fresh: Duration,
    ) -> Result<(), Refused> {
        let origin = self.client.origin();
        let mut content = Vec::new();
        let read = body.as_reader().take(MOST_WHOLE + 1).read_to_end(&mut content);
        read.map_err(|error| Refused::bad(format!("{origin} ended its answer early: {error}")))?;
        let size = content.len() as u64;
        let is_part = content_range(headers).is_some_and(|(_, whole)| whole != size);
        if size > MOST_WHOLE || is_part {
            let text = format!(
                "{origin} has no size, or neither ETag, Last-Modified nor Docker-Content-Digest, \
                 for a file of more than {MOST_WHOLE} bytes, so its versions cannot be told apart"
            );
            return Err(Refused::bad(text));
        }
        let version = version_of(&content, segment_size);
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let (validators, has_ranges) = (Validators::default(), false);
        let object = Object { id, version, size, segment_size, validators, has_ranges };
        for (block, piece) in content.chunks(object.block_size() as usize).enumerate() {
            let key = (id, block as u64);
            let kept = self.slab.append(key, piece);
            self.slab.end(key);
            kept.map_err(|error| Refused::bad(no_room(&error)))?;
        }
        let described = Described::content(version, headers);
        self.outbox.put(&job.key, News::Described { described, object: Some(object), fresh });
        Ok(())
    }

    fn fill(
        &self,
        job: &Job,
        object: &Object,
        blocks: &std::ops::Range<u64>,
    ) -> Result<(), Unfilled> {
        if object.validators.are_missing() {
            return Err(Unfilled::Changed);
        }
        let first = (object.id, blocks.start);
        if !self.slab.claim(first) {
            return Ok(());
        }
        let filled = self.fill_claimed(job, object, blocks);
        self.slab.end(first);
        filled
    }

    /// Fetches blocks, of which this thread writes the first.
    fn fill_claimed(
        &self,
        job: &Job,
        object: &Object,
        blocks: &std::ops::Range<u64>,
    ) -> Result<(), Unfilled> {
        let at = self.slab.filled((object.id, blocks.start));
        let begin = blocks.start * object.block_size() + at;
        let end = (blocks.end * object.block_size()).min(object.size);
        if begin >= end {
            return Ok(());
        }
        let fields = match object.has_ranges {
            true => vec![(RANGE, format!("bytes={begin}-{}", end - 1))],
            false => Vec::<(HeaderName, String)>::new(),
        };
        let mut reply = self.client.get(&job.target, &fields)?;
        let came = match (reply.status, content_range(&reply.headers)) {
            (206, Some((first, size))) if first == begin => Some(size),
            (200, _) => reply.body.content_length(),
            (404 | 410 | 412 | 416, _) => return Err(Unfilled::Changed),
            (status, _) => {
                let origin = self.client.origin();
                let text = format!("{origin} answers with status {status} to a request for a part");
                return Err(Unfilled::Failed(text));
            }
        };
        if came != Some(object.size) || Validators::of(&reply.headers) != object.validators {
            return Err(Unfilled::Changed);
        }
        if reply.status == 200 && begin > 0 {
            self.skip(&mut reply.body.as_reader(), begin)?;
        }
        Ok(self.store(&job.key, object, blocks.clone(), at, reply.body)?)
    }

    /// Appends a body to blocks, up to the end of the last. It begins at byte `at` of the first,
    /// of which this thread is the writer.
    fn store(
        &self,
        name: &Name,
        object: &Object,
        blocks: std::ops::Range<u64>,
        at: u64,
        mut body: Body,
    ) -> Result<(), Refused> {
        let (mut reader, mut buffer) = (body.as_reader(), vec![0; READ]);
        let first = blocks.start;
        for block in blocks {
            let (key, len) = ((object.id, block), object.len_of(block));
            let at = if block == first { at } else { 0 };
            if block != first && !self.slab.claim(key) {
                // Another thread fetches it.
                self.skip(&mut reader, len)?;
                continue;
            }
            let there = self.slab.filled(key);
            let stored = self
                .skip(&mut reader, there.saturating_sub(at))
                .and_then(|()| self.store_block(name, key, len, &mut reader, &mut buffer));
            self.slab.end(key);
            stored?;
        }
        Ok(())
    }

    fn skip(&self, reader: &mut impl Read, bytes: u64) -> Result<(), Refused> {
        let skipped = io::copy(&mut reader.take(bytes), &mut io::sink()).unwrap_or_default();
        (skipped == bytes).then_some(()).ok_or_else(|| Refused::bad(self.early()))
    }

    fn store_block(
        &self,
        name: &Name,
        key: super::slab::Key,
        len: u64,
        reader: &mut impl Read,
        buffer: &mut [u8],
    ) -> Result<(), Refused> {
        let mut missing = len - self.slab.filled(key).min(len);
        while missing > 0 {
            let some = missing.min(buffer.len() as u64) as usize;
            let read = reader.read(&mut buffer[..some]).map_err(|error| {
                Refused::bad(format!("{} does not go on: {error}", self.client.origin()))
            })?;
            if read == 0 {
                return Err(Refused::bad(self.early()));
            }
            let kept = self.slab.append(key, &buffer[..read]);
            kept.map_err(|error| Refused::bad(no_room(&error)))?;
            missing -= read as u64;
            self.outbox.put(name, News::Progress);
        }
        Ok(())
    }

    fn early(&self) -> String {
        format!("{} ended its answer early", self.client.origin())
    }

    fn freshness(&self, headers: &HeaderMap) -> Duration {
        let limit = max_age(headers).map_or(self.fresh, Duration::from_secs);
        // A consumer needs the document and then the content.
        limit.min(self.fresh).max(Duration::from_secs(1))
    }
}

fn no_room(error: &io::Error) -> String {
    format!("the cache of the proxy takes no more: {error}; see --cache and --cache-size")
}
