//! What `weir put` and `weir get` do. The rest is the simulator's own applications.

use scenario::model::{Consumer, Content, Manner, Objects, Scenario, Signing, Spread};

/// Whether `weir put` publishes a content: an object that is whole at each of its producers, who
/// take no time, and for whose version everybody looks.
pub fn puts(scenario: &Scenario, content: usize) -> bool {
    let Content { objects, service, placement, .. } = &scenario.contents[content];
    let looks = |one: &&Consumer| !matches!(one.manner, Manner::Constant { .. });
    let mut consumers = scenario.consumers.iter().filter(|one| one.content == content);
    let asked = || scenario.workloads.iter().any(|workload| workload.contents.contains(&content));
    *objects == Objects::One
        && service.is_none()
        && *placement == Spread::Replicated
        && consumers.all(|one| looks(&one))
        && !asked()
}

/// Whether `weir get` is a consumer: one that fetches what it can verify.
pub fn gets(scenario: &Scenario, consumer: &Consumer) -> bool {
    let signed = scenario.contents[consumer.content].signing == Signing::Manifest;
    matches!(consumer.manner, Manner::Fetch { .. }) && (signed || puts(scenario, consumer.content))
}
