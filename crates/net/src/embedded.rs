//! A forwarder in the process of the program that needs it, for hosts without a daemon.
//!
//! It is the daemon's code in a thread, connected to the program by a pair of sockets. It has no
//! transit and no cache, and peers cannot command it, so that it serves only its program. It ends
//! with [`Embedded`].

use crate::client::Connection;
use crate::config::{self, Config, Face, LinkOptions, Route, Strategy};
use crate::daemon::{Daemon, DaemonError, Stopper};
use crate::uri::{DEFAULT_PORT, FaceUri};
use control::Rate;
use packet::Name;
use schemes::Choice;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;

/// Of the forwarder itself: the program has no need of a cache, and a peer could find out by it
/// which names the program has fetched.
const BASE: &str = r#"
[daemon]
memory = "64 MB"
drain = "200 ms"

[listen]
tcp = "off"
unix = "off"

[content_store]
capacity = "0 B"

[forwarder]
transit = false
"#;

/// The groups of NDN, for peers on the same link.
const GROUPS: [(u8, &str); 2] = [(4, "udp4://224.0.23.170"), (6, "udp6://[ff02::1234]")];

/// The rate at which packets leave for a group at most: an Interest of a neighbour brings Data
/// that the whole link has to carry.
const GROUP_RATE: Rate = Rate(50_000_000);

/// The addresses at which it listens for UDP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Listening {
    /// None. Only its peers reach it.
    #[default]
    Nowhere,
    /// All addresses of the host, at NDN's port, or at another one if that is in use.
    Anywhere,
    /// This address.
    At(SocketAddr),
}

/// The faces of a forwarder.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Its peers, to each of which a default route leads.
    pub peers: Vec<FaceUri>,
    /// Interfaces on which it asks all neighbours, and their IP versions.
    pub interfaces: Vec<(String, u8)>,
    /// Where peers find it.
    pub listening: Listening,
    /// A Unix socket for more connections of its program, which only this user may open. It lies in
    /// a folder of the program's own.
    pub socket: Option<PathBuf>,
}

/// A running forwarder. It stops when this value is dropped.
#[derive(Debug)]
pub struct Embedded {
    listening: Vec<SocketAddr>,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<(), DaemonError>>>,
}

impl Embedded {
    /// Starts a forwarder, and connects to it.
    ///
    /// # Errors
    /// The host of a peer is not found, the address to listen at is not available, or the system
    /// rejects a socket or a thread.
    pub fn start(plan: &Plan) -> Result<(Embedded, Connection), DaemonError> {
        let mut daemon = match Daemon::new(&plan.config(DEFAULT_PORT)) {
            Err(error) if plan.listening == Listening::Anywhere && is_in_use(&error) => {
                Daemon::new(&plan.config(free_port()?))?
            }
            other => other?,
        };
        let failed = DaemonError::system;
        let (ours, its) = UnixStream::pair().map_err(failed("cannot make a pair of sockets"))?;
        let connection = Connection::embedded(ours).map_err(failed("cannot set up a socket"))?;
        daemon.attach(its).map_err(failed("cannot set up a socket"))?;
        let stopper = daemon.stopper().map_err(failed("cannot share a socket"))?;
        let listening = daemon.udp_addresses();
        let thread = std::thread::Builder::new().name("forwarder".to_owned());
        let thread = thread.spawn(move || daemon.run()).map_err(failed("cannot start a thread"))?;
        Ok((Embedded { listening, stopper, thread: Some(thread) }, connection))
    }

    /// The addresses at which it listens.
    #[must_use]
    pub fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // A forwarder that failed has closed its connection, which the program has reported.
            let _ = thread.join();
        }
    }
}

impl Plan {
    fn config(&self, port: u16) -> Config {
        let udp = match self.listening {
            Listening::Nowhere => "[listen]\nudp = \"off\"".to_owned(),
            Listening::Anywhere if port == DEFAULT_PORT => "[listen]".to_owned(),
            Listening::Anywhere => format!("[listen]\nudp = {port}"),
            Listening::At(address) => format!("[listen]\nudp = \"{address}\""),
        };
        let mut text = BASE.replace("[listen]", &udp);
        if self.listening == Listening::Nowhere {
            text += "\n[on_demand]\nmax = 0\n";
        }
        let mut config = config::parse(&text, "embedded").expect("the text has no mistakes");
        config.listen.unix = self.socket.clone();
        config.listen.unix_mode = Some(0o600);
        config.listen.optional = [self.listening == Listening::Anywhere; 2];
        config.faces = self.faces();
        let faces = 0..config.faces.len();
        config.routes =
            faces.map(|face| Route { prefix: Name::default(), face, cost: 0 }).collect();
        if config.routes.len() > 1 {
            let choice = Choice::named(schemes::defaults::PEERS).expect("it is among the schemes");
            config.strategies.push(Strategy { prefix: Name::default(), choice });
        }
        config
    }

    fn faces(&self) -> Vec<Face> {
        let link = config::OnDemand::clone(&Config::default().on_demand).link;
        let peers = self.peers.iter().map(|peer| remote(peer.clone(), link.clone()));
        let groups = self.interfaces.iter().filter_map(|(interface, version)| {
            let (_, uri) = GROUPS.iter().find(|(of, _)| of == version)?;
            let mut face = remote(uri.parse().ok()?, link.clone());
            face.interface = Some(interface.clone());
            face.link.rate = Some(GROUP_RATE);
            Some(face)
        });
        peers.chain(groups).collect()
    }
}

/// A face to another program. One of this host is no more trusted than a peer elsewhere.
fn remote(uri: FaceUri, link: LinkOptions) -> Face {
    Face { uri, name: None, interface: None, is_remote: true, link }
}

/// True if another program listens at the address.
fn is_in_use(error: &DaemonError) -> bool {
    let DaemonError::Listen { source, .. } = error else { return false };
    source.kind() == ErrorKind::AddrInUse
}

/// A port that no program uses, for both versions of IP.
fn free_port() -> Result<u16, DaemonError> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let port = socket.and_then(|socket| socket.local_addr()).map(|address| address.port());
    port.map_err(DaemonError::system("cannot get a port for UDP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consumer_listens_nowhere_and_no_plan_has_transit_or_a_cache() {
        let peers = vec!["tcp4://127.0.0.1:7000".parse().unwrap()];
        let at = Listening::At("127.0.0.1:7001".parse().unwrap());
        for (listening, udp) in [(Listening::Nowhere, 0), (Listening::Anywhere, 2), (at, 1)] {
            let plan = Plan { peers: peers.clone(), listening, ..Plan::default() };
            let config = plan.config(DEFAULT_PORT);
            assert_eq!(config.listen.udp.len(), udp);
            assert_eq!(config.on_demand.max == 0, udp == 0);
            assert!(config.listen.tcp.is_empty() && config.listen.unix.is_none());
            assert!(config.listen.websocket.is_empty() && config.metrics.is_empty());
            assert!(!config.forwarder.transit && config.faces[0].is_remote);
            assert_eq!(config.content_store.capacity, 0);
        }
    }

    #[test]
    fn neighbours_cannot_make_it_fill_their_link() {
        let peers = vec!["udp4://127.0.0.1:7000".parse().unwrap()];
        let interfaces = vec![("lo".to_owned(), 4), ("lo".to_owned(), 6)];
        let plan = Plan { peers, interfaces, ..Plan::default() };
        let rates: Vec<_> = plan.config(DEFAULT_PORT).faces.iter().map(|f| f.link.rate).collect();
        assert_eq!(rates, [None, Some(GROUP_RATE), Some(GROUP_RATE)]);
    }

    #[test]
    fn nothing_is_left_when_it_goes() {
        let any = Listening::At("127.0.0.1:0".parse().unwrap());
        let plan = Plan { listening: any, ..Plan::default() };
        let (embedded, mut connection) = Embedded::start(&plan).unwrap();
        connection.register(&"/a".parse().unwrap()).unwrap();
        let address = embedded.listening()[0];
        assert!(UdpSocket::bind(address).is_err());
        drop(embedded);
        UdpSocket::bind(address).unwrap();
        let error = connection.register(&"/b".parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains("closed the connection"), "{error}");
    }
}
