//! The applications of a network, for use with other forwarders.
//!
//! A driver moves their frames in real time. The applications have the same seeds, numbers and
//! counters as in a simulation. The forwarders and links of the network are not used.

use control::Time;
use packet::Name;
use record::{FlowId, FlowResult, FlowSample, NodeId, WorkloadResult, WorkloadSample};

use crate::agenda::Target;
use crate::fabric::Fabric;
use crate::node::Node;
use crate::population::Population;

/// The number of bytes of content hashed in about a second.
const READY: u64 = 1 << 30;

/// The applications of a network, and its workloads.
pub struct Applications {
    fabric: Fabric,
    population: Population,
}

impl Applications {
    /// Takes the applications of a network, and removes its forwarders.
    pub(crate) fn new(mut fabric: Fabric, population: Population) -> Applications {
        fabric.topology_mut().nodes_mut().iter_mut().for_each(Node::remove_forwarder);
        fabric.apps_mut().collect();
        fabric.agenda_mut().keep_applications();
        Applications { fabric, population }
    }

    /// Excludes a flow, which another program runs.
    pub fn leave_out(&mut self, flow: FlowId) {
        let app = self.fabric.flows().get(flow).and_then(|flow| flow.app());
        if let Some(app) = app {
            let component = self.fabric.apps().get(app).component();
            self.fabric.agenda_mut().set(component, None);
        }
    }

    /// The producers: the number of the application, its node, and its prefixes.
    #[must_use]
    pub fn producers(&self) -> Vec<(usize, NodeId, Vec<Name>)> {
        let apps = self.fabric.apps().iter().enumerate().filter(|(_, app)| app.is_producer());
        apps.map(|(number, app)| {
            let place = app.place();
            let prefixes = self.fabric.topology().node(place.node).prefixes(place.face);
            (number, place.node, prefixes.cloned().collect())
        })
        .collect()
    }

    /// Hashes the content of these names now, rather than at the first request: up to about a
    /// second's worth for each producer.
    pub fn make_ready(&mut self, names: &[Name]) {
        self.fabric.apps_mut().iter_mut().for_each(|app| app.make_ready(names, READY));
    }

    /// The node of an application.
    #[must_use]
    pub fn node(&self, number: usize) -> NodeId {
        self.fabric.apps().get(number as u32).place().node
    }

    /// The instant of the next scheduled call.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.fabric.agenda().first()
    }

    /// Makes all calls that are due by `now`.
    pub fn advance(&mut self, now: Time) {
        self.fabric.agenda_mut().reach(now);
        while let Some(target) = self.fabric.agenda_mut().begin(now) {
            match target {
                Target::App(app) => self.fabric.wake_app(app),
                Target::Workload(workload) => self.population.wake(&mut self.fabric, workload),
                _ => self.fabric.agenda_mut().keep_applications(),
            }
            self.population.retire(&mut self.fabric);
        }
    }

    /// Passes a frame to an application. Call [`Applications::received`] after the last frame of an
    /// instant.
    pub fn receive(&mut self, now: Time, number: usize, frame: &[u8]) {
        self.fabric.agenda_mut().reach(now);
        let now = self.fabric.now();
        if number < self.fabric.apps().len() {
            self.fabric.apps_mut().get_mut(number as u32).receive(now, frame);
        }
    }

    /// Lets an application respond, after it has received the frames of an instant.
    pub fn received(&mut self, number: usize) {
        self.fabric.poll_app(number as u32);
        self.population.retire(&mut self.fabric);
    }

    /// The next application with frames to send.
    pub fn next_ready(&mut self) -> Option<usize> {
        self.fabric.apps_mut().outbox_mut()?.next_ready()
    }

    /// Appends the frames that an application sends. Returns false if it has none.
    pub fn take(&mut self, number: usize, out: &mut Vec<u8>) -> bool {
        self.fabric.apps_mut().outbox_mut().is_some_and(|outbox| outbox.append(number, out))
    }

    /// Crashes the applications of a node.
    pub fn crash(&mut self, now: Time, node: NodeId) {
        self.fabric.agenda_mut().reach(now);
        self.fabric.crash_apps(node);
        self.population.retire(&mut self.fabric);
    }

    /// Samples of the running flows and of the workloads.
    #[must_use]
    pub fn samples(&mut self, now: Time) -> (Vec<FlowSample>, Vec<WorkloadSample>) {
        self.fabric.agenda_mut().reach(now);
        let (now, apps) = (self.fabric.now(), self.fabric.apps());
        let flows = self.fabric.flows().samples(now, apps).collect();
        (flows, self.population.numbered_samples(now, apps).collect())
    }

    /// The results of flows and workloads so far.
    #[must_use]
    pub fn results(&self) -> (Vec<FlowResult>, Vec<WorkloadResult>) {
        let (now, apps) = (self.fabric.now(), self.fabric.apps());
        let flows = self.fabric.flows().results(now, apps, self.fabric.topology());
        (flows, self.population.results(apps))
    }
}
