//! A change of the index, as one transaction: inserted or removed entries.

use crate::codec;
use crate::digest::Digest;
use crate::entry::{Body, Entry, Place, Top};
use crate::error::StoreError;
use crate::index::{BLOBS, BYTES, ENTRIES, HOLDS, MEMBERS, NAMES, NEXT, RECORDS, TOPS, UPLOADS};
use crate::index::{cost, damaged};
use crate::store::{Store, Writing, add, count};
use crate::volume::Blob;
use packet::NameRef;
use redb::{ReadableTable, WriteTransaction};
use security::certificate::is_certificate_name;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The insertion of a named thing with its members.
pub struct Change<'a> {
    store: &'a Store,
    write: Writing<'a>,
    /// Blobs received for this change, with the numbers of their uploads.
    arrived: BTreeMap<Digest, u64>,
    /// The number of the named thing to insert.
    top: Option<u64>,
    /// The signatures of its packets were not verified.
    is_unverified: bool,
    sum: Sum,
}

/// The result of a change.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// The store had the named thing already, with this version.
    pub was_there: bool,
    /// The new bytes of content in this store.
    pub bytes: u64,
    /// The bytes of names, signatures and digests.
    pub records: u64,
    /// The blobs whose files go to their places; true for new blobs.
    pub moves: BTreeMap<Digest, bool>,
    /// Blobs that no entry names any more.
    pub dead: Vec<Blob>,
}

impl<'a> Change<'a> {
    /// Begins a change. Changes of other processes wait until it ends.
    pub fn new(store: &'a Store) -> Result<Self, StoreError> {
        let write = store.write()?;
        let sum = Sum { was_there: true, ..Sum::default() };
        let arrived = BTreeMap::new();
        Ok(Change { store, write, arrived, top: None, is_unverified: false, sum })
    }

    /// A blob was received, by this upload.
    pub fn arrived(&mut self, digest: Digest, upload: u64) {
        self.arrived.insert(digest, upload);
    }

    /// The signatures of later additions were not verified.
    pub fn unverified(&mut self) {
        self.is_unverified = true;
    }

    /// True if the named thing is inserted already.
    pub fn has_top(&self) -> bool {
        self.top.is_some()
    }

    /// Adds the named thing itself. Returns false if the store has it already.
    pub fn top(&mut self, entry: &Entry, top: &Top) -> Result<bool, StoreError> {
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
        self.sum.was_there = !is_new;
        Ok(is_new)
    }

    /// Adds a part of the named thing.
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
            self.replace_entry(number, &record, entry)?;
            return Ok(number);
        }
        if let Body::Object(object) = &entry.body
            && let Place::Blob(digest) = &object.place
        {
            self.blob(digest, object.size)?;
        }
        let record = codec::encode(entry);
        let needed = cost(entry.name.as_bytes(), record.len());
        self.sum.records += needed;
        self.store.guarded(|| {
            let number = add(&self.write, NEXT, 1)?;
            add(&self.write, RECORDS, needed as i64)?;
            self.write.open_table(NAMES)?.insert(key, number)?;
            self.write.open_table(ENTRIES)?.insert(number, &record[..])?;
            Ok(number)
        })
    }

    /// Puts an entry into the place of one with the same content, whose record is `known`.
    fn replace_entry(&mut self, number: u64, known: &[u8], new: &Entry) -> Result<(), StoreError> {
        let known = codec::decode(known);
        let is_same =
            known.ok_or_else(|| damaged(self.store.index(), &new.versioned()))?.has_content_of(new);
        // A forged certificate must not keep out the real one of the same name.
        let is_replaced = !self.is_unverified && is_certificate(new);
        if !is_same && !is_replaced {
            return Err(StoreError::Conflict { name: new.versioned() });
        }
        if let Some(object) = new.object()
            && let Place::Blob(digest) = &object.place
        {
            self.replace(digest, object.size, false)?;
        }
        if self.is_unverified {
            return Ok(());
        }
        // The latest signatures are kept: those of an unverified copy may be wrong.
        let record = codec::encode(new);
        self.store.guarded(|| {
            let mut entries = self.write.open_table(ENTRIES)?;
            let old = entries.insert(number, &record[..])?.map(|old| old.value().len());
            let more = record.len() as i64 - old.unwrap_or(0) as i64;
            drop(entries);
            add(&self.write, RECORDS, more)
        })?;
        Ok(())
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
        let blob = Blob { digest: *digest, size, upload: 0 };
        let is_there = self.store.volume().has(&blob);
        if known.is_none() {
            self.sum.bytes += size;
            self.store.guarded(|| add(&self.write, BYTES, size as i64))?;
        }
        match self.replace(digest, size, known.is_none())? || (known.is_some() && is_there) {
            true => Ok(()),
            false => {
                let path = PathBuf::from(self.store.volume().title_of(&blob));
                Err(StoreError::File { path, error: std::io::ErrorKind::NotFound.into() })
            }
        }
    }

    /// Puts the received bytes of a blob into their place, if there are any. A known blob is
    /// replaced too: its file may be damaged.
    fn replace(&mut self, digest: &Digest, size: u64, is_new: bool) -> Result<bool, StoreError> {
        let Some(upload) = self.arrived.get(digest).copied() else { return Ok(false) };
        self.sum.moves.entry(*digest).or_insert(is_new);
        if self.store.volume().log().is_some() {
            let old = self.store.guarded(|| {
                let mut uploads = self.write.open_table(UPLOADS)?;
                Ok(uploads.insert(digest, upload)?.map(|old| old.value()))
            })?;
            let old = old.filter(|old| *old != upload);
            self.sum.dead.extend(old.map(|upload| Blob { digest: *digest, size, upload }));
        }
        Ok(true)
    }

    /// Removes a named thing.
    pub fn remove(&mut self, name: NameRef<'_>, version: u64) -> Result<(), StoreError> {
        let Some(number) = number(self.store, &self.write, name, version)? else { return Ok(()) };
        self.sum.dead.extend(take_out(self.store, &self.write, number)?.unwrap_or_default());
        Ok(())
    }

    /// The transaction.
    pub fn write(&self) -> &Writing<'a> {
        &self.write
    }

    /// The transaction, and the sum.
    pub fn finish(self) -> (Writing<'a>, Sum) {
        (self.write, self.sum)
    }
}

fn is_certificate(entry: &Entry) -> bool {
    matches!(entry.body, Body::Packet(_)) && is_certificate_name(entry.name.as_ref())
}

/// The number of an entry.
pub fn number(
    store: &Store,
    write: &WriteTransaction,
    name: NameRef<'_>,
    version: u64,
) -> Result<Option<u64>, StoreError> {
    store.guarded(|| {
        let names = write.open_table(NAMES)?;
        Ok(names.get((name.as_bytes(), version))?.map(|number| number.value()))
    })
}

/// Removes a named thing from the index. Returns the blobs that no entry has any more; `None` if
/// the thing does not exist.
pub fn take_out(
    store: &Store,
    write: &WriteTransaction,
    top: u64,
) -> Result<Option<Vec<Blob>>, StoreError> {
    let is_shared = store.volume().log().is_some();
    store.guarded(|| {
        if write.open_table(TOPS)?.remove(top)?.is_none() {
            return Ok(None);
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
        let mut blobs = Vec::new();
        for number in members.into_iter().chain([top]) {
            let Some(mut blob) = release(write, number)? else { continue };
            if is_shared {
                let mut uploads = write.open_table(UPLOADS)?;
                blob.upload = uploads.remove(&blob.digest)?.map_or(0, |upload| upload.value());
            }
            blobs.push(blob);
        }
        Ok(Some(blobs))
    })
}

/// Counts one use of an entry less. An entry without uses is removed; its blob is returned, if no
/// other entry has it.
fn release(write: &WriteTransaction, number: u64) -> Result<Option<Blob>, redb::Error> {
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
    Ok(Some(Blob { digest, size, upload: 0 }))
}
