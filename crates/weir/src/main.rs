//! Weir moves named content over information-centric networks without congesting them.

mod cli;
mod commands;
mod consumer;
mod exit;
mod file;
mod identity;
mod output;
mod producer;
mod signals;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
