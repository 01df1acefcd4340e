//! Plans in the domain of a scheme: a dumbbell with one bottleneck and one scheme.

use super::dice::{between, decades, pick};
use super::topology;
use crate::domain::{Domains, Inside, has_link_parts};
use crate::plan::{Content, Flow, Link, Loss, Manner, Node, Plan, Routing};
use control::Rng;

/// The speed of access links as a multiple of the bottleneck's.
const ACCESS: u64 = 10;
/// Bytes of content in a segment.
const SEGMENTS: [u64; 3] = [1_024, 4_096, 8_000];
/// Segments of all objects together: three links there and back make 60,000 packets.
const MOST_SEGMENTS: f64 = 10_000.0;

pub fn draw(rng: &mut Rng, seed: u64, domains: &Domains) -> Plan {
    let promising: Vec<(&str, &Inside)> = domains.promising().collect();
    let (scheme, inside) = pick(rng, &promising);
    let pairs = 1 + rng.below(inside.flows as u64) as usize;
    let segment = pick(rng, &SEGMENTS);
    let buffer = decades(rng, inside.buffer[0] * 1.05, inside.buffer[1] * 0.95);
    // A limit for the capacity of path and queue, so that objects can be large enough.
    let most = MOST_SEGMENTS / pairs as f64 / inside.pipes / (1.0 + buffer);
    let [least, largest] = inside.segments;
    // Enough for each flow.
    let least = least.max(inside.each * pairs as f64 / (1.0 + buffer));
    let holds = decades(rng, least * 1.1, largest.min(most).max(least * 1.2) * 0.9);
    // Rates between 100 kbit/s and 1 Gbit/s leave these round trips for this many segments.
    let bits = holds * segment as f64 * 8.0;
    let [shortest, longest] = inside.round_trip_ms.map(|ms| ms / 1e3);
    let longest = longest.min(inside.full_ms / 1e3 / (1.0 + buffer));
    let shortest = (shortest * 1.1).max(bits / 1e9);
    let longest = (longest * 0.9).min(bits / 1e5).max(shortest * 1.01);
    let round_trip = decades(rng, shortest, longest);
    let rate = (bits / round_trip) as u64;
    let queue = (holds * buffer * segment as f64) as u64;
    let loss = if inside.loss > 0.0 && rng.chance(0.5) {
        // There and back, over one link.
        Loss::Random((inside.loss * 0.45 * rng.unit() * 1e6) as u64)
    } else {
        Loss::None
    };
    let shape = topology::dumbbell(pairs);
    let on_links = has_link_parts(scheme).then(|| scheme.to_owned());
    let trip_us = round_trip * 1e6 / 2.0;
    let links = shape.edges.iter().enumerate().map(|(number, ends)| Link {
        ends: *ends,
        rate: if number == 0 { rate } else { (rate * ACCESS).min(10_000_000_000) },
        delay_us: (trip_us * if number == 0 { 0.8 } else { 0.1 }) as u64,
        queue: if number == 0 { queue } else { queue * ACCESS },
        loss: if number == 0 { loss } else { Loss::None },
        jitter_us: 0,
        reorder: 0,
        reorder_by_us: 0,
        duplicate: 0,
        scheme: on_links.clone(),
    });
    let pipe = (holds * (1.0 + buffer)).ceil() * segment as f64;
    let contents = shape.producers.iter().map(|at| {
        let size = (pipe * between(rng, inside.pipes * 1.02, inside.pipes * 1.6)) as u64;
        Content { at: vec![*at], size, segment, is_spread: false }
    });
    let contents: Vec<Content> = contents.collect();
    let flows = shape.consumers.iter().enumerate().map(|(number, at)| Flow {
        at: *at,
        content: number,
        start_ms: (10.0 * round_trip * 1e3 * rng.unit()) as u64,
        manner: Manner::Fetch(scheme.to_owned()),
    });
    Plan {
        seed,
        shape: shape.name,
        nodes: vec![Node::default(); shape.nodes],
        links: links.collect(),
        contents,
        flows: flows.collect(),
        faults: Vec::new(),
        routing: Routing::Listed,
        strategy: None,
    }
}
