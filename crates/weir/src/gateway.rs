//! Content by HTTP, for clients without NDN.
//!
//! [`server`] accepts connections, and [`wire`] finds their protocol. [`weir::http`] checks and
//! reads a request, which then waits for a slot ([`slots`]), so that no client uses up what others
//! need. Then the object is looked up, and when it is known the answer is planned: its head, and
//! the segments of its body. A [`folder`] is answered by a page. A file of an HTTP
//! origin has a document with the headers of its answer, which [`mirror`] reads first. The fetch is
//! that of `weir get`, one for each request, on a thread of its own ([`answer`]). A pipe of limited
//! size connects it to the client ([`crate::file::pipe`]), and the fetch requests no more than
//! fits. An upload takes the other way, into a store ([`uploads`], [`receive`]). A client
//! gets nothing, not even a status, before a part of the object has been verified.

mod answer;
mod body;
mod client;
mod clients;
mod context;
mod folder;
mod folders;
mod head;
mod log;
mod mirror;
mod observed;
mod page;
mod pieces;
mod player;
mod receive;
mod reply;
mod respond;
mod server;
mod slots;
mod source;
mod status;
mod stream;
mod tls;
mod uploads;
mod wire;

pub use context::Gateway;
pub use folder::MOST_SEARCHED;
pub use folders::{Folders, Root};
pub use log::Log;
#[cfg(test)]
pub use log::Printed;
pub use page::{Item, MOST};
pub use player::Player;
pub use server::serve;
pub use slots::Slots;
pub use tls::Tls;
pub use uploads::{Keeper, Kept, Listing, Permit, Reason, StoreFailure, StoredObject, Uploads};
