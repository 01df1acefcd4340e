//! The workloads of a network, and the flows that they start.

use control::{Duration, Rng, Time};
use record::{FlowId, NodeId, WorkloadResult, WorkloadSample};

use crate::agenda::Target;
use crate::app::{Retired, Role};
use crate::apps::Apps;
use crate::consumer::Consumer;
use crate::fabric::Fabric;
use crate::flows::Flow;
use crate::spec::FetchSpec;
use crate::workload::chunks::{Chunks, Key};
use crate::workload::video::{Player, VideoSpec};
use crate::workload::{Beginning, Born, Generator, Manner, Member, WorkloadSpec};

/// The default limit of workload flows that are listed individually; see
/// [`Population::list_flows`].
const LISTED: usize = 10_000;

/// The workloads of a network.
pub(crate) struct Population {
    generators: Vec<Generator>,
    /// Applications without a flow, by node.
    free: Vec<Vec<u32>>,
    /// The number of flows that may still be listed individually.
    listed: usize,
}

impl Default for Population {
    fn default() -> Population {
        Population { generators: Vec::new(), free: Vec::new(), listed: LISTED }
    }
}

/// The task of a new flow.
enum Request {
    Fetch(FetchSpec),
    Video(VideoSpec),
}

impl Request {
    fn name_and_label(&self) -> [String; 2] {
        match self {
            Request::Fetch(spec) => [spec.name.to_string(), spec.label.clone()],
            Request::Video(spec) => [spec.catalogue.name.to_string(), spec.label.clone()],
        }
    }

    fn role(self, flow: FlowId, seed: u64, names: &[&str]) -> Role {
        match self {
            Request::Fetch(spec) => Role::Fetch(flow, Box::new(Consumer::new(spec, seed, names))),
            Request::Video(spec) => Role::Video(flow, Box::new(Player::new(spec, seed, names))),
        }
    }
}

impl Population {
    /// Sets the maximum number of workload flows that are listed individually. The others count
    /// only in the sums of their workloads.
    pub fn list_flows(&mut self, most: usize) {
        self.listed = most;
    }

    /// Adds a workload.
    pub fn add(&mut self, fabric: &mut Fabric, spec: WorkloadSpec) {
        let number = self.generators.len() as u32;
        let component = fabric.agenda_mut().add(Target::Workload(number));
        let mut generator = Generator::new(spec, u64::from(number), fabric.seed(), component);
        if let Manner::Chunk { lifetime } = generator.spec().manner {
            for at in generator.spec().at.clone() {
                let app = add_chunks(fabric, at, &generator, lifetime, number);
                generator.add_app(app);
            }
        }
        fabric.agenda_mut().set(component, generator.next());
        self.generators.push(generator);
    }

    /// Starts the flows of a workload that are due.
    pub fn wake(&mut self, fabric: &mut Fabric, number: u32) {
        while let Some(beginning) = self.generators[number as usize].take(fabric.now()) {
            self.begin(fabric, number, &beginning);
        }
        let generator = &self.generators[number as usize];
        if generator.next().is_none() {
            for app in generator.apps() {
                if let Some(chunks) = fabric.apps_mut().get_mut(*app).chunks_mut() {
                    chunks.close();
                }
            }
        }
        fabric.agenda_mut().set(generator.component(), generator.next());
    }

    fn begin(&mut self, fabric: &mut Fabric, number: u32, beginning: &Beginning) {
        let now = fabric.now();
        let generator = &mut self.generators[number as usize];
        let request = match &generator.spec().manner {
            Manner::Chunk { .. } => return ask_chunk(fabric, generator, beginning),
            Manner::Video(video) => Request::Video(VideoSpec { start: now, ..(**video).clone() }),
            Manner::Fetch { .. } => match generator.fetch(beginning, now) {
                Some(fetch) => Request::Fetch(fetch),
                None => return,
            },
        };
        let member = Member { workload: number, class: beginning.object.class };
        generator.began(member.class, now);
        let started = generator.result().started.to_string();
        let workload = generator.spec().name.clone();
        let app = self.place(fabric, beginning.node);
        let flow = self.list(fabric, app, member, request.name_and_label());
        let names = ["workload", &workload, &started];
        let role = request.role(flow.unwrap_or(FlowId::UNLISTED), fabric.seed(), &names);
        fabric.apps_mut().get_mut(app).begin(role, Born { member, at: now, flow });
        fabric.wake_app(app);
    }

    /// An application for a new flow at a node: one whose flow has ended, or a new one.
    fn place(&mut self, fabric: &mut Fabric, node: NodeId) -> u32 {
        let free = self.free.get_mut(node.index()).and_then(Vec::pop);
        free.unwrap_or_else(|| fabric.add_app(node, Role::Free))
    }

    /// Lists a flow, unless the limit is reached.
    fn list(
        &mut self,
        fabric: &mut Fabric,
        app: u32,
        member: Member,
        name_and_label: [String; 2],
    ) -> Option<FlowId> {
        if self.listed == 0 {
            self.generators[member.workload as usize].left_out();
            return None;
        }
        self.listed -= 1;
        let [name, label] = name_and_label;
        Some(fabric.flows_mut().add(Flow::new(app, Some(member), name, label)))
    }

    /// Records the results of the flows that have ended, and frees their applications.
    #[inline]
    pub fn retire(&mut self, fabric: &mut Fabric) {
        while let Some(number) = fabric.apps_mut().next_ended() {
            self.retire_flow(fabric, number);
        }
    }

    fn retire_flow(&mut self, fabric: &mut Fabric, number: u32) {
        let now = fabric.now();
        let app = fabric.apps_mut().get_mut(number);
        // An application may be reported as ended more than once.
        let Some(Retired { born, result }) = app.retire(now) else { return };
        let (node, component) = (app.place().node, app.component());
        fabric.agenda_mut().set(component, None);
        let generator = &mut self.generators[born.member.workload as usize];
        let (bytes, complete) = (result.transfer.bytes, result.transfer.complete);
        let ended = result.end.unwrap_or(now);
        generator.ended(&born, ended, bytes, complete);
        if let Some(flow) = born.flow {
            let name = fabric.topology().node(node).name().to_owned();
            fabric.flows_mut().end(flow, born.member, name, result);
        }
        if self.free.len() <= node.index() {
            self.free.resize(node.index() + 1, Vec::new());
        }
        self.free[node.index()].push(number);
    }

    /// True if no workload flow is running or will start.
    pub fn is_over(&self) -> bool {
        self.generators.iter().all(Generator::is_over)
    }

    /// Samples of the classes of all workloads, numbered consecutively.
    pub fn numbered_samples(&self, at: Time, apps: &Apps) -> impl Iterator<Item = WorkloadSample> {
        let classes = self.samples(at, apps).into_iter().flatten().enumerate();
        classes.map(move |(number, sample)| WorkloadSample { at, number, ..sample })
    }

    /// Samples of the workloads, by class.
    fn samples(&self, at: Time, apps: &Apps) -> Vec<Vec<WorkloadSample>> {
        let mut samples = Vec::new();
        for generator in &self.generators {
            let mut sums = vec![WorkloadSample::default(); generator.result().classes.len()];
            let chunks = generator.apps().iter().filter_map(|app| apps.get(*app).chunks());
            let chunks = chunks.map(Chunks::classes);
            for classes in std::iter::once(generator.result().classes.as_slice()).chain(chunks) {
                for (sum, class) in sums.iter_mut().zip(classes) {
                    sum.counts.add(&class.counts());
                    sum.bytes = sum.counts.bytes;
                }
            }
            samples.push(sums);
        }
        for app in apps.iter() {
            let Some(Born { member, .. }) = app.born() else { continue };
            let classes: &mut Vec<WorkloadSample> = &mut samples[member.workload as usize];
            let place = usize::from(member.class).min(classes.len() - 1);
            if let Some(sample) = app.sample(at, FlowId::UNLISTED) {
                classes[place].add(&sample);
            }
        }
        samples
    }

    /// The results of the workloads so far, in the order in which they were added.
    pub fn results(&self, apps: &Apps) -> Vec<WorkloadResult> {
        self.generators.iter().map(|generator| result(generator, apps)).collect()
    }
}

fn result(generator: &Generator, apps: &Apps) -> WorkloadResult {
    let mut result = generator.result().clone();
    for chunks in generator.apps().iter().filter_map(|app| apps.get(*app).chunks()) {
        result.classes.iter_mut().zip(chunks.classes()).for_each(|(a, b)| a.merge(b));
    }
    result
}

/// Adds the application that requests a workload's chunks at a node.
fn add_chunks(
    fabric: &mut Fabric,
    at: NodeId,
    generator: &Generator,
    lifetime: Duration,
    number: u32,
) -> u32 {
    let spec = generator.spec();
    let names: Vec<String> = spec.catalogues.iter().map(|c| c.name.to_string()).collect();
    let node = fabric.topology().node(at).name();
    let nonces = Rng::stream(fabric.seed(), &["workload", &spec.name, node, "nonces"]);
    let classes = generator.result().classes.clone();
    let chunks = Chunks::new(spec.catalogues.clone(), lifetime, nonces, classes);
    let app = fabric.add_app(at, Role::Chunks(Box::new(chunks)));
    let member = Member { workload: number, class: 0 };
    let flow = Flow::new(app, Some(member), names.join(" "), "chunks".to_owned());
    fabric.flows_mut().add(flow);
    app
}

fn ask_chunk(fabric: &mut Fabric, generator: &Generator, beginning: &Beginning) {
    let Some(app) = generator.app_at(beginning.node) else { return };
    let key = Key {
        catalogue: beginning.catalogue,
        object: beginning.object.number,
        segment: beginning.segment,
    };
    let now = fabric.now();
    if let Some(chunks) = fabric.apps_mut().get_mut(app).chunks_mut() {
        chunks.ask(now, key, beginning.object.class);
    }
    fabric.wake_app(app);
}
