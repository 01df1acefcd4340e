//! The movement of packets in a network.

use control::{Duration, Time};
use forwarder::{FaceId, Forwarder, Wire as Arrival};
use packet::tlv::types;
use record::{FlowId, LinkId, NodeId, PacketHop, Recorder};

use crate::agenda::Agenda;
use crate::app::{App, Role};
use crate::apps::Apps;
use crate::buffers::Buffers;
use crate::fault::Fault;
use crate::flows::{Flow, Flows};
use crate::kind::kind_of;
use crate::node::{Port, Running};
use crate::observers::Observers;
use crate::spec::{NodeSpec, WireSpec};
use crate::topology::Topology;
use crate::tracer::{Tracer, Tracing};
use crate::wire::{Frame, WireId};

/// Nodes, links and applications, and the calls that move packets between them.
pub(crate) struct Fabric {
    seed: u64,
    agenda: Agenda,
    topology: Topology,
    apps: Apps,
    flows: Flows,
    observers: Observers,
    packets: Packets,
}

/// Reusable memory for packets.
#[derive(Default)]
struct Packets {
    out: Vec<u8>,
    buffers: Buffers,
}

impl Fabric {
    pub fn new(seed: u64) -> Fabric {
        let mut agenda = Agenda::default();
        let observers = Observers::new(&mut agenda);
        Fabric {
            seed,
            agenda,
            topology: Topology::default(),
            apps: Apps::default(),
            flows: Flows::default(),
            observers,
            packets: Packets::default(),
        }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    #[inline]
    pub fn now(&self) -> Time {
        self.agenda.now()
    }

    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    #[inline]
    pub fn agenda_mut(&mut self) -> &mut Agenda {
        &mut self.agenda
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    pub fn topology_mut(&mut self) -> &mut Topology {
        &mut self.topology
    }

    pub fn apps(&self) -> &Apps {
        &self.apps
    }

    #[inline]
    pub fn apps_mut(&mut self) -> &mut Apps {
        &mut self.apps
    }

    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    pub fn flows_mut(&mut self) -> &mut Flows {
        &mut self.flows
    }

    pub fn observers(&self) -> &Observers {
        &self.observers
    }

    #[inline]
    pub fn observers_mut(&mut self) -> &mut Observers {
        &mut self.observers
    }

    pub fn add_node(&mut self, spec: NodeSpec) -> NodeId {
        self.topology.add_node(&mut self.agenda, self.seed, spec)
    }

    pub fn add_link(&mut self, a: NodeId, b: NodeId, specs: [WireSpec; 2]) -> LinkId {
        self.topology.add_link(&mut self.agenda, self.seed, a, b, specs)
    }

    /// Adds an application at a node.
    pub fn add_app(&mut self, at: NodeId, role: Role) -> u32 {
        self.apps.add(&mut self.agenda, self.topology.node_mut(at), role)
    }

    /// Adds an application with a listed flow. `role` receives the flow's id and the names of its
    /// random streams. They do not depend on other flows at the node, except those that request the
    /// same name.
    pub fn add_flow(
        &mut self,
        at: NodeId,
        name: String,
        control: String,
        role: impl FnOnce(FlowId, &[&str]) -> Role,
    ) -> FlowId {
        let twin = self.flows.twins(&self.apps, at, &name).to_string();
        let names = ["flow", self.topology.node(at).name(), &name, &twin];
        let role = role(self.flows.next_id(), &names);
        let app = self.add_app(at, role);
        self.flows.add(Flow::new(app, None, name, control))
    }

    /// Calls `tracer` from now on.
    pub fn trace(&mut self, tracer: Box<dyn Tracer>) {
        let nodes = self.topology.nodes_mut();
        let tracing = Tracing::new(tracer, nodes, self.apps.len(), &self.flows);
        self.observers.set_tracing(Some(Box::new(tracing)));
    }

    /// Calls `recorder` from now on, with samples at the interval `every`.
    pub fn record(&mut self, every: Duration, recorder: Box<dyn Recorder>) {
        self.observers.record(&mut self.agenda, self.topology.nodes_mut(), every, recorder);
    }

    /// Schedules the sample after the one taken now.
    pub fn schedule_sample(&mut self) {
        let next = self.agenda.now() + self.observers.every();
        self.observers.schedule_sample(&mut self.agenda, next);
    }

    /// Crashes the applications of a node without a forwarder in this network.
    pub fn crash_apps(&mut self, node: NodeId) {
        self.apps.crash(&mut self.agenda, node);
    }

    /// Passes the frames that have arrived at the end of a wire to the node there.
    pub fn deliver(&mut self, wire: WireId) {
        let now = self.agenda.now();
        loop {
            let (end, node) = self.topology.end_and_receiver(wire);
            let to = end.to();
            let Some(arrival) = end.wire().arrived(now) else { break };
            let frame: &[u8] = match arrival {
                Arrival::Borrowed(bytes) => bytes,
                Arrival::Shared(bytes) => bytes,
            };
            let Some(running) = node.running() else {
                if let Some(tracing) = self.observers.tracing() {
                    tracing.arrived(now, wire, to.node, frame, false);
                }
                end.wire_mut().lose();
                continue;
            };
            self.observers.arrived(&PacketHop {
                at: now,
                node: to.node,
                face: to.face.0,
                link: wire.link(),
                backward: wire.is_backward(),
                kind: kind_of(frame),
                frame,
            });
            if let Some(tracing) = self.observers.tracing() {
                tracing.arrived(now, wire, to.node, frame, true);
            }
            running.forwarder.receive(now, to.face, arrival);
            if let Some(tracing) = self.observers.tracing() {
                tracing.flush(now, &running, frame);
            }
            end.wire_mut().deliver();
            self.pump(to.node);
        }
        let end = self.topology.end_mut(wire);
        self.agenda.set(end.component(), end.wire().next_arrival());
    }

    /// Calls the forwarder of a node at its deadline.
    pub fn wake_node(&mut self, id: NodeId) {
        let now = self.agenda.now();
        let node = self.topology.node_mut(id);
        let component = node.component();
        let Some(running) = node.running() else { return self.agenda.set(component, None) };
        running.forwarder.on_deadline(now);
        if let Some(tracing) = self.observers.tracing() {
            tracing.flush(now, &running, &[]);
        }
        self.pump(id);
        // Everything due has been done. A new deadline at this instant is served 1 ns later.
        let next = self.topology.node(id).next_deadline();
        self.agenda.set_later(component, next);
    }

    /// Calls an application at its deadline.
    pub fn wake_app(&mut self, number: u32) {
        let app = self.apps.get_mut(number);
        app.on_deadline(self.agenda.now(), self.observers.events());
        self.poll_app(number);
    }

    /// Passes on the packets of an application, and schedules its next call.
    pub fn poll_app(&mut self, number: u32) {
        let now = self.agenda.now();
        let at = self.apps.get(number).place().node;
        let Fabric { agenda, topology, apps, flows, observers, packets, .. } = self;
        match topology.node_mut(at).running() {
            Some(mut running) => packets.send(now, apps.get_mut(number), &mut running, observers),
            None => apps.send_without_forwarder(now, number, &mut packets.out),
        }
        apps.after_calls(agenda, number);
        if let Some(tracing) = observers.tracing() {
            tracing.app(now, number, apps.get(number), flows);
        }
        self.pump(at);
    }

    /// Moves packets from a node's forwarder to wires and applications, until none is ready.
    pub fn pump(&mut self, id: NodeId) {
        let now = self.agenda.now();
        let Fabric { agenda, topology, apps, flows, observers, packets, .. } = self;
        let (node, ends) = topology.node_and_ends(id);
        let Some(mut running) = node.running() else { return };
        while let Some(face) = running.forwarder.poll_ready() {
            match running.ports.get(face) {
                Port::Link { wire, .. } => {
                    let end = &mut ends[wire.index()];
                    drain(now, running.forwarder, face, &mut packets.out, |frame| match observers
                        .tracing()
                    {
                        None => end.wire_mut().send(now, frame),
                        Some(tracing) => tracing.send(now, *wire, end, frame),
                    });
                    agenda.set(end.component(), end.wire().next_arrival());
                }
                Port::App { app: number, .. } => {
                    let app = apps.get_mut(*number);
                    drain(now, running.forwarder, face, &mut packets.out, |frame| match frame {
                        Frame::Bytes(bytes) => app.receive(now, bytes),
                        Frame::Shared(bytes) => app.receive(now, &bytes),
                    });
                    packets.send(now, app, &mut running, observers);
                    apps.after_calls(agenda, *number);
                    if let Some(tracing) = observers.tracing() {
                        tracing.app(now, *number, apps.get(*number), flows);
                    }
                }
            }
        }
        if let Some(tracing) = observers.tracing() {
            tracing.flush(now, &running, &[]);
        }
        node.after_calls(now);
        agenda.set(node.component(), node.next_deadline());
    }

    /// Applies a fault that takes place now.
    pub fn apply(&mut self, fault: &Fault) {
        match fault {
            Fault::LinkDown(link) => self.topology.set_up(&mut self.agenda, *link, false),
            Fault::LinkUp(link) => self.topology.set_up(&mut self.agenda, *link, true),
            Fault::NodeCrash(node) => {
                if self.topology.crash(&mut self.agenda, *node) {
                    self.apps.crash(&mut self.agenda, *node);
                }
            }
            Fault::NodeRestart(node) => self.restart(*node),
            Fault::AddRoute { at, prefix, link, cost } => {
                // This cannot fail: the route was checked when the fault was scheduled.
                let _ = self.topology.add_route(*at, prefix, *link, *cost);
            }
            Fault::RemoveRoute { at, prefix, link } => {
                self.topology.remove_route(*at, prefix, *link);
            }
            Fault::Rate { link, backward, rate } => {
                let wire = WireId::of(*link, *backward);
                let sender = self.topology.set_rate(self.agenda.now(), wire, *rate);
                self.pump(sender);
            }
            Fault::Delay { link, backward, delay } => {
                self.topology.set_delay(WireId::of(*link, *backward), *delay);
            }
            Fault::Loss { link, backward, loss } => {
                self.topology.set_loss(self.seed, WireId::of(*link, *backward), *loss);
            }
        }
        self.trace_fault(fault);
    }

    fn restart(&mut self, id: NodeId) {
        let node = self.topology.node_mut(id);
        if node.forwarder().is_none() {
            node.restart(self.agenda.now(), self.seed);
            self.observers.collect_events(node);
        }
        self.pump(id);
    }

    /// Reports a fault to the tracer, with the flows that it ended.
    fn trace_fault(&mut self, fault: &Fault) {
        let now = self.agenda.now();
        let Some(tracing) = self.observers.tracing() else { return };
        tracing.fault(now, fault);
        match fault {
            Fault::NodeRestart(node) => tracing.listen(self.topology.node_mut(*node)),
            Fault::NodeCrash(_) => {
                for (number, app) in (0..).zip(self.apps.iter()) {
                    tracing.app(now, number, app, &self.flows);
                }
            }
            _ => {}
        }
    }
}

impl Packets {
    /// Passes the packets of an application to its forwarder.
    fn send(
        &mut self,
        now: Time,
        app: &mut App,
        node: &mut Running<'_>,
        observers: &mut Observers,
    ) {
        let (out, face) = (&mut self.out, app.place().face);
        out.clear();
        while app.poll_transmit(now, out) {
            if out.first().copied().map(u64::from) == Some(types::DATA) {
                let packet = self.buffers.packet(out);
                node.forwarder.receive(now, face, Arrival::Shared(&packet));
            } else {
                node.forwarder.receive(now, face, Arrival::Borrowed(out));
            }
            if let Some(tracing) = observers.tracing() {
                tracing.flush(now, node, out);
            }
            out.clear();
        }
    }
}

/// Takes all frames that a face may send now.
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
