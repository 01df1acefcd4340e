//! The documentation for browsers of this host: where it is ([`find`]), its files ([`SiteFiles`]),
//! and a server of them.

mod body;
mod files;
mod place;
mod server;

pub use files::SiteFiles;
pub use place::{find, places};
pub use server::serve;
