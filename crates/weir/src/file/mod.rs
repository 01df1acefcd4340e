//! Files on both ends: what is published from, and what is fetched into.

mod journal;
mod part;
mod source;

pub use part::{FileSink, SinkError, StreamSink};
pub use source::{FileSource, Watch};
