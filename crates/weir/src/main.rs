//! Weir moves named content over information-centric networks without congesting them.

mod chat;
mod cli;
mod commands;
mod consumer;
mod doctor;
mod exit;
mod failures;
mod file;
mod folder;
mod gateway;
mod identity;
#[cfg(feature = "mount")]
mod mount;
mod outage;
mod output;
mod passphrase;
mod producer;
#[cfg(feature = "proxy")]
mod proxy;
mod reach;
mod record;
mod signals;
mod site;
mod slow;
mod transfer;
mod usage;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    net::file_limit::make_it_an_error();
    let done = match cli::Cli::try_parse() {
        Ok(cli) => commands::run(cli),
        Err(error) => usage::answer(&error, std::env::args_os()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let as_json = usage::asks_json(std::env::args_os()) && !commands::demo::is_child();
            output::failure(&failure, as_json)
        }
    }
}
