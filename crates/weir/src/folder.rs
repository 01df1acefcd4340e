//! Folders as trees: the sources of publications and the targets of fetches.

mod catalogue;
mod disk;
mod fetch;
mod filter;
mod hashes;
mod job;
mod locks;
mod prepare;
mod receiver;
mod scan;
mod source;
mod space;
mod stamp;
mod target;
mod versions;
mod watcher;

pub use catalogue::{Catalogue, Shelves};
pub use fetch::{Choices, Count, TreeFetch, malformed, page_object, walk_of};
pub use filter::Filter;
pub use prepare::{Publisher, Watched, component_of};
pub use receiver::{Receiver, Tally};
pub use target::Target;
pub use versions::Version;
pub use watcher::FolderWatcher;
