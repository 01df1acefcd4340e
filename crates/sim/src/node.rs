//! A node: a forwarder, and what it is made of again after a crash.

use std::collections::BTreeMap;

use control::{Duration, Rate, Time};
use forwarder::{FaceConfig, FaceId, Forwarder, ForwarderConfig, Scope};
use packet::Name;
use packet::options::Capability;

use crate::events::Component;
use crate::learned::{Learned, announcement};
use crate::reported::EventQueue;
use crate::spec::{NodeSpec, WireSpec};
use record::{NodeId, NodeResult, Origin};

/// What is behind a face.
pub(crate) enum Port {
    /// A wire leaves here.
    Link { wire: u32, plan: Box<LinkPlan> },
    /// An application, and whether it sends Data that no Interest asked for.
    App { app: u32, pushes: bool },
}

/// What a link's face is made of.
pub(crate) struct LinkPlan {
    /// The face's name, which chooses its random streams.
    pub name: String,
    pub spec: WireSpec,
    pub rate_in: Option<Rate>,
    pub capability: Capability,
}

/// A node.
pub(crate) struct Node {
    pub id: NodeId,
    pub spec: NodeSpec,
    pub component: Component,
    /// `None` while it is down.
    pub forwarder: Option<Forwarder>,
    /// By the number of the face, from 1 on.
    pub ports: Vec<Port>,
    /// Costs of routes, which outlive a crash. There may be one for each segment of an object.
    pub routes: BTreeMap<(Name, FaceId), u64>,
    /// Routes that its strategy has learned.
    pub learned: Learned,
    /// What is published here, by which neighbours learn routes.
    pub announced: Vec<Name>,
    /// The application that publishes here.
    pub producer: Option<u32>,
    pub pit_max: usize,
    /// The sums of the lives that ended.
    pub past: NodeResult,
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
            ports: Vec::new(),
            routes: BTreeMap::new(),
            learned: Learned::default(),
            announced: Vec::new(),
            producer: None,
            pit_max: 0,
            past,
        }
    }

    /// Adds a face and what is behind it. Nodes are up while a network is built.
    pub fn add_port(&mut self, now: Time, port: Port) -> FaceId {
        let config = face_config(&port, &self.spec);
        self.ports.push(port);
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.add_face(now, config);
        }
        FaceId(self.ports.len() as u64)
    }

    pub fn port(&self, face: FaceId) -> &Port {
        &self.ports[face.0 as usize - 1]
    }

    pub fn port_mut(&mut self, face: FaceId) -> &mut Port {
        &mut self.ports[face.0 as usize - 1]
    }

    /// Neighbours that make discoveries learn of a prefix that is published here.
    pub fn announce(&mut self, name: &Name) {
        if let Some(forwarder) = &mut self.forwarder {
            let _ = forwarder.set_announcement(name.as_ref(), Some(announcement(name.as_ref())));
        }
        self.announced.push(name.clone());
    }

    /// Does what the strategy has learned, and forgets what has expired.
    pub fn learn(&mut self, now: Time) {
        let Node { forwarder, learned, routes, .. } = self;
        if let Some(forwarder) = forwarder {
            learned.expire(now, forwarder);
            learned.heed(now, forwarder, |route| routes.contains_key(route));
        }
    }

    /// When the node wants to be called.
    pub fn next_deadline(&self) -> Option<Time> {
        let forwarder = self.forwarder.as_ref()?.next_deadline();
        [forwarder, self.learned.next_deadline()].into_iter().flatten().min()
    }

    /// The forwarder and all that it holds are gone.
    pub fn crash(&mut self) {
        let Some(gone) = self.forwarder.take() else { return };
        add_life(&mut self.past, &gone);
        self.past.crashes += 1;
        self.past.crashed += gone.pit().unanswered() as u64;
    }

    /// A new forwarder, with the same faces and routes and nothing else.
    pub fn restart(&mut self, now: Time, seed: u64, events: Option<&EventQueue>) {
        if self.forwarder.is_some() {
            return;
        }
        let mut forwarder = forwarder(&self.spec, seed);
        for port in &self.ports {
            forwarder.add_face(now, face_config(port, &self.spec));
        }
        for ((prefix, face), cost) in &self.routes {
            // It was accepted before, by a forwarder with the same bounds.
            let _ = forwarder.add_route(*face, prefix.as_ref(), *cost);
        }
        for name in &self.announced {
            let _ = forwarder.set_announcement(name.as_ref(), Some(announcement(name.as_ref())));
        }
        self.learned.clear();
        self.forwarder = Some(forwarder);
        self.listen(events);
    }

    /// Sends what the parts of schemes report to the queue.
    pub fn listen(&mut self, events: Option<&EventQueue>) {
        let (Some(forwarder), Some(events)) = (&mut self.forwarder, events.cloned()) else {
            return;
        };
        let id = self.id;
        forwarder.set_tap(Some(Box::new(move |reporter, event| {
            if let Ok(mut events) = events.lock() {
                events.push((Origin::Node(id, reporter), event));
            }
        })));
    }

    pub fn result(&self) -> NodeResult {
        let mut result = self.past.clone();
        if let Some(forwarder) = &self.forwarder {
            add_life(&mut result, forwarder);
            result.pit = forwarder.pit().unanswered() as u64;
            result.cs_packets = forwarder.content_store().len() as u64;
        }
        result.pit_max = self.pit_max as u64;
        result
    }
}

fn add_life(sum: &mut NodeResult, life: &Forwarder) {
    sum.stats.add(life.stats());
    let store = life.content_store().counters();
    sum.cs_inserted += store.inserted;
    sum.cs_removed += store.evicted + store.died + store.moved;
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
            // Applications are asked segment by segment: some have only some of an object.
            let capability = Capability(spec.capability.0 & Capability::OPTIONS);
            let (scope, pushes) = (Scope::Local, *pushes);
            return FaceConfig { scope, capability, pushes, ..FaceConfig::default() };
        }
    };
    let spec = &plan.spec;
    FaceConfig {
        name: plan.name.clone(),
        mtu: spec.mtu,
        overhead: spec.overhead,
        reliability: spec.reliability,
        rate: spec.rate,
        rate_in: plan.rate_in,
        capability: plan.capability,
        // The simulator is never late.
        slack: Duration::ZERO,
        data_queue: spec.queue,
        interest_queue: spec.queue,
        queue_packets: spec.queue_packets,
        marker: spec.marker.as_ref().map(|make| make()),
        shaper: spec.shaper.as_ref().map(|make| make()),
        stamper: spec.stamper.as_ref().map(|make| make()),
        ..FaceConfig::default()
    }
}
