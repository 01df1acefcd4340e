//! The forwarder on real links: one thread, one poll, one loop.
//!
//! ```text
//! poll -> datagrams -> streams -> new connections -> deadlines -> send -> poll
//! ```
//!
//! Datagrams come first, because a socket that is not emptied loses what comes next, while a stream
//! only waits. Every step is bounded in bytes, so that the others have their turn in time. What
//! the kernel does not take stays in the forwarder's queues, where its sojourn is known.

mod accept;
mod accounts;
mod applications;
mod applied;
mod crowd;
mod error;
mod face;
mod faces;
mod listeners;
pub mod log;
mod marking;
mod memory;
mod metrics;
mod orders;
mod permissions;
mod reload;
mod start;
mod stop;
mod supervisor;
mod turn;
mod unproved;
mod wake_up;

pub use error::DaemonError;
pub use stop::Stopper;
pub use wake_up::{Observer, Reread};

use crate::clock::Clock;
use crate::config::{Application, Config, OnDemand, Origins};
use crate::management::Management;
use crate::socket::udp::{ReceiveBuffers, UdpOptions};
use crate::timer::Timer;
use control::{Duration, Size, Time};
use crowd::Rejected;
use faces::Faces;
use forwarder::{FaceId, Forwarder};
use listeners::Listeners;
use memory::Watch;
use mio::net::UnixStream;
use mio::{Events, Poll};
use orders::Connecting;
use reload::Configured;
use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use unproved::Unproved;
use wake_up::WakeUps;

/// What a daemon is given by the program that it runs in.
pub struct Hooks {
    /// Tells the allocator to give memory that it holds and nobody uses back to the system; it is
    /// called where memory is limited.
    pub give_back: fn(),
    /// Reads the configuration again, if it came from where it can be read again.
    pub reread: Option<Reread>,
    /// Answers at the addresses of `[metrics]`.
    pub serve_metrics: ServeMetrics,
}

/// Answers with metrics at an address, from a thread of its own, until what it gave is dropped.
pub type ServeMetrics = fn(SocketAddr, Observer) -> io::Result<Box<dyn Any + Send>>;

/// Runs a daemon in the foreground until SIGINT or SIGTERM.
///
/// # Errors
/// It cannot start, or the poll itself fails; everything else that goes wrong is logged.
pub fn run(config: Config, hooks: Hooks) -> Result<(), DaemonError> {
    log::start(&config.daemon);
    let memory = config.daemon.memory.map(|limit| limit.0).zip(Some(config.forwarder.memory));
    let metrics = config.metrics.clone();
    let mut daemon = Daemon::new(config)?;
    if let Some((limit, shared)) = memory {
        let (limit, shared) = (Size(limit), Size(shared as u64));
        tracing::info!(%limit, %shared, "the memory of this process is limited");
    }
    daemon.memory = memory.map(|(limit, shared)| Watch::new(limit, shared, hooks.give_back));
    daemon.stop_on_signals()?;
    daemon.reload_on_signal(hooks.reread)?;
    daemon.serve_metrics(hooks.serve_metrics, &metrics)?;
    supervisor::tell(supervisor::READY);
    daemon.run()
}

/// Whether a daemon with this configuration would find the users, groups, certificates and trust
/// rules that it names. Opens no socket and changes nothing.
///
/// # Errors
/// The first that is missing or cannot be used.
pub fn check(config: &Config) -> Result<(), DaemonError> {
    accounts::access(&config.listen)?;
    permissions::look_up(config).map(drop)
}

/// What the loop takes from the configuration.
#[derive(Debug)]
struct Settings {
    on_demand: OnDemand,
    application: Application,
    udp: UdpOptions,
    origins: Arc<Origins>,
    drain: Duration,
    seed: u64,
}

/// Faces with work to be done.
#[derive(Debug, Default)]
struct Work {
    /// UDP faces that may have datagrams.
    datagrams: VecDeque<FaceId>,
    /// Streams that may have bytes.
    streams: VecDeque<FaceId>,
    /// Faces that may send.
    sending: VecDeque<FaceId>,
    /// A listener may have connections waiting.
    listeners: bool,
}

/// Buffers that all faces share.
#[derive(Debug)]
struct Buffers {
    datagrams: ReceiveBuffers,
    stream: Vec<u8>,
    packet: Vec<u8>,
    /// What faces collect what they send in, unless something waits in theirs.
    out: Vec<u8>,
}

/// A forwarder with its sockets.
#[derive(Debug)]
pub struct Daemon {
    clock: Clock,
    poll: Poll,
    events: Events,
    timer: Timer,
    forwarder: Forwarder,
    management: Management,
    faces: Faces,
    listeners: Listeners,
    settings: Settings,
    buffers: Buffers,
    work: Work,
    stopped: UnixStream,
    stopper: Stopper,
    stopping: bool,
    wake_ups: WakeUps,
    configured: Configured,
    metrics: metrics::Served,
    next_idle_check: Time,
    /// What goes to addresses that may be forged.
    unproved: Unproved,
    /// Peers that found no room.
    rejected: Rejected,
    /// When it is written how many log lines were left out.
    log_report: Option<Time>,
    /// Faces that a command wants, and that are not connected yet.
    connecting: Vec<Connecting>,
    /// Where memory is limited.
    memory: Option<Watch>,
}

impl Daemon {
    /// The addresses at which it listens for UDP.
    #[must_use]
    pub fn udp_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.udp_addresses()
    }

    /// The addresses at which it listens for TCP.
    #[must_use]
    pub fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.tcp_addresses()
    }

    /// The addresses at which it listens for WebSockets.
    #[must_use]
    pub fn websocket_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.websocket_addresses()
    }

    /// A handle that stops it from another thread.
    ///
    /// # Errors
    /// The system refuses a descriptor.
    pub fn stopper(&self) -> io::Result<Stopper> {
        self.stopper.try_clone()
    }
}
