//! Parts of the configuration that starting and reading it again apply in one way.

use super::error::DaemonError;
use crate::config;
use crate::framing::MAX_FRAME;
use crate::socket::udp::UdpOptions;
use forwarder::Forwarder;
use packet::Name;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The payload of an Ethernet frame, unless the link has another MTU.
pub(super) const ETHERNET: usize = 1500;

/// The options of UDP sockets.
pub(super) fn udp_options(listen: &config::Listen) -> UdpOptions {
    UdpOptions {
        receive_buffer: usize::try_from(listen.receive_buffer.0).unwrap_or(usize::MAX),
        force: listen.force_receive_buffer,
    }
}

/// The initial datagram payload, within the MTU of the route. It is at most that of an Ethernet
/// frame, because a larger MTU of the first hop says nothing about later hops. On loopback it is a
/// whole packet: there are no later hops, and some applications cannot reassemble fragments.
pub(super) fn default_payload(peer: SocketAddr, route: Option<usize>) -> usize {
    let headers = if peer.is_ipv4() { 28 } else { 48 };
    let wanted = if peer.ip().is_loopback() { MAX_FRAME } else { ETHERNET - headers };
    route.map_or(wanted, |route| route.min(wanted))
}

/// The strategy of the root, unless the configuration says otherwise.
pub(super) fn root_choice() -> schemes::Choice {
    schemes::Choice::named(schemes::defaults::STRATEGY).expect("the default is among the schemes")
}

/// Sets the strategy of a prefix; `all` are the prefixes that have one, with its name.
pub(super) fn choose(
    forwarder: &mut Forwarder,
    all: &mut BTreeMap<Name, Name>,
    prefix: &Name,
    choice: &schemes::Choice,
) -> Result<(), DaemonError> {
    let strategy = choice.strategy().map_err(DaemonError::table(prefix))?;
    let set = forwarder.set_strategy(prefix.as_ref(), strategy);
    set.map_err(DaemonError::table(prefix))?;
    all.insert(prefix.clone(), schemes::instance::name(choice));
    Ok(())
}
