//! The required time series of a run.

use crate::selector::Selector;
use scenario::series::{Row, Rows, Subject};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Times in seconds and values.
pub type Track = Vec<(f64, f64)>;

/// The key of a sample: kind of item, quantity, item.
type Key = (Subject, &'static str, Arc<str>);

/// Series of one run.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    tracks: BTreeMap<Key, Track>,
}

impl Samples {
    /// The series of a quantity, of all selected things.
    pub fn of<'s>(
        &'s self,
        selector: &'s Selector,
        quantity: &'static str,
    ) -> impl Iterator<Item = (&'s str, &'s Track)> {
        let all = self.tracks.iter();
        let meant = all.filter(move |((subject, known, entity), _)| {
            Some(*subject) == selector.subject && *known == quantity && selector.names(entity)
        });
        meant.map(|((.., entity), track)| (&**entity, track))
    }
}

/// A wanted series.
pub type Wanted = (Selector, &'static str);

/// Takes the rows of a run and keeps the required ones.
pub struct Collector {
    wanted: Vec<Wanted>,
    samples: Arc<Mutex<Samples>>,
}

impl Collector {
    /// Keeps the wanted series in `samples`.
    pub fn new(wanted: Vec<Wanted>, samples: Arc<Mutex<Samples>>) -> Collector {
        Collector { wanted, samples }
    }
}

impl Rows for Collector {
    fn row(&mut self, row: &Row<'_>) {
        let is_wanted = self.wanted.iter().any(|(selector, quantity)| {
            *quantity == row.quantity
                && selector.subject == Some(row.subject)
                && selector.names(row.entity)
        });
        if is_wanted {
            let key = (row.subject, row.quantity, Arc::clone(row.entity));
            let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            samples.tracks.entry(key).or_default().push((row.time_s, row.value));
        }
    }
}

/// Samples of the flow `c /x`.
#[cfg(test)]
pub fn flow_samples(quantity: &'static str, track: &[(f64, f64)]) -> Samples {
    let key = (Subject::Flow, quantity, Arc::from("c /x"));
    Samples { tracks: BTreeMap::from([(key, track.to_vec())]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_kept() {
        let samples = Arc::default();
        let wanted = vec![(Selector::new(Subject::Flow, "c"), "window")];
        let mut collector = Collector::new(wanted, Arc::clone(&samples));
        let entities: [Arc<str>; 3] = ["c /x".into(), "cc /x".into(), "c".into()];
        for (subject, entity, quantity) in [
            (Subject::Flow, 0, "window"),
            (Subject::Flow, 0, "rtt_ms"),
            (Subject::Flow, 1, "window"),
            (Subject::Node, 2, "window"),
        ] {
            let entity = &entities[entity];
            collector.row(&Row { time_s: 1.0, subject, entity, quantity, value: 5.0 });
        }
        let samples = samples.lock().unwrap();
        assert_eq!(samples.tracks.len(), 1);
        let all = Selector::new(Subject::Flow, "*");
        let found: Vec<_> = samples.of(&all, "window").collect();
        assert_eq!(found, [("c /x", &vec![(1.0, 5.0)])]);
    }
}
