//! Arguments of `weir swarm`.

use clap::{Args, value_parser};
use scenario::LARGEST_SEED;
use std::path::PathBuf;

/// `weir swarm`
#[derive(Args)]
pub struct SwarmArgs {
    /// The number of seeds.
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "seed")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "K", default_value_t = 0, conflicts_with = "seed")]
    #[arg(value_parser = value_parser!(u64).range(..=LARGEST_SEED))]
    pub from: u64,
    /// Run only this seed.
    #[arg(long, value_name = "K", value_parser = value_parser!(u64).range(..=LARGEST_SEED))]
    pub seed: Option<u64>,
    /// Shrink each scenario that breaks a rule to the smallest one found that breaks the same rule.
    #[arg(long)]
    pub shrink: bool,
    /// Write each scenario that breaks a rule to this folder, with the rule and the reason in its
    /// first lines: swarm-SEED-RULE.toml, for `weir sim run`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}
