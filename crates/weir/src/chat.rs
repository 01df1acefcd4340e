//! Chat in a group: messages are publications that State Vector Sync announces.

mod input;
mod line;
mod presence;
mod printer;
mod room;
mod screen;

pub use input::{Input, Line};
pub use line::{ChatLine, Left};
pub use printer::Printer;
pub use room::{Event, Room};
pub use screen::Screen;
