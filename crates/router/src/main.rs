//! A forwarder for routers: the same as `weir daemon`, and nothing else.

use lexopt::Arg::{Long, Short};
use net::text::{visible_lines, without_error_numbers};
use router::service::{Service, ServiceError};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const PROGRAM: &str = "weir-router";

const HELP: &str = "\
A forwarder for NDN networks, the same as `weir daemon`, in a small program.

Usage: weir-router [--config FILE] [--check]

Options:
  -c, --config <FILE>  The configuration file; without it, all defaults
      --check          Check the configuration and stop
  -h, --help           Print help
  -V, --version        Print version

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 7 output cannot be written.";

/// Failed, for another reason than the usage.
const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
const USAGE: u8 = 2;
/// Standard output cannot be written.
const FILE: u8 = 7;

/// The request of the command line.
enum Action {
    Run(Option<PathBuf>),
    Check(Option<PathBuf>),
    Print(String),
}

fn main() -> ExitCode {
    net::file_limit::make_it_an_error();
    match action() {
        Ok(action) => act(action),
        Err(why) => fail(USAGE, &format!("{why}; `{PROGRAM} --help` lists the options")),
    }
}

fn action() -> Result<Action, lexopt::Error> {
    let mut arguments = lexopt::Parser::from_env();
    let (mut config, mut check) = (None, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('c') | Long("config") => config = Some(PathBuf::from(arguments.value()?)),
            Long("check") => check = true,
            Short('h') | Long("help") => return Ok(Action::Print(HELP.to_owned())),
            Short('V') | Long("version") => {
                let version = env!("CARGO_PKG_VERSION");
                return Ok(Action::Print(format!("{PROGRAM} {version}")));
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(if check { Action::Check(config) } else { Action::Run(config) })
}

fn act(action: Action) -> ExitCode {
    let done = match action {
        Action::Print(text) => return print(&text),
        Action::Run(config) => Service::new(PROGRAM, config).run(),
        Action::Check(config) => match Service::new(PROGRAM, config).check() {
            Ok(report) => {
                for warning in &report.warnings {
                    note(&format!("warning: {warning}"));
                }
                return print(&report.summary);
            }
            Err(error) => Err(error),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ ServiceError::Configuration(_)) => fail(USAGE, &error.to_string()),
        Err(error @ ServiceError::Daemon(_)) => fail(FAILED, &error.to_string()),
    }
}

fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough, such as `head`, gets no message.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(FILE),
        Err(error) => {
            let error = without_error_numbers(&error.to_string());
            fail(FILE, &format!("cannot write standard output: {error}; send it elsewhere"))
        }
    }
}

fn fail(status: u8, why: &str) -> ExitCode {
    note(why);
    ExitCode::from(status)
}

/// Prints a line on standard error. There is no place to report that this fails. Text of peers may
/// be in it: control characters are escaped.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{PROGRAM}: {}", visible_lines(text));
}
