//! The subcommands, one file each.

mod cat;
mod chat;
mod compare;
mod completions;
mod daemon;
pub mod demo;
mod docs;
mod doctor;
mod gateway;
mod get;
mod jobs;
mod key;
mod ls;
mod man;
mod manage;
#[cfg_attr(not(feature = "mount"), path = "commands/mount/no_fuse.rs")]
mod mount;
mod peek;
mod perf;
mod ping;
mod plot;
mod poke;
#[cfg_attr(not(feature = "proxy"), path = "commands/proxy/none.rs")]
mod proxy;
mod put;
mod repo;
mod report;
mod scenario;
#[cfg(all(test, feature = "full"))]
mod schemas;
mod schemes;
mod share;
mod sim;
mod status;
mod study;
mod swarm;
mod sweep;
mod testbed;
mod traceroute;

use crate::cli::{Cli, Command};
use crate::exit::Failure;

/// Runs the command of the command line.
pub fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Daemon(args) => daemon::run(&args),
        Command::Put(args) => put::run(&args),
        Command::Share(args) => share::run(args),
        Command::Get(args) => get::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::Cat(args) => cat::run(args),
        Command::Mount(args) => mount::run(&args),
        Command::Peek(args) => peek::run(&args),
        Command::Poke(args) => poke::run(&args),
        Command::Ping(args) => ping::run(&args),
        Command::Traceroute(args) => traceroute::run(&args),
        Command::Perf(command) => perf::run(&command),
        Command::Chat(args) => chat::run(&args),
        Command::Repo(command) => repo::run(&command),
        Command::Proxy(args) => proxy::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Face(command) => manage::face::run(&command),
        Command::Route(command) => manage::route::run(&command),
        Command::Strategy(command) => manage::strategy::run(&command),
        Command::Cs(command) => manage::store::run(&command),
        Command::Trace(args) => manage::trace::run(&args),
        Command::Schemes(args) => schemes::run(&args),
        Command::Key(command) => key::run(&command),
        Command::Sim(command) => sim::run(&command),
        Command::Sweep(args) => sweep::run(&args),
        Command::Scenario(command) => scenario::run(&command),
        Command::Study(args) => study::run(&args),
        Command::Swarm(args) => swarm::run(&args),
        Command::Testbed(command) => testbed::run(&command),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Docs(args) => docs::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
