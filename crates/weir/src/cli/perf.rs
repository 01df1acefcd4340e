//! The arguments of `weir perf`.

use super::content::TransferArgs;
use super::content::{interval, rate};
use super::shared::ForwarderArgs;
use clap::{Args, Subcommand};
use control::{Duration, Rate, Size};
use packet::Name;

/// `weir perf`
#[derive(Subcommand)]
pub enum PerfCommand {
    /// Answer the Interests of `weir perf client` with content that is made on demand.
    Server(PerfServerArgs),
    /// Fetch such content and measure rate, round trips, marks and losses.
    Client(PerfClientArgs),
}

/// `weir perf server`
#[derive(Args)]
pub struct PerfServerArgs {
    /// The name that clients give. The server registers /NAME/32=perf.
    pub name: Name,
    /// Sign each Data packet with this key, by key or identity name. The default is a digest,
    /// which is much cheaper.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    /// Send no faster than this to all clients together, such as "50 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<Rate>,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print a JSON object when serving begins, and one at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir perf client`
#[derive(Args)]
pub struct PerfClientArgs {
    /// The name of the server.
    pub name: Name,
    /// The duration of the measurement; the default is 10 s.
    #[arg(long, short, value_name = "DURATION", value_parser = interval, conflicts_with = "bytes")]
    pub time: Option<Duration>,
    /// Fetch this much per flow instead, such as "100 MB".
    #[arg(long, short = 'n', value_name = "SIZE")]
    pub bytes: Option<Size>,
    /// The number of parallel flows. Each has a controller and names of its own.
    #[arg(
        long, short = 'P', default_value = "1", value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=128)
    )]
    pub parallel: u16,
    /// Bytes of content per segment. The default is 8 kB, or fewer if the name is long.
    #[arg(long, value_name = "SIZE")]
    pub segment_size: Option<Size>,
    /// The time from one line to the next, at least 1 ms.
    #[arg(long, short, default_value = "1 s", value_name = "DURATION", value_parser = interval)]
    pub interval: Duration,
    /// The run's number in the names, 16 hexadecimal digits. The default is a random number, so
    /// that no content store has its Data. The number of an earlier run, with the same sizes,
    /// measures the content stores on the path.
    #[arg(long, value_name = "HEX", value_parser = run)]
    pub run: Option<u64>,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print one JSON object at the end, with all intervals.
    #[arg(long)]
    pub json: bool,
    /// Print only the summary, and errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The number of a run, in the form that its names have.
pub fn run(text: &str) -> Result<u64, &'static str> {
    let form = "write 16 hexadecimal digits in lower case, as `run` in the output of --json";
    if text.len() != 16 || !text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(form);
    }
    u64::from_str_radix(text, 16).map_err(|_| form)
}
