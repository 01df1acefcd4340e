//! Changes that the hosts of a store share: this host applies changes of others, and publishes its
//! own. On a store that is not shared, both are transactions of the index alone.

use crate::change::Change;
use crate::error::StoreError;
use crate::index::{APPLIED, CHANGES, NONCE, NUMBERS};
use crate::record::{KNOWN, Step, Steps, Unreadable, Writer};
use crate::staging::Staging;
use crate::store::{Store, Writing, add};
use crate::volume::Log;
use redb::{ReadableTable, WriteTransaction};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two looks for changes of other hosts.
const PAUSE: Duration = Duration::from_secs(1);
/// Attempts of a change that other hosts outpace.
pub const TRIES: usize = 20;

/// Applies the changes of other hosts.
pub fn catch_up(store: &Store) -> Result<(), StoreError> {
    let Some(log) = store.volume().log() else { return Ok(()) };
    loop {
        let number = store.number(APPLIED)?.unwrap_or(0) + 1;
        if !log.has(number)? {
            return Ok(());
        }
        let mut staging = store.stage()?;
        let path = staging.path();
        // The index does not wait for the network.
        let mut file = File::create_new(&path).map_err(StoreError::file(&path))?;
        log.fetch(number, &mut file)?;
        apply(store, log, number, &path)?;
    }
}

/// Applies the change with this number, unless another process has done so.
fn apply(store: &Store, log: &dyn Log, number: u64, path: &Path) -> Result<(), StoreError> {
    let file = BufReader::new(File::open(path).map_err(StoreError::file(path))?);
    let begun = Steps::new(file).map_err(|why| unreadable(log.name_of(number), path, why));
    let (mut steps, nonce) = begun?;
    let mut change = Change::new(store)?;
    if applied(store, change.write())? + 1 != number {
        return Ok(());
    }
    loop {
        let step = steps.step().map_err(|why| unreadable(log.name_of(number), path, why))?;
        match step {
            Some(Step::Arrived { digest, upload }) => change.arrived(digest, upload),
            Some(Step::Unverified) => change.unverified(),
            Some(Step::Top { entry, top }) => _ = change.top(&entry, &top)?,
            Some(Step::Member(entry)) => change.member(&entry)?,
            Some(Step::Removed { name, version }) => change.remove(name.as_ref(), version)?,
            Some(Step::Begin { .. } | Step::End { .. }) => {}
            None => break,
        }
    }
    commit(store, change.finish().0, Some(&Applied { number, nonce }))
}

fn unreadable(object: String, path: &Path, why: Unreadable) -> StoreError {
    match why {
        Unreadable::Io(error) => StoreError::file(path)(error),
        Unreadable::Damaged(why) => StoreError::Change { object, why },
        Unreadable::Newer(found) => {
            StoreError::Newer { path: PathBuf::from(object), found, known: KNOWN }
        }
    }
}

/// The number of the last shared change that was applied.
fn applied(store: &Store, write: &WriteTransaction) -> Result<u64, StoreError> {
    store.guarded(|| {
        let numbers = write.open_table(NUMBERS)?;
        Ok(numbers.get(APPLIED)?.map_or(0, |number| number.value()))
    })
}

/// An applied shared change.
struct Applied {
    number: u64,
    nonce: u64,
}

fn commit(store: &Store, write: Writing<'_>, applied: Option<&Applied>) -> Result<(), StoreError> {
    store.guarded(|| {
        if let Some(Applied { number, nonce }) = applied {
            let mut numbers = write.open_table(NUMBERS)?;
            numbers.insert(APPLIED, *number)?;
            numbers.insert(NONCE, *nonce)?;
        }
        add(&write, CHANGES, 1)?;
        write.commit()
    })
}

/// A change that this host makes, as other hosts will read it.
pub struct Draft {
    path: PathBuf,
    nonce: u64,
    writer: Writer<BufWriter<File>>,
}

impl Draft {
    /// An empty change, in a file of the staging; `None` if the store is not shared.
    pub fn new(store: &Store, staging: &mut Staging) -> Result<Option<Draft>, StoreError> {
        if store.volume().log().is_none() {
            return Ok(None);
        }
        let path = staging.path();
        let nonce = getrandom::u64().map_err(io::Error::other);
        let made = nonce.and_then(|nonce| {
            let file = File::create_new(&path)?;
            Ok((nonce, Writer::new(BufWriter::new(file), nonce)?))
        });
        let (nonce, writer) = made.map_err(StoreError::file(&path))?;
        Ok(Some(Draft { path, nonce, writer }))
    }

    /// Adds a step.
    pub fn write(&mut self, step: &Step) -> Result<(), StoreError> {
        self.writer.write(step).map_err(StoreError::file(&self.path))
    }
}

/// Publishes a change, and makes it durable in the index.
///
/// # Errors
/// [`StoreError::Outpaced`]: another host was faster, so the change has to be made again. After
/// other errors, the next [`catch_up`] finds out whether it was published.
pub fn publish(store: &Store, write: Writing<'_>, draft: Option<Draft>) -> Result<(), StoreError> {
    let (Some(log), Some(draft)) = (store.volume().log(), draft) else {
        return commit(store, write, None);
    };
    let number = applied(store, &write)? + 1;
    let Draft { path, nonce, writer } = draft;
    writer.end().map_err(StoreError::file(&path))?;
    if !log.append(number, nonce, &path)? {
        return Err(StoreError::Outpaced(store.title()));
    }
    commit(store, write, Some(&Applied { number, nonce }))
}

/// Publishes an empty change: one of a killed process, which may still be on its way to the server,
/// cannot be appended any more.
pub fn fence(store: &Store) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        catch_up(store)?;
        let mut staging = store.stage()?;
        let draft = Draft::new(store, &mut staging)?;
        match publish(store, store.write()?, draft) {
            Err(StoreError::Outpaced(_)) if tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

/// A thread that applies the changes of other hosts, until it is dropped.
pub struct Follower {
    has_ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Follows the changes of a store, and reports each failure. Does nothing if the store is not
    /// shared.
    pub fn start(store: Arc<Store>, report: impl Fn(StoreError) + Send + 'static) -> Follower {
        let has_ended = Arc::new((Mutex::new(false), Condvar::new()));
        let end = has_ended.clone();
        let is_shared = store.volume().log().is_some();
        let thread = is_shared.then(|| {
            std::thread::spawn(move || {
                let (ended, woken) = &*end;
                let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                while !*ended {
                    drop(ended);
                    if let Err(error) = catch_up(&store) {
                        report(error);
                    }
                    ended = end.0.lock().unwrap_or_else(PoisonError::into_inner);
                    if !*ended {
                        let waited = woken.wait_timeout(ended, PAUSE);
                        ended = waited.unwrap_or_else(PoisonError::into_inner).0;
                    }
                }
            })
        });
        Follower { has_ended, thread }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        *self.has_ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.has_ended.1.notify_all();
        // An endless request blocks nothing: the thread ends with the process.
        drop(self.thread.take());
    }
}

#[cfg(test)]
mod tests;
