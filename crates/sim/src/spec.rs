//! The specifications of the parts of a network.

use control::{Controller, Duration, Marker, Rate, Shaper, Size, Stamper, Strategy, Time};
use forwarder::RateIn;
use forwarder::tables::ContentStoreConfig;
use packet::options::Capability;
use packet::{Component, Name};
use std::fmt;
use std::sync::Arc;
use transport::fetch::FetchConfig;

use crate::impairment::Impairment;

/// Builds a part of a scheme, once more after each restart of its node.
pub type Make<T> = Arc<dyn Fn() -> Box<T> + Send + Sync>;

/// A node with a forwarder.
#[derive(Clone)]
pub struct NodeSpec {
    /// Its name, which chooses its random streams. No two nodes should have the same.
    pub name: String,
    /// The forwarding strategy.
    pub strategy: Make<dyn Strategy>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// The capabilities. The neighbours know them from the start.
    pub capability: Capability,
}

impl NodeSpec {
    /// A node with the default content store and all capabilities.
    #[must_use]
    pub fn new(name: &str, strategy: Make<dyn Strategy>) -> NodeSpec {
        let content_store = ContentStoreConfig::default();
        let capability = Capability::ALL;
        NodeSpec { name: name.to_owned(), strategy, content_store, capability }
    }

    /// The same node without support for hop-by-hop options and ranges.
    #[must_use]
    pub fn plain(mut self) -> NodeSpec {
        self.capability = Capability::default();
        self
    }

    /// The same node without a content store.
    #[must_use]
    pub fn without_store(mut self) -> NodeSpec {
        self.content_store.capacity = 0;
        self
    }
}

/// One direction of a link: the sending face and the wire behind it.
#[derive(Clone)]
pub struct WireSpec {
    /// The rate; `None` is unlimited.
    pub rate: Option<Rate>,
    /// The propagation delay.
    pub delay: Duration,
    /// The capacity, in bytes, of each of two queues: of Data, and of Interests and Nacks.
    pub queue: Size,
    /// The capacity of each queue in packets.
    pub queue_packets: usize,
    /// The overhead of each frame on the link, in bytes.
    pub overhead: usize,
    /// The largest frame in bytes; `None` is a stream, without fragmentation.
    pub mtu: Option<usize>,
    /// Loss, jitter and other impairments.
    pub impairment: Impairment,
    /// Link reliability: both ends acknowledge frames and retransmit lost ones, if this is set for
    /// either direction.
    pub reliability: bool,
    /// The receiving end does not know the rate: it measures it.
    pub measured: bool,
    /// The queue management at the sending face.
    pub marker: Option<Make<dyn Marker>>,
    /// The Interest shaper at the sending face.
    pub shaper: Option<Make<dyn Shaper>>,
    /// The stamper at the sending face.
    pub stamper: Option<Make<dyn Stamper>>,
}

impl WireSpec {
    /// A link without impairments or scheme parts, with queues of 4 MB.
    #[must_use]
    pub fn new(rate: Rate, delay: Duration) -> WireSpec {
        WireSpec {
            rate: Some(rate),
            delay,
            queue: Size(4_000_000),
            queue_packets: usize::MAX,
            overhead: 0,
            mtu: None,
            impairment: Impairment::default(),
            reliability: false,
            measured: false,
            marker: None,
            shaper: None,
            stamper: None,
        }
    }

    /// The receiving end's knowledge of the rate.
    pub(crate) fn rate_in(&self) -> RateIn {
        match self.rate {
            _ if self.measured => RateIn::Measured,
            Some(rate) => RateIn::Known(rate),
            None => RateIn::Symmetric,
        }
    }
}

/// The signatures on Data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signing {
    /// A digest in every segment, and a manifest that a fetch verifies, as with real producers.
    /// The content is hashed when the first Interest arrives.
    #[default]
    Manifest,
    /// A digest in every segment, computed on request; there is no manifest, and only requested
    /// segments are hashed.
    Digest,
    /// Segments without a signature, made on request. A fetch accepts them only with this value of
    /// [`FetchSpec::signing`].
    Unsigned,
}

/// A published object. Its content is virtual: a function of its name and the offset.
#[derive(Clone, Debug)]
pub struct ObjectSpec {
    /// The name, without the version.
    pub name: Name,
    /// The version.
    pub version: u64,
    /// Bytes of content.
    pub size: Size,
    /// Bytes of content in a segment.
    pub segment_size: usize,
    /// The signatures.
    pub signing: Signing,
    /// The service time of its producer; `None` answers at once.
    pub service: Option<ServiceSpec>,
    /// The time at which segments are made.
    pub production: Production,
}

/// The time at which a producer makes the segments of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Production {
    /// On request.
    #[default]
    OnDemand,
    /// In order, like `ccnsendchunks` of CCNx 0.x: ten after the latest Interest that reaches the
    /// producer, then one per second. Segments without a pending Interest go into the content store
    /// of the producer's node. No segment is made twice. Each takes [`ServiceSpec::time`]; there is
    /// no queue. Do not use it with [`Signing::Manifest`]: there is no manifest.
    InOrder {
        /// A segment that takes longer.
        slow: Option<SlowSegment>,
    },
}

/// A segment with its own production time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowSegment {
    /// Its number.
    pub segment: u64,
    /// Its production time.
    pub time: Duration,
}

/// The service of a producer that answers one Interest after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    /// The time for one answer, independent of its size.
    pub time: Duration,
    /// The number of Interests that may wait behind the one in service. Others are dropped.
    pub queue: usize,
}

impl ObjectSpec {
    /// Version 1 of an object, with segments of 8000 bytes and a manifest.
    #[must_use]
    pub fn new(name: Name, size: Size) -> ObjectSpec {
        ObjectSpec {
            name,
            version: 1,
            size,
            segment_size: 8000,
            signing: Signing::Manifest,
            service: None,
            production: Production::OnDemand,
        }
    }

    /// The versioned name, which is the prefix of its segments.
    #[must_use]
    pub fn versioned(&self) -> Name {
        self.name.clone().with(&Component::version(self.version))
    }
}

/// A fetch of an object.
pub struct FetchSpec {
    /// The object's name, with or without a version.
    pub name: Name,
    /// The instant at which it starts.
    pub start: Time,
    /// Its controller.
    pub controller: Box<dyn Controller>,
    /// The controller's name, for the results.
    pub label: String,
    /// The lifetime of its Interests.
    pub lifetime: Duration,
    /// It fails after this long without progress.
    pub patience: Duration,
    /// Delivers segments in order.
    pub in_order: bool,
    /// The number of segments that one Interest requests; `None`: the controller's number.
    pub range: Option<u16>,
    /// The expected signatures; weaker ones are rejected.
    pub signing: Signing,
}

impl FetchSpec {
    /// A fetch at time zero, with the defaults of [`transport::fetch::FetchConfig`].
    #[must_use]
    pub fn new(name: Name, controller: Box<dyn Controller>, label: &str) -> FetchSpec {
        FetchSpec {
            name,
            start: Time::ZERO,
            controller,
            label: label.to_owned(),
            lifetime: FetchConfig::LIFETIME,
            patience: FetchConfig::PATIENCE,
            in_order: false,
            range: None,
            signing: Signing::default(),
        }
    }
}

/// The intervals between Interests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Constant.
    #[default]
    Constant,
    /// Exponentially distributed: a Poisson process.
    Poisson,
}

/// A consumer that requests the segments of an object in order at a given rate. It does not react
/// to the network and does not retransmit.
#[derive(Clone, Debug)]
pub struct RateSpec {
    /// The prefix of the segments: the name of an object with its version.
    pub name: Name,
    /// The instant at which it starts.
    pub start: Time,
    /// The number of Interests per second.
    pub per_second: f64,
    /// The intervals between Interests.
    pub arrivals: Arrivals,
    /// The number of the first segment.
    pub first: u64,
    /// The number of segments to request.
    pub count: u64,
    /// The number of segments that one Interest requests, 1 to 256.
    pub range: u16,
    /// The lifetime of its Interests.
    pub lifetime: Duration,
}

impl RateSpec {
    /// A consumer of `count` segments from segment 0 on, at constant intervals, from time zero on.
    #[must_use]
    pub fn new(name: Name, per_second: f64, count: u64) -> RateSpec {
        RateSpec {
            name,
            start: Time::ZERO,
            per_second,
            arrivals: Arrivals::Constant,
            first: 0,
            count,
            range: 1,
            lifetime: FetchConfig::LIFETIME,
        }
    }
}

impl fmt::Debug for NodeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeSpec").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for WireSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireSpec")
            .field("rate", &self.rate)
            .field("delay", &self.delay)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FetchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchSpec")
            .field("name", &self.name)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}
