//! Requests to the threads of an origin, and their results.

use super::facts::Validators;
use super::slab::{Key, SEGMENTS};
use packet::Name;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use weir::http::mirror::Described;

/// A file whose segments may be available.
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
        let begin = block.saturating_mul(self.block_size());
        self.size.saturating_sub(begin).min(self.block_size())
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
    Fill(Object, Range<u64>),
}

/// News of a resource.
pub struct Event {
    /// The number of the origin.
    pub origin: usize,
    /// The name of the resource.
    pub key: Name,
    /// The change.
    pub news: News,
}

/// See [`Event`].
pub enum News {
    /// The answer to [`Task::Describe`], with the object if it has content.
    Described(Box<Answered>),
    /// The object has not changed.
    Same(Duration),
    /// The end of [`Task::Fill`], or of the blocks that came with an answer.
    Filled { id: u64, blocks: Range<u64>, result: Result<(), Unfilled> },
}

/// The answer of an origin.
pub struct Answered {
    /// The status and headers.
    pub described: Described,
    /// The content, if any.
    pub object: Option<Object>,
    /// The time for which the answer may be used.
    pub fresh: Duration,
    /// The failure of the origin, for the user of the proxy.
    pub complaint: Option<String>,
    /// The content is missing because the proxy had no room. The origin may be asked again.
    pub is_busy: bool,
    /// The blocks of the object that come with this answer. [`News::Filled`] reports their end.
    pub coming: Range<u64>,
}

impl Answered {
    /// Without a failure, and without coming content.
    pub fn new(described: Described, object: Option<Object>, fresh: Duration) -> Answered {
        let (complaint, is_busy, coming) = (None, false, 0..0);
        Answered { described, object, fresh, complaint, is_busy, coming }
    }
}

/// Why blocks were not fetched.
#[derive(Debug, PartialEq, Eq)]
pub enum Unfilled {
    /// The origin has another file now, or none.
    Changed(String),
    /// The bytes are gone. Without a strong validator, parts of an object are not requested alone.
    Evicted,
    /// The cache has no room now.
    Full(String),
    /// The origin fails.
    Failed {
        /// The reason.
        text: String,
        /// At least a segment came before.
        had_progress: bool,
    },
}

/// The number of present bytes of a block, and the number of its origin.
pub type Progress = BTreeMap<Key, (usize, u64)>;

/// The news of all threads, for the thread of the connection to the forwarder.
pub struct Outbox {
    /// The numbers of jobs and threads bound the number of events.
    news: Mutex<(Vec<Event>, Progress)>,
    is_awake: AtomicBool,
    wake_up: OwnedFd,
}

impl Outbox {
    /// An empty one.
    ///
    /// # Errors
    /// The system has no event counter left.
    pub fn new() -> io::Result<Outbox> {
        let wake_up = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Outbox { news: Mutex::default(), is_awake: AtomicBool::new(false), wake_up })
    }

    /// The event counter that is raised with news.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn wake_up(&self) -> io::Result<OwnedFd> {
        self.wake_up.try_clone()
    }

    /// Adds news.
    pub fn put(&self, event: Event) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).0.push(event);
        self.wake();
    }

    /// Reports the number of present bytes of a block.
    pub fn put_progress(&self, origin: usize, block: Key, filled: u64) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.1.insert(block, (origin, filled));
        drop(news);
        self.wake();
    }

    fn wake(&self) {
        if !self.is_awake.swap(true, Ordering::AcqRel) {
            // A full counter wakes as well.
            let _ = rustix::io::write(&self.wake_up, &1_u64.to_ne_bytes());
        }
    }

    /// Takes all news. It costs almost nothing if there is none.
    pub fn take(&self) -> Option<(Vec<Event>, Progress)> {
        // Taken before the news: later news wake the loop again.
        let is_awake = self.is_awake.swap(false, Ordering::AcqRel);
        is_awake
            .then(|| std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_of_a_block_is_one_entry_however_often_it_comes() {
        let outbox = Outbox::new().unwrap();
        assert!(outbox.take().is_none());
        for filled in 1..=100_000 {
            outbox.put_progress(3, (1, 2), filled);
        }
        let (events, progress) = outbox.take().unwrap();
        assert_eq!((events.len(), progress), (0, Progress::from([((1, 2), (3, 100_000))])));
        assert!(outbox.take().is_none());
        let mut count = [0; 8];
        rustix::io::read(&outbox.wake_up, &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 1, "it is raised once until the news is taken");
    }
}
