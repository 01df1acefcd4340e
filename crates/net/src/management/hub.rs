//! Answers to hub discovery: `/localhop/nfd/rib/routable-prefixes`,
//! as ndn-autoconfig-server has it.

use super::dataset::Datasets;
use control::Time;
use packet::{Bytes, Interest, Name, NameRef};

/// The dataset's name.
const NAME: [&[u8]; 4] = [b"localhop", b"nfd", b"rib", b"routable-prefixes"];

/// Bytes of memory that answers take at most.
const KEPT: usize = 256 << 10;

/// The prefixes, and the answers that clients may still read.
#[derive(Debug, Default)]
pub(super) struct Hub {
    /// 1*Name
    content: Vec<u8>,
    /// Apart from the datasets of applications: peers must not push those out.
    datasets: Datasets,
}

impl Hub {
    /// Sets the prefixes.
    pub fn set(&mut self, prefixes: &[Name]) {
        self.content.clear();
        prefixes.iter().for_each(|prefix| prefix.encode_into(&mut self.content));
        self.datasets = Datasets::default();
    }

    /// True if there are no prefixes to report.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// True if the name is the dataset's, or of a part of it.
    pub fn is_asked(name: NameRef<'_>) -> bool {
        NAME.iter().enumerate().all(|(i, word)| name.get(i).is_some_and(|c| c.value() == *word))
    }

    /// The answer to an Interest for it.
    pub fn answer(&mut self, now: Time, wall_ms: u64, interest: &Interest<'_>) -> Option<Bytes> {
        if self.is_empty() {
            return None;
        }
        let published = self.datasets.published(now, interest);
        published.or_else(|| self.datasets.publish(now, wall_ms, interest, &self.content, KEPT))
    }

    /// Drops datasets that are too old.
    pub fn forget(&mut self, now: Time) {
        self.datasets.forget(now);
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.content.len() + self.datasets.memory()
    }
}
