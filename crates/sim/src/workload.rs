//! Workloads: flows that begin by themselves while a run goes on, and end.
//!
//! A workload is one component of the event list. When its time comes it chooses a node and an
//! object and begins a flow there: an application of the node, whose face and place are used again
//! by another flow when it is over. So memory goes with the flows that run at a time and not with
//! those that ever ran: of a flow that is over a record of fixed size is kept, and beyond a bound
//! ([`crate::Network::list_flows`]) only its share in the sums.

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

/// A request that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// When.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// The place of the catalogue among those of the workload.
    pub catalogue: usize,
    /// The object's number.
    pub object: u64,
}

/// When requests come, and for what.
#[derive(Clone, Debug)]
pub enum Requests {
    /// By chance or clockwork: one of the nodes and one of the catalogues, each equally likely; the
    /// object by its popularity.
    Drawn {
        /// How many in a second, over all nodes.
        per_second: f64,
        /// The distances between them.
        arrivals: Arrivals,
        /// The Zipf-Mandelbrot exponent.
        alpha: f64,
        /// The Zipf-Mandelbrot shift.
        q: f64,
        /// When the first may come.
        start: Time,
        /// None comes from then on.
        stop: Option<Time>,
        /// The most that come.
        count: Option<u64>,
    },
    /// One by one, in the order of time.
    Listed(Arc<[Listed]>),
}

/// How something is asked for.
#[derive(Clone)]
pub enum Manner {
    /// The whole object, by a fetch.
    Fetch {
        /// Builds what controls it.
        controller: Make<dyn Controller>,
        /// The controller's name, for the results.
        label: String,
        /// The lifetime of its Interests.
        lifetime: Duration,
        /// It gives up when nothing new has come for this long.
        patience: Duration,
        /// See [`FetchSpec::range`].
        range: Option<u16>,
    },
    /// One segment of the object, each equally likely, by a single Interest.
    Chunk {
        /// Its lifetime.
        lifetime: Duration,
    },
    /// The catalogue is a video, and is played.
    Video(Box<VideoSpec>),
}

/// Flows that begin by themselves.
#[derive(Clone, Debug)]
pub struct WorkloadSpec {
    /// Its name, which chooses its random streams. No two workloads should have the same.
    pub name: String,
    /// Where requests come from.
    pub at: Vec<NodeId>,
    /// The requested catalogues: one or more.
    pub catalogues: Vec<Arc<Catalogue>>,
    /// When, and for which object.
    pub requests: Requests,
    /// How.
    pub manner: Manner,
    /// The time that the run is to take; its sums are kept for each of [`SPANS`] parts of it.
    pub duration: Duration,
}

/// A flow that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub node: NodeId,
    pub catalogue: usize,
    pub object: Object,
    /// Of requests for chunks: which.
    pub segment: u64,
}

/// The workload that a flow belongs to, and its class there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub workload: u32,
    pub class: u16,
}

/// A flow that began by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Born {
    pub member: Member,
    pub at: Time,
    /// `None` if there are too many to list it.
    pub flow: Option<FlowId>,
}

/// A workload as it goes on.
pub(crate) struct Generator {
    pub spec: WorkloadSpec,
    pub component: Component,
    /// Objects of catalogues without end, and lists, are taken in turn.
    laws: Vec<Option<Popularity>>,
    gaps: Rng,
    choices: Rng,
    /// When the next request comes.
    pub next: Option<Time>,
    /// The first object of catalogues without end that is this workload's own.
    first: u64,
    pub result: WorkloadResult,
    /// Of requests for chunks: the applications, by place in `spec.at`.
    pub apps: Vec<u32>,
}

/// Objects of a catalogue without end that each workload has for itself.
const OWN_OBJECTS: u64 = 1_000_000_000_000;

impl Generator {
    pub fn new(spec: WorkloadSpec, number: u64, seed: u64, component: Component) -> Generator {
        let law = |catalogue: &Arc<Catalogue>| match spec.requests {
            Requests::Drawn { alpha, q, .. } => {
                catalogue.len().map(|n| Popularity::new(n, alpha, q))
            }
            Requests::Listed(_) => None,
        };
        let span = Duration(spec.duration.0.div_ceil(SPANS as u64).max(1));
        let mut names: Vec<&str> =
            spec.catalogues.first().map_or_else(Vec::new, |c| c.classes().collect());
        if names.is_empty() {
            names.push("");
        }
        let classes = names.into_iter().map(|name| ClassResult::new(name, span)).collect();
        let stream = |role| Rng::stream(seed, &["workload", &spec.name, role]);
        let mut generator = Generator {
            laws: spec.catalogues.iter().map(law).collect(),
            component,
            gaps: stream("gaps"),
            choices: stream("choices"),
            next: None,
            first: number * OWN_OBJECTS,
            result: WorkloadResult { name: spec.name.clone(), classes, ..Default::default() },
            apps: Vec::new(),
            spec,
        };
        generator.next = generator.due(0, Time::ZERO);
        generator
    }

    /// When request `n` comes, the one before having come at `last`.
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
            // Counted from the start, so that rounding does not add up.
            Arrivals::Constant => start + Duration::from_secs_f64(n as f64 / per_second),
            Arrivals::Poisson => {
                let gap = Duration::from_secs_f64(self.gaps.exponential(1.0 / per_second));
                last.max(start) + gap
            }
        };
        stop.is_none_or(|stop| at < stop).then_some(at)
    }

    /// The request that is due, if there is one; the next one comes later or at the same time.
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

    /// The sums of a class; catalogues without a class of that number count as the first.
    pub fn class(&mut self, class: u16) -> &mut ClassResult {
        let place = usize::from(class).min(self.result.classes.len() - 1);
        &mut self.result.classes[place]
    }

    pub fn is_over(&self) -> bool {
        self.next.is_none() && self.result.running == 0
    }

    /// The fetch that a request begins, if it is one.
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
