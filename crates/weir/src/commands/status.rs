//! `weir status`

mod state;
mod watch;

use crate::cli::StatusArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use net::client::{Address, Connection};
#[cfg(test)]
pub use state::Printed;
pub use state::counters;
use state::shown;

/// Shows the state of the forwarder.
pub fn run(args: &StatusArgs) -> Result<(), Failure> {
    // Asking ends with the first signal, as a failure with its own exit code.
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    match args.watch {
        true => watch::run(&mut connection, args.json, &stop),
        false => output::result(&shown(&mut connection, args.json)?),
    }
}
