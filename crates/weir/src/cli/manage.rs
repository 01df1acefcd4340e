//! What is done with a running forwarder.

use super::ForwarderArgs;
use clap::{Args, Subcommand, ValueEnum};
use packet::Name;

/// What is listed, and how.
#[derive(Args)]
pub struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Sign commands with this key, by key or identity name. Without it, with a digest, which will
    /// do where the forwarder lets all programs of its host command.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
}

/// `weir face`
#[derive(Subcommand)]
pub enum FaceCommand {
    /// List the faces.
    List(ListArgs),
    /// Make a face to a peer.
    Create {
        /// Where it leads, such as udp4://192.0.2.1:6363 or tcp://router.example.
        uri: String,
        #[command(flatten)]
        options: FaceOptions,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Change a face.
    Update {
        /// Its number or URI.
        face: String,
        /// Exchange IncomingFaceId and NextHopFaceId with the application.
        #[arg(long, value_enum, value_name = "ON/OFF")]
        local_fields: Option<Switch>,
        #[command(flatten)]
        options: FaceOptions,
        #[command(flatten)]
        list: ListArgs,
    },
    /// End a face.
    Destroy {
        /// Its number or URI.
        face: String,
        #[command(flatten)]
        list: ListArgs,
    },
}

/// What can be said of a face.
#[derive(Args)]
pub struct FaceOptions {
    /// How long it lives: as its socket, longer (it is connected again), or as long as it is used.
    #[arg(long, value_enum, value_name = "WORD")]
    pub persistency: Option<PersistencyWord>,
    /// The largest UDP payload in bytes.
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<u64>,
    /// Send again what is lost; only when a face is made.
    #[arg(long, value_enum, value_name = "ON/OFF")]
    pub reliability: Option<Switch>,
    /// Mark packets while the face's queue is long; only when a face is made.
    #[arg(long, value_enum, value_name = "ON/OFF")]
    pub marking: Option<Switch>,
}

/// How long a face lives.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PersistencyWord {
    /// Goes with its socket.
    Persistent,
    /// Goes when it is idle.
    OnDemand,
    /// Is connected again when it breaks.
    Permanent,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Let it be so.
    On,
    /// Let it not be so.
    Off,
}

/// `weir route`
#[derive(Subcommand)]
pub enum RouteCommand {
    /// List the routes.
    List(ListArgs),
    /// Add a route, or change it.
    Add {
        /// The prefix.
        prefix: Name,
        /// The face that it leaves by: its number or URI.
        face: String,
        /// The smaller, the more preferred.
        #[arg(long, default_value = "0", value_name = "N")]
        cost: u64,
        /// Who made it, by the number in NFD's management protocol; 255 is an operator.
        #[arg(long, default_value = "255", value_name = "N")]
        origin: u64,
        /// Longer prefixes with routes do not have it, too.
        #[arg(long)]
        no_inherit: bool,
        /// The prefix has no routes of shorter ones.
        #[arg(long)]
        capture: bool,
        /// How long it lives; without it, as long as the face.
        #[arg(long, value_name = "DURATION")]
        expires: Option<control::Duration>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Remove a route.
    Remove {
        /// The prefix.
        prefix: Name,
        /// The face that it leaves by: its number or URI.
        face: String,
        /// Who made it.
        #[arg(long, default_value = "255", value_name = "N")]
        origin: u64,
        /// Whoever made it: the routes of all origins.
        #[arg(long, conflicts_with = "origin")]
        all: bool,
        #[command(flatten)]
        list: ListArgs,
    },
}

/// `weir strategy`
#[derive(Subcommand)]
pub enum StrategyCommand {
    /// List the prefixes that have a strategy of their own.
    List(ListArgs),
    /// Choose the strategy for the names below a prefix.
    Set {
        /// The prefix.
        prefix: Name,
        /// A strategy, such as multicast or /localhost/nfd/strategy/multicast.
        strategy: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Take the choice back: names below the prefix follow the next shorter one.
    Unset {
        /// The prefix.
        prefix: Name,
        #[command(flatten)]
        list: ListArgs,
    },
}

/// `weir cs`
#[derive(Subcommand)]
pub enum CsCommand {
    /// Show what the content store holds and how it serves.
    Info(ListArgs),
    /// Change how much it holds, and whether it takes in and gives out.
    Config {
        /// Packets that it may hold.
        #[arg(long, value_name = "N")]
        capacity: Option<u64>,
        /// Take Data in.
        #[arg(long, value_enum, value_name = "ON/OFF")]
        admit: Option<Switch>,
        /// Answer Interests.
        #[arg(long, value_enum, value_name = "ON/OFF")]
        serve: Option<Switch>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Remove Data at and below a name.
    Erase {
        /// The name.
        prefix: Name,
        /// Packets that are removed at most; without it, all.
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        #[command(flatten)]
        list: ListArgs,
    },
}
