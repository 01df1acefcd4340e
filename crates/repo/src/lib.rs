//! A store of published objects, which stay when their publisher has ended.
//!
//! A store is a folder:
//!
//! | path | content |
//! |---|---|
//! | `index` | names, signed packets and digests, in a redb database |
//! | `blobs/ab/ab…` | the bytes of objects, each under its SHA-256, identical ones once |
//! | `incoming/…` | bytes that are being copied; a process holds a lock on its folder |
//! | `serving` | the lock of the process that serves the store |
//! | `reserve` | nothing: its room is for a removal on a full disk |
//!
//! Segments are not kept: they are made again from the bytes, as a publisher makes them. The index
//! keeps the packets that only the publisher can sign.
//!
//! Several processes may use a store at a time. An insertion is one transaction: it appears whole
//! and durable, or not at all. Bytes are on disk before the transaction refers to them, so a
//! process that is killed leaves at most bytes without a name, which [`Store::gc`] removes.
#![forbid(unsafe_code)]

mod blobs;
mod codec;
mod entry;
mod error;
mod index;
mod insertion;
mod removal;
mod reserve;
mod staging;
mod store;
mod verify;
mod view;
mod walk;

pub use blobs::hex;
pub use entry::{Body, Entry, Object, Place, Top};
pub use error::StoreError;
pub use insertion::{Inserted, Insertion};
pub use removal::Freed;
pub use staging::{Staged, Staging};
pub use store::{Serving, Store, Usage};
pub use verify::{Checked, Damage};
pub use view::{Numbered, View};
pub use walk::{Listed, Walk};

/// The SHA-256 of a blob.
pub type Digest = [u8; 32];
