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
mod naming;
mod page;
mod root;
mod walk;

pub use build::{Pages, page_packet};
pub use entry::{Contents, Entry, File, Kind, MOST_DIGESTS, PageRef, Totals};
pub use error::TreeError;
pub use link::stays_within;
pub use name::{FileName, MAX_NAME};
pub use naming::{KEY_LEN, KEYWORD, Key, PAGE_KEYWORD, max_depth, name_of};
pub use page::{Page, Part};
pub use root::Root;
pub use walk::{Directory, Found, Limits, Request, Walk};
