//! Arguments of `weir sim`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `weir sim`
#[derive(Subcommand)]
pub enum SimCommand {
    /// Run a scenario, or all runs of its sweep.
    Run(SimRunArgs),
}

/// A scenario file, and what is different from it.
#[derive(Args)]
pub struct ScenarioArgs {
    /// The scenario.
    pub file: PathBuf,
    /// A field that is to have another value, such as link.queue=50 packets; may be repeated. What
    /// is set is not swept.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `weir sim run`
#[derive(Args)]
pub struct SimRunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The seed; of a sweep's repetitions, the first one.
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// Write everything into this folder: a report to be opened in a browser, time series and
    /// flows as Parquet, the summary, the scenario with all defaults, the program's version.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the runs of a sweep that an interrupted command left in --out, and do the others.
    #[arg(long, requires = "out", conflicts_with_all = ["pcap", "events"])]
    pub resume: bool,
    /// Write what crosses links into this file as pcapng, which Wireshark opens; of several runs,
    /// each into a file of its own.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Write what happens to packets, flows and links into this file as lines of JSON; of several
    /// runs, each into a file of its own.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// A link (A-B) or a node that --pcap and --events are about; may be repeated; without it, all.
    #[arg(long, value_name = "PLACE")]
    pub trace_at: Vec<String>,
    /// What --events writes, such as dropped,lost; without it, everything.
    #[arg(long, value_name = "EVENT", value_delimiter = ',')]
    pub events_of: Vec<String>,
    /// Runs of a sweep that are done at a time; without it, one for each core.
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}
