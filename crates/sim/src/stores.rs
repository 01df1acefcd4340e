//! Samples of the answers of content stores and producers.

use control::Duration;

use crate::agenda::Target;
use crate::events::Component;
use crate::fabric::Fabric;
use crate::node::Node;
use record::{Answers, StoreSample};

/// The samples so far, and the timer for the next one.
#[derive(Debug, Default)]
pub(crate) struct StoreSeries {
    every: Duration,
    component: Option<Component>,
    samples: Vec<StoreSample>,
    /// The maximum number of samples.
    most: usize,
}

impl StoreSeries {
    /// Takes at most `most` samples at the interval `every`, the first one now.
    pub fn watch(&mut self, fabric: &mut Fabric, every: Duration, most: usize) {
        let component = self.component.unwrap_or_else(|| fabric.agenda_mut().add(Target::Stores));
        *self = StoreSeries { every, component: Some(component), samples: Vec::new(), most };
        self.wake(fabric);
    }

    pub fn samples(&self) -> &[StoreSample] {
        &self.samples
    }

    /// Takes a sample that is due.
    pub fn wake(&mut self, fabric: &mut Fabric) {
        self.samples.push(sample(fabric));
        let Some(component) = self.component else { return };
        let continues = self.every > Duration::ZERO && self.samples.len() < self.most;
        let next = continues.then(|| fabric.now() + self.every);
        fabric.agenda_mut().set(component, next);
    }
}

/// The answers of all nodes.
pub(crate) fn sample(fabric: &Fabric) -> StoreSample {
    let nodes = fabric.topology().nodes().iter();
    StoreSample { at: fabric.now(), answers: nodes.map(|node| answers(fabric, node)).collect() }
}

/// The answers of a node.
pub(crate) fn answers(fabric: &Fabric, node: &Node) -> Answers {
    node.answers(fabric.apps().served(node))
}
