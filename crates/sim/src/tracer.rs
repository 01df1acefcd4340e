//! What happens to each packet, told to whoever wants to know it. Without a tracer this costs one
//! branch where a packet crosses something.

use control::{Kind, Time};
use forwarder::{DropReason, FaceId, PacketEvent};
use std::sync::{Arc, Mutex};

use crate::app::App;
use crate::engine::kind_of;
use crate::fault::Fault;
use crate::network::{FlowEntry, Network, WireEnd};
use crate::node::{Node, Port};
use crate::wire::Frame;
use record::{FlowResult, LinkId, NodeId, WireCounters};

/// What became of a packet.
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
    /// What became of it.
    pub fate: Fate,
    /// What it is.
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
    /// What came of it, at its end.
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

/// What a forwarder has said and the tracer was not told yet.
struct Said {
    face: FaceId,
    dropped: Option<DropReason>,
    kind: Kind,
    packet: Vec<u8>,
}

type Queue = Arc<Mutex<Vec<Said>>>;

/// What is known of an application.
#[derive(Clone, Copy, Default)]
struct Known {
    flow: Option<usize>,
    has_begun: bool,
    has_ended: bool,
}

/// A tracer with what it takes to tell it everything.
pub(crate) struct Tracing {
    tracer: Box<dyn Tracer>,
    queue: Queue,
    apps: Vec<Known>,
}

impl Network {
    /// Tells a tracer of all packets, flows and faults from now on. It sees what happens, and
    /// changes nothing.
    pub fn trace(&mut self, tracer: Box<dyn Tracer>) {
        let mut apps = vec![Known::default(); self.apps.len()];
        for (flow, entry) in self.flows.iter().enumerate() {
            if let FlowEntry::Live { app, .. } = entry {
                apps[*app as usize].flow = Some(flow);
            }
        }
        let tracing = Tracing { tracer, queue: Queue::default(), apps };
        self.nodes.iter_mut().for_each(|node| tracing.listen(node));
        self.tracing = Some(Box::new(tracing));
    }

    /// The tracer, when the run is over.
    pub fn take_tracer(&mut self) -> Option<Box<dyn Tracer>> {
        self.tracing.take().map(|tracing| tracing.tracer)
    }

    /// Tells of a fault, and of what it ended.
    pub(crate) fn trace_fault(&mut self, fault: &Fault) {
        let Some(mut tracing) = self.tracing.take() else { return };
        tracing.tracer.fault(self.now, fault);
        match fault {
            Fault::NodeRestart(node) => tracing.listen(&mut self.nodes[node.index()]),
            Fault::NodeCrash(_) => {
                for (number, app) in self.apps.iter().enumerate() {
                    tracing.app(self.now, number, app, &self.flow_names);
                }
            }
            _ => {}
        }
        self.tracing = Some(tracing);
    }
}

impl Tracing {
    /// Has a node's forwarder say what becomes of packets.
    fn listen(&self, node: &mut Node) {
        let queue = Arc::clone(&self.queue);
        let tap = move |face, event: &PacketEvent<'_>| {
            let PacketEvent { dropped, kind, packet } = *event;
            if let Ok(mut queue) = queue.lock() {
                queue.push(Said { face, dropped, kind, packet: packet.to_vec() });
            }
        };
        if let Some(forwarder) = &mut node.forwarder {
            forwarder.set_packet_tap(Some(Box::new(tap)));
        }
    }

    /// Hands on what a node's forwarder has said; `current` is what the driver handed in.
    pub fn flush(&mut self, at: Time, id: NodeId, ports: &[Port], current: &[u8]) {
        let Ok(mut queue) = self.queue.lock() else { return };
        for said in queue.drain(..) {
            let port = ports.get(said.face.0 as usize - 1);
            let link = port.and_then(|port| match port {
                Port::Link { wire, .. } => Some((LinkId(wire / 2), wire % 2 == 1)),
                Port::App { .. } => None,
            });
            let fate = said.dropped.map_or(Fate::Enqueued, Fate::Dropped);
            if link.is_none() && fate == Fate::Enqueued {
                continue;
            }
            let (kind, packet) = match said.packet.is_empty() {
                true => (kind_of(current), current),
                false => (said.kind, &said.packet[..]),
            };
            self.tracer.packet(&PacketTrace { at, node: id, link, fate, kind, packet });
        }
    }

    /// A frame arrived at a wire's end, where a node is or is none.
    pub fn arrived(&mut self, at: Time, wire: usize, end: &WireEnd, frame: &[u8], is_up: bool) {
        let fate = if is_up { Fate::Received } else { Fate::Lost(Lost::NodeDown) };
        self.tracer.packet(&PacketTrace {
            at,
            node: NodeId(end.to),
            link: Some((LinkId(wire as u32 / 2), wire % 2 == 1)),
            fate,
            kind: kind_of(frame),
            packet: frame,
        });
    }

    /// Sends a frame by a wire, and says what becomes of it there.
    pub fn send(&mut self, at: Time, wire: usize, end: &mut WireEnd, frame: Frame<'_>) {
        let before = end.wire.counters;
        let bytes = match &frame {
            Frame::Bytes(bytes) => bytes.to_vec(),
            Frame::Shared(bytes) => bytes.to_vec(),
        };
        end.wire.send(at, frame);
        let grew = |count: fn(&WireCounters) -> u64| count(&end.wire.counters) > count(&before);
        let lost = match (grew(|c| c.down), grew(|c| c.lost)) {
            (true, _) => Some(Lost::LinkDown),
            (_, true) => Some(Lost::Loss),
            _ => None,
        };
        let (corrupted, duplicated) = (grew(|c| c.corrupted), grew(|c| c.duplicated));
        self.tracer.packet(&PacketTrace {
            at,
            node: NodeId(end.from),
            link: Some((LinkId(wire as u32 / 2), wire % 2 == 1)),
            fate: Fate::Sent { lost, corrupted, duplicated },
            kind: kind_of(&bytes),
            packet: &bytes,
        });
    }

    /// Sees whether an application's flow has begun or ended.
    pub fn app(&mut self, at: Time, number: usize, app: &App, names: &[(String, String)]) {
        if !app.asks() {
            return;
        }
        if self.apps.len() <= number {
            self.apps.resize(number + 1, Known::default());
        }
        let known = &mut self.apps[number];
        if known.has_ended && !app.is_over() {
            // Another flow has its place.
            *known = Known::default();
        }
        let flow = app.born.map_or(known.flow, |born| born.flow.map(|flow| flow.index()));
        let name = flow.and_then(|flow| names.get(flow));
        let name = name.map_or(("", ""), |(name, control)| (name.as_str(), control.as_str()));
        let node = NodeId(app.node);
        if !known.has_begun && (app.spoken > 0 || app.is_over()) {
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
