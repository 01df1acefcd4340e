//! State that a forwarder keeps between calls. Each part has one owner with private fields:
//! [`tables::Tables`] what it remembers of names, [`faces::Faces`] what it knows of faces.

pub(crate) mod admission;
mod budget;
mod cache;
pub(crate) mod faces;
pub(crate) mod grant;
pub(crate) mod learned;
pub(crate) mod strategies;
pub(crate) mod tables;

pub use budget::{MemoryUse, RejectedRequests};
pub use learned::LearnedRoute;
