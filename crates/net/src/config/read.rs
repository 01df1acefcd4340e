//! From the parsed file to the configuration: the sections, and how they fit together.

use super::faces::ListedRoute;
use super::permissions::Hub;
use super::process::{ContentStore, Metrics, Traceroute};
use super::{
    Announcements, Application, Authorize, Config, ConfigError, Daemon, Face, ForwarderLimits,
    Listen, OnDemand, Route, Strategy, memory,
};
use crate::uri::FaceUri;
use document::{Described, Document, Read, Section, schema, text, valid_words};
use packet::Name;
use schemes::Choice;
use std::collections::{BTreeMap, BTreeSet};
use toml::de::DeTable;

/// All sections, in the order of the manual.
pub(super) const SECTIONS: &[&schema::Section] = &[
    Daemon::SECTION,
    Listen::SECTION,
    Metrics::SECTION,
    OnDemand::SECTION,
    Application::SECTION,
    Face::SECTION,
    ListedRoute::SECTION,
    ContentStore::SECTION,
    ForwarderLimits::SECTION,
    Traceroute::SECTION,
    Strategy::SECTION,
    Announcements::SECTION,
    Authorize::SECTION,
    Hub::SECTION,
];

/// Reads all sections of the text, for a host with this memory.
pub(super) fn read(text: &str, file: &str, host: Option<u64>) -> Result<Config, ConfigError> {
    let doc = Document::new(file, text);
    let config = doc.table(SECTIONS).and_then(|table| sections(&doc, &table, host));
    let mistakes = doc.finish();
    match config {
        Some(config) if mistakes.is_empty() => Ok(config),
        _ => Err(ConfigError::Mistakes(mistakes)),
    }
}

fn sections<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    host: Option<u64>,
) -> Option<Config> {
    let on_demand = Section::of::<OnDemand>(doc, table);
    let application = Section::of::<Application>(doc, table);
    let faces = Section::all_of::<Face>(doc, table);
    let mut links = vec![&on_demand, &application];
    links.extend(&faces);
    let sections = memory::Sections {
        daemon: &Section::of::<Daemon>(doc, table),
        listen: &Section::of::<Listen>(doc, table),
        content_store: &Section::of::<ContentStore>(doc, table),
        forwarder: &Section::of::<ForwarderLimits>(doc, table),
        links,
    };
    let known = Faces::read(doc, &faces);
    let listed = Section::all_of::<ListedRoute>(doc, table);
    let mut seen = BTreeMap::new();
    let routes = listed.iter().filter_map(|section| known.route(section, &mut seen)).collect();
    let store = ContentStore::read(sections.content_store)?;
    let mut config = Config {
        daemon: Daemon::read(sections.daemon)?,
        listen: Listen::read(sections.listen)?,
        metrics: Metrics::read(&Section::of::<Metrics>(doc, table))?.listen,
        on_demand: OnDemand::read(&on_demand)?,
        application: Application::read(&application)?,
        faces: known.faces,
        routes,
        content_store: store.config(),
        no_cache: store.no_cache,
        announcements: Announcements::read(&Section::of::<Announcements>(doc, table))?,
        forwarder: ForwarderLimits::read(sections.forwarder)?,
        traceroute: Traceroute::read(&Section::of::<Traceroute>(doc, table))?.config(),
        strategies: strategies(doc, table),
        authorize: all(doc, table),
        routable: Hub::read(&Section::of::<Hub>(doc, table))?.prefixes,
    };
    match config.daemon.scheme.clone() {
        Some(whole) => everywhere(&mut config, whole),
        None => where_rates_are_known(&mut config),
    }
    if host.is_none_or(|host| memory::fit_host(&sections, host)) {
        memory::share(&mut config, &sections);
    }
    Some(config)
}

/// All sections of a kind that can be read.
fn all<'d, T: Described + Read>(doc: &'d Document<'d>, table: &'d DeTable<'d>) -> Vec<T> {
    Section::all_of::<T>(doc, table).iter().filter_map(T::read).collect()
}

/// The strategies, one for each prefix.
fn strategies<'d>(doc: &'d Document<'d>, table: &'d DeTable<'d>) -> Vec<Strategy> {
    let mut firsts = BTreeMap::new();
    let mut all = Vec::new();
    for section in Section::all_of::<Strategy>(doc, table) {
        let Some(strategy) = Strategy::read(&section) else { continue };
        if let Some(first) = firsts.insert(strategy.prefix.clone(), section.at.start) {
            let (line, prefix) = (doc.line(first), &strategy.prefix);
            let why = format!("line {line} has a strategy for {prefix}, too; leave one out");
            section.mistake("prefix", &why);
        }
        all.push(strategy);
    }
    all
}

/// The scheme of the whole daemon, for faces without one of their own.
fn everywhere(config: &mut Config, whole: Choice) {
    config.on_demand.link.parts.fill(&whole);
    config.faces.iter_mut().for_each(|face| face.link.parts.fill(&whole));
    let root = config.strategies.iter().any(|strategy| strategy.prefix.is_empty());
    if !root && whole.strategy().is_ok() {
        config.strategies.insert(0, Strategy { prefix: Name::new(), choice: whole });
    }
}

/// The default scheme of links, for faces of a known incoming rate that name no part of another.
/// The rate of what a face sends says nothing of what it receives: links are often asymmetric.
fn where_rates_are_known(config: &mut Config) {
    let Ok(default) = Choice::named(schemes::defaults::LINK) else { return };
    let faces = config.faces.iter_mut().map(|face| &mut face.link);
    for link in faces.chain([&mut config.on_demand.link]) {
        if link.rate_in.is_some() && link.parts.are_none() {
            link.parts.fill(&default);
        }
    }
}

/// A face as the file names it, and its line.
fn written(section: &Section<'_>) -> String {
    let mut given = ["name", "uri"].into_iter().filter_map(|field| section.given(field));
    let name = given.find_map(|value| text(value.get_ref()).ok()).unwrap_or_default();
    format!("`{name}` (line {})", section.doc.line(section.at.start))
}

/// The faces of the file.
struct Faces {
    faces: Vec<Face>,
    /// The labels of the sections.
    labels: BTreeSet<String>,
    /// The first face of each text by which routes may name it: its name, its position, its URI.
    by_text: BTreeMap<String, usize>,
    /// Every face could be read.
    all_known: bool,
}

impl Faces {
    fn read(doc: &Document<'_>, sections: &[Section<'_>]) -> Faces {
        let mut faces = Vec::new();
        let (mut labels, mut by_text) = (BTreeSet::new(), BTreeMap::new());
        let mut places = BTreeMap::new();
        for section in sections {
            let Some(face) = Face::read(section) else { continue };
            if let Some(first) = places.insert(face.place(), section) {
                let why = format!(
                    "the faces {} and {} lead to the same place, {}; leave one of them out",
                    written(first),
                    written(section),
                    face.place(),
                );
                section.mistake("uri", &why);
            } else if labels.contains(&face.label()) {
                let why = format!("there are two faces `{}`", face.label());
                doc.mistake(section.at.clone(), why);
            }
            labels.insert(face.label());
            let texts = [face.name.clone(), Some(face.place()), Some(face.uri.to_string())];
            for text in texts.into_iter().flatten() {
                by_text.entry(text).or_insert(faces.len());
            }
            faces.push(face);
        }
        let all_known = faces.len() == sections.len();
        Faces { faces, labels, by_text, all_known }
    }

    /// Reads a route; `seen` has those before, and where they begin.
    fn route(
        &self,
        section: &Section<'_>,
        seen: &mut BTreeMap<(Name, usize), usize>,
    ) -> Option<Route> {
        let ListedRoute { prefix, face: wanted, cost } = ListedRoute::read(section)?;
        // A URI may be written in several forms.
        let uri = wanted.parse::<FaceUri>().ok().map(|uri| uri.to_string());
        let texts = [Some(&wanted), uri.as_ref()].into_iter().flatten();
        let face = texts.filter_map(|text| self.by_text.get(text)).min().copied();
        // A face that has a mistake of its own is not there; its routes are not to blame.
        if face.is_none() && self.all_known {
            let valid = valid_words(&wanted, self.labels.iter().map(String::as_str));
            section
                .doc
                .mistake(section.place("face"), format!("there is no face `{wanted}`; {valid}"));
        }
        let (prefix, face) = (prefix?, face?);
        if let Some(first) = seen.insert((prefix.clone(), face), section.at.start) {
            let line = section.doc.line(first);
            let why =
                format!("line {line} has a route for {prefix} to this face, too; leave one out");
            section.mistake("prefix", &why);
        }
        Some(Route { prefix, face, cost })
    }
}
