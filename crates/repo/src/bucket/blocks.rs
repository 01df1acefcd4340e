//! Reading blobs by range: blocks of them in a memory of limited size, which threads fill.

use super::client::{Client, read_error};
use super::objects;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use transport::publish::Source;

/// The bytes of a block.
const BLOCK: u64 = 2 << 20;
/// The maximum number of blocks in memory: 64 MB.
const MOST: usize = 32;
/// The number of blocks that are requested ahead of a sequential reader.
const AHEAD: u64 = 6;
/// The maximum number of threads, each with one request.
const THREADS: usize = 6;

/// A block is old if it was not used for this number of looks.
const OLD: u64 = 4096;
/// A block whose request has failed is requested again after this time.
const AGAIN: Duration = Duration::from_secs(1);
/// A thread without a job ends after this time.
const LINGER: Duration = Duration::from_secs(1);

#[expect(clippy::disallowed_methods, reason = "requests to a server take real time")]
fn now() -> Instant {
    Instant::now()
}

/// An object of a bucket, for reads.
#[derive(Debug)]
pub struct Object {
    /// Its key.
    pub key: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A block of an object.
type BlockKey = (Arc<str>, u64);

/// The blocks of a bucket's objects, in memory or on their way.
pub struct Blocks {
    client: Arc<Client>,
    state: Mutex<State>,
    /// A block has come, or a job waits.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    blocks: BTreeMap<BlockKey, Slot>,
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    clock: u64,
}

struct Job {
    key: BlockKey,
    size: u64,
}

struct Slot {
    content: Content,
    /// The time of the last use, as the number of looks.
    used: u64,
    /// A reader has requested the block, and has not read it yet.
    is_wanted: bool,
    /// The last byte of the block was read.
    is_done: bool,
}

enum Content {
    Coming,
    Here(Arc<Vec<u8>>),
    Failed { kind: io::ErrorKind, why: String, at: Instant },
}

/// The state of a block for a reader.
enum Look {
    Here(Arc<Vec<u8>>),
    Wait,
}

impl Slot {
    /// True if a block that may be read later can take the place of this one.
    fn is_spent(&self, clock: u64) -> bool {
        let is_old = self.used + OLD < clock;
        !matches!(self.content, Content::Coming) && !self.is_wanted && (self.is_done || is_old)
    }

    /// The order in which a new block takes the places of others.
    fn rank(&self, clock: u64) -> Option<(bool, bool, u64)> {
        let is_kept = self.is_wanted && self.used + MOST as u64 > clock;
        let is_free = !matches!(self.content, Content::Coming) && !is_kept;
        is_free.then_some((self.is_wanted, !self.is_done, self.used))
    }
}

impl State {
    /// Makes room for one more block. Returns false if all others are in use.
    fn make_room(&mut self, is_wanted: bool) -> bool {
        if self.blocks.len() < MOST {
            return true;
        }
        let clock = self.clock;
        let free = self.blocks.iter().filter_map(|(key, slot)| {
            let rank = slot.rank(clock)?;
            (is_wanted || slot.is_spent(clock)).then_some((rank, key))
        });
        let Some((_, key)) = free.min() else { return false };
        let key = key.clone();
        self.blocks.remove(&key);
        true
    }

    /// Requests a block, unless it is in memory or requested already.
    fn request(&mut self, key: &BlockKey, size: u64, is_wanted: bool) {
        if self.blocks.contains_key(key) || !self.make_room(is_wanted) {
            return;
        }
        let content = Content::Coming;
        let slot = Slot { content, used: self.clock, is_wanted, is_done: false };
        self.blocks.insert(key.clone(), slot);
        let job = Job { key: key.clone(), size };
        match is_wanted {
            true => self.jobs.push_front(job),
            false => self.jobs.push_back(job),
        }
    }

    /// The last byte of a block was read.
    fn done(&mut self, key: &BlockKey) {
        if let Some(slot) = self.blocks.get_mut(key) {
            slot.is_done = true;
        }
    }

    /// Looks for a block, and requests it if it is not there.
    fn look(&mut self, key: &BlockKey, size: u64) -> io::Result<Look> {
        self.clock += 1;
        let Some(slot) = self.blocks.get_mut(key) else {
            self.request(key, size, true);
            return Ok(Look::Wait);
        };
        slot.used = self.clock;
        match &slot.content {
            Content::Here(bytes) => {
                slot.is_wanted = false;
                return Ok(Look::Here(bytes.clone()));
            }
            Content::Coming => {
                let is_first = !slot.is_wanted;
                slot.is_wanted = true;
                if is_first && let Some(at) = self.jobs.iter().position(|job| job.key == *key) {
                    self.jobs.swap(0, at);
                }
            }
            // All that wait for the block have the error. Later, it is requested again.
            Content::Failed { kind, why, at } if at.elapsed() < AGAIN => {
                slot.is_wanted = false;
                return Err(io::Error::new(*kind, why.clone()));
            }
            Content::Failed { .. } => {
                self.blocks.remove(key);
                self.request(key, size, true);
            }
        }
        Ok(Look::Wait)
    }
}

impl Blocks {
    /// No blocks yet.
    pub fn new(client: Arc<Client>) -> Arc<Blocks> {
        Arc::new(Blocks { client, state: Mutex::default(), changed: Condvar::new() })
    }

    /// The bytes of an object. With `waits`, reading waits for them.
    pub fn source(self: &Arc<Blocks>, object: Object, waits: bool) -> Box<dyn Source> {
        let (key, size) = (Arc::from(object.key), object.size);
        Box::new(Ranges { blocks: self.clone(), key, size, waits, next: AtomicU64::new(0) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread if there are jobs that no thread is free for.
    fn start(self: &Arc<Blocks>, state: &mut State) {
        let wanted = state.jobs.len().saturating_sub(state.idle);
        for _ in 0..wanted.min(THREADS.saturating_sub(state.threads)) {
            let blocks = Arc::downgrade(self);
            state.threads += 1;
            std::thread::spawn(move || {
                while let Some(blocks) = blocks.upgrade() {
                    if !blocks.work() {
                        return;
                    }
                }
            });
        }
        if !state.jobs.is_empty() {
            self.changed.notify_all();
        }
    }

    /// Does one job, or waits for one. Returns false if there was none for a while.
    fn work(&self) -> bool {
        let mut state = self.lock();
        if state.jobs.is_empty() {
            state.idle += 1;
            let waited = self.changed.wait_timeout(state, LINGER);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.idle -= 1;
        }
        let Some(job) = state.jobs.pop_front() else {
            state.threads -= 1;
            return false;
        };
        drop(state);
        let from = job.key.1 * BLOCK;
        let len = (job.size - from).min(BLOCK) as usize;
        let read = objects::range(&self.client, &job.key.0, job.size, from, len);
        let content = match read {
            Ok(bytes) => Content::Here(Arc::new(bytes)),
            Err(error) => {
                let error = read_error(&error);
                Content::Failed { kind: error.kind(), why: error.to_string(), at: now() }
            }
        };
        let mut state = self.lock();
        if let Some(slot) = state.blocks.get_mut(&job.key) {
            slot.content = content;
        }
        drop(state);
        self.changed.notify_all();
        true
    }
}

/// The bytes of an object, by ranges.
struct Ranges {
    blocks: Arc<Blocks>,
    key: Arc<str>,
    size: u64,
    waits: bool,
    /// The block that a reader in order reads next.
    next: AtomicU64,
}

impl Ranges {
    /// The block with this number.
    fn block(&self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        let key = (self.key.clone(), number);
        let mut state = self.blocks.lock();
        loop {
            let found = state.look(&key, self.size)?;
            let next = self.next.swap(number + 1, Ordering::Relaxed);
            if next == number || next == number + 1 {
                let last = self.size.div_ceil(BLOCK);
                for ahead in number + 1..last.min(number + 1 + AHEAD) {
                    state.request(&(self.key.clone(), ahead), self.size, false);
                }
            }
            self.blocks.start(&mut state);
            match found {
                Look::Here(bytes) => return Ok(bytes),
                Look::Wait if self.waits => {
                    let waited = self.blocks.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
                Look::Wait => return Err(io::ErrorKind::WouldBlock.into()),
            }
        }
    }
}

impl Source for Ranges {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset + buffer.len() as u64 > self.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (mut at, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let number = at / BLOCK;
            let block = self.block(number)?;
            let from = (at % BLOCK) as usize;
            let len = rest.len().min(block.len() - from);
            if from + len == block.len() {
                self.blocks.lock().done(&(self.key.clone(), number));
            }
            let (now, later) = rest.split_at_mut(len);
            now.copy_from_slice(&block[from..from + len]);
            rest = later;
            at += len as u64;
        }
        Ok(())
    }

    fn may_block(&self) -> bool {
        !self.waits
    }

    fn may_change(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
