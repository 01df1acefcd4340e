//! A scenario as types: checked, with defaults filled in.

mod workload;

pub use workload::{
    Adaptation, Arrivals, Asked, Class, Distribution, Fetching, Objects, Player, Request, Requests,
    Share, Spread, Warmup, Ways, Workload,
};

use control::{Duration, Rate, Ratio, Size};
pub use document::Queue;
use document::{DeValue, Fields, Parts, Read, ratio};
pub use forwarder::tables::Admission;
use forwarder::tables::ContentStoreConfig;
use packet::Name;
use schemes::Choice;
pub use sim::impairment::{Impairment, Loss, Reorder};
pub use sim::{Production, ServiceSpec, Signing, SlowSegment};

/// Everything that one run needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name in results.
    pub name: String,
    /// Its question; empty if it has none.
    pub question: String,
    /// Simulated time at which the run ends.
    pub duration: Duration,
    /// Where everything random comes from.
    pub seed: u64,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The links.
    pub links: Vec<Link>,
    /// The named objects.
    pub contents: Vec<Content>,
    /// The consumers.
    pub consumers: Vec<Consumer>,
    /// All routes, computed and listed.
    pub routes: Vec<Route>,
    /// Flows that begin by themselves.
    pub workloads: Vec<Workload>,
    /// When results begin to count.
    pub warmup: Warmup,
    /// Ways to the producers of contents that are spread over several.
    pub ways: Vec<Ways>,
    /// The faults, in the order of the file.
    pub faults: Vec<Fault>,
    /// The recorded data besides the summary.
    pub record: Recording,
}

/// A forwarder.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its content store.
    pub content_store: ContentStoreConfig,
    /// The share of all content that bounds its content store, if one does.
    pub share: Option<Share>,
    /// The scheme of its forwarding strategy.
    pub strategy: Choice,
    /// Its hardware.
    pub machine: Machine,
    /// Where it stands in a picture, to the right and down in any unit.
    pub position: Option<[f64; 2]>,
}

/// The hardware of a node, for real daemons; the simulator's nodes are fast and large enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Fields, Read)]
pub struct Machine {
    /// The total memory limit of its daemon: `memory` of the daemon's
    /// configuration, at least `"16 MB"`. For `weir testbed`; the simulator does not look at it.
    pub memory: Option<Size>,
    /// The share of one processor that all programs of the node have together, such as `"10 %"`.
    /// For `weir testbed`; the simulator's nodes take no time.
    #[field(with = processor)]
    pub cpu: Option<Ratio>,
}

/// The share of a processor.
fn processor(value: &DeValue<'_>) -> Result<Ratio, String> {
    match ratio(value)? {
        share if share.get() >= 0.001 => Ok(share),
        _ => Err("a kernel does not cut a processor's time finer than 0.1 %".to_owned()),
    }
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its ends, as indices of nodes.
    pub ends: [usize; 2],
    /// From the first end to the second, and back.
    pub directions: [Direction; 2],
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// How fast bytes leave; greater than zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// The bound of the queue.
    pub queue: Queue,
    /// The bound in products of rate and round-trip time, if it was given so; `queue` has the
    /// bytes.
    pub products: Option<f64>,
    /// Its cost for routes by metric, in thousandths.
    pub metric: u64,
    /// Loss and other harm.
    pub impairment: Impairment,
    /// Lost frames are sent again.
    pub reliability: bool,
    /// The receiving end measures the rate, because it does not know it.
    pub measured: bool,
    /// The parts of schemes on the sending face.
    pub parts: Parts,
}

/// A named object.
#[derive(Clone, Debug)]
pub struct Content {
    /// Its name.
    pub name: Name,
    /// Its producers, as indices of nodes.
    pub at: Vec<usize>,
    /// Bytes of content.
    pub size: Size,
    /// Bytes of content in a segment.
    pub segment: Size,
    /// How it is signed.
    pub signing: Signing,
    /// The objects below its name. Of a catalogue `size` is the mean.
    pub objects: Objects,
    /// The distribution among its producers.
    pub placement: Spread,
    /// How long a producer takes for an answer, if it takes any time.
    pub service: Option<ServiceSpec>,
    /// When a producer makes segments.
    pub production: Production,
    /// The number of consecutive segments that are placed together.
    pub together: u64,
}

/// A consumer.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// Index of the node.
    pub at: usize,
    /// Index of the content.
    pub content: usize,
    /// When it begins.
    pub start: Duration,
    /// The InterestLifetime.
    pub lifetime: Duration,
    /// How it asks.
    pub manner: Manner,
}

/// How a consumer asks.
#[derive(Clone, Debug)]
pub enum Manner {
    /// A fetch under congestion control.
    Fetch {
        /// The scheme.
        control: Choice,
        /// It gives up when nothing new has come for this long.
        patience: Duration,
        /// How many segments one Interest asks for, if not as many as the scheme says.
        range: Option<u16>,
    },
    /// A player of a video.
    Video {
        /// How its segments are fetched.
        fetching: Fetching,
        /// How it is played.
        player: Player,
    },
    /// Interests at a constant rate.
    Constant {
        /// How many in a second; greater than zero.
        per_second: f64,
        /// How many segments each asks for.
        range: u16,
        /// When they end.
        stop: Option<Duration>,
    },
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Index of the node that has it.
    pub at: usize,
    /// The prefix.
    pub prefix: Name,
    /// Index of the link that it leads to.
    pub link: usize,
    /// Smaller values are preferred.
    pub cost: u64,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub struct Fault {
    /// When.
    pub at: Duration,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// A kind of fault.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// Both directions of a link carry nothing from now on.
    LinkDown(usize),
    /// The link carries again.
    LinkUp(usize),
    /// A node loses its state and answers nothing.
    NodeCrash(usize),
    /// The node restarts, with the routes of the file.
    NodeRestart(usize),
    /// A direction of a link has another rate.
    LinkRate {
        /// The link.
        link: usize,
        /// 0: from its first end to its second; 1: back.
        direction: usize,
        /// The new rate, greater than zero.
        rate: Rate,
    },
    /// A direction of a link has another propagation delay.
    LinkDelay {
        /// The link.
        link: usize,
        /// 0: from its first end to its second; 1: back.
        direction: usize,
        /// The new delay.
        delay: Duration,
    },
    /// A direction of a link loses another share of frames.
    LinkLoss {
        /// The link.
        link: usize,
        /// 0: from its first end to its second; 1: back.
        direction: usize,
        /// The new model.
        loss: Loss,
    },
    /// A route comes.
    RouteAdd(Route),
    /// A route goes.
    RouteRemove(Route),
}

/// The recorded data of a run besides its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// From sample to sample; `None` for one that suits the run.
    pub interval: Option<Duration>,
    /// Consumers, by the indices of their nodes.
    pub flows: Pick,
    /// Links, by index.
    pub links: Pick,
    /// Nodes, by index.
    pub nodes: Pick,
    /// The end of the warm-up of goodput, fairness and queues.
    pub warmup: Warmup,
}

/// Some of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// All of them.
    #[default]
    All,
    /// These, in order.
    These(Vec<usize>),
}

impl Pick {
    /// True if it includes this one.
    #[must_use]
    pub fn has(&self, index: usize) -> bool {
        match self {
            Pick::All => true,
            Pick::These(list) => list.binary_search(&index).is_ok(),
        }
    }
}

impl Node {
    /// True if it has a content store.
    #[must_use]
    pub fn has_store(&self) -> bool {
        !self.content_store.is_off() || self.share.is_some_and(|share| share.get() > 0.0)
    }
}

impl Scenario {
    /// True if any node has a content store.
    #[must_use]
    pub fn has_stores(&self) -> bool {
        self.nodes.iter().any(Node::has_store)
    }

    /// True if a consumer or a workload is at a node.
    #[must_use]
    pub fn asks(&self, node: usize) -> bool {
        self.consumers.iter().any(|consumer| consumer.at == node)
            || self.workloads.iter().any(|workload| workload.at.contains(&node))
    }

    /// True if a producer is at a node.
    #[must_use]
    pub fn serves(&self, node: usize) -> bool {
        self.contents.iter().any(|content| content.at.contains(&node))
    }

    /// The link between two nodes, and which of its directions leads from the first to the second;
    /// of several, the one that stands first in the file.
    #[must_use]
    pub fn link_between(links: &[Link], from: usize, to: usize) -> Option<(usize, usize)> {
        links.iter().enumerate().find_map(|(i, link)| match link.ends {
            ends if ends == [from, to] => Some((i, 0)),
            ends if ends == [to, from] => Some((i, 1)),
            _ => None,
        })
    }
}
