//! Arguments of `weir study` for runs that several processes share.

use super::sweep::EngineWord;
use clap::Args;
use std::path::PathBuf;

/// Runs and their records.
#[derive(Args)]
pub struct SharedArgs {
    /// Keep a record of each run in this folder, and do not repeat runs that have one: an
    /// interrupted study continues. With an engine, the default is the folder records in --out.
    #[arg(long, value_name = "DIR", conflicts_with = "testbed")]
    pub records: Option<PathBuf>,
    /// The engine for the runs; the default is local. Ray and Dask are found by $RAY_ADDRESS
    /// and $DASK_SCHEDULER_ADDRESS; their workers need the study under the same path.
    #[arg(long, value_enum, conflicts_with = "testbed")]
    pub engine: Option<EngineWord>,
    /// Print the runs with their numbers and keys as JSON, and run nothing: for engines.
    #[arg(long, conflicts_with_all = ["testbed", "engine"])]
    pub plan: bool,
    /// Run only this one, given by its number and key, and write no page; may be repeated.
    #[arg(long, value_name = "NUMBER:KEY", requires = "records",
          conflicts_with_all = ["testbed", "engine", "plan", "all"])]
    pub run: Vec<String>,
}
