//! The state that all requests share.

use crate::gateway::folders::Folders;
use crate::gateway::log::Log;
use crate::gateway::player::Player;
use crate::gateway::slots::Slots;
use crate::gateway::tls::Tls;
use crate::gateway::uploads::Uploads;
use crate::signals::Stop;
use crate::transfer::Transfers;
use net::client::Address;
use packet::Name;
use router::guard::Guard;
use std::sync::Arc;
use weir::http::ask::Mirror;

/// The state that the gateway's requests share.
pub struct Gateway {
    /// The forwarder.
    pub address: Address,
    /// How to fetch.
    pub transfers: Transfers,
    /// Names under one of these are served.
    pub prefixes: Vec<Name>,
    /// Paths with files of HTTP origins.
    pub mirrors: Vec<Mirror>,
    /// The check of hosts and origins.
    pub guard: Guard,
    /// The folders of trees.
    pub folders: Box<dyn Folders>,
    /// The page that plays content.
    pub player: Player,
    /// The uploads, if there may be any.
    pub uploads: Option<Uploads>,
    /// The slots of requests.
    pub slots: Arc<Slots>,
    /// The time without progress after which a client makes room if others wait.
    pub client_timeout: control::Duration,
    /// The encryption of connections, if they are encrypted.
    pub tls: Option<Tls>,
    /// The access log.
    pub log: Log,
    /// When to end.
    pub stop: Stop,
}
