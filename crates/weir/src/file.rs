//! Files on both ends: the sources of publications and the targets of fetches.

mod journal;
mod part;
mod pipe;
mod place;
mod reserve;
mod stream;
mod text;
mod writeback;

pub use client::parts::own::{self, permissions, private_folder, share};
pub use client::parts::{FileSource, Watch};
pub use part::{FileSink, SinkError};
pub use pipe::{Cut, Reader, Writer, pipe};
pub use place::is_same;
pub use reserve::{free, too_little};
pub use stream::{StreamSink, open as open_stream};
pub use text::replace;
