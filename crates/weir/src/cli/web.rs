//! The arguments of `weir gateway` about browsers.

use clap::Args;
use std::path::PathBuf;

/// Browsers.
#[derive(Args)]
pub struct WebArgs {
    /// Encrypt by TLS, with the certificates in this file (PEM): the gateway's own first, then
    /// those that certify it.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The folder of the library with which the player, /localhost/player/, plays HLS and DASH. The
    /// default is the one that is installed with the program, otherwise target/player of the
    /// program's checkout, which `scripts/player` makes.
    #[arg(long, value_name = "DIR")]
    pub player: Option<PathBuf>,
}
