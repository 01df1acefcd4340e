//! Threads that write small files, and finish large ones, so that the network does not wait for the
//! disk.

use super::target::{Dress, Target};
use crate::exit::{Failure, Word};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A file whose content is complete.
pub struct Whole {
    /// The directory below the folder.
    pub directory: Vec<u8>,
    /// The name in it.
    pub name: Vec<u8>,
    /// Its content.
    pub content: Content,
    /// Its attributes.
    pub dress: Dress,
}

/// The content of a file.
pub enum Content {
    /// The bytes of a small one.
    Bytes(Vec<u8>),
    /// The incomplete file of a large one, and its size.
    Part(File, u64),
}

impl Content {
    /// The bytes for which it counts while it waits.
    fn waiting(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64 + EACH,
            Content::Part(..) => PART,
        }
    }
}

/// Files that wait to be written.
pub struct Disk {
    shared: Arc<Shared>,
    jobs: Option<Sender<Whole>>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    target: Arc<Target>,
    /// Bytes that wait; each file counts for some more.
    waiting: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

/// A file counts for as many bytes more: its memory beside the content.
const EACH: u64 = 500;
/// A large file counts for as many: it is open, and few files may be.
const PART: u64 = 1_000_000;
/// The maximum number of bytes that wait before the network is held.
const MOST: u64 = 32_000_000;
/// The number of threads. More wait for each other in the same directory.
const THREADS: usize = 2;

impl Disk {
    /// Starts the threads.
    pub fn new(target: Arc<Target>) -> Disk {
        let failure = Mutex::new(None);
        let shared = Arc::new(Shared { target, waiting: AtomicU64::new(0), failure });
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let threads = (0..THREADS).map(|_| {
            let (shared, queue) = (shared.clone(), queue.clone());
            std::thread::spawn(move || work(&shared, &queue))
        });
        Disk { threads: threads.collect(), shared, jobs: Some(jobs) }
    }

    /// Writes a file soon.
    pub fn write(&self, whole: Whole) {
        self.shared.waiting.fetch_add(whole.content.waiting(), Ordering::Relaxed);
        // The threads end only after the sender.
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(whole));
        debug_assert!(sent.is_some_and(|sent| sent.is_ok()));
    }

    /// True if too many bytes wait: no more should be handed over.
    pub fn is_full(&self) -> bool {
        self.shared.waiting.load(Ordering::Relaxed) > MOST
    }

    /// The first failure, once.
    pub fn take_failure(&self) -> Option<Failure> {
        self.shared.failure.lock().ok()?.take()
    }

    /// Waits until all files are written.
    ///
    /// # Errors
    /// A file could not be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.end();
        self.take_failure().map_or(Ok(()), Err)
    }

    fn end(&mut self) {
        self.jobs = None;
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.end();
    }
}

fn work(shared: &Shared, queue: &Mutex<Receiver<Whole>>) {
    loop {
        // Another thread does not panic while it waits for a job.
        let Ok(next) = queue.lock().map(|queue| queue.recv()) else { return };
        let Ok(whole) = next else { return };
        let failed = shared.failure.lock().is_ok_and(|failure| failure.is_some());
        if !failed && let Err(error) = write(&shared.target, &whole) {
            let path = super::scan::below(&whole.directory, &whole.name);
            let failure = cannot_write(&shared.target, &path, &error);
            if let Ok(mut first) = shared.failure.lock() {
                first.get_or_insert(failure);
            }
        }
        shared.waiting.fetch_sub(whole.content.waiting(), Ordering::Relaxed);
    }
}

fn write(target: &Target, whole: &Whole) -> io::Result<()> {
    let Whole { directory, name, content, dress } = whole;
    match content {
        Content::Bytes(bytes) => target.write(directory, name, bytes, *dress),
        Content::Part(part, size) => {
            // An incomplete file of a longer version may have been longer.
            part.set_len(*size)?;
            target.finish(directory, name, part, *dress)
        }
    }
}

/// The failure of an entry that cannot be written.
pub fn cannot_write(target: &Target, path: &[u8], error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room and run the same command again to resume"
        }
        io::ErrorKind::AlreadyExists => "choose a folder on another file system, or --exclude one",
        _ => "run the same command again to resume once that is possible",
    };
    let message = format!("cannot write {}: {error}", target.shown(path));
    Failure::new(Word::unwritable(error), message).then(next)
}
