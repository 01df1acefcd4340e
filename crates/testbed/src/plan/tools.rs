//! The part of `weir put` and `weir get`. The rest runs the simulator's own applications.

use scenario::model::{Consumer, Content, Manner, Objects, Scenario, Signing, Spread};

/// Returns `true` if `weir put` publishes a content: an object that is complete at each of its
/// producers, without processing time, and whose version consumers discover.
pub fn puts(scenario: &Scenario, content: usize) -> bool {
    let Content { objects, service, placement, .. } = &scenario.contents[content];
    // These do not discover its version.
    let is_for_constant_rate = scenario
        .consumers
        .iter()
        .any(|one| one.content == content && matches!(one.manner, Manner::Constant { .. }));
    let is_for_workload =
        scenario.workloads.iter().any(|workload| workload.contents.contains(&content));
    *objects == Objects::One
        && service.is_none()
        && *placement == Spread::Replicated
        && !is_for_constant_rate
        && !is_for_workload
}

/// Returns `true` if `weir get` is a consumer: it fetches only verifiable content.
pub fn gets(scenario: &Scenario, consumer: &Consumer) -> bool {
    let signed = scenario.contents[consumer.content].signing == Signing::Manifest;
    matches!(consumer.manner, Manner::Fetch { .. }) && (signed || puts(scenario, consumer.content))
}
