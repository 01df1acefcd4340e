//! The applications of a network, for forwarders that are not its own.
//!
//! Whoever drives them in real time carries their frames. They are the applications of a run, with
//! the seeds, the numbers and the sums that they have there; the network's forwarders and links are
//! not.

use control::Time;
use forwarder::tables::ContentStoreConfig;
use packet::Name;

use crate::app::{App, Role};
use crate::network::{FlowEntry, Network, Target};
use crate::node::Port;
use record::{FlowId, FlowResult, FlowSample, LinkId, NodeId, WorkloadResult, WorkloadSample};

/// Bytes of content that are hashed in about a second.
const READY: u64 = 1 << 30;

/// What applications have said and nobody has carried yet.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Frames, one behind the other, by application.
    frames: Vec<Vec<u8>>,
    /// Those that have some.
    speaking: Vec<usize>,
}

impl Outbox {
    /// Takes what an application has to say.
    pub fn take(&mut self, now: Time, number: usize, app: &mut App) {
        if self.frames.len() <= number {
            self.frames.resize(number + 1, Vec::new());
        }
        let frames = &mut self.frames[number];
        let was_silent = frames.is_empty();
        while app.poll_transmit(now, frames) {}
        if was_silent && !frames.is_empty() {
            self.speaking.push(number);
        }
    }
}

/// The applications of a network, and its workloads.
pub struct Applications {
    network: Network,
}

impl Network {
    /// The routes of a node that lead over links, with their costs.
    pub fn routes(&self, at: NodeId) -> impl Iterator<Item = (&Name, LinkId, u64)> {
        let node = &self.nodes[at.index()];
        node.routes.iter().filter_map(|((prefix, face), cost)| match node.port(*face) {
            Port::Link { wire, .. } => Some((prefix, LinkId(wire / 2), *cost)),
            Port::App { .. } => None,
        })
    }

    /// The content store of a node.
    #[must_use]
    pub fn content_store(&self, at: NodeId) -> &ContentStoreConfig {
        &self.nodes[at.index()].spec.content_store
    }

    /// Its applications, from their beginning; its forwarders are gone.
    #[must_use]
    pub fn into_applications(mut self) -> Applications {
        self.nodes.iter_mut().for_each(|node| node.forwarder = None);
        self.outbox = Some(Box::default());
        for (component, target) in (0..).zip(&self.targets) {
            if !matches!(target, Target::App(_) | Target::Workload(_)) {
                self.events.set(component, None);
            }
        }
        Applications { network: self }
    }
}

impl Applications {
    /// A flow goes on elsewhere.
    pub fn leave_out(&mut self, flow: FlowId) {
        let Some(FlowEntry::Live { app, .. }) = self.network.flows.get(flow.index()) else {
            return;
        };
        let app = &self.network.apps[*app as usize];
        self.network.events.set(app.component, None);
    }

    /// The producers: their numbers, their nodes and the prefixes that they answer for.
    #[must_use]
    pub fn producers(&self) -> Vec<(usize, NodeId, Vec<Name>)> {
        let apps = self.network.apps.iter().enumerate().filter(|(_, app)| app.publishes());
        let of = |(number, app): (usize, &App)| {
            let routes = &self.network.nodes[app.node as usize].routes;
            let own = routes.keys().filter(|(_, face)| *face == app.face);
            (number, NodeId(app.node), own.map(|(prefix, _)| prefix.clone()).collect())
        };
        apps.map(of).collect()
    }

    /// Has producers make ready, of the contents of these names, what they would otherwise when
    /// somebody first asks for it, as far as that takes no more than about a second.
    pub fn make_ready(&mut self, names: &[Name]) {
        for app in &mut self.network.apps {
            match &mut app.role {
                Role::Publish(producer) => producer.make_ready(names, READY),
                Role::Catalogue(publisher) => publisher.make_ready(READY),
                _ => {}
            }
        }
    }

    /// The node of an application.
    #[must_use]
    pub fn node(&self, number: usize) -> NodeId {
        NodeId(self.network.apps[number].node)
    }

    /// When the next one wants to be called.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.network.events.peek().map(|(at, _)| at)
    }

    /// Calls all that want to be called by an instant.
    pub fn advance(&mut self, now: Time) {
        let network = &mut self.network;
        network.now = network.now.max(now);
        while let Some((_, component)) = network.events.peek().filter(|(at, _)| *at <= now) {
            match network.targets[component as usize] {
                Target::App(app) => network.wake_app(app as usize),
                Target::Workload(workload) => network.wake_workload(workload as usize),
                _ => network.events.set(component, None),
            }
            network.bury();
        }
    }

    /// Hands an application a frame. [`Applications::heard`] is to follow.
    pub fn receive(&mut self, now: Time, number: usize, frame: &[u8]) {
        self.network.now = self.network.now.max(now);
        if let Some(app) = self.network.apps.get_mut(number) {
            app.receive(self.network.now, frame);
        }
    }

    /// An application has got the frames of an instant.
    pub fn heard(&mut self, number: usize) {
        self.network.hear_app(number);
        self.network.bury();
    }

    /// An application that has something to say.
    pub fn speaking(&mut self) -> Option<usize> {
        self.network.outbox.as_mut()?.speaking.pop()
    }

    /// Appends what an application has to say; false, if that is nothing.
    pub fn take(&mut self, number: usize, out: &mut Vec<u8>) -> bool {
        let frames = self.network.outbox.as_mut().and_then(|outbox| outbox.frames.get_mut(number));
        frames.filter(|frames| !frames.is_empty()).is_some_and(|frames| {
            out.append(frames);
            true
        })
    }

    /// A node crashed, and they with it.
    pub fn crash(&mut self, now: Time, node: NodeId) {
        self.network.now = self.network.now.max(now);
        self.network.crash_apps(node);
        self.network.bury();
    }

    /// Flows and workloads as they are.
    #[must_use]
    pub fn samples(&mut self, now: Time) -> (Vec<FlowSample>, Vec<WorkloadSample>) {
        self.network.now = self.network.now.max(now);
        (self.network.flow_samples().collect(), self.network.numbered_workload_samples().collect())
    }

    /// What has come of flows and workloads so far.
    #[must_use]
    pub fn results(&self) -> (Vec<FlowResult>, Vec<WorkloadResult>) {
        let network = &self.network;
        let flows = (0..network.flows.len()).map(|flow| network.flow_result(flow));
        (flows.collect(), network.workload_results())
    }
}
