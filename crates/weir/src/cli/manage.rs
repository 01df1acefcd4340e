//! Commands for a running forwarder.

use super::shared::ForwarderArgs;
use clap::{Args, Subcommand, ValueEnum};
use packet::Name;

/// Options of lists.
#[derive(Args)]
pub struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Sign commands with this key, by key or identity name. The default is a digest, which is
    /// enough if the forwarder accepts commands of all programs on its host.
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
    /// Create a face to a peer.
    Create {
        /// The peer's URI, such as udp4://192.0.2.1:6363, tcp://router.example or
        /// ether://[08:00:27:01:01:01].
        uri: String,
        /// The interface of a face over Ethernet, such as dev://eth0.
        #[arg(long, value_name = "URI")]
        local: Option<String>,
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
    /// Destroy a face.
    Destroy {
        /// Its number or URI.
        face: String,
        #[command(flatten)]
        list: ListArgs,
    },
}

/// Options of a face.
#[derive(Args)]
pub struct FaceOptions {
    /// The lifetime of the face: that of its socket, longer (with reconnection), or while it is in
    /// use.
    #[arg(long, value_enum, value_name = "WORD")]
    pub persistency: Option<PersistencyWord>,
    /// The largest payload of a UDP datagram or Ethernet frame, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<u64>,
    /// Repeat lost packets; only when a face is created.
    #[arg(long, value_enum, value_name = "ON/OFF")]
    pub reliability: Option<Switch>,
    /// Mark packets while the face's queue is long; only when a face is created.
    #[arg(long, value_enum, value_name = "ON/OFF")]
    pub marking: Option<Switch>,
}

/// The lifetime of a face.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PersistencyWord {
    /// Closes with its socket.
    Persistent,
    /// Closes when it is idle.
    OnDemand,
    /// Reconnects when it breaks.
    Permanent,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Switch it on.
    On,
    /// Switch it off.
    Off,
}

/// `weir route`
#[derive(Subcommand)]
pub enum RouteCommand {
    /// List the routes.
    List(ListArgs),
    /// Add or change a route.
    Add {
        /// The prefix.
        prefix: Name,
        /// The next hop: a face's number or URI.
        face: String,
        /// The cost; smaller values are preferred.
        #[arg(long, default_value = "0", value_name = "N")]
        cost: u64,
        /// The route's origin, a number of NFD's management protocol; 255 is an operator.
        #[arg(long, default_value = "255", value_name = "N")]
        origin: u64,
        /// Longer prefixes do not inherit the route.
        #[arg(long)]
        no_inherit: bool,
        /// The prefix inherits no routes of shorter ones.
        #[arg(long)]
        capture: bool,
        /// The lifetime of the route; the default is that of the face.
        #[arg(long, value_name = "DURATION")]
        expires: Option<control::Duration>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Remove a route.
    Remove {
        /// The prefix.
        prefix: Name,
        /// The next hop: a face's number or URI.
        face: String,
        /// The route's origin.
        #[arg(long, default_value = "255", value_name = "N")]
        origin: u64,
        /// Remove the routes of all origins.
        #[arg(long, conflicts_with = "origin")]
        all: bool,
        #[command(flatten)]
        list: ListArgs,
    },
}

/// `weir strategy`
#[derive(Subcommand)]
pub enum StrategyCommand {
    /// List the prefixes with their own strategy.
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
    /// Remove a prefix's strategy: names below it use that of the next shorter prefix.
    Unset {
        /// The prefix.
        prefix: Name,
        #[command(flatten)]
        list: ListArgs,
    },
}

/// `weir trace`
#[derive(Args)]
pub struct TraceArgs {
    /// Only packets at this face: its number or URI.
    #[arg(long, value_name = "FACE")]
    pub face: Option<String>,
    /// Only packets whose names are below this one.
    #[arg(long, value_name = "NAME")]
    pub prefix: Option<Name>,
    /// Write the packets into this file, for Wireshark, instead of a line for each; `-` is standard
    /// output.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub pcap: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// `weir cs`
#[derive(Subcommand)]
pub enum CsCommand {
    /// Show the size and the settings of the content store.
    Info(ListArgs),
    /// Change the content store's capacity, admission and serving.
    Config {
        /// The maximum number of packets.
        #[arg(long, value_name = "N")]
        capacity: Option<u64>,
        /// Store Data.
        #[arg(long, value_enum, value_name = "ON/OFF")]
        admit: Option<Switch>,
        /// Answer Interests from the store.
        #[arg(long, value_enum, value_name = "ON/OFF")]
        serve: Option<Switch>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Remove Data at and below a name.
    Erase {
        /// The name.
        prefix: Name,
        /// The maximum number of removed packets; the default is all.
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        #[command(flatten)]
        list: ListArgs,
    },
}
