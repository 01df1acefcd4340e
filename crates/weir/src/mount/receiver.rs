//! Passes verified content to waiting readers and into the cache.

use super::cache::{Cache, Key};
use super::readers::Reader;
use super::rejection::Rejection;
use control::{Duration, Time};
use packet::Bytes;
use rangemap::RangeSet;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::fetch::batch::{BatchSink, Failure, Listed};
use tree::Request;

/// Receives the result of an operation, on the engine's thread.
pub type Then<T> = Box<dyn FnOnce(Result<T, Rejection>) + Send>;

/// The cache that all threads share.
#[derive(Clone)]
pub struct SharedCache(Arc<Mutex<Cache>>);

impl SharedCache {
    /// Shares a cache.
    pub fn new(cache: Cache) -> SharedCache {
        SharedCache(Arc::new(Mutex::new(cache)))
    }

    /// The cache.
    pub fn lock(&self) -> MutexGuard<'_, Cache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills a buffer with the bytes of a file from `offset` on. Returns the segments that the
    /// cache does not have, or that the disk fails to return.
    pub fn fill(&self, file: &Open, offset: u64, buffer: &mut [u8]) -> RangeSet<u64> {
        let (mut missing, mut cache) = (RangeSet::new(), self.lock());
        for segment in file.segments(offset, buffer.len()) {
            let Some((from, part)) = file.part(segment, offset, buffer) else { continue };
            if !cache.read((file.node, segment), from, part).unwrap_or(false) {
                missing.insert(segment..segment + 1);
            }
        }
        missing
    }
}

/// A file that was opened.
#[derive(Debug)]
pub struct Open {
    /// Its number.
    pub node: u64,
    /// Its path, for messages.
    pub path: Box<[u8]>,
    /// Its size in bytes.
    pub size: u64,
    /// Its object.
    pub listed: Listed,
    /// The place up to which reads of cached bytes need not be reported to the engine.
    pub enough: AtomicU64,
}

impl Open {
    /// The segments of `len` bytes from `offset` on.
    pub fn segments(&self, offset: u64, len: usize) -> Range<u64> {
        let each = self.listed.segment_size.max(1);
        let end = offset.saturating_add(len as u64).min(self.size);
        if end <= offset { 0..0 } else { offset / each..end.div_ceil(each) }
    }

    /// The part of a buffer, which has the bytes from `offset` on, that belongs to a segment, and
    /// the place of its first byte in that segment.
    pub fn part<'a>(
        &self,
        segment: u64,
        offset: u64,
        buffer: &'a mut [u8],
    ) -> Option<(usize, &'a mut [u8])> {
        let start = segment.checked_mul(self.listed.segment_size)?;
        let end = start.saturating_add(self.listed.segment_size).min(self.size);
        let (from, to) = (start.max(offset), end.min(offset.saturating_add(buffer.len() as u64)));
        let part = buffer.get_mut((from - offset) as usize..to.checked_sub(offset)? as usize)?;
        Some(((from - start) as usize, part))
    }
}

/// A read that waits for segments.
pub struct Waiting {
    /// The first byte.
    pub offset: u64,
    /// The bytes; missing segments are zeros.
    pub buffer: Vec<u8>,
    /// The missing segments.
    pub missing: RangeSet<u64>,
    /// The time of the last of them, or of the beginning of the read.
    pub progress_at: Time,
    /// Gets the bytes.
    pub then: Then<Vec<u8>>,
}

/// A file with reads.
pub struct Active {
    /// The file.
    pub open: Arc<Open>,
    /// The number of its object in the batch.
    pub number: Option<u64>,
    /// The reads that wait.
    pub reads: Vec<Waiting>,
    /// The readers, by their handles.
    pub readers: BTreeMap<u64, Reader>,
    /// When reads were rejected last, and why.
    pub rejected: Option<(Time, Rejection)>,
}

impl Active {
    /// The error of a read that follows a failed one at once: the kernel repeats a read-ahead that
    /// failed, and no reader has to wait twice for that.
    pub fn repeated(&mut self, now: Time) -> Option<Rejection> {
        const SOON: Duration = Duration::from_secs(1);
        let (at, why) = self.rejected.as_mut().filter(|(at, _)| now < *at + SOON)?;
        // The readers of a page send their requests one after the other.
        *at = now;
        Some(*why)
    }

    /// Takes the number of its object, which the batch has no longer.
    pub fn forget_object(&mut self) -> Option<u64> {
        self.readers.values_mut().for_each(Reader::cancelled);
        self.number.take()
    }
}

/// The use of an object of the batch.
enum Job {
    File(u64),
    /// A page, for directories with these numbers.
    Page(Vec<(u64, Request)>, Vec<u8>),
}

/// The files and pages that are being fetched.
pub struct Receiver {
    /// The cache.
    pub cache: SharedCache,
    /// Files, by their numbers.
    pub files: BTreeMap<u64, Active>,
    /// Pages that have arrived, for the directories of these numbers.
    pub pages: Vec<(u64, Request, Bytes)>,
    /// Directories with a lost page.
    pub lost: Vec<(u64, Rejection)>,
    /// Lines for the user.
    pub messages: Vec<String>,
    /// The time.
    pub now: Time,
    jobs: BTreeMap<u64, Job>,
}

impl Receiver {
    /// Without fetches.
    pub fn new(cache: SharedCache) -> Receiver {
        Receiver {
            cache,
            files: BTreeMap::new(),
            pages: Vec::new(),
            lost: Vec::new(),
            messages: Vec::new(),
            now: Time::ZERO,
            jobs: BTreeMap::new(),
        }
    }

    /// The object of a file has this number.
    pub fn expect_file(&mut self, number: u64, node: u64) {
        self.jobs.insert(number, Job::File(node));
    }

    /// The object of a page has this number.
    pub fn expect_page(&mut self, number: u64, directory: u64, request: Request) {
        let job = self.jobs.entry(number).or_insert_with(|| Job::Page(Vec::new(), Vec::new()));
        if let Job::Page(requests, _) = job {
            requests.push((directory, request));
        }
    }

    /// The batch has forgotten the object.
    pub fn forget(&mut self, number: u64) {
        self.jobs.remove(&number);
    }

    /// The pages of a directory are no longer awaited.
    pub fn forget_pages(&mut self, directory: u64) {
        for job in self.jobs.values_mut() {
            if let Job::Page(requests, _) = job {
                requests.retain(|(of, _)| *of != directory);
            }
        }
        self.pages.retain(|(of, ..)| *of != directory);
        self.lost.retain(|(of, _)| *of != directory);
    }

    /// The batch is another one.
    pub fn forget_all(&mut self) {
        self.jobs.clear();
        for file in self.files.values_mut() {
            file.forget_object();
        }
    }

    /// The reads of a file fail.
    pub fn reject(&mut self, node: u64, why: Rejection) -> usize {
        let Some(file) = self.files.get_mut(&node) else { return 0 };
        let reads = std::mem::take(&mut file.reads);
        let count = reads.len();
        if count > 0 {
            file.rejected = Some((self.now, why));
        }
        reads.into_iter().for_each(|read| (read.then)(Err(why)));
        count
    }

    fn keep(&mut self, key: Key, content: &[u8]) {
        let kept = self.cache.lock().insert(key, content);
        if let Err(error) = kept {
            self.messages.push(format!("the cache cannot be written: {error}"));
        }
    }
}

impl BatchSink for Receiver {
    fn write(&mut self, object: u64, offset: u64, content: &[u8]) {
        match self.jobs.get_mut(&object) {
            Some(Job::Page(_, page)) => page.extend_from_slice(content),
            Some(Job::File(node)) => {
                let node = *node;
                let Some(file) = self.files.get_mut(&node) else { return };
                let segment = offset / file.open.listed.segment_size.max(1);
                hand_on(file, segment, content, self.now);
                self.keep((node, segment), content);
            }
            None => {}
        }
    }

    fn complete(&mut self, object: u64) {
        if let Some(Job::Page(requests, content)) = self.jobs.remove(&object) {
            let content = Bytes::from(content);
            for (directory, request) in requests {
                self.pages.push((directory, request, content.clone()));
            }
        }
    }

    fn failed(&mut self, object: u64, why: Failure) {
        let rejection = Rejection::of_failure(&why);
        match self.jobs.remove(&object) {
            Some(Job::Page(requests, _)) => {
                self.messages.push(format!("a page of a directory cannot be fetched: {why}"));
                self.lost.extend(requests.into_iter().map(|(directory, _)| (directory, rejection)));
            }
            Some(Job::File(node)) => {
                if let Some(file) = self.files.get_mut(&node) {
                    file.forget_object();
                    let path = String::from_utf8_lossy(&file.open.path);
                    self.messages.push(format!("cannot read {path}: {why}"));
                }
                self.reject(node, rejection);
            }
            None => {}
        }
    }
}

/// Copies a segment to the reads that wait for it, and ends complete reads.
fn hand_on(file: &mut Active, segment: u64, content: &[u8], now: Time) {
    file.rejected = None;
    let mut at = 0;
    while let Some(read) = file.reads.get_mut(at) {
        if read.missing.contains(&segment) {
            if let Some((from, part)) = file.open.part(segment, read.offset, &mut read.buffer)
                && let Some(found) = content.get(from..from + part.len())
            {
                part.copy_from_slice(found);
            }
            read.missing.remove(segment..segment + 1);
            read.progress_at = now;
            if read.missing.is_empty() {
                let read = file.reads.swap_remove(at);
                (read.then)(Ok(read.buffer));
                continue;
            }
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::fetch::batch::Known;

    fn open() -> Open {
        let known = Known::Segments(Box::default());
        let name = "/f/v=1".parse().unwrap();
        let listed = Listed { name, size: Some(2500), segment_size: 1000, known };
        Open { node: 7, path: Box::from(*b"f"), size: 2500, listed, enough: AtomicU64::new(0) }
    }

    #[test]
    fn a_read_covers_the_segments_of_its_bytes() {
        let open = open();
        assert_eq!(open.segments(0, 1), 0..1);
        assert_eq!(open.segments(999, 2), 0..2);
        assert_eq!(open.segments(1000, 1000), 1..2);
        assert_eq!(open.segments(2400, 5000), 2..3);
        assert!(open.segments(2500, 1).is_empty() && open.segments(u64::MAX, 9).is_empty());
    }

    #[test]
    fn waiting_reads_get_their_bytes_of_each_segment() {
        let dir = tempfile::tempdir().unwrap();
        let cache = SharedCache::new(Cache::new(dir.path(), 1 << 20).unwrap());
        let (mut receiver, open) = (Receiver::new(cache.clone()), Arc::new(open()));
        let (give, take) = std::sync::mpsc::channel();
        let read = |offset: u64, len: usize| {
            let (give, mut buffer) = (give.clone(), vec![0; len]);
            let missing = cache.fill(&open, offset, &mut buffer);
            let then: Then<Vec<u8>> = Box::new(move |found| give.send(found).unwrap());
            Waiting { offset, buffer, missing, progress_at: Time::ZERO, then }
        };
        let reads = vec![read(900, 1500), read(1100, 100)];
        let (number, readers, rejected) = (Some(40), BTreeMap::new(), None);
        receiver.files.insert(7, Active { open: open.clone(), number, reads, readers, rejected });
        receiver.expect_file(40, 7);
        receiver.write(40, 1000, &[2; 1000]);
        assert_eq!(take.try_recv().unwrap().unwrap(), [2; 100]);
        receiver.write(40, 2000, &[3; 500]);
        assert!(take.try_recv().is_err());
        receiver.write(40, 0, &[1; 1000]);
        let expected = [vec![1; 100], vec![2; 1000], vec![3; 400]].concat();
        assert_eq!(take.try_recv().unwrap().unwrap(), expected);
        // Now all of it is in the cache.
        let mut buffer = vec![0; 1500];
        assert!(cache.fill(&open, 900, &mut buffer).is_empty());
        assert_eq!(buffer, expected);
    }
}
