//! One direction of a link: the wire, the faces at its ends, and the counters of the sending face.

use control::{Rate, Time};
use forwarder::{FaceId, Forwarder};
use record::{LinkResult, NodeId, Queue};

use crate::events::Component;
use crate::wire::Wire;

/// A face of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub node: NodeId,
    pub face: FaceId,
}

/// A wire with the faces at its ends.
pub(crate) struct LinkEnd {
    wire: Wire,
    from: Endpoint,
    to: Endpoint,
    component: Component,
    /// The sums over earlier runs of the sending node, before its restarts.
    past: LinkSums,
}

/// Counters of the sending face, over all restarts of its node.
#[derive(Clone, Debug, Default)]
struct LinkSums {
    result: LinkResult,
    /// The integral of the Data queue's length over time, in bytes times nanoseconds.
    byte_ns: u128,
    /// The integral of the squared length, in bytes squared times nanoseconds.
    byte2_ns: u128,
}

impl LinkEnd {
    /// `names` are those of the sending and of the receiving node.
    pub fn new(
        wire: Wire,
        from: Endpoint,
        to: Endpoint,
        component: Component,
        names: [String; 2],
    ) -> LinkEnd {
        let [from_name, to_name] = names;
        let result = LinkResult { from: from_name, to: to_name, ..LinkResult::default() };
        let past = LinkSums { result, ..LinkSums::default() };
        LinkEnd { wire, from, to, component, past }
    }

    #[inline]
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    #[inline]
    pub fn wire_mut(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// The face that sends.
    #[inline]
    pub fn from(&self) -> Endpoint {
        self.from
    }

    /// The face that receives.
    #[inline]
    pub fn to(&self) -> Endpoint {
        self.to
    }

    #[inline]
    pub fn component(&self) -> Component {
        self.component
    }

    /// Handles a crash of the sending node: its queue is lost, its counters are kept.
    pub fn crash(&mut self, now: Time, sender: &Forwarder) {
        self.past.add(now, sender, self.from.face);
        let lost = std::mem::take(&mut self.past.result.queued);
        self.past.result.crashed += &lost;
    }

    /// The result so far, over all restarts of the sending node. `sender` is `None` while it is
    /// down.
    pub fn result(&self, now: Time, sender: Option<&Forwarder>, rate: Option<Rate>) -> LinkResult {
        let mut sums = self.past.clone();
        if let Some(forwarder) = sender {
            sums.add(now, forwarder, self.from.face);
        }
        let span = now.0.max(1) as f64;
        let (length, squared) = (sums.byte_ns as f64, sums.byte2_ns as f64);
        let mut result = sums.result;
        result.queue = Queue::new(length, squared, span, result.queue.max);
        result.rate = rate;
        result.wire = self.wire.counters();
        result.in_flight = self.wire.in_flight() as u64;
        result.utilization = (result.wire.busy.0 as f64 / span).min(1.0);
        result
    }
}

impl LinkSums {
    /// Adds the counters of the sending face since the last restart.
    fn add(&mut self, now: Time, forwarder: &Forwarder, face: FaceId) {
        let sum = &mut self.result;
        if let Some(counters) = forwarder.counters(face) {
            sum.sent += &counters.sent;
            sum.tally += &counters.queue;
            sum.counters += &counters.into();
        }
        sum.queued = forwarder.queued(face).unwrap_or_default();
        if let Some(occupancy) = forwarder.queue_occupancy(now, face) {
            self.byte_ns += occupancy.byte_ns;
            self.byte2_ns += occupancy.byte2_ns;
            sum.queue.max = sum.queue.max.max(occupancy.peak.0);
        }
    }
}
