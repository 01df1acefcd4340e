//! The arena: every scheme on the same networks, each judged by its distance from the best of all.
//!
//! [`load`] reads a folder with an `arena.toml`, [`perform`] runs every scheme in every cell, and
//! [`Outcome`] has scores, regrets and the judged figures. Optima come from the oracles of the
//! crate `swarm`, which know rates, paths and sizes alone. `scenarios/arena/README.md` defines the
//! measures and the score.
#![forbid(unsafe_code)]

mod error;
mod fluid;
mod join;
mod measure;
mod model;
mod network;
mod outcome;
mod page;
mod pairing;
mod perform;
mod pictures;
mod read;
mod score;
mod wanted;
mod written;

pub use error::ArenaError;
pub use measure::Measured;
pub use model::{Arena, Cached, Cell, Limits, Quick, Term, Verdict, Wanted};
pub use outcome::{CellOutcome, Effort, Entry, Outcome};
pub use page::Page;
pub use pairing::{Competitor, competitors};
pub use perform::{Runs, perform, perform_with};
pub use pictures::COLUMNS;
pub use read::{FILE, load};
