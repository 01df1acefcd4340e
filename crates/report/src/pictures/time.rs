//! Lines over time: one table of their content, and one way of drawing.

mod samples;

pub use samples::over_time;
use samples::samples;

use super::quantities::{Rank, SPECS, Spec, unit_of};
use crate::captions::{MOST_LINES, MOST_PANELS, experiment, group_colours};
use crate::colours;
use crate::dashes::dashes;
use crate::picture::{Axis, Form, Limit, Line, Panel, Picture, are_cut, flat, short};
use crate::results::{Group, Results};
use crate::text::{capital, digits, rate, trimmed, way, with_unit};
use crate::track::Track;
use control::counted;
use scenario::Mean;
use scenario::result::Link;
use scenario::series::class_label;
use std::collections::{BTreeMap, BTreeSet};

/// The pictures that reports are opened for, and the others.
pub fn pictures(results: &Results) -> (Vec<Picture>, Vec<Picture>) {
    let (mut first, mut more) = (Vec::new(), Vec::new());
    let in_packets = limits_are_packets(results);
    for spec in SPECS {
        let is_other = match spec.quantity {
            "queue_bytes" => in_packets,
            "queue_packets" => !in_packets,
            _ => false,
        };
        if is_other || spec.rank == Rank::Never {
            continue;
        }
        let picture = Drawing::new(results, spec).picture();
        match spec.rank {
            Rank::First => first.extend(picture),
            _ => more.extend(picture),
        }
    }
    let mut others: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (subject, quantity, _) in results.groups.iter().flat_map(|group| group.tracks.keys()) {
        if !SPECS.iter().any(|spec| spec.subject == subject && spec.quantity == quantity) {
            others.insert((subject, quantity));
        }
    }
    for (subject, quantity) in others {
        more.extend(other(results, subject, quantity));
    }
    (first, more)
}

/// A quantity with only a name, with the unit at its end.
fn other(results: &Results, subject: &str, quantity: &str) -> Option<Picture> {
    let (stem, unit) = unit_of(quantity);
    let name = stem.replace('_', " ");
    let title = capital(&name);
    let id = quantity.replace('_', "-");
    let about = Drawing {
        results,
        subject,
        quantity,
        id: &id,
        name: &title,
        axis: &name,
        unit,
        factor: 1.0,
        is_sum: false,
        things: 1,
    };
    about.picture()
}

/// Returns `true` if the queues of the busiest links have limits in packets.
fn limits_are_packets(results: &Results) -> bool {
    let links: Vec<&Link> = results.runs().flat_map(|run| &run.links).collect();
    links.iter().any(|link| link.queue_limit_packets.is_some())
        && links.iter().all(|link| link.queue_limit_bytes.is_none())
}

/// Points that all lines of a panel have together.
const MOST_POINTS: usize = 12_000;
/// The maximum number of lines of a panel that are drawn with their samples.
const MOST_WITH_SAMPLES: usize = 4;

/// Links with less than this share of the busiest one are left out.
const FAINT: f64 = 0.02;

struct Drawing<'r> {
    results: &'r Results,
    subject: &'r str,
    quantity: &'r str,
    id: &'r str,
    name: &'r str,
    axis: &'r str,
    unit: &'r str,
    factor: f64,
    is_sum: bool,
    /// The number of drawn things.
    things: usize,
}

impl<'r> Drawing<'r> {
    fn new(results: &'r Results, spec: &'static Spec) -> Drawing<'r> {
        let Spec { subject, quantity, id, name, axis, unit, factor, is_sum, .. } = *spec;
        Drawing { results, subject, quantity, id, name, axis, unit, factor, is_sum, things: 1 }
    }

    fn tracks(&self, group: usize, entity: &str) -> Option<&'r [Track]> {
        let key = (self.subject.to_owned(), self.quantity.to_owned(), entity.to_owned());
        let tracks = self.results.groups[group].tracks.get(&key)?;
        (!tracks.is_empty()).then_some(tracks.as_slice())
    }

    /// The drawn items, the most important ones, and their total number; with `control`, only flows
    /// with it.
    fn entities(&self, control: Option<&str>) -> (Vec<&'r str>, usize) {
        let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
        for group in &self.results.groups {
            for ((subject, quantity, entity), tracks) in &group.tracks {
                let most = tracks.iter().map(|track| track.most.abs()).fold(0.0, f64::max);
                if subject != self.subject || quantity != self.quantity || most <= 0.0 {
                    continue;
                }
                if let Some(control) = control
                    && self.flow(0, entity).is_none_or(|(of, _)| of != control)
                {
                    continue;
                }
                *weights.entry(entity).or_default() +=
                    weight(group, [self.subject, self.quantity, entity], tracks);
            }
        }
        let count = weights.len();
        let mut entities: Vec<(&str, f64)> = weights.into_iter().collect();
        entities.sort_by(|a, b| b.1.total_cmp(&a.1));
        entities.truncate(MOST_LINES);
        if self.subject == "link" {
            // A direction with only Interests shows little.
            let least = entities.first().map_or(0.0, |(_, most)| most * FAINT);
            entities.retain(|(_, weight)| *weight > least);
        }
        let mut entities: Vec<&str> = entities.into_iter().map(|(entity, _)| entity).collect();
        if self.subject == "flow" {
            // In the order of the file.
            let group = self.results.groups.first();
            entities.sort_by_key(|entity| group.and_then(|group| group.turn(entity)));
        }
        if self.subject == "workload" {
            entities.sort_by_key(|entity| class_turn(self.results, entity));
        }
        (entities, count)
    }

    fn picture(mut self) -> Option<Picture> {
        let (entities, there) = self.entities(None);
        self.things = entities.len();
        let is_alone = self.subject == "node" && self.quantity == "hit_ratio" && there == 1;
        // A single store was drawn as all of them.
        if entities.is_empty() || is_alone {
            return None;
        }
        let (entities, panels) = match self.subject {
            "flow" if there > MOST_LINES && self.results.groups.len() == 1 => self.by_control(),
            _ => (entities.clone(), self.panels(&entities)),
        };
        let mut x = Axis::new("time", "s");
        x.most = Some(self.results.shown);
        let mut y = Axis::new(self.axis, self.unit);
        if ["utilization", "hit_ratio"].contains(&self.quantity) {
            y.most = Some(100.0);
        }
        Some(Picture {
            id: self.id.to_owned(),
            title: self.finding(&entities),
            caption: self.caption(entities.len(), there, &panels),
            form: Form::Time,
            x,
            y,
            panels,
            corner: if self.unit.is_empty() { String::new() } else { format!("in {}", self.unit) },
            heads: self.heads(),
        })
    }

    /// One panel if there are few lines, else one for each thing, else one for each group.
    fn panels(&self, entities: &[&'r str]) -> Vec<Panel> {
        let groups = self.results.groups.len();
        let all: Vec<usize> = (0..groups.min(MOST_PANELS)).collect();
        if groups * entities.len() <= MOST_LINES {
            vec![self.panel(String::new(), &all, entities, groups > 1, entities.len() > 1)]
        } else if groups <= MOST_LINES {
            entities
                .iter()
                .map(|one| self.panel(shown(self.subject, one), &all, &[one], true, false))
                .collect()
        } else {
            all.iter()
                .map(|group| {
                    let label = self.results.groups[*group].label.clone();
                    self.panel(label, &[*group], entities, false, true)
                })
                .collect()
        }
    }

    /// Many flows have one panel per scheme, so that none hides another.
    fn by_control(&self) -> (Vec<&'r str>, Vec<Panel>) {
        let flows = self.results.groups.first().and_then(|group| group.runs.first());
        let mut controls: Vec<&str> = Vec::new();
        for flow in flows.iter().flat_map(|run| &run.flows) {
            if !controls.contains(&flow.control.as_str()) && controls.len() < MOST_PANELS {
                controls.push(&flow.control);
            }
        }
        let (mut drawn, mut panels) = (Vec::new(), Vec::new());
        for control in controls {
            let (entities, there) = self.entities(Some(control));
            if entities.is_empty() {
                continue;
            }
            let title = match there > entities.len() {
                true => format!("{control}: {} of {there} flows", entities.len()),
                false => format!("{control}: {}", counted(there, "flow")),
            };
            panels.push(self.panel(title, &[0], &entities, false, true));
            drawn.extend(entities);
        }
        (drawn, panels)
    }

    fn heads(&self) -> Vec<String> {
        let heads: &[&str] = match self.is_sum {
            true => &["at the end"],
            false => &["mean", "least", "most", "at the end"],
        };
        heads.iter().map(|head| (*head).to_owned()).collect()
    }

    fn panel(
        &self,
        title: String,
        groups: &[usize],
        entities: &[&str],
        names_group: bool,
        names_entity: bool,
    ) -> Panel {
        // The neighbouring panel counts too.
        let all = self.results.groups.len() * self.things;
        let is_crowded = groups.len() * entities.len() > MOST_WITH_SAMPLES;
        let mut lines = Vec::new();
        let by_group = group_colours(&self.results.groups);
        for group in groups {
            for (number, entity) in entities.iter().enumerate() {
                let Some(tracks) = self.tracks(*group, entity) else { continue };
                let flow = self.flow(*group, entity);
                let colour = match (&flow, names_group) {
                    (Some((control, _)), _) => colours::scheme(control),
                    (None, true) => by_group[*group],
                    (None, false) if self.subject == "workload" => {
                        colours::thing(class_turn(self.results, entity))
                    }
                    (None, false) => colours::thing(number),
                };
                let name = flow.map_or_else(|| shown(self.subject, entity), |(_, name)| name);
                let group_label = &self.results.groups[*group].label;
                let label = match (names_group, names_entity || group_label.is_empty()) {
                    (true, true) if !group_label.is_empty() => format!("{group_label}: {name}"),
                    (true, false) => group_label.clone(),
                    _ => name,
                };
                lines.push(self.line(label, colour, tracks, all, is_crowded));
            }
        }
        let colours: Vec<usize> = lines.iter().map(|line| line.colour).collect();
        lines.iter_mut().zip(dashes(&colours)).for_each(|(l, dash)| l.dash = dash);
        let limits = self.limits(groups, entities);
        let moments = self.moments(groups);
        Panel { title, lines, limits, moments, ..Panel::default() }
    }

    /// The end of the warm-up, if it exists and matters.
    fn moments(&self, groups: &[usize]) -> Vec<Limit> {
        let matters = self.quantity == "hit_ratio" || self.subject == "workload";
        let &[group] = groups else { return Vec::new() };
        let runs = &self.results.groups[group].runs;
        let [run] = &**runs else { return Vec::new() };
        let ends = run.caching.iter().filter(|caching| matters && caching.warmup_detected);
        ends.map(|caching| caching.warmup_end_s)
            .filter(|end| *end > 0.0)
            .map(|value| Limit { label: "warm-up ends".to_owned(), value })
            .collect()
    }

    /// Control and short name of a flow.
    fn flow(&self, group: usize, entity: &str) -> Option<(String, String)> {
        if self.subject != "flow" {
            return None;
        }
        let flow = self.results.groups[group].flow(entity)?;
        let name = match self.results.groups[group].is_alone(flow) {
            true => format!("{} at {}", flow.control, flow.node),
            false => format!("{} at {}", flow.control, flow.flow),
        };
        Some((flow.control.clone(), name))
    }

    /// For a panel's lines. Among many lines, samples would hide the result.
    fn line(
        &self,
        label: String,
        colour: usize,
        tracks: &[Track],
        beside: usize,
        is_crowded: bool,
    ) -> Line {
        let first = &tracks[0];
        let runs = tracks.len() as f64;
        let mean = tracks.iter().map(Track::mean).sum::<f64>() / runs * self.factor;
        let end = tracks.iter().map(|track| track.last).sum::<f64>() / runs * self.factor;
        let least = tracks.iter().map(|track| track.least).fold(f64::INFINITY, f64::min);
        let most = tracks.iter().map(|track| track.most).fold(f64::NEG_INFINITY, f64::max);
        let cells = match self.is_sum {
            true => vec![whole(end)],
            false => [mean, least * self.factor, most * self.factor, end].map(digits).to_vec(),
        };
        let (smooth, band) = match tracks {
            [one] => (one.smooth(), Vec::new()),
            many => over_runs(many),
        };
        let (raw, smooth) = match tracks.len() {
            1 => samples(first, &smooth, MOST_POINTS / beside.max(1), is_crowded),
            _ => (Vec::new(), smooth),
        };
        Line {
            label,
            colour,
            raw: flat(&raw, self.factor),
            smooth: flat(&smooth, self.factor),
            band: band
                .iter()
                .flat_map(|[x, low, high]| [*x, low * self.factor, high * self.factor])
                .map(short)
                .collect(),
            cells,
            ..Line::default()
        }
    }

    fn limits(&self, groups: &[usize], entities: &[&str]) -> Vec<Limit> {
        let first_runs = groups.iter().filter_map(|group| self.results.groups[*group].runs.first());
        let links = first_runs.flat_map(|run| &run.links);
        let mut limits: Vec<Limit> = Vec::new();
        match self.quantity {
            "queue_packets" | "queue_bytes" => {
                for link in links {
                    if !entities.contains(&format!("{} > {}", link.from, link.to).as_str()) {
                        continue;
                    }
                    let limit = match self.quantity {
                        "queue_packets" => link.queue_limit_packets,
                        _ => link.queue_limit_bytes,
                    };
                    if let Some(limit) = limit {
                        let value = limit as f64 * self.factor;
                        // At most three, each value once.
                        if limits.len() < 3 && limits.iter().all(|limit| limit.value != value) {
                            let label = format!("limit {} {}", trimmed(value), self.unit);
                            limits.push(Limit { label, value });
                        }
                    }
                }
            }
            "goodput_mbps" => {
                let used = links.filter(|link| link.utilization > 0.02);
                let rates = used.filter_map(|link| Some((link.rate_mbps?, link)));
                if let Some((mbps, link)) = rates.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    let label = format!("{}: {}", way(&link.from, &link.to), rate(mbps));
                    limits.push(Limit { label, value: mbps });
                }
            }
            _ => {}
        }
        limits
    }

    /// The content of the picture in a sentence.
    fn finding(&self, entities: &[&str]) -> String {
        let mut means: Vec<(String, f64, f64)> = Vec::new();
        for (number, group) in self.results.groups.iter().enumerate() {
            for entity in entities {
                let Some(tracks) = self.tracks(number, entity) else { continue };
                let name = self
                    .flow(number, entity)
                    .map_or_else(|| shown(self.subject, entity), |(_, name)| name);
                let name = match (group.label.as_str(), self.subject) {
                    ("", _) => name,
                    (label, "network") => label.to_owned(),
                    (label, "workload" | "flow") if entities.len() == 1 => label.to_owned(),
                    (label, _) => format!("{label}: {name}"),
                };
                let sum: f64 = match self.is_sum {
                    true => tracks.iter().map(|track| track.last).sum(),
                    false => tracks.iter().map(Track::mean).sum(),
                };
                let mean = sum / tracks.len() as f64;
                let most = tracks.iter().map(|track| track.most).fold(0.0, f64::max);
                means.push((name, mean * self.factor, most * self.factor));
            }
        }
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (name, is_sum) = (self.name, self.is_sum);
        match &*means {
            [] => name.to_owned(),
            [(one, sum, _)] if is_sum => format!("{name}: {one} has {}", self.value(*sum)),
            [(_, most, _), .., (_, least, _)] if is_sum && most == least => {
                format!("{name}: all have {}", self.value(*most))
            }
            [(high, most, _), .., (low, least, _)] if is_sum => format!(
                "{name}: {high} has the most, {}; {low} has {}",
                self.value(*most),
                self.value(*least)
            ),
            [(_, mean, most)] if self.subject == "network" => {
                format!("{name}: {} on average, {} at most", self.value(*mean), self.value(*most))
            }
            [(one, mean, most)] => format!(
                "{name}: {one} has {} on average, {} at most",
                self.value(*mean),
                self.value(*most)
            ),
            [(_, most, _), .., (_, least, _)] if self.value(*most) == self.value(*least) => {
                format!("{name}: all have {} on average", self.value(*most))
            }
            [(high, most, _), .., (low, least, _)] => format!(
                "{name}: {high} has the most, {} on average; {low} has {}",
                self.value(*most),
                self.value(*least)
            ),
        }
    }

    /// A value of the title, with its unit.
    fn value(&self, value: f64) -> String {
        match (self.is_sum, self.unit) {
            (true, "") => whole(value),
            (true, unit) => format!("{} {unit}", whole(value)),
            (false, unit) => with_unit(value, unit),
        }
    }

    fn caption(&self, drawn: usize, there: usize, panels: &[Panel]) -> String {
        let mut caption = experiment(self.results);
        if drawn < there {
            let (what, which) = match self.subject {
                "link" => ("directions of links", "most of it"),
                "flow" => ("flows", "brought most"),
                "workload" => ("classes", "most of it"),
                "node" if self.quantity == "hit_ratio" => ("stores", "answered most"),
                _ => ("nodes", "most of it"),
            };
            let one = if drawn == 1 { "the one" } else { "those" };
            let has = match (which, drawn) {
                ("most of it", 1) => "that has ",
                ("most of it", _) => "that have ",
                _ => "that ",
            };
            caption += &format!(
                " Drawn: {drawn} of {there} {what}, {one} {has}{which}; series.parquet has all."
            );
        }
        let groups = &self.results.groups;
        let tracks: Vec<&Track> = groups
            .iter()
            .flat_map(|group| &group.tracks)
            .filter(|(key, _)| key.0 == self.subject && key.1 == self.quantity)
            .flat_map(|(_, tracks)| tracks)
            .collect();
        let Some(first) = tracks.first() else { return caption };
        let repetitions = groups.iter().map(|group| group.runs.len()).max().unwrap_or(1);
        let span = with_unit(first.bucket() * 1e3, "ms");
        if repetitions > 1 {
            caption += &format!(
                " Lines: means over {span} and {}; bands: 95 % confidence intervals over the \
                 seeds, by Student's t, where all seeds have a value.",
                counted(repetitions, "seed")
            );
        } else if tracks.iter().any(|t| t.count > 2 * t.smooth().len() as u64) {
            caption += &match panels.iter().any(|panel| panel.lines.iter().any(Line::has_both)) {
                true => format!(" Faint: samples; lines: means over {span}."),
                false => format!(" Lines: means over {span}."),
            };
        }
        if repetitions == 1 && tracks.iter().any(|track| track.is_thinned()) {
            caption += " Of the samples the extremes are drawn; series.parquet has all.";
        }
        if are_cut(panels, &Axis::default()) {
            caption += " Bands end at the edge of the axis, whose range the means decide.";
        }
        if groups.len() > MOST_PANELS {
            let [first, last] = [&groups[0], &groups[MOST_PANELS - 1]].map(|group| &group.label);
            caption += &format!(
                " Drawn are the first {MOST_PANELS} of {} combinations in the order of the sweep, \
                 from {first} to {last}, because more panels would be too many to compare; the \
                 title is about all, and series.parquet has all.",
                groups.len()
            );
        }
        caption
    }
}

/// A count, without decimals unless it is the mean of several.
fn whole(value: f64) -> String {
    match value.fract() {
        0.0 => format!("{value:.0}"),
        _ => digits(value),
    }
}

/// A thing's name as people read it.
fn shown(subject: &str, entity: &str) -> String {
    match subject {
        "network" => "all stores".to_owned(),
        _ => entity.replace(" > ", " → "),
    }
}

/// The index of a class among those of all workloads.
pub fn class_turn(results: &Results, label: &str) -> usize {
    let classes = results.runs().next().into_iter().flat_map(|run| &run.workloads);
    let mut labels = classes.map(|one| class_label(&one.workload, &one.class));
    labels.position(|one| one == label).unwrap_or(0)
}

/// The importance of an item: for flows their bytes, for others their values.
fn weight(group: &Group, [subject, quantity, entity]: [&str; 3], tracks: &[Track]) -> f64 {
    let found = match subject {
        "flow" => group.flow(entity).map(|flow| flow.bytes as f64),
        "node" if quantity == "hit_ratio" => {
            let nodes = group.runs.first().map(|run| run.nodes.iter());
            nodes.and_then(|mut all| all.find(|n| n.node == entity)).map(|n| n.cs_hits as f64)
        }
        _ => None,
    };
    found.unwrap_or_else(|| tracks.first().map_or(0.0, Track::mean))
}

/// Mean over the runs in each bucket, and its interval if all runs have a value, cut at the
/// observed range: no queue is shorter than zero.
fn over_runs(tracks: &[Track]) -> (Vec<(f64, f64)>, Vec<[f64; 3]>) {
    let mut buckets: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
    for (time, value) in tracks.iter().flat_map(Track::smooth) {
        let bucket = (time / tracks[0].bucket()) as u64;
        buckets.entry(bucket).or_insert((time, Vec::new())).1.push(value);
    }
    let least = tracks.iter().map(|track| track.least).fold(f64::INFINITY, f64::min);
    let most = tracks.iter().map(|track| track.most).fold(f64::NEG_INFINITY, f64::max);
    let (mut means, mut band) = (Vec::new(), Vec::new());
    for (time, values) in buckets.into_values() {
        let Some(mean) = Mean::of(&values) else { continue };
        means.push((time, mean.mean));
        if let Some(half) = mean.ci95.filter(|_| values.len() == tracks.len()) {
            band.push([time, (mean.mean - half).max(least), (mean.mean + half).min(most)]);
        }
    }
    (means, band)
}
