//! The forwarder that a command uses: the daemon of this host, or one in this process.

mod probe;

use crate::cli::content::ReachArgs;
use crate::exit::{Failure, Kind};
use net::client::{Address, AddressError, Connection, lists};
use net::daemon::DaemonError;
use net::embedded::{Embedded, Listening, Plan};
use net::interface;
use net::uri::{DEFAULT_PORT, FaceUri, Transport};
use probe::Probe;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The time for which a silent peer is awaited once more, to report the reason.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// A connection to a forwarder, and that forwarder if it runs in this process.
pub struct Reach {
    /// The connection.
    pub connection: Connection,
    inside: Option<Inside>,
}

/// A forwarder in this process.
struct Inside {
    forwarder: Embedded,
    plan: Plan,
}

impl Reach {
    /// For a command that fetches.
    ///
    /// # Errors
    /// The daemon cannot be used, the host of a peer is not found, all peers reject, or this host
    /// has neither a daemon nor a network.
    pub fn consumer(args: &ReachArgs) -> Result<Reach, Failure> {
        if let Some(reach) = Reach::daemon(args)? {
            return Ok(reach);
        }
        let mut plan = Plan { peers: resolve(&args.peer)?, ..Plan::default() };
        if plan.peers.is_empty() {
            plan.interfaces = interfaces()?;
            // Multicast does not reach programs of this host, such as `weir share`.
            let here = FaceUri::udp((Ipv4Addr::LOCALHOST, DEFAULT_PORT).into());
            let mut probe = Probe::new(&here);
            probe.look();
            plan.peers.extend(Some(here).filter(|_| !probe.is_rejected()));
            if plan.interfaces.is_empty() && plan.peers.is_empty() {
                let message = "no forwarder runs on this host, and it has no network to find one";
                return Err(Failure::new(Kind::NoForwarder, message).then(WHAT_TO_DO));
            }
        }
        let peers = plan.peers.clone();
        let mut probes: Vec<Probe> = peers.iter().map(Probe::new).collect();
        let reach = Reach::start(plan)?;
        // By now, a host nearby has answered. Later, `explain` looks once more.
        probes.iter_mut().for_each(Probe::look);
        match !args.peer.is_empty() && probes.iter().all(Probe::is_rejected) {
            true => Err(no_answer(&peers, &probes)),
            false => Ok(reach),
        }
    }

    /// For a command that publishes; with a line for the user, if a forwarder in this process
    /// listens for it.
    ///
    /// # Errors
    /// As [`Reach::consumer`], or the address to listen at is not available.
    pub fn producer(
        args: &ReachArgs,
        listen: Option<SocketAddr>,
    ) -> Result<(Reach, Option<String>), Failure> {
        let is_chosen = listen.is_some() || !args.peer.is_empty();
        if listen.is_none()
            && let Some(reach) = Reach::daemon(args)?
        {
            return Ok((reach, None));
        }
        let plan = Plan {
            peers: resolve(&args.peer)?,
            interfaces: if is_chosen { Vec::new() } else { interfaces()? },
            listening: listen.map_or(Listening::Anywhere, Listening::At),
            socket: None,
        };
        let reach = Reach::start(plan)?;
        let note = reach.inside.as_ref().map(|inside| inside.note(is_chosen));
        Ok((reach, note))
    }

    /// The daemon of this host; `None` if a forwarder in this process is to be used.
    fn daemon(args: &ReachArgs) -> Result<Option<Reach>, Failure> {
        if !args.peer.is_empty() {
            return Ok(None);
        }
        let configured = Address::configured(args.forwarder.socket.as_deref())?;
        let is_usual = configured.is_none();
        match Connection::open(configured.unwrap_or_else(Address::usual)) {
            // An address that the user has configured is a choice.
            Err(error) if is_usual && error.is_absence() => Ok(None),
            opened => Ok(Some(Reach { connection: opened?, inside: None })),
        }
    }

    fn start(plan: Plan) -> Result<Reach, Failure> {
        let (forwarder, connection) = Embedded::start(&plan)?;
        Ok(Reach { connection, inside: Some(Inside { forwarder, plan }) })
    }

    /// The failure of a fetch. If no peer has sent anything, this is the reason.
    pub fn explain(&mut self, failure: Failure) -> Failure {
        let Some(inside) = &self.inside else { return failure };
        if !matches!(failure.kind(), Kind::NotFound | Kind::Failed) {
            return failure;
        }
        // The forwarder in this process answers, or its own failure is the one to report.
        let Ok(faces) = lists::faces(&mut self.connection) else { return failure };
        if faces.iter().any(|face| !face.is_local && face.received.bytes > 0) {
            return failure;
        }
        let Plan { peers, interfaces, .. } = &inside.plan;
        if interfaces.is_empty() {
            let mut probes: Vec<Probe> = peers.iter().map(Probe::new).collect();
            probes.iter_mut().for_each(|probe| probe.wait(LAST_LOOK));
            return no_answer(peers, &probes);
        }
        let message = format!(
            "no forwarder runs on this host, and none on the local network answered ({})",
            names(interfaces)
        );
        Failure::new(Kind::NoForwarder, message).then(WHAT_TO_DO)
    }
}

/// The next step without a forwarder.
const WHAT_TO_DO: &str = "start one with `weir daemon`, or name one elsewhere with --peer HOST";

impl Inside {
    /// The line for the user of a command that publishes.
    fn note(&self, is_chosen: bool) -> String {
        let begin = if is_chosen { "a forwarder" } else { "no forwarder on this host: one" };
        let listening = self.forwarder.listening().iter().map(|at| FaceUri::udp(*at).to_string());
        let mut listening: Vec<String> = listening.collect();
        if !self.plan.interfaces.is_empty() {
            listening.push(format!("the local network ({})", names(&self.plan.interfaces)));
        }
        let peers: Vec<String> = self.plan.peers.iter().map(ToString::to_string).collect();
        let peers = if peers.is_empty() { "none".to_owned() } else { peers.join(", ") };
        let listening = listening.join(", ");
        format!("{begin} in this process listens on {listening}; peers: {peers}")
    }
}

/// The peers by their addresses, each once.
fn resolve(given: &[FaceUri]) -> Result<Vec<FaceUri>, Failure> {
    let mut peers = Vec::new();
    for uri in given {
        let address = uri.resolve().map_err(|error| {
            let (text, why) = (uri.to_string(), error.to_string());
            Failure::from(AddressError::Host { text, why })
                .then("check its spelling, or give its address with --peer")
        })?;
        let peer = match uri {
            FaceUri::Internet { transport: Transport::Tcp, .. } => FaceUri::tcp(address),
            _ => FaceUri::udp(address),
        };
        if !peers.contains(&peer) {
            peers.push(peer);
        }
    }
    Ok(peers)
}

fn interfaces() -> Result<Vec<(String, u8)>, Failure> {
    interface::with_multicast().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot list this host's interfaces: {error}"))
            .then("name a forwarder elsewhere with --peer HOST")
    })
}

fn names(interfaces: &[(String, u8)]) -> String {
    let names: Vec<&str> = interfaces.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

/// The failure if no peer answers.
fn no_answer(peers: &[FaceUri], probes: &[Probe]) -> Failure {
    let reasons = peers.iter().zip(probes);
    let reasons: Vec<String> =
        reasons.map(|(peer, probe)| format!("{peer}: {}", probe.reason())).collect();
    let message = format!("no forwarder answers at {}", reasons.join(", "));
    Failure::new(Kind::NoForwarder, message)
        .then("start `weir daemon` or `weir share` there, or give another address with --peer")
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Failure {
        let next = match error {
            DaemonError::Listen { .. } => "choose another address with --listen",
            _ => "",
        };
        Failure::new(Kind::Failed, error).then(next)
    }
}
