//! Applications: what sits at a local face of a node's forwarder.

use control::Time;
use forwarder::FaceId;

use crate::constant_rate::ConstantRate;
use crate::consumer::Consumer;
use crate::events::Component;
use crate::producer::Producer;
use crate::record::EventQueue;
use crate::spec::FlowId;

/// What an application does.
pub(crate) enum Role {
    Fetch(FlowId, Box<Consumer>),
    Rate(Box<ConstantRate>),
    Publish(Producer),
}

/// An application.
pub(crate) struct App {
    pub node: u32,
    pub face: FaceId,
    pub component: Component,
    pub role: Role,
}

impl App {
    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.receive(now, frame),
            Role::Rate(consumer) => consumer.receive(now, frame),
            Role::Publish(producer) => producer.receive(frame),
        }
    }

    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.poll_transmit(now, out),
            Role::Rate(consumer) => consumer.poll_transmit(now, out),
            Role::Publish(producer) => producer.poll_transmit(out),
        }
    }

    pub fn on_deadline(&mut self, now: Time, events: Option<&EventQueue>) {
        match &mut self.role {
            Role::Fetch(flow, consumer) => {
                consumer.begin(now, *flow, events);
                consumer.on_deadline(now);
            }
            Role::Rate(consumer) => consumer.on_deadline(now),
            Role::Publish(_) => {}
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
            Role::Publish(_) => None,
        }
    }

    /// The instant at which it wants to be called first.
    pub fn first_deadline(&mut self) -> Option<Time> {
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.next_deadline(Time::ZERO),
            Role::Rate(consumer) => consumer.next_deadline(),
            Role::Publish(_) => None,
        }
    }

    pub fn crash(&mut self, now: Time) {
        match &mut self.role {
            Role::Fetch(_, consumer) => consumer.crash(now),
            Role::Rate(consumer) => consumer.crash(now),
            Role::Publish(producer) => producer.crash(),
        }
    }
}
