//! Content by HTTP: what a name stands for, for whoever speaks no NDN.
//!
//! A request is read ([`ask`]), its object looked for, and when the object is known the answer is
//! planned ([`plan`]): which head, and which segments the body takes. The fetch is that of
//! `weir get`, one for each request, on a thread of its own ([`answer`]); between it and the client
//! is a pipe that holds so much and no more ([`crate::file::pipe`]), and the fetch asks for what
//! there is room for. Nothing is said to the client, not even a status, before something of the
//! object has been verified.

mod answer;
mod ask;
mod body;
mod log;
mod media;
mod plan;
mod range;
mod server;

pub use log::Log;
pub use server::{Gateway, serve};
