//! Weir for Rust programs: fetch content by name, publish it, answer Interests.
//!
//! A [`Client`] knows a forwarder, such as a `weir daemon`, and the rules of trust. Each of its
//! operations has a connection of its own, so a client can be used from several threads.
//!
//! ```no_run
//! use client::Client;
//!
//! # fn main() -> Result<(), client::Error> {
//! let client = Client::connect("unix:///run/nfd/nfd.sock")?;
//! let publication = client.publish("/demo/greeting", "hello")?;
//! let fetched = client.fetch("/demo/greeting")?;
//! assert_eq!(fetched.content, b"hello");
//! println!("{} is served as {}", fetched.name, publication.name());
//! # Ok(())
//! # }
//! ```
//!
//! | to | see |
//! |---|---|
//! | choose forwarder, trust, scheme, key | [`Client::builder`], [`Trust`] |
//! | fetch an object, or a part of it | [`Client::fetch`], [`Client::request`] |
//! | publish bytes or a file | [`Client::publish`], [`PublishOptions`] |
//! | answer Interests by a function | [`Client::register`], [`Reply`] |
//! | answer them later | [`Client::register_deferred`], [`Responder`] |
//! | send one Interest | [`Client::express`], [`Interest`] |
//! | publish for a group, and learn of all publications | [`Client::join`], [`Group`] |
//! | work without a daemon | [`Embedded`] |
//! | simulate a network | `simulate`, with the feature `simulator` |
//!
//! Every byte of a fetch is checked before this crate returns it, by the signature of the object
//! and the digests that it covers. [`Verified`] has the proof by the signature: without rules of
//! trust, a key that is not known here is accepted, and proves nothing. All errors are values of
//! [`Error`]; nothing here panics.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod bell;
mod cancel;
mod client;
mod embedded;
mod error;
mod express;
mod fetch;
mod group;
mod name;
mod packets;
#[doc(hidden)]
pub mod parts;
mod publish;
mod register;
mod responder;
mod service;
mod settings;
#[cfg(feature = "simulator")]
mod simulate;
mod trust;

pub use crate::client::{Builder, Client};
pub use cancel::Cancel;
pub use embedded::{Embedded, EmbeddedBuilder};
pub use error::Error;
pub use fetch::{Blocks, Fetched, Progress, Received, Request};
pub use group::{Group, JoinOptions, MemberPublication, StreamState};
pub use name::AsName;
pub use packet::{Component, Name};
pub use packets::{Data, Interest, Reply};
pub use publish::{Content, Publication, PublishOptions};
pub use register::{RegisterOptions, Registration};
pub use responder::Responder;
#[cfg(feature = "simulator")]
pub use simulate::{Results, Run, simulate};
pub use trust::{Trust, Verified};
