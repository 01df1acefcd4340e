//! The forwarder on real links: one thread, one poll, one loop.
//!
//! ```text
//! poll -> datagrams -> streams -> new connections -> deadlines -> send -> poll
//! ```
//!
//! Datagrams come first, because a socket that is not emptied loses what comes next, while a stream
//! only waits. Every step is bounded in bytes, so that the others have their turn in time.
//! Packets that the kernel does not accept stay in the forwarder's queues, where their sojourn time
//! is known.
//!
//! [`Daemon`] owns the loop. The poll belongs to `io`, sockets and listeners to `faces`, and
//! management, commands and the configuration to `control_plane`.

mod accounts;
mod address;
mod applied;
mod control_plane;
mod crowd;
mod devices;
mod error;
mod face;
mod faces;
mod health;
mod io;
mod listeners;
pub mod log;
mod marking;
mod memory;
mod metrics;
mod permissions;
mod stop;
mod supervisor;
mod table;
mod timer;
mod unproved;
mod wake_up;

pub use error::DaemonError;
pub use health::Health;
pub use metrics::ServeMetrics;
pub use stop::Stopper;
pub use wake_up::{Observer, Reread};

use crate::clock::Clock;
use crate::config::Config;
use crate::timer::Sleep;
use control::{Duration, Size, Time};
use control_plane::ControlPlane;
use faces::FaceSet;
use forwarder::{Forwarder, ForwarderConfig};
use io::Io;
use memory::Watch;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use timer::DaemonTimer;
use wake_up::WakeUps;

/// Pending Interests that one call of the forwarder ends; a turn calls it several times.
const ENDED_AT_ONCE: usize = 512;

/// The time limit in one turn for ending pending Interests: a flood may leave a million of them.
const ENDING: Duration = Duration::from_millis(5);

/// The interval of the reports about suppressed log lines.
const LOG_REPORT: Duration = Duration::from_secs(1);

/// Functions that the daemon's program provides.
pub struct Hooks {
    /// Makes the allocator return unused memory to the system. Called where memory is limited.
    pub trim_heap: fn(),
    /// Reads the configuration again; `None` if its source cannot be read twice.
    pub reread: Option<Reread>,
    /// Answers at the addresses of `[metrics]`.
    pub serve_metrics: ServeMetrics,
}

/// Runs a daemon in the foreground until SIGINT or SIGTERM.
///
/// # Errors
/// It cannot start, or the poll itself fails; everything else that goes wrong is logged.
pub fn run(config: &Config, hooks: Hooks) -> Result<(), DaemonError> {
    log::start(&config.daemon);
    let memory = config.daemon.memory.map(|limit| limit.0).zip(config.forwarder.memory);
    let metrics = config.metrics.clone();
    let mut daemon = Daemon::new(config)?;
    if let Some((limit, shared)) = memory {
        let (limit, shared) = (Size(limit), Size(shared as u64));
        tracing::info!(%limit, %shared, "the memory of this process is limited");
    }
    daemon.memory = memory.map(|(limit, shared)| Watch::new(limit, shared, hooks.trim_heap));
    daemon.io.stopper().on_signals()?;
    daemon.reload_on_signal(hooks.reread)?;
    daemon.serve_metrics(hooks.serve_metrics, &metrics)?;
    supervisor::notify(supervisor::READY);
    daemon.run()
}

/// Checks that the users, groups, certificates and trust rules of a configuration exist. Opens no
/// socket and changes nothing.
///
/// # Errors
///
/// The first that is missing or cannot be used.
pub fn check(config: &Config) -> Result<(), DaemonError> {
    control_plane::check(config)
}

/// A forwarder with its sockets.
#[derive(Debug)]
pub struct Daemon {
    clock: Clock,
    io: Io,
    forwarder: Forwarder,
    faces: FaceSet,
    control_plane: ControlPlane,
    /// Where memory is limited.
    memory: Option<Watch>,
    /// How long packets are still sent when the daemon stops.
    drain: Duration,
    /// The time of the next report about suppressed log lines.
    log_report: Option<Time>,
    is_stopping: bool,
}

impl Daemon {
    /// Opens all sockets and fills the tables.
    ///
    /// # Errors
    /// See [`DaemonError`]. A face that cannot be connected at present is not an error: it is tried
    /// again.
    pub fn new(config: &Config) -> Result<Daemon, DaemonError> {
        let system = DaemonError::system;
        let clock = Clock::start();
        let mut wake_ups = WakeUps::new().map_err(system("cannot make a pair of sockets"))?;
        let io = Io::new(&mut wake_ups)?;
        let seed = match config.daemon.seed {
            Some(seed) => seed,
            None => getrandom::u64()
                .map_err(std::io::Error::other)
                .map_err(system("cannot get random numbers"))?,
        };
        let mut faces = FaceSet::new(config, clock, io.registry()?, seed)?;
        let mut forwarder = forwarder(config, seed);
        let mut control_plane = ControlPlane::new(&mut forwarder, config, clock, wake_ups)?;
        become_nice(config.daemon.nice);
        control_plane.begin(&mut forwarder, &mut faces, config)?;
        let listening = faces.listening().join(" ");
        tracing::info!(%listening, version = env!("CARGO_PKG_VERSION"), "the forwarder is up");
        Ok(Daemon {
            clock,
            io,
            forwarder,
            faces,
            control_plane,
            memory: None,
            drain: config.daemon.drain,
            log_report: None,
            is_stopping: false,
        })
    }

    /// The addresses at which it listens for UDP.
    #[must_use]
    pub fn udp_addresses(&self) -> Vec<SocketAddr> {
        self.faces.listeners().udp_addresses()
    }

    /// The addresses at which it listens for TCP.
    #[must_use]
    pub fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.faces.listeners().tcp_addresses()
    }

    /// The addresses at which it listens for WebSockets.
    #[must_use]
    pub fn websocket_addresses(&self) -> Vec<SocketAddr> {
        self.faces.listeners().websocket_addresses()
    }

    /// Adds the face of an application in this process, at the other end of a pair of sockets.
    ///
    /// # Errors
    /// The socket cannot be watched.
    pub fn attach(&mut self, socket: UnixStream) -> std::io::Result<()> {
        socket.set_nonblocking(true)?;
        let socket = mio::net::UnixStream::from_std(socket);
        self.faces.attach(&mut self.forwarder, socket, self.clock.now());
        Ok(())
    }

    /// A handle that stops it from another thread.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn stopper(&self) -> std::io::Result<Stopper> {
        self.io.stopper().try_clone()
    }

    /// A handle for queries from other threads.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn observer(&self) -> std::io::Result<Observer> {
        self.control_plane.wake_ups().observer()
    }

    /// Makes SIGHUP read the configuration again, by `reread`.
    ///
    /// # Errors
    /// The signal handler cannot be installed.
    pub fn reload_on_signal(&mut self, reread: Option<Reread>) -> Result<(), DaemonError> {
        self.control_plane.reread_by(reread);
        self.control_plane.wake_ups().on_signal()
    }

    /// Serves metrics at these addresses, and at others when the configuration is read again.
    ///
    /// # Errors
    /// Of the addresses that cannot be used, the first.
    pub fn serve_metrics(
        &mut self,
        serve: ServeMetrics,
        addresses: &[SocketAddr],
    ) -> Result<(), DaemonError> {
        self.control_plane.serve_metrics(serve, addresses)
    }

    /// Runs until it is stopped.
    ///
    /// # Errors
    /// The poll fails.
    pub fn run(mut self) -> Result<(), DaemonError> {
        while !self.is_stopping {
            self.turn()?;
        }
        self.finish()
    }

    /// Waits for something to happen, and deals with it.
    fn turn(&mut self) -> Result<(), DaemonError> {
        let is_busy = self.faces.are_busy();
        let sleep = if is_busy { Sleep::Not } else { Sleep::Until(self.next_deadline()) };
        self.wait(sleep)?;
        self.faces.receive_datagrams(&mut self.forwarder);
        self.faces.receive_streams(&mut self.forwarder);
        self.faces.accept(&mut self.forwarder);
        self.on_deadlines();
        self.control_plane.learn(&mut self.forwarder);
        self.send();
        // Sending shows, too, that a connection cannot be made.
        while self.control_plane.reply_to_connected(&mut self.forwarder, &mut self.faces) {
            self.send();
        }
        if let Some(memory) = &mut self.memory {
            memory.look(self.clock.now(), &mut self.forwarder);
        }
        Ok(())
    }

    /// Waits until a socket is ready, a deadline has come, or another thread has a request.
    fn wait(&mut self, sleep: Sleep) -> Result<(), DaemonError> {
        let Daemon { io, forwarder, faces, control_plane, .. } = self;
        let woken = io.wait(self.clock.now(), sleep, faces)?;
        if woken.asked {
            control_plane.answer_wake_ups(forwarder, faces, self.is_stopping);
        }
        self.is_stopping |= woken.stop;
        Ok(())
    }

    /// When something is due, whatever the sockets do.
    fn next_deadline(&self) -> Option<Time> {
        let now = self.clock.now();
        DaemonTimer::ALL.into_iter().filter_map(|timer| self.due(timer, now)).min()
    }

    /// Serves the timers whose time has come.
    fn on_deadlines(&mut self) {
        let now = self.clock.now();
        for timer in DaemonTimer::ALL {
            if self.due(timer, now).is_some_and(|at| at <= now) {
                self.on_timer(timer, now);
            }
        }
    }

    /// When a timer goes off, if it is set.
    fn due(&self, timer: DaemonTimer, now: Time) -> Option<Time> {
        match timer {
            DaemonTimer::Forwarder => self.forwarder.next_deadline(),
            DaemonTimer::ControlPlane => self.control_plane.next_deadline(),
            DaemonTimer::Faces => self.faces.next_deadline(),
            DaemonTimer::LogReport => log::has_left_out().then_some(self.log_report.unwrap_or(now)),
            DaemonTimer::Memory => self.memory.as_ref().and_then(Watch::next_deadline),
        }
    }

    fn on_timer(&mut self, timer: DaemonTimer, now: Time) {
        match timer {
            DaemonTimer::Forwarder => self.serve_forwarder(now),
            DaemonTimer::ControlPlane => {
                self.control_plane.on_deadline(&mut self.forwarder, &mut self.faces, now);
            }
            DaemonTimer::Faces => self.faces.on_deadline(&mut self.forwarder, now),
            DaemonTimer::LogReport => match self.log_report.take() {
                None => self.log_report = Some(now + LOG_REPORT),
                Some(_) => log::report(),
            },
            // Every turn ends with a look at the memory.
            DaemonTimer::Memory => {}
        }
    }

    /// Has the forwarder do all that is due, within the time limit.
    fn serve_forwarder(&mut self, now: Time) {
        while self.forwarder.next_deadline().is_some_and(|at| at <= now) {
            self.forwarder.on_deadline(now);
            if self.clock.now() >= now + ENDING {
                break;
            }
        }
    }

    /// Gives the kernel, and management, what the forwarder has to send.
    fn send(&mut self) {
        let Daemon { forwarder, faces, control_plane, .. } = self;
        control_plane.notify(forwarder, faces);
        loop {
            while let Some(id) = forwarder.poll_ready() {
                if id == control_plane.face() {
                    control_plane.manage(forwarder, faces);
                } else {
                    faces.schedule_send(id);
                }
            }
            if !faces.may_send() || !faces.send(forwarder) {
                return;
            }
        }
    }

    /// Closes the listeners, and sends queued frames within the time limit.
    fn finish(mut self) -> Result<(), DaemonError> {
        tracing::info!("stopping");
        supervisor::notify(supervisor::STOPPING);
        self.faces.close_listeners();
        let end = self.clock.now() + self.drain;
        loop {
            let now = self.clock.now();
            self.forwarder.on_deadline(now);
            self.faces.release_delayed(now);
            self.send();
            if self.faces.are_flushed(&self.forwarder) || now >= end {
                break;
            }
            let next = self.next_deadline().map_or(end, |at| at.min(end));
            self.wait(Sleep::Until(Some(next)))?;
        }
        log::report();
        tracing::info!(left = self.faces.queued(&self.forwarder), "stopped");
        Ok(())
    }
}

/// The forwarder's own part of the configuration.
fn forwarder(config: &Config, seed: u64) -> Forwarder {
    let limits = &config.forwarder;
    let strategy = applied::root_choice().strategy().expect("the default has a strategy");
    let mut forwarder = Forwarder::new(ForwarderConfig {
        seed,
        name: "daemon".to_owned(),
        content_store: config.content_store,
        pit: limits.pit.into(),
        memory: limits.memory,
        ended_at_once: ENDED_AT_ONCE,
        routes: limits.routes,
        dead_nonces: limits.dead_nonces,
        max_lifetime: limits.max_lifetime,
        transit: limits.transit,
        ..ForwarderConfig::new(strategy)
    });
    forwarder.set_traceroute(config.traceroute.clone());
    forwarder
}

fn become_nice(nice: i32) {
    if nice == 0 {
        return;
    }
    if let Err(error) = rustix::process::nice(nice) {
        tracing::warn!(nice, %error, "scheduling priority not changed");
    }
}
