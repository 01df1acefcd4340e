//! `weir chat`

use super::content;
use super::shared::ForwarderArgs;
use clap::Args;
use packet::Name;
use std::path::PathBuf;

/// `weir chat`
#[derive(Args)]
pub struct ChatArgs {
    /// The name of the group.
    pub group: Name,
    /// The name of this member. The default is the identity of its key.
    #[arg(long = "as", value_name = "NAME")]
    pub member: Option<Name>,
    /// Sign with this key, by key or identity name. The default is the default key.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    /// Accept only members with this key or with one that it certifies: the file of a certificate
    /// or of a shared key, or a name in the key chain; may be repeated. Or a file of trust rules.
    /// The default is the key of this member.
    #[arg(long, value_name = "KEY")]
    pub trust: Vec<String>,
    /// The number of earlier messages of each member that are fetched on joining.
    #[arg(
        long, default_value = "100", value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1000)
    )]
    pub history: u16,
    /// The time between heartbeats. A member that is silent four times as long counts as gone.
    #[arg(
        long, default_value = "10 s", value_name = "DURATION", value_parser = content::interval
    )]
    pub heartbeat: control::Duration,
    /// The folder in which `/get` puts files.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub folder: PathBuf,
    /// Stay in the group after the end of standard input.
    #[arg(long)]
    pub stay: bool,
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Print one JSON object per event and line.
    #[arg(long)]
    pub json: bool,
    /// Print only messages, and errors.
    #[arg(long, short)]
    pub quiet: bool,
}
