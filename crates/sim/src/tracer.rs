//! Traces of packets and flows. Without a tracer the cost is one branch per step of a packet.

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
    /// It was put into the queue of a face.
    Enqueued,
    /// It was dropped by a node.
    Dropped(DropReason),
    /// Its transmission on a link begins.
    Sent {
        /// The reason if it will not arrive.
        lost: Option<Lost>,
        /// A byte of it will be changed.
        corrupted: bool,
        /// It will arrive twice.
        duplicated: bool,
    },
    /// It reached the end of a link, but the node there is down.
    Lost(Lost),
    /// It arrived at a node.
    Received,
}

/// The reason why a frame does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The loss model.
    Loss,
    /// The link is down.
    LinkDown,
    /// The node at the other end is down.
    NodeDown,
}

/// A packet and its fate.
#[derive(Clone, Copy, Debug)]
pub struct PacketTrace<'a> {
    /// The instant.
    pub at: Time,
    /// The node that sends, receives, queues or drops it.
    pub node: NodeId,
    /// The link, and true for the direction from its `b` to its `a`; `None` for the face of an
    /// application.
    pub link: Option<(LinkId, bool)>,
    /// The fate.
    pub fate: Fate,
    /// The kind of packet.
    pub kind: Kind,
    /// The frame if it was sent, received or lost; otherwise the network packet. Empty if it is no
    /// longer known.
    pub packet: &'a [u8],
}

/// The start or end of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowTrace<'a> {
    /// The instant.
    pub at: Time,
    /// The node of its consumer.
    pub node: NodeId,
    /// Its index in [`crate::Outcome::flows`]; `None` if it is not listed there.
    pub flow: Option<usize>,
    /// The requested name, and the name of its controller; empty if it is not listed.
    pub name: (&'a str, &'a str),
    /// Its result if it ends; `None` if it starts.
    pub ended: Option<&'a FlowResult>,
}

/// Receives the traces of a run.
pub trait Tracer: Send {
    /// Receives a step of a packet.
    fn packet(&mut self, packet: &PacketTrace<'_>);

    /// Receives the start or end of a flow.
    fn flow(&mut self, flow: &FlowTrace<'_>);

    /// Receives a fault when it takes place.
    fn fault(&mut self, at: Time, fault: &Fault);
}

/// A report of a forwarder that the tracer has not received yet.
struct Reported {
    face: FaceId,
    dropped: Option<DropReason>,
    kind: Kind,
    packet: Vec<u8>,
}

type Queue = Arc<Mutex<Vec<Reported>>>;

/// The state of an application's flow that has been reported to the tracer.
#[derive(Clone, Copy, Default)]
struct Known {
    flow: Option<FlowId>,
    has_begun: bool,
    has_ended: bool,
}

/// A tracer and its state.
pub(crate) struct Tracing {
    tracer: Box<dyn Tracer>,
    queue: Queue,
    apps: Vec<Known>,
}

impl Tracing {
    /// Traces all nodes and flows from now on.
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

    /// Connects the forwarder of a node, which reports the fates of packets.
    pub fn listen(&self, node: &mut Node) {
        let Some(running) = node.running() else { return };
        let queue = Arc::clone(&self.queue);
        running.forwarder.set_packet_tap(Some(Box::new(move |face, event: &PacketEvent<'_>| {
            let PacketEvent { step, kind, packet } = *event;
            let dropped = match step {
                Step::Queued => None,
                Step::Dropped(reason) => Some(reason),
                _ => return,
            };
            if let Ok(mut queue) = queue.lock() {
                queue.push(Reported { face, dropped, kind, packet: packet.to_vec() });
            }
        })));
    }

    /// Reports a fault.
    pub fn fault(&mut self, at: Time, fault: &Fault) {
        self.tracer.fault(at, fault);
    }

    /// Passes on the reports of a node's forwarder. `current` is the packet that the driver has
    /// passed to it.
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

    /// Reports a frame at the end of a wire; `is_up`: the node there is up.
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

    /// Sends a frame over a wire, and reports its fate.
    pub fn send(&mut self, at: Time, wire: WireId, end: &mut LinkEnd, frame: Frame<'_>) {
        let before = end.wire().counters();
        let bytes = match &frame {
            Frame::Bytes(bytes) => bytes.to_vec(),
            Frame::Shared(bytes) => bytes.to_vec(),
        };
        end.wire_mut().send(at, frame);
        let after = end.wire().counters();
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

    /// Reports the start or end of an application's flow, if it is new.
    pub fn app(&mut self, at: Time, number: u32, app: &App, flows: &Flows) {
        if !app.is_consumer() {
            return;
        }
        let number = number as usize;
        if self.apps.len() <= number {
            self.apps.resize(number + 1, Known::default());
        }
        let known = &mut self.apps[number];
        if known.has_ended && !app.is_over() {
            // The application serves another flow now.
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
