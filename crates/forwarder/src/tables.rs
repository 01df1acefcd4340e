//! The forwarder's tables.
//!
//! | table | question it answers |
//! |---|---|
//! | [`Fib`] | which faces lead towards the content? |
//! | [`Pit`] | which faces wait for this Data, and which were asked? |
//! | [`ContentStore`] | is the Data here already? |
//! | [`DeadNonces`] | has this Interest passed here before, and has its PIT entry gone? |
//! | [`StrategyChoice`] | which strategy decides for Interests under this prefix? |
//!
//! A packet's name is hashed once, with all its prefixes ([`NameHasher::hash`]); every table takes
//! the resulting [`HashedName`]. Names come from the network, so the hash is keyed and no table
//! ever shows the order of its hash buckets: lists are in canonical order of names.
//!
//! Entries live in chunked slabs and are found through [`index::Index`], so that a table grows
//! without copying its entries and without a long pause, and can report its memory.

mod chunked;
pub mod content_store;
mod counts;
pub mod dead_nonces;
pub mod face_id;
pub mod fib;
pub mod index;
pub mod memory;
pub mod name_hash;
pub mod pit;
pub mod prefix_map;
mod sip;
mod slab;
pub mod strategy_choice;
pub mod wheel;

pub use content_store::{
    Admission, AdmissionError, ContentStore, ContentStoreConfig, Outcome, PolicyKind, StoreCounters,
};
pub use dead_nonces::DeadNonces;
pub use face_id::FaceId;
pub use fib::Fib;
pub use name_hash::{HashedName, Lengths, MAX_PREFIX, NameHasher};
pub use pit::{
    Group, InRecord, OutRecord, Pit, PitConfig, PitEntry, PitKey, PitToken, Reach, Rejection,
};
pub use prefix_map::PrefixTooDeep;
pub use strategy_choice::StrategyChoice;
