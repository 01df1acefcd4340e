//! The promises of each scheme and their domains: `domains.toml`.

use crate::facts::Facts;
use crate::plan::{Loss, Plan, Routing};
use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// The file.
const TEXT: &str = include_str!("../domains.toml");

/// The domains of all schemes with a controller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domains {
    /// By the scheme's name.
    pub scheme: BTreeMap<String, Domain>,
}

/// A scheme's promise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Where the promise comes from.
    pub source: String,
    /// It does not react to congestion: it promises nothing, and flows beside it are not judged.
    #[serde(default)]
    pub deaf: bool,
    /// By its paper a long round trip is a loss: its false losses are no mistakes.
    #[serde(default)]
    pub delay_is_loss: bool,
    /// Where the promise holds; nowhere without it.
    pub inside: Option<Inside>,
    /// The bounds in the domain.
    pub bounds: Option<Bounds>,
}

/// The domain of a promise: all flows use the scheme, all routers have its link parts, each flow
/// has one path to one producer, and there are no faults and no stores.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inside {
    /// Why there.
    pub why: String,
    /// Propagation there and back in milliseconds: least and most.
    pub round_trip_ms: [f64; 2],
    /// The longest round trip with a full queue, in milliseconds.
    #[serde(default = "any")]
    pub full_ms: f64,
    /// The bottleneck's queue, as a multiple of the path's capacity: minimum and maximum.
    pub buffer: [f64; 2],
    /// Segments that the path holds without a queue: least and most.
    pub segments: [f64; 2],
    /// The minimum size of each object, as a multiple of the capacity of path and queue together.
    pub pipes: f64,
    /// The minimum capacity of path and queue per flow, in segments.
    #[serde(default)]
    pub each: f64,
    /// The most flows.
    pub flows: usize,
    /// The largest ratio of two flows' round trips.
    #[serde(default = "any")]
    pub round_trip_ratio: f64,
    /// The maximum random loss of a path, in frames.
    #[serde(default)]
    pub loss: f64,
}

fn any() -> f64 {
    f64::INFINITY
}

/// The bounds of a promise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The reason for the bounds.
    pub why: String,
    /// The share of the fluid's rate that is used.
    pub utilisation: f64,
    /// Round trips that beginning takes.
    pub startup_round_trips: f64,
    /// Milliseconds that it takes besides.
    #[serde(default)]
    pub startup_ms: f64,
    /// The least of Jain's index over the flows' shares of their fair rates.
    pub fairness: Option<(Fairness, f64)>,
    /// The most false losses, as a share of Data.
    pub false_losses: f64,
    /// The most Interests for each Data packet.
    pub repetition: f64,
}

/// The definition of fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// No flow can have more without one that has no more having less.
    MaxMin,
    /// The sum of the logarithms is largest.
    Proportional,
}

/// `domains.toml` has a mistake.
#[derive(Debug, Error)]
pub enum DomainError {
    /// It is not TOML of this form.
    #[error("domains.toml: {0}")]
    Form(#[from] toml::de::Error),
    /// A scheme with a controller has no entry.
    #[error("domains.toml: say what `{0}` promises, or that it promises nothing")]
    Missing(&'static str),
    /// An entry is of no scheme.
    #[error("domains.toml: there is no scheme `{0}` with a controller")]
    Unknown(String),
    /// A place without a promise, or a promise without a place.
    #[error("domains.toml: `{0}` needs `inside` and `bounds`, or neither")]
    Half(String),
}

impl Domains {
    /// The domains of this crate.
    ///
    /// # Errors
    /// The file has a mistake.
    pub fn read() -> Result<Domains, DomainError> {
        Domains::parse(TEXT)
    }

    /// Reads domains.
    ///
    /// # Errors
    /// They have a mistake.
    pub fn parse(text: &str) -> Result<Domains, DomainError> {
        let domains: Domains = toml::from_str(text)?;
        let controlled: Vec<&'static str> = schemes::SCHEMES
            .iter()
            .filter(|scheme| scheme.controller.is_some())
            .map(|scheme| scheme.name)
            .collect();
        for name in &controlled {
            if !domains.scheme.contains_key(*name) {
                return Err(DomainError::Missing(name));
            }
        }
        for (name, domain) in &domains.scheme {
            if !controlled.contains(&name.as_str()) {
                return Err(DomainError::Unknown(name.clone()));
            }
            if domain.inside.is_some() != domain.bounds.is_some() {
                return Err(DomainError::Half(name.clone()));
            }
        }
        Ok(domains)
    }

    /// The schemes that answer to congestion.
    pub fn controlled(&self) -> impl Iterator<Item = &str> {
        self.scheme.iter().filter(|(_, domain)| !domain.deaf).map(|(name, _)| name.as_str())
    }

    /// The schemes that promise something somewhere.
    pub fn promising(&self) -> impl Iterator<Item = (&str, &Inside)> {
        self.scheme
            .iter()
            .filter_map(|(name, domain)| Some((name.as_str(), domain.inside.as_ref()?)))
    }

    /// Returns `true` for a scheme that treats unusually late Data as lost.
    #[must_use]
    pub fn takes_delay_for_loss(&self, scheme: &str) -> bool {
        self.scheme.get(scheme).is_some_and(|domain| domain.delay_is_loss)
    }

    /// Returns `true` if a scheme's consumers request several segments per Interest.
    #[must_use]
    pub fn asks_by_ranges(&self, scheme: &str) -> bool {
        let make = schemes::find(scheme).and_then(|s| Some((s.controller?, s.params)));
        make.is_some_and(|(make, params)| make(&control::Params::defaults(params)).range() > 1)
    }

    /// Returns `true` if links of this scheme hold Interests.
    #[must_use]
    pub fn shapes(&self, scheme: &str) -> bool {
        schemes::find(scheme).is_some_and(|scheme| scheme.shaper.is_some())
    }

    /// The promise for a plan; `None` outside of all domains.
    #[must_use]
    pub fn covering(&self, plan: &Plan, facts: &Facts) -> Option<&Bounds> {
        let scheme = plan.flows.first()?.scheme()?;
        let domain = self.scheme.get(scheme)?;
        let inside = domain.inside.as_ref()?;
        let covered = is_plain(plan, scheme, inside.loss) && is_inside(plan, facts, inside);
        covered.then_some(domain.bounds.as_ref()?)
    }
}

/// Returns `true` if a scheme has parts that work on links.
#[must_use]
pub fn has_link_parts(scheme: &str) -> bool {
    schemes::find(scheme)
        .is_some_and(|s| s.marker.is_some() || s.shaper.is_some() || s.stamper.is_some())
}

/// One scheme everywhere, one path, and no disturbance.
fn is_plain(plan: &Plan, scheme: &str, loss: f64) -> bool {
    let on_links = has_link_parts(scheme).then_some(scheme);
    let are_calm = plan.links.iter().all(|link| {
        let lossless = matches!(link.loss, Loss::None) || (loss > 0.0 && is_random(link.loss));
        let steady = link.jitter_us == 0 && link.reorder == 0 && link.duplicate == 0;
        lossless && steady && link.scheme.as_deref() == on_links
    });
    // Each flow has the scheme, and content of its own.
    let are_alike = plan.flows.iter().all(|flow| {
        let others = plan.flows.iter().filter(|other| other.content == flow.content).count();
        flow.scheme() == Some(scheme) && others == 1
    });
    plan.faults.is_empty()
        && !plan.has_stores()
        && plan.routing == Routing::Listed
        && plan.strategy.is_none()
        && plan.contents.iter().all(|content| content.at.len() == 1)
        && are_calm
        && are_alike
}

fn is_random(loss: Loss) -> bool {
    matches!(loss, Loss::Random(_))
}

fn within(value: f64, [least, most]: [f64; 2]) -> bool {
    (least..=most).contains(&value)
}

fn is_inside(plan: &Plan, facts: &Facts, inside: &Inside) -> bool {
    let trips: Vec<f64> = facts.flows.iter().filter_map(|f| Some(f.way?.round_trip)).collect();
    let (short, long) = trips.iter().fold((f64::INFINITY, 0.0), |(a, b), t| (t.min(a), t.max(b)));
    let flows = plan.flows.len() as f64;
    let each = plan.flows.iter().zip(&facts.flows).all(|(flow, facts)| {
        let (Some(way), Some(pipes)) = (facts.way, &facts.pipes) else { return false };
        let content = &plan.contents[flow.content];
        let links = pipes.iter().map(|pipe| &plan.links[pipe / 2]);
        // The queue before the slowest link, and no smaller one on the path.
        let slowest = links.clone().map(|link| link.rate).min().unwrap_or(0) as f64;
        let smallest = links.map(|link| link.queue).min().unwrap_or(0) as f64 * 8.0;
        let holds = slowest * way.round_trip;
        within(way.round_trip * 1e3, inside.round_trip_ms)
            && (way.round_trip + smallest / slowest) * 1e3 <= inside.full_ms
            && within(smallest / holds, inside.buffer)
            && within(holds / 8.0 / content.segment as f64, inside.segments)
            && (holds + smallest) / 8.0 / content.segment as f64 >= inside.each * flows
            && content.size as f64 * 8.0 >= inside.pipes * (holds + smallest)
            && way.loss <= inside.loss
            // Interests must not be the bottleneck: each has about a hundred bytes.
            && content.segment >= 1_000
    });
    each && plan.flows.len() <= inside.flows && long <= inside.round_trip_ratio * short
}
