//! The clock and the list of events: each event is a call of a component.

use control::{Duration, Time};

use crate::events::{Component, EventList};

/// A component.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Node(u32),
    Wire(u32),
    App(u32),
    Workload(u32),
    Stores,
    Faults,
    Sampler,
}

/// The clock of a network, and the calls that its components have asked for.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    now: Time,
    events: EventList,
    targets: Vec<Target>,
    calls: u64,
}

impl Agenda {
    /// Adds a component that has not asked for a call.
    pub fn add(&mut self, target: Target) -> Component {
        self.targets.push(target);
        self.events.add()
    }

    /// The instant that was reached.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Calls of components so far, without those of the sampler: observation is no event.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The instant of the next call.
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.events.peek().map(|(at, _)| at)
    }

    /// Moves the clock to the next call if it is due by `until`. The component stays on the agenda
    /// until it asks for another instant, or for none.
    #[inline]
    pub fn begin(&mut self, until: Time) -> Option<Target> {
        let (at, component) = self.events.peek().filter(|(at, _)| *at <= until)?;
        self.reach(at);
        let target = self.targets[component as usize];
        if !matches!(target, Target::Sampler) {
            self.calls += 1;
        }
        Some(target)
    }

    /// Moves the clock forward.
    pub fn reach(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Has a component called at an instant, now at the earliest; not at all for `None`.
    #[inline]
    pub fn set(&mut self, component: Component, at: Option<Time>) {
        self.events.set(component, at.map(|at| at.max(self.now)));
    }

    /// The same for a component that has done all that was due: it is not called again now.
    #[inline]
    pub fn set_later(&mut self, component: Component, at: Option<Time>) {
        self.events.set(component, at.map(|at| at.max(self.now + Duration(1))));
    }

    /// Cancels the calls of all components but applications and workloads.
    pub fn keep_applications(&mut self) {
        for (component, target) in (0..).zip(&self.targets) {
            if !matches!(target, Target::App(_) | Target::Workload(_)) {
                self.events.set(component, None);
            }
        }
    }
}
