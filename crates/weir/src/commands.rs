//! The subcommands, one file each.

mod compare;
mod daemon;
mod demo;
mod gateway;
mod get;
mod key;
mod manage;
mod plot;
mod put;
mod report;
mod scenario;
mod schemes;
mod sim;
mod status;
mod study;
mod swarm;
mod testbed;

use crate::cli::{Cli, Command};
use crate::exit::Failure;
use std::num::NonZeroUsize;

/// Does what the command line says.
pub fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Daemon(args) => daemon::run(&args),
        Command::Put(args) => put::run(&args),
        Command::Get(args) => get::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Face(command) => manage::face::run(&command),
        Command::Route(command) => manage::route::run(&command),
        Command::Strategy(command) => manage::strategy::run(&command),
        Command::Cs(command) => manage::store::run(&command),
        Command::Trace(args) => manage::trace::run(&args),
        Command::Schemes(args) => schemes::run(&args),
        Command::Key(command) => key::run(&command),
        Command::Sim(command) => sim::run(&command),
        Command::Scenario(command) => scenario::run(&command),
        Command::Study(args) => study::run(&args),
        Command::Swarm(args) => swarm::run(&args),
        Command::Testbed(command) => testbed::run(&command),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Demo(args) => demo::run(&args),
    }
}

/// How many runs are done at a time: as many as are asked for, or one for each core.
fn jobs(given: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().ok();
    given.or_else(cores).map_or(1, NonZeroUsize::get)
}
