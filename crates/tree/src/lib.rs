//! Manifests of folders ("trees"): the names, sizes, modes, times, links and digests of files.
//!
//! A tree is a small signed object, the [`Root`], and *pages*: packets with the entries of one
//! directory. An entry of a file lists the digests of its segments or of its manifest. An entry of
//! a directory lists the digest of the directory's page. So one signature covers all bytes, a
//! directory that did not change is the same packet in every version, and a change replaces only
//! the pages on the way from it to the root. A large directory has several pages, and pages of
//! [`Part`]s above them.
//!
//! The wire format is in `docs/reference/wire.md`, section "Trees". [`Pages`] is the publisher's
//! side, [`Walk`] the consumer's. Neither does I/O.
//!
//! Everything that is decoded here may come from an attacker: names that lead elsewhere, duplicate
//! names and counts that contradict each other are errors, and the work is bounded by the number of
//! entries in the signed root.
#![forbid(unsafe_code)]

mod build;
mod entry;
mod error;
mod link;
mod name;
mod page;
mod root;
mod walk;

pub use build::{Pages, page_packet};
pub use entry::{Contents, Entry, File, Kind, MOST_DIGESTS, PageRef, Totals};
pub use error::TreeError;
pub use link::stays_within;
pub use name::{FileName, MAX_NAME};
pub use page::{Page, Part};
pub use root::Root;
pub use walk::{Directory, Found, Limits, Request, Walk};

use packet::{Component, Name};

/// The keyword of a tree's object: `<name>/32=tree/v=…`.
pub const KEYWORD: &[u8] = b"tree";

/// The keyword of pages: `<name>/32=page/<key>/seg=0`.
pub const PAGE_KEYWORD: &[u8] = b"page";

/// Bytes of the key of a page: the first bytes of the SHA-256 of its content.
pub const KEY_LEN: usize = 16;

/// The key of a page in its name.
pub type Key = [u8; KEY_LEN];

/// Components of a name of a packet beside those of the tree and of the path: a version, the
/// keyword of a manifest, a number, and a digest.
const BESIDES: usize = 4;

/// The maximum number of components of a path in a tree whose name has `components`: names of
/// packets have at most [`packet::name::MAX_COMPONENTS`].
#[must_use]
pub fn max_depth(components: usize) -> usize {
    packet::name::MAX_COMPONENTS.saturating_sub(components + BESIDES)
}

/// The name of a file or directory in the tree `base`, without a version. The path is that from the
/// tree's folder, without a slash at either end.
#[must_use]
pub fn name_of(base: &Name, path: &[u8]) -> Name {
    let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    parts.fold(base.clone(), |name, part| name.with(&Component::generic(part)))
}
