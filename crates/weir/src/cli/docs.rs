//! The arguments of `weir docs`.

use super::shared::address;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `weir docs`
#[derive(Args)]
pub struct DocsArgs {
    /// The folder of the documentation. The default is the one that is installed with the program,
    /// otherwise the one that was built in the program's checkout, target/site.
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Open the first page in the browser of the desktop.
    #[arg(long)]
    pub open: bool,
    /// The address and port to listen on for HTTP; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:8090", value_name = "ADDRESS", value_parser = address)]
    pub listen: SocketAddr,
    /// Print the address as a JSON object.
    #[arg(long)]
    pub json: bool,
}
