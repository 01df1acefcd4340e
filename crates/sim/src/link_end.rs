//! One direction of a link: the wire, the faces at its ends, and the counters of the sending face.

use control::{Rate, Time};
use forwarder::{Amount, FaceId, Forwarder, Occupancy, QueueTally, Traffic};
use record::{LinkCounters, LinkResult, LinkSample, NodeId, Queue};

use crate::events::Component;
use crate::wire::{Wire, WireId};

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
    /// The names of the sending and of the receiving node.
    names: [String; 2],
    component: Component,
    /// The sums over earlier runs of the sending node, before its restarts.
    past: FaceSums,
}

/// Counters of the sending face, over all restarts of its node.
#[derive(Clone, Debug, Default)]
struct FaceSums {
    sent: Traffic,
    tally: QueueTally,
    counters: LinkCounters,
    /// The content of the queues that crashes emptied.
    crashed: Amount,
    occupancy: Occupancy,
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
        LinkEnd { wire, from, to, names, component, past: FaceSums::default() }
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
        self.past.crashed += &sender.queued(self.from.face).unwrap_or_default();
    }

    /// A sample at this instant; `id` is the number of the wire. `sender` is `None` while the
    /// sending node is down.
    pub fn sample(
        &self,
        now: Time,
        id: WireId,
        sender: Option<&Forwarder>,
        rate: Option<Rate>,
    ) -> LinkSample {
        let sums = self.sums(now, sender);
        LinkSample {
            at: now,
            link: id.link(),
            backward: id.is_backward(),
            queue: self.queued(sender),
            bytes: sums.sent.bytes,
            busy: self.wire.busy(now),
            rate,
            drops: sums.drops() + self.wire.counters().drops(),
            counters: sums.counters,
        }
    }

    /// The result so far, over all restarts of the sending node. `sender` is `None` while it is
    /// down.
    pub fn result(&self, now: Time, sender: Option<&Forwarder>, rate: Option<Rate>) -> LinkResult {
        let FaceSums { sent, tally, counters, crashed, occupancy } = self.sums(now, sender);
        let span = now.0.max(1) as f64;
        let (length, squared) = (occupancy.byte_ns as f64, occupancy.byte2_ns as f64);
        let [from, to] = self.names.clone();
        let wire = self.wire.counters();
        LinkResult {
            from,
            to,
            rate,
            utilization: (wire.busy.0 as f64 / span).min(1.0),
            queue: Queue::new(length, squared, span, occupancy.peak.0),
            sent,
            tally,
            crashed,
            queued: self.queued(sender),
            counters,
            wire,
            in_flight: self.wire.in_flight() as u64,
        }
    }

    fn queued(&self, sender: Option<&Forwarder>) -> Amount {
        sender.and_then(|forwarder| forwarder.queued(self.from.face)).unwrap_or_default()
    }

    /// The sums over all restarts of the sending node.
    fn sums(&self, now: Time, sender: Option<&Forwarder>) -> FaceSums {
        let mut sums = self.past.clone();
        if let Some(forwarder) = sender {
            sums.add(now, forwarder, self.from.face);
        }
        sums
    }
}

impl FaceSums {
    /// Packets that were dropped by the queues or lost in a crash.
    fn drops(&self) -> u64 {
        self.tally.dropped.packets + self.crashed.packets
    }

    /// Adds the counters of the sending face since the last restart.
    fn add(&mut self, now: Time, forwarder: &Forwarder, face: FaceId) {
        if let Some(counters) = forwarder.counters(face) {
            self.sent += &counters.sent;
            self.tally += &counters.queue;
            self.counters += &counters.into();
        }
        if let Some(occupancy) = forwarder.queue_occupancy(now, face) {
            self.occupancy.byte_ns += occupancy.byte_ns;
            self.occupancy.byte2_ns += occupancy.byte2_ns;
            self.occupancy.peak = self.occupancy.peak.max(occupancy.peak);
        }
    }
}
