//! `weir mount` of a program without FUSE.

use crate::cli::MountArgs;
use crate::exit::{Failure, Kind};

/// Fails: this program was built without FUSE.
pub fn run(_args: &MountArgs) -> Result<(), Failure> {
    let message = "this program was built without its feature `mount`";
    Err(Failure::new(Kind::Usage, message).then("build it with --features mount"))
}
