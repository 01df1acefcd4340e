//! A store of published objects, which stay when their publisher has ended.
//!
//! # In a folder
//!
//! A store in a folder has these files:
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
//!
//! # In a bucket
//!
//! A store in a bucket of an S3 server, with the feature `s3`, has these objects below its prefix:
//!
//! | object | content |
//! |---|---|
//! | `PREFIX/store` | the format, and the random number of the store |
//! | `PREFIX/log/0000000000000001` | the first change of the index, and so on |
//! | `PREFIX/blobs/ab/ab…-…` | the bytes of objects, each under its SHA-256 and an upload |
//!
//! No object is ever changed. The log is the store. Each host has a copy of the index in a folder
//! of its own, which is made from the log, and made again if it is lost or damaged.
//!
//! **Insertion.** Bytes are uploaded first, large ones in parts. The change that names them is
//! written with the condition that no change has its number. So of two hosts, one is first. The
//! other one applies that change, and makes its own again. The insertion is durable when the server
//! has confirmed the change. A change is one object, so it is visible whole or not at all.
//!
//! **Removal.** A removal is a change too. Then the bytes that no entry names are removed. The key
//! of bytes has the number of their upload, and is never used again, so a late removal harms no
//! later insertion of the same bytes.
//!
//! **Killed processes.** They leave uploads that no change names. The next process of the same host
//! finds the folder of the killed one. It appends an empty change, so that a change of the killed
//! process that is still on its way is rejected, and removes the uploads. Those of other hosts are
//! removed when they are a day old. An insertion that takes longer than 12 hours fails.
//!
//! **Servers.** Several hosts may serve a store. Each looks for changes every second. On one host,
//! the lock of the folder excludes a second server.
//!
//! **Failures.** A request without progress ends after a limit of time. Failures that may pass are
//! repeated, with pauses that grow. An error has the object, the answer and a [`Cause`]. Bytes are
//! read in blocks, of which a limited number is in memory, and come from the server as it has them.
//! They are compared with the digests of their object before they are served.
#![forbid(unsafe_code)]

mod address;
mod blobs;
#[cfg(feature = "s3")]
mod bucket;
mod change;
mod codec;
mod digest;
mod entry;
mod error;
mod fault;
mod folder;
mod follow;
mod index;
mod insertion;
mod opening;
mod record;
mod removal;
mod reserve;
mod staging;
mod store;
mod verify;
mod view;
mod volume;
mod walk;

pub use address::{Address, BucketAddress};
pub use digest::{Digest, hex};
pub use entry::{Body, Entry, Object, Place, Top};
pub use error::StoreError;
pub use fault::{BucketError, Cause};
pub use follow::Follower;
pub use insertion::{Inserted, Insertion};
pub use opening::{create, open};
pub use removal::Freed;
pub use staging::{Staged, Staging};
pub use store::{Serving, Store, Usage};
pub use verify::{Checked, Damage};
pub use view::{Numbered, View};
pub use volume::{Blob, Found, Log, Volume};
pub use walk::{Listed, Walk};
