//! Answers of content stores and producers over time.

use crate::moments::Moments;
use control::{Duration, Time};
use record::{NetworkSample, StoreCounts, StoreSample};
use scenario::model::Scenario;
use scenario::result::{Caching, sampling};

/// By node, the counts at an instant.
fn counts(moments: &Moments, at: Duration) -> Vec<StoreCounts> {
    let mut counts = Vec::new();
    for moments in moments {
        let later = moments.partition_point(|one| one.since <= at);
        let last = later.checked_sub(1).map(|place| &moments[place].counters);
        counts.push(last.map_or_else(StoreCounts::default, |last| StoreCounts {
            hits: last.content_store.counters.hits,
            misses: last.content_store.counters.misses,
            served: last.served(),
        }));
    }
    counts
}

fn sample(moments: &Moments, at: Duration) -> StoreSample {
    StoreSample { at: Time::ZERO + at, counts: counts(moments, at) }
}

/// Of all nodes together.
pub fn together(moments: &Moments, at: Duration) -> NetworkSample {
    let mut sum = NetworkSample { at: Time::ZERO + at, ..NetworkSample::default() };
    for StoreCounts { hits, misses, served } in counts(moments, at) {
        (sum.hits, sum.misses) = (sum.hits + hits, sum.misses + misses);
        sum.served += served;
    }
    sum
}

/// The savings of content stores, if there are any.
pub fn caching(scenario: &Scenario, moments: &Moments, duration: Duration) -> Option<Caching> {
    let (every, most) = sampling(scenario)?;
    let instants = (0..most as u64).map(|number| Duration(every.0 * number));
    let samples: Vec<_> =
        instants.take_while(|at| *at <= duration).map(|at| sample(moments, at)).collect();
    Caching::new(scenario, &samples, &sample(moments, duration))
}
