//! The daemons' counters over the time of a run, and over all restarts.

use crate::counters::Counters;
use crate::readings::{Reading, Usage};
use control::{Duration, Time};

/// A daemon at an instant of the run, with the counters and resources of earlier instances.
pub struct Moment {
    /// When.
    pub since: Duration,
    /// Its counters.
    pub counters: Counters,
    /// Its resources.
    pub usage: Option<Usage>,
}

/// The moments of each node.
pub type Moments = Vec<Vec<Moment>>;

/// From the readings of each node, for a run that began at an instant.
pub fn moments(origin: Time, readings: &[Vec<Reading>]) -> Moments {
    readings.iter().map(|all| of_daemon(origin, all)).collect()
}

fn of_daemon(origin: Time, readings: &[Reading]) -> Vec<Moment> {
    let (mut before, mut cpu_before) = (Counters::default(), Duration::ZERO);
    let mut last: Option<&Reading> = None;
    let readings = readings.iter().filter(|one| one.at >= origin);
    readings
        .map(|reading| {
            let mut counters = reading.counters.clone();
            if let Some(last) = last.filter(|last| counters.uptime_ms < last.counters.uptime_ms) {
                let mut all = last.counters.clone();
                all.crash();
                all.add(&before);
                before = all;
                cpu_before += last.usage.map(|usage| usage.cpu).unwrap_or_default();
            }
            last = Some(reading);
            counters.add(&before);
            let usage = reading.usage.map(|now| Usage { cpu: now.cpu + cpu_before, ..now });
            Moment { since: reading.at.since(origin), counters, usage }
        })
        .collect()
}
