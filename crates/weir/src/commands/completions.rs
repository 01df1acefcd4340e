//! `weir completions`

use crate::cli::Cli;
use crate::cli::install::CompletionsArgs;
use crate::exit::Failure;
use crate::output;
use clap::CommandFactory;

/// Prints the completions.
pub fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weir", &mut script);
    output::result(String::from_utf8_lossy(&script).trim_end())
}
