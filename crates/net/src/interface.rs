//! The host's network interfaces, by name and by number.

#[cfg(target_os = "linux")]
pub mod link;

use ipnet::IpNet;
use nix::sys::socket::SockaddrStorage;
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

/// The name of the interface of this number; the number itself, if no interface has it.
#[must_use]
pub fn name(index: u32) -> String {
    #[cfg(target_os = "linux")]
    if let Ok(name) = socket().and_then(|s| Ok(rustix::net::netdevice::index_to_name(&s, index)?)) {
        return name;
    }
    index.to_string()
}

/// The number of the interface of this name.
///
/// # Errors
/// The host has none.
pub fn index(name: &str) -> io::Result<u32> {
    #[cfg(target_os = "linux")]
    {
        let found = rustix::net::netdevice::name_to_index(&socket()?, name);
        found.map_err(|_| io::Error::other(format!("this host has no interface `{name}`")))
    }
    #[cfg(not(target_os = "linux"))]
    name.parse().map_err(|_| io::Error::other(format!("`{name}` is not an interface's number")))
}

/// The kernel's rules for the name of an interface (`dev_valid_name`).
///
/// # Errors
/// It breaks one of them, which the text names.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    match name {
        _ if !(1..=15).contains(&name.len()) => Err("the name of an interface has 1 to 15 bytes"),
        "." | ".." => Err("no interface has a name of dots alone"),
        _ if name.contains(|c: char| c == '/' || c == ':' || c == '\0' || c.is_whitespace()) => {
            Err("the name of an interface has no slash, colon or space")
        }
        _ => Ok(()),
    }
}

/// Any socket will do to ask.
#[cfg(target_os = "linux")]
fn socket() -> io::Result<std::net::UdpSocket> {
    std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))
}

/// The address, if it is an IP address.
fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    match address.as_sockaddr_in() {
        Some(v4) => Some(IpAddr::V4(v4.ip())),
        None => Some(IpAddr::V6(address.as_sockaddr_in6()?.ip())),
    }
}

/// The names of the interfaces that are up and have an address of IP, in alphabetical order.
///
/// # Errors
/// The system does not list them.
pub fn in_use() -> io::Result<Vec<String>> {
    let mut used = std::collections::BTreeSet::new();
    for one in nix::ifaddrs::getifaddrs()? {
        let is_up = one.flags.contains(nix::net::if_::InterfaceFlags::IFF_UP);
        if is_up && one.address.as_ref().and_then(ip).is_some() {
            used.insert(one.interface_name);
        }
    }
    Ok(used.into_iter().collect())
}

/// The interfaces that are up and reach other hosts by multicast, each with its IP version: 4 if it
/// has an address of that version, else 6. In alphabetical order.
///
/// # Errors
/// The system does not list them.
pub fn with_multicast() -> io::Result<Vec<(String, u8)>> {
    use nix::net::if_::InterfaceFlags as Flags;
    let mut found = BTreeMap::new();
    for one in nix::ifaddrs::getifaddrs()? {
        let wanted = Flags::IFF_UP | Flags::IFF_MULTICAST;
        if !one.flags.contains(wanted) || one.flags.contains(Flags::IFF_LOOPBACK) {
            continue;
        }
        let Some(address) = one.address else { continue };
        let version = match ip(&address) {
            Some(IpAddr::V4(_)) => 4,
            Some(IpAddr::V6(_)) => 6,
            None => continue,
        };
        let known = found.entry(one.interface_name).or_insert(version);
        *known = version.min(*known);
    }
    Ok(found.into_iter().collect())
}

/// The networks of this host's addresses, by the addresses and prefix lengths of its interfaces;
/// empty if the system does not report them. Point-to-point interfaces have single addresses.
#[must_use]
pub fn networks() -> Vec<IpNet> {
    match nix::ifaddrs::getifaddrs() {
        Ok(all) => all
            .filter_map(|one| {
                let (address, mask) = (ip(&one.address?)?, ip(&one.netmask?)?);
                IpNet::with_netmask(address, mask).ok().map(|net| net.trunc())
            })
            // A network of everything is no neighborhood.
            .filter(|net| net.prefix_len() > 0)
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "cannot read the addresses of this host's interfaces");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn loopback_is_a_network_of_this_host() {
        let networks = super::networks();
        assert!(networks.contains(&"127.0.0.0/8".parse().unwrap()), "{networks:?}");
        assert!(super::in_use().unwrap().contains(&"lo".to_owned()));
    }
}
