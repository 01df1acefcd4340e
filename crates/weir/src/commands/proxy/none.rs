//! `weir proxy` of a program without a client of HTTP.

use crate::cli::proxy::ProxyArgs;
use crate::exit::{Failure, Kind};

/// Fails: this program was built without a client of HTTP.
pub fn run(_args: &ProxyArgs) -> Result<(), Failure> {
    let message = "this program was built without its feature `proxy`";
    Err(Failure::new(Kind::Usage, message).then("build it with --features proxy"))
}
