//! The host's network interfaces, by name and by number.

use std::io;

/// The name of the interface of this number; the number itself, if there is none.
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

/// Any socket will do to ask.
#[cfg(target_os = "linux")]
fn socket() -> io::Result<std::net::UdpSocket> {
    std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))
}
