//! The observers of a run. They do not change it.

use control::{Duration, Time};
use record::{PacketHop, Recorder};
use std::sync::{Arc, Mutex};

use crate::agenda::{Agenda, Target};
use crate::events::Component;
use crate::node::Node;
use crate::reported::EventQueue;
use crate::trace::Trace;
use crate::tracer::Tracing;

/// The trace hash of the run, a recorder and a tracer.
pub(crate) struct Observers {
    trace: Trace,
    recorder: Option<Box<dyn Recorder>>,
    /// The sampling interval; zero disables sampling.
    every: Duration,
    sampler: Component,
    /// Events of scheme parts, if the recorder receives them.
    events: Option<EventQueue>,
    tracing: Option<Box<Tracing>>,
}

impl Observers {
    pub fn new(agenda: &mut Agenda) -> Observers {
        Observers {
            trace: Trace::new(),
            recorder: None,
            every: Duration::ZERO,
            sampler: agenda.add(Target::Sampler),
            events: None,
            tracing: None,
        }
    }

    /// Records the arrival of a frame at a node.
    #[inline]
    pub fn arrived(&mut self, hop: &PacketHop<'_>) {
        self.trace.add(hop);
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(hop);
        }
    }

    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Calls `recorder` from now on, with samples at the interval `every`.
    pub fn record(
        &mut self,
        agenda: &mut Agenda,
        nodes: &mut [Node],
        every: Duration,
        recorder: Box<dyn Recorder>,
    ) {
        self.events = recorder.wants_events().then(|| Arc::new(Mutex::new(Vec::new())));
        for node in nodes {
            self.collect_events(node);
        }
        self.recorder = Some(recorder);
        self.every = every;
        self.schedule_sample(agenda, agenda.now());
    }

    /// Schedules the next sample.
    pub fn schedule_sample(&self, agenda: &mut Agenda, at: Time) {
        agenda.set(self.sampler, (self.every > Duration::ZERO).then_some(at));
    }

    pub fn every(&self) -> Duration {
        self.every
    }

    /// Stops sampling.
    pub fn stop_samples(&mut self) {
        self.every = Duration::ZERO;
    }

    pub fn take_recorder(&mut self) -> Option<Box<dyn Recorder>> {
        self.recorder.take()
    }

    pub fn put_recorder(&mut self, recorder: Box<dyn Recorder>) {
        self.recorder = Some(recorder);
    }

    /// Connects the scheme parts of a node to the recorder, if it receives events.
    pub fn collect_events(&self, node: &mut Node) {
        if let Some(events) = &self.events {
            node.report_to(events);
        }
    }

    /// The queue of events, if the recorder receives them.
    #[inline]
    pub fn events(&self) -> Option<&EventQueue> {
        self.events.as_ref()
    }

    /// Passes the queued events to the recorder.
    #[inline]
    pub fn report_events(&mut self) {
        let (Some(queue), Some(recorder)) = (&self.events, &mut self.recorder) else { return };
        if let Ok(mut queue) = queue.lock() {
            queue.drain(..).for_each(|(origin, event)| recorder.event(origin, &event));
        }
    }

    pub fn set_tracing(&mut self, tracing: Option<Box<Tracing>>) {
        self.tracing = tracing;
    }

    pub fn take_tracing(&mut self) -> Option<Box<Tracing>> {
        self.tracing.take()
    }

    #[inline]
    pub fn tracing(&mut self) -> Option<&mut Tracing> {
        self.tracing.as_deref_mut()
    }
}
