//! `weir doctor` checks what transfers depend on: the host, the forwarder and the user's keys.
//!
//! Functions named `judge` only compare values; the others read the values.

mod check;
mod clock;
mod forwarder;
mod host;
mod keys;
mod state_dir;
mod system;

pub use check::{Check, Verdict};

use crate::exit::Failure;
use crate::identity;
use net::clock::unix_millis;
use std::path::Path;
use system::System;

/// Examines everything. `socket` is the forwarder's address, if it was given.
///
/// # Errors
/// A signal came.
pub fn examine(socket: Option<&str>) -> Result<Vec<Check>, Failure> {
    let system = System::below(Path::new("/"));
    let now = unix_millis() / 1000;
    let mut checks = host::examine(&system);
    let keys = identity::key_dir().ok();
    let listing = keys.as_deref().and_then(keys::read);
    checks.extend(clock::examine(&system, now, listing.as_ref().map_or(0, keys::newest)));
    checks.extend(forwarder::examine(socket)?);
    match &keys {
        Some(dir) => {
            checks.extend(state_dir::examine(dir));
            checks.extend(keys::examine(dir, listing.as_ref(), now));
        }
        None => checks.push(state_dir::unknown()),
    }
    Ok(checks)
}
