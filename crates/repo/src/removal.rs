//! Removal of named things, and of bytes without a name.

use crate::Digest;
use crate::blobs;
use crate::codec;
use crate::entry::{Body, Place};
use crate::error::StoreError;
use crate::index::{BLOBS, BYTES, CHANGES, ENTRIES, HOLDS, MEMBERS, NAMES, RECORDS, TOPS, cost};
use crate::reserve;
use crate::staging;
use crate::store::{Store, add, count};
use redb::{ReadableTable, WriteTransaction};
use std::path::{Path, PathBuf};

/// Things that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Files.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
}

impl Store {
    /// Removes a named thing, and the bytes that no other one has. Returns `None` if there is no
    /// such thing. It works on a full disk as well, with the room that the store reserves.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn remove(&self, top: u64) -> Result<Option<Freed>, StoreError> {
        let removed = self.with_reserve(|| self.take_out(top)).and_then(|blobs| {
            let Some(blobs) = blobs else { return Ok(None) };
            let blobs = blobs.into_iter();
            let files: Vec<_> =
                blobs.map(|digest| (blobs::path(self.folder(), &digest), Some(digest))).collect();
            self.with_reserve(|| self.sweep(files.clone())).map(Some)
        });
        reserve::keep(self.folder());
        removed
    }

    /// Does something that needs room, and does it again with the reserve if the disk is full.
    fn with_reserve<T>(&self, action: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
        match action() {
            Err(error) if error.is_full() && reserve::release(self.folder()) => action(),
            done => done,
        }
    }

    /// Removes a named thing from the index. Returns the blobs that no entry has any more; `None`
    /// if there is no such thing.
    fn take_out(&self, top: u64) -> Result<Option<Vec<Digest>>, StoreError> {
        let mut blobs = Vec::new();
        let write = self.write()?;
        let is_there = self.guarded(|| {
            if write.open_table(TOPS)?.remove(top)?.is_none() {
                return Ok(false);
            }
            let members: Vec<u64> = {
                let mut table = write.open_table(MEMBERS)?;
                let rows = table.range((top, 0)..=(top, u64::MAX))?;
                let rows: Result<Vec<u64>, redb::Error> =
                    rows.map(|row| Ok(row?.0.value().1)).collect();
                let rows = rows?;
                for member in &rows {
                    table.remove((top, *member))?;
                }
                rows
            };
            for number in members.into_iter().chain([top]) {
                blobs.extend(release(&write, number)?);
            }
            add(&write, CHANGES, 1)?;
            write.commit()?;
            Ok(true)
        })?;
        Ok(is_there.then_some(blobs))
    }

    /// Removes bytes without a name: those of processes that were killed.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn gc(&self) -> Result<Freed, StoreError> {
        let freed = self.sweep(blobs::all(self.folder())?)?;
        // They show that blobs without a name may be there, so they are removed last.
        let stale = staging::clean(self.folder())?;
        Ok(Freed { files: freed.files + stale, ..freed })
    }

    /// Removes those of the files that no entry has. Insertions wait meanwhile.
    pub(crate) fn sweep(&self, files: Vec<(PathBuf, Option<Digest>)>) -> Result<Freed, StoreError> {
        let mut freed = Freed::default();
        let write = self.guarded(|| self.begin_write())?;
        for (path, digest) in files {
            let is_used = match &digest {
                Some(digest) => {
                    self.guarded(|| Ok(write.open_table(BLOBS)?.get(digest)?.is_some()))?
                }
                None => false,
            };
            if !is_used {
                remove(&path, &mut freed)?;
            }
        }
        self.guarded(|| write.abort())?;
        Ok(freed)
    }
}

fn remove(path: &Path, freed: &mut Freed) -> Result<(), StoreError> {
    let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
    match std::fs::remove_file(path) {
        Ok(()) => {
            freed.files += 1;
            freed.bytes += bytes;
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::file(path)(error)),
    }
}

/// Counts one use of an entry less. An entry without uses is removed; the digest of its blob is
/// returned, if no other entry has it.
fn release(write: &WriteTransaction, number: u64) -> Result<Option<Digest>, redb::Error> {
    if count(write, HOLDS, number, -1)? > 0 {
        return Ok(None);
    }
    let record = write.open_table(ENTRIES)?.remove(number)?.map(|r| r.value().to_vec());
    // The name and the blob of a damaged entry are found by `gc` and `verify`.
    let bytes = record.as_ref().map_or(0, Vec::len);
    let Some(entry) = record.and_then(|record| codec::decode(&record)) else { return Ok(None) };
    add(write, RECORDS, -(cost(entry.name.as_bytes(), bytes) as i64))?;
    write.open_table(NAMES)?.remove((entry.name.as_bytes(), entry.version))?;
    let Body::Object(object) = entry.body else { return Ok(None) };
    let Place::Blob(digest) = object.place else { return Ok(None) };
    let mut table = write.open_table(BLOBS)?;
    let Some((size, uses)) = table.get(&digest)?.map(|blob| blob.value()) else {
        return Ok(None);
    };
    if uses > 1 {
        table.insert(&digest, (size, uses - 1))?;
        return Ok(None);
    }
    table.remove(&digest)?;
    drop(table);
    add(write, BYTES, -(size as i64))?;
    Ok(Some(digest))
}
