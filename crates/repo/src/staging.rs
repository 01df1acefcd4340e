//! Bytes on their way into the store.

use crate::blobs::{self, BLOCK};
use crate::codec;
use crate::digest::Digest;
use crate::entry::Entry;
use crate::error::StoreError;
use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::fs::{chmodat, flock, openat, statat};
use rustix::path::Arg;
#[cfg(feature = "s3")]
use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The number of files from which on one call makes all of them durable: syncfs(2).
const MANY: usize = 16;

/// True when work is not wanted any more.
type Interruption = Box<dyn Fn() -> bool + Send + Sync>;

/// The longest time between the first upload and the end of an insertion, in seconds: 12 hours.
#[cfg(feature = "s3")]
const LONGEST: i64 = 12 * 3600;

/// Seconds since the start of the host, with those in suspension.
#[cfg(feature = "s3")]
fn seconds() -> i64 {
    clock_gettime(ClockId::Boottime).tv_sec
}

/// A folder of one process for bytes that are not stored yet. A lock on it shows that the process
/// is alive; folders without a lock are removed when a store is opened.
pub struct Staging {
    folder: PathBuf,
    /// The random number in the name of the folder.
    number: u64,
    lock: File,
    files: BTreeMap<Digest, Staged>,
    /// The number of files so far.
    count: u64,
    /// Entries that wait for the insertion, so that they take no memory.
    held: Option<BufWriter<File>>,
    /// The folder stays, so that the next process looks for blobs without a name.
    stays: bool,
    /// Files that a shared volume has received.
    #[cfg(feature = "s3")]
    received: BTreeSet<Digest>,
    /// True when its insertion is not wanted any more.
    stop: Option<Interruption>,
    /// When the folder was made, in seconds since the host was started.
    #[cfg(feature = "s3")]
    began: i64,
}

/// A future blob in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// Its place until then.
    pub path: PathBuf,
    /// The SHA-256 of its content.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
}

fn incoming(store: &Path) -> PathBuf {
    store.join("incoming")
}

impl Staging {
    pub(crate) fn new(store: &Path) -> Result<Staging, StoreError> {
        let above = incoming(store);
        Staging::create(&above).map_err(StoreError::file(&above))
    }

    /// Makes a folder of its own in the folder `above`.
    fn create(above: &Path) -> io::Result<Staging> {
        loop {
            let number = getrandom::u64().map_err(io::Error::other)?;
            let folder = above.join(format!("{number:016x}"));
            DirBuilder::new().recursive(true).mode(0o700).create(above)?;
            DirBuilder::new().mode(0o700).create(&folder)?;
            // Another process may have taken it for that of a dead one, and removed it.
            let lock = match File::open(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            let is_own = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_own && folder.is_dir() {
                return Ok(Staging {
                    folder,
                    number,
                    lock,
                    files: BTreeMap::new(),
                    count: 0,
                    held: None,
                    stays: false,
                    #[cfg(feature = "s3")]
                    received: BTreeSet::new(),
                    stop: None,
                    #[cfg(feature = "s3")]
                    began: seconds(),
                });
            }
        }
    }

    /// The path of a new file, for bytes written elsewhere.
    pub fn path(&mut self) -> PathBuf {
        self.count += 1;
        self.folder.join(format!("{}.part", self.count))
    }

    /// Copies all bytes of `from`.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub fn copy(&mut self, from: &mut dyn Read) -> io::Result<Staged> {
        let path = self.path();
        let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let (mut sum, mut size) = (Sha256::new(), 0);
        let mut block = vec![0; BLOCK];
        loop {
            let len = match from.read(&mut block) {
                Ok(0) => break,
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let _ = std::fs::remove_file(&path);
                    return Err(error);
                }
            };
            if let Err(error) = to.write_all(&block[..len]) {
                let _ = std::fs::remove_file(&path);
                return Err(error);
            }
            sum.update(&block[..len]);
            size += len as u64;
        }
        Ok(self.keep(Staged { path, digest: sum.finalize().into(), size }))
    }

    /// Takes a file at or below a [`Staging::path`] that others have written.
    ///
    /// # Errors
    /// It cannot be read, or a symbolic link is on the way to it.
    pub fn adopt(&mut self, path: PathBuf) -> io::Result<Staged> {
        self.check_own(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let (digest, size) = blobs::sum(&path)?;
        Ok(self.keep(Staged { path, digest, size }))
    }

    /// The file becomes a blob, so it may be no file of the user that a link leads to.
    fn check_own(&self, path: &Path) -> io::Result<()> {
        let (real, own) = (path.canonicalize()?, self.folder.canonicalize()?);
        // The same path below the folder, with all links followed and with none.
        let is_own = match (path.strip_prefix(&self.folder), real.strip_prefix(own)) {
            (Ok(named), Ok(found)) => named == found,
            _ => false,
        };
        if is_own && real.is_file() {
            return Ok(());
        }
        let why = format!("{} is no regular file of the store", path.display());
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    }

    fn keep(&mut self, staged: Staged) -> Staged {
        match self.files.get(&staged.digest) {
            // Identical content is kept once.
            Some(same) if same.path != staged.path => {
                let _ = std::fs::remove_file(&staged.path);
                same.clone()
            }
            _ => {
                self.files.insert(staged.digest, staged.clone());
                staged
            }
        }
    }

    /// Keeps an entry for [`crate::Insertion::held`].
    ///
    /// # Errors
    /// It cannot be written.
    pub fn hold(&mut self, entry: &Entry) -> io::Result<()> {
        let out = match &mut self.held {
            Some(out) => out,
            None => {
                let file = File::create_new(self.folder.join(HELD))?;
                self.held.insert(BufWriter::new(file))
            }
        };
        let record = codec::encode(entry);
        out.write_all(&(record.len() as u64).to_be_bytes())?;
        out.write_all(&record)
    }

    /// The held entries, in their order.
    pub(crate) fn held(&self) -> Result<Held, StoreError> {
        let path = self.folder.join(HELD);
        match File::open(&path) {
            Ok(file) => Ok(Held { path, file: Some(BufReader::new(file)) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Held { path, file: None }),
            Err(error) => Err(StoreError::file(&path)(error)),
        }
    }

    /// Decides whether the next process looks for blobs without a name.
    pub(crate) fn stay(&mut self, stays: bool) {
        self.stays = stays;
    }

    /// The folder.
    #[cfg(feature = "s3")]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number of uploads from this staging.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The files that a shared volume has not received yet.
    #[cfg(feature = "s3")]
    pub(crate) fn waiting(&self) -> Vec<Staged> {
        let waiting = self.files.iter().filter(|(digest, _)| !self.received.contains(*digest));
        waiting.map(|(_, staged)| staged.clone()).collect()
    }

    /// Ends uploads to a shared volume when `stop` returns true.
    pub fn interrupt(&mut self, stop: impl Fn() -> bool + Send + Sync + 'static) {
        self.stop = Some(Box::new(stop));
    }

    /// True when the insertion is not wanted any more.
    #[cfg(feature = "s3")]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop())
    }

    /// True if the files were received so long ago that another host may have taken them for the
    /// remains of a killed process.
    #[cfg(feature = "s3")]
    pub(crate) fn is_overdue(&self) -> bool {
        seconds() - self.began > LONGEST
    }

    /// A shared volume has received a file.
    #[cfg(feature = "s3")]
    pub(crate) fn receive(&mut self, digest: Digest) {
        self.received.insert(digest);
    }

    /// The digests of the present files.
    pub(crate) fn arrivals(&self) -> BTreeSet<Digest> {
        let here = self.files.iter().filter(|(_, staged)| staged.path.exists());
        here.map(|(digest, _)| *digest).collect()
    }

    pub(crate) fn get(&self, digest: &Digest) -> Option<&Staged> {
        self.files.get(digest)
    }

    /// Writes the held entries to their file.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        match &mut self.held {
            Some(held) => held.flush().map_err(StoreError::file(&self.folder)),
            None => Ok(()),
        }
    }

    /// Makes all files durable.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        if self.files.len() >= MANY {
            return rustix::fs::syncfs(&self.lock)
                .map_err(|error| StoreError::file(&self.folder)(error.into()));
        }
        self.files.values().try_for_each(|staged| {
            // A missing file has been moved to its place already.
            match File::open(&staged.path) {
                Ok(file) => file.sync_all().map_err(StoreError::file(&staged.path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(StoreError::file(&staged.path)(error)),
            }
        })
    }
}

/// The name of the file of held entries.
const HELD: &str = "held";

/// A reader of held entries.
pub(crate) struct Held {
    path: PathBuf,
    file: Option<BufReader<File>>,
}

impl Held {
    fn read(file: &mut impl BufRead) -> io::Result<Option<Entry>> {
        if file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut len = [0; 8];
        file.read_exact(&mut len)?;
        let mut record = Vec::new();
        file.take(u64::from_be_bytes(len)).read_to_end(&mut record)?;
        match codec::decode(&record) {
            Some(entry) => Ok(Some(entry)),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "it was changed meanwhile")),
        }
    }
}

impl Iterator for Held {
    type Item = Result<Entry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = Held::read(self.file.as_mut()?).transpose()?;
        Some(entry.map_err(StoreError::file(&self.path)))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        // If it stays, the next process removes it.
        let _ = remove_all(&self.folder);
    }
}

/// The lock of the folder of an ended process; `None` if the process is alive.
fn lock_stale(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok().map(|()| lock)
}

/// True if a process has ended without removing its folder.
pub fn has_stale(store: &Path) -> Result<bool, StoreError> {
    Ok(!stale(store)?.is_empty())
}

/// The folders of processes that have ended.
pub fn stale(store: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folders = blobs::list(&incoming(store))?.into_iter();
    Ok(folders.filter(|folder| lock_stale(folder).is_some()).collect())
}

/// The number in the name of a staging's folder.
pub fn number(folder: &Path) -> Option<u64> {
    u64::from_str_radix(folder.file_name()?.to_str()?, 16).ok()
}

/// Removes a folder with all of its content.
fn remove_all(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        // Folders of a tree may have the permissions of its publisher.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(CWD, folder)?;
            std::fs::remove_dir_all(folder)
        }
        done => done,
    }
}

/// Lets this user change a folder and those in it. Their paths may be longer than the system takes.
fn open_up(above: impl AsFd, name: impl Arg + Copy) -> io::Result<()> {
    chmodat(&above, name, Mode::RWXU, AtFlags::empty())?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(&above, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let status = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(status.st_mode) == FileType::Directory {
            open_up(&folder, name)?;
        }
    }
    Ok(())
}

/// Removes the folders of ended processes.
///
/// # Errors
/// A folder cannot be removed: the first such error, after all others are removed.
pub fn clean(store: &Path) -> Result<u64, StoreError> {
    let (mut removed, mut failed) = (0, Ok(()));
    for folder in blobs::list(&incoming(store))? {
        if let Some(_lock) = lock_stale(&folder) {
            let gone =
                if folder.is_dir() { remove_all(&folder) } else { std::fs::remove_file(&folder) };
            match gone {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failed = failed.and(Err(StoreError::file(&folder)(error))),
            }
        }
    }
    failed.map(|()| removed)
}
