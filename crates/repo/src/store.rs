//! A store: its folder, its index, and the locks of its processes.

use crate::blobs;
use crate::error::StoreError;
use crate::folder::Folder;
use crate::index::{BLOBS, BYTES, CHANGES, ENTRIES, FORMAT, HOLDS, MEMBERS, NAMES};
use crate::index::{NUMBERS, RECORDS, TOPS, damaged, guarded, records};
use crate::reserve;
use crate::staging::{self, Staging};
use crate::volume::Volume;
use redb::{Builder, ConcurrencyMode, Database, ReadableDatabase, ReadableTable};
use redb::{ReadableTableMetadata, TableDefinition, WriteTransaction};
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The format of the stores that this program writes.
const KNOWN: u64 = 1;
/// Bytes of memory for pages of the index.
const CACHE: usize = 64 << 20;
/// The largest size of an index, in bytes, of which every page is checked at opening: about 0.3 s.
const CHECKED: u64 = 256 << 20;

/// A store: its index and its volume. Several processes may have it open.
pub struct Store {
    /// The folder of the index.
    folder: PathBuf,
    volume: Arc<dyn Volume>,
    index: PathBuf,
    opened: Mutex<Opened>,
    /// Held while the index is opened again, which may wait for transactions of other processes.
    opening: Mutex<()>,
    /// The number of transactions of this process that change the index.
    writing: AtomicUsize,
}

/// The open index.
struct Opened {
    db: Arc<Database>,
    /// The number of times that this process has opened it again.
    again: u64,
    /// It has had an error of the disk. Until it is opened again, the database rejects all work.
    has_failed: bool,
}

/// A transaction that changes the index.
pub struct Writing<'a> {
    // In this order: the count ends after the transaction.
    transaction: WriteTransaction,
    _counted: Counted<'a>,
}

/// One transaction more, until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Deref for Writing<'_> {
    type Target = WriteTransaction;

    fn deref(&self) -> &WriteTransaction {
        &self.transaction
    }
}

impl Writing<'_> {
    /// Makes the changes durable.
    pub fn commit(self) -> Result<(), redb::Error> {
        Ok(self.transaction.commit()?)
    }

    /// Drops the changes.
    pub fn abort(self) -> Result<(), redb::Error> {
        Ok(self.transaction.abort()?)
    }
}

/// The numbers of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Named things that users have put there.
    pub tops: u64,
    /// Objects and packets.
    pub entries: u64,
    /// Files of bytes.
    pub blobs: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Bytes of the entries with their names, as quotas count them.
    pub records: u64,
}

/// The lock of the process that serves a store.
#[derive(Debug)]
pub struct Serving(#[expect(dead_code, reason = "the lock ends with the file")] File);

impl Store {
    /// Opens the store in `folder`. A missing store is made.
    ///
    /// # Errors
    /// The folder or the index cannot be made or opened, is damaged, or is of a newer program.
    pub fn create(folder: &Path) -> Result<Store, StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(StoreError::file(folder))?;
        Store::begin(folder, &Folder::shared(folder), true)
    }

    /// Opens the store in `folder`.
    ///
    /// # Errors
    /// As for [`Store::create`], or the store does not exist.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        match folder.join("index").try_exists() {
            Ok(true) => Store::begin(folder, &Folder::shared(folder), false),
            Ok(false) => Err(StoreError::None(folder.to_owned())),
            Err(error) => Err(StoreError::file(&folder.join("index"))(error)),
        }
    }

    /// Opens the index in `folder` of a store whose bytes are on `volume`. With `is_new`, a missing
    /// index is made.
    pub(crate) fn begin(
        folder: &Path,
        volume: &Arc<dyn Volume>,
        is_new: bool,
    ) -> Result<Store, StoreError> {
        let failed = StoreError::file(folder);
        let _lock = File::open(folder)
            .and_then(|lock| Ok(flock(&lock, FlockOperation::LockExclusive).map(|()| lock)?))
            .map_err(failed)?;
        let path = folder.join("index");
        if is_new && !path.exists() {
            make(folder, &path, volume)?;
        }
        // The database would make a new one of an empty file.
        if std::fs::metadata(&path).is_ok_and(|meta| meta.len() == 0) {
            return Err(damaged(&path, &"it is empty"));
        }
        let store = match Store::at(folder, &path, volume) {
            Err(error) if error.is_full() && reserve::release(folder) => {
                Store::at(folder, &path, volume)?
            }
            opened => opened?,
        };
        store.check_format()?;
        // A killed process may have left blobs as well. Those of a shared store are looked for when
        // the index has caught up with it.
        if store.volume.log().is_none() && staging::has_stale(&store.folder)? {
            match store.gc() {
                // Files that may not be removed stop no command but `gc`.
                Err(StoreError::File { error, .. })
                    if error.kind() == ErrorKind::PermissionDenied => {}
                cleaned => _ = cleaned?,
            }
        }
        reserve::keep(folder);
        Ok(store)
    }

    /// Opens the index at this path.
    fn at(folder: &Path, path: &Path, volume: &Arc<dyn Volume>) -> Result<Store, StoreError> {
        let len = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let db = guarded(path, || database(path, len > 0 && len <= CHECKED, len == 0))?;
        let opened = Mutex::new(Opened { db: Arc::new(db), again: 0, has_failed: false });
        Ok(Store {
            folder: folder.to_owned(),
            volume: volume.clone(),
            index: path.to_owned(),
            opened,
            opening: Mutex::new(()),
            writing: AtomicUsize::new(0),
        })
    }

    /// Checks that this program supports the format of the index.
    fn check_format(&self) -> Result<(), StoreError> {
        let found = self.guarded(|| {
            let read = self.db()?.begin_read()?;
            match read.open_table(NUMBERS) {
                Ok(numbers) => Ok(numbers.get(FORMAT)?.map(|format| format.value())),
                Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })?;
        match found {
            Some(KNOWN) => Ok(()),
            Some(found) => {
                let path = self.folder.clone();
                Err(StoreError::Newer { path, found, known: KNOWN })
            }
            // An index gets its name when it has all tables.
            None => Err(damaged(&self.index, &"it has no format")),
        }
    }

    /// Makes the tables of a new store.
    fn make_tables(&self) -> Result<(), StoreError> {
        self.guarded(|| {
            let write = self.db()?.begin_write()?;
            write.open_table(NUMBERS)?.insert(FORMAT, KNOWN)?;
            write.open_table(NUMBERS)?.insert(RECORDS, 0)?;
            write.open_table(NAMES)?;
            write.open_table(ENTRIES)?;
            write.open_table(TOPS)?;
            write.open_table(MEMBERS)?;
            write.open_table(HOLDS)?;
            write.open_table(BLOBS)?;
            Ok(write.commit()?)
        })
    }

    /// The folder of the index, and of bytes on their way into the store.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The place of the bytes.
    #[must_use]
    pub fn volume(&self) -> &dyn Volume {
        &*self.volume
    }

    /// The name of the store, for messages: its folder or its bucket.
    #[must_use]
    pub fn title(&self) -> String {
        self.volume.title()
    }

    /// The file of the index.
    pub(crate) fn index(&self) -> &Path {
        &self.index
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The database. It is opened again after an error of the disk.
    pub(crate) fn db(&self) -> Result<Arc<Database>, redb::Error> {
        Ok(self.db_and_count()?.0)
    }

    /// The database, and the number of times that it was opened again.
    pub(crate) fn db_and_count(&self) -> Result<(Arc<Database>, u64), redb::Error> {
        if let Some(opened) = self.usable() {
            return Ok(opened);
        }
        // Opening waits until no transaction changes the index, and one of the old database may be
        // that of the caller. It cannot succeed any more, so it ends soon.
        if self.writing.load(Ordering::Acquire) > 0 {
            return Err(redb::Error::PreviousIo);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have opened it meanwhile.
        if let Some(opened) = self.usable() {
            return Ok(opened);
        }
        // Such transactions may begin meanwhile, and must be able to end: `opened` is free.
        let db = Arc::new(database(&self.index, false, false)?);
        let mut opened = self.opened();
        opened.db = db;
        opened.again += 1;
        opened.has_failed = false;
        Ok((opened.db.clone(), opened.again))
    }

    /// The database with that number, unless it has to be opened again.
    fn usable(&self) -> Option<(Arc<Database>, u64)> {
        let opened = self.opened();
        (!opened.has_failed).then(|| (opened.db.clone(), opened.again))
    }

    /// The number of times that this process has opened the index again.
    pub(crate) fn opened_again(&self) -> u64 {
        self.opened().again
    }

    /// Begins a change of the index.
    pub(crate) fn write(&self) -> Result<Writing<'_>, StoreError> {
        self.guarded(|| {
            let write = self.begin_write()?;
            let is_counted = write.open_table(NUMBERS)?.get(RECORDS)?.is_some();
            if !is_counted {
                let sum = records(&write.open_table(NAMES)?, &write.open_table(ENTRIES)?)?;
                write.open_table(NUMBERS)?.insert(RECORDS, sum)?;
            }
            Ok(write)
        })
    }

    /// Begins a change of an index of any format.
    pub(crate) fn begin_write(&self) -> Result<Writing<'_>, redb::Error> {
        let transaction = self.db()?.begin_write()?;
        self.writing.fetch_add(1, Ordering::AcqRel);
        Ok(Writing { transaction, _counted: Counted(&self.writing) })
    }

    pub(crate) fn guarded<T>(
        &self,
        action: impl FnOnce() -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        guarded(&self.index, || {
            action().inspect_err(|error| {
                if matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo) {
                    self.opened().has_failed = true;
                }
            })
        })
    }

    /// The lock of the process that serves this store.
    ///
    /// # Errors
    /// Another process has it.
    pub fn serve(&self) -> Result<Serving, StoreError> {
        let path = self.folder.join("serving");
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(StoreError::file(&path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Serving(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreError::Served(self.title())),
            Err(error) => Err(StoreError::file(&path)(error.into())),
        }
    }

    /// A place for bytes to be stored.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn stage(&self) -> Result<Staging, StoreError> {
        Staging::new(&self.folder)
    }

    /// A number of the store itself.
    pub(crate) fn number(&self, number: &str) -> Result<Option<u64>, StoreError> {
        self.guarded(|| {
            let numbers = self.db()?.begin_read()?.open_table(NUMBERS)?;
            Ok(numbers.get(number)?.map(|number| number.value()))
        })
    }

    /// Sets a number of the store itself.
    #[cfg(feature = "s3")]
    pub(crate) fn set_number(&self, number: &str, value: u64) -> Result<(), StoreError> {
        self.guarded(|| {
            let write = self.begin_write()?;
            write.open_table(NUMBERS)?.insert(number, value)?;
            write.commit()
        })
    }

    /// The number of changes so far: a [`View`](crate::View) with another number is out of date.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn changes(&self) -> Result<u64, StoreError> {
        Ok(self.number(CHANGES)?.unwrap_or(0))
    }

    /// The numbers of the store.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn usage(&self) -> Result<Usage, StoreError> {
        self.guarded(|| {
            let read = self.db()?.begin_read()?;
            let numbers = read.open_table(NUMBERS)?;
            let bytes = numbers.get(BYTES)?.map_or(0, |bytes| bytes.value());
            let counted = numbers.get(RECORDS)?.map(|bytes| bytes.value());
            let (names, entries) = (read.open_table(NAMES)?, read.open_table(ENTRIES)?);
            let records = counted.map_or_else(|| records(&names, &entries), Ok)?;
            Ok(Usage {
                tops: read.open_table(TOPS)?.len()?,
                entries: entries.len()?,
                blobs: read.open_table(BLOBS)?.len()?,
                bytes,
                records,
            })
        })
    }
}

/// Opens a database, or makes a new one.
fn database(path: &Path, is_checked: bool, is_new: bool) -> Result<Database, redb::Error> {
    let mut builder = Builder::new();
    builder
        .set_cache_size(CACHE)
        .set_concurrency_mode(ConcurrencyMode::MultiWriter)
        .set_check_integrity_on_open(is_checked);
    Ok(if is_new { builder.create(path)? } else { builder.open(path)? })
}

/// Makes an index. It gets its name when it is whole: a killed process leaves no half one.
fn make(folder: &Path, path: &Path, volume: &Arc<dyn Volume>) -> Result<(), StoreError> {
    let new = path.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(StoreError::file(&new)(error));
        }
        _ => {}
    }
    // Names are secret too, and other users may be able to read the folder.
    let made = File::options().write(true).create_new(true).mode(0o600).open(&new);
    made.map_err(StoreError::file(&new))?;
    Store::at(folder, &new, volume)?.make_tables()?;
    std::fs::rename(&new, path).map_err(StoreError::file(path))?;
    // A new file is durable with the folders above it.
    blobs::sync_folder(folder)?;
    let absolute = folder.canonicalize().map_err(StoreError::file(folder))?;
    absolute.ancestors().skip(1).try_for_each(sync_above)
}

/// Makes the names in a folder above the store durable. A folder that this user cannot read, or
/// that has no disk, was not made with the store.
fn sync_above(folder: &Path) -> Result<(), StoreError> {
    match blobs::sync_folder(folder) {
        Err(StoreError::File { error, .. })
            if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Adds to a number of [`NUMBERS`], and returns the number before.
pub(crate) fn add(write: &WriteTransaction, number: &str, change: i64) -> Result<u64, redb::Error> {
    let mut numbers = write.open_table(NUMBERS)?;
    let before = numbers.get(number)?.map_or(0, |number| number.value());
    numbers.insert(number, before.saturating_add_signed(change))?;
    Ok(before)
}

/// Adds to a count in a table, and returns the new count; a count of 0 is removed.
pub(crate) fn count(
    write: &WriteTransaction,
    table: TableDefinition<'static, u64, u64>,
    key: u64,
    change: i64,
) -> Result<u64, redb::Error> {
    let mut table = write.open_table(table)?;
    let before = table.get(key)?.map_or(0, |count| count.value());
    let now = before.saturating_add_signed(change);
    match now {
        0 => drop(table.remove(key)?),
        _ => drop(table.insert(key, now)?),
    }
    Ok(now)
}

#[cfg(test)]
mod tests;
