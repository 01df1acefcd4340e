//! Parts that the program `weir` and this crate have in common. They are no stable interface: they
//! change with the program, without notice.

mod absence;
mod digest;
mod drive;
mod exchange;
pub mod group;
pub mod keys;
mod limit;
mod links;
mod names;
pub mod own;
mod reconnect;
mod source;

pub use absence::Absence;
pub use digest::digest;
pub use drive::{Host, drive, is_folder};
pub use exchange::{Answer, Exchange};
pub use limit::Limit;
pub use links::{behind_links, is_open_file};
pub use names::{MOST_COMPONENTS, NameError, check_depth, check_length};
pub use reconnect::{News, Outcome, Reconnect, Surroundings};
pub use source::{FileSource, Watch};
