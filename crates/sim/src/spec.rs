//! The specification of a network.

use control::{Controller, Duration, Marker, Rate, Shaper, Size, Stamper, Strategy, Time};
use forwarder::tables::ContentStoreConfig;
use packet::options::Capability;
use packet::{Component, Name};
use std::fmt;
use std::sync::Arc;

use crate::impairment::Impairment;

/// Builds a part of a scheme: again after each restart of its node.
pub type Make<T> = Arc<dyn Fn() -> Box<T> + Send + Sync>;

/// A node: a forwarder and what it has.
#[derive(Clone)]
pub struct NodeSpec {
    /// Its name, which chooses its random streams. No two nodes should have the same.
    pub name: String,
    /// The forwarding strategy.
    pub strategy: Make<dyn Strategy>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// Its capabilities. Its neighbours know them from the beginning.
    pub capability: Capability,
}

impl NodeSpec {
    /// A node with the forwarder's own content store.
    #[must_use]
    pub fn new(name: &str, strategy: Make<dyn Strategy>) -> NodeSpec {
        let content_store = ContentStoreConfig::default();
        let capability = Capability::ALL;
        NodeSpec { name: name.to_owned(), strategy, content_store, capability }
    }

    /// The same as a forwarder that knows nothing of hop-by-hop options and ranges.
    #[must_use]
    pub fn plain(mut self) -> NodeSpec {
        self.capability = Capability::default();
        self
    }

    /// The same without a content store.
    #[must_use]
    pub fn without_store(mut self) -> NodeSpec {
        self.content_store.capacity = 0;
        self
    }
}

/// One direction of a link: the sending face and the wire behind it.
#[derive(Clone)]
pub struct WireSpec {
    /// The rate; as fast as packets come, without one.
    pub rate: Option<Rate>,
    /// The propagation delay.
    pub delay: Duration,
    /// Bytes that the queue of Data may hold, and that of Interests and Nacks.
    pub queue: Size,
    /// Packets that either queue may hold.
    pub queue_packets: usize,
    /// Bytes that a frame takes on the link besides itself.
    pub overhead: usize,
    /// The largest frame. A stream, on which nothing is fragmented, without one.
    pub mtu: Option<usize>,
    /// Loss, jitter and so on.
    pub impairment: Impairment,
    /// Both ends acknowledge frames and send lost ones again, if either direction says so.
    pub reliability: bool,
    /// Queue management of the sending face.
    pub marker: Option<Make<dyn Marker>>,
    /// Interest shaping at the sending face.
    pub shaper: Option<Make<dyn Shaper>>,
    /// Stamping at the sending face.
    pub stamper: Option<Make<dyn Stamper>>,
}

impl WireSpec {
    /// A perfect link with a queue of 4 MB and no parts.
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
            marker: None,
            shaper: None,
            stamper: None,
        }
    }
}

/// How Data is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signing {
    /// As a real producer does: a digest in every segment and a manifest that lists them, which a
    /// fetch verifies. The content is hashed when the first Interest comes.
    #[default]
    Manifest,
    /// A digest in every segment, computed on request; there is no manifest, and only requested
    /// segments are hashed.
    Digest,
    /// Segments without a signature, made on request. A fetch accepts them if it expects them
    /// ([`FetchSpec::signing`]).
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
    /// How it is signed.
    pub signing: Signing,
    /// How long its producer takes for each answer; nothing, without one.
    pub service: Option<ServiceSpec>,
    /// When its producer makes segments.
    pub production: Production,
}

/// When a producer makes the segments of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Production {
    /// For each Interest the segment that it asks for.
    #[default]
    OnDemand,
    /// In order, as `ccnsendchunks` of CCNx 0.x does: ten after the latest Interest that reaches
    /// the producer, then one a second. Segments that no Interest waits for go into the content
    /// store of the producer's node, and none is made twice. [`ServiceSpec::time`] is the time
    /// for each; there is no queue. Not for [`Signing::Manifest`]: segments are made without one.
    InOrder {
        /// A segment that takes longer.
        slow: Option<SlowSegment>,
    },
}

/// A segment for which its producer takes another time than for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowSegment {
    /// Its number.
    pub segment: u64,
    /// How long it takes.
    pub time: Duration,
}

/// A producer that answers one Interest after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    /// How long one answer takes, whatever its size.
    pub time: Duration,
    /// How many Interests wait while one is being answered; what comes to a full queue is lost.
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

    /// The versioned name, below which its segments are.
    #[must_use]
    pub fn versioned(&self) -> Name {
        self.name.clone().with(&Component::version(self.version))
    }
}

/// A fetch of an object.
pub struct FetchSpec {
    /// The object's name, with the version or without.
    pub name: Name,
    /// When it begins.
    pub start: Time,
    /// Its controller.
    pub controller: Box<dyn Controller>,
    /// The controller's name, for the results.
    pub label: String,
    /// The lifetime of its Interests.
    pub lifetime: Duration,
    /// It gives up when nothing new has come for this long.
    pub patience: Duration,
    /// Segments are handed on in order.
    pub in_order: bool,
    /// How many segments one Interest asks for; without it, as many as the controller says.
    pub range: Option<u16>,
    /// How the object is signed: what is less is refused.
    pub signing: Signing,
}

impl FetchSpec {
    /// A fetch from the beginning, with the defaults of [`transport::fetch::FetchConfig`].
    #[must_use]
    pub fn new(name: Name, controller: Box<dyn Controller>, label: &str) -> FetchSpec {
        FetchSpec {
            name,
            start: Time::ZERO,
            controller,
            label: label.to_owned(),
            lifetime: Duration::from_secs(4),
            patience: Duration::from_secs(30),
            in_order: false,
            range: None,
            signing: Signing::default(),
        }
    }
}

/// The distances between Interests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// All the same.
    #[default]
    Constant,
    /// Exponentially distributed: a Poisson process.
    Poisson,
}

/// A consumer that asks for the segments of an object one after the other at a rate of its own,
/// whatever the network says, and never again for one that it did not get.
#[derive(Clone, Debug)]
pub struct RateSpec {
    /// The name below which segments are asked for: that of an object with its version.
    pub name: Name,
    /// When it begins.
    pub start: Time,
    /// Interests in a second.
    pub per_second: f64,
    /// The distances between them.
    pub arrivals: Arrivals,
    /// The first segment.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// How many of them one Interest asks for, 1 to 256.
    pub range: u16,
    /// The lifetime of its Interests.
    pub lifetime: Duration,
}

impl RateSpec {
    /// `count` segments from the first on, at a constant rate.
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
            lifetime: Duration::from_secs(4),
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
