//! Routes: computed to every producer, listed by hand, and checked by following them.

mod graph;
mod placed;
mod several;

use crate::model::{Consumer, Route, Scenario};
use crate::places::Places;
use crate::schema::{RouteSection, Routing};
use document::{Document, Read, Section};
use graph::{Graph, Measure, Step};
use packet::{Name, NameRef};
use several::NextHops;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::de::DeTable;

/// A listed route, and where it stands.
pub(crate) type Listed = (Route, Place);

/// A route's node, prefix and link, and where its `via` stands.
pub(crate) type Place = ((usize, Name, usize), Range<usize>);

/// Reads all `[[route]]`.
pub(crate) fn listed<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    places: &Places<'_>,
) -> Vec<Listed> {
    Section::all_of::<RouteSection>(doc, table)
        .iter()
        .filter_map(|section| {
            let at = places.names.one(section, "at");
            let RouteSection { prefix, cost, .. } = RouteSection::read(section)?;
            let route = places.route(section, at, prefix, cost)?;
            let key = key(&route);
            Some((route, (key, section.place("via"))))
        })
        .collect()
}

/// Two routes of one node, prefix and link are one.
fn key(route: &Route) -> (usize, Name, usize) {
    (route.at, route.prefix.clone(), route.link)
}

/// Gives the scenario its routes: those that `routing` computes, `paths` to each producer, and the
/// listed ones.
pub(crate) fn complete(
    mut scenario: Scenario,
    routing: Routing,
    paths: usize,
    listed: Vec<Route>,
    doc: &Document<'_>,
) -> Scenario {
    let measure = match routing {
        Routing::Delay => Some(Measure::Delay),
        Routing::Hops => Some(Measure::Hops),
        Routing::Metric => Some(Measure::Metric),
        Routing::Listed => None,
    };
    let computed = match measure {
        Some(measure) if paths > 1 => several(&scenario, measure, paths),
        Some(measure) => computed(&scenario, measure),
        None => Vec::new(),
    };
    // A listed route replaces a computed one.
    let mut routes: BTreeMap<_, Route> = BTreeMap::new();
    for route in computed {
        let known = routes.entry(key(&route)).or_insert_with(|| route.clone());
        known.cost = known.cost.min(route.cost);
    }
    routes.extend(listed.into_iter().map(|route| (key(&route), route)));
    scenario.routes = routes.into_values().collect();
    scenario.ways = placed::ways(&scenario, measure, doc);
    scenario
}

/// For every producer of every content a route at every other node, along the shortest path.
fn computed(scenario: &Scenario, measure: Measure) -> Vec<Route> {
    let graph = Graph::new(scenario, measure);
    let mut trees: BTreeMap<usize, Vec<Option<Step>>> = BTreeMap::new();
    let mut routes = Vec::new();
    for content in &scenario.contents {
        for producer in &content.at {
            let tree = trees.entry(*producer).or_insert_with(|| graph.towards(&[*producer]));
            let steps = tree.iter().enumerate().filter_map(|(at, step)| Some((at, (*step)?)));
            routes.extend(steps.filter(|(at, _)| !content.at.contains(at)).map(|(at, step)| {
                let prefix = content.name.clone();
                Route { at, prefix, link: step.link, cost: measure.cost(step.length) }
            }));
        }
    }
    routes
}

/// For every content: routes along `paths` paths from each of its consumers to each of its
/// producers, unless they would form a loop; and from every other node along the shortest path.
fn several(scenario: &Scenario, measure: Measure, paths: usize) -> Vec<Route> {
    let graph = Graph::new(scenario, measure);
    let mut consumers = vec![BTreeSet::new(); scenario.contents.len()];
    for consumer in &scenario.consumers {
        consumers[consumer.content].insert(consumer.at);
    }
    for workload in &scenario.workloads {
        for content in &workload.contents {
            consumers[*content].extend(&workload.at);
        }
    }
    let mut known: BTreeMap<(&[usize], Vec<usize>), NextHops> = BTreeMap::new();
    let mut routes = Vec::new();
    for (content, consumers) in scenario.contents.iter().zip(consumers) {
        let consumers: Vec<usize> = consumers.into_iter().collect();
        let hops = known
            .entry((&content.at, consumers.clone()))
            .or_insert_with(|| NextHops::new(&graph, &content.at, &consumers, paths));
        routes.extend(hops.iter().map(|(at, link, length)| Route {
            at,
            prefix: content.name.clone(),
            link,
            cost: measure.cost(length),
        }));
    }
    routes
}

/// The tables of all nodes, with the routes that the file defines.
struct Tables<'s> {
    scenario: &'s Scenario,
    routes: Vec<Vec<&'s Route>>,
}

/// Why a path does not lead to a producer.
enum PathError {
    /// This node has no route.
    NoRoute(usize),
    /// The routes of these nodes form a loop.
    Loop(Vec<usize>),
}

impl<'s> Tables<'s> {
    fn new(scenario: &'s Scenario) -> Tables<'s> {
        let mut routes: Vec<Vec<&Route>> = vec![Vec::new(); scenario.nodes.len()];
        for route in &scenario.routes {
            routes[route.at].push(route);
        }
        Tables { scenario, routes }
    }

    /// The links on the cheapest way from the consumer to a producer.
    fn way(&self, consumer: &Consumer) -> Result<Vec<usize>, PathError> {
        self.way_from(consumer.at, consumer.content)
    }

    /// The links on the cheapest way from a node to a producer.
    fn way_from(&self, mut at: usize, content: usize) -> Result<Vec<usize>, PathError> {
        let content = &self.scenario.contents[content];
        let (mut nodes, mut links) = (vec![at], Vec::new());
        while !content.at.contains(&at) {
            let next = next_hop(&self.routes[at], content.name.as_ref());
            let link = next.ok_or(PathError::NoRoute(at))?.link;
            let ends = self.scenario.links[link].ends;
            at = if ends[0] == at { ends[1] } else { ends[0] };
            let before = nodes.iter().position(|node| *node == at);
            nodes.push(at);
            links.push(link);
            if let Some(before) = before {
                return Err(PathError::Loop(nodes.split_off(before)));
            }
        }
        Ok(links)
    }
}

impl Scenario {
    /// The links on the way of the consumer's Interests to the nearest producer.
    #[must_use]
    pub fn way(&self, consumer: &Consumer) -> Vec<usize> {
        Tables::new(self).way(consumer).unwrap_or_default()
    }

    /// For every node but the goal the first link on the way there of the smallest delay, and of
    /// the fewest hops among equals: routes as an IP network has them, for any kind of packet.
    #[must_use]
    pub fn links_towards(&self, goal: usize) -> Vec<Option<usize>> {
        let steps = Graph::new(self, Measure::Delay).towards(&[goal]);
        steps.into_iter().map(|step| step.map(|step| step.link)).collect()
    }

    /// The same from a node to a content, by its index.
    #[must_use]
    pub fn way_from(&self, at: usize, content: usize) -> Vec<usize> {
        Tables::new(self).way_from(at, content).unwrap_or_default()
    }

    /// The nodes of all workloads and their ways to all contents that they ask for.
    #[must_use]
    pub fn ways_of_workloads(&self) -> Vec<(usize, Vec<usize>)> {
        let tables = Tables::new(self);
        let mut ways = Vec::new();
        for workload in &self.workloads {
            for content in &workload.contents {
                for at in &workload.at {
                    ways.push((*at, tables.way_from(*at, *content).unwrap_or_default()));
                }
            }
        }
        ways
    }

    /// The same for all consumers.
    #[must_use]
    pub fn ways(&self) -> Vec<Vec<usize>> {
        let tables = Tables::new(self);
        self.consumers.iter().map(|consumer| tables.way(consumer).unwrap_or_default()).collect()
    }
}

/// Follows the cheapest routes from every consumer and every node of a workload: they must come to
/// a producer. `consumers`, `workloads` and `listed` are the places of these and of the routes in
/// the file.
pub(crate) fn check(
    scenario: &Scenario,
    consumers: &[Range<usize>],
    workloads: &[Range<usize>],
    listed: &[Place],
    doc: &Document<'_>,
) {
    let tables = Tables::new(scenario);
    let asked = scenario.consumers.iter().zip(consumers);
    let asked = asked.map(|(consumer, place)| (consumer.at, consumer.content, place));
    let workloads = scenario.workloads.iter().zip(workloads).flat_map(|(workload, place)| {
        let all = workload.contents.iter();
        all.flat_map(move |content| workload.at.iter().map(move |at| (*at, *content, place)))
    });
    for (at, content, place) in asked.chain(workloads) {
        let name = &scenario.contents[content].name;
        match tables.way_from(at, content) {
            Ok(_) => {}
            Err(PathError::NoRoute(at)) if scenario.nodes[at].strategy.scheme().finds_routes => {}
            Err(PathError::NoRoute(at)) => {
                let why = format!(
                    "`name`: `{}` has no route to `{name}`; join it to a producer by links, or \
                     give it a `[[route]]`",
                    scenario.nodes[at].name
                );
                doc.mistake(place.clone(), why);
            }
            Err(PathError::Loop(nodes)) => {
                // The last of the listed routes that make the circle is the one to look at.
                let hops = nodes.iter().filter_map(|node| {
                    let route = next_hop(&tables.routes[*node], name.as_ref())?;
                    let key = key(route);
                    listed.iter().find(|(known, _)| *known == key).map(|(_, place)| place.clone())
                });
                let (field, place) = match hops.max_by_key(|place| place.start) {
                    Some(place) => ("via", place),
                    None => ("name", place.clone()),
                };
                let nodes: Vec<String> =
                    nodes.iter().map(|node| format!("`{}`", scenario.nodes[*node].name)).collect();
                let circle = nodes.join(", ");
                let why = format!(
                    "`{field}`: routes to `{name}` go in a circle: {circle}; lead one of them \
                     elsewhere"
                );
                doc.mistake(place, why);
            }
        }
    }
}

/// As a forwarder looks it up: the longest prefix, and of its routes the cheapest.
fn next_hop<'r>(table: &[&'r Route], name: NameRef<'_>) -> Option<&'r Route> {
    let matching = table.iter().filter(|route| name.starts_with(route.prefix.as_ref()));
    matching.copied().min_by_key(|r| (Reverse(r.prefix.as_ref().len()), r.cost, r.link))
}

#[cfg(test)]
mod tests;
