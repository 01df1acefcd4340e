//! `weir ping`: measures the round trip to a program that answers, or is that program.
//!
//! The names are those of ndnping and ndnpingserver (ndn-tools): `PREFIX/ping/N`, with N a decimal
//! number that grows by one. So each side works with the other one of either project.

mod answer;
mod ask;

use crate::cli::packets::PingArgs;
use crate::exit::Failure;
use packet::{Component, Name};

/// The component behind the prefix.
const PING: &[u8] = b"ping";

/// The prefix of all Interests.
fn below(prefix: &Name) -> Name {
    prefix.clone().with(&Component::generic(PING))
}

/// Asks or answers.
pub fn run(args: &PingArgs) -> Result<(), Failure> {
    if args.serve { answer::run(args) } else { ask::run(args) }
}
