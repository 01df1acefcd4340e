//! Contents and workloads, as the network takes them.

use super::error::BuildError;
use super::part::part;
use crate::model::{
    Asked, Content, Fetching, Objects, Player, Requests, Scenario, Spread, Ways, Workload,
};
use control::{Controller, Duration, Time};
use packet::{Component, Name};
use schemes::{Choice, ChoiceError};
use sim::workload::catalogue::{Catalogue, Objects as Listing};
use sim::workload::video::VideoSpec;
use sim::workload::{Listed, Manner, Requests as Arriving, WorkloadSpec};
use sim::{LinkId, Make, Network, NodeId, ObjectSpec};
use std::sync::Arc;

/// The catalogues of all contents, in their order.
pub(super) fn catalogues(scenario: &Scenario, seed: u64) -> Vec<Arc<Catalogue>> {
    scenario.contents.iter().map(|content| Arc::new(catalogue(content, seed))).collect()
}

fn catalogue(content: &Content, seed: u64) -> Catalogue {
    let objects = match &content.objects {
        Objects::One => Listing::Listed(vec![(Name::default(), content.size.0)]),
        Objects::Numbered { count, classes } => {
            Listing::Numbered { count: *count, classes: classes.clone() }
        }
        Objects::Listed(list) => Listing::Listed(list.clone()),
        Objects::Video { ladder, segment, segments } => {
            let mut parts = Vec::new();
            for (quality, rate) in ladder.iter().enumerate() {
                let bytes = rate.size_in(*segment).0.max(1);
                for number in 0..*segments {
                    parts.push((part_of_video(quality, number), bytes));
                }
            }
            Listing::Listed(parts)
        }
    };
    let segment = usize::try_from(content.segment.0).unwrap_or(usize::MAX);
    Catalogue::new(seed, content.name.clone(), segment, objects)
        .signed(content.signing)
        .served(content.service)
        .spread(content.placement, content.at.len())
        .together(content.together)
}

fn part_of_video(quality: usize, number: u64) -> Name {
    let [quality, number] = [quality as u64, number].map(|n| n.to_string());
    let name = Name::default().with(&Component::generic(quality.as_bytes()));
    name.with(&Component::generic(number.as_bytes()))
}

/// Segments of all contents that have an end.
pub(super) fn all_segments(catalogues: &[Arc<Catalogue>]) -> u64 {
    catalogues.iter().filter_map(|catalogue| catalogue.all_segments()).sum()
}

/// Publishes a content at all its producers.
pub(super) fn publish(
    network: &mut Network,
    content: &Content,
    catalogue: &Arc<Catalogue>,
    nodes: &[NodeId],
) -> Result<(), sim::BuildError> {
    let is_one = content.objects == Objects::One && content.placement == Spread::Replicated;
    for (place, at) in content.at.iter().enumerate() {
        if is_one {
            let mut object = ObjectSpec::new(content.name.clone(), content.size);
            object.segment_size = catalogue.segment_size;
            (object.signing, object.service) = (content.signing, content.service);
            object.production = content.production;
            network.publish(nodes[*at], object)?;
        } else {
            network.publish_catalogue(nodes[*at], catalogue, place)?;
        }
    }
    Ok(())
}

/// Adds the routes to the one producer of each object or segment, where the route to the content
/// leads elsewhere.
pub(super) fn place(
    network: &mut Network,
    scenario: &Scenario,
    ways: &Ways,
    catalogue: &Catalogue,
    nodes: &[NodeId],
    links: &[LinkId],
) -> Result<(), sim::BuildError> {
    let content = &scenario.contents[ways.content];
    // Where the route to the content leads.
    let mut usual: Vec<Option<usize>> = Vec::new();
    for at in 0..nodes.len() {
        let routes = scenario.routes.iter();
        let own = routes.filter(|route| route.at == at && route.prefix == content.name);
        usual.push(own.min_by_key(|route| (route.cost, route.link)).map(|route| route.link));
    }
    for number in 0..catalogue.len().unwrap_or(0) {
        let Some(object) = catalogue.object(number) else { continue };
        let name = catalogue.name_of(number);
        let versioned = name.clone().with(&Component::version(catalogue.version));
        let parts = match content.placement {
            Spread::Segments => catalogue.segments(object.size),
            _ => 1,
        };
        for part in 0..parts {
            let Some(producer) = catalogue.producer_of(number, part) else { continue };
            let prefix = match content.placement {
                Spread::Segments => versioned.clone().with(&Component::segment(part)),
                _ => name.clone(),
            };
            for (at, node) in nodes.iter().enumerate() {
                let Some((link, cost)) = ways.links[at][producer] else { continue };
                // Where the content itself is produced, what is not here must be sent on.
                if usual[at] != Some(link) || content.at.contains(&at) {
                    network.add_route(*node, &prefix, links[link], cost)?;
                }
            }
        }
    }
    Ok(())
}

/// Adds a workload.
pub(super) fn demand(
    network: &mut Network,
    scenario: &Scenario,
    workload: &Workload,
    catalogues: &[Arc<Catalogue>],
    nodes: &[NodeId],
) -> Result<(), BuildError> {
    let contents: Vec<Arc<Catalogue>> =
        workload.contents.iter().map(|content| Arc::clone(&catalogues[*content])).collect();
    let requests = match &workload.requests {
        Requests::Drawn { per_second, arrivals, alpha, q, span, count } => Arriving::Drawn {
            per_second: *per_second,
            arrivals: *arrivals,
            alpha: *alpha,
            q: *q,
            start: Time::ZERO + span.0,
            stop: span.1.map(|stop| Time::ZERO + stop),
            count: *count,
        },
        Requests::Listed(list) => Arriving::Listed(
            list.iter()
                .map(|request| Listed {
                    at: Time::ZERO + request.at,
                    node: nodes[request.node],
                    catalogue: request.content,
                    object: request.object,
                })
                .collect(),
        ),
    };
    let manner = match &workload.asked {
        Asked::Object(fetching) => {
            let (controller, label) = controlled(fetching)?;
            let Fetching { lifetime, patience, range, .. } = *fetching;
            Manner::Fetch { controller, label, lifetime, patience, range }
        }
        Asked::Chunk(lifetime) => Manner::Chunk { lifetime: *lifetime },
        Asked::Video(fetching, player) => {
            let content = &scenario.contents[workload.contents[0]];
            let start = Duration::ZERO;
            Manner::Video(Box::new(video(content, &contents[0], fetching, player, start)?))
        }
    };
    network.workload(WorkloadSpec {
        name: workload.name.clone(),
        at: workload.at.iter().map(|at| nodes[*at]).collect(),
        catalogues: contents,
        requests,
        manner,
        duration: scenario.duration,
    });
    Ok(())
}

fn controlled(fetching: &Fetching) -> Result<(Make<dyn Controller>, String), ChoiceError> {
    Ok((part(&fetching.control, Choice::controller)?, fetching.control.to_string()))
}

/// A player.
pub(super) fn video(
    content: &Content,
    catalogue: &Arc<Catalogue>,
    fetching: &Fetching,
    player: &Player,
    start: Duration,
) -> Result<VideoSpec, ChoiceError> {
    let (ladder, segment, segments) = match &content.objects {
        Objects::Video { ladder, segment, segments } => (ladder.clone(), *segment, *segments),
        _ => (Vec::new(), Duration::ZERO, 0),
    };
    let (controller, label) = controlled(fetching)?;
    Ok(VideoSpec {
        catalogue: Arc::clone(catalogue),
        ladder,
        segment,
        segments,
        start: Time::ZERO + start,
        adaptation: player.adaptation,
        buffer: player.buffer,
        startup: player.startup,
        controller,
        label,
        lifetime: fetching.lifetime,
        patience: fetching.patience,
        range: fetching.range,
    })
}
