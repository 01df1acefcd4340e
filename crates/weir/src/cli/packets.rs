//! The arguments of `weir peek`, `weir poke`, `weir ping` and `weir traceroute`.

use super::content::{interval, lifetime};
use super::shared::ForwarderArgs;
use clap::Args;
use packet::Name;
use std::path::PathBuf;

/// `weir peek`
#[derive(Args)]
pub struct PeekArgs {
    /// The name of the packet.
    pub name: Name,
    /// Accept a packet whose name continues behind this one.
    #[arg(long)]
    pub prefix: bool,
    /// Do not accept a packet from a store that is older than its freshness period.
    #[arg(long)]
    pub fresh: bool,
    /// Print only the content, as it is.
    #[arg(long)]
    pub content: bool,
    /// Print the whole packet, as it is.
    #[arg(long, conflicts_with = "content")]
    pub wire: bool,
    /// The lifetime of the Interest, and how long to wait.
    #[arg(long, default_value = "4 s", value_name = "DURATION", value_parser = lifetime)]
    pub lifetime: control::Duration,
    /// The number of links that the Interest may pass.
    #[arg(long, value_name = "N")]
    pub hops: Option<u8>,
    /// Accept only a packet that this key itself has signed; may be repeated. Intermediate
    /// certificates are not fetched, unlike with `weir get`.
    #[arg(long, value_name = "KEY")]
    pub trust: Vec<String>,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print one JSON object.
    #[arg(long, conflicts_with_all = ["content", "wire"])]
    pub json: bool,
}

/// `weir poke`
#[derive(Args)]
pub struct PokeArgs {
    /// The name of the packet.
    pub name: Name,
    /// The file with the content; `-` is standard input.
    pub file: PathBuf,
    /// How long content stores may answer with it when fresh packets are requested.
    #[arg(long, value_name = "DURATION")]
    pub freshness: Option<control::Duration>,
    /// Mark it as the last one of its object.
    #[arg(long)]
    pub last: bool,
    /// Sign with this key, by key or identity name; the default is as for `weir put`.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    /// Fail when no Interest for it has arrived for this long; without it, wait indefinitely.
    #[arg(long, value_name = "DURATION")]
    pub patience: Option<control::Duration>,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print only errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir ping`
#[derive(Args)]
pub struct PingArgs {
    /// The prefix of the program that answers, such as `weir ping --serve` or ndnpingserver.
    pub prefix: Name,
    /// Answer instead of sending Interests, until interrupted.
    #[arg(long)]
    pub serve: bool,
    /// Stop after this many Interests, or answers.
    #[arg(long, short, value_name = "N")]
    pub count: Option<std::num::NonZeroU64>,
    /// The time from one Interest to the next, at least 1 ms.
    #[arg(
        long, short, default_value = "1 s", value_name = "DURATION", value_parser = interval,
        conflicts_with = "serve"
    )]
    pub interval: control::Duration,
    /// The time after which an Interest counts as unanswered.
    #[arg(
        long, default_value = "4 s", value_name = "DURATION", value_parser = lifetime,
        conflicts_with = "serve"
    )]
    pub timeout: control::Duration,
    /// The number of the first Interest; the default is random, so that no content store has the
    /// answer.
    #[arg(long, value_name = "N", conflicts_with = "serve")]
    pub start: Option<u64>,
    /// Accept answers from content stores.
    #[arg(long, conflicts_with = "serve")]
    pub stored: bool,
    /// The size of the content of answers.
    #[arg(
        long, default_value = "0 B", value_name = "SIZE", requires = "serve",
        conflicts_with_all = ["interval", "timeout", "start", "stored"]
    )]
    pub size: control::Size,
    /// Sign answers with this key, by key or identity name. The default is a digest.
    #[arg(
        long, value_name = "KEY", requires = "serve",
        conflicts_with_all = ["interval", "timeout", "start", "stored"]
    )]
    pub sign: Option<Name>,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
    /// Print only the summary, and errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir traceroute`
#[derive(Args)]
pub struct TracerouteArgs {
    /// The name whose path is traced.
    pub name: Name,
    /// The maximum number of forwarders to query.
    #[arg(
        long, default_value = "32", value_name = "N",
        value_parser = clap::value_parser!(u8).range(1..)
    )]
    pub hops: u8,
    /// How often a forwarder without a reply is probed.
    #[arg(long, default_value = "2", value_name = "N")]
    pub tries: std::num::NonZeroU8,
    /// How long to wait for a reply.
    #[arg(long, default_value = "1 s", value_name = "DURATION", value_parser = lifetime)]
    pub timeout: control::Duration,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print one JSON object at the end.
    #[arg(long)]
    pub json: bool,
}
