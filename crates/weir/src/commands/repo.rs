//! `weir repo`

mod ask;
mod change;
mod copy;
mod fetch;
mod keep;
mod list;
mod listing;
mod mirror;
mod named;
mod put;
mod run;
mod shelf;
mod signed;
mod store;
mod tree;
mod upload;
mod verify;

use crate::cli::repo::RepoCommand;
use crate::exit::Failure;
#[cfg(test)]
pub use change::{Collected, Exported, Removed};
#[cfg(test)]
pub use keep::Summary as Kept;
#[cfg(test)]
pub use list::Row;
#[cfg(test)]
pub use run::Printed;
pub use upload::{Publisher, StoreKeeper};
#[cfg(test)]
pub use verify::Summary as Verification;

/// Runs the command.
pub fn run(command: &RepoCommand) -> Result<(), Failure> {
    match command {
        RepoCommand::Run(args) => run::run(args),
        RepoCommand::Put(args) => put::run(args),
        RepoCommand::Fetch(args) => fetch::run(args),
        RepoCommand::Ls(args) => list::ls(args),
        RepoCommand::Stat(args) => list::stat(args),
        RepoCommand::Rm(args) => change::rm(args),
        RepoCommand::Verify(args) => verify::run(args),
        RepoCommand::Export(args) => change::export(args),
        RepoCommand::Gc(args) => change::gc(args),
    }
}
