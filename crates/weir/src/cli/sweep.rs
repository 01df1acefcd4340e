//! Arguments of `weir sweep`.

use super::sim::ScenarioArgs;
use clap::{Args, ValueEnum};
use scenario::LARGEST_SEED;
use serde::Serialize;
use std::num::NonZeroU32;

/// The largest number of seeds of a sequential design.
const MOST: i64 = 10_000;

/// `weir sweep`
#[derive(Args)]
pub struct SweepArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The seed of the first repetition.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    pub seed: Option<u64>,
    /// The folder with a result for each point, or s3://BUCKET/PREFIX. Points with results there
    /// are not run again.
    #[arg(long, value_name = "PLACE")]
    pub out: String,
    /// The engine that runs the points. Ray and Dask are found by $RAY_ADDRESS and
    /// $DASK_SCHEDULER_ADDRESS.
    #[arg(long, value_enum, default_value_t = EngineWord::Local)]
    pub engine: EngineWord,
    /// The number of concurrent runs of the engine local; the default is one per core.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroU32>,
    #[command(flatten)]
    pub until: UntilArgs,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// A sequential design.
#[derive(Args, Serialize)]
pub struct UntilArgs {
    /// Add seeds until this measure, a column of the table `runs` such as settled_goodput_mbps,
    /// has a decided order; the number of repetitions of the scenario is not used.
    #[arg(long = "until", value_name = "MEASURE")]
    pub measure: Option<String>,
    /// The swept field whose values are compared; the default is the one with schemes.
    #[arg(long, value_name = "FIELD", requires = "measure")]
    pub over: Option<String>,
    /// The confidence of all decisions together.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "measure",
          value_parser = finite)]
    pub confidence: f64,
    /// Differences below this are equal, in the unit of the measure.
    #[arg(long, value_name = "N", default_value_t = 0.0, requires = "measure",
          value_parser = finite)]
    pub margin: f64,
    /// The number of seeds at which undecided comparisons are given up.
    #[arg(long, value_name = "N", requires = "measure",
          default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub most: u32,
}

/// The engines of sweeps.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineWord {
    /// Threads of this host.
    Local,
    /// A Ray cluster.
    Ray,
    /// A Dask cluster.
    Dask,
}

/// A number that is neither infinite nor undefined.
fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if number.is_finite() { Ok(number) } else { Err("it is not finite".to_owned()) }
}
