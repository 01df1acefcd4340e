//! Applications: what sits at a local face of a node's forwarder.

use control::Time;
use forwarder::FaceId;

use crate::constant_rate::ConstantRate;
use crate::consumer::Consumer;
use crate::events::Component;
use crate::in_order::InOrder;
use crate::producer::Producer;
use crate::reported::EventQueue;
use crate::service::Service;
use crate::workload::Born;
use crate::workload::chunks::Chunks;
use crate::workload::publisher::Publisher;
use crate::workload::video::Player;
use record::{FlowId, FlowResult, FlowSample};

/// What an application does.
pub(crate) enum Role {
    Fetch(FlowId, Box<Consumer>),
    Rate(Box<ConstantRate>),
    Publish(Box<Producer>),
    InOrder(Box<InOrder>),
    Catalogue(Box<Publisher>),
    Chunks(Box<Chunks>),
    Video(FlowId, Box<Player>),
    /// Its flow is over; another one may have its place.
    Free,
}

/// An application.
pub(crate) struct App {
    pub node: u32,
    pub face: FaceId,
    pub component: Component,
    pub role: Role,
    /// Whose flow it is, if it began by itself.
    pub born: Option<Born>,
    /// Of a producer that takes its time: what waits for it.
    pub service: Option<Service>,
    /// Packets that it gave its forwarder.
    pub spoken: u64,
}

impl App {
    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        match &mut self.service {
            Some(service) => service.receive(now, frame),
            None => self.hear(now, frame),
        }
    }

    fn hear(&mut self, now: Time, frame: &[u8]) {
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
        while !self.say(now, out) {
            let served = self.service.as_mut().and_then(|service| service.served(now));
            let Some(frame) = served else { return false };
            self.hear(now, &frame);
        }
        true
    }

    fn say(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let spoke = match &mut self.role {
            Role::Fetch(_, consumer) => consumer.poll_transmit(now, out),
            Role::Rate(consumer) => consumer.poll_transmit(now, out),
            Role::Publish(producer) => producer.poll_transmit(out),
            Role::InOrder(producer) => producer.poll_transmit(now, out),
            Role::Catalogue(publisher) => publisher.poll_transmit(out),
            Role::Chunks(chunks) => chunks.poll_transmit(out),
            Role::Video(_, player) => player.poll_transmit(now, out),
            Role::Free => false,
        };
        self.spoken += u64::from(spoke);
        spoke
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
            // What is due is sent when the application is polled.
            Role::Publish(_) | Role::InOrder(_) | Role::Catalogue(_) | Role::Free => {}
        }
    }

    /// All calls at this instant were made: measures, and says when to call again.
    pub fn settle(&mut self, now: Time) -> Option<Time> {
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

    /// A flow that began by itself is over.
    pub fn has_died(&self) -> bool {
        self.born.is_some() && self.is_over()
    }

    /// Whether it is a consumer.
    pub fn asks(&self) -> bool {
        !self.publishes() && !matches!(self.role, Role::Free)
    }

    /// Whether it is a producer.
    pub fn publishes(&self) -> bool {
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

    /// The instant at which it wants to be called first.
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
