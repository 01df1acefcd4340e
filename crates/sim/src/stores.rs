//! What content stores have answered, over time.

use control::Duration;

use crate::network::{Network, Target};
use record::{NodeId, StoreCounts, StoreSample};

/// The samples so far, and when the next one is due.
#[derive(Debug, Default)]
pub(crate) struct StoreSeries {
    every: Duration,
    component: Option<u32>,
    samples: Vec<StoreSample>,
    /// No more are taken.
    most: usize,
}

impl Network {
    /// Counts at intervals, from now on and at most so often, what stores and producers answer.
    pub fn watch_stores(&mut self, every: Duration, most: usize) {
        let component = match self.stores.component {
            Some(component) => component,
            None => self.component(Target::Stores),
        };
        self.stores = StoreSeries { every, component: Some(component), samples: Vec::new(), most };
        self.count_stores();
    }

    /// What was counted so far.
    #[must_use]
    pub fn store_samples(&self) -> &[StoreSample] {
        &self.stores.samples
    }

    /// What has been counted by now.
    #[must_use]
    pub fn store_sample(&self) -> StoreSample {
        let counts = (0..self.nodes.len() as u32).map(|node| self.store_counts(NodeId(node)));
        StoreSample { at: self.now, counts: counts.collect() }
    }

    pub(crate) fn store_counts(&self, at: NodeId) -> StoreCounts {
        let node = &self.nodes[at.index()];
        let life = node.forwarder.as_ref().map(|forwarder| forwarder.stats());
        let of = |past: u64, life: Option<u64>| past + life.unwrap_or(0);
        StoreCounts {
            hits: of(node.past.stats.hits, life.map(|stats| stats.hits)),
            misses: of(node.past.stats.misses, life.map(|stats| stats.misses)),
            served: self.served(at.0),
        }
    }

    pub(crate) fn count_stores(&mut self) {
        let sample = self.store_sample();
        let series = &mut self.stores;
        series.samples.push(sample);
        let goes_on = series.every > Duration::ZERO && series.samples.len() < series.most;
        if let Some(component) = series.component {
            self.events.set(component, goes_on.then(|| self.now + series.every));
        }
    }
}
