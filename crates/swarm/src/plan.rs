//! A random scenario as integers, to be written as TOML, judged, and shrunk.

/// Parts of a million.
pub type Ppm = u64;

/// A scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed that it was drawn from; also the seed of the run.
    pub seed: u64,
    /// The shape of the topology, for messages.
    pub shape: &'static str,
    /// The nodes, called `n0`, `n1`, and so on.
    pub nodes: Vec<Node>,
    /// The links.
    pub links: Vec<Link>,
    /// The objects, called `/swarm/0`, `/swarm/1`, and so on.
    pub contents: Vec<Content>,
    /// The consumers.
    pub flows: Vec<Flow>,
    /// The faults.
    pub faults: Vec<Fault>,
    /// The source of the routes.
    pub routing: Routing,
    /// The forwarding strategy of all nodes; `None` is the default one.
    pub strategy: Option<String>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Data packets that its content store holds.
    pub store: u64,
}

/// A link with equal directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its ends, as indices of nodes.
    pub ends: [usize; 2],
    /// Bits a second.
    pub rate: u64,
    /// Propagation delay in microseconds.
    pub delay_us: u64,
    /// Bound of the queue of Data in bytes.
    pub queue: u64,
    /// The loss of frames.
    pub loss: Loss,
    /// Jitter in microseconds.
    pub jitter_us: u64,
    /// Share of frames that others overtake.
    pub reorder: Ppm,
    /// The delay of reordered frames, in microseconds.
    pub reorder_by_us: u64,
    /// Share of frames that arrive twice.
    pub duplicate: Ppm,
    /// The scheme whose link parts work here; `None`: a router without them.
    pub scheme: Option<String>,
}

/// The loss of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// None.
    None,
    /// Each frame with this probability.
    Random(Ppm),
    /// Gilbert and Elliott: into the bad state, out of it, and the loss there.
    Bursts(Ppm, Ppm, Ppm),
}

impl Loss {
    /// The long-term share of lost frames.
    #[must_use]
    pub fn share(self) -> f64 {
        match self {
            Loss::None => 0.0,
            Loss::Random(ppm) => ppm as f64 / 1e6,
            Loss::Bursts(to_bad, to_good, bad) => {
                to_bad as f64 / (to_bad + to_good) as f64 * (bad as f64 / 1e6)
            }
        }
    }

    /// The largest probability that a frame is lost, in any state.
    #[must_use]
    pub fn worst(self) -> f64 {
        match self {
            Loss::Bursts(_, _, bad) => bad as f64 / 1e6,
            other => other.share(),
        }
    }
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its producers.
    pub at: Vec<usize>,
    /// Bytes.
    pub size: u64,
    /// Bytes of content in a segment.
    pub segment: u64,
    /// Each segment is at only one of the producers.
    pub is_spread: bool,
}

impl Content {
    /// Segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.size.div_ceil(self.segment)
    }
}

/// A consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its node.
    pub at: usize,
    /// Its content.
    pub content: usize,
    /// Its start, in milliseconds.
    pub start_ms: u64,
    /// Its manner of sending Interests.
    pub manner: Manner,
}

/// A consumer's manner of sending Interests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// A fetch under this scheme.
    Fetch(String),
    /// A fetch under a scheme without congestion control, with its parameters.
    Deaf(String),
    /// Interests at a constant rate.
    Constant {
        /// Interests a second.
        per_second: u64,
        /// When they end, in milliseconds.
        stop_ms: u64,
    },
}

impl Flow {
    /// Its scheme, if that reacts to congestion.
    #[must_use]
    pub fn scheme(&self) -> Option<&str> {
        match &self.manner {
            Manner::Fetch(scheme) => Some(scheme),
            Manner::Deaf(_) | Manner::Constant { .. } => None,
        }
    }
}

/// Something that happens and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its start, in milliseconds.
    pub at_ms: u64,
    /// Its duration.
    pub lasts_ms: u64,
    /// Its kind.
    pub kind: FaultKind,
}

impl Fault {
    /// When it is over, in seconds.
    #[must_use]
    pub fn healed_s(&self) -> f64 {
        (self.at_ms + self.lasts_ms) as f64 / 1e3
    }
}

/// A kind of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The link is down.
    LinkDown(usize),
    /// The node is down, and comes back without its tables.
    NodeDown(usize),
    /// The link has another rate, in bits a second.
    Rate(usize, u64),
}

/// The source of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// This crate: one next hop at each node, all listed in the file.
    Listed,
    /// Weir computes this many paths from each consumer to each producer.
    Computed(u32),
}

impl Plan {
    /// Returns `true` if a node has a content store.
    #[must_use]
    pub fn has_stores(&self) -> bool {
        self.nodes.iter().any(|node| node.store > 0)
    }

    /// The number of packets for all content over the shortest paths: Interests and Data.
    #[must_use]
    pub fn least_packets(&self, hops: &dyn Fn(usize) -> u64) -> u64 {
        self.flows
            .iter()
            .enumerate()
            .map(|(number, flow)| 2 * hops(number) * self.contents[flow.content].segments())
            .sum()
    }
}
