//! Answers of content stores and producers over time.

use crate::counters::Counters;
use crate::moments::Moments;
use control::{Duration, Time};
use record::{Answers, NetworkSample, StoreSample};
use scenario::model::Scenario;
use scenario::result::{Caching, sampling};

/// By node, the answers until an instant.
fn answers(moments: &Moments, at: Duration) -> Vec<Answers> {
    let mut answers = Vec::new();
    for moments in moments {
        let later = moments.partition_point(|one| one.since <= at);
        let last = later.checked_sub(1).map(|place| &moments[place].counters);
        answers.push(last.map_or_else(Answers::default, Counters::answers));
    }
    answers
}

fn sample(moments: &Moments, at: Duration) -> StoreSample {
    StoreSample { at: Time::ZERO + at, answers: answers(moments, at) }
}

/// Of all nodes together.
pub fn together(moments: &Moments, at: Duration) -> NetworkSample {
    let mut sum = NetworkSample { at: Time::ZERO + at, ..NetworkSample::default() };
    answers(moments, at).iter().for_each(|node| sum.answers += node);
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
