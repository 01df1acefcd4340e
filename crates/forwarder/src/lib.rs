//! The NDN forwarder: state machines without I/O, clock or dice of their own.
//!
//! [`tables`] holds what a forwarder remembers: routes, pending Interests, cached Data, dead nonces
//! and the choice of strategies.
#![forbid(unsafe_code)]

pub mod tables;
