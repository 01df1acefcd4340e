//! State Vector Sync, version 3, after the specification of 2025-01-14
//! (`named-data/StateVectorSync`, `Specification.md`).
//!
//! Each member of a group numbers its publications from 1. A state vector has the last number of
//! each member. Members send their vectors in sync Interests, and merge the vectors that they
//! receive, so all of them learn of every publication. The crate contains the vector and its
//! encoding ([`Vector`]), the state machine of a member ([`Member`]), and the packets ([`wire`]).
//! The driver owns sockets and clocks: it passes the time and received vectors in, and takes
//! vectors to send and [`Update`]s out.
//!
//! A member accepts vectors from signers that it trusts only ([`wire::verify`]). Even those may be
//! wrong about others, so [`Member`] bounds its memory and distinguishes claims of a member about
//! itself from claims about others.

#![forbid(unsafe_code)]

mod member;
mod table;
mod vector;
pub mod wire;

pub use member::{Config, Member, Stats, Update};
pub use table::{Entry, Limits};
pub use vector::{Moment, Stream, Vector};
