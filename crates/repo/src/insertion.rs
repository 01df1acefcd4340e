//! The insertion of objects and packets, as one transaction.

use crate::blobs;
use crate::codec;
use crate::entry::{Body, Entry, Place, Top};
use crate::error::StoreError;
use crate::index::{BLOBS, BYTES, CHANGES, ENTRIES, HOLDS, MEMBERS, NAMES, NEXT, RECORDS, TOPS};
use crate::staging::Staging;
use crate::store::{Store, Writing, add, count};
use crate::{Digest, index};
use redb::ReadableTable;
use security::certificate::is_certificate_name;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An insertion. Nothing of it can be seen before [`Insertion::commit`].
pub struct Insertion<'a> {
    store: &'a Store,
    staging: &'a mut Staging,
    write: Writing<'a>,
    /// The number of the named thing that is being inserted.
    top: Option<u64>,
    /// The store had the named thing already, with this version.
    was_there: bool,
    /// The bytes of content that are new in this store.
    new_bytes: u64,
    /// Those of names, signatures and digests.
    new_records: u64,
    /// The blobs whose files go to their places; true for those that the store did not have.
    moves: BTreeMap<Digest, bool>,
    quota: Option<u64>,
    /// The signatures of its packets were not verified.
    is_unverified: bool,
}

/// The result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// True if the store had the named thing already, with this version.
    pub was_there: bool,
    /// Bytes that the store did not have.
    pub new_bytes: u64,
}

impl<'a> Insertion<'a> {
    /// Begins an insertion. Those of other processes wait until it ends.
    ///
    /// # Errors
    /// The bytes cannot be made durable, or the index cannot be written.
    pub fn new(store: &'a Store, staging: &'a mut Staging) -> Result<Self, StoreError> {
        // Before the transaction, for which other processes wait.
        staging.sync()?;
        let write = store.write()?;
        Ok(Insertion {
            store,
            staging,
            write,
            top: None,
            was_there: true,
            new_bytes: 0,
            new_records: 0,
            moves: BTreeMap::new(),
            quota: None,
            is_unverified: false,
        })
    }

    /// Sets the maximum number of bytes in all blobs and entries of the store.
    pub fn limit(&mut self, quota: Option<u64>) {
        self.quota = quota;
    }

    /// The signatures of what is added from now on were not verified: those that the store has
    /// stay.
    pub fn unverified(&mut self) {
        self.is_unverified = true;
    }

    /// Adds the named thing itself, the only one of this insertion. Returns false if the store has
    /// it already; then only verified signatures and certificates are left to be added.
    ///
    /// # Errors
    /// The store has other content under the name, or cannot be written, or the insertion has a
    /// named thing already.
    pub fn top(&mut self, entry: &Entry, top: &Top) -> Result<bool, StoreError> {
        if self.top.is_some() {
            return Err(StoreError::Second { name: entry.versioned() });
        }
        let number = self.entry(entry)?;
        let record = codec::encode_top(top);
        let is_new = self.store.guarded(|| {
            let is_new = {
                let mut tops = self.write.open_table(TOPS)?;
                let old = tops.get(number)?.map(|old| codec::decode_top(old.value()));
                match &old {
                    None => drop(tops.insert(number, &record[..])?),
                    // New certificates have prefixes of their own. The old ones are still there.
                    Some(Some(old)) if !self.is_unverified => {
                        let mut both = old.clone();
                        let given = top.prefixes.iter();
                        let new = given.filter(|prefix| !old.prefixes.contains(prefix));
                        both.prefixes.extend(new.cloned());
                        tops.insert(number, &codec::encode_top(&both)[..])?;
                    }
                    Some(_) => {}
                }
                old.is_none()
            };
            if is_new {
                count(&self.write, HOLDS, number, 1)?;
            }
            Ok(is_new)
        })?;
        self.top = Some(number);
        self.was_there = !is_new;
        Ok(is_new)
    }

    /// Adds a part of the named thing.
    ///
    /// # Errors
    /// The store has other content under the name, or cannot be written.
    pub fn member(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let number = self.entry(entry)?;
        let Some(top) = self.top else { return Ok(()) };
        self.store.guarded(|| {
            let is_new = self.write.open_table(MEMBERS)?.insert((top, number), ())?.is_none();
            if is_new {
                count(&self.write, HOLDS, number, 1)?;
            }
            Ok(())
        })
    }

    /// Adds all entries that the staging holds as parts.
    ///
    /// # Errors
    /// As for [`Insertion::member`], or they cannot be read.
    pub fn held(&mut self) -> Result<(), StoreError> {
        for entry in self.staging.held()? {
            self.member(&entry?)?;
        }
        Ok(())
    }

    /// The number of an entry, which is added if it is not there.
    fn entry(&mut self, entry: &Entry) -> Result<u64, StoreError> {
        let key = (entry.name.as_bytes(), entry.version);
        let found = self.store.guarded(|| {
            let mut names = self.write.open_table(NAMES)?;
            let Some(number) = names.get(key)?.map(|number| number.value()) else {
                return Ok(None);
            };
            let entries = self.write.open_table(ENTRIES)?;
            let Some(record) = entries.get(number)?.map(|record| record.value().to_vec()) else {
                // Its record was damaged, and removed with its object: only the name was left.
                names.remove(key)?;
                return Ok(None);
            };
            Ok(Some((number, record)))
        })?;
        if let Some((number, record)) = found {
            let known = codec::decode(&record);
            let damaged = || index::damaged(self.store.index(), &entry.versioned());
            let is_same = known.ok_or_else(damaged)?.has_content_of(entry);
            // A forged certificate must not keep out the real one of the same name.
            let is_replaced = !self.is_unverified && is_certificate(entry);
            if !is_same && !is_replaced {
                return Err(StoreError::Conflict { name: entry.versioned() });
            }
            if let Some(Place::Blob(digest)) = entry.object().map(|object| &object.place) {
                self.replace(digest, false);
            }
            if self.is_unverified {
                return Ok(number);
            }
            // The latest signatures are kept: those of a copy that was not verified may be wrong.
            let record = codec::encode(entry);
            self.store.guarded(|| {
                let mut entries = self.write.open_table(ENTRIES)?;
                let old = entries.insert(number, &record[..])?.map(|old| old.value().len());
                let more = record.len() as i64 - old.unwrap_or(0) as i64;
                drop(entries);
                add(&self.write, RECORDS, more)
            })?;
            return Ok(number);
        }
        if let Body::Object(object) = &entry.body
            && let Place::Blob(digest) = &object.place
        {
            self.blob(digest, object.size)?;
        }
        let record = codec::encode(entry);
        let cost = index::cost(entry.name.as_bytes(), record.len());
        self.new_records += cost;
        self.store.guarded(|| {
            let number = add(&self.write, NEXT, 1)?;
            add(&self.write, RECORDS, cost as i64)?;
            self.write.open_table(NAMES)?.insert(key, number)?;
            self.write.open_table(ENTRIES)?.insert(number, &record[..])?;
            Ok(number)
        })
    }

    /// Counts one more use of a blob.
    fn blob(&mut self, digest: &Digest, size: u64) -> Result<(), StoreError> {
        let known = self.store.guarded(|| {
            let mut blobs = self.write.open_table(BLOBS)?;
            let known = blobs.get(digest)?.map(|blob| blob.value());
            let uses = known.map_or(1, |(_, uses)| uses + 1);
            blobs.insert(digest, (size, uses))?;
            Ok(known)
        })?;
        let path = blobs::path(self.store.folder(), digest);
        let is_there = std::fs::metadata(&path).is_ok_and(|meta| meta.len() == size);
        if known.is_none() {
            self.new_bytes += size;
            self.store.guarded(|| add(&self.write, BYTES, size as i64))?;
        }
        match self.replace(digest, known.is_none()) || (known.is_some() && is_there) {
            true => Ok(()),
            false => Err(StoreError::File { path, error: std::io::ErrorKind::NotFound.into() }),
        }
    }

    /// Puts the staged file of a blob into its place, if there is one. A known blob is replaced
    /// too: its file may be damaged.
    fn replace(&mut self, digest: &Digest, is_new: bool) -> bool {
        let is_staged = self.staging.get(digest).is_some_and(|staged| staged.path.exists());
        if is_staged {
            self.moves.entry(*digest).or_insert(is_new);
        }
        is_staged
    }

    /// Makes the insertion durable, and lets others see it.
    ///
    /// # Errors
    /// The quota does not permit it, or the store cannot be written. Then nothing is inserted.
    pub fn commit(self) -> Result<Inserted, StoreError> {
        let Insertion {
            store,
            staging,
            write,
            new_bytes,
            new_records,
            moves,
            quota,
            was_there,
            ..
        } = self;
        let all = store
            .guarded(|| Ok(add(&write, BYTES, 0)?.saturating_add(add(&write, RECORDS, 0)?)))?;
        let needed = new_bytes + new_records;
        if let Some(quota) = quota.filter(|quota| all > *quota && needed > 0) {
            return Err(StoreError::Quota { quota, used: all.saturating_sub(needed), needed });
        }
        let placed = place(store, staging, &moves);
        if placed.is_err() {
            // Other processes wait until the end of the transaction, so none has the new ones.
            let new = moves.iter().filter(|(_, is_new)| **is_new);
            let paths = new.map(|(digest, _)| blobs::path(store.folder(), digest));
            paths.for_each(|path| drop(std::fs::remove_file(path)));
        }
        placed?;
        // Until the commit has succeeded, the blobs have no name.
        staging.stay(true);
        let committed = store.guarded(|| {
            add(&write, CHANGES, 1)?;
            write.commit()
        });
        // The index, which is opened again after an error, tells whether they have one.
        let is_clean = committed.is_ok() || {
            let files = moves.keys().map(|digest| (store.blob(digest), Some(*digest)));
            store.sweep(files.collect()).is_ok()
        };
        staging.stay(!is_clean);
        committed?;
        Ok(Inserted { was_there, new_bytes })
    }
}

fn is_certificate(entry: &Entry) -> bool {
    matches!(entry.body, Body::Packet(_)) && is_certificate_name(entry.name.as_ref())
}

/// Moves blobs to their places, durably.
fn place(
    store: &Store,
    staging: &Staging,
    moves: &BTreeMap<Digest, bool>,
) -> Result<(), StoreError> {
    let mut folders = BTreeSet::new();
    for digest in moves.keys() {
        let Some(staged) = staging.get(digest) else { continue };
        let path = blobs::place(store.folder(), digest, &staged.path)?;
        folders.extend(path.parent().map(Path::to_owned));
    }
    if !moves.is_empty() {
        // A process that was killed may have made a folder that is not durable yet.
        folders.extend([blobs::folder(store.folder()), store.folder().to_owned()]);
    }
    folders.iter().try_for_each(|folder| blobs::sync_folder(folder))
}
