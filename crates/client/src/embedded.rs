//! A forwarder in the process of the program.

use crate::client::Client;
use crate::error::Error;
use net::daemon::DaemonError;
use net::embedded::{Listening, Plan};
use net::uri::{FaceUri, Transport};
use std::net::SocketAddr;
use tempfile::TempDir;

/// A forwarder in this process, for hosts without a daemon. It runs the daemon's code in a thread,
/// without a cache and without transit for others. It ends when this value is dropped, and clients
/// then get [`Error::NoForwarder`].
///
/// ```
/// use client::Embedded;
///
/// # fn main() -> Result<(), client::Error> {
/// let forwarder = Embedded::start()?;
/// let client = forwarder.client()?;
/// let _publication = client.publish("/demo/greeting", "hello")?;
/// assert_eq!(client.fetch("/demo/greeting")?.content, b"hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Embedded {
    // Dropped in this order: the folder of the socket goes last.
    forwarder: net::embedded::Embedded,
    address: String,
    _folder: TempDir,
}

impl Embedded {
    /// Starts a forwarder without peers, for communication within the program.
    ///
    /// # Errors
    /// Those of [`EmbeddedBuilder::start`].
    pub fn start() -> Result<Embedded, Error> {
        Embedded::builder().start()
    }

    /// The faces of a new forwarder.
    pub fn builder() -> EmbeddedBuilder {
        EmbeddedBuilder::default()
    }

    /// The address of its Unix socket, in a folder that only this user can enter.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The addresses at which peers reach it over UDP.
    #[must_use]
    pub fn listening(&self) -> &[SocketAddr] {
        self.forwarder.listening()
    }

    /// A client of it, with the default settings. For others, give [`Embedded::address`] to
    /// [`Client::builder`].
    ///
    /// # Errors
    /// As for [`Client::connect`].
    pub fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.address)
    }
}

/// The faces of a new forwarder: see [`Embedded::builder`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct EmbeddedBuilder {
    peers: Vec<String>,
    listen: Option<SocketAddr>,
}

impl EmbeddedBuilder {
    /// Sends Interests for all names to this forwarder, too, such as `udp://192.0.2.1:6363`.
    pub fn peer(mut self, address: impl Into<String>) -> EmbeddedBuilder {
        self.peers.push(address.into());
        self
    }

    /// Takes Interests from peers at this address, over UDP. Port 0 is a free port.
    pub fn listen(self, address: SocketAddr) -> EmbeddedBuilder {
        EmbeddedBuilder { listen: Some(address), ..self }
    }

    /// Starts the forwarder.
    ///
    /// # Errors
    /// [`Error::Usage`]: a peer's address is invalid, or its host is not found. [`Error::Failed`]:
    /// the address to listen at is not available, or the system lacks resources for a forwarder.
    pub fn start(self) -> Result<Embedded, Error> {
        let folder = tempfile::Builder::new().prefix("weir-").tempdir();
        let folder = folder.map_err(|error| Error::system("make a folder for a socket", &error))?;
        let socket = folder.path().join("socket");
        let address = format!("unix://{}", socket.display());
        let peers = self.peers.iter().map(|text| peer(text)).collect::<Result<_, _>>()?;
        let listening = self.listen.map_or(Listening::Nowhere, Listening::At);
        let plan = Plan { peers, interfaces: Vec::new(), listening, socket: Some(socket) };
        let (forwarder, _) = net::embedded::Embedded::start(&plan)
            .map_err(|error: DaemonError| Error::Failed(error.to_string()))?;
        Ok(Embedded { forwarder, address, _folder: folder })
    }
}

/// The face of a peer, with its address resolved.
fn peer(text: &str) -> Result<FaceUri, Error> {
    let uri: FaceUri =
        text.parse().map_err(|error: net::uri::UriError| no_peer(text, &error.why))?;
    let address = uri.resolve().map_err(|error| no_peer(text, &error.to_string()))?;
    match uri {
        FaceUri::Internet { transport: Transport::Tcp, .. } => Ok(FaceUri::tcp(address)),
        _ => Ok(FaceUri::udp(address)),
    }
}

fn no_peer(text: &str, why: &str) -> Error {
    Error::Usage(format!("`{text}` is not the address of a peer: {why}"))
}
