//! Chat in a group: messages are publications that State Vector Sync announces.

mod asker;
mod input;
mod kept;
mod lines;
mod presence;
mod room;
mod screen;
mod trust;
mod turns;
mod writer;

pub use input::{Input, Line};
pub use room::{Event, Options, Room};
pub use screen::Screen;
pub use writer::Writer;
