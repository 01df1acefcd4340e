//! `weir perf`: measures a path with content made on demand.
//!
//! The name of a run has all parameters for the server's Data, so the server keeps no state about
//! clients: `PREFIX/32=perf/RUN/SEGMENT-SIZE/BYTES/v=1/seg=N`. RUN is a random number, so no
//! content store has the Data of a new run. `docs/reference/wire.md` has the layout.

mod client;
mod made;
mod name;
mod report;
mod server;

use crate::cli::perf::PerfCommand;
use crate::exit::Failure;
#[cfg(test)]
pub use client::Report;
#[cfg(test)]
pub use server::Printed;

/// Serves or measures.
pub fn run(command: &PerfCommand) -> Result<(), Failure> {
    match command {
        PerfCommand::Server(args) => server::run(args),
        PerfCommand::Client(args) => client::run(args),
    }
}
