//! The forwarder as a program: what `weir daemon` and `weir-router` have in common.
//!
//! [`service`] runs a forwarder by its configuration file, [`guard`] decides who may ask an HTTP
//! server of this host, and [`requests`] takes its requests.

mod allocator;
pub mod guard;
mod metrics;
pub mod requests;
pub mod service;
