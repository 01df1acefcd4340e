//! What a forwarder remembers.
//!
//! | table | question it answers |
//! |---|---|
//! | [`Fib`] | which faces lead towards the content? |
//! | [`Pit`] | who waits for this Data, and whom did we ask? |
//! | [`ContentStore`] | do we have it already? |
//! | [`DeadNonces`] | did this Interest pass here before, and is its PIT entry gone? |
//! | [`StrategyChoice`] | who decides where Interests under this prefix go? |
//!
//! A packet's name is hashed once, all its prefixes with it ([`NameHasher::hash`]); every table
//! takes the resulting [`HashedName`]. Names come from the network, so the hash is keyed and no
//! table ever shows the order of its hash buckets: what can be listed is listed in canonical order
//! of names.
//!
//! Entries live in chunked slabs and are found through [`index::Index`], so that a table grows
//! without copying its entries and without a long pause, and can say what memory it takes.

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
    Admission, AdmissionError, ContentStore, ContentStoreConfig, Outcome, PolicyKind,
};
pub use dead_nonces::DeadNonces;
pub use face_id::FaceId;
pub use fib::Fib;
pub use name_hash::{HashedName, Lengths, MAX_PREFIX, NameHasher};
pub use pit::{
    Group, InRecord, OutRecord, Pit, PitConfig, PitEntry, PitKey, PitToken, Reach, Refusal,
};
pub use prefix_map::PrefixTooDeep;
pub use strategy_choice::StrategyChoice;
