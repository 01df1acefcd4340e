//! The applications of a network, for forwarders that are not its own.
//!
//! A driver moves their frames in real time. They are the applications of a run, with the seeds,
//! the numbers and the sums that they have there; the network's forwarders and links are not.

use control::Time;
use packet::Name;
use record::{FlowId, FlowResult, FlowSample, NodeId, WorkloadResult, WorkloadSample};

use crate::agenda::Target;
use crate::fabric::Fabric;
use crate::node::Node;
use crate::population::Population;

/// Bytes of content that are hashed in about a second.
const READY: u64 = 1 << 30;

/// The applications of a network, and its workloads.
pub struct Applications {
    fabric: Fabric,
    population: Population,
}

impl Applications {
    /// Removes the forwarders from a network.
    pub(crate) fn new(mut fabric: Fabric, population: Population) -> Applications {
        fabric.topology_mut().nodes_mut().iter_mut().for_each(Node::remove_forwarder);
        fabric.apps_mut().collect();
        fabric.agenda_mut().keep_applications();
        Applications { fabric, population }
    }

    /// A flow goes on elsewhere.
    pub fn leave_out(&mut self, flow: FlowId) {
        let app = self.fabric.flows().get(flow).and_then(|flow| flow.app());
        if let Some(app) = app {
            let component = self.fabric.apps().get(app).component();
            self.fabric.agenda_mut().set(component, None);
        }
    }

    /// The applications that publish.
    #[must_use]
    pub fn producers(&self) -> Vec<(usize, NodeId, Vec<Name>)> {
        let apps = self.fabric.apps().iter().enumerate().filter(|(_, app)| app.publishes());
        apps.map(|(number, app)| {
            let place = app.place();
            let prefixes = self.fabric.topology().node(place.node).prefixes(place.face);
            (number, place.node, prefixes.cloned().collect())
        })
        .collect()
    }

    /// Has producers hash now, of the contents of these names, what they would hash at the first
    /// request otherwise, as far as that takes no more than about a second.
    pub fn make_ready(&mut self, names: &[Name]) {
        self.fabric.apps_mut().iter_mut().for_each(|app| app.make_ready(names, READY));
    }

    /// The node of an application.
    #[must_use]
    pub fn node(&self, number: usize) -> NodeId {
        self.fabric.apps().get(number as u32).place().node
    }

    /// When the next one wants to be called.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.fabric.agenda().first()
    }

    /// Calls all that want to be called by an instant.
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

    /// Hands an application a frame. [`Applications::received`] is to follow.
    pub fn receive(&mut self, now: Time, number: usize, frame: &[u8]) {
        self.fabric.agenda_mut().reach(now);
        let now = self.fabric.now();
        if number < self.fabric.apps().len() {
            self.fabric.apps_mut().get_mut(number as u32).receive(now, frame);
        }
    }

    /// An application has received the frames of an instant.
    pub fn received(&mut self, number: usize) {
        self.fabric.poll_app(number as u32);
        self.population.retire(&mut self.fabric);
    }

    /// An application whose frames wait to be sent.
    pub fn next_ready(&mut self) -> Option<usize> {
        self.fabric.apps_mut().outbox_mut()?.next_ready()
    }

    /// Appends the frames that an application sends; false, if there are none.
    pub fn take(&mut self, number: usize, out: &mut Vec<u8>) -> bool {
        self.fabric.apps_mut().outbox_mut().is_some_and(|outbox| outbox.append(number, out))
    }

    /// A node crashed, and its applications with it.
    pub fn crash(&mut self, now: Time, node: NodeId) {
        self.fabric.agenda_mut().reach(now);
        self.fabric.crash_apps(node);
        self.population.retire(&mut self.fabric);
    }

    /// Flows and workloads as they are.
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
