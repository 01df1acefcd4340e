//! `weir share`

use crate::cli::content::Place;
use crate::cli::{PutArgs, ShareArgs};
use crate::commands::put;
use crate::exit::{Failure, Kind};

/// Publishes a folder, and each change of it.
pub fn run(args: ShareArgs) -> Result<(), Failure> {
    if let Err(error) = std::fs::metadata(&args.folder) {
        let message = format!("cannot share {}: {error}", args.folder.display());
        return Err(Failure::new(Kind::File, message).then("name a folder"));
    }
    if !args.folder.is_dir() {
        let message = format!("cannot share {}: it is not a folder", args.folder.display());
        return Err(Failure::new(Kind::File, message).then("`weir put` publishes files"));
    }
    let put = PutArgs {
        name: Place { name: args.name, below: false },
        files: vec![args.folder],
        segment_size: None,
        sign_segments: false,
        serving: args.serving,
        filter: args.filter,
        reach: args.reach,
        output: args.output,
    };
    put::publish(&put, true)
}
