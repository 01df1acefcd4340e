//! Arguments of `weir sim`.

use clap::{Args, Subcommand};
use scenario::LARGEST_SEED;
use std::path::PathBuf;

/// `weir sim`
#[derive(Subcommand)]
pub enum SimCommand {
    /// Run a scenario, or all runs of its sweep.
    Run(SimRunArgs),
}

/// A scenario file, and changes to it.
#[derive(Args)]
pub struct ScenarioArgs {
    /// The scenario.
    pub file: PathBuf,
    /// Set a field to another value, such as link.queue=50 packets; may be repeated. It replaces a
    /// sweep over that field.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `weir sim run`
#[derive(Args)]
pub struct SimRunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The seed; for a sweep, that of the first repetition.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    pub seed: Option<u64>,
    /// Write all results into this folder: a report for a browser, time series and flows as
    /// Parquet, the summary, the scenario with all defaults, the program's version.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Continue an interrupted sweep: keep complete runs in --out and do the others.
    #[arg(long, requires = "out", conflicts_with_all = ["pcap", "events"])]
    pub resume: bool,
    /// Write the packets on links to this file as pcapng, for Wireshark; each of several runs has
    /// its own file.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Write the events of packets, flows and links to this file as lines of JSON; each of several
    /// runs has its own file.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Limit --pcap and --events to a link (A-B) or a node; may be repeated.
    #[arg(long, value_name = "PLACE")]
    pub trace_at: Vec<String>,
    /// Limit --events to these events, such as dropped,lost.
    #[arg(long, value_name = "EVENT", value_delimiter = ',')]
    pub events_of: Vec<String>,
    /// The number of concurrent runs of a sweep; the default is one per core.
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}
