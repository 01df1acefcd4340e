//! Reports of the network about a peer, which the forwarder does not pass on.

use net::uri::{FaceUri, Transport};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// The time limit for a connection by TCP.
const CONNECTING: Duration = Duration::from_secs(1);

/// The reports of the network about a peer.
pub struct Probe {
    /// By UDP: an empty datagram was sent, for which the peer creates no face. The only possible
    /// answer is an error. A connection by TCP shows its result at once.
    socket: Option<UdpSocket>,
    error: Option<io::Error>,
}

impl Probe {
    /// Sends something to the peer.
    pub fn new(peer: &FaceUri) -> Probe {
        let is_tcp = matches!(peer, FaceUri::Internet { transport: Transport::Tcp, .. });
        let sent = peer.resolve().and_then(|address| match is_tcp {
            true => TcpStream::connect_timeout(&address, CONNECTING).map(|_| None),
            false => send(address).map(Some),
        });
        match sent {
            Ok(socket) => Probe { socket, error: None },
            Err(error) => Probe { socket: None, error: Some(error) },
        }
    }

    /// Takes the error that the network has reported, if any.
    pub fn look(&mut self) {
        if let Some(Ok(Some(error))) = self.socket.as_ref().map(UdpSocket::take_error) {
            self.error = Some(error);
        }
    }

    /// Waits until the network reports an error, at most for this long.
    pub fn wait(&mut self, at_most: Duration) {
        let Some(socket) = &self.socket else { return };
        let received = socket.set_read_timeout(Some(at_most)).and_then(|()| socket.recv(&mut [0]));
        self.error = received.err().filter(|error| {
            !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
        });
    }

    /// True if no program receives at the peer, or the peer cannot be reached.
    pub fn is_rejected(&self) -> bool {
        self.error.is_some()
    }

    /// The state of a silent peer.
    pub fn reason(&self) -> String {
        match &self.error {
            Some(error) if error.kind() == ErrorKind::ConnectionRefused => {
                "no program listens there".to_owned()
            }
            Some(error) => error.to_string(),
            None => "nothing came from there".to_owned(),
        }
    }
}

fn send(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = match peer {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
    }?;
    socket.connect(peer)?;
    socket.send(&[])?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_of_this_host_shows_at_once() {
        let open = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = open.local_addr().unwrap();
        let mut probe = Probe::new(&FaceUri::udp(address));
        probe.look();
        assert!(!probe.is_rejected(), "{}", probe.reason());
        drop(open);
        let mut probe = Probe::new(&FaceUri::udp(address));
        probe.look();
        assert!(probe.is_rejected());
        assert_eq!(probe.reason(), "no program listens there");
        assert!(Probe::new(&FaceUri::tcp(address)).is_rejected());
    }
}
