//! The network as it is built.

use control::{Duration, Rate, Time};
use forwarder::FaceId;
use forwarder::tables::fib::FibError;
use packet::Name;
use packet::options::Capability;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use thiserror::Error;
use transport::publish::PublishError;

use crate::app::{App, Role};
use crate::buffers::Buffers;
use crate::constant_rate::ConstantRate;
use crate::consumer::Consumer;
use crate::events::{Component, EventList};
use crate::fault::Fault;
use crate::hashing::{Hasher, OnHashing};
use crate::impairment::Dice;
use crate::in_order::InOrder;
use crate::node::{LinkPlan, Node, Port};
use crate::outside::Outbox;
use crate::population::Population;
use crate::producer::{Producer, preparation};
use crate::reported::EventQueue;
use crate::results::LinkSums;
use crate::service::Service;
use crate::spec::{FetchSpec, NodeSpec, ObjectSpec, Production, RateSpec, ServiceSpec, WireSpec};
use crate::stores::StoreSeries;
use crate::trace::Trace;
use crate::tracer::Tracing;
use crate::wire::Wire;
use record::{FlowId, FlowResult, LinkId, NodeId, Recorder};

/// Why something cannot be part of a network.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The node is not at either end of the link.
    #[error("the node {node} is at neither end of the link that its route uses")]
    NotAtLink {
        /// The node's name.
        node: String,
    },
    /// The route is refused.
    #[error(transparent)]
    Route(#[from] FibError),
    /// The object cannot be published.
    #[error(transparent)]
    Object(#[from] PublishError),
}

/// What a component is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Node(u32),
    Wire(u32),
    App(u32),
    Workload(u32),
    Stores,
    Faults,
    Sampler,
}

/// A flow, as long as somebody asks after it.
pub(crate) enum FlowEntry {
    /// Its application, and the place of its workload and class if it began by itself.
    Live { app: u32, workload: Option<(u32, u16)> },
    /// It is over, and its application serves another one.
    Over(Box<FlowResult>),
}

/// A wire with the faces at its ends.
pub(crate) struct WireEnd {
    pub wire: Wire,
    pub from: u32,
    pub from_face: FaceId,
    pub to: u32,
    pub to_face: FaceId,
    pub component: Component,
    /// The sums of the lives of the sending node that ended.
    pub past: LinkSums,
}

/// A network of forwarders, links and applications in virtual time: built, then run.
///
/// Ids belong to the network that gave them out.
pub struct Network {
    pub(crate) seed: u64,
    pub(crate) now: Time,
    pub(crate) events: EventList,
    pub(crate) targets: Vec<Target>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) wires: Vec<WireEnd>,
    pub(crate) apps: Vec<App>,
    pub(crate) flows: Vec<FlowEntry>,
    pub(crate) population: Population,
    pub(crate) stores: StoreSeries,
    pub(crate) flow_names: Vec<(String, String)>,
    pub(crate) faults: BTreeMap<(Time, u64), Fault>,
    pub(crate) recorder: Option<Box<dyn Recorder>>,
    pub(crate) every: Duration,
    pub(crate) event_queue: Option<EventQueue>,
    pub(crate) trace: Trace,
    pub(crate) tracing: Option<Box<Tracing>>,
    pub(crate) calls: u64,
    pub(crate) hasher: Hasher,
    /// Where the frames of applications go that have no forwarder here.
    pub(crate) outbox: Option<Box<Outbox>>,
    pub(crate) out: Vec<u8>,
    pub(crate) buffers: Buffers,
    fault_component: Component,
    sampler: Component,
}

/// One end of a link.
#[derive(Clone, Copy)]
struct End {
    node: NodeId,
    face: FaceId,
}

impl Network {
    /// An empty network. The seed decides everything that is left to chance.
    #[must_use]
    pub fn new(seed: u64) -> Network {
        let mut events = EventList::default();
        let (fault_component, sampler) = (events.add(), events.add());
        Network {
            seed,
            now: Time::ZERO,
            events,
            targets: vec![Target::Faults, Target::Sampler],
            nodes: Vec::new(),
            wires: Vec::new(),
            apps: Vec::new(),
            flows: Vec::new(),
            population: Population::default(),
            stores: StoreSeries::default(),
            flow_names: Vec::new(),
            faults: BTreeMap::new(),
            recorder: None,
            every: Duration::ZERO,
            event_queue: None,
            trace: Trace::new(),
            tracing: None,
            calls: 0,
            hasher: Hasher::default(),
            outbox: None,
            out: Vec::new(),
            buffers: Buffers::default(),
            fault_component,
            sampler,
        }
    }

    pub(crate) fn component(&mut self, target: Target) -> Component {
        self.targets.push(target);
        self.events.add()
    }

    /// Adds a node.
    pub fn add_node(&mut self, spec: NodeSpec) -> NodeId {
        let id = self.nodes.len() as u32;
        let component = self.component(Target::Node(id));
        self.nodes.push(Node::new(NodeId(id), spec, self.seed, component));
        NodeId(id)
    }

    /// Adds a link: `ab` is its direction from `a` to `b`, `ba` the other one.
    pub fn add_link(&mut self, a: NodeId, b: NodeId, mut ab: WireSpec, mut ba: WireSpec) -> LinkId {
        ab.reliability |= ba.reliability;
        ba.reliability = ab.reliability;
        let link = self.wires.len() as u32 / 2;
        let parallel =
            self.wires.iter().filter(|end| (end.from, end.to) == (a.0, b.0)).count().to_string();
        let forth = self.wire(a, b, &ab, &parallel);
        let back = self.wire(b, a, &ba, &parallel);
        let (rate_ab, rate_ba) = (ab.rate, ba.rate);
        let face_a = self.add_link_face(a, b, 2 * link, ab, rate_ba, &parallel);
        let face_b = self.add_link_face(b, a, 2 * link + 1, ba, rate_ab, &parallel);
        let (end_a, end_b) = (End { node: a, face: face_a }, End { node: b, face: face_b });
        self.add_wire(forth, end_a, end_b);
        self.add_wire(back, end_b, end_a);
        LinkId(link)
    }

    fn wire(&self, from: NodeId, to: NodeId, spec: &WireSpec, parallel: &str) -> Wire {
        let name = |node: NodeId| self.nodes[node.index()].spec.name.as_str();
        let dice = Dice::new(self.seed, [name(from), name(to), parallel], &spec.impairment);
        Wire::new(spec.rate, spec.delay, spec.overhead, dice)
    }

    fn add_link_face(
        &mut self,
        from: NodeId,
        to: NodeId,
        wire: u32,
        spec: WireSpec,
        rate_in: Option<Rate>,
        parallel: &str,
    ) -> FaceId {
        let name = format!("{} {parallel}", self.nodes[to.index()].spec.name);
        // A link carries what both of its ends understand.
        let understood = |node: NodeId| self.nodes[node.index()].spec.capability.0;
        let capability = Capability(understood(from) & understood(to));
        let plan = Box::new(LinkPlan { name, spec, rate_in, capability });
        self.nodes[from.index()].add_port(self.now, Port::Link { wire, plan })
    }

    fn add_wire(&mut self, wire: Wire, from: End, to: End) {
        let name = |node: NodeId| self.nodes[node.index()].spec.name.clone();
        let past = LinkSums::new(name(from.node), name(to.node));
        let component = self.component(Target::Wire(self.wires.len() as u32));
        self.wires.push(WireEnd {
            wire,
            from: from.node.0,
            from_face: from.face,
            to: to.node.0,
            to_face: to.face,
            component,
            past,
        });
    }

    /// The node's face on a link; the one of `a`, if both ends are at the node.
    pub(crate) fn face_on(&self, at: NodeId, link: LinkId) -> Option<FaceId> {
        let ends = &self.wires[link.index()..][..2];
        ends.iter().find(|end| end.from == at.0).map(|end| end.from_face)
    }

    /// Adds a route, or changes its cost.
    ///
    /// # Errors
    /// The link is not the node's, or the prefix is too deep.
    pub fn add_route(
        &mut self,
        at: NodeId,
        prefix: &Name,
        link: LinkId,
        cost: u64,
    ) -> Result<(), BuildError> {
        let face = self.face_on(at, link).ok_or_else(|| self.not_at_link(at))?;
        self.add_route_to(at, prefix, face, cost)
    }

    fn not_at_link(&self, at: NodeId) -> BuildError {
        BuildError::NotAtLink { node: self.nodes[at.index()].spec.name.clone() }
    }

    pub(crate) fn add_route_to(
        &mut self,
        at: NodeId,
        prefix: &Name,
        face: FaceId,
        cost: u64,
    ) -> Result<(), BuildError> {
        let node = &mut self.nodes[at.index()];
        if let Some(forwarder) = &mut node.forwarder {
            forwarder.add_route(face, prefix.as_ref(), cost)?;
        }
        node.routes.insert((prefix.clone(), face), cost);
        Ok(())
    }

    pub(crate) fn add_app(&mut self, at: NodeId, role: Role) -> FaceId {
        let number = self.apps.len() as u32;
        let component = self.component(Target::App(number));
        let pushes = matches!(role, Role::InOrder(_));
        let port = Port::App { app: number, pushes };
        let face = self.nodes[at.index()].add_port(self.now, port);
        let mut app = App::new(at.0, face, component, role);
        let first = app.first_deadline();
        self.events.set(component, first.map(|at| at.max(self.now)));
        self.apps.push(app);
        face
    }

    /// Publishes an object at a node, and adds the route to it there. All objects of a node are
    /// behind one face, but those that take their time: each of them has a server of its own.
    ///
    /// # Errors
    /// The object cannot be cut into segments of the size asked for, or its name is too deep.
    pub fn publish(&mut self, at: NodeId, object: ObjectSpec) -> Result<(), BuildError> {
        let name = object.name.clone();
        if let Production::InOrder { slow } = object.production {
            preparation(&object)?.digest_run(0..1)?;
            let producer = InOrder::new(&object, slow, self.now);
            let face = self.add_app(at, Role::InOrder(Box::new(producer)));
            self.nodes[at.index()].announce(&name);
            return self.add_route_to(at, &name, face, 0);
        }
        let service = object.service;
        let there = self.nodes[at.index()].producer.filter(|_| service.is_none());
        let app = there.unwrap_or(self.apps.len() as u32);
        if there.is_none() {
            let producer = Producer::new(self.hasher.clone());
            self.add_app(at, Role::Publish(Box::new(producer)));
            match service {
                None => self.nodes[at.index()].producer = Some(app),
                Some(_) => self.serve(service),
            }
        }
        let App { face, role: Role::Publish(producer), .. } = &mut self.apps[app as usize] else {
            unreachable!("the number is that of a producer");
        };
        let face = *face;
        producer.add(object)?;
        self.nodes[at.index()].announce(&name);
        self.add_route_to(at, &name, face, 0)
    }

    /// The application that came last takes its time.
    pub(crate) fn serve(&mut self, service: Option<ServiceSpec>) {
        if let Some(app) = self.apps.last_mut() {
            app.service = service.map(Service::new);
        }
    }

    /// Faces of a node: of its links and of its applications.
    #[must_use]
    pub fn faces(&self, node: NodeId) -> usize {
        self.nodes[node.index()].ports.len()
    }

    /// Adds a fetch.
    pub fn fetch(&mut self, at: NodeId, fetch: FetchSpec) -> FlowId {
        let flow = self.flow(at, &fetch.name, fetch.label.clone());
        let names = self.stream_names(at, flow);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let consumer = Consumer::new(fetch, self.seed, &names);
        self.add_app(at, Role::Fetch(flow, Box::new(consumer)));
        flow
    }

    /// Adds a consumer that asks at a constant rate.
    pub fn constant_rate(&mut self, at: NodeId, spec: RateSpec) -> FlowId {
        let flow = self.flow(at, &spec.name, "constant-rate".to_owned());
        let names = self.stream_names(at, flow);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let consumer = ConstantRate::new(spec, self.seed, &names);
        self.add_app(at, Role::Rate(Box::new(consumer)));
        flow
    }

    pub(crate) fn flow(&mut self, at: NodeId, name: &Name, label: String) -> FlowId {
        debug_assert!(at.index() < self.nodes.len());
        let flow = FlowId(self.flows.len() as u32);
        let live = FlowEntry::Live { app: self.apps.len() as u32, workload: None };
        self.add_flow(live, name.to_string(), label);
        flow
    }

    pub(crate) fn add_flow(&mut self, flow: FlowEntry, name: String, label: String) {
        self.flows.push(flow);
        self.flow_names.push((name, label));
    }

    /// The names of a flow's random streams: those of the other flows on its node do not matter,
    /// unless they ask for the same name.
    pub(crate) fn stream_names(&self, at: NodeId, flow: FlowId) -> [String; 4] {
        let name = &self.flow_names[flow.index()].0;
        let same = |other: &usize| {
            let FlowEntry::Live { app, workload: None } = self.flows[*other] else { return false };
            let app = self.apps.get(app as usize);
            app.is_some_and(|app| app.node == at.0) && self.flow_names[*other].0 == *name
        };
        let twin = (0..flow.index()).filter(same).count();
        let node = self.nodes[at.index()].spec.name.clone();
        ["flow".to_owned(), node, name.clone(), twin.to_string()]
    }

    /// Has something happen at an instant. Faults of one instant happen in the order in which they
    /// were announced.
    ///
    /// # Errors
    /// The fault is a route that cannot be.
    pub fn at(&mut self, when: Time, fault: Fault) -> Result<(), BuildError> {
        if let Fault::AddRoute { at, prefix, link, .. } = &fault {
            self.try_route(*at, prefix, *link)?;
        }
        let number = self.faults.len() as u64;
        self.faults.insert((when.max(self.now), number), fault);
        self.schedule_fault();
        Ok(())
    }

    fn try_route(&mut self, at: NodeId, prefix: &Name, link: LinkId) -> Result<(), BuildError> {
        let face = self.face_on(at, link).ok_or_else(|| self.not_at_link(at))?;
        let node = &mut self.nodes[at.index()];
        let there = node.routes.contains_key(&(prefix.clone(), face));
        if let Some(forwarder) = node.forwarder.as_mut().filter(|_| !there) {
            forwarder.add_route(face, prefix.as_ref(), 0)?;
            forwarder.remove_route(face, prefix.as_ref());
        }
        Ok(())
    }

    pub(crate) fn schedule_fault(&mut self) {
        let first = self.faults.first_key_value().map(|((at, _), _)| *at);
        self.events.set(self.fault_component, first);
    }

    /// Has a recorder told of everything, and samples taken at an interval from now on; none if it
    /// is zero.
    pub fn observe(&mut self, every: Duration, recorder: Box<dyn Recorder>) {
        self.event_queue = recorder.wants_events().then(|| Arc::new(Mutex::new(Vec::new())));
        for node in &mut self.nodes {
            node.listen(self.event_queue.as_ref());
        }
        self.recorder = Some(recorder);
        self.every = every;
        self.schedule_sample(self.now);
    }

    pub(crate) fn schedule_sample(&mut self, at: Time) {
        self.events.set(self.sampler, (self.every > Duration::ZERO).then_some(at));
    }

    /// The recorder, when the run is over.
    pub fn take_recorder(&mut self) -> Option<Box<dyn Recorder>> {
        self.recorder.take()
    }

    /// Has somebody told how far the hashing of objects is, which may take long and no simulated
    /// time. Once he says no, the run is over where it is: see [`Network::is_given_up`].
    pub fn on_hashing(&mut self, told: OnHashing) {
        self.hasher.tell(told);
    }

    /// Whoever was told of the hashing of objects has said no.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.hasher.is_given_up()
    }

    /// Calls of components so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.calls
    }

    /// The instant that was reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }
}
