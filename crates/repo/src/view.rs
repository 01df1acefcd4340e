//! The store at one time, for the process that serves it.

use crate::codec;
use crate::digest::Digest;
use crate::entry::{Body, Entry, Top};
use crate::error::StoreError;
use crate::index::{CHANGES, ENTRIES, MEMBERS, NAMES, NUMBERS, TOPS, UPLOADS};
use crate::index::{damaged, guarded};
use crate::store::Store;
use crate::volume::Blob;
use packet::tlv::types as tlv_types;
use packet::{Bytes, Data, Interest, NameRef};
use redb::{ReadOnlyTable, ReadableDatabase, ReadableTable, TableError};
use std::path::PathBuf;

/// The maximum number of packets tried for an Interest.
const TRIES: usize = 8;

type Names = ReadOnlyTable<(&'static [u8], u64), u64>;

/// A named thing with its number; `None` if its record is damaged.
pub type Numbered = (u64, Option<Top>);

/// The store as it was at one time.
pub struct View {
    pub(crate) index: PathBuf,
    changes: u64,
    /// The number of times that the index had been opened again.
    opened: u64,
    pub(crate) names: Names,
    entries: ReadOnlyTable<u64, &'static [u8]>,
    pub(crate) tops: ReadOnlyTable<u64, &'static [u8]>,
    members: ReadOnlyTable<(u64, u64), ()>,
    /// Only a shared store has it.
    uploads: Option<ReadOnlyTable<&'static [u8; 32], u64>>,
}

impl View {
    /// The store as it is now.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn new(store: &Store) -> Result<View, StoreError> {
        let index = store.index().to_owned();
        store.guarded(|| {
            let (db, opened) = store.db_and_count()?;
            let read = db.begin_read()?;
            let numbers = read.open_table(NUMBERS)?;
            let changes = numbers.get(CHANGES)?.map_or(0, |changes| changes.value());
            Ok(View {
                index,
                changes,
                opened,
                names: read.open_table(NAMES)?,
                entries: read.open_table(ENTRIES)?,
                tops: read.open_table(TOPS)?,
                members: read.open_table(MEMBERS)?,
                uploads: match read.open_table(UPLOADS) {
                    Err(TableError::TableDoesNotExist(_)) => None,
                    uploads => Some(uploads?),
                },
            })
        })
    }

    /// The number of changes of the store before.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// True if the store is as this view shows it, and the view can be read: not if the index was
    /// opened again.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn is_current(&self, store: &Store) -> Result<bool, StoreError> {
        Ok(store.changes()? == self.changes && store.opened_again() == self.opened)
    }

    /// The object to which a packet of this name belongs: that with the longest name, and of its
    /// versions the one in the name or the newest. Returns its number, and the number of components
    /// of its name without the version.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn find(&self, name: NameRef<'_>) -> Result<Option<(u64, usize)>, StoreError> {
        guarded(&self.index, || {
            for len in (1..=name.len()).rev() {
                let prefix = name.prefix(len).as_bytes();
                let mut versions = self.names.range((prefix, 0)..=(prefix, u64::MAX))?;
                let Some(newest) = versions.next_back() else { continue };
                let newest = newest?.1.value();
                let found = match version_in(name, len) {
                    Some(version) => self.names.get((prefix, version))?.map(|n| n.value()),
                    None => Some(newest),
                };
                if found.is_some() {
                    return Ok(found.map(|number| (number, len)));
                }
            }
            Ok(None)
        })
    }

    /// The packet that satisfies an Interest: of several the last one, which is the newest version.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn packet(&self, interest: &Interest<'_>) -> Result<Option<Bytes>, StoreError> {
        let name = match interest.name().last() {
            Some(last) if last.typ() == tlv_types::IMPLICIT_DIGEST => interest.name().parent(),
            _ => interest.name(),
        };
        let numbers = guarded(&self.index, || {
            let exact = self.names.get((name.as_bytes(), 0))?.map(|number| number.value());
            let is_prefix = interest.can_be_prefix() && exact.is_none();
            let Some(end) = successor(name.as_bytes()).filter(|_| is_prefix) else {
                return Ok(exact.into_iter().collect::<Vec<_>>());
            };
            let below = self.names.range((name.as_bytes(), 0)..(&end[..], 0))?.rev();
            below.take(TRIES).map(|found| Ok(found?.1.value())).collect()
        })?;
        for number in numbers {
            let Some(Entry { body: Body::Packet(packet), .. }) = self.entry(number)? else {
                continue;
            };
            if Data::decode(&packet).is_ok_and(|data| data.satisfies(interest)) {
                return Ok(Some(packet));
            }
        }
        Ok(None)
    }

    /// The number of the object or packet of exactly this name and version.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn number(&self, name: NameRef<'_>, version: u64) -> Result<Option<u64>, StoreError> {
        let key = (name.as_bytes(), version);
        guarded(&self.index, || Ok(self.names.get(key)?.map(|number| number.value())))
    }

    /// The entry with this number.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn entry(&self, number: u64) -> Result<Option<Entry>, StoreError> {
        let found = guarded(&self.index, || {
            Ok(self.entries.get(number)?.map(|record| codec::decode(record.value())))
        });
        match found? {
            None => Ok(None),
            Some(Some(entry)) => Ok(Some(entry)),
            Some(None) => Err(damaged(&self.index, &format!("entry {number}"))),
        }
    }

    /// The named things with their numbers, up to `most` after the number `after`. `None` in the
    /// place of one whose record is damaged: the others can be read.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn tops(&self, after: Option<u64>, most: usize) -> Result<Vec<Numbered>, StoreError> {
        let from = after.map_or(0, |after| after.saturating_add(1));
        guarded(&self.index, || {
            let found = self.tops.range(from..)?.take(most);
            let found = found.map(|row| {
                let (number, record) = row?;
                Ok((number.value(), codec::decode_top(record.value())))
            });
            found.collect::<Result<Vec<_>, redb::Error>>()
        })
    }

    /// The largest number of a named thing.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn last_top(&self) -> Result<Option<u64>, StoreError> {
        guarded(&self.index, || Ok(self.tops.last()?.map(|(number, _)| number.value())))
    }

    /// The named things inserted after the store had had `changes` changes and `last` was the
    /// largest number of a named thing. `None` if something else has changed too, or if they are
    /// more than `most`: then all named things have to be read.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn inserted_since(
        &self,
        changes: u64,
        last: Option<u64>,
        most: usize,
    ) -> Result<Option<Vec<Numbered>>, StoreError> {
        let count = self.changes.checked_sub(changes).and_then(|count| usize::try_from(count).ok());
        let Some(count) = count.filter(|count| *count <= most) else { return Ok(None) };
        // A change inserts one named thing at most, and new entries have larger numbers. So there
        // are as many new ones as changes only if each change has inserted one.
        let rows = self.tops(last, count + 1)?;
        Ok((rows.len() == count).then_some(rows))
    }

    /// The named thing with this number.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn top(&self, number: u64) -> Result<Option<Top>, StoreError> {
        let found = guarded(&self.index, || {
            Ok(self.tops.get(number)?.map(|record| codec::decode_top(record.value())))
        });
        match found? {
            Some(None) => Err(damaged(&self.index, &format!("entry {number}"))),
            found => Ok(found.flatten()),
        }
    }

    /// The bytes of an object whose [`Place`](crate::Place) is a blob.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn blob(&self, digest: &Digest, size: u64) -> Result<Blob, StoreError> {
        let upload = guarded(&self.index, || {
            let Some(uploads) = &self.uploads else { return Ok(None) };
            Ok(uploads.get(digest)?.map(|upload| upload.value()))
        })?;
        Ok(Blob { digest: *digest, size, upload: upload.unwrap_or(0) })
    }

    /// The numbers of the members of a named thing.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn members(&self, top: u64) -> Result<Vec<u64>, StoreError> {
        guarded(&self.index, || {
            let rows = self.members.range((top, 0)..=(top, u64::MAX))?;
            rows.map(|row| Ok(row?.0.value().1)).collect()
        })
    }
}

/// The version in the name of a packet of an object whose own name has `len` components: behind
/// that name, or behind a keyword such as that of metadata and a number.
fn version_in(name: NameRef<'_>, len: usize) -> Option<u64> {
    let next = name.get(len)?;
    let is_keyword = next.typ() == tlv_types::KEYWORD;
    let own = next.as_version();
    own.or_else(|| {
        let behind = (len + 1..=len + 2).filter(|_| is_keyword);
        behind.filter_map(|at| name.get(at)?.as_version()).next()
    })
}

/// The first key after all that begin with `prefix`.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}
