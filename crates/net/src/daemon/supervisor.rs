//! Reports to a supervisor such as systemd: sd_notify(3), a datagram of lines `WORD=VALUE` to the
//! socket that `NOTIFY_SOCKET` names. Without that variable nothing is sent.

use std::io;
use std::os::unix::net::UnixDatagram;

/// The daemon is ready; sent again after a reload of the configuration.
pub(super) const READY: &str = "READY=1";
/// The daemon ends.
pub(super) const STOPPING: &str = "STOPPING=1";

/// Sends a state to the supervisor, if there is one.
pub(super) fn notify(state: &str) {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = notify_at(place.as_encoded_bytes(), state) {
        let place = place.display();
        tracing::warn!(%place, %error, "cannot notify the supervisor: {state}");
    }
}

/// A reload of the configuration begins. systemd requires the time on its own clock.
pub(super) fn reloading() -> String {
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        format!("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1_000_000 + now.tv_nsec / 1000)
    }
    #[cfg(not(target_os = "linux"))]
    "RELOADING=1".to_owned()
}

/// A place that begins with `@` has no file: its name is in the kernel alone.
fn notify_at(place: &[u8], state: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    #[cfg(target_os = "linux")]
    if let Some(name) = place.strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt;
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
        return socket.send_to_addr(state.as_bytes(), &address).map(drop);
    }
    let path = std::path::Path::new(std::str::from_utf8(place).map_err(io::Error::other)?);
    socket.send_to(state.as_bytes(), path).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    #[test]
    fn a_supervisor_is_notified_at_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        notify_at(path.as_os_str().as_encoded_bytes(), READY).unwrap();
        assert_eq!(received(&socket), "READY=1");
        drop(socket);
        assert!(notify_at(path.as_os_str().as_encoded_bytes(), READY).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_supervisor_is_notified_at_a_name_without_a_file() {
        use std::os::linux::net::SocketAddrExt;
        let name = format!("weir-supervisor-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        notify_at(format!("@{name}").as_bytes(), STOPPING).unwrap();
        assert_eq!(received(&socket), "STOPPING=1");
        let reload = reloading();
        notify_at(format!("@{name}").as_bytes(), &reload).unwrap();
        let (first, since) = reload.split_once("\nMONOTONIC_USEC=").unwrap();
        assert_eq!(first, "RELOADING=1");
        assert!(since.parse::<u64>().unwrap() > 0);
        assert_eq!(received(&socket), reload);
    }
}
