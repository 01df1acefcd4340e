//! Files on both ends: what is published from, and what is fetched into.

mod journal;
mod part;
mod place;
mod source;
mod text;

pub use part::{FileSink, SinkError, StreamSink};
pub use place::{behind_links, is_open_file};
pub use source::{FileSource, Watch};
pub use text::replace;
