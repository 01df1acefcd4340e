//! `weir cat`

use crate::cli::content::{FilterArgs, Place};
use crate::cli::{CatArgs, GetArgs};
use crate::commands::get;
use crate::exit::Failure;

/// Fetches to standard output.
pub fn run(args: CatArgs) -> Result<(), Failure> {
    get::run(&GetArgs {
        name: Place { name: args.name, below: false },
        folder: None,
        output_file: Some("-".into()),
        delete: false,
        checksum: false,
        older: false,
        filter: FilterArgs::default(),
        limit_rate: None,
        transfer: args.transfer,
        record: None,
        record_every: control::Duration::from_millis(20),
        reach: args.reach,
        output: args.output,
    })
}
