//! Reports of each packet and its fate. Without a tracer this costs one branch for each step of a
//! packet.

use control::{Kind, Time};
use forwarder::{DropReason, FaceId, PacketEvent, Step};
use std::sync::{Arc, Mutex};

use crate::app::App;
use crate::fault::Fault;
use crate::flows::Flows;
use crate::kind::kind_of;
use crate::link_end::LinkEnd;
use crate::node::{Node, Running};
use crate::wire::{Frame, WireId};
use record::{FlowId, FlowResult, LinkId, NodeId};

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits in the queue of a face.
    Enqueued,
    /// It was dropped by a node.
    Dropped(DropReason),
    /// Its first bit is put on a link.
    Sent {
        /// It will not arrive, and why.
        lost: Option<Lost>,
        /// A byte of it will be another one.
        corrupted: bool,
        /// It will arrive twice.
        duplicated: bool,
    },
    /// It came to a link's end where no node is up.
    Lost(Lost),
    /// It arrived at a node.
    Received,
}

/// Why a link does not bring a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The loss model took it.
    Loss,
    /// The link is down.
    LinkDown,
    /// The node at the other end is down.
    NodeDown,
}

/// A packet, and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct PacketTrace<'a> {
    /// When.
    pub at: Time,
    /// The node: that which sends, receives, queues or drops.
    pub node: NodeId,
    /// The link and whether the packet goes from its `b` to its `a`; `None` where an application's
    /// face is meant.
    pub link: Option<(LinkId, bool)>,
    /// The fate.
    pub fate: Fate,
    /// The kind of packet.
    pub kind: Kind,
    /// A frame where it was sent, received or lost; the network packet otherwise. Empty where it is
    /// not known any more.
    pub packet: &'a [u8],
}

/// A flow that begins or ends.
#[derive(Clone, Copy, Debug)]
pub struct FlowTrace<'a> {
    /// When.
    pub at: Time,
    /// Where its consumer is.
    pub node: NodeId,
    /// Its place in [`crate::Outcome::flows`]; `None` if it is not listed there.
    pub flow: Option<usize>,
    /// The name that it asks for, and its controller; empty if it is not listed.
    pub name: (&'a str, &'a str),
    /// Its result, at its end.
    pub ended: Option<&'a FlowResult>,
}

/// Told of everything.
pub trait Tracer: Send {
    /// A packet.
    fn packet(&mut self, packet: &PacketTrace<'_>);

    /// A flow.
    fn flow(&mut self, flow: &FlowTrace<'_>);

    /// A fault that takes place.
    fn fault(&mut self, at: Time, fault: &Fault);
}

/// Reports of a forwarder that the tracer has not received yet.
struct Reported {
    face: FaceId,
    dropped: Option<DropReason>,
    kind: Kind,
    packet: Vec<u8>,
}

type Queue = Arc<Mutex<Vec<Reported>>>;

/// The state of an application's flow, as far as the tracer knows it.
#[derive(Clone, Copy, Default)]
struct Known {
    flow: Option<FlowId>,
    has_begun: bool,
    has_ended: bool,
}

/// A tracer, and the state from which it is called.
pub(crate) struct Tracing {
    tracer: Box<dyn Tracer>,
    queue: Queue,
    apps: Vec<Known>,
}

impl Tracing {
    /// Traces all that the nodes and the flows do from now on.
    pub fn new(tracer: Box<dyn Tracer>, nodes: &mut [Node], apps: usize, flows: &Flows) -> Tracing {
        let mut known = vec![Known::default(); apps];
        for (id, flow) in flows.iter() {
            if let Some(app) = flow.app() {
                known[app as usize].flow = Some(id);
            }
        }
        let tracing = Tracing { tracer, queue: Queue::default(), apps: known };
        nodes.iter_mut().for_each(|node| tracing.listen(node));
        tracing
    }

    pub fn into_tracer(self) -> Box<dyn Tracer> {
        self.tracer
    }

    /// Has a node's forwarder report the fates of packets.
    pub fn listen(&self, node: &mut Node) {
        let Some(running) = node.running() else { return };
        let queue = Arc::clone(&self.queue);
        running.forwarder.set_packet_tap(Some(Box::new(move |face, event: &PacketEvent<'_>| {
            let PacketEvent { step, kind, packet } = *event;
            let dropped = match step {
                Step::Queued => None,
                Step::Dropped(reason) => Some(reason),
                Step::Arrived | Step::Hit | Step::Aggregated | Step::Handled => return,
            };
            if let Ok(mut queue) = queue.lock() {
                queue.push(Reported { face, dropped, kind, packet: packet.to_vec() });
            }
        })));
    }

    /// A fault has taken place.
    pub fn fault(&mut self, at: Time, fault: &Fault) {
        self.tracer.fault(at, fault);
    }

    /// Hands on the reports of a node's forwarder; `current` is the packet that the driver handed
    /// in.
    pub fn flush(&mut self, at: Time, node: &Running<'_>, current: &[u8]) {
        let Ok(mut queue) = self.queue.lock() else { return };
        for reported in queue.drain(..) {
            let wire = node.ports.wire(reported.face);
            let fate = reported.dropped.map_or(Fate::Enqueued, Fate::Dropped);
            if wire.is_none() && fate == Fate::Enqueued {
                continue;
            }
            let (kind, packet) = match reported.packet.is_empty() {
                true => (kind_of(current), current),
                false => (reported.kind, &reported.packet[..]),
            };
            let link = wire.map(|wire| (wire.link(), wire.is_backward()));
            self.tracer.packet(&PacketTrace { at, node: node.id, link, fate, kind, packet });
        }
    }

    /// A frame arrived at the end of a wire, where a node is up or not.
    pub fn arrived(&mut self, at: Time, wire: WireId, to: NodeId, frame: &[u8], is_up: bool) {
        let fate = if is_up { Fate::Received } else { Fate::Lost(Lost::NodeDown) };
        self.tracer.packet(&PacketTrace {
            at,
            node: to,
            link: Some((wire.link(), wire.is_backward())),
            fate,
            kind: kind_of(frame),
            packet: frame,
        });
    }

    /// Sends a frame by a wire, and reports its fate there.
    pub fn send(&mut self, at: Time, wire: WireId, end: &mut LinkEnd, frame: Frame<'_>) {
        let before = end.wire().counters;
        let bytes = match &frame {
            Frame::Bytes(bytes) => bytes.to_vec(),
            Frame::Shared(bytes) => bytes.to_vec(),
        };
        end.wire_mut().send(at, frame);
        let after = end.wire().counters;
        let lost = if after.down > before.down {
            Some(Lost::LinkDown)
        } else if after.lost > before.lost {
            Some(Lost::Loss)
        } else {
            None
        };
        self.tracer.packet(&PacketTrace {
            at,
            node: end.from().node,
            link: Some((wire.link(), wire.is_backward())),
            fate: Fate::Sent {
                lost,
                corrupted: after.corrupted > before.corrupted,
                duplicated: after.duplicated > before.duplicated,
            },
            kind: kind_of(&bytes),
            packet: &bytes,
        });
    }

    /// Checks whether an application's flow has begun or ended.
    pub fn app(&mut self, at: Time, number: u32, app: &App, flows: &Flows) {
        if !app.asks() {
            return;
        }
        let number = number as usize;
        if self.apps.len() <= number {
            self.apps.resize(number + 1, Known::default());
        }
        let known = &mut self.apps[number];
        if known.has_ended && !app.is_over() {
            // Another flow has its place.
            *known = Known::default();
        }
        let id = app.born().map_or(known.flow, |born| born.flow);
        let listed = id.and_then(|id| flows.get(id));
        let name = listed.map_or(("", ""), |flow| (flow.name(), flow.control()));
        let (node, flow) = (app.place().node, id.map(FlowId::index));
        if !known.has_begun && (app.sent() > 0 || app.is_over()) {
            known.has_begun = true;
            self.tracer.flow(&FlowTrace { at, node, flow, name, ended: None });
        }
        if known.has_begun && !known.has_ended && app.is_over() {
            known.has_ended = true;
            let mut result = FlowResult::default();
            app.result(at, &mut result);
            self.tracer.flow(&FlowTrace { at, node, flow, name, ended: Some(&result) });
        }
    }
}
