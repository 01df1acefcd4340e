//! Options that several commands have.

use clap::Args;

/// Where the forwarder is.
#[derive(Args, Clone)]
pub struct ForwarderArgs {
    /// The forwarder's address: a socket's path, or a URI such as tcp://127.0.0.1:6363. The default
    /// is $NDN_CLIENT_TRANSPORT, the transport in client.conf or /run/nfd/nfd.sock.
    #[arg(long, value_name = "ADDRESS")]
    pub socket: Option<String>,
}

/// The amount of output.
#[derive(Args)]
pub struct OutputArgs {
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
    /// Show protocol events.
    #[arg(long, short)]
    pub verbose: bool,
}

/// An address and a port.
pub fn address(text: &str) -> Result<std::net::SocketAddr, &'static str> {
    text.parse().map_err(|_| "write an IP address and a port, such as 127.0.0.1:8080")
}
