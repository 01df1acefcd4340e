//! Content as files of this host: a read-only file system in user space (FUSE).
//!
//! [`files::Files`] answers the kernel, on threads of the library, from memory and from the
//! [`Cache`]. The [`Engine`] owns the connection. It fetches pages of directories and segments of
//! files by one [`Batch`](transport::fetch::batch::Batch): one controller for all readers. Segments
//! go to the waiting readers and to the cache. Nothing leaves the engine that is not verified.

mod cache;
mod complaints;
mod engine;
mod files;
mod listing;
mod nodes;
mod readers;
mod receiver;
mod rejection;
mod session;

pub use cache::Cache;
pub use engine::{Engine, Parts as EngineParts};
pub use files::Prepared;
pub use nodes::{Owner, Source, SourceName};
pub use session::{check_point, mount};
