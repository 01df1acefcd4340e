//! Flows that come and go: workloads in the network, and what becomes of their flows.

use control::{Duration, Rng};
use packet::Name;
use std::sync::Arc;

use crate::app::{App, Role};
use crate::consumer::Consumer;
use crate::network::{BuildError, FlowEntry, Network, Target};
use crate::node::Port;
use crate::workload::catalogue::Catalogue;
use crate::workload::chunks::Chunks;
use crate::workload::publisher::Publisher;
use crate::workload::video::{Player, VideoSpec};
use crate::workload::{Beginning, Born, Generator, Manner, WorkloadSpec};
use record::{FlowId, FlowResult, NodeId, WorkloadResult, WorkloadSample};

/// Flows that are listed one by one, unless [`Network::list_flows`] says something else.
const LISTED: usize = 10_000;

/// What a network knows of flows that come and go.
pub(crate) struct Population {
    pub generators: Vec<Generator>,
    /// Applications without a flow, by node.
    free: Vec<Vec<u32>>,
    /// Applications whose flow has ended at this instant.
    pub over: Vec<u32>,
    /// So many flows are listed one by one.
    listed: usize,
}

impl Default for Population {
    fn default() -> Population {
        let (generators, free, over) = (Vec::new(), Vec::new(), Vec::new());
        Population { generators, free, over, listed: LISTED }
    }
}

impl Network {
    /// Lists at most so many flows that begin by themselves one by one; the others count in the
    /// sums of their workloads alone.
    pub fn list_flows(&mut self, most: usize) {
        self.population.listed = most;
    }

    /// Applications that there are, those included that wait for a flow.
    #[must_use]
    pub fn applications(&self) -> usize {
        self.apps.len()
    }

    /// Publishes the objects of a catalogue at a node, its `place`-th producer, and adds the route
    /// to them there.
    ///
    /// # Errors
    /// The objects cannot be cut into segments of the size asked for, or their names are too deep.
    pub fn publish_catalogue(
        &mut self,
        at: NodeId,
        catalogue: &Arc<Catalogue>,
        place: usize,
    ) -> Result<(), BuildError> {
        let publisher = Publisher::new(Arc::clone(catalogue), place, self.hasher.clone())?;
        let face = self.add_app(at, Role::Catalogue(Box::new(publisher)));
        self.serve(catalogue.service);
        self.add_route_to(at, &catalogue.name, face, 0)
    }

    /// Adds a player of a video.
    pub fn video(&mut self, at: NodeId, spec: VideoSpec) -> FlowId {
        let flow = self.flow(at, &spec.catalogue.name, spec.label.clone());
        let names = self.stream_names(at, flow);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let player = Player::new(spec, self.seed, &names);
        self.add_app(at, Role::Video(flow, Box::new(player)));
        flow
    }

    /// Adds flows that begin by themselves.
    pub fn workload(&mut self, spec: WorkloadSpec) {
        let number = self.population.generators.len();
        let component = self.component(Target::Workload(number as u32));
        let mut generator = Generator::new(spec, number as u64, self.seed, component);
        if let Manner::Chunk { lifetime } = generator.spec.manner {
            for at in generator.spec.at.clone() {
                let app = self.add_chunks(at, &generator, lifetime, number as u32);
                generator.apps.push(app);
            }
        }
        self.events.set(component, generator.next.map(|at| at.max(self.now)));
        self.population.generators.push(generator);
    }

    fn add_chunks(
        &mut self,
        at: NodeId,
        generator: &Generator,
        lifetime: Duration,
        number: u32,
    ) -> u32 {
        let spec = &generator.spec;
        let names: Vec<String> = spec.catalogues.iter().map(|c| c.name.to_string()).collect();
        let node = self.nodes[at.index()].spec.name.as_str();
        let nonces = Rng::stream(self.seed, &["workload", &spec.name, node, "nonces"]);
        let flow = FlowId(self.flows.len() as u32);
        let app = self.apps.len() as u32;
        let live = FlowEntry::Live { app, workload: Some((number, 0)) };
        self.add_flow(live, names.join(" "), "chunks".to_owned());
        debug_assert_eq!(flow.index() + 1, self.flows.len());
        let chunks = Chunks::new(
            spec.catalogues.clone(),
            lifetime,
            nonces,
            generator.result.classes.clone(),
        );
        self.add_app(at, Role::Chunks(Box::new(chunks)));
        app
    }

    /// Begins what is due.
    pub(crate) fn wake_workload(&mut self, number: usize) {
        while let Some(beginning) = self.population.generators[number].take(self.now) {
            self.begin(number, &beginning);
        }
        let generator = &self.population.generators[number];
        let (component, next) = (generator.component, generator.next);
        if next.is_none() {
            for app in generator.apps.clone() {
                if let Role::Chunks(chunks) = &mut self.apps[app as usize].role {
                    chunks.close();
                }
            }
        }
        self.events.set(component, next.map(|at| at.max(self.now)));
    }

    fn begin(&mut self, number: usize, beginning: &Beginning) {
        let now = self.now;
        let generator = &mut self.population.generators[number];
        let (node, class) = (beginning.node, beginning.object.class);
        if let Manner::Chunk { .. } = generator.spec.manner {
            let place = generator.spec.at.iter().position(|at| *at == node);
            let Some(app) = place.and_then(|place| generator.apps.get(place)).copied() else {
                return;
            };
            let key = (beginning.catalogue, beginning.object.number, beginning.segment);
            if let Role::Chunks(chunks) = &mut self.apps[app as usize].role {
                chunks.ask(now, key, class);
            }
            return self.wake_app(app as usize);
        }
        generator.class(class).began(now);
        generator.result.running += 1;
        let started = generator.result.started.to_string();
        let workload = generator.spec.name.clone();
        let (name, label, fetch) = match &generator.spec.manner {
            Manner::Video(video) => (video.catalogue.name.clone(), video.label.clone(), None),
            _ => {
                let Some(fetch) = generator.fetch(beginning, now) else { return };
                (fetch.name.clone(), fetch.label.clone(), Some(fetch))
            }
        };
        let video = match &generator.spec.manner {
            Manner::Video(video) => Some(VideoSpec { start: now, ..VideoSpec::clone(video) }),
            _ => None,
        };
        let app = self.place(node);
        let flow = self.list(app, (number as u32, class), &name, label);
        let id = flow.unwrap_or(FlowId::UNLISTED);
        let names = ["workload", &workload, &started];
        let role = match (fetch, video) {
            (Some(fetch), _) => Role::Fetch(id, Box::new(Consumer::new(fetch, self.seed, &names))),
            (None, Some(video)) => Role::Video(id, Box::new(Player::new(video, self.seed, &names))),
            (None, None) => return,
        };
        let slot = &mut self.apps[app as usize];
        slot.role = role;
        slot.born = Some(Born { workload: number as u32, class, at: now, flow });
        self.wake_app(app as usize);
    }

    /// The place for a flow at a node: one whose flow is over, or a new one.
    fn place(&mut self, node: NodeId) -> u32 {
        let free = self.population.free.get_mut(node.index());
        if let Some(app) = free.and_then(Vec::pop) {
            return app;
        }
        let app = self.apps.len() as u32;
        self.add_app(node, Role::Free);
        app
    }

    /// Lists a flow, unless there are enough.
    fn list(
        &mut self,
        app: u32,
        workload: (u32, u16),
        name: &Name,
        label: String,
    ) -> Option<FlowId> {
        if self.population.listed == 0 {
            self.population.generators[workload.0 as usize].result.unlisted += 1;
            return None;
        }
        self.population.listed -= 1;
        let flow = FlowId(self.flows.len() as u32);
        let live = FlowEntry::Live { app, workload: Some(workload) };
        self.add_flow(live, name.to_string(), label);
        Some(flow)
    }

    /// Of the flows that have ended by now a record is kept, and their places are given back.
    pub(crate) fn bury(&mut self) {
        while let Some(app) = self.population.over.pop() {
            // It may have been reported more than once.
            let slot = &mut self.apps[app as usize];
            let Some(born) = slot.born.filter(|_| slot.is_over()) else { continue };
            let mut result = FlowResult::default();
            slot.result(self.now, &mut result);
            let node = slot.node;
            slot.role = Role::Free;
            slot.born = None;
            self.events.set(slot.component, None);
            let generator = &mut self.population.generators[born.workload as usize];
            generator.result.running -= 1;
            let (bytes, complete) = (result.transfer.bytes, result.transfer.complete);
            let ended = result.end.unwrap_or(self.now);
            generator.class(born.class).ended(born.at, ended, bytes, complete);
            if let Some(flow) = born.flow {
                let mut listed = self.named(flow.index(), node);
                (listed.workload, listed.class) = (Some(born.workload), born.class);
                let (node, name, control) = (listed.node, listed.name, listed.control);
                let (workload, class) = (listed.workload, listed.class);
                let result = FlowResult { node, name, control, workload, class, ..result };
                self.flows[flow.index()] = FlowEntry::Over(Box::new(result));
            }
            let free = &mut self.population.free;
            if free.len() <= node as usize {
                free.resize(node as usize + 1, Vec::new());
            }
            free[node as usize].push(app);
        }
    }

    /// A result with the flow's names and nothing else.
    pub(crate) fn named(&self, flow: usize, node: u32) -> FlowResult {
        let (name, control) = self.flow_names[flow].clone();
        let node = self.nodes[node as usize].spec.name.clone();
        FlowResult { node, name, control, ..FlowResult::default() }
    }

    /// The workloads at this instant: what came and went by class, without the flows that run.
    pub(crate) fn workload_samples(&self) -> Vec<Vec<WorkloadSample>> {
        let generators = &self.population.generators;
        let none = |g: &Generator| vec![WorkloadSample::default(); g.result.classes.len()];
        let mut samples: Vec<Vec<WorkloadSample>> = generators.iter().map(none).collect();
        for (samples, generator) in samples.iter_mut().zip(generators) {
            let chunks = generator.apps.iter().filter_map(|app| {
                let Role::Chunks(chunks) = &self.apps[*app as usize].role else { return None };
                Some(chunks.classes())
            });
            for classes in std::iter::once(generator.result.classes.as_slice()).chain(chunks) {
                samples.iter_mut().zip(classes).for_each(|(sum, class)| {
                    sum.counts.add(&class.counts());
                    sum.bytes = sum.counts.bytes;
                });
            }
        }
        for app in &self.apps {
            let Some(born) = app.born else { continue };
            let classes = &mut samples[born.workload as usize];
            let place = usize::from(born.class).min(classes.len() - 1);
            let Some(sample) = app.sample(self.now, FlowId::UNLISTED) else { continue };
            classes[place].add(&sample);
        }
        samples
    }

    /// What has come of the workloads, in the order in which they were added.
    #[must_use]
    pub fn workload_results(&self) -> Vec<WorkloadResult> {
        let result = |generator: &Generator| {
            let mut result = generator.result.clone();
            for app in &generator.apps {
                let Role::Chunks(chunks) = &self.apps[*app as usize].role else { continue };
                result.classes.iter_mut().zip(chunks.classes()).for_each(|(a, b)| a.merge(b));
            }
            result
        };
        self.population.generators.iter().map(result).collect()
    }

    /// How many Data the producers at a node have sent.
    pub(crate) fn served(&self, node: u32) -> u64 {
        let producers = self.nodes[node as usize].ports.iter().filter_map(|port| match port {
            Port::App { app, .. } => self.apps.get(*app as usize),
            Port::Link { .. } => None,
        });
        producers.filter(|app| app.publishes()).map(|app| app.spoken).sum()
    }
}

impl App {
    /// An application that has not begun.
    pub fn new(node: u32, face: forwarder::FaceId, component: u32, role: Role) -> App {
        App { node, face, component, role, born: None, service: None, spoken: 0 }
    }
}
