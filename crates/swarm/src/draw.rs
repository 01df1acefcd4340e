//! From a seed to a plan.

mod calm;
mod dice;
mod topology;
mod wild;

use crate::domain::Domains;
use crate::plan::Plan;
use crate::routes;
use control::Rng;

/// The maximum number of packets over links in a plan, without losses and repetitions.
pub const MOST_PACKETS: u64 = 100_000;

/// The plan of a seed: three in ten lie in the domain of a scheme, the others anywhere.
#[must_use]
pub fn draw(seed: u64, domains: &Domains) -> Plan {
    let mut rng = Rng::stream(seed, &["swarm", "plan"]);
    let mut plan = match rng.below(10) {
        0..3 => calm::draw(&mut rng, seed, domains),
        _ => wild::draw(&mut rng, seed, domains),
    };
    bound(&mut plan);
    plan
}

/// Shrinks objects until the plan is within the limit.
fn bound(plan: &mut Plan) {
    let paths: Vec<u64> = (0..plan.flows.len())
        .map(|flow| routes::path(plan, flow).map_or(0, |path| path.len() as u64))
        .collect();
    let packets = plan.least_packets(&|flow| paths[flow]);
    if packets > MOST_PACKETS {
        for content in &mut plan.contents {
            content.size = (content.size * MOST_PACKETS / packets).max(content.segment);
        }
    }
}
