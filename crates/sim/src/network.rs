//! A network: construction and execution.

use control::{Duration, Time};
use forwarder::tables::ContentStoreConfig;
use packet::Name;
use record::{FlowId, LinkId, NodeId, Outcome, Recorder, StoreSample, WorkloadResult};
use std::sync::Arc;

use crate::agenda::Target;
use crate::app::Role;
use crate::constant_rate::ConstantRate;
use crate::consumer::Consumer;
use crate::error::BuildError;
use crate::fabric::Fabric;
use crate::fault::Fault;
use crate::fault_plan::FaultPlan;
use crate::hashing::{Hasher, OnHashing};
use crate::in_order::InOrder;
use crate::outside::Applications;
use crate::population::Population;
use crate::producer::{Producer, preparation};
use crate::results;
use crate::spec::{FetchSpec, NodeSpec, ObjectSpec, Production, RateSpec, WireSpec};
use crate::stores::{self, StoreSeries};
use crate::tracer::Tracer;
use crate::wire::WireId;
use crate::workload::WorkloadSpec;
use crate::workload::catalogue::Catalogue;
use crate::workload::publisher::Publisher;
use crate::workload::video::{Player, VideoSpec};

/// A network of forwarders, links and applications in virtual time. It is built first, then run.
///
/// Ids are valid only for the network that returned them.
pub struct Network {
    fabric: Fabric,
    population: Population,
    faults: FaultPlan,
    stores: StoreSeries,
    hasher: Hasher,
}

impl Network {
    /// An empty network. All random streams derive from the seed.
    #[must_use]
    pub fn new(seed: u64) -> Network {
        let mut fabric = Fabric::new(seed);
        let faults = FaultPlan::new(fabric.agenda_mut());
        Network {
            fabric,
            population: Population::default(),
            faults,
            stores: StoreSeries::default(),
            hasher: Hasher::default(),
        }
    }

    /// Adds a node.
    pub fn add_node(&mut self, spec: NodeSpec) -> NodeId {
        self.fabric.add_node(spec)
    }

    /// Adds a link: `ab` specifies its direction from `a` to `b`, `ba` the other one.
    pub fn add_link(&mut self, a: NodeId, b: NodeId, ab: WireSpec, ba: WireSpec) -> LinkId {
        self.fabric.add_link(a, b, [ab, ba])
    }

    /// Adds a route, or changes its cost.
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
        self.fabric.topology_mut().add_route(at, prefix, link, cost)
    }

    /// Publishes an object at a node, and adds a route to it there. The objects of a node share a
    /// face, except those with a service time or made in order: each of them has its own producer.
    ///
    /// # Errors
    /// The object cannot be divided into segments of the configured size, or its name is too deep.
    pub fn publish(&mut self, at: NodeId, object: ObjectSpec) -> Result<(), BuildError> {
        let name = object.name.clone();
        let app = match object.production {
            Production::InOrder { slow } => {
                preparation(&object)?.digest_run(0..1)?;
                let producer = InOrder::new(&object, slow, self.fabric.now());
                self.fabric.add_app(at, Role::InOrder(Box::new(producer)))
            }
            _ => {
                let app = self.producer(at, &object);
                if let Some(producer) = self.fabric.apps_mut().get_mut(app).producer_mut() {
                    producer.add(object)?;
                }
                app
            }
        };
        self.fabric.topology_mut().node_mut(at).announce(&name);
        self.route_to_app(at, &name, app)
    }

    /// The application that publishes an object: a shared one, or a new one.
    fn producer(&mut self, at: NodeId, object: &ObjectSpec) -> u32 {
        let shared = self.fabric.topology().node(at).producer();
        if let (Some(app), None) = (shared, &object.service) {
            return app;
        }
        let producer = Producer::new(self.hasher.clone());
        let app = self.fabric.add_app(at, Role::Publish(Box::new(producer)));
        match object.service {
            None => self.fabric.topology_mut().node_mut(at).set_producer(app),
            Some(_) => self.fabric.apps_mut().serve(app, object.service),
        }
        app
    }

    /// Publishes the objects of a catalogue at a node, and adds a route to them there. `place` is
    /// the index of this producer among those of the catalogue.
    ///
    /// # Errors
    /// The objects cannot be divided into segments of the configured size, or their names are too
    /// deep.
    pub fn publish_catalogue(
        &mut self,
        at: NodeId,
        catalogue: &Arc<Catalogue>,
        place: usize,
    ) -> Result<(), BuildError> {
        let publisher = Publisher::new(Arc::clone(catalogue), place, self.hasher.clone())?;
        let app = self.fabric.add_app(at, Role::Catalogue(Box::new(publisher)));
        self.fabric.apps_mut().serve(app, catalogue.service);
        self.route_to_app(at, &catalogue.name, app)
    }

    fn route_to_app(&mut self, at: NodeId, prefix: &Name, app: u32) -> Result<(), BuildError> {
        let face = self.fabric.apps().get(app).place().face;
        Ok(self.fabric.topology_mut().node_mut(at).add_route(prefix, face, 0)?)
    }

    /// Adds a fetch.
    pub fn fetch(&mut self, at: NodeId, spec: FetchSpec) -> FlowId {
        let (name, label, seed) = (spec.name.to_string(), spec.label.clone(), self.fabric.seed());
        self.fabric.add_flow(at, name, label, |flow, names| {
            Role::Fetch(flow, Box::new(Consumer::new(spec, seed, names)))
        })
    }

    /// Adds a constant-rate consumer.
    pub fn constant_rate(&mut self, at: NodeId, spec: RateSpec) -> FlowId {
        let (name, seed) = (spec.name.to_string(), self.fabric.seed());
        self.fabric.add_flow(at, name, "constant-rate".to_owned(), |_, names| {
            Role::Rate(Box::new(ConstantRate::new(spec, seed, names)))
        })
    }

    /// Adds a video player.
    pub fn video(&mut self, at: NodeId, spec: VideoSpec) -> FlowId {
        let (name, label) = (spec.catalogue.name.to_string(), spec.label.clone());
        let seed = self.fabric.seed();
        self.fabric.add_flow(at, name, label, |flow, names| {
            Role::Video(flow, Box::new(Player::new(spec, seed, names)))
        })
    }

    /// Adds a workload, which starts flows during the run.
    pub fn workload(&mut self, spec: WorkloadSpec) {
        self.population.add(&mut self.fabric, spec);
    }

    /// Sets the maximum number of workload flows that are listed individually, 10,000 by default.
    /// The others count only in the sums of their workloads.
    pub fn list_flows(&mut self, most: usize) {
        self.population.list_flows(most);
    }

    /// Schedules a fault. Faults at the same instant take place in the order in which they were
    /// added.
    ///
    /// # Errors
    /// The fault adds a route whose link does not end at the node, or whose prefix is too deep.
    pub fn at(&mut self, when: Time, fault: Fault) -> Result<(), BuildError> {
        if let Fault::AddRoute { at, prefix, link, .. } = &fault {
            self.fabric.topology_mut().try_route(*at, prefix, *link)?;
        }
        self.faults.add(self.fabric.agenda_mut(), when, fault);
        Ok(())
    }

    /// Calls `recorder` from now on: for each event, and with samples at the interval `every`. Zero
    /// disables samples.
    pub fn observe(&mut self, every: Duration, recorder: Box<dyn Recorder>) {
        self.fabric.record(every, recorder);
    }

    /// Takes the recorder back after the run.
    pub fn take_recorder(&mut self) -> Option<Box<dyn Recorder>> {
        self.fabric.observers_mut().take_recorder()
    }

    /// Calls `tracer` for all packets, flows and faults from now on. It does not change the run.
    pub fn trace(&mut self, tracer: Box<dyn Tracer>) {
        self.fabric.trace(tracer);
    }

    /// Takes the tracer back after the run.
    pub fn take_tracer(&mut self) -> Option<Box<dyn Tracer>> {
        self.fabric.observers_mut().take_tracing().map(|tracing| tracing.into_tracer())
    }

    /// Samples the answers of content stores and producers at the interval `every`, from now on and
    /// at most `most` times. See [`Network::store_samples`].
    pub fn watch_stores(&mut self, every: Duration, most: usize) {
        self.stores.watch(&mut self.fabric, every, most);
    }

    /// Passes a sample of links, flows and workloads at this instant to a recorder.
    pub fn sample(&self, recorder: &mut dyn Recorder) {
        results::sample(&self.fabric, &self.population, recorder);
    }

    /// Reports the progress of hashing objects, which may take long but no simulated time. If the
    /// callback returns `false`, the run ends: see [`Network::is_given_up`].
    pub fn on_hashing(&mut self, callback: OnHashing) {
        self.hasher.report_to(callback);
    }

    /// Runs until an instant and returns the results. Call it again to continue.
    pub fn run(&mut self, until: Time) -> Outcome {
        self.advance(until);
        self.outcome()
    }

    /// Runs until an instant, or until it [`Network::is_given_up`].
    pub fn advance(&mut self, until: Time) {
        while !self.advance_some(until, u64::MAX) {}
    }

    /// The same, until about `events` events have happened. Returns false if more are left: call it
    /// again. Pauses do not change the results.
    pub fn advance_some(&mut self, until: Time, events: u64) -> bool {
        let most = self.events().saturating_add(events);
        while self.fabric.agenda().first().is_some_and(|at| at <= until) {
            if self.is_given_up() {
                return true;
            }
            if self.events() >= most {
                return false;
            }
            if let Some(target) = self.fabric.agenda_mut().begin(until) {
                self.wake(target);
            }
            self.population.retire(&mut self.fabric);
            self.fabric.observers_mut().report_events();
        }
        self.fabric.agenda_mut().reach(until);
        true
    }

    fn wake(&mut self, target: Target) {
        match target {
            Target::Wire(wire) => self.fabric.deliver(WireId(wire)),
            Target::Node(node) => self.fabric.wake_node(NodeId(node)),
            Target::App(app) => self.fabric.wake_app(app),
            Target::Workload(workload) => self.population.wake(&mut self.fabric, workload),
            Target::Stores => self.stores.wake(&mut self.fabric),
            Target::Faults => self.faults.wake(&mut self.fabric),
            Target::Sampler => results::take_sample(&mut self.fabric, &self.population),
        }
    }

    /// True if every consumer has ended and no workload will start another.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.population.is_over() && self.fabric.flows().are_over(self.fabric.apps())
    }

    /// True if this flow has ended.
    #[must_use]
    pub fn is_flow_over(&self, flow: FlowId) -> bool {
        self.fabric.flows().is_over(flow, self.fabric.apps())
    }

    /// True if the callback for hashing has ended the run.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.hasher.is_given_up()
    }

    /// The results so far.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        results::outcome(&self.fabric, &self.population)
    }

    /// The results of the workloads so far, in the order in which they were added.
    #[must_use]
    pub fn workload_results(&self) -> Vec<WorkloadResult> {
        self.population.results(self.fabric.apps())
    }

    /// The samples of [`Network::watch_stores`] so far.
    #[must_use]
    pub fn store_samples(&self) -> &[StoreSample] {
        self.stores.samples()
    }

    /// The counts of stores and producers now.
    #[must_use]
    pub fn store_sample(&self) -> StoreSample {
        stores::sample(&self.fabric)
    }

    /// The number of events so far: calls of components.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.fabric.agenda().calls()
    }

    /// The current simulated time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.fabric.now()
    }

    /// The number of faces of a node, to links and to applications.
    #[must_use]
    pub fn faces(&self, node: NodeId) -> usize {
        self.fabric.topology().node(node).faces()
    }

    /// The number of applications, including those that wait for a flow.
    #[must_use]
    pub fn applications(&self) -> usize {
        self.fabric.apps().len()
    }

    /// The routes of a node over links, with their costs.
    pub fn routes(&self, at: NodeId) -> impl Iterator<Item = (&Name, LinkId, u64)> {
        self.fabric.topology().node(at).link_routes()
    }

    /// The configuration of a node's content store.
    #[must_use]
    pub fn content_store(&self, at: NodeId) -> &ContentStoreConfig {
        &self.fabric.topology().node(at).spec().content_store
    }

    /// The applications, before their start, without the forwarders.
    #[must_use]
    pub fn into_applications(self) -> Applications {
        Applications::new(self.fabric, self.population)
    }
}
