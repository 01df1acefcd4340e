//! The clock and the event list. Each event is a call of a component.

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

/// The clock of a network, and the scheduled calls of its components.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    now: Time,
    events: EventList,
    targets: Vec<Target>,
    calls: u64,
}

impl Agenda {
    /// Adds a component without a scheduled call.
    pub fn add(&mut self, target: Target) -> Component {
        self.targets.push(target);
        self.events.add()
    }

    /// The current time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of calls so far, without those of the sampler: an observer must not change it.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The instant of the next call.
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.events.peek().map(|(at, _)| at)
    }

    /// Moves the clock to the next call if it is due by `until`, and returns its component. The
    /// call stays scheduled until the component's instant is changed.
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

    /// Schedules the call of a component, not before now; `None` cancels it.
    #[inline]
    pub fn set(&mut self, component: Component, at: Option<Time>) {
        self.events.set(component, at.map(|at| at.max(self.now)));
    }

    /// Schedules the next call of a component that has handled everything due now: the call is at
    /// least 1 ns later.
    #[inline]
    pub fn set_later(&mut self, component: Component, at: Option<Time>) {
        self.events.set(component, at.map(|at| at.max(self.now + Duration(1))));
    }

    /// Cancels the calls of all components except applications and workloads.
    pub fn keep_applications(&mut self) {
        for (component, target) in (0..).zip(&self.targets) {
            if !matches!(target, Target::App(_) | Target::Workload(_)) {
                self.events.set(component, None);
            }
        }
    }
}
