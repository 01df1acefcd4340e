//! From the sections of a file to a scenario.

mod caching;
mod content;
mod demand;
mod fetching;
mod links;
mod record;
mod trace;
mod workload;

use crate::bandwidth_delay;
use crate::model::{Node, Scenario};
use crate::places::{MAX_NODES, Names, Places};
use crate::routes;
use crate::schema::{About, NodeSection, Routing};
use crate::topology;
use document::{Document, Read, Section};
use schemes::{Choice, defaults};
use std::collections::BTreeMap;
use toml::de::DeTable;

/// The number of sections of this name in the file.
fn written(table: &DeTable<'_>, name: &str) -> usize {
    table.get(name).and_then(|list| list.get_ref().as_array()).map_or(0, |list| list.len())
}

/// Reads all sections but the sweep. The document collects mistakes; `None` if they leave nothing
/// to continue with.
pub fn scenario<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    file_name: &str,
) -> Option<Scenario> {
    if table.get("scenario").is_none() {
        doc.mistake(0..0, "a scenario needs a section `[scenario]` with its `duration`");
    }
    let section = Section::of::<About>(doc, table);
    let about = About::read(&section)?;
    if about.duration == Some(control::Duration::ZERO) {
        section.mistake("duration", "the duration must be longer than zero");
    }
    let Schemes { whole, strategy, control } = schemes_of(&about)?;
    let generated = topology::planned(doc, table, &strategy);
    let is_whole = generated.is_some();
    let mut plan = generated.unwrap_or_default();
    let (all_known, own_store) = nodes(&mut plan, is_whole, doc, table, &strategy);
    let names = Names::new(&plan.nodes, all_known, Some(control));
    let links_known = links::read(&mut plan.links, doc, table, &names) && all_known;
    let directions = plan.links.iter_mut().flat_map(|link| &mut link.directions);
    directions.zip(whole.iter().cycle()).for_each(|(d, whole)| d.parts.fill(whole));
    let mut contents = content::contents(doc, table, &names);
    let workloads = demand::workloads(doc, table, &names, &mut contents);
    let consumers = workload::consumers(doc, table, &names, &contents);
    let places = Places { names: &names, links: &plan.links, all_known: links_known };
    let listed = routes::listed(doc, table, &places);
    let faults = workload::faults(doc, table, &places);
    let record = record::read(doc, table, &places);
    let contents: Vec<_> = contents.into_iter().map(|(content, _)| content).collect();
    let warmup = caching::read(doc, table, &mut plan.nodes, &own_store, &contents);
    let scenario = Scenario {
        name: about.name.unwrap_or_else(|| file_name.to_owned()),
        question: about.question.unwrap_or_default(),
        duration: about.duration.unwrap_or(control::Duration::ZERO),
        seed: about.seed,
        contents,
        consumers: consumers.iter().map(|(consumer, _)| consumer.clone()).collect(),
        workloads: workloads.iter().map(|(workload, _)| workload.clone()).collect(),
        warmup: warmup.unwrap_or_default(),
        ways: Vec::new(),
        routes: Vec::new(),
        faults,
        record: record.unwrap_or_default(),
        nodes: plan.nodes,
        links: plan.links,
    };
    if section.given("paths").is_some() && about.routing == Routing::Listed {
        section.mistake("paths", "listed routes have no number of paths");
    }
    // The check that every Interest has a route needs only the network, its content and its routes,
    // whatever else is wrong.
    let is_known = scenario.contents.len() == written(table, "content")
        && listed.len() == written(table, "route");
    if !links_known || !is_known || scenario.contents.iter().any(|content| content.at.is_empty()) {
        return None;
    }
    let (listed, spans): (_, Vec<_>) = listed.into_iter().unzip();
    let mut scenario = routes::complete(scenario, about.routing, about.paths, listed, doc);
    bandwidth_delay::resolve(&mut scenario);
    let places = consumers.into_iter().map(|(_, place)| place).collect::<Vec<_>>();
    let workloads = workloads.into_iter().map(|(_, place)| place).collect::<Vec<_>>();
    routes::check(&scenario, &places, &workloads, &spans, doc);
    (!doc.has_mistakes()).then_some(scenario)
}

/// The schemes of all that name none.
struct Schemes {
    /// The scheme as a whole.
    whole: Option<Choice>,
    /// Of nodes.
    strategy: Choice,
    /// Of consumers.
    control: Choice,
}

fn schemes_of(about: &About) -> Option<Schemes> {
    let whole = about.scheme.clone();
    let strategy = about
        .strategy
        .clone()
        .or_else(|| whole.clone().filter(|whole| whole.strategy().is_ok()))
        .or_else(|| Choice::named(defaults::STRATEGY).ok())?;
    let control = whole
        .clone()
        .filter(|whole| whole.controller().is_ok())
        .or_else(|| Choice::named(defaults::CONTROLLER).ok())?;
    Some(Schemes { whole, strategy, control })
}

/// Reads all `[[node]]`; whether all could be read.
fn nodes<'d>(
    plan: &mut topology::Plan,
    is_whole: bool,
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    strategy: &Choice,
) -> (bool, Vec<bool>) {
    let mut own_store = vec![false; plan.nodes.len()];
    let generated = plan.nodes.len();
    let mut all_known = is_whole;
    let mut seen = vec![false; generated];
    let mut index: BTreeMap<String, usize> =
        plan.nodes.iter().enumerate().map(|(i, node)| (node.name.clone(), i)).collect();
    for section in Section::all_of::<NodeSection>(doc, table) {
        let Some(NodeSection { names, store, strategy: own, machine }) =
            NodeSection::read(&section)
        else {
            all_known = false;
            continue;
        };
        let (content_store, share) = store.config();
        let has_store = section.given("content_store").is_some();
        let strategy = own.unwrap_or_else(|| strategy.clone());
        for (name, at) in names {
            let strategy = strategy.clone();
            let node = Node { name, content_store, share, strategy, machine, position: None };
            match index.get(&node.name).copied() {
                Some(i) if i < generated && !seen[i] => {
                    plan.nodes[i] = Node { position: plan.nodes[i].position, ..node };
                    seen[i] = true;
                    own_store[i] = has_store;
                }
                Some(_) => doc.mistake(at, format!("there are two nodes `{}`", node.name)),
                None => {
                    index.insert(node.name.clone(), plan.nodes.len());
                    plan.nodes.push(node);
                    own_store.push(has_store);
                }
            }
        }
    }
    if plan.nodes.is_empty() && all_known {
        doc.mistake(0..0, "there is no node; write `[[node]]` with a `name`, or `[topology]`");
    }
    if plan.nodes.len() > MAX_NODES {
        let many = plan.nodes.len();
        doc.mistake(0..0, format!("there are {many} nodes; a scenario has at most {MAX_NODES}"));
    }
    (all_known, own_store)
}
