//! The scheduled faults of a network.

use control::Time;
use std::collections::BTreeMap;

use crate::agenda::{Agenda, Target};
use crate::events::Component;
use crate::fabric::Fabric;
use crate::fault::Fault;

/// Scheduled faults, ordered by instant, then by the order in which they were added.
pub(crate) struct FaultPlan {
    waiting: BTreeMap<(Time, u64), Fault>,
    announced: u64,
    component: Component,
}

impl FaultPlan {
    pub fn new(agenda: &mut Agenda) -> FaultPlan {
        let component = agenda.add(Target::Faults);
        FaultPlan { waiting: BTreeMap::new(), announced: 0, component }
    }

    /// Schedules a fault; one in the past takes place now.
    pub fn add(&mut self, agenda: &mut Agenda, when: Time, fault: Fault) {
        self.waiting.insert((when.max(agenda.now()), self.announced), fault);
        self.announced += 1;
        self.schedule(agenda);
    }

    /// Applies the faults that are due.
    pub fn wake(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        while let Some(first) = self.waiting.first_entry().filter(|first| first.key().0 <= now) {
            fabric.apply(&first.remove());
        }
        self.schedule(fabric.agenda_mut());
    }

    fn schedule(&self, agenda: &mut Agenda) {
        let first = self.waiting.first_key_value().map(|((at, _), _)| *at);
        agenda.set(self.component, first);
    }
}
