//! The command line.

// The manual's test has this file as a module of its own, by its path.
#[path = "cli/manage.rs"]
pub mod manage;
#[path = "cli/sim.rs"]
pub mod sim;
#[path = "cli/swarm.rs"]
pub mod swarm;

use clap::{Args, Parser, Subcommand, ValueEnum};
use control::{Ratio, Size};
use manage::{CsCommand, FaceCommand, RouteCommand, StrategyCommand};
use packet::Name;
use sim::{ScenarioArgs, SimCommand};
use std::path::PathBuf;
use swarm::SwarmArgs;

/// Exit codes, for the manual.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found (name or \
                          route), 4 not verified, 5 interrupted, 6 no forwarder, 7 a local file \
                          cannot be read or written.";

/// Moves named content over NDN networks without congesting them.
#[derive(Parser)]
#[command(name = "weir", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a forwarder.
    Daemon(DaemonArgs),
    /// Publish files under a name and serve them until interrupted.
    Put(PutArgs),
    /// Fetch what a name stands for, verified, into a file or standard output.
    Get(GetArgs),
    /// Answer HTTP requests with what names stand for, for players and browsers.
    Gateway(GatewayArgs),
    /// Show what the forwarder is doing.
    Status(StatusArgs),
    /// List, make, change and end the forwarder's faces.
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
    /// List the congestion-control schemes, or explain one.
    Schemes(SchemesArgs),
    /// Make, list, carry and certify keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Run scenarios in the simulator.
    #[command(subcommand)]
    Sim(SimCommand),
    /// Check and show scenario files.
    #[command(subcommand)]
    Scenario(ScenarioCommand),
    /// Run published experiments and set what papers report beside what is measured.
    Study(StudyArgs),
    /// Run random scenarios in the simulator and check each against oracles.
    Swarm(SwarmArgs),
    /// Run scenarios on real daemons, in network namespaces of this host.
    #[command(subcommand)]
    Testbed(TestbedCommand),
    /// Make the report of results that `weir sim run --out` wrote, comparing several.
    Report(ReportArgs),
    /// Lay two results side by side: what is different, by how much, and how sure that is.
    Compare(CompareArgs),
    /// Publish a file and fetch it twice through three forwarders on this machine.
    Demo(DemoArgs),
}

/// Where the forwarder is.
#[derive(Args)]
pub struct ForwarderArgs {
    /// The forwarder's address: a socket's path, or a URI such as tcp://127.0.0.1:6363.
    /// Without it, $NDN_CLIENT_TRANSPORT, the transport in client.conf or /run/nfd/nfd.sock.
    #[arg(long, value_name = "ADDRESS")]
    pub socket: Option<String>,
}

/// How much to say.
#[derive(Args)]
pub struct OutputArgs {
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
    /// Show the events of the protocol.
    #[arg(long, short)]
    pub verbose: bool,
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
}

/// `weir put`
#[derive(Args)]
pub struct PutArgs {
    /// The name; of several files, each is published under it by its own file name.
    pub name: Name,
    /// The files; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Bytes of content in a segment. Without it 8000, or fewer where a long name leaves no room
    /// for them
    #[arg(long, value_name = "SIZE")]
    pub segment_size: Option<Size>,
    /// Sign with this key, by key or identity name. Without it, with the default key if the name
    /// is under its identity, otherwise with a digest, which protects from damage only.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    /// Sign each segment by the key, too, for programs that do not know the manifest that Weir
    /// signs.
    #[arg(long)]
    pub sign_segments: bool,
    /// Stop when nobody has asked for anything for this long, after the first answer.
    #[arg(long, value_name = "DURATION")]
    pub linger: Option<control::Duration>,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How something is fetched.
#[derive(Args)]
pub struct TransferArgs {
    /// The congestion-control scheme of the consumer; a startup may stand before it, as in
    /// `packet-pair+cubic`, and parameters behind it, as in `cubic:beta=0.8`.
    #[arg(long, default_value = schemes::defaults::CONTROLLER, value_name = "SCHEME")]
    pub control: String,
    /// A parameter of the scheme; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// How many segments one Interest asks for, from 1 to 256. Without it, as many as the scheme
    /// says; forwarders that know no ranges are asked one by one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub range: Option<u16>,
    /// Accept only what is signed by this key, or by one that it vouches for: the file of a
    /// certificate or of a shared key, or a name in the key chain; may be repeated. Or by the rules
    /// of this file.
    #[arg(long, value_name = "KEY")]
    pub trust: Vec<String>,
    /// Give up when nothing new has come for this long.
    #[arg(long, default_value = "30 s", value_name = "DURATION")]
    pub patience: control::Duration,
    /// How long an Interest stays pending in forwarders.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub lifetime: Option<control::Duration>,
}

/// `weir get`
#[derive(Args)]
pub struct GetArgs {
    /// The name, with a version or without.
    pub name: Name,
    /// Where to put it; `-` is standard output. Without it, a file in this directory that is called
    /// like the last component of the name.
    #[arg(long = "output", short, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    #[command(flatten)]
    pub transfer: TransferArgs,
    /// Write how the transfer goes into this file, a line of JSON at a time.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// From line to line of that file.
    #[arg(long, default_value = "20 ms", value_name = "DURATION", requires = "record")]
    pub record_every: control::Duration,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `weir gateway`
#[derive(Args)]
pub struct GatewayArgs {
    /// Where HTTP is listened for: an address of this host and a port; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = address)]
    pub listen: std::net::SocketAddr,
    /// Answer for names below this one; may be repeated. At least one is needed; `/` is for all.
    /// Names below /localhost and /localhop are never served.
    #[arg(long, value_name = "NAME")]
    pub prefix: Vec<Name>,
    /// Answer for this host name, too, beside localhost and the address in use; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Let pages of this origin read, as http://player.example:8000; may be repeated.
    #[arg(long, value_name = "URL")]
    pub origin: Vec<String>,
    /// How many requests are answered at a time; others wait. One client address, or another user
    /// of this host, has a quarter of them at most, the gateway's own user three quarters.
    #[arg(long, default_value = "64", value_name = "N", value_parser = clients)]
    pub clients: std::num::NonZeroU16,
    /// A client that has read nothing for this long is cut off if others wait.
    #[arg(long, default_value = "30 s", value_name = "DURATION")]
    pub client_timeout: control::Duration,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print where it listens and then each answer, as one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

fn lifetime(text: &str) -> Result<control::Duration, String> {
    let lifetime: control::Duration = text.parse().map_err(|why| format!("{why}"))?;
    // Packets carry whole milliseconds.
    if lifetime < control::Duration::from_millis(1) {
        return Err("nothing can answer an Interest of less than 1 ms; try \"4 s\"".to_owned());
    }
    Ok(lifetime)
}

fn address(text: &str) -> Result<std::net::SocketAddr, &'static str> {
    text.parse().map_err(|_| "write an IP address and a port, such as 127.0.0.1:8080")
}

fn clients(text: &str) -> Result<std::num::NonZeroU16, &'static str> {
    text.parse().map_err(|_| "write a number from 1 to 65535, such as 64")
}

/// `weir status`
#[derive(Args)]
pub struct StatusArgs {
    /// Print one JSON object.
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
    /// Make a key with a self-signed certificate, or one that is to be shared.
    New {
        /// The identity, such as /example/alice.
        identity: Name,
        /// What the key is for; other tools may know only some.
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
    /// Print a key's certificate, or with --secret a SafeBag: both, under a passphrase. Of a shared
    /// key there is the secret only.
    Export(KeyExportArgs),
    /// Take over a SafeBag, a shared key, or a certificate that somebody made for a key that is
    /// here.
    Import(KeyImportArgs),
    /// Vouch for somebody else's key: print a certificate for it.
    Sign(KeySignArgs),
    /// Give a key a certificate that is valid for longer, and print it.
    Renew(KeyRenewArgs),
}

/// `weir key export`
#[derive(Args)]
pub struct KeyExportArgs {
    /// The key, by key or identity name.
    pub key: Name,
    /// Export the secret, too.
    #[arg(long)]
    pub secret: bool,
    /// The file whose first line is the passphrase; without it, it is asked for.
    #[arg(long, value_name = "FILE", requires = "secret")]
    pub passphrase_file: Option<PathBuf>,
}

/// `weir key import`
#[derive(Args)]
pub struct KeyImportArgs {
    /// What `weir key export`, `weir key sign` or `ndnsec export` printed, or the file of a shared
    /// key; `-` is standard input.
    pub file: PathBuf,
    /// The file whose first line is the passphrase; without it, it is asked for.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Make it the default key.
    #[arg(long)]
    pub default: bool,
}

/// `weir key sign`
#[derive(Args)]
pub struct KeySignArgs {
    /// The certificate that the key's owner has signed himself; `-` is standard input.
    pub file: PathBuf,
    /// The key that signs, by key or identity name.
    #[arg(long, value_name = "KEY")]
    pub by: Name,
    /// The component of the certificate's name that says who issued it.
    #[arg(long, default_value = "NA", value_name = "WORD")]
    pub issuer: String,
    /// How long it is valid.
    #[arg(long, default_value = "365", value_name = "DAYS")]
    pub days: u64,
}

/// `weir key renew`
#[derive(Args)]
pub struct KeyRenewArgs {
    /// The key, by key or identity name.
    pub key: Name,
    /// How long the certificate is valid.
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
    /// RSA of 2048 bits: large, known everywhere.
    Rsa,
    /// HMAC-SHA256: one secret for all who sign and verify.
    Hmac,
}

/// `weir testbed …`
#[derive(Subcommand)]
pub enum TestbedCommand {
    /// Run a scenario, or all runs of its sweep one after the other, with a daemon for each node
    /// and the real tools. Needs root, or user namespaces.
    Run(TestbedRunArgs),
    /// Build a scenario's network for other programs and let it stand until Ctrl-C: namespaces,
    /// links with rates by the kernel's token buckets, IP routes between all nodes, and daemons.
    Up(TestbedUpArgs),
    /// Remove what a testbed left that was killed: namespaces, processes, files.
    Clean,
}

/// `weir testbed run`
#[derive(Args)]
pub struct TestbedRunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The seed; of a sweep's repetitions, the first one.
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// The testbed's name, by which its network namespaces begin (weir-NAME.NODE); without it, that
    /// of the scenario.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Who keeps to the links' rates and queues: the daemons' faces, or token buckets of the
    /// kernel.
    #[arg(long, value_enum, default_value_t = ShapeWord::Faces, value_name = "WHO")]
    pub shape: ShapeWord,
    /// The largest IP packet that links take; without it 9216, in which NDN packets go whole.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(604..=9216))]
    pub mtu: Option<u16>,
    /// Build it even if this machine is too small for it by the estimate that is made before.
    #[arg(long)]
    pub anyway: bool,
    /// Write everything into this folder, as `weir sim run` does.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Who keeps to the rates of links.
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
    /// The testbed's name, by which its network namespaces begin (weir-NAME.NODE); without it, that
    /// of the scenario.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The largest IP packet that links take; without it 9216, in which NDN packets go whole.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(604..=9216))]
    pub mtu: Option<u16>,
    /// Start no daemons: the network alone.
    #[arg(long)]
    pub bare: bool,
    /// Print one JSON object as soon as it stands.
    #[arg(long)]
    pub json: bool,
}

/// `weir study`
#[derive(Args)]
pub struct StudyArgs {
    /// The study's folder: scenarios, expected.toml, README.md and deviations.md. With --all, the
    /// folder of all studies; without it, scenarios.
    #[arg(value_name = "DIR", required_unless_present = "all")]
    pub folder: Option<PathBuf>,
    /// Do all studies of the folder.
    #[arg(long)]
    pub all: bool,
    /// One seed and shorter runs: orders are judged, numbers are only shown.
    #[arg(long)]
    pub quick: bool,
    /// Only these experiments; may be repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub only: Vec<String>,
    /// Run on real daemons, one after the other, what expected.toml says can be; what comes of it
    /// is put into the pages that are in the folder, and into those that are written later.
    #[arg(long, conflicts_with_all = ["quick", "jobs"])]
    pub testbed: bool,
    /// Write the report into this folder: pages for a browser, and the same text as Markdown.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs that are done at a time; without it, one for each core.
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir report`
#[derive(Args)]
pub struct ReportArgs {
    /// The folders. What they hold is compared in the same pictures.
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Where the report goes; without it, report.html in the folder, or here if there are several.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `weir compare`
#[derive(Args)]
pub struct CompareArgs {
    /// The folder that differences are measured from.
    #[arg(value_name = "RUN1")]
    pub first: PathBuf,
    /// The folder that is laid beside it.
    #[arg(value_name = "RUN2")]
    pub second: PathBuf,
    /// The share of RUN1's value, such as "5 %", from which on a difference is marked. If it is
    /// given, the exit code is 1 where a goodput, a completion time or a mean queue differs by
    /// more; without it, what is over 5 % is marked.
    #[arg(long, value_name = "SHARE")]
    pub within: Option<Ratio>,
    /// Where the page with all differences and pictures goes; without it, compare.html here.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir scenario`
#[derive(Subcommand)]
pub enum ScenarioCommand {
    /// Say what is wrong with a scenario, and where; nothing is run.
    Check(ScenarioArgs),
    /// Draw the network; list nodes, links, routes and the ways from consumers to producers.
    Show(ShowArgs),
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
}

/// `weir scenario show`
#[derive(Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Draw the network into this file as well, as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `weir demo`
#[derive(Args)]
pub struct DemoArgs {
    /// The file; without it, this program's own.
    pub file: Option<PathBuf>,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
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
            &["weir", "put", "/a", "f", "--segment-size", "8 parsecs"],
            &["weir", "compare", "one"],
            &["weir", "compare", "one", "two", "--within", "5"],
        ] {
            assert!(Cli::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
