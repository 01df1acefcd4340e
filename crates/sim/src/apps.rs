//! The applications of a network.

use control::Time;
use record::NodeId;

use crate::agenda::{Agenda, Target};
use crate::app::{App, Role};
use crate::link_end::Endpoint;
use crate::node::{Node, Port};
use crate::outbox::Outbox;
use crate::service::Service;
use crate::spec::ServiceSpec;

/// Applications by their numbers.
#[derive(Default)]
pub(crate) struct Apps {
    apps: Vec<App>,
    /// Applications whose workload flow has ended; may contain duplicates.
    ended: Vec<u32>,
    /// Collected frames, if the applications have no forwarders in this network.
    outbox: Option<Box<Outbox>>,
}

impl Apps {
    /// Adds an application to a node, with a face.
    pub fn add(&mut self, agenda: &mut Agenda, node: &mut Node, role: Role) -> u32 {
        let number = self.apps.len() as u32;
        let component = agenda.add(Target::App(number));
        let pushes = matches!(role, Role::InOrder(_));
        let face = node.add_port(agenda.now(), Port::App { app: number, pushes });
        let mut app = App::new(Endpoint { node: node.id(), face }, component, role);
        agenda.set(component, app.first_deadline());
        self.apps.push(app);
        number
    }

    /// Sets the service time of a producer; `None` answers at once.
    pub fn serve(&mut self, number: u32, service: Option<ServiceSpec>) {
        self.get_mut(number).set_service(service.map(Service::new));
    }

    pub fn len(&self) -> usize {
        self.apps.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &App> {
        self.apps.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut App> {
        self.apps.iter_mut()
    }

    #[inline]
    pub fn get(&self, number: u32) -> &App {
        &self.apps[number as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut App {
        &mut self.apps[number as usize]
    }

    /// The number of packets sent by the producers at a node.
    pub fn served(&self, node: &Node) -> u64 {
        let producers =
            node.applications().map(|app| self.get(app)).filter(|app| app.is_producer());
        producers.map(App::sent).sum()
    }

    /// Call it after an application has done everything due: schedules its next call, and records
    /// the end of its flow.
    #[inline]
    pub fn after_calls(&mut self, agenda: &mut Agenda, number: u32) {
        let app = &mut self.apps[number as usize];
        agenda.set_later(app.component(), app.after_calls(agenda.now()));
        if app.has_ended() {
            self.ended.push(number);
        }
    }

    /// Crashes the applications of a node.
    pub fn crash(&mut self, agenda: &mut Agenda, node: NodeId) {
        let now = agenda.now();
        for (number, app) in (0..).zip(&mut self.apps).filter(|(_, app)| app.place().node == node) {
            app.crash(now);
            agenda.set(app.component(), app.after_calls(now));
            self.ended.extend(app.has_ended().then_some(number));
        }
    }

    /// Takes an application whose workload flow has ended.
    #[inline]
    pub fn next_ended(&mut self) -> Option<u32> {
        self.ended.pop()
    }

    /// Collects the frames of applications without a forwarder from now on.
    pub fn collect(&mut self) {
        self.outbox = Some(Box::default());
    }

    /// The collected frames.
    pub fn outbox_mut(&mut self) -> Option<&mut Outbox> {
        self.outbox.as_deref_mut()
    }

    /// Takes the frames of an application whose node has no forwarder. Without an outbox they are
    /// lost, as on a closed connection.
    pub fn send_without_forwarder(&mut self, now: Time, number: u32, scratch: &mut Vec<u8>) {
        let app = &mut self.apps[number as usize];
        if let Some(outbox) = &mut self.outbox {
            return outbox.take(now, number as usize, app);
        }
        scratch.clear();
        while app.poll_transmit(now, scratch) {
            scratch.clear();
        }
    }
}
