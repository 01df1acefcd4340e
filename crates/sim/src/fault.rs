//! What goes wrong at an instant, or is changed.

use control::{Duration, Rate};
use forwarder::FaceId;
use packet::Name;

use crate::network::Network;
use crate::node::Port;
use record::{LinkId, NodeId};

/// A change at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both directions lose what is on them and everything that is sent. Nobody is told.
    LinkDown(LinkId),
    /// The link carries again.
    LinkUp(LinkId),
    /// The node stops. Its tables, its queues and the fetches on it are lost.
    NodeCrash(NodeId),
    /// The node is there again, with its routes and its objects and an empty memory.
    NodeRestart(NodeId),
    /// A route is added, or its cost changed.
    AddRoute {
        /// The node.
        at: NodeId,
        /// The prefix.
        prefix: Name,
        /// The link to send by.
        link: LinkId,
        /// Smaller is better.
        cost: u64,
    },
    /// A route is removed.
    RemoveRoute {
        /// The node.
        at: NodeId,
        /// The prefix.
        prefix: Name,
        /// The link that it led to.
        link: LinkId,
    },
    /// The rate of a link changes, for the packets that have not begun to leave.
    Rate {
        /// The link.
        link: LinkId,
        /// The direction from the link's `b` to its `a`, not the other one.
        backward: bool,
        /// The new rate. At 0 nothing leaves.
        rate: Option<Rate>,
    },
}

impl Network {
    pub(crate) fn apply(&mut self, fault: &Fault) {
        match fault {
            Fault::LinkDown(link) => self.set_up(*link, false),
            Fault::LinkUp(link) => self.set_up(*link, true),
            Fault::NodeCrash(node) => self.crash(*node),
            Fault::NodeRestart(node) => {
                let events = self.event_queue.as_ref();
                self.nodes[node.index()].restart(self.now, self.seed, events);
                self.pump(node.index());
            }
            Fault::AddRoute { at, prefix, link, cost } => {
                // That it can be added was tried when the fault was announced.
                let _ = self.add_route(*at, prefix, *link, *cost);
            }
            Fault::RemoveRoute { at, prefix, link } => self.remove_route(*at, prefix, *link),
            Fault::Rate { link, backward, rate } => self.set_rate(*link, *backward, *rate),
        }
    }

    fn set_up(&mut self, link: LinkId, up: bool) {
        for end in &mut self.wires[link.index()..][..2] {
            end.wire.set_up(up);
            self.events.set(end.component, end.wire.next_arrival());
        }
    }

    fn crash(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let Some(forwarder) = &node.forwarder else { return };
        for (port, face) in node.ports.iter().zip(1..) {
            if let Port::Link { wire, .. } = port {
                let end = &mut self.wires[*wire as usize];
                end.past.add(self.now, forwarder, FaceId(face));
                end.past.crash();
            }
        }
        node.crash();
        self.events.set(node.component, None);
        self.crash_apps(id);
    }

    pub(crate) fn crash_apps(&mut self, id: NodeId) {
        let over = &mut self.population.over;
        for (number, app) in (0..).zip(&mut self.apps).filter(|(_, app)| app.node == id.0) {
            app.crash(self.now);
            self.events.set(app.component, app.settle(self.now));
            over.extend(app.has_died().then_some(number));
        }
    }

    fn remove_route(&mut self, at: NodeId, prefix: &Name, link: LinkId) {
        let Some(face) = self.face_on(at, link) else { return };
        let node = &mut self.nodes[at.index()];
        node.routes.remove(&(prefix.clone(), face));
        if let Some(forwarder) = &mut node.forwarder {
            forwarder.remove_route(face, prefix.as_ref());
        }
    }

    fn set_rate(&mut self, link: LinkId, backward: bool, rate: Option<Rate>) {
        let forth = link.index() + usize::from(backward);
        let back = link.index() + usize::from(!backward);
        let (to, to_face) = (self.wires[back].from as usize, self.wires[back].from_face);
        if let Port::Link { plan, .. } = self.nodes[to].port_mut(to_face) {
            plan.rate_in = rate;
        }
        if let Some(forwarder) = &mut self.nodes[to].forwarder {
            forwarder.set_rate_in(to_face, rate);
        }
        let end = &mut self.wires[forth];
        end.wire.set_rate(rate);
        let (from, face) = (end.from as usize, end.from_face);
        let node = &mut self.nodes[from];
        if let Port::Link { plan, .. } = node.port_mut(face) {
            plan.spec.rate = rate;
        }
        if let Some(forwarder) = &mut node.forwarder {
            forwarder.set_rate(self.now, face, rate, Duration::ZERO);
        }
        self.pump(from);
    }
}
