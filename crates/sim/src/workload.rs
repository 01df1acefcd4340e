//! Workloads, which start flows during a run.
//!
//! A workload is one component of the event list. At each call it chooses a node and an object, and
//! starts a flow there. The flow uses an application of the node, which another flow reuses after
//! its end. So memory is proportional to the number of concurrent flows, not of all flows. Of a
//! flow that has ended, a record of fixed size is kept, up to a limit
//! ([`crate::Network::list_flows`]). Beyond the limit, a flow counts only in the sums.

pub mod catalogue;
pub(crate) mod chunks;
pub mod popularity;
pub(crate) mod publisher;
pub mod sizes;
pub mod video;

use control::{Controller, Duration, Rng, Time};
use std::fmt;
use std::sync::Arc;

use crate::events::Component;
use crate::spec::{Arrivals, FetchSpec, Make};
use catalogue::{Catalogue, Object};
use popularity::Popularity;
use record::{ClassResult, FlowId, NodeId, SPANS, WorkloadResult};
use video::VideoSpec;

/// A request known in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The instant.
    pub at: Time,
    /// The node of the consumer.
    pub node: NodeId,
    /// The index of the catalogue among those of the workload.
    pub catalogue: usize,
    /// The number of the object.
    pub object: u64,
}

/// The instants of requests, and the requested objects.
#[derive(Clone, Debug)]
pub enum Requests {
    /// Random requests. The node and the catalogue are uniformly distributed; the object is drawn
    /// by its popularity.
    Drawn {
        /// The number of requests per second, over all nodes.
        per_second: f64,
        /// The intervals between requests.
        arrivals: Arrivals,
        /// The Zipf-Mandelbrot exponent.
        alpha: f64,
        /// The Zipf-Mandelbrot shift.
        q: f64,
        /// No request is sent before this instant.
        start: Time,
        /// No request comes at or after this instant.
        stop: Option<Time>,
        /// The maximum number of requests.
        count: Option<u64>,
    },
    /// The given requests, in the order of time.
    Listed(Arc<[Listed]>),
}

/// The way in which an object is requested.
#[derive(Clone)]
pub enum Manner {
    /// A fetch of the whole object.
    Fetch {
        /// Builds its controller.
        controller: Make<dyn Controller>,
        /// The controller's name, for the results.
        label: String,
        /// The lifetime of its Interests.
        lifetime: Duration,
        /// It fails after this long without progress.
        patience: Duration,
        /// See [`FetchSpec::range`].
        range: Option<u16>,
    },
    /// A single Interest for one segment of the object, uniformly distributed.
    Chunk {
        /// The lifetime of the Interest.
        lifetime: Duration,
    },
    /// A video player. The catalogue is the video.
    Video(Box<VideoSpec>),
}

/// A workload.
#[derive(Clone, Debug)]
pub struct WorkloadSpec {
    /// Its name, which selects its random streams. Names should be unique.
    pub name: String,
    /// The nodes of the consumers.
    pub at: Vec<NodeId>,
    /// The requested catalogues, one or more.
    pub catalogues: Vec<Arc<Catalogue>>,
    /// The instants and objects of the requests.
    pub requests: Requests,
    /// The way in which objects are requested.
    pub manner: Manner,
    /// The planned duration of the run. Sums are kept for each of [`SPANS`] parts of it.
    pub duration: Duration,
}

/// The choice of a new request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub node: NodeId,
    pub catalogue: usize,
    pub object: Object,
    /// The segment, for requests of chunks.
    pub segment: u64,
}

/// The workload that a flow belongs to, and its class there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub workload: u32,
    pub class: u16,
}

/// A flow started by a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Born {
    pub member: Member,
    pub at: Time,
    /// `None` if it is not listed.
    pub flow: Option<FlowId>,
}

/// A workload and its state.
pub(crate) struct Generator {
    spec: WorkloadSpec,
    component: Component,
    /// The popularity of objects, by catalogue. `None` for unbounded catalogues and for lists,
    /// whose objects are taken in order.
    laws: Vec<Option<Popularity>>,
    gaps: Rng,
    choices: Rng,
    /// The instant of the next request.
    next: Option<Time>,
    /// The first object of unbounded catalogues that belongs to this workload.
    first: u64,
    result: WorkloadResult,
    /// The applications that request chunks, in the order of `spec.at`.
    apps: Vec<u32>,
}

/// The number of objects of an unbounded catalogue that belong to one workload.
const OWN_OBJECTS: u64 = 1_000_000_000_000;

impl Generator {
    pub fn new(spec: WorkloadSpec, number: u64, seed: u64, component: Component) -> Generator {
        let laws = match spec.requests {
            Requests::Drawn { alpha, q, .. } => {
                let sizes = spec.catalogues.iter().map(|catalogue| catalogue.len());
                sizes.map(|size| size.map(|n| Popularity::new(n, alpha, q))).collect()
            }
            Requests::Listed(_) => vec![None; spec.catalogues.len()],
        };
        let span = Duration(spec.duration.0.div_ceil(SPANS as u64).max(1));
        let mut names: Vec<&str> =
            spec.catalogues.first().map_or_else(Vec::new, |c| c.classes().collect());
        if names.is_empty() {
            names.push("");
        }
        let classes = names.into_iter().map(|name| ClassResult::new(name, span)).collect();
        let mut generator = Generator {
            laws,
            component,
            gaps: Rng::stream(seed, &["workload", &spec.name, "gaps"]),
            choices: Rng::stream(seed, &["workload", &spec.name, "choices"]),
            next: None,
            first: number * OWN_OBJECTS,
            result: WorkloadResult { name: spec.name.clone(), classes, ..Default::default() },
            apps: Vec::new(),
            spec,
        };
        generator.next = generator.due(0, Time::ZERO);
        generator
    }

    /// The workload.
    pub fn spec(&self) -> &WorkloadSpec {
        &self.spec
    }

    /// Where its next request is in the agenda.
    pub fn component(&self) -> Component {
        self.component
    }

    /// The instant of the next request, if there is one.
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// Its counters and sums until now, without those that applications keep for it.
    pub fn result(&self) -> &WorkloadResult {
        &self.result
    }

    /// The applications that request its chunks.
    pub fn apps(&self) -> &[u32] {
        &self.apps
    }

    /// The application that requests its chunks at a node.
    pub fn app_at(&self, node: NodeId) -> Option<u32> {
        let place = self.spec.at.iter().position(|at| *at == node)?;
        self.apps.get(place).copied()
    }

    /// Adds the application that requests its chunks at the next of its nodes.
    pub fn add_app(&mut self, app: u32) {
        self.apps.push(app);
    }

    /// Counts a flow of this class that begins.
    pub fn began(&mut self, class: u16, now: Time) {
        self.class(class).began(now);
        self.result.running += 1;
    }

    /// Counts a flow that is not listed.
    pub fn left_out(&mut self) {
        self.result.unlisted += 1;
    }

    /// Counts the end of a flow.
    pub fn ended(&mut self, born: &Born, at: Time, bytes: u64, complete: bool) {
        self.result.running -= 1;
        self.class(born.member.class).ended(born.at, at, bytes, complete);
    }

    /// The instant of request `n`; the one before was at `last`.
    fn due(&mut self, n: u64, last: Time) -> Option<Time> {
        let (per_second, arrivals, start, stop, count) = match &self.spec.requests {
            Requests::Listed(list) => return list.get(usize::try_from(n).ok()?).map(|r| r.at),
            Requests::Drawn { per_second, arrivals, start, stop, count, .. } => {
                (*per_second, *arrivals, *start, *stop, *count)
            }
        };
        if count.is_some_and(|count| n >= count) || per_second <= 0.0 {
            return None;
        }
        let at = match arrivals {
            // Counted from the start, so that rounding errors do not accumulate.
            Arrivals::Constant => start + Duration::from_secs_f64(n as f64 / per_second),
            Arrivals::Poisson => {
                let gap = Duration::from_secs_f64(self.gaps.exponential(1.0 / per_second));
                last.max(start) + gap
            }
        };
        stop.is_none_or(|stop| at < stop).then_some(at)
    }

    /// Takes a request that is due. The next one may be due at the same instant.
    pub fn take(&mut self, now: Time) -> Option<Beginning> {
        let at = self.next.filter(|at| *at <= now)?;
        let n = self.result.started;
        let chosen = self.choose(n);
        self.result.started += 1;
        self.next = self.due(n + 1, at);
        chosen
    }

    fn choose(&mut self, n: u64) -> Option<Beginning> {
        let rng = &mut self.choices;
        let (node, place, number) = match &self.spec.requests {
            Requests::Listed(list) => {
                let listed = list.get(usize::try_from(n).ok()?)?;
                (listed.node, listed.catalogue, listed.object)
            }
            Requests::Drawn { .. } => {
                let node = *self.spec.at.get(rng.below(self.spec.at.len() as u64) as usize)?;
                let place = rng.below(self.spec.catalogues.len() as u64) as usize;
                let number = match self.laws.get(place)? {
                    Some(law) => law.draw(rng),
                    None => self.first + n,
                };
                (node, place, number)
            }
        };
        let catalogue = self.spec.catalogues.get(place)?;
        let object = catalogue.object(number)?;
        let segment = match self.spec.manner {
            Manner::Chunk { .. } => rng.below(catalogue.segments(object.size)),
            _ => 0,
        };
        Some(Beginning { node, catalogue: place, object, segment })
    }

    /// The sums of a class; those of the last class if no class has this number.
    fn class(&mut self, class: u16) -> &mut ClassResult {
        let place = usize::from(class).min(self.result.classes.len() - 1);
        &mut self.result.classes[place]
    }

    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.result.running == 0
    }

    /// The fetch for a request, if the workload makes fetches.
    pub fn fetch(&self, beginning: &Beginning, now: Time) -> Option<FetchSpec> {
        let Manner::Fetch { controller, label, lifetime, patience, range } = &self.spec.manner
        else {
            return None;
        };
        let catalogue = &self.spec.catalogues[beginning.catalogue];
        let name = catalogue.name_of(beginning.object.number);
        let mut spec = FetchSpec::new(name, controller(), label);
        (spec.start, spec.lifetime, spec.patience) = (now, *lifetime, *patience);
        spec.range = *range;
        spec.signing = catalogue.signing;
        Some(spec)
    }
}

impl fmt::Debug for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Manner::Fetch { label, .. } => f.debug_tuple("Fetch").field(label).finish(),
            Manner::Chunk { lifetime } => f.debug_tuple("Chunk").field(lifetime).finish(),
            Manner::Video(spec) => f.debug_tuple("Video").field(spec).finish(),
        }
    }
}
