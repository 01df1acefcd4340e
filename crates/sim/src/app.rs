//! Applications, each connected to a local face of a node's forwarder.

use control::Time;
use packet::Name;

use crate::constant_rate::ConstantRate;
use crate::consumer::Consumer;
use crate::events::Component;
use crate::in_order::InOrder;
use crate::link_end::Endpoint;
use crate::producer::Producer;
use crate::reported::EventQueue;
use crate::service::Service;
use crate::workload::Born;
use crate::workload::chunks::Chunks;
use crate::workload::publisher::Publisher;
use crate::workload::video::Player;
use record::{FlowId, FlowResult, FlowSample};

/// The role of an application.
pub(crate) enum Role {
    Fetch(FlowId, Box<Consumer>),
    Rate(Box<ConstantRate>),
    Publish(Box<Producer>),
    InOrder(Box<InOrder>),
    Catalogue(Box<Publisher>),
    Chunks(Box<Chunks>),
    Video(FlowId, Box<Player>),
    /// No role: the flow has ended, and another one may use the application.
    Free,
}

/// An ended workload flow.
pub(crate) struct Retired {
    pub born: Born,
    pub result: FlowResult,
}

/// An application.
pub(crate) struct App {
    place: Endpoint,
    component: Component,
    role: Role,
    /// Its flow, if a workload started it.
    born: Option<Born>,
    /// The queue of a producer with a service time.
    service: Option<Service>,
    /// Packets sent to the forwarder.
    sent: u64,
}

impl App {
    /// Creates an application that has not started.
    pub fn new(place: Endpoint, component: Component, role: Role) -> App {
        App { place, component, role, born: None, service: None, sent: 0 }
    }

    /// Its node, and the face of the node's forwarder.
    #[inline]
    pub fn place(&self) -> Endpoint {
        self.place
    }

    #[inline]
    pub fn component(&self) -> Component {
        self.component
    }

    /// The number of packets sent to the forwarder.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    pub fn born(&self) -> Option<Born> {
        self.born
    }

    /// Sets the queue of a producer with a service time.
    pub fn set_service(&mut self, service: Option<Service>) {
        self.service = service;
    }

    /// Starts a workload flow.
    pub fn begin(&mut self, role: Role, born: Born) {
        self.role = role;
        self.born = Some(born);
    }

    /// Removes the workload flow if it has ended, and returns its result.
    pub fn retire(&mut self, now: Time) -> Option<Retired> {
        let born = self.born.filter(|_| self.is_over())?;
        let mut result = FlowResult::default();
        self.result(now, &mut result);
        self.role = Role::Free;
        self.born = None;
        Some(Retired { born, result })
    }

    /// The producer of a node's objects, if this is its role.
    pub fn producer_mut(&mut self) -> Option<&mut Producer> {
        match &mut self.role {
            Role::Publish(producer) => Some(producer),
            _ => None,
        }
    }

    /// The requests for chunks, if this is its role.
    pub fn chunks(&self) -> Option<&Chunks> {
        match &self.role {
            Role::Chunks(chunks) => Some(chunks),
            _ => None,
        }
    }

    /// The requests for chunks, mutable, if this is its role.
    pub fn chunks_mut(&mut self) -> Option<&mut Chunks> {
        match &mut self.role {
            Role::Chunks(chunks) => Some(chunks),
            _ => None,
        }
    }

    /// Lets a producer hash up to `most` bytes of these objects now rather than at the first
    /// request. The producer of a catalogue takes its first objects instead.
    pub fn make_ready(&mut self, names: &[Name], most: u64) {
        match &mut self.role {
            Role::Publish(producer) => producer.make_ready(names, most),
            Role::Catalogue(publisher) => publisher.make_ready(most),
            _ => {}
        }
    }

    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        match &mut self.service {
            Some(service) => service.receive(now, frame),
            None => self.answer(now, frame),
        }
    }

    fn answer(&mut self, now: Time, frame: &[u8]) {
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.receive(now, frame),
            Role::Rate(consumer) => consumer.receive(now, frame),
            Role::Publish(producer) => producer.receive(frame),
            Role::InOrder(producer) => producer.receive(now, frame),
            Role::Catalogue(publisher) => publisher.receive(frame),
            Role::Chunks(chunks) => chunks.receive(now, frame),
            Role::Video(_, player) => player.receive(now, frame),
            Role::Free => {}
        }
    }

    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        while !self.poll_role(now, out) {
            let served = self.service.as_mut().and_then(|service| service.served(now));
            let Some(frame) = served else { return false };
            self.answer(now, &frame);
        }
        true
    }

    fn poll_role(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let sends = match &mut self.role {
            Role::Fetch(_, consumer) => consumer.poll_transmit(now, out),
            Role::Rate(consumer) => consumer.poll_transmit(now, out),
            Role::Publish(producer) => producer.poll_transmit(out),
            Role::InOrder(producer) => producer.poll_transmit(now, out),
            Role::Catalogue(publisher) => publisher.poll_transmit(out),
            Role::Chunks(chunks) => chunks.poll_transmit(out),
            Role::Video(_, player) => player.poll_transmit(now, out),
            Role::Free => false,
        };
        self.sent += u64::from(sends);
        sends
    }

    pub fn on_deadline(&mut self, now: Time, events: Option<&EventQueue>) {
        match &mut self.role {
            Role::Fetch(flow, consumer) => {
                let events = events.filter(|_| *flow != FlowId::UNLISTED);
                consumer.begin(now, *flow, events);
                consumer.on_deadline(now);
            }
            Role::Rate(consumer) => consumer.on_deadline(now),
            Role::Chunks(chunks) => chunks.on_deadline(now),
            Role::Video(flow, player) => {
                let events = events.filter(|_| *flow != FlowId::UNLISTED);
                player.on_deadline(now, *flow, events);
            }
            // Due packets are sent when the application is polled.
            Role::Publish(_) | Role::InOrder(_) | Role::Catalogue(_) | Role::Free => {}
        }
    }

    /// Call it after all other calls at an instant: measures, and returns the instant of the next
    /// call.
    pub fn after_calls(&mut self, now: Time) -> Option<Time> {
        match &mut self.role {
            Role::Fetch(_, consumer) => {
                consumer.look(now);
                if consumer.is_over() { None } else { consumer.next_deadline(now) }
            }
            Role::Rate(consumer) => consumer.next_deadline(),
            Role::Chunks(chunks) => chunks.next_deadline(),
            Role::Video(_, player) => {
                player.look(now);
                if player.is_over() { None } else { player.next_deadline(now) }
            }
            Role::Publish(_) | Role::Catalogue(_) => {
                self.service.as_ref().and_then(Service::next_deadline)
            }
            Role::InOrder(producer) => producer.next_deadline(),
            Role::Free => None,
        }
    }

    /// True if a workload flow has ended.
    pub fn has_ended(&self) -> bool {
        self.born.is_some() && self.is_over()
    }

    /// True if it is a consumer.
    pub fn is_consumer(&self) -> bool {
        !self.is_producer() && !matches!(self.role, Role::Free)
    }

    /// True if it is a producer.
    pub fn is_producer(&self) -> bool {
        matches!(self.role, Role::Publish(_) | Role::InOrder(_) | Role::Catalogue(_))
    }

    pub fn is_over(&self) -> bool {
        match &self.role {
            Role::Fetch(_, consumer) => consumer.is_over(),
            Role::Rate(consumer) => consumer.is_over(),
            Role::Chunks(chunks) => chunks.is_over(),
            Role::Video(_, player) => player.is_over(),
            Role::Publish(_) | Role::InOrder(_) | Role::Catalogue(_) | Role::Free => true,
        }
    }

    pub fn sample(&self, at: Time, flow: FlowId) -> Option<FlowSample> {
        match &self.role {
            Role::Fetch(_, consumer) => consumer.sample(at, flow),
            Role::Rate(consumer) => consumer.sample(at, flow),
            Role::Chunks(chunks) => chunks.sample(at, flow),
            Role::Video(_, player) => player.sample(at, flow),
            Role::Publish(_) | Role::InOrder(_) | Role::Catalogue(_) | Role::Free => None,
        }
    }

    pub fn result(&self, now: Time, result: &mut FlowResult) {
        match &self.role {
            Role::Fetch(_, consumer) => consumer.result(result),
            Role::Rate(consumer) => consumer.result(result),
            Role::Chunks(chunks) => chunks.result(result),
            Role::Video(_, player) => player.result(now, result),
            Role::Publish(_) | Role::InOrder(_) | Role::Catalogue(_) | Role::Free => {}
        }
    }

    /// The instant of the first call.
    pub fn first_deadline(&mut self) -> Option<Time> {
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.next_deadline(Time::ZERO),
            Role::Rate(consumer) => consumer.next_deadline(),
            Role::Chunks(chunks) => chunks.next_deadline(),
            Role::Video(_, player) => player.next_deadline(Time::ZERO),
            Role::InOrder(producer) => producer.next_deadline(),
            Role::Publish(_) | Role::Catalogue(_) | Role::Free => None,
        }
    }

    pub fn crash(&mut self, now: Time) {
        if let Some(service) = &mut self.service {
            service.crash();
        }
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.crash(now),
            Role::Rate(consumer) => consumer.crash(now),
            Role::Publish(producer) => producer.crash(),
            Role::InOrder(producer) => producer.crash(),
            Role::Catalogue(publisher) => publisher.crash(),
            Role::Chunks(chunks) => chunks.crash(now),
            Role::Video(_, player) => player.crash(now),
            Role::Free => {}
        }
    }
}
