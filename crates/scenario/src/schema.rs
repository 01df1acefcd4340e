//! Every section and field of a scenario file, each declared once: readers, checks, the manual, the
//! JSON Schema and the filled-in file come from here.

mod way;
mod workload;

pub use way::DirectionSection;
pub(crate) use way::needs_rate;
pub use workload::{
    AdaptationWord, ArrivalsWord, Bound, CachingSection, ConsumerSection, ContentSection,
    DISTRIBUTIONS, FetchSection, Placement, PlayerSection, ProductionWord, RequestWord,
    SigningWord, Store, WorkloadSection,
};

use crate::model::{Loss, Machine, Warmup};
use crate::values::{interval, node_names, rate, rates, warmup};
use control::{Duration, Rate, Ratio};
use document::schema::{Form, Section};
use document::{Described, Fields, LOSS_FORM, Read, Words, parts};
use packet::Name;
use schemes::{Choice, defaults};
use std::ops::Range;

/// All sections, in the order of the manual.
pub const SECTIONS: &[&Section] = &[
    About::SECTION,
    TopologySection::SECTION,
    NodeSection::SECTION,
    LinkSection::SECTION,
    ContentSection::SECTION,
    ConsumerSection::SECTION,
    WorkloadSection::SECTION,
    CachingSection::SECTION,
    RouteSection::SECTION,
    FaultSection::SECTION,
    RecordSection::SECTION,
    SweepSection::SECTION,
];

/// The whole run.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "scenario")]
pub struct About {
    /// Its name in results. Without it: the file's.
    pub name: Option<String>,
    /// The question that it answers: the heading of its report.
    pub question: Option<String>,
    /// Simulated time at which the run ends.
    #[field(required)]
    pub duration: Option<Duration>,
    /// Seed of all random numbers; equal seeds give equal results, byte for byte.
    #[field(default = 1, range = 0..)]
    pub seed: u64,
    /// Routes from every node to every producer along the path of the smallest delay, of the fewest
    /// hops or of the smallest sum of the links' metrics; or only those of the `[[route]]`
    /// sections, which are otherwise added to the computed ones.
    #[field(default = "delay")]
    pub routing: Routing,
    /// Paths from each consumer to each producer of its content; more than one for strategies
    /// that use several next hops. [Routes](routes.md) says which.
    #[field(default = 1, range = 1..=16)]
    pub paths: usize,
    /// A scheme as a whole: every consumer, link and node that names no scheme for a part has this
    /// one's, if it has the part.
    #[field(part = "controller, marker, shaper, stamper or strategy", by = parts::whole)]
    pub scheme: Option<Choice>,
    /// The forwarding strategy of nodes that name none.
    #[field(default = defaults::STRATEGY, part = "strategy", by = parts::strategy)]
    pub strategy: Option<Choice>,
}

/// How routes come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Routing {
    Delay,
    Hops,
    Metric,
    Listed,
}

/// A forwarder, or several with equal settings. The name of a generated node adds settings to it.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "node", repeated)]
pub struct NodeSection {
    /// Its name; of several, theirs.
    #[field(name = "name", form = "text, or a list of texts", by = node_names)]
    pub names: Vec<(String, Range<usize>)>,
    /// Its content store.
    #[field(flatten)]
    pub store: Store,
    /// Its forwarding strategy.
    #[field(part = "strategy", by = parts::strategy)]
    pub strategy: Option<Choice>,
    /// Its hardware.
    #[field(flatten)]
    pub machine: Machine,
}

/// A link between two nodes, with equal properties in both directions unless `back` is given.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "link", repeated)]
pub struct LinkSection {
    /// Its ends.
    #[field(required, form = "list of two nodes", elsewhere)]
    pub between: (),
    /// Both directions.
    #[field(flatten)]
    pub way: DirectionSection,
    /// The properties of the direction from the second end to the first, if they differ: `back = {
    /// rate = "1 Mbit/s" }`.
    #[field(form = "table of link fields", elsewhere)]
    pub back: (),
}

/// Nodes and links that a generator makes or a file holds. `line`, `ring` and `star` name their
/// nodes `n0`, `n1`, …, the hub of a star being `n0`. `grid` has `rows` times `columns` nodes
/// `n0_0`, `n0_1`, … by row and column. `tree` has the root `n0` and numbers level by level.
/// `dumbbell` joins consumers `c0`, … over routers `left` and `right` to producers `p0`, ….
/// `parking-lot` is a line of routers `r0`, … with a consumer `c` and a producer `p` at its ends,
/// and for each of its links a consumer `c0`, … before and a producer `p0`, … behind it. `waxman`
/// and `barabasi-albert` draw networks of nodes `n0`, `n1`, …. [Topologies](topologies.md)
/// describes them, and the file formats.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "topology")]
pub struct TopologySection {
    /// The network that a generator makes.
    #[field(flatten)]
    pub shape: ShapeSection,
    /// The file that holds the network.
    #[field(flatten)]
    pub source: SourceSection,
    /// Its links.
    #[field(flatten)]
    pub way: DirectionSection,
    /// The properties of the links of consumers and producers, if they differ (dumbbell, parking
    /// lot).
    #[field(form = "table of link fields", elsewhere)]
    pub access: (),
}

/// A network that a generator makes.
#[derive(Clone, Debug, Fields, Read)]
pub struct ShapeSection {
    /// The shape; or else a `file`.
    pub generator: Option<Generator>,
    /// Nodes of a line, ring, star or drawn network; pairs of a dumbbell; links in the row of a
    /// parking lot.
    #[field(default = 2, range = 1..=10_000)]
    pub size: usize,
    /// Rows of a grid.
    #[field(default = 2, range = 1..=1_000)]
    pub rows: usize,
    /// Columns of a grid.
    #[field(default = 2, range = 1..=1_000)]
    pub columns: usize,
    /// Levels of a tree below its root.
    #[field(default = 2, range = 1..=16)]
    pub depth: usize,
    /// Children of each node of a tree.
    #[field(default = 2, range = 1..=100)]
    pub branches: usize,
    /// The seed of a drawn network; the run's own seed does not change it.
    #[field(default = 1, range = 0..)]
    pub drawn_from: u64,
    /// How far links of `waxman` reach, as a share of the largest distance.
    #[field(default = "15 %")]
    pub alpha: Ratio,
    /// How many links `waxman` makes.
    #[field(default = "40 %")]
    pub beta: Ratio,
    /// Propagation delay over one side of the square of `waxman`: links have delays by their
    /// lengths. Without it: all have `delay`.
    pub across: Option<Duration>,
    /// Links that each new node of `barabasi-albert` brings.
    #[field(default = 2, range = 1..=100)]
    pub attach: usize,
}

/// A network that a file holds.
#[derive(Clone, Debug, Fields, Read)]
pub struct SourceSection {
    /// A file that holds the network. If it does not give a link's rate, delay or queue, the fields
    /// of this section apply.
    #[field(form = "path, from the folder of the scenario", elsewhere)]
    pub file: (),
    /// The format of the file. `.graphml`, `.cch` and `.conf` are known by their endings.
    pub format: Option<Format>,
    /// The file with the delays for `rocketfuel-weights`.
    #[field(form = "path, from the folder of the scenario", elsewhere)]
    pub latencies: (),
    /// Share of the speed of light at which signals travel, where a file has places or lengths but
    /// no delays.
    #[field(default = "66.7 %")]
    pub signal_speed: Ratio,
}

/// Generators of topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Generator {
    Line,
    Ring,
    Star,
    Dumbbell,
    ParkingLot,
    Tree,
    Grid,
    Waxman,
    BarabasiAlbert,
}

/// The words of [`Format`].
pub const FORMATS: &[&str] = Format::WORDS;

/// Formats of files that hold topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Format {
    Graphml,
    Fnss,
    RocketfuelCch,
    RocketfuelLatencies,
    RocketfuelWeights,
    Ndnsim,
    MiniNdn,
}

/// A route, in addition to those that `routing` computes.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "route", repeated)]
pub struct RouteSection {
    /// The node that has it.
    #[field(required, form = "node", elsewhere)]
    pub at: (),
    /// Interests for names below it use the route.
    #[field(required)]
    pub prefix: Option<Name>,
    /// The neighbour that it leads to.
    #[field(required, form = "node", elsewhere)]
    pub via: (),
    /// Smaller values are preferred.
    #[field(default = 0, range = 0..)]
    pub cost: u64,
}

/// Something that happens during the run.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "fault", repeated)]
pub struct FaultSection {
    /// When.
    #[field(required)]
    pub at: Option<Duration>,
    /// The kind of fault.
    pub kind: FaultWord,
    /// The link of a `link-…` fault.
    #[field(form = "list of two nodes", elsewhere)]
    pub link: (),
    /// The node of a `node-…` or `route-…` fault.
    #[field(form = "node", elsewhere)]
    pub node: (),
    /// The new rate of `link-rate`, from the first node to the second.
    #[field(with = rate)]
    pub rate: Option<Rate>,
    /// The rates of `link-rates`, one after the other, from the first node to the second: a trace
    /// of a link whose capacity varies. The first counts from `at` on, the last one stays.
    #[field(form = Form::As("list of rates"), by = rates)]
    pub rates: Option<Vec<Rate>>,
    /// The duration of each of the `rates` except the last.
    pub every: Option<Duration>,
    /// The new delay of `link-delay`, from the first node to the second. Frames on the way are not
    /// overtaken.
    pub delay: Option<Duration>,
    /// The new loss of `link-loss`, from the first node to the second, as of a link.
    #[field(form = Form::As(LOSS_FORM), by = changed_loss)]
    pub loss: Option<Loss>,
    /// The prefix of a `route-…` fault.
    pub prefix: Option<Name>,
    /// The neighbour of a `route-…` fault.
    #[field(form = "node", elsewhere)]
    pub via: (),
    /// The cost of `route-add`.
    #[field(default = 0, range = 0..)]
    pub cost: u64,
}

/// The loss of a fault that has one.
fn changed_loss(s: &document::Section<'_>, field: &str) -> Option<Loss> {
    s.given(field)?;
    document::loss(s, field)
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum FaultWord {
    LinkDown,
    LinkUp,
    NodeCrash,
    NodeRestart,
    LinkRate,
    LinkRates,
    LinkDelay,
    LinkLoss,
    RouteAdd,
    RouteRemove,
}

/// The data that `--out` keeps of the run besides its summary: a sample of each quantity at every
/// interval. [Results](results.md) lists the quantities.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "record")]
pub struct RecordSection {
    /// From sample to sample. `auto` takes 500 to 1000 samples, and fewer if there would be more
    /// than two million values; never fewer than 50.
    #[field(default = "auto", form = "time, or `\"auto\"`", with = interval)]
    pub interval: Option<Duration>,
    /// Consumers of which samples are kept, by their nodes. Of the flows of a workload there are
    /// samples by class, if one of its nodes is among these, and a row for each in `flows.parquet`.
    #[field(default = "all", form = "`\"all\"`, `\"none\"`, or list of nodes", elsewhere)]
    pub flows: (),
    /// Links, both directions of each: `[["a", "b"], ["b", "c"]]`.
    #[field(default = "all", form = "`\"all\"`, `\"none\"`, or list of pairs of nodes", elsewhere)]
    pub links: (),
    /// Nodes.
    #[field(default = "all", form = "`\"all\"`, `\"none\"`, or list of nodes", elsewhere)]
    pub nodes: (),
    /// The end of the warm-up of `settled` in the summary: goodput, fairness and queues. `auto`
    /// looks for it in the goodput of all flows (MSER-5).
    #[field(default = "auto", form = "`\"auto\"` or time", with = warmup)]
    pub warmup: Warmup,
}

/// Runs with each of several settings: a field's name as `--set` takes it, and a list of values.
/// Several fields give every combination.
#[derive(Debug, Fields)]
#[section(name = "sweep")]
pub struct SweepSection {
    /// Runs of each combination, with seeds counted up from `seed`.
    #[field(default = 1, range = 1..=10_000)]
    pub repetitions: u64,
}
