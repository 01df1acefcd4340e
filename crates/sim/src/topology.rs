//! The nodes of a network and the links between them.

use control::{Duration, Rate, Time};
use forwarder::{FaceId, RateIn};
use packet::Name;
use packet::options::Capability;
use record::{LinkId, LinkResult, LinkSample, NodeId};

use crate::agenda::{Agenda, Target};
use crate::error::BuildError;
use crate::impairment::{Dice, Loss};
use crate::link_end::{Endpoint, LinkEnd};
use crate::node::{LinkPlan, Node, Port};
use crate::spec::{NodeSpec, WireSpec};
use crate::wire::{Wire, WireId};

/// Nodes, and the two directions of each link.
#[derive(Default)]
pub(crate) struct Topology {
    nodes: Vec<Node>,
    ends: Vec<LinkEnd>,
}

/// A link to be added: its nodes, and the number of earlier links from `a` to `b`.
struct Between {
    a: NodeId,
    b: NodeId,
    parallel: String,
}

impl Topology {
    pub fn add_node(&mut self, agenda: &mut Agenda, seed: u64, spec: NodeSpec) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let component = agenda.add(Target::Node(id.0));
        self.nodes.push(Node::new(id, spec, seed, component));
        id
    }

    /// Adds a link. `specs` are for the direction from `a` to `b`, then from `b` to `a`.
    pub fn add_link(
        &mut self,
        agenda: &mut Agenda,
        seed: u64,
        a: NodeId,
        b: NodeId,
        specs: [WireSpec; 2],
    ) -> LinkId {
        let [mut forth, mut back] = specs;
        let reliability = forth.reliability | back.reliability;
        (forth.reliability, back.reliability) = (reliability, reliability);
        let link = LinkId(self.ends.len() as u32 / 2);
        let parallel = self.ends.iter().filter(|end| end.from().node == a && end.to().node == b);
        let parallel = parallel.count().to_string();
        let there = Between { a, b, parallel };
        let again = Between { a: b, b: a, parallel: there.parallel.clone() };
        let wires = [self.wire(seed, &there, &forth), self.wire(seed, &again, &back)];
        let rates = [forth.rate_in(), back.rate_in()];
        let now = agenda.now();
        let at_a = self.add_face(now, &there, WireId::of(link, false), forth, rates[1]);
        let at_b = self.add_face(now, &again, WireId::of(link, true), back, rates[0]);
        let [forth, back] = wires;
        self.add_end(agenda, forth, at_a, at_b);
        self.add_end(agenda, back, at_b, at_a);
        link
    }

    fn wire(&self, seed: u64, between: &Between, spec: &WireSpec) -> Wire {
        let names = [self.node(between.a).name(), self.node(between.b).name(), &between.parallel];
        let dice = Dice::new(seed, names, &spec.impairment);
        Wire::new(spec.rate, spec.delay, spec.overhead, dice)
    }

    fn add_face(
        &mut self,
        now: Time,
        between: &Between,
        wire: WireId,
        spec: WireSpec,
        rate_in: RateIn,
    ) -> Endpoint {
        let (from, to) = (self.node(between.a), self.node(between.b));
        let name = format!("{} {}", to.name(), between.parallel);
        // A link has the capabilities that both of its ends have.
        let capability = Capability(from.spec().capability.0 & to.spec().capability.0);
        let plan = Box::new(LinkPlan { name, spec, rate_in, capability });
        let face = self.node_mut(between.a).add_port(now, Port::Link { wire, plan });
        Endpoint { node: between.a, face }
    }

    fn add_end(&mut self, agenda: &mut Agenda, wire: Wire, from: Endpoint, to: Endpoint) {
        let names = [from, to].map(|end| self.node(end.node).name().to_owned());
        let component = agenda.add(Target::Wire(self.ends.len() as u32));
        self.ends.push(LinkEnd::new(wire, from, to, component, names));
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.nodes
    }

    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    #[inline]
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// The directions of all links, in the order of their wires.
    pub fn ends(&self) -> impl Iterator<Item = (WireId, &LinkEnd)> {
        (0..).map(WireId).zip(&self.ends)
    }

    #[inline]
    pub fn end_mut(&mut self, wire: WireId) -> &mut LinkEnd {
        &mut self.ends[wire.index()]
    }

    /// A node, and the directions of all links.
    #[inline]
    pub fn node_and_ends(&mut self, id: NodeId) -> (&mut Node, &mut [LinkEnd]) {
        (&mut self.nodes[id.index()], &mut self.ends)
    }

    /// A direction of a link, and the node at its end.
    #[inline]
    pub fn end_and_receiver(&mut self, wire: WireId) -> (&mut LinkEnd, &mut Node) {
        let end = &mut self.ends[wire.index()];
        let node = &mut self.nodes[end.to().node.index()];
        (end, node)
    }

    /// The node's face on a link; that of `a` if both ends are at the node.
    pub fn face_on(&self, at: NodeId, link: LinkId) -> Option<FaceId> {
        let ends = &self.ends[link.index()..][..2];
        ends.iter().map(LinkEnd::from).find(|from| from.node == at).map(|from| from.face)
    }

    /// Adds a route over a link, or changes its cost.
    ///
    /// # Errors
    /// The link does not end at the node, or the prefix is too deep.
    pub fn add_route(
        &mut self,
        at: NodeId,
        prefix: &Name,
        link: LinkId,
        cost: u64,
    ) -> Result<(), BuildError> {
        let face = self.face_of_route(at, link)?;
        Ok(self.node_mut(at).add_route(prefix, face, cost)?)
    }

    /// Checks that a route can be added later.
    ///
    /// # Errors
    /// Those of [`Topology::add_route`].
    pub fn try_route(&mut self, at: NodeId, prefix: &Name, link: LinkId) -> Result<(), BuildError> {
        let face = self.face_of_route(at, link)?;
        Ok(self.node_mut(at).try_route(prefix, face)?)
    }

    fn face_of_route(&self, at: NodeId, link: LinkId) -> Result<FaceId, BuildError> {
        match self.face_on(at, link) {
            Some(face) => Ok(face),
            None => Err(BuildError::NotAtLink { node: self.node(at).name().to_owned() }),
        }
    }

    pub fn remove_route(&mut self, at: NodeId, prefix: &Name, link: LinkId) {
        if let Some(face) = self.face_on(at, link) {
            self.node_mut(at).remove_route(prefix, face);
        }
    }

    /// Sets both directions of a link up or down.
    pub fn set_up(&mut self, agenda: &mut Agenda, link: LinkId, up: bool) {
        for end in &mut self.ends[link.index()..][..2] {
            end.wire_mut().set_up(up);
            agenda.set(end.component(), end.wire().next_arrival());
        }
    }

    /// Changes the rate of a wire at both of its ends, and returns the sending node.
    pub fn set_rate(&mut self, now: Time, wire: WireId, rate: Option<Rate>) -> NodeId {
        let end = self.end_mut(wire);
        end.wire_mut().set_rate(rate);
        let (from, to) = (end.from(), end.to());
        let spec = self.node_mut(from.node).set_rate(now, from.face, rate);
        let known = spec.map_or_else(RateIn::default, WireSpec::rate_in);
        self.node_mut(to.node).set_rate_in(to.face, known);
        from.node
    }

    /// Changes the propagation delay of a wire.
    pub fn set_delay(&mut self, wire: WireId, delay: Duration) {
        self.end_mut(wire).wire_mut().set_delay(delay);
    }

    /// Changes the loss of a wire.
    pub fn set_loss(&mut self, seed: u64, wire: WireId, loss: Loss) {
        let end = self.end_mut(wire);
        let ends = [end.from().node, end.to().node];
        let [from, to] = ends.map(|node| self.node(node).name().to_owned());
        // The number distinguishes parallel links.
        let which = format!("changed {}", wire.0);
        self.end_mut(wire).wire_mut().set_loss(seed, [&from, &to, &which], loss);
    }

    /// Stops a node: its queues are lost. Returns false if it was down already.
    pub fn crash(&mut self, agenda: &mut Agenda, id: NodeId) -> bool {
        let now = agenda.now();
        let node = &mut self.nodes[id.index()];
        let Some(forwarder) = node.forwarder() else { return false };
        for end in self.ends.iter_mut().filter(|end| end.from().node == id) {
            end.crash(now, forwarder);
        }
        node.crash();
        agenda.set(node.component(), None);
        true
    }

    /// The result of a link direction so far.
    pub fn link_result(&self, now: Time, end: &LinkEnd) -> LinkResult {
        let sender = self.node(end.from().node);
        end.result(now, sender.forwarder(), sender.rate(end.from().face))
    }

    /// A sample of a link direction.
    pub fn link_sample(&self, now: Time, wire: WireId, end: &LinkEnd) -> LinkSample {
        let sender = self.node(end.from().node);
        end.sample(now, wire, sender.forwarder(), sender.rate(end.from().face))
    }
}
