//! The thread that fetches: it owns the connection and the batch.

use super::complaints::Complaints;
use super::listing::{Listing, Listings};
use super::nodes::SourceName;
use super::readers::window;
use super::receiver::{Active, Open, Receiver, SharedCache, Then, Waiting};
use super::rejection::Rejection;
use crate::exit::{Failure, Kind};
use crate::folder::page_object;
use crate::signals::Stop;
use crate::transfer::{Driven, Transfers};
use control::{Duration, Time};
use net::client::{ConnectError, Connection};
use rustix::event::{EventfdFlags, eventfd};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use transport::fetch::batch::{Batch, BatchStatus};
use tree::{Limits, PageRef, Root, Walk};

/// The interval at which signals and deadlines are looked at.
const TICK: Duration = Duration::from_millis(100);
/// The maximum number of pages of one directory in flight.
const PAGES: usize = 32;
/// The maximum number of bytes of all names in a directory.
const NAMES: u64 = 64_000_000;
/// The maximum number of files whose digests are kept between reads.
const FILES: usize = 64;
/// A read fails after its patience times this, even if others make progress.
const TIMES: u64 = 4;

/// A question to the engine.
pub enum Ask {
    /// The entries of a directory.
    List {
        /// Its number.
        directory: u64,
        /// Its path, for messages.
        path: Box<[u8]>,
        /// Its page.
        page: PageRef,
        /// Gets them.
        then: Then<Arc<Listing>>,
    },
    /// Bytes of a file.
    Read {
        /// The file.
        open: Arc<Open>,
        /// The handle that it is read by.
        handle: u64,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        len: usize,
        /// Gets them; `None` if the reader has them already.
        then: Option<Then<Vec<u8>>>,
    },
    /// A handle was closed.
    Close {
        /// The number of the file.
        node: u64,
        /// The handle.
        handle: u64,
    },
}

/// Brings questions to the engine, from all threads.
pub struct Asker {
    asks: mpsc::Sender<Ask>,
    bell: OwnedFd,
}

impl Asker {
    /// Notes a read that the engine may look at later.
    pub fn note(&self, ask: Ask) {
        // No reader waits for an answer.
        let _ = self.asks.send(ask);
    }

    /// Asks. If the engine has ended, the question is rejected.
    pub fn ask(&self, ask: Ask) {
        match self.asks.send(ask) {
            Ok(()) => {
                // It is full only if it rings already.
                let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
            }
            Err(mpsc::SendError(Ask::List { then, .. })) => then(Err(Rejection::Ended)),
            Err(mpsc::SendError(Ask::Read { then: Some(then), .. })) => then(Err(Rejection::Ended)),
            Err(_) => {}
        }
    }
}

/// A directory whose pages are being fetched.
struct Directory {
    path: Box<[u8]>,
    walk: Walk,
    awaited: usize,
    entries: Vec<tree::Entry>,
    progress_at: Time,
    thens: Vec<Then<Arc<Listing>>>,
}

/// The parts that the engine works with.
pub struct Parts {
    /// How to fetch.
    pub transfers: Transfers,
    /// A read fails after this long without progress.
    pub patience: Duration,
    /// How objects are named.
    pub name: SourceName,
    /// The cache.
    pub cache: SharedCache,
    /// The listings of directories.
    pub listings: Arc<Mutex<Listings>>,
    /// Print no lines about failures.
    pub quiet: bool,
}

/// The engine.
pub struct Engine {
    parts: Parts,
    asks: mpsc::Receiver<Ask>,
    batch: Batch,
    receiver: Receiver,
    directories: BTreeMap<u64, Directory>,
    complaints: Complaints,
    /// When another attempt to connect is made; `None` with a connection.
    reconnect_at: Option<Time>,
}

impl Engine {
    /// An engine for this connection, and the way to ask it.
    ///
    /// # Errors
    /// The system has no event counter left, or gives no random numbers.
    pub fn new(parts: Parts, connection: &mut Connection) -> Result<(Engine, Asker), Failure> {
        let (ours, waking) = bell().map_err(|error| Failure::new(Kind::Failed, error))?;
        connection.wake_on(waking);
        let (give, asks) = mpsc::channel();
        let engine = Engine {
            batch: parts.transfers.batch()?,
            receiver: Receiver::new(parts.cache.clone()),
            complaints: Complaints::new(parts.quiet),
            parts,
            asks,
            directories: BTreeMap::new(),
            reconnect_at: None,
        };
        Ok((engine, Asker { asks: give, bell: ours }))
    }

    /// Answers until a signal comes, or the mount is over.
    ///
    /// # Errors
    /// The forwarder in this process has ended, or the one in use is not an NDN forwarder.
    pub fn run(
        mut self,
        connection: &mut Connection,
        stop: &Stop,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let mut tick = connection.now();
        while !stop.requested() && !is_over() {
            let now = connection.now();
            self.receiver.now = now;
            while let Ok(ask) = self.asks.try_recv() {
                self.answer(now, ask);
            }
            self.advance(now);
            if let BatchStatus::Stalled { waited, cause } = self.batch.status() {
                let why = Rejection::of_stall(cause);
                self.reject_all(now, why, &format!("no answer for {waited} ({cause})"))?;
            }
            if now >= tick {
                tick = now + TICK;
                self.expire(now);
                self.close_idle();
            }
            for message in std::mem::take(&mut self.receiver.messages) {
                self.complaints.add(now, &message);
            }
            self.turn(connection, stop, tick)?;
        }
        self.end();
        Ok(())
    }

    /// One turn of the connection, or an attempt to get another one.
    fn turn(
        &mut self,
        connection: &mut Connection,
        stop: &Stop,
        until: Time,
    ) -> Result<(), Failure> {
        const PAUSE: Duration = Duration::from_millis(500);
        let now = connection.now();
        if let Some(at) = self.reconnect_at {
            if now < at {
                stop.wait();
                return Ok(());
            }
            return match connection.reconnect() {
                Ok(()) => {
                    self.complaints.add(now, "the forwarder is back");
                    self.reconnect_at = None;
                    self.batch.reconnected(connection.now());
                    Ok(())
                }
                Err(error) => self.lost(error, now + PAUSE),
            };
        }
        let mut driven = Driven { batch: &mut self.batch, sink: &mut self.receiver };
        match connection.turn(&mut driven, until) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.complaints.add(now, &format!("{error}; trying again until it returns"));
                self.lost(error, now + PAUSE)
            }
        }
    }

    fn lost(&mut self, error: ConnectError, again_at: Time) -> Result<(), Failure> {
        if !error.is_outage() {
            return Err(error.into());
        }
        self.reconnect_at = Some(again_at);
        Ok(())
    }

    fn answer(&mut self, now: Time, ask: Ask) {
        match ask {
            Ask::List { directory, path, page, then } => {
                self.list(now, directory, path, page, then);
            }
            Ask::Read { open, handle, offset, len, then } => {
                let read = offset..offset.saturating_add(len as u64).min(open.size);
                if let Some(then) = then {
                    self.read(now, &open, &read, then);
                }
                self.read_ahead(&open, handle, read);
            }
            Ask::Close { node, handle } => {
                let Some(file) = self.receiver.files.get_mut(&node) else { return };
                file.readers.remove(&handle);
                if file.readers.is_empty() && file.reads.is_empty() {
                    self.drop_object(node);
                    self.receiver.files.remove(&node);
                }
            }
        }
    }

    fn file(&mut self, open: &Arc<Open>) -> &mut Active {
        self.receiver.files.entry(open.node).or_insert_with(|| Active {
            open: Arc::clone(open),
            number: None,
            reads: Vec::new(),
            readers: BTreeMap::new(),
            rejected: None,
        })
    }

    fn read(&mut self, now: Time, open: &Arc<Open>, read: &Range<u64>, then: Then<Vec<u8>>) {
        let mut buffer = vec![0; read.end.saturating_sub(read.start) as usize];
        let missing = self.parts.cache.fill(open, read.start, &mut buffer);
        if missing.is_empty() {
            return then(Ok(buffer));
        }
        if let Some(why) = self.file(open).repeated(now) {
            then(Err(why));
            // If the producer is back, the next read finds the segments in the cache.
            let runs: Vec<_> = missing.into_iter().collect();
            return runs.into_iter().for_each(|run| self.want(open, run, true));
        }
        let runs: Vec<_> = missing.iter().cloned().collect();
        let (offset, progress_at) = (read.start, now);
        let waiting = Waiting { offset, buffer, missing, progress_at, then };
        self.file(open).reads.push(waiting);
        runs.into_iter().for_each(|run| self.want(open, run, true));
    }

    /// Requests the bytes that the reader will probably read next.
    fn read_ahead(&mut self, open: &Arc<Open>, handle: u64, read: Range<u64>) {
        let in_flight = u64::from(self.batch.in_flight()) * open.listed.segment_size;
        let cache = self.parts.cache.lock().capacity() * open.listed.segment_size;
        let readers = self.receiver.files.values().map(|file| file.readers.len()).sum();
        let window = window(in_flight, cache, readers);
        let reader = self.file(open).readers.entry(handle).or_default();
        let ahead = reader.note(read, window, open.size);
        open.enough.store(reader.enough(window, open.size), Ordering::Relaxed);
        let segments = open.segments(ahead.start, (ahead.end - ahead.start) as usize);
        let missing: rangemap::RangeSet<u64> = {
            let cache = self.parts.cache.lock();
            let missing = segments.filter(|segment| !cache.has((open.node, *segment)));
            missing.map(|segment| segment..segment + 1).collect()
        };
        missing.into_iter().for_each(|run| self.want(open, run, false));
    }

    fn want(&mut self, open: &Arc<Open>, run: Range<u64>, urgent: bool) {
        if let Some(number) = self.file(open).number {
            self.batch.want(number, run, urgent);
            return;
        }
        let number = self.batch.open(open.listed.clone(), &mut self.receiver);
        self.receiver.expect_file(number, open.node);
        self.file(open).number = Some(number);
        if !self.batch.want(number, run, urgent) {
            // There are no numbers left for an object of this size.
            self.file(open).forget_object();
            self.receiver.reject(open.node, Rejection::Unverified);
        }
    }

    fn drop_object(&mut self, node: u64) {
        let file = self.receiver.files.get_mut(&node);
        if let Some(number) = file.and_then(Active::forget_object) {
            self.batch.cancel(number);
            self.receiver.forget(number);
        }
    }

    /// Forgets closed files. If there are many, forgets the digests of open files that are not
    /// being read.
    fn close_idle(&mut self) {
        let files = self.receiver.files.iter();
        let closed = files.filter(|(_, file)| file.readers.is_empty() && file.reads.is_empty());
        let closed: Vec<_> = closed.map(|(node, _)| *node).collect();
        for node in closed {
            self.drop_object(node);
            self.receiver.files.remove(&node);
        }
        let files = &self.receiver.files;
        if files.values().filter(|file| file.number.is_some()).count() > FILES {
            let idle = files.iter().filter(|(_, file)| {
                let unwanted = file.number.is_some_and(|number| self.batch.is_unwanted(number));
                file.reads.is_empty() && unwanted
            });
            let idle: Vec<_> = idle.map(|(node, _)| *node).collect();
            for node in idle {
                self.drop_object(node);
            }
        }
    }

    fn list(
        &mut self,
        now: Time,
        number: u64,
        path: Box<[u8]>,
        page: PageRef,
        then: Then<Arc<Listing>>,
    ) {
        if let Some(directory) = self.directories.get_mut(&number) {
            return directory.thens.push(then);
        }
        let root = Root { base: 0, mode: 0, modified: 0, page };
        match Walk::new(&root, Limits { paths: NAMES, ..Limits::default() }) {
            Ok(walk) => {
                let (awaited, entries, progress_at) = (0, Vec::new(), now);
                let thens = vec![then];
                let directory = Directory { path, walk, awaited, entries, progress_at, thens };
                self.directories.insert(number, directory);
                self.request_pages(number);
            }
            Err(error) => {
                self.receiver.messages.push(rejected(&path, &error));
                then(Err(Rejection::TooLarge));
            }
        }
    }

    /// Requests pages of a directory, or ends it if it has all.
    fn request_pages(&mut self, number: u64) {
        let SourceName::Tree { base, .. } = self.parts.name.clone() else { return };
        let Some(directory) = self.directories.get_mut(&number) else { return };
        while directory.awaited < PAGES
            && let Some(request) = directory.walk.next_page()
        {
            directory.awaited += 1;
            if request.page.totals.entries == 0 {
                self.receiver.pages.push((number, request, packet::Bytes::new()));
                continue;
            }
            let page = page_object(&base, &request.page);
            // The page may be complete, or have failed, only after it was added.
            let object = self.batch.add(page, true, &mut self.receiver);
            self.receiver.expect_page(object, number, request);
        }
        if directory.walk.is_done()
            && let Some(directory) = self.directories.remove(&number)
        {
            let listing = Arc::new(Listing::new(directory.entries));
            let mut listings = self.parts.listings.lock().unwrap_or_else(PoisonError::into_inner);
            listings.keep(number, Arc::clone(&listing));
            drop(listings);
            directory.thens.into_iter().for_each(|then| then(Ok(Arc::clone(&listing))));
        }
    }

    /// Reads the pages that have arrived.
    fn advance(&mut self, now: Time) {
        loop {
            for (number, why) in std::mem::take(&mut self.receiver.lost) {
                self.reject_directory(number, why);
            }
            let pages = std::mem::take(&mut self.receiver.pages);
            if pages.is_empty() {
                return;
            }
            for (number, request, content) in pages {
                let Some(directory) = self.directories.get_mut(&number) else { continue };
                directory.progress_at = now;
                directory.awaited -= 1;
                match directory.walk.accept(request, &content, &mut |_, _| false) {
                    Ok(found) => {
                        directory.entries.extend(found.entries);
                        self.request_pages(number);
                    }
                    Err(error) => {
                        let message = rejected(&directory.path, &error);
                        self.receiver.messages.push(message);
                        self.reject_directory(number, Rejection::Unverified);
                    }
                }
            }
        }
    }

    fn reject_directory(&mut self, number: u64, why: Rejection) {
        // Pages in flight may arrive after the directory is requested again.
        self.receiver.forget_pages(number);
        if let Some(directory) = self.directories.remove(&number) {
            directory.thens.into_iter().for_each(|then| then(Err(why)));
        }
    }

    /// All operations that wait fail, and the batch starts again.
    fn reject_all(&mut self, now: Time, why: Rejection, message: &str) -> Result<(), Failure> {
        let (mut count, nodes) = (0, self.receiver.files.keys().copied().collect::<Vec<_>>());
        for node in nodes {
            count += self.receiver.reject(node, why);
        }
        let directories = std::mem::take(&mut self.directories);
        for then in directories.into_values().flat_map(|directory| directory.thens) {
            count += 1;
            then(Err(why));
        }
        self.receiver.forget_all();
        self.batch = self.parts.transfers.batch()?;
        if count > 0 {
            self.complaints.add(now, &format!("{message}; operations that failed: {count}"));
        }
        Ok(())
    }

    /// Operations fail that made no progress for too long, although others did.
    fn expire(&mut self, now: Time) {
        let (times, why) = match self.reconnect_at {
            None => (TIMES, Rejection::Silent),
            Some(_) => (1, Rejection::Unreachable),
        };
        let limit = Duration(self.parts.patience.0.saturating_mul(times));
        let mut given_up = Vec::new();
        for (node, file) in &mut self.receiver.files {
            let reads = std::mem::take(&mut file.reads).into_iter();
            let (late, rest): (Vec<_>, Vec<_>) =
                reads.partition(|read| now >= read.progress_at + limit);
            file.reads = rest;
            if late.is_empty() {
                continue;
            }
            let path = String::from_utf8_lossy(&file.open.path);
            self.receiver.messages.push(format!("cannot read {path}: no data arrived for {limit}"));
            file.rejected = Some((now, why));
            if file.reads.is_empty() {
                given_up.push(*node);
            }
            late.into_iter().for_each(|read| (read.then)(Err(why)));
        }
        given_up.into_iter().for_each(|node| self.drop_object(node));
        let late = self.directories.iter().filter(|(_, each)| now >= each.progress_at + limit);
        let late: Vec<_> = late.map(|(number, each)| (*number, each.path.clone())).collect();
        for (number, path) in late {
            let path = String::from_utf8_lossy(&path);
            let text = format!("cannot list /{path}: no data arrived for {limit}");
            self.receiver.messages.push(text);
            self.reject_directory(number, why);
        }
    }

    /// Rejects all operations that wait, so that no program hangs.
    fn end(mut self) {
        let nodes: Vec<_> = self.receiver.files.keys().copied().collect();
        for node in nodes {
            self.receiver.reject(node, Rejection::Ended);
        }
        let numbers: Vec<_> = self.directories.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.reject_directory(number, Rejection::Ended));
    }
}

/// An event counter, and another handle of it.
fn bell() -> io::Result<(OwnedFd, OwnedFd)> {
    let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
    let other = bell.try_clone()?;
    Ok((bell, other))
}

fn rejected(path: &[u8], error: &tree::TreeError) -> String {
    let path = String::from_utf8_lossy(path);
    format!("the directory /{path} is rejected: {error}")
}
