//! Commands that packages and installations use.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// `weir completions`
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that reads them.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `weir man`
#[derive(Args)]
pub struct ManArgs {
    /// The folder for the pages of the program and of every command. It is made if it is missing.
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
