//! The arguments of `weir repo`.

use super::content::{FilterArgs, ReachArgs, TransferArgs, listen, rate};
use super::shared::OutputArgs;
use clap::{Args, Subcommand};
use control::{Rate, Size};
use packet::Name;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `weir repo`
#[derive(Subcommand)]
pub enum RepoCommand {
    /// Serve all content of a store until interrupted.
    Run(RepoRunArgs),
    /// Copy a file or folder into a store, under a name.
    #[command(visible_alias = "add")]
    Put(RepoPutArgs),
    /// Fetch an object or, with a slash at the end of its name, a tree, and keep it in a store.
    #[command(visible_alias = "mirror")]
    Fetch(RepoFetchArgs),
    /// List the objects and trees in a store.
    Ls(RepoLsArgs),
    /// Show an object or tree in a store.
    Stat(RepoNameArgs),
    /// Remove objects or trees from a store: the version in the name, or all versions.
    Rm(RepoRmArgs),
    /// Verify all content of a store, or below a name, against its digests.
    Verify(RepoLsArgs),
    /// Write an object in a store into a file.
    Export(RepoExportArgs),
    /// Remove unreferenced data that killed commands left behind.
    Gc(RepoGcArgs),
}

/// Where the store is.
#[derive(Args)]
pub struct StoreArgs {
    /// The folder of the store, or s3://BUCKET/PREFIX for one in a bucket of an S3 server. The
    /// default is `repo` in the state directory, ~/.weir or WEIR_HOME.
    #[arg(long, value_name = "DIR|s3://BUCKET/PREFIX")]
    pub store: Option<PathBuf>,
}

/// `weir repo run`
#[derive(Args)]
pub struct RepoRunArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Register this prefix, and answer for all names below it; may be repeated. The default is
    /// the names of all objects and trees in the store.
    #[arg(long, value_name = "NAME")]
    pub prefix: Vec<Name>,
    /// Send no faster than this, such as "50 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<Rate>,
    /// Run a forwarder in this process, and listen for UDP at this address only: an IP address,
    /// with or without a port. The default without a daemon is all addresses, and port 6363 if it
    /// is free.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = listen, conflicts_with = "socket")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `weir repo put`
#[derive(Args)]
pub struct RepoPutArgs {
    /// The name.
    pub name: Name,
    /// The file or folder; `-` is standard input. A folder becomes a tree.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Sign with this key, by key or identity name. The default is the default key if the name is
    /// under its identity, otherwise a digest, which detects corruption only.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// `weir repo fetch`
#[derive(Args)]
pub struct RepoFetchArgs {
    /// The name, with or without a version. With a slash at its end it is a tree.
    pub name: super::content::Place,
    #[command(flatten)]
    pub keep: KeepArgs,
    /// Fetch no faster than this, such as "50 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<Rate>,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// Where something is kept.
#[derive(Args)]
pub struct KeepArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Fail if the content in the store, with names and signatures, would take more than this, such
    /// as "20 GB".
    #[arg(long, value_name = "SIZE")]
    pub quota: Option<Size>,
}

/// `weir repo ls` and `weir repo verify`
#[derive(Args)]
pub struct RepoLsArgs {
    /// Only this name, and names below it.
    pub name: Option<Name>,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// `weir repo stat`
#[derive(Args)]
pub struct RepoNameArgs {
    /// The name, with or without a version.
    pub name: Name,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// `weir repo rm`
#[derive(Args)]
pub struct RepoRmArgs {
    /// The names, with or without a version.
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<Name>,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// `weir repo export`
#[derive(Args)]
pub struct RepoExportArgs {
    /// The name, with or without a version; a file of a tree has the tree's name before its path.
    pub name: Name,
    /// The output file; `-` is standard output.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// `weir repo gc`
#[derive(Args)]
pub struct RepoGcArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub output: RepoOutputArgs,
}

/// The amount of output of a command that works on a store.
#[derive(Args)]
pub struct RepoOutputArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print only errors and results.
    #[arg(long, short)]
    pub quiet: bool,
}
