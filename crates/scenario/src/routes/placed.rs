//! Ways to producers of which each has a part of a content.

use super::graph::{Graph, Measure};
use crate::model::{Objects, Scenario, Spread, Ways};
use document::Document;

/// The most routes that one content may need at one node: a forwarder has room for a few such
/// contents.
const MOST: u64 = 500_000;

/// For every content that is spread over its producers the ways to each of them. Contents stand at
/// `places` in the file.
pub(super) fn ways(scenario: &Scenario, measure: Option<Measure>, doc: &Document<'_>) -> Vec<Ways> {
    let mut found = Vec::new();
    for (content, of) in scenario.contents.iter().enumerate() {
        if of.placement == Spread::Replicated {
            continue;
        }
        let Some(measure) = measure else {
            let name = &of.name;
            doc.mistake(
                0..0,
                format!(
                    "`placement` of `{name}` needs routes to every producer: with `routing = \
                     \"listed\"` there are none that are computed; choose another `routing`"
                ),
            );
            continue;
        };
        let routes = routes_of(of);
        if routes > MOST {
            let name = &of.name;
            doc.mistake(
                0..0,
                format!(
                    "`placement` of `{name}` needs {routes} routes at a node, and {MOST} are the \
                     most; make its segments larger, or place `objects`"
                ),
            );
            continue;
        }
        let graph = Graph::new(scenario, measure);
        let mut links = vec![Vec::new(); scenario.nodes.len()];
        for producer in &of.at {
            let steps = graph.towards(&[*producer]);
            for (node, step) in steps.into_iter().enumerate() {
                links[node].push(step.map(|step| (step.link, measure.cost(step.length))));
            }
        }
        found.push(Ways { content, links });
    }
    found
}

/// How many routes a node may need for a content.
fn routes_of(content: &crate::model::Content) -> u64 {
    let objects = match &content.objects {
        Objects::One => 1,
        Objects::Numbered { count, .. } => count.unwrap_or(u64::MAX),
        Objects::Listed(list) => list.len() as u64,
        Objects::Video { ladder, segments, .. } => ladder.len() as u64 * segments,
    };
    let each = match content.placement {
        Spread::Segments => content.size.0.div_ceil(content.segment.0).max(1),
        _ => 1,
    };
    objects.saturating_mul(each)
}
