//! The publications of producers.

use super::planned::PlannedContent;
use super::tools;
use control::Size;
use forwarder::tables::ContentStoreConfig;
use scenario::model::{Scenario, Signing};

/// The minimum bytes of a publication: a fetch must find some data.
const LEAST: u64 = 1_000_000;
/// The overhead of a packet in a content store.
const AROUND: u64 = 1_000;

/// Every content at each of its producers, up to the part that can be fetched: bytes that cannot be
/// reached during the run need not be made, hashed and stored.
pub fn planned(scenario: &Scenario) -> Vec<PlannedContent> {
    let mut planned = Vec::new();
    for (number, content) in scenario.contents.iter().enumerate() {
        if !tools::puts(scenario, number) {
            continue;
        }
        let consumers = scenario.consumers.iter().filter(|one| one.content == number);
        let times = consumers.map(|one| scenario.duration.saturating_sub(one.start));
        let time = times.max().unwrap_or_default();
        for at in &content.at {
            // A producer's own consumers have no limit.
            let is_near = scenario.consumers.iter().any(|c| c.content == number && c.at == *at);
            let reach = if is_near { u64::MAX } else { most(scenario, *at, time.as_secs_f64()) };
            planned.push(PlannedContent {
                content: number,
                at: *at,
                name: content.name.to_string(),
                size: Size(content.size.0.min(reach.max(LEAST))),
                segment: content.segment,
            });
        }
    }
    planned
}

/// Contents that differ from the scenario.
pub fn notes(scenario: &Scenario) -> Vec<String> {
    let contents = scenario.contents.iter().enumerate();
    let plain = contents.filter(|(number, content)| {
        content.signing != Signing::Manifest && tools::puts(scenario, *number)
    });
    let names: Vec<_> = plain.map(|(_, content)| content.name.to_string()).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let names = names.join(", ");
    vec![format!(
        "{names}: every segment has a digest and a manifest lists them, as `weir put` does"
    )]
}

/// The memory of a content store in bytes; its limit may be in packets.
pub fn store(scenario: &Scenario, store: &ContentStoreConfig) -> u64 {
    let largest = scenario.contents.iter().map(|content| content.segment.0).max().unwrap_or(0);
    let packets = (store.packets as u64).saturating_mul(largest + AROUND);
    packets.min(store.capacity as u64)
}

/// The bytes that a node's links can send in this many seconds.
fn most(scenario: &Scenario, at: usize, seconds: f64) -> u64 {
    let rates = scenario.links.iter().flat_map(|link| {
        (0..2).filter(|end| link.ends[*end] == at).map(|end| link.directions[end].rate.0)
    });
    (rates.sum::<u64>() as f64 / 8.0 * seconds) as u64
}
