//! The names below one, without their packets.

use crate::codec;
use crate::entry::Top;
use crate::error::StoreError;
use crate::index::{damaged, guarded};
use crate::view::{View, successor};
use packet::{Name, NameRef};
use std::ops::Bound;

/// The number of versions of a name that are tried for its newest named thing.
const TRIES: usize = 8;

/// A name in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of an object without its version; the whole name of a packet.
    pub name: Name,
    /// The version of an object; 0 for a packet.
    pub version: u64,
    /// The named thing; `None` if it is only a part of one, or its record is damaged.
    pub top: Option<Top>,
}

/// A walk over the names at and below one, in canonical order, and over the versions of each from
/// the oldest on. Each step reads two small records, so the reader decides how many are read.
pub struct Walk<'a> {
    view: &'a View,
    /// The last name and version, or the first ones that may come.
    from: (Vec<u8>, u64),
    has_begun: bool,
    /// The first name after all of them, if one exists.
    end: Option<Vec<u8>>,
}

impl View {
    /// A walk over the names at and below `name`.
    #[must_use]
    pub fn walk(&self, name: NameRef<'_>) -> Walk<'_> {
        let bytes = name.as_bytes();
        Walk { view: self, from: (bytes.to_vec(), 0), has_begun: false, end: successor(bytes) }
    }

    /// The newest version of exactly this name.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn newest(&self, name: NameRef<'_>) -> Result<Option<u64>, StoreError> {
        guarded(&self.index, || {
            let versions = (name.as_bytes(), 0)..=(name.as_bytes(), u64::MAX);
            let newest = self.names.range(versions)?.next_back().transpose()?;
            Ok(newest.map(|(key, _)| key.value().1))
        })
    }

    /// The newest named thing of exactly this name, among the last versions.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn newest_top(&self, name: NameRef<'_>) -> Result<Option<Top>, StoreError> {
        guarded(&self.index, || {
            let versions = (name.as_bytes(), 0)..=(name.as_bytes(), u64::MAX);
            for found in self.names.range(versions)?.rev().take(TRIES) {
                if let Some(record) = self.tops.get(found?.1.value())? {
                    return Ok(codec::decode_top(record.value()));
                }
            }
            Ok(None)
        })
    }
}

impl Walk<'_> {
    /// The next name and version.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn step(&mut self) -> Result<Option<Listed>, StoreError> {
        let Walk { view, from, has_begun, end } = self;
        if end.as_ref().is_some_and(|end| from.0 >= *end) {
            return Ok(None);
        }
        let found = guarded(&view.index, || {
            let key = (&from.0[..], from.1);
            let from = if *has_begun { Bound::Excluded(key) } else { Bound::Included(key) };
            let to = end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded((&end[..], 0)));
            let Some(row) = view.names.range((from, to))?.next() else { return Ok(None) };
            let (key, number) = row?;
            let top = view.tops.get(number.value())?;
            let top = top.and_then(|record| codec::decode_top(record.value()));
            let (name, version) = key.value();
            Ok(Some((name.to_vec(), version, top)))
        })?;
        let Some((bytes, version, top)) = found else { return Ok(None) };
        let name = match NameRef::decode(&bytes) {
            Ok(name) => name.to_name(),
            Err(error) => return Err(damaged(&self.view.index, &error)),
        };
        self.from = (bytes, version);
        self.has_begun = true;
        Ok(Some(Listed { name, version, top }))
    }

    /// Leaves out all other versions of `name`, which was the last.
    pub fn pass(&mut self, name: NameRef<'_>) {
        self.from = (name.as_bytes().to_vec(), u64::MAX);
        self.has_begun = true;
    }

    /// Leaves out all other names at and below `name`, at or below which was the last.
    pub fn skip(&mut self, name: NameRef<'_>) {
        match successor(name.as_bytes()) {
            Some(next) => {
                self.from = (next, 0);
                self.has_begun = false;
            }
            // All names are below the one without components.
            None => self.end = Some(Vec::new()),
        }
    }
}
