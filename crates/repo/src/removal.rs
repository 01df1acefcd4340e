//! Removal of named things, and of bytes without a name.

use crate::change::take_out;
use crate::codec;
use crate::error::StoreError;
use crate::follow::{Draft, TRIES, catch_up, fence, publish};
use crate::index::{BLOBS, ENTRIES, UPLOADS, damaged};
use crate::record::Step;
use crate::reserve;
use crate::staging;
use crate::store::Store;
use crate::volume::{Blob, Found};
use redb::{ReadableTable, WriteTransaction};

/// Removed things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Files.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
}

impl Store {
    /// Removes a named thing, and the bytes that no other one has. Returns `None` if the thing does
    /// not exist. It works on a full disk as well, with the room that the store reserves.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn remove(&self, top: u64) -> Result<Option<Freed>, StoreError> {
        let removed = self.take_out(top).and_then(|blobs| {
            let Some(blobs) = blobs else { return Ok(None) };
            let files: Vec<Found> = blobs.iter().map(|blob| self.volume().find(blob)).collect();
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
    /// if the thing does not exist.
    fn take_out(&self, top: u64) -> Result<Option<Vec<Blob>>, StoreError> {
        let mut tries = 0;
        loop {
            catch_up(self)?;
            match self.with_reserve(|| take_out_once(self, top)) {
                Err(StoreError::Outpaced(_)) if tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// Removes bytes without a name, which killed processes have left.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn gc(&self) -> Result<Freed, StoreError> {
        let found = match self.volume().log() {
            None => self.volume().all()?,
            Some(_) => self.abandoned()?,
        };
        let freed = self.sweep(found)?;
        for folder in staging::stale(self.folder())? {
            self.volume().abandon(&folder);
        }
        // They show that blobs without a name may be there, so they are removed last.
        let stale = staging::clean(self.folder())?;
        Ok(Freed { files: freed.files + stale, ..freed })
    }

    /// The bytes on a shared volume that no insertion will name: those of ended processes of this
    /// host, and old ones.
    fn abandoned(&self) -> Result<Vec<Found>, StoreError> {
        let ended = staging::stale(self.folder())?;
        let ended: Vec<u64> = ended.iter().filter_map(|folder| staging::number(folder)).collect();
        let mut found = self.volume().all()?;
        found.retain(|found| found.is_old || ended.contains(&found.upload));
        catch_up(self)?;
        let write = self.guarded(|| self.begin_write())?;
        let mut unused = Vec::new();
        for found in found {
            if !is_used(self, &write, &found)? {
                unused.push(found);
            }
        }
        self.guarded(|| write.abort())?;
        if !unused.is_empty() {
            fence(self)?;
        }
        Ok(unused)
    }

    /// Removes files without an entry. Insertions wait meanwhile.
    pub(crate) fn sweep(&self, files: Vec<Found>) -> Result<Freed, StoreError> {
        let mut freed = Freed::default();
        let write = self.guarded(|| self.begin_write())?;
        for found in files {
            if is_used(self, &write, &found)? {
                continue;
            }
            if let Some(bytes) = self.volume().remove(&found)? {
                freed.files += 1;
                freed.bytes += bytes;
            }
        }
        self.guarded(|| write.abort())?;
        Ok(freed)
    }
}

/// True if an entry has the bytes.
fn is_used(store: &Store, write: &WriteTransaction, found: &Found) -> Result<bool, StoreError> {
    let Some(digest) = &found.digest else { return Ok(false) };
    store.guarded(|| {
        let is_named = write.open_table(BLOBS)?.get(digest)?.is_some();
        if !is_named || store.volume().log().is_none() {
            return Ok(is_named);
        }
        let upload = write.open_table(UPLOADS)?.get(digest)?.map(|upload| upload.value());
        Ok(upload == Some(found.upload))
    })
}

fn take_out_once(store: &Store, top: u64) -> Result<Option<Vec<Blob>>, StoreError> {
    let mut staging = store.stage()?;
    let mut draft = Draft::new(store, &mut staging)?;
    let write = store.write()?;
    if let Some(draft) = &mut draft {
        let record = store.guarded(|| {
            let entries = write.open_table(ENTRIES)?;
            Ok(entries.get(top)?.map(|record| record.value().to_vec()))
        })?;
        let Some(record) = record else { return Ok(None) };
        let entry = codec::decode(&record)
            .ok_or_else(|| damaged(store.index(), &format!("entry {top}")))?;
        draft.write(&Step::Removed { name: entry.name, version: entry.version })?;
    }
    let Some(blobs) = take_out(store, &write, top)? else { return Ok(None) };
    publish(store, write, draft)?;
    Ok(Some(blobs))
}
