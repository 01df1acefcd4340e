//! Catalogues, workloads and content stores.

use control::{Duration, Rate, Ratio};
use packet::Name;
use schemes::Choice;
pub use sim::Arrivals;
pub use sim::workload::catalogue::{Class, Spread};
pub use sim::workload::sizes::Distribution;
pub use sim::workload::video::Adaptation;

/// The objects below a content's name.
#[derive(Clone, Debug, PartialEq)]
pub enum Objects {
    /// The object itself.
    One,
    /// Objects by number; without end, if there is no number of them.
    Numbered {
        /// How many.
        count: Option<u64>,
        /// Their classes, one or more.
        classes: Vec<Class>,
    },
    /// Objects by name, with their sizes.
    Listed(Vec<(Name, u64)>),
    /// A video.
    Video {
        /// The rates of its qualities, ascending.
        ladder: Vec<Rate>,
        /// The playing time of a segment.
        segment: Duration,
        /// How many segments there are.
        segments: u64,
    },
}

/// How a video is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Player {
    /// The rule that chooses the quality.
    pub adaptation: Adaptation,
    /// The largest buffer.
    pub buffer: Duration,
    /// The buffer needed to begin.
    pub startup: Duration,
}

/// How something is fetched.
#[derive(Clone, Debug)]
pub struct Fetching {
    /// The scheme.
    pub control: Choice,
    /// It gives up when nothing new has come for this long.
    pub patience: Duration,
    /// The InterestLifetime.
    pub lifetime: Duration,
    /// How many segments one Interest asks for, if not as many as the scheme says.
    pub range: Option<u16>,
}

/// The subject of a request.
#[derive(Clone, Debug)]
pub enum Asked {
    /// The whole object.
    Object(Fetching),
    /// The whole video.
    Video(Fetching, Player),
    /// One segment, by an Interest of this lifetime.
    Chunk(Duration),
}

/// A request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When.
    pub at: Duration,
    /// Index of the node.
    pub node: usize,
    /// The place of the content among those of the workload.
    pub content: usize,
    /// The object's number.
    pub object: u64,
}

/// When requests come, and for which objects.
#[derive(Clone, Debug)]
pub enum Requests {
    /// By chance or clockwork.
    Drawn {
        /// How many in a second.
        per_second: f64,
        /// The distances between them.
        arrivals: Arrivals,
        /// The Zipf-Mandelbrot exponent.
        alpha: f64,
        /// The Zipf-Mandelbrot shift.
        q: f64,
        /// The span in which they come.
        span: (Duration, Option<Duration>),
        /// The most that come.
        count: Option<u64>,
    },
    /// By a trace, in the order of time.
    Listed(Vec<Request>),
}

/// Flows that begin by themselves.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name in results, which no other one has.
    pub name: String,
    /// Indices of the nodes where requests come up.
    pub at: Vec<usize>,
    /// Indices of the contents.
    pub contents: Vec<usize>,
    /// When, and for which objects.
    pub requests: Requests,
    /// The requested part.
    pub asked: Asked,
    /// The number of flows that are listed one by one.
    pub listed: usize,
}

/// When results begin to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warmup {
    /// When the hit ratio has settled.
    #[default]
    Detected,
    /// Then.
    Until(Duration),
}

/// For a content whose objects or segments are at one producer each: the links that lead from each
/// node to each producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Index of the content.
    pub content: usize,
    /// By node and place of the producer: the link and the cost; `None` at the producer, and where
    /// no way leads to it.
    pub links: Vec<Vec<Option<(usize, u64)>>>,
}

/// A content store's bound that depends on how much content there is.
pub type Share = Ratio;
