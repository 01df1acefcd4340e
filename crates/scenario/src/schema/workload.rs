//! Content, workloads and caching: the sections about who has what, who asks for it, and where
//! copies stay.

use crate::model::{Share, Warmup};
pub use crate::values::Bound;
use crate::values::{bound, content_name, not_negative, per_second, segment, warmup};
use control::{Duration, Size};
use document::parts::StoreRules;
use document::schema::Form;
use document::{Fields, Read, Words, lasting, parts};
use forwarder::tables::ContentStoreConfig;
use packet::Name;
use schemes::{Choice, defaults};

/// Laws that sizes may be drawn by.
pub const DISTRIBUTIONS: [&str; 4] = ["uniform", "exponential", "pareto", "lognormal"];

/// A named object, made from its name: it takes no memory, whatever its size. Or, with `objects`, a
/// catalogue of objects below the name; or, with `video`, a video.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "content", repeated)]
pub struct ContentSection {
    /// Its name; it must not be the prefix of another one's.
    #[field(required, with = content_name)]
    pub name: Option<Name>,
    /// Its producer, or producers.
    #[field(required, form = "node, or a list of nodes", elsewhere)]
    pub at: (),
    /// Bytes of content, of each object if there are several; required except for a video. Sizes
    /// may be drawn: `{ distribution = "uniform", least = "10 kB", most = "1 MB" }`, `{
    /// distribution = "exponential", mean = … }`, `{ distribution = "pareto", least = …, most = …,
    /// shape = 1.2 }`, `{ distribution = "lognormal", median = …, sigma = 1
    /// }`. A list gives objects of several classes, which have results of their own: `[{ class =
    /// "mice", share = "99 %", size = "50 kB" }, { class = "elephants", share = "1 %", size = "10
    /// MB" }]`.
    #[field(form = "size, `{ distribution, … }`, or a list of classes", elsewhere)]
    pub size: (),
    /// Bytes of content in a segment.
    #[field(default = "8000 B", with = segment)]
    pub segment: Size,
    /// A catalogue of this many objects, called `name/0`, `name/1`, … by rank: the most popular
    /// first. `"unlimited"`: a new one for every request. `"listed"`: those that the traces of
    /// workloads name.
    #[field(form = "number, `\"unlimited\"` or `\"listed\"`", elsewhere)]
    pub objects: (),
    /// The distribution among several producers. `replicated`: each has everything, and routes lead
    /// to the nearest. `objects`, `segments`: each object, or each segment, is at one random
    /// producer; every node has a route of its own to it, where it needs one.
    #[field(default = "replicated")]
    pub placement: Placement,
    /// With `placement = "segments"`: the number of consecutive segments at one producer, such as
    /// the chunks of schemes with several per Interest.
    #[field(default = 1, range = 1..=256)]
    pub together: u64,
    /// It is a video: `{ ladder = ["300 kbit/s", "1 Mbit/s"], segment = "2 s", length = "60 s" }`.
    /// Each `segment` of it is an object of its own in every quality of the `ladder`,
    /// `name/quality/number`.
    #[field(form = "table `{ ladder, segment, length }`", elsewhere)]
    pub video: (),
    /// `manifest`: a signed list of all segments' digests, as `weir put` makes it; the whole object
    /// is hashed on the first request. `digest`: a digest in each segment, and no list. `none`:
    /// nothing is hashed, as in other simulators.
    #[field(default = "manifest")]
    pub signing: SigningWord,
    /// The time that a producer needs for each answer, of any size; it serves requests one after
    /// the other. Each producer of the content has its own queue.
    #[field(default = "0 ms")]
    pub service_time: Duration,
    /// How many Interests wait at a producer with a `service_time` while one is being answered;
    /// Interests that find the queue full are dropped.
    #[field(default = 1000, range = 0..=1_000_000)]
    pub service_queue: usize,
    /// `on-demand`: a producer makes the segment that an Interest asks for. `in-order`: it makes
    /// segments in order and sends each at once, as CCNx's `ccnsendchunks`: ten after the latest
    /// Interest that reaches it, then one a second. Segments that no Interest waits for go into the
    /// content store of its node, and are lost if it has none: no segment is made twice. One object
    /// with `signing = "none"` or `"digest"`; `service_time` is the time for each.
    #[field(default = "on-demand")]
    pub production: ProductionWord,
    /// With `production = "in-order"`: how long the segment `slow_segment` takes, where that is not
    /// the `service_time`. `"0 ms"`: there is no such segment.
    #[field(default = "0 ms")]
    pub slow_time: Duration,
    /// The number of the segment that takes `slow_time`.
    #[field(default = 0, range = 0..=1_000_000_000)]
    pub slow_segment: u64,
}

/// The distribution of a content among several producers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Placement {
    Replicated,
    Objects,
    Segments,
}

/// How a content is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum SigningWord {
    Manifest,
    Digest,
    None,
}

/// When a producer makes segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum ProductionWord {
    OnDemand,
    InOrder,
}

/// How a fetch, or each of many, is done.
#[derive(Clone, Debug, Fields, Read)]
pub struct FetchSection {
    /// The congestion-control scheme of a fetch. A startup may precede it:
    /// `"packet-pair+cubic"`, `{ scheme = "cubic", startup = "packet-pair" }`.
    #[field(default = defaults::CONTROLLER, part = "controller", by = parts::controller)]
    pub control: Option<Choice>,
    /// A fetch gives up when no new data has arrived for this long.
    #[field(default = "30 s", with = lasting)]
    pub patience: Duration,
    /// InterestLifetime.
    #[field(default = "4 s", with = lasting)]
    pub lifetime: Duration,
    /// The number of segments per Interest. Without it: for a fetch, the scheme's number, which is
    /// 1 except for schemes that work on chunks; at a constant rate, 1.
    #[field(range = 1..=256)]
    pub range: Option<u16>,
}

/// How a video is played.
#[derive(Clone, Copy, Debug, Fields, Read)]
pub struct PlayerSection {
    /// The player's rule for the quality of the next segment. `buffer`: by the level of the playout
    /// buffer (BBA-0, Huang and others, 2014). `rate`: the highest below 85 % of the harmonic mean
    /// of the rates of the last five. `fixed`: always `quality`.
    #[field(default = "buffer")]
    pub adaptation: AdaptationWord,
    /// The place on the ladder for `fixed`.
    #[field(default = 0, range = 0..=1_000)]
    pub quality: usize,
    /// The largest playout buffer.
    #[field(default = "30 s")]
    pub buffer: Duration,
    /// The playout buffer needed to begin, and to continue after a stall.
    #[field(default = "4 s")]
    pub startup: Duration,
}

/// Rules that choose the quality of video.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum AdaptationWord {
    Buffer,
    Rate,
    Fixed,
}

/// A consumer: a fetch under congestion control; with `rate`, Interests at a constant rate for the
/// segments one after the other, without regard to answers; of a video, its player.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "consumer", repeated)]
pub struct ConsumerSection {
    /// Where; one at each node.
    #[field(required, form = "node, or a list of nodes", elsewhere)]
    pub at: (),
    /// The content.
    #[field(required)]
    pub name: Option<Name>,
    /// When it begins.
    #[field(default = "0 s")]
    pub start: Duration,
    /// How it fetches.
    #[field(flatten)]
    pub fetch: FetchSection,
    /// Interests a second at a constant rate, without congestion control.
    #[field(form = "number a second (`\"140 /s\"`)", with = per_second)]
    pub rate: Option<f64>,
    /// When Interests at a constant rate end. Without it: never.
    pub stop: Option<Duration>,
    /// How it plays a video.
    #[field(flatten)]
    pub player: PlayerSection,
}

/// Flows that start during the run: requests for random objects, or requests of a trace. Only the
/// record of a finished flow is kept, and beyond `listed` flows only its share in the sums.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "workload", repeated)]
pub struct WorkloadSection {
    /// The contents, with equal probability.
    #[field(required, form = "name, or a list of names", elsewhere)]
    pub name: (),
    /// The nodes that send requests, with equal probability. Required without `trace`.
    #[field(form = "node, or a list of nodes", elsewhere)]
    pub at: (),
    /// Requests a second, over all nodes. Required without `trace`.
    #[field(form = "number a second (`\"0.5 /s\"`)", with = per_second)]
    pub rate: Option<f64>,
    /// The distances between requests: exponentially distributed, or all the same.
    #[field(default = "poisson")]
    pub arrivals: ArrivalsWord,
    /// The object of rank k is requested with probability proportional to (k + q)^-alpha
    /// (Zipf-Mandelbrot).
    #[field(default = 0.8, form = "number from 0 on", with = not_negative)]
    pub alpha: f64,
    /// See `alpha`; 0 gives Zipf's law.
    #[field(default = 0, form = "number from 0 on", with = not_negative)]
    pub q: f64,
    /// The requested part: the whole object by a fetch, or one segment of it, each with the same
    /// probability, by a single Interest that is never repeated.
    #[field(default = "object")]
    pub request: RequestWord,
    /// No request is sent before.
    #[field(default = "0 s")]
    pub start: Duration,
    /// No request is sent from then on.
    pub stop: Option<Duration>,
    /// The maximum number of requests.
    #[field(range = 1..)]
    pub count: Option<u64>,
    /// A CSV file of requests, relative to the scenario's folder, with a head line and the columns
    /// `time` (seconds, or `"5 ms"`), `node`, `name` (an object's name, or its number) and, for
    /// contents with `objects = "listed"`, `size`.
    #[field(form = Form::Path, elsewhere)]
    pub trace: (),
    /// The number of flows that are listed one by one in results, over all workloads: the smallest
    /// number given.
    #[field(default = 10_000, range = 0..=1_000_000)]
    pub listed: usize,
    /// How a flow fetches.
    #[field(flatten)]
    pub fetch: FetchSection,
    /// How it plays a video.
    #[field(flatten)]
    pub player: PlayerSection,
}

/// When requests of a workload come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum ArrivalsWord {
    Poisson,
    Constant,
}

/// The requested part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[allow(missing_docs, reason = "the words say it")]
pub enum RequestWord {
    Object,
    Chunk,
}

/// A content store.
#[derive(Clone, Copy, Debug, Fields, Read)]
pub struct Store {
    /// Bound of the content store: its total memory; Data packets; or Data packets as
    /// a share of the segments of all content. `"0 B"` switches it off.
    #[field(
        name = "content_store",
        default = "0 B",
        form = "size, packets (`\"1000 packets\"`) or share (`\"2 %\"`)",
        with = bound,
    )]
    pub bound: Bound,
    /// Its rules.
    #[field(flatten)]
    pub rules: StoreRules,
}

/// As good as no bound, and yet two of them can be added.
const MOST_BYTES: usize = usize::MAX / 4;

impl Store {
    /// The store, and the share of all content that bounds it, if one does.
    #[must_use]
    pub fn config(self) -> (ContentStoreConfig, Option<Share>) {
        let StoreRules { policy, admission } = self.rules;
        let (capacity, packets, share) = match self.bound {
            Bound::Bytes(bytes) => (bytes, usize::MAX, None),
            Bound::Packets(packets) => (MOST_BYTES, packets, None),
            // How many they are is known when content is.
            Bound::Share(share) => (MOST_BYTES, 0, Some(share)),
        };
        (ContentStoreConfig { capacity, packets, policy, admission }, share)
    }
}

/// Content stores of nodes whose `[[node]]` does not say `content_store` itself; and the warm-up.
#[derive(Clone, Copy, Debug, Fields, Read)]
#[section(name = "caching")]
pub struct CachingSection {
    /// The nodes: `"routers"` are those without a producer.
    #[field(
        default = "routers",
        form = "`\"all\"`, `\"routers\"`, node or list of nodes",
        elsewhere
    )]
    pub at: (),
    /// The store of each.
    #[field(flatten)]
    pub store: Store,
    /// Results distinguish the time before its end from the time after. `"auto"`: the end is
    /// detected from the hit ratio over time (MSER-5).
    #[field(default = "auto", form = "`\"auto\"` or time", with = warmup)]
    pub warmup: Warmup,
}
