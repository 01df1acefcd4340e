//! The run: from event to event.

use control::{Duration, Kind, Time};
use forwarder::{FaceId, Forwarder, Wire as Arrival};
use packet::LpPacket;
use packet::tlv::types;

use crate::app::App;
use crate::buffers::Buffers;
use crate::network::{FlowEntry, Network, Target};
use crate::node::{Node, Port};
use crate::tracer::Tracing;
use crate::wire::Frame;
use crate::workload::Generator;
use record::{LinkId, NodeId, Outcome, PacketHop};

impl Network {
    /// Runs until an instant and says what has come of it. May be called again, to go on.
    pub fn run(&mut self, until: Time) -> Outcome {
        self.advance(until);
        self.outcome()
    }

    /// Runs until an instant, or until it [`Network::is_given_up`].
    pub fn advance(&mut self, until: Time) {
        while let Some((at, component)) = self.events.peek() {
            if at > until {
                break;
            }
            if self.is_given_up() {
                return;
            }
            self.now = at;
            self.calls += 1;
            match self.targets[component as usize] {
                Target::Wire(wire) => self.deliver(wire as usize),
                Target::Node(node) => self.wake_node(node as usize),
                Target::App(app) => self.wake_app(app as usize),
                Target::Stores => self.count_stores(),
                Target::Workload(workload) => self.wake_workload(workload as usize),
                Target::Faults => self.wake_faults(),
                Target::Sampler => {
                    // Being looked at is no event of the network.
                    self.calls -= 1;
                    self.sample();
                }
            }
            if !self.population.over.is_empty() {
                self.bury();
            }
            if self.event_queue.is_some() {
                self.report_events();
            }
        }
        self.now = self.now.max(until);
    }

    /// Whether every consumer has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.population.generators.iter().all(Generator::is_over)
            && self.flows.iter().all(|flow| match flow {
                FlowEntry::Live { app, .. } => self.apps[*app as usize].is_over(),
                FlowEntry::Over(_) => true,
            })
    }

    /// Hands what has arrived at the end of a wire to the node there.
    fn deliver(&mut self, wire: usize) {
        let now = self.now;
        let to = self.wires[wire].to as usize;
        loop {
            let end = &mut self.wires[wire];
            let Some(arrival) = end.wire.arrived(now) else { break };
            let frame: &[u8] = match arrival {
                Arrival::Borrowed(bytes) => bytes,
                Arrival::Shared(bytes) => bytes,
            };
            if let Some(forwarder) = &mut self.nodes[to].forwarder {
                let hop = PacketHop {
                    at: now,
                    node: NodeId(end.to),
                    face: end.to_face.0,
                    link: LinkId(wire as u32 / 2),
                    backward: wire % 2 == 1,
                    kind: kind_of(frame),
                    frame,
                };
                self.trace.add(&hop);
                if let Some(recorder) = &mut self.recorder {
                    recorder.packet(&hop);
                }
                if let Some(tracing) = &mut self.tracing {
                    tracing.arrived(now, wire, end, frame, true);
                }
                forwarder.receive(now, end.to_face, arrival);
                if let Some(tracing) = &mut self.tracing {
                    tracing.flush(now, NodeId(end.to), &self.nodes[to].ports, frame);
                }
                end.wire.consume();
                end.wire.counters.delivered += 1;
                self.pump(to);
            } else {
                if let Some(tracing) = &mut self.tracing {
                    tracing.arrived(now, wire, end, frame, false);
                }
                end.wire.consume();
                end.wire.counters.node_down += 1;
            }
        }
        let end = &self.wires[wire];
        self.events.set(end.component, end.wire.next_arrival());
    }

    fn wake_node(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        let Some(forwarder) = &mut node.forwarder else {
            self.events.set(node.component, None);
            return;
        };
        forwarder.on_deadline(self.now);
        if let Some(tracing) = &mut self.tracing {
            tracing.flush(self.now, node.id, &node.ports, &[]);
        }
        self.pump(number);
        // Everything that was due was done: what still asks for this instant is called at the next.
        let node = &self.nodes[number];
        let next = node.next_deadline();
        self.events.set(node.component, next.map(|at| at.max(self.now + Duration(1))));
    }

    pub(crate) fn wake_app(&mut self, number: usize) {
        self.apps[number].on_deadline(self.now, self.event_queue.as_ref());
        self.hear_app(number);
    }

    /// Hands on what an application has to say, and asks when it wants to be called again.
    pub(crate) fn hear_app(&mut self, number: usize) {
        let app = &mut self.apps[number];
        let node = app.node as usize;
        let Node { id, ports, forwarder, .. } = &mut self.nodes[node];
        let tracing = self.tracing.as_deref_mut();
        match (forwarder, &mut self.outbox) {
            (Some(forwarder), _) => {
                let with = (&mut self.out, &mut self.buffers, tracing);
                speak((self.now, *id, ports), app, forwarder, with);
            }
            (None, Some(outbox)) => outbox.take(self.now, number, app),
            // Nobody listens: what it says is lost, as it would be in a closed connection.
            (None, None) => {
                self.out.clear();
                while app.poll_transmit(self.now, &mut self.out) {
                    self.out.clear();
                }
            }
        }
        let next = app.settle(self.now);
        if let Some(tracing) = &mut self.tracing {
            tracing.app(self.now, number, app, &self.flow_names);
        }
        if app.has_died() {
            self.population.over.push(number as u32);
        }
        self.events.set(app.component, next.map(|at| at.max(self.now + Duration(1))));
        self.pump(node);
    }

    fn wake_faults(&mut self) {
        while let Some(first) = self.faults.first_entry().filter(|f| f.key().0 <= self.now) {
            let fault = first.remove();
            self.apply(&fault);
            if self.tracing.is_some() {
                self.trace_fault(&fault);
            }
        }
        self.schedule_fault();
    }

    /// Moves what a node's forwarder has for its faces to wires and applications, until it has
    /// nothing more for now.
    pub(crate) fn pump(&mut self, number: usize) {
        let now = self.now;
        let Network { nodes, wires, apps, events, out, buffers, population, .. } = self;
        let (tracing, names) = (&mut self.tracing, &self.flow_names);
        let node = &mut nodes[number];
        let Some(forwarder) = &mut node.forwarder else { return };
        while let Some(face) = forwarder.poll_ready() {
            match &node.ports[face.0 as usize - 1] {
                Port::Link { wire, .. } => {
                    let end = &mut wires[*wire as usize];
                    drain(now, forwarder, face, out, |frame| match tracing {
                        None => end.wire.send(now, frame),
                        Some(tracing) => tracing.send(now, *wire as usize, end, frame),
                    });
                    events.set(end.component, end.wire.next_arrival());
                }
                Port::App { app, .. } => {
                    let number = *app;
                    let app = &mut apps[number as usize];
                    drain(now, forwarder, face, out, |frame| match frame {
                        Frame::Bytes(bytes) => app.receive(now, bytes),
                        Frame::Shared(bytes) => app.receive(now, &bytes),
                    });
                    let place = (now, node.id, &node.ports[..]);
                    speak(place, app, forwarder, (out, buffers, tracing.as_deref_mut()));
                    let next = app.settle(now).map(|at| at.max(now + Duration(1)));
                    if let Some(tracing) = tracing {
                        tracing.app(now, number as usize, app, names);
                    }
                    if app.has_died() {
                        population.over.push(number);
                    }
                    events.set(app.component, next);
                }
            }
        }
        if let Some(tracing) = tracing {
            tracing.flush(now, node.id, &node.ports, &[]);
        }
        node.pit_max = node.pit_max.max(forwarder.pit().len());
        node.learn(now);
        events.set(node.component, node.next_deadline().map(|at| at.max(now)));
    }

    fn report_events(&mut self) {
        let (Some(queue), Some(recorder)) = (&self.event_queue, &mut self.recorder) else { return };
        if let Ok(mut queue) = queue.lock() {
            queue.drain(..).for_each(|(origin, event)| recorder.event(origin, &event));
        }
    }
}

/// Takes all frames that may leave by a face now.
fn drain(
    now: Time,
    forwarder: &mut Forwarder,
    face: FaceId,
    out: &mut Vec<u8>,
    mut to: impl FnMut(Frame<'_>),
) {
    loop {
        out.clear();
        let mut shared = None;
        let left = forwarder.poll_transmit_shared(now, face, out, &mut shared);
        let Some(transmit) = left else { return };
        match shared {
            Some(packet) => to(Frame::Shared(packet)),
            None => {
                let segment = transmit.segment.unwrap_or(transmit.len).max(1);
                out.chunks(segment).for_each(|frame| to(Frame::Bytes(frame)));
            }
        }
    }
}

/// Hands what an application has to say to its forwarder.
fn speak(
    place: (Time, NodeId, &[Port]),
    app: &mut App,
    forwarder: &mut Forwarder,
    (out, buffers, mut tracing): (&mut Vec<u8>, &mut Buffers, Option<&mut Tracing>),
) {
    out.clear();
    while app.poll_transmit(place.0, out) {
        if out.first().copied().map(u64::from) == Some(types::DATA) {
            let packet = buffers.packet(out);
            forwarder.receive(place.0, app.face, Arrival::Shared(&packet));
        } else {
            forwarder.receive(place.0, app.face, Arrival::Borrowed(out));
        }
        if let Some(tracing) = &mut tracing {
            tracing.flush(place.0, place.1, place.2, out);
        }
        out.clear();
    }
}

/// What is in a frame.
pub(crate) fn kind_of(frame: &[u8]) -> Kind {
    let bare = |bytes: &[u8]| match bytes.first().copied().map(u64::from) {
        Some(types::INTEREST) => Kind::Interest,
        _ => Kind::Data,
    };
    if frame.first().copied().map(u64::from) != Some(types::LP_PACKET) {
        return bare(frame);
    }
    match LpPacket::decode(frame) {
        Ok(link) if link.nack().is_some() => Kind::Nack,
        Ok(link) => bare(link.fragment().unwrap_or_default()),
        Err(_) => Kind::Data,
    }
}
