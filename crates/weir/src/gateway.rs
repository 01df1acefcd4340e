//! Content by HTTP: what a name stands for, for whoever speaks no NDN.
//!
//! Connections are taken by [`server`]; a request is judged and read by [`weir::http`], and waits
//! for a slot ([`slots`]), so that no client takes what others need. Then its object is looked for,
//! and when the object is known the answer is planned: which head, and which segments the body
//! takes. The fetch is that of `weir get`, one for each request, on a thread of its own
//! ([`answer`]); between it and the client is a pipe that holds so much and no more
//! ([`crate::file::pipe`]), and the fetch asks for what there is room for. Nothing is said to the
//! client, not even a status, before something of the object has been verified.

mod answer;
mod body;
mod clients;
mod context;
mod log;
mod reply;
mod server;
mod slots;
mod source;
mod stream;

pub use context::Gateway;
pub use log::Log;
pub use server::serve;
pub use slots::Slots;
