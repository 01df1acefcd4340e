//! The tables of the index, and the errors of the database in terms of the store.

use crate::error::StoreError;
use redb::{ReadableTable, TableDefinition};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The number of an entry by its name and version. Numbers are never used again.
pub const NAMES: TableDefinition<'static, (&[u8], u64), u64> = TableDefinition::new("names");
/// Entries by number.
pub const ENTRIES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("entries");
/// Entries that a user has put into the store, by number.
pub const TOPS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("tops");
/// The members of such an entry: its number, and that of the member.
pub const MEMBERS: TableDefinition<'static, (u64, u64), ()> = TableDefinition::new("members");
/// The number of times that an entry is a top or a member.
pub const HOLDS: TableDefinition<'static, u64, u64> = TableDefinition::new("holds");
/// Blobs by digest: their size, and the number of entries that have it.
pub const BLOBS: TableDefinition<'static, &[u8; 32], (u64, u64)> = TableDefinition::new("blobs");
/// The numbers of the uploads of blobs, where hosts share the store.
pub const UPLOADS: TableDefinition<'static, &[u8; 32], u64> = TableDefinition::new("uploads");
/// Numbers of the store itself.
pub const NUMBERS: TableDefinition<'static, &str, u64> = TableDefinition::new("numbers");

/// The format of the index, in [`NUMBERS`].
pub const FORMAT: &str = "format";
/// The number of the next entry.
pub const NEXT: &str = "next";
/// The number of transactions.
pub const CHANGES: &str = "changes";
/// The bytes of all blobs.
pub const BYTES: &str = "bytes";
/// The sum of [`cost`] of all entries.
pub const RECORDS: &str = "records";

/// The number of the last shared change that was applied.
pub const APPLIED: &str = "applied";
/// The nonce of that change.
pub const NONCE: &str = "nonce";
/// The number of the shared store whose index this is a copy of.
#[cfg(feature = "s3")]
pub const SHARED: &str = "shared";

/// Bytes that an entry takes in the index beside its name and record: rows of other tables, and the
/// unused parts of pages.
const ROWS: u64 = 1000;

/// The bytes of an entry for quotas. The name is a key, and that of its named thing.
pub fn cost(name: &[u8], record: usize) -> u64 {
    ROWS + 2 * name.len() as u64 + record as u64
}

/// The sum of [`cost`] of all entries.
pub fn records(
    names: &impl ReadableTable<(&'static [u8], u64), u64>,
    entries: &impl ReadableTable<u64, &'static [u8]>,
) -> Result<u64, redb::Error> {
    let mut sum: u64 = 0;
    for row in names.iter()? {
        let (key, number) = row?;
        let record = entries.get(number.value())?.map_or(0, |record| record.value().len());
        sum = sum.saturating_add(cost(key.value().0, record));
    }
    Ok(sum)
}

/// Does something with the index. The database panics on some damage that it has not checked for.
pub fn guarded<T>(
    path: &Path,
    action: impl FnOnce() -> Result<T, redb::Error>,
) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(done) => done.map_err(|error| of(path, error)),
        Err(_) => Err(damaged(path, &"its pages contradict each other")),
    }
}

/// An error of the database.
pub fn of(path: &Path, error: redb::Error) -> StoreError {
    match error {
        redb::Error::Corrupted(why) => damaged(path, &why),
        // The file is no database at all.
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            damaged(path, &error)
        }
        error => StoreError::Index { path: path.to_owned(), error: Box::new(error) },
    }
}

/// The index contradicts itself.
pub fn damaged(path: &Path, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Damaged { path: path.to_owned(), why: why.to_string() }
}
