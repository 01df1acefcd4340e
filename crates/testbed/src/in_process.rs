//! Applications without a command-line tool. They run the simulator's own code, with the same
//! fetches and publications, each over a connection to its node's daemon.
//!
//! One thread runs them all, like one run of the simulator: flows that start at random have the
//! same numbers, times and objects as there.

use crate::error::TestbedError;
use crate::instance::Testbed;
use crate::plan;
use crate::readings::address;
use control::{Duration, Time};
use net::client::{ConnectError, Connection, Endpoint};
use net::clock::monotonic;
use packet::Name;
use packet::options::Capability;
use record::{FlowId, FlowResult, FlowSample, NodeId, WorkloadResult, WorkloadSample};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use scenario::{Applications, Scenario};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration as Span;

/// The value of nice(1): other work on the machine must not affect the measurement.
const PRIORITY: i32 = -10;
/// Applications, and their connections.
pub struct InProcessApps {
    apps: Applications,
    /// Producers: their numbers, nodes and prefixes.
    producers: Vec<(usize, NodeId, Vec<Name>)>,
    /// The nodes' names, and their daemons' sockets.
    nodes: Vec<(String, PathBuf)>,
    /// By application; an application with a later flow keeps the connection of the flow before.
    connections: BTreeMap<usize, Connection>,
    /// Consumers in the scenario: only these have samples.
    consumers: usize,
}

impl InProcessApps {
    /// The applications of a plan, with their content published; `None` without any.
    ///
    /// # Errors
    /// A daemon rejects a name.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        testbed: &Testbed,
    ) -> Result<Option<InProcessApps>, TestbedError> {
        let plan = testbed.plan();
        if !plan.has_applications {
            return Ok(None);
        }
        let network = plan::simulated(scenario, seed);
        let network = network.map_err(|rejected| TestbedError::Unsupported(vec![rejected]))?;
        let mut apps = network.into_applications();
        for fetch in &plan.fetches {
            apps.leave_out(FlowId(fetch.consumer as u32));
        }
        let mut producers = apps.producers();
        for (_, _, prefixes) in &mut producers {
            prefixes.retain(|prefix| plan.unpublished.contains(prefix));
        }
        apps.make_ready(&plan.unpublished);
        let nodes = plan.nodes.iter().enumerate();
        let nodes = nodes.map(|(at, node)| (node.name.clone(), testbed.socket(at))).collect();
        let (connections, consumers) = (BTreeMap::new(), scenario.consumers.len());
        let mut in_process = InProcessApps { apps, producers, nodes, connections, consumers };
        (0..in_process.nodes.len()).try_for_each(|at| in_process.publish(at))?;
        Ok(Some(in_process))
    }

    /// Announces the content of the producers at a node.
    fn publish(&mut self, at: usize) -> Result<(), TestbedError> {
        for (app, node, prefixes) in &self.producers {
            if node.index() != at || prefixes.is_empty() {
                continue;
            }
            let (node, socket) = &self.nodes[at];
            let mut connection = open(socket)
                .map_err(|error| TestbedError::Unreachable { node: node.clone(), error })?;
            for prefix in prefixes {
                connection
                    .register(prefix)
                    .map_err(|error| TestbedError::CommandFailed { node: node.clone(), error })?;
            }
            self.connections.insert(*app, connection);
        }
        Ok(())
    }

    /// Starts at an instant, and takes a sample every `every`.
    ///
    /// # Errors
    /// The system cannot provide a way to wake the thread.
    pub fn start(mut self, origin: Time, every: Duration) -> std::io::Result<RunningApps> {
        let (orders, taken) = channel();
        let (bell, rung) = UnixStream::pair()?;
        rung.set_nonblocking(true)?;
        let thread = std::thread::spawn(move || {
            // Without the right to this priority, it runs without it.
            rustix::process::setpriority_process(None, PRIORITY).ok();
            self.run(&taken, rung, origin, every)
        });
        Ok(RunningApps { orders, bell, thread: Some(thread) })
    }

    fn run(
        &mut self,
        orders: &Receiver<Order>,
        mut bell: UnixStream,
        origin: Time,
        every: Duration,
    ) -> AppResults {
        let mut carried = AppResults::default();
        while monotonic() < origin {
            std::thread::park_timeout(Span::from_nanos(origin.since(monotonic()).0));
        }
        let mut look = Time::ZERO;
        loop {
            for order in orders.try_iter() {
                match order {
                    Order::Crash(at) => self.crash(time_since(origin), at),
                    Order::Restart(at) => {
                        let failed = self.publish(at).err();
                        carried.failed = carried.failed.or(failed);
                    }
                    Order::End => {
                        self.apps.advance(time_since(origin));
                        (carried.flows, carried.workloads) = self.apps.results();
                        return carried;
                    }
                }
            }
            self.apps.advance(time_since(origin));
            self.send_frames();
            let now = time_since(origin);
            if now >= look {
                look = now + every;
                carried.samples.push(self.samples(now));
            }
            let next = self.apps.next().map_or(look, |at| at.min(look));
            let ready = self.wait(next.since(time_since(origin)), &mut bell);
            let now = time_since(origin);
            for app in ready {
                self.receive_frames(now, app);
            }
        }
    }

    fn samples(&mut self, now: Time) -> Sample {
        let (mut flows, workloads) = self.apps.samples(now);
        flows.retain(|sample| sample.flow.index() < self.consumers);
        (now.since(Time::ZERO), flows, workloads)
    }

    /// Sends the applications' packets to their daemons.
    fn send_frames(&mut self) {
        while let Some(app) = self.apps.next_ready() {
            let socket = &self.nodes[self.apps.node(app).index()].1;
            if !self.connections.contains_key(&app)
                && let Ok(connection) = open(socket)
            {
                self.connections.insert(app, connection);
            }
            let mut end = End { apps: &mut self.apps, app, now: Time::ZERO };
            let connection = self.connections.get_mut(&app);
            if connection.is_none_or(|connection| connection.send_frames(&mut end).is_err()) {
                // Packets to an absent daemon are lost.
                self.connections.remove(&app);
                self.apps.take(app, &mut Vec::new());
            }
        }
    }

    /// Delivers a daemon's packets to an application.
    fn receive_frames(&mut self, now: Time, app: usize) {
        let Some(connection) = self.connections.get_mut(&app) else { return };
        let mut end = End { apps: &mut self.apps, app, now };
        let result =
            connection.receive_frames(&mut end).and_then(|()| connection.send_frames(&mut end));
        if result.is_err() {
            self.connections.remove(&app);
        }
        self.apps.received(app);
        self.send_frames();
    }

    fn crash(&mut self, now: Time, at: usize) {
        let apps = &mut self.apps;
        self.connections.retain(|app, _| apps.node(*app).index() != at);
        apps.crash(now, NodeId(at as u32));
    }

    /// Waits for packets or the bell, at most this long; returns the applications with packets.
    fn wait(&self, most: Duration, bell: &mut UnixStream) -> Vec<usize> {
        let timeout = Timespec {
            tv_sec: (most.0 / 1_000_000_000) as i64,
            tv_nsec: (most.0 % 1_000_000_000) as i64,
        };
        let fds = self.connections.values().map(Connection::poll_fd);
        let ring = PollFd::from_borrowed_fd(bell.as_fd(), PollFlags::IN);
        let mut fds: Vec<PollFd<'_>> = fds.chain([ring]).collect();
        // A signal wakes it early, without packets.
        if poll(&mut fds, Some(&timeout)).is_err() {
            return Vec::new();
        }
        let ready = fds.iter().zip(self.connections.keys());
        let ready = ready.filter(|(fd, _)| !fd.revents().is_empty()).map(|(_, app)| *app).collect();
        drop(fds);
        // Orders are looked at in any case.
        while bell.read(&mut [0; 64]).is_ok_and(|rings| rings > 0) {}
        ready
    }
}

/// The current time on a clock that was zero at `origin`.
fn time_since(origin: Time) -> Time {
    Time::ZERO + monotonic().since(origin)
}

/// Applications receive Interests segment by segment, as in the simulator: some have only parts of
/// an object.
fn open(socket: &Path) -> Result<Connection, ConnectError> {
    let capability = Capability(Capability::ALL.0 & Capability::OPTIONS);
    Ok(Connection::open(address(socket))?.with_capability(capability))
}

/// An application at its connection.
struct End<'a> {
    apps: &'a mut Applications,
    app: usize,
    now: Time,
}

impl Endpoint for End<'_> {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        self.apps.receive(self.now, self.app, frame);
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        self.apps.take(self.app, out)
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

/// Flows and workloads at an instant.
pub type Sample = (Duration, Vec<FlowSample>, Vec<WorkloadSample>);

/// The results of the applications' flows.
#[derive(Default)]
pub struct AppResults {
    /// All flows; those of tools have not begun here.
    pub flows: Vec<FlowResult>,
    /// All workloads.
    pub workloads: Vec<WorkloadResult>,
    /// Both over time.
    pub samples: Vec<Sample>,
    /// The first error.
    pub failed: Option<TestbedError>,
}

/// A command to the thread.
enum Order {
    Crash(usize),
    Restart(usize),
    End,
}

/// Applications at work.
pub struct RunningApps {
    orders: Sender<Order>,
    bell: UnixStream,
    thread: Option<JoinHandle<AppResults>>,
}

impl RunningApps {
    /// A node crashes, and the applications with it.
    pub fn crash(&mut self, at: usize) {
        self.send_order(Order::Crash(at));
    }

    /// A node's daemon has restarted.
    pub fn restart(&mut self, at: usize) {
        self.send_order(Order::Restart(at));
    }

    /// Ends it and returns the results.
    #[must_use]
    pub fn end(mut self) -> AppResults {
        match self.stop() {
            Some(Ok(carried)) => carried,
            // A panic of the thread is passed on.
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => AppResults::default(),
        }
    }

    fn send_order(&mut self, order: Order) {
        // An ended thread needs no command.
        if self.orders.send(order).is_ok() {
            self.bell.write_all(&[0]).ok();
        }
    }

    fn stop(&mut self) -> Option<std::thread::Result<AppResults>> {
        self.send_order(Order::End);
        Some(self.thread.take()?.join())
    }
}

impl Drop for RunningApps {
    fn drop(&mut self) {
        self.stop();
    }
}
