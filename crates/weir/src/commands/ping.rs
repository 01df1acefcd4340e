//! `weir ping`: measures the round trip to a program that answers, or answers itself.
//!
//! The names are those of ndnping and ndnpingserver (ndn-tools): `PREFIX/ping/N`, with N a decimal
//! number that grows by one. So each side works with the other one of either project.

mod answer;
mod ask;
mod name;
mod printed;

use crate::cli::packets::PingArgs;
use crate::exit::Failure;
#[cfg(test)]
pub use printed::Printed;

/// Asks or answers.
pub fn run(args: &PingArgs) -> Result<(), Failure> {
    if args.serve { answer::run(args) } else { ask::run(args) }
}
