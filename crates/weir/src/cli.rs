//! The command line.

// The manual's test has this file as a module of its own, by its path.
#[path = "cli/chat.rs"]
pub mod chat;
#[path = "cli/content.rs"]
pub mod content;
#[path = "cli/docs.rs"]
pub mod docs;
#[path = "cli/install.rs"]
pub mod install;
#[path = "cli/manage.rs"]
pub mod manage;
#[path = "cli/packets.rs"]
pub mod packets;
#[path = "cli/perf.rs"]
pub mod perf;
#[path = "cli/plot.rs"]
pub mod plot;
#[path = "cli/proxy.rs"]
pub mod proxy;
#[path = "cli/repo.rs"]
pub mod repo;
#[path = "cli/shared.rs"]
pub mod shared;
#[path = "cli/sim.rs"]
pub mod sim;
#[path = "cli/study.rs"]
pub mod study;
#[path = "cli/swarm.rs"]
pub mod swarm;
#[path = "cli/sweep.rs"]
pub mod sweep;
#[path = "cli/upload.rs"]
pub mod upload;
#[path = "cli/web.rs"]
pub mod web;

use chat::ChatArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use content::{CatArgs, GetArgs, LsArgs, MountArgs, PutArgs, ShareArgs, TransferArgs};
use control::Ratio;
use install::{CompletionsArgs, ManArgs};
use manage::{CsCommand, FaceCommand, RouteCommand, StrategyCommand, TraceArgs};
use packet::Name;
use packets::{PeekArgs, PingArgs, PokeArgs, TracerouteArgs};
use perf::PerfCommand;
use repo::RepoCommand;
use shared::{ForwarderArgs, address};
use sim::{ScenarioArgs, SimCommand};
use std::path::PathBuf;
use swarm::SwarmArgs;

/// Exit codes, for the manual.
pub const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found (name or \
                          route), 4 not verified, 5 interrupted, 6 no forwarder, 7 a local file \
                          cannot be read or written.";

/// The version, and the commit where the build script found one. Other crates that contain this
/// file have no such script.
const VERSION: &str = match option_env!("WEIR_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Moves named content over NDN networks without congesting them.
#[derive(Parser)]
#[command(name = "weir", version = VERSION, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a forwarder.
    Daemon(DaemonArgs),
    /// Publish files or folders under a name and serve them until interrupted.
    Put(PutArgs),
    /// Publish a folder like `put`, and publish a new version whenever something in it changes.
    Share(ShareArgs),
    /// Fetch an object, or a tree of files, by its name, and verify it.
    Get(GetArgs),
    /// List the files of a tree.
    Ls(LsArgs),
    /// Fetch an object by its name, and write it to standard output.
    Cat(CatArgs),
    /// Show a tree, or an object, as files of this host, until interrupted.
    Mount(MountArgs),
    /// Request one packet, and show it.
    Peek(PeekArgs),
    /// Answer one Interest with one packet.
    Poke(PokeArgs),
    /// Measure the round trip to a program that answers, or answer.
    Ping(PingArgs),
    /// List the forwarders that Interests for a name cross.
    Traceroute(TracerouteArgs),
    /// Measure the throughput of a path with any congestion-control scheme.
    #[command(subcommand)]
    Perf(PerfCommand),
    /// Talk in a group, and exchange files.
    Chat(ChatArgs),
    /// Keep content in a store, and serve it after its publisher has stopped.
    #[command(subcommand)]
    Repo(RepoCommand),
    /// Publish the files of HTTP origins by name, fetched when they are requested.
    Proxy(proxy::ProxyArgs),
    /// Serve named content over HTTP, for players and browsers.
    Gateway(GatewayArgs),
    /// Show the state of the forwarder.
    Status(StatusArgs),
    /// Check this host, and recommend changes so that transfers work well.
    Doctor(DoctorArgs),
    /// List, create, update and destroy the forwarder's faces.
    #[command(subcommand)]
    Face(FaceCommand),
    /// List, add and remove the forwarder's routes.
    #[command(subcommand)]
    Route(RouteCommand),
    /// List and choose the forwarder's strategies.
    #[command(subcommand)]
    Strategy(StrategyCommand),
    /// Show, configure and empty the forwarder's content store.
    #[command(subcommand)]
    Cs(CsCommand),
    /// Show the forwarder's packets as they pass, until interrupted.
    Trace(TraceArgs),
    /// List the congestion-control schemes, or explain one.
    Schemes(SchemesArgs),
    /// Make, list, move and certify keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Run scenarios in the simulator.
    #[command(subcommand)]
    Sim(SimCommand),
    /// Run a scenario's sweep, on this host or on a cluster; points with results are not run again.
    Sweep(sweep::SweepArgs),
    /// Check and show scenario files.
    #[command(subcommand)]
    Scenario(ScenarioCommand),
    /// Run published experiments and compare published with measured values.
    Study(StudyArgs),
    /// Run random scenarios in the simulator and check each against oracles.
    Swarm(SwarmArgs),
    /// Run scenarios on real daemons, in network namespaces of this host.
    #[command(subcommand)]
    Testbed(TestbedCommand),
    /// Make a report from results of `weir sim run --out`; several folders are compared.
    Report(ReportArgs),
    /// Compare two results: the differences, their size, and their confidence.
    Compare(CompareArgs),
    /// Draw a sweep into a file: a measure over a field, or two measures as points.
    Plot(plot::PlotArgs),
    /// Publish a file and fetch it twice through three forwarders on this machine.
    Demo(DemoArgs),
    /// Serve the documentation to browsers of this host, until interrupted.
    Docs(docs::DocsArgs),
    /// Print the completions of this command line for a shell.
    Completions(CompletionsArgs),
    /// Print the man page of the program, or write the pages of all commands into a folder.
    Man(ManArgs),
}

/// `weir daemon`
#[derive(Args)]
pub struct DaemonArgs {
    /// The configuration file; without it, all defaults.
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Check the configuration and stop.
    #[arg(long)]
    pub check: bool,
    /// Print the JSON Schema of configuration files and stop.
    #[arg(long, conflicts_with_all = ["config", "check"])]
    pub schema: bool,
}

/// `weir gateway`
#[derive(Args)]
pub struct GatewayArgs {
    /// The address and port to listen on for HTTP; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = address)]
    pub listen: std::net::SocketAddr,
    /// Serve names below this one; may be repeated. At least one is required; `/` is for all. Names
    /// below /localhost and /localhop are never served.
    #[arg(long, value_name = "NAME")]
    pub prefix: Vec<Name>,
    /// Serve files that `weir proxy` publishes below a name, as their origin does, below a path of
    /// HTTP, such as /hub=/example/hub; may be repeated.
    #[arg(long, value_name = "PATH=NAME")]
    pub mirror: Vec<weir::http::ask::Mirror>,
    /// Also accept this host name, besides localhost and the address in use; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Let pages of this origin read content, such as http://player.example:8000; may be repeated.
    #[arg(long, value_name = "URL")]
    pub origin: Vec<String>,
    #[command(flatten)]
    pub web: web::WebArgs,
    /// Append a line for each answer to this file, in the combined format of web servers. A file
    /// that is moved away is reopened within a second; one of 100 MB is rotated to FILE.1.
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// The maximum number of concurrent requests; others wait. One client address, or another user
    /// of this host, gets at most a quarter of them, the gateway's own user three quarters.
    #[arg(long, default_value = "64", value_name = "N", value_parser = clients)]
    pub clients: std::num::NonZeroU16,
    /// Disconnect a client that has read nothing for this long if others wait. An upload that
    /// delivers less than 10 kB in this time ends.
    #[arg(long, default_value = "30 s", value_name = "DURATION")]
    pub client_timeout: control::Duration,
    #[command(flatten)]
    pub upload: upload::UploadArgs,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print the listening address and then each answer, as one JSON object per line.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

fn clients(text: &str) -> Result<std::num::NonZeroU16, &'static str> {
    text.parse().map_err(|_| "write a number from 1 to 65535, such as 64")
}

/// `weir status`
#[derive(Args)]
pub struct StatusArgs {
    /// Show the state again every second, until interrupted.
    #[arg(long)]
    pub watch: bool,
    /// Print one JSON object; with --watch, one per line and second.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
}

/// `weir doctor`
#[derive(Args)]
pub struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
}

/// `weir schemes`
#[derive(Args)]
pub struct SchemesArgs {
    /// The scheme to explain.
    pub name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `weir key`
#[derive(Subcommand)]
pub enum KeyCommand {
    /// Make a key with a self-signed certificate, or a shared key.
    New {
        /// The identity, such as /example/alice.
        identity: Name,
        /// The type of the key; other tools may support only some.
        #[arg(long = "type", value_enum, default_value_t = KeyWord::Ed25519, value_name = "TYPE")]
        kind: KeyWord,
        /// Make it the default key.
        #[arg(long)]
        default: bool,
    },
    /// List the keys.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a key's certificate, or with --secret a SafeBag with both, under a passphrase. A
    /// shared key has only a secret.
    Export(KeyExportArgs),
    /// Import a SafeBag, a shared key, or another issuer's certificate for a key of this key chain.
    Import(KeyImportArgs),
    /// Certify another owner's key: print a certificate for it.
    Sign(KeySignArgs),
    /// Make a certificate with a longer validity for a key, and print it.
    Renew(KeyRenewArgs),
}

/// `weir key export`
#[derive(Args)]
pub struct KeyExportArgs {
    /// The key, by key or identity name.
    pub key: Name,
    /// Also export the secret.
    #[arg(long)]
    pub secret: bool,
    /// The file with the passphrase in its first line; without it, the command prompts for the
    /// passphrase.
    #[arg(long, value_name = "FILE", requires = "secret")]
    pub passphrase_file: Option<PathBuf>,
}

/// `weir key import`
#[derive(Args)]
pub struct KeyImportArgs {
    /// The output of `weir key export`, `weir key sign` or `ndnsec export`, or the file of a shared
    /// key; `-` is standard input.
    pub file: PathBuf,
    /// The file with the passphrase in its first line; without it, the command prompts for the
    /// passphrase.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Make it the default key.
    #[arg(long)]
    pub default: bool,
}

/// `weir key sign`
#[derive(Args)]
pub struct KeySignArgs {
    /// The key's self-signed certificate; `-` is standard input.
    pub file: PathBuf,
    /// The key that signs, by key or identity name.
    #[arg(long, value_name = "KEY")]
    pub by: Name,
    /// The component of the certificate's name for the issuer.
    #[arg(long, default_value = "NA", value_name = "WORD")]
    pub issuer: String,
    /// The validity period.
    #[arg(long, default_value = "365", value_name = "DAYS")]
    pub days: u64,
}

/// `weir key renew`
#[derive(Args)]
pub struct KeyRenewArgs {
    /// The key, by key or identity name.
    pub key: Name,
    /// The validity period of the certificate.
    #[arg(long, default_value = "7300", value_name = "DAYS")]
    pub days: u64,
}

/// Types of keys.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyWord {
    /// Ed25519: small and fast.
    Ed25519,
    /// ECDSA over P-256, as ndn-cxx makes by default.
    Ecdsa,
    /// RSA of 2048 bits: large, supported everywhere.
    Rsa,
    /// HMAC-SHA256: one secret for all signers and verifiers.
    Hmac,
}

/// `weir testbed …`
#[derive(Subcommand)]
pub enum TestbedCommand {
    /// Run a scenario, or all runs of its sweep one after the other, with a daemon for each node
    /// and the real tools. Needs root, or user namespaces.
    Run(TestbedRunArgs),
    /// Build a scenario's network for other programs and keep it until Ctrl-C: namespaces, links
    /// with rates by the kernel's token buckets, IP routes between all nodes, and daemons.
    Up(TestbedUpArgs),
    /// Remove the leftovers of killed testbeds: namespaces, processes, files.
    Clean,
}

/// `weir testbed run`
#[derive(Args)]
pub struct TestbedRunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The seed; for a sweep, that of the first repetition.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(..=scenario::LARGEST_SEED))]
    pub seed: Option<u64>,
    /// The testbed's name, which its network namespaces contain (weir-NAME.NODE); the default is
    /// that of the scenario.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The place of the links' rates and queues: the daemons' faces, or token buckets of the
    /// kernel.
    #[arg(long, value_enum, default_value_t = ShapeWord::Faces, value_name = "WHO")]
    pub shape: ShapeWord,
    /// The largest IP packet on links; the default is 9216, so that NDN packets are not fragmented.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(604..=9216))]
    pub mtu: Option<u16>,
    /// Build it even if the estimate says that this machine is too small.
    #[arg(long)]
    pub anyway: bool,
    /// Write all results into this folder, as `weir sim run` does.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The place of the rates of links.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeWord {
    /// The daemons' faces.
    Faces,
    /// Token buckets of the kernel.
    Kernel,
}

/// `weir testbed up`
#[derive(Args)]
pub struct TestbedUpArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The testbed's name, which its network namespaces contain (weir-NAME.NODE); the default is
    /// that of the scenario.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The largest IP packet on links; the default is 9216, so that NDN packets are not fragmented.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(604..=9216))]
    pub mtu: Option<u16>,
    /// Build only the network, without daemons.
    #[arg(long)]
    pub bare: bool,
    /// Print one JSON object when the network is ready.
    #[arg(long)]
    pub json: bool,
}

/// `weir study`
#[derive(Args)]
pub struct StudyArgs {
    /// The study's folder: scenarios, expected.toml, README.md and deviations.md; or scenarios and
    /// arena.toml, on which all schemes are compared. With --all, the folder of all studies;
    /// without it, scenarios.
    #[arg(value_name = "DIR", required_unless_present = "all")]
    pub folder: Option<PathBuf>,
    /// Run all studies of the folder.
    #[arg(long)]
    pub all: bool,
    /// Use one seed and shorter runs: only orders, and numbers of runs that are not shortened, are
    /// judged.
    #[arg(long)]
    pub quick: bool,
    /// Run only this experiment, or this cell of an arena; may be repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub only: Vec<String>,
    /// Seeds of each cell of an arena; the default is the number in arena.toml.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub seeds: Option<std::num::NonZeroU64>,
    /// Run the experiments that expected.toml marks for real daemons, one after the other. The
    /// results are added to the pages in the folder, and to those written later.
    #[arg(long, conflicts_with_all = ["quick", "jobs"])]
    pub testbed: bool,
    /// Write the report to this folder: pages for a browser, and the same text as Markdown.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The number of concurrent runs; the default is one per core.
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    pub shared: study::SharedArgs,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir report`
#[derive(Args)]
pub struct ReportArgs {
    /// The folders, compared in the same pictures.
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// The report's file; the default is report.html in the folder, or here if there are several.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `weir compare`
#[derive(Args)]
pub struct CompareArgs {
    /// The first folder, from which differences are measured.
    #[arg(value_name = "RUN1")]
    pub first: PathBuf,
    /// The second folder.
    #[arg(value_name = "RUN2")]
    pub second: PathBuf,
    /// The share of RUN1's value, such as "5 %", above which a difference is marked. With it, the
    /// exit code is 1 if a goodput, a completion time or a mean queue differs by more; without it,
    /// differences over 5 % are marked.
    #[arg(long, value_name = "SHARE")]
    pub within: Option<Ratio>,
    /// The file of the page with all differences and pictures; the default is compare.html here.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir scenario`
#[derive(Subcommand)]
pub enum ScenarioCommand {
    /// Report mistakes in a scenario with their places, without running it.
    Check(ScenarioArgs),
    /// Draw the network; list nodes, links, routes and the paths from consumers to producers.
    Show(ShowArgs),
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
}

/// `weir scenario show`
#[derive(Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Also draw the network to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `weir demo`
#[derive(Args)]
pub struct DemoArgs {
    /// The file; the default is this program.
    pub file: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn names_and_quantities_are_checked() {
        assert!(Cli::try_parse_from(["weir", "get", "/a", "-o", "-"]).is_ok());
        for wrong in [
            &["weir", "get", "a"][..],
            &["weir", "get", "/a", "--patience", "5"],
            &["weir", "put", "/a"],
            &["weir", "put", "/a", "f", "--listen", "host"],
            &["weir", "get", "/a", "--peer", "192.0.2.7", "--socket", "/s"],
            &["weir", "put", "/a", "f", "--segment-size", "8 parsecs"],
            &["weir", "compare", "one"],
            &["weir", "compare", "one", "two", "--within", "5"],
        ] {
            assert!(Cli::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
