//! A node: a forwarder, and the configuration from which it is rebuilt after a crash.

use std::collections::BTreeMap;
use std::sync::Arc;

use control::{Duration, Rate, Time};
use forwarder::tables::fib::FibError;
use forwarder::{
    FaceConfig, FaceId, FaceParts, Forwarder, ForwarderConfig, Medium, QueueLimits, RateIn, Scope,
};
use packet::Name;
use packet::options::Capability;

use crate::events::Component;
use crate::learned::{Learned, announcement};
use crate::reported::EventQueue;
use crate::spec::{NodeSpec, WireSpec};
use crate::wire::WireId;
use record::{Answers, LinkId, NodeId, NodeResult, Origin};

/// The peer of a face.
pub(crate) enum Port {
    /// A link: the outgoing wire and the parameters of the face.
    Link { wire: WireId, plan: Box<LinkPlan> },
    /// An application; `pushes`: it sends unsolicited Data.
    App { app: u32, pushes: bool },
}

/// The parameters of a link's face.
pub(crate) struct LinkPlan {
    /// The face's name, which selects its random streams.
    pub name: String,
    pub spec: WireSpec,
    pub rate_in: RateIn,
    pub capability: Capability,
}

/// The ports of a node, by face number, beginning at 1.
#[derive(Default)]
pub(crate) struct Ports(Vec<Port>);

impl Ports {
    #[inline]
    pub fn get(&self, face: FaceId) -> &Port {
        &self.0[face.0 as usize - 1]
    }

    /// The outgoing wire of a face; `None` if its peer is an application.
    pub fn wire(&self, face: FaceId) -> Option<WireId> {
        match self.0.get(face.0 as usize - 1)? {
            Port::Link { wire, .. } => Some(*wire),
            Port::App { .. } => None,
        }
    }

    fn plan_mut(&mut self, face: FaceId) -> Option<&mut LinkPlan> {
        match self.0.get_mut(face.0 as usize - 1)? {
            Port::Link { plan, .. } => Some(plan),
            Port::App { .. } => None,
        }
    }
}

/// Parts of a node that is up, borrowed separately.
pub(crate) struct Running<'a> {
    pub id: NodeId,
    pub forwarder: &'a mut Forwarder,
    pub ports: &'a Ports,
}

/// A node.
pub(crate) struct Node {
    id: NodeId,
    spec: NodeSpec,
    component: Component,
    /// `None` while it is down.
    forwarder: Option<Forwarder>,
    ports: Ports,
    /// Costs of static routes, which survive a crash. There may be a route for each segment of an
    /// object.
    routes: BTreeMap<(Name, FaceId), u64>,
    /// Routes that its strategy has learned.
    learned: Learned,
    /// Published prefixes, announced to neighbours that learn routes.
    announced: Vec<Name>,
    /// The shared application that publishes the objects of the node.
    producer: Option<u32>,
    pit_max: usize,
    /// The sums over earlier runs, before restarts.
    past: NodeResult,
}

impl Node {
    pub fn new(id: NodeId, spec: NodeSpec, seed: u64, component: Component) -> Node {
        let past = NodeResult { node: spec.name.clone(), ..NodeResult::default() };
        let forwarder = Some(forwarder(&spec, seed));
        Node {
            id,
            spec,
            component,
            forwarder,
            ports: Ports::default(),
            routes: BTreeMap::new(),
            learned: Learned::default(),
            announced: Vec::new(),
            producer: None,
            pit_max: 0,
            past,
        }
    }

    pub fn id(&self) -> NodeId {
        self.id
    }

    pub fn name(&self) -> &str {
        &self.spec.name
    }

    pub fn spec(&self) -> &NodeSpec {
        &self.spec
    }

    #[inline]
    pub fn component(&self) -> Component {
        self.component
    }

    /// The forwarder; `None` if the node is down.
    pub fn forwarder(&self) -> Option<&Forwarder> {
        self.forwarder.as_ref()
    }

    /// The forwarder and its ports; `None` if the node is down.
    #[inline]
    pub fn running(&mut self) -> Option<Running<'_>> {
        let forwarder = self.forwarder.as_mut()?;
        Some(Running { id: self.id, forwarder, ports: &self.ports })
    }

    /// Adds a face and its port. Nodes are up while a network is built.
    pub fn add_port(&mut self, now: Time, port: Port) -> FaceId {
        let config = face_config(&port, &self.spec);
        self.ports.0.push(port);
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.add_face(now, config);
        }
        FaceId(self.ports.0.len() as u64)
    }

    pub fn faces(&self) -> usize {
        self.ports.0.len()
    }

    /// The applications at the node.
    pub fn applications(&self) -> impl Iterator<Item = u32> {
        self.ports.0.iter().filter_map(|port| match port {
            Port::App { app, .. } => Some(*app),
            Port::Link { .. } => None,
        })
    }

    /// The shared application that publishes the objects of the node.
    pub fn producer(&self) -> Option<u32> {
        self.producer
    }

    pub fn set_producer(&mut self, app: u32) {
        self.producer = Some(app);
    }

    /// Adds a route, or changes its cost.
    ///
    /// # Errors
    /// The prefix is too deep.
    pub fn add_route(&mut self, prefix: &Name, face: FaceId, cost: u64) -> Result<(), FibError> {
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.add_route(face, prefix.as_ref(), cost)?;
        }
        self.routes.insert((prefix.clone(), face), cost);
        Ok(())
    }

    /// Checks that a route can be added later.
    ///
    /// # Errors
    /// The prefix is too deep.
    pub fn try_route(&mut self, prefix: &Name, face: FaceId) -> Result<(), FibError> {
        let is_there = self.routes.contains_key(&(prefix.clone(), face));
        if let Some(forwarder) = self.forwarder.as_mut().filter(|_| !is_there) {
            forwarder.add_route(face, prefix.as_ref(), 0)?;
            forwarder.remove_route(face, prefix.as_ref());
        }
        Ok(())
    }

    pub fn remove_route(&mut self, prefix: &Name, face: FaceId) {
        self.routes.remove(&(prefix.clone(), face));
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.remove_route(face, prefix.as_ref());
        }
    }

    /// The static routes over links, with their costs.
    pub fn link_routes(&self) -> impl Iterator<Item = (&Name, LinkId, u64)> {
        self.routes.iter().filter_map(|((prefix, face), cost)| {
            let wire = self.ports.wire(*face)?;
            Some((prefix, wire.link(), *cost))
        })
    }

    /// The prefixes of the static routes to a face.
    pub fn prefixes(&self, face: FaceId) -> impl Iterator<Item = &Name> {
        self.routes.keys().filter(move |(_, to)| *to == face).map(|(prefix, _)| prefix)
    }

    /// The rate of a link's face.
    pub fn rate(&self, face: FaceId) -> Option<Rate> {
        match self.ports.get(face) {
            Port::Link { plan, .. } => plan.spec.rate,
            Port::App { .. } => None,
        }
    }

    /// Changes the rate of a link's face; gives its wire as it is now.
    pub fn set_rate(&mut self, now: Time, face: FaceId, rate: Option<Rate>) -> Option<&WireSpec> {
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.set_rate(now, face, rate, Duration::ZERO);
        }
        let plan = self.ports.plan_mut(face)?;
        plan.spec.rate = rate;
        Some(&plan.spec)
    }

    /// Changes the rate at which the other end of a link sends.
    pub fn set_rate_in(&mut self, face: FaceId, rate: RateIn) {
        if let Some(plan) = self.ports.plan_mut(face) {
            plan.rate_in = rate;
        }
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.set_rate_in(face, rate);
        }
    }

    /// Announces a published prefix to neighbours that discover routes.
    pub fn announce(&mut self, name: &Name) {
        if let Some(forwarder) = &mut self.forwarder {
            let _ = forwarder.set_announcement(name.as_ref(), Some(announcement(name.as_ref())));
        }
        self.announced.push(name.clone());
    }

    /// Call it after the forwarder has done everything due: measures the PIT, adds routes that the
    /// strategy has learned, and removes expired ones.
    pub fn after_calls(&mut self, now: Time) {
        let Some(forwarder) = &mut self.forwarder else { return };
        self.pit_max = self.pit_max.max(forwarder.pit().len());
        let routes = &self.routes;
        self.learned.expire(now, forwarder);
        self.learned.apply(now, forwarder, |route| routes.contains_key(route));
    }

    /// The instant at which to call the forwarder, and then [`Node::after_calls`].
    pub fn next_deadline(&self) -> Option<Time> {
        let forwarder = self.forwarder.as_ref()?.next_deadline();
        [forwarder, self.learned.next_deadline()].into_iter().flatten().min()
    }

    /// Removes the forwarder, because another driver runs the node's applications.
    pub fn remove_forwarder(&mut self) {
        self.forwarder = None;
    }

    /// Removes the forwarder with its tables, and keeps its counters.
    pub fn crash(&mut self) {
        let Some(gone) = self.forwarder.take() else { return };
        add_counters(&mut self.past, &gone);
        self.past.crashes += 1;
        self.past.crashed += gone.pit().unanswered() as u64;
    }

    /// Builds a new forwarder with the same faces, static routes and announcements.
    pub fn restart(&mut self, now: Time, seed: u64) {
        let mut forwarder = forwarder(&self.spec, seed);
        for port in &self.ports.0 {
            forwarder.add_face(now, face_config(port, &self.spec));
        }
        for ((prefix, face), cost) in &self.routes {
            // This cannot fail: a forwarder with the same limits has accepted the route before.
            let _ = forwarder.add_route(*face, prefix.as_ref(), *cost);
        }
        for name in &self.announced {
            let _ = forwarder.set_announcement(name.as_ref(), Some(announcement(name.as_ref())));
        }
        self.learned.clear();
        self.forwarder = Some(forwarder);
    }

    /// Sends the events of the forwarder's scheme parts to the queue.
    pub fn report_to(&mut self, events: &EventQueue) {
        let Some(forwarder) = &mut self.forwarder else { return };
        let (id, events) = (self.id, Arc::clone(events));
        forwarder.set_tap(Some(Box::new(move |reporter, event| {
            if let Ok(mut events) = events.lock() {
                events.push((Origin::Node(id, reporter), event));
            }
        })));
    }

    /// The answers of the content store over all restarts; `served` is the count of the producers.
    pub fn answers(&self, served: u64) -> Answers {
        let mut store = self.past.store;
        if let Some(forwarder) = &self.forwarder {
            store += forwarder.content_store().counters();
        }
        Answers { hits: store.hits, misses: store.misses, served }
    }

    pub fn result(&self) -> NodeResult {
        let mut result = self.past.clone();
        if let Some(forwarder) = &self.forwarder {
            add_counters(&mut result, forwarder);
            result.pit = forwarder.pit().unanswered() as u64;
            result.cs_packets = forwarder.content_store().len() as u64;
        }
        result.pit_max = self.pit_max as u64;
        result
    }
}

fn add_counters(sum: &mut NodeResult, forwarder: &Forwarder) {
    sum.stats += forwarder.stats();
    sum.store += forwarder.content_store().counters();
}

fn forwarder(spec: &NodeSpec, seed: u64) -> Forwarder {
    let mut config = ForwarderConfig::new((spec.strategy)());
    config.seed = seed;
    config.name.clone_from(&spec.name);
    config.content_store = spec.content_store;
    if !spec.capability.has(Capability::RANGE) {
        config.max_range = 0;
    }
    Forwarder::new(config)
}

fn face_config(port: &Port, spec: &NodeSpec) -> FaceConfig {
    let plan = match port {
        Port::Link { plan, .. } => plan,
        Port::App { pushes, .. } => {
            // Applications receive no ranges, because some have only some segments of an object.
            let capability = Capability(spec.capability.0 & Capability::OPTIONS);
            let (scope, pushes) = (Scope::Local, *pushes);
            return FaceConfig { scope, capability, pushes, ..FaceConfig::default() };
        }
    };
    let spec = &plan.spec;
    FaceConfig {
        name: plan.name.clone(),
        medium: Medium {
            mtu: spec.mtu,
            overhead: spec.overhead,
            rate: spec.rate,
            rate_in: plan.rate_in,
            // The simulator is always punctual.
            slack: Duration::ZERO,
        },
        queues: QueueLimits {
            data: spec.queue,
            interests: spec.queue,
            packets: spec.queue_packets,
            ..QueueLimits::default()
        },
        reliability: spec.reliability,
        capability: plan.capability,
        parts: FaceParts {
            marker: spec.marker.as_ref().map(|make| make()),
            shaper: spec.shaper.as_ref().map(|make| make()),
            stamper: spec.stamper.as_ref().map(|make| make()),
        },
        ..FaceConfig::default()
    }
}
