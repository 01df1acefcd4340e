//! Fetching an object: its options, and the forms in which its bytes are returned.

mod feed;
mod queue;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::parts::keys::at_present;
use crate::parts::{behind_links, check_depth, check_length, is_open_file};
use crate::settings::{Settings, span};
use crate::trust::{Trust, Verified};
use feed::Feed;
use net::clock::monotonic;
use packet::Name;
use queue::Queue;
use schemes::Choice;
use std::fs::Permissions;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use transport::fetch::{Fetch, FetchConfig};

/// The maximum size of an object in memory by default.
const MOST_IN_MEMORY: u64 = 1_000_000_000;

/// The progress of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes verified and returned.
    pub bytes: u64,
    /// Bytes of the whole object, if they are known. This is a hint: it is not signed.
    pub size: Option<u64>,
}

/// A complete fetch whose bytes went elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The name of the object, with its version.
    pub name: Name,
    /// The number of bytes.
    pub bytes: u64,
    /// The proof by the object's signature.
    pub verified: Verified,
    /// The time that it took.
    pub duration: Duration,
}

/// An object, or a part of it, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The name of the object, with its version.
    pub name: Name,
    /// The bytes.
    pub content: Vec<u8>,
    /// The proof by the object's signature.
    pub verified: Verified,
}

type OnProgress = Box<dyn FnMut(Progress) + Send>;

/// A fetch of one object, before it begins.
///
/// ```no_run
/// use client::{Cancel, Client};
///
/// # fn main() -> Result<(), client::Error> {
/// # let client = Client::connect("")?;
/// let cancel = Cancel::new();
/// let received = client
///     .request("/demo/film")
///     .cancel(&cancel)
///     .progress(|now| println!("{} bytes", now.bytes))
///     .to_file("film.mp4")?;
/// println!("{} in {:?}", received.bytes, received.duration);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Request {
    settings: Arc<Settings>,
    name: Result<Name, Error>,
    range: Option<Range<u64>>,
    trust: Option<Trust>,
    control: Option<String>,
    at_most: Option<u64>,
    cancel: Cancel,
    progress: Option<OnProgress>,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Request {
    pub(crate) fn new(settings: Arc<Settings>, name: Result<Name, Error>) -> Request {
        Request {
            settings,
            name,
            range: None,
            trust: None,
            control: None,
            at_most: None,
            cancel: Cancel::new(),
            progress: None,
        }
    }

    /// Only these bytes of the object. An end beyond the object's is its end.
    pub fn range(self, bytes: Range<u64>) -> Request {
        Request { range: Some(bytes), ..self }
    }

    /// Other rules of trust than those of the client.
    pub fn trust(self, trust: Trust) -> Request {
        Request { trust: Some(trust), ..self }
    }

    /// Another congestion-control scheme than that of the client.
    pub fn control(self, scheme: impl Into<String>) -> Request {
        Request { control: Some(scheme.into()), ..self }
    }

    /// The maximum number of returned bytes; more are an error. Without it, [`Request::bytes`]
    /// returns at most 1 GB, and the other forms have no limit.
    pub fn at_most(self, bytes: u64) -> Request {
        Request { at_most: Some(bytes), ..self }
    }

    /// Ends the fetch when `cancel` is cancelled.
    pub fn cancel(self, cancel: &Cancel) -> Request {
        Request { cancel: cancel.clone(), ..self }
    }

    /// Calls `progress` in the thread that takes the bytes, after each part that arrives.
    pub fn progress(self, progress: impl FnMut(Progress) + Send + 'static) -> Request {
        Request { progress: Some(Box::new(progress)), ..self }
    }

    /// Fetches into memory.
    ///
    /// # Errors
    /// [`Error::NotFound`]: no route leads to the name, or its producer has nothing of it.
    /// [`Error::TimedOut`]: no answer within the patience. [`Error::NotVerified`]: the rules of
    /// trust reject the object, or its bytes are not the signed ones. [`Error::TooLarge`]: see
    /// [`Request::at_most`]. [`Error::NoForwarder`]: the forwarder went away and was not back
    /// within the patience. [`Error::Cancelled`]: see [`Cancel`]. [`Error::Usage`]: the name, the
    /// scheme or the range does not fit.
    pub fn bytes(mut self) -> Result<Fetched, Error> {
        self.at_most.get_or_insert(MOST_IN_MEMORY);
        let mut content = Vec::new();
        let Received { name, verified, .. } = self.write_to(&mut content)?;
        Ok(Fetched { name, content, verified })
    }

    /// Fetches into `writer`, in order, and flushes it. A slow writer slows down the fetch. After
    /// an error, it may have a part of the object.
    ///
    /// # Errors
    /// As for [`Request::bytes`], or [`Error::File`]: the writer failed.
    pub fn write_to(self, writer: &mut (impl Write + ?Sized)) -> Result<Received, Error> {
        let began = monotonic();
        let (mut blocks, mut bytes) = (self.blocks()?, 0);
        for block in &mut blocks {
            let block = block?;
            writer.write_all(&block).map_err(|error| cannot_write_content(&error))?;
            bytes += block.len() as u64;
        }
        writer.flush().map_err(|error| cannot_write_content(&error))?;
        let (Some(name), Some(verified)) = (blocks.name(), blocks.verified()) else {
            return Err(Error::Failed("the fetch ended without an object".to_owned()));
        };
        Ok(Received {
            name,
            bytes,
            verified,
            duration: Duration::from_nanos(monotonic().since(began).0),
        })
    }

    /// Fetches into a file, which appears or changes only when all bytes are verified and on disk.
    /// An existing file keeps its permissions. A symbolic link stays, and its target is written.
    /// Only files are written: no pipes, and no devices.
    ///
    /// # Errors
    /// As for [`Request::bytes`], or [`Error::File`]: the file cannot be written. Then it is
    /// unchanged.
    pub fn to_file(self, path: impl AsRef<Path>) -> Result<Received, Error> {
        let path = path.as_ref();
        let failed = |error: std::io::Error| Error::file("write", path, &error);
        if is_open_file(path) {
            let path = path.display();
            return Err(Error::File(format!(
                "cannot write {path}: it is open, and is not the name of a file"
            )));
        }
        let path = &behind_links(path).map_err(failed)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let kept = match std::fs::symlink_metadata(path) {
            Ok(there) if there.is_file() => Some(there.permissions()),
            Ok(_) => {
                let path = path.display();
                let text = format!("cannot write {path}: it exists, and is not a file");
                return Err(Error::File(text));
            }
            Err(_) => None,
        };
        let mut builder = tempfile::Builder::new();
        let made = kept.clone().unwrap_or_else(permissions);
        let builder = builder.prefix(".weir-").permissions(made);
        let mut file = builder.tempfile_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        let received = self.write_to(file.as_file_mut())?;
        if let Some(kept) = kept {
            // The umask has taken some away. Content gets no set-user-ID bit.
            let kept = Permissions::from_mode(kept.mode() & 0o777);
            file.as_file().set_permissions(kept).map_err(failed)?;
        }
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(received)
    }

    /// Begins to fetch, and returns the verified parts in order as they arrive. A few megabytes
    /// wait at most, so a slow reader slows down the fetch.
    ///
    /// ```no_run
    /// # use client::Client;
    /// # fn main() -> Result<(), client::Error> {
    /// # let client = Client::connect("")?;
    /// for block in client.request("/demo/film").range(0..1_000_000).blocks()? {
    ///     println!("{} verified bytes", block?.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`], [`Error::File`], [`Error::Failed`]: the fetch cannot begin. Later errors
    /// are items of the iterator.
    pub fn blocks(self) -> Result<Blocks, Error> {
        let name = self.name?;
        check_length(&name)?;
        check_depth(&name)?;
        if let Some(range) = self.range.as_ref().filter(|range| range.start >= range.end) {
            let text = format!("the range from {} to {} has no bytes", range.start, range.end);
            return Err(Error::Usage(text));
        }
        let control: Choice = match &self.control {
            Some(scheme) => scheme.parse()?,
            None => self.settings.control.clone(),
        };
        let policy = match &self.trust {
            Some(trust) => trust.policy()?,
            None => at_present(&self.settings.policy),
        };
        let mut config = FetchConfig::new(name, policy);
        config.in_order = true;
        config.lifetime = span(self.settings.lifetime);
        config.patience = span(self.settings.patience);
        config.seed = getrandom::u64().map_err(|error| {
            Error::Failed(format!("the system provides no random numbers: {error}"))
        })?;
        let fetch = Fetch::new(config, control.controller()?);
        let queue = Arc::new(Queue::new()?);
        self.cancel.attach(queue.bell());
        let feed = Feed::new(&queue, self.range, self.at_most, &self.cancel);
        let settings = self.settings;
        let thread = std::thread::Builder::new().name("weir-fetch".to_owned());
        let thread = thread
            .spawn(move || feed.run(&settings, fetch))
            .map_err(|error| Error::system("start a thread", &error))?;
        let progress = self.progress;
        Ok(Blocks { queue, thread: Some(thread), progress, bytes: 0, is_over: false })
    }
}

fn cannot_write_content(error: &std::io::Error) -> Error {
    Error::File(format!("cannot write the content: {error}"))
}

/// The permissions of a new file, before the process's umask.
fn permissions() -> Permissions {
    Permissions::from_mode(0o666)
}

/// The verified parts of an object, in order.
///
/// After an error there are no more items. If it is dropped before its end, the fetch is cancelled
/// and its thread has ended.
pub struct Blocks {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
    progress: Option<OnProgress>,
    bytes: u64,
    is_over: bool,
}

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Blocks {
    /// The name of the object, with its version; `None` until it is found.
    #[must_use]
    pub fn name(&self) -> Option<Name> {
        self.queue.found().map(|found| found.name)
    }

    /// Bytes of the whole object, if they are known. This is a hint: it is not signed.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.queue.found().and_then(|found| found.size)
    }

    /// The proof by the object's signature; `None` before the end of the object.
    #[must_use]
    pub fn verified(&self) -> Option<Verified> {
        self.queue.verified()
    }

    fn end(&mut self) {
        self.is_over = true;
        self.queue.abandon();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has left its error in the queue.
            let _ = thread.join();
        }
    }
}

impl Iterator for Blocks {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let item = self.queue.next();
        match &item {
            Some(Ok(block)) => {
                self.bytes += block.len() as u64;
                let size = self.size();
                if let Some(progress) = &mut self.progress {
                    progress(Progress { bytes: self.bytes, size });
                }
            }
            _ => self.end(),
        }
        item
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.end();
    }
}
