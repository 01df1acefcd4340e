//! `weir daemon`

use crate::cli::DaemonArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use net::config::{self, Config};

/// Runs the forwarder, or checks its configuration.
pub fn run(args: &DaemonArgs) -> Result<(), Failure> {
    let config = match &args.config {
        Some(path) => config::load(path).map_err(|error| Failure::new(Kind::Usage, error))?,
        None => Config::default(),
    };
    if args.check {
        let what = args.config.as_deref().map_or_else(
            || "the built-in configuration".to_owned(),
            |path| path.display().to_string(),
        );
        output::result(&format!("{what}: no mistakes"));
        return Ok(());
    }
    net::daemon::run(config).map_err(|error| Failure::new(Kind::Failed, error))
}
