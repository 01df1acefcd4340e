//! Results read from folders: runs, grouped by equal settings.

use crate::error::ReportError;
use crate::files::{COMMAND, LAYOUT, SERIES_FILE, SUMMARY, Summary, VERSION};
use crate::parquet_file::ParquetError::General;
use crate::parquet_file::read_series;
use crate::ratios::derive;
use crate::track::{Key, Track};
use scenario::result::{Combination, Flow, Link, RunResult, varying};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of tracks without a value, in addition to one per value.
const MOST_EMPTY: usize = 65_536;

/// Runs that differ in their seeds alone.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its distinguishing settings; empty if it is the only one.
    pub label: String,
    /// The place of the folder that it is from among the sources.
    pub source: usize,
    /// Its runs.
    pub runs: Vec<RunResult>,
    /// The places of nodes in a drawing.
    pub places: BTreeMap<String, [f64; 2]>,
    /// The time series of each of its runs, in their order.
    pub tracks: BTreeMap<Key, Vec<Track>>,
    /// The places of flows in the list of the first run, by label.
    flows: BTreeMap<String, usize>,
    /// The number of flows of a node with a control.
    alike: BTreeMap<(String, String), usize>,
}

impl Group {
    fn new(label: String, source: usize, first: &RunResult) -> Group {
        let mut group = Group { label, source, ..Group::default() };
        for (turn, flow) in first.flows.iter().enumerate() {
            group.flows.insert(flow.flow.clone(), turn);
            *group.alike.entry((flow.node.clone(), flow.control.clone())).or_default() += 1;
        }
        group
    }

    /// The flow with this label, in the first run.
    pub fn flow(&self, label: &str) -> Option<&Flow> {
        self.runs.first()?.flows.get(self.turn(label)?)
    }

    /// Its place among the flows.
    pub fn turn(&self, label: &str) -> Option<usize> {
        self.flows.get(label).copied()
    }

    /// No other flow has its control at its node.
    pub fn is_alone(&self, flow: &Flow) -> bool {
        self.alike.get(&(flow.node.clone(), flow.control.clone())) == Some(&1)
    }
}

/// For each run of a folder its group and its place there, if it counts.
type Places = Vec<Option<(usize, usize)>>;

/// Where results come from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The folder's name.
    pub name: String,
    /// The program that made them.
    pub version: String,
    /// The command line.
    pub command: String,
    /// The scenario files: name and text.
    pub scenarios: Vec<(String, String)>,
}

/// The results of one folder or of several.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Runs by equal settings.
    pub groups: Vec<Group>,
    /// Where they come from.
    pub sources: Vec<Source>,
    /// The summary of each group, with its label.
    pub combinations: Vec<(String, Combination)>,
    /// Interrupted runs in folders with complete ones. They are not in `groups`, because they cover
    /// another time than the others.
    pub interrupted: usize,
    /// The fields that sweeps set differently.
    pub keys: Vec<String>,
    /// Seconds that pictures show at first: until the last flow ended.
    pub shown: f64,
}

impl Results {
    /// Reads folders written by `--out`.
    ///
    /// # Errors
    /// One of them has no results, or they cannot be read.
    pub fn read(folders: &[PathBuf]) -> Result<Results, ReportError> {
        let (mut results, places) = Results::summarised(folders)?;
        for (folder, places) in folders.iter().zip(&places) {
            results.series(folder, places)?;
        }
        results.groups.iter_mut().for_each(|group| derive(&mut group.tracks));
        Ok(results)
    }

    /// Reads folders written by `--out`, without their time series.
    ///
    /// # Errors
    /// One of them has no results, or they cannot be read.
    pub fn summaries(folders: &[PathBuf]) -> Result<Results, ReportError> {
        Results::summarised(folders).map(|(results, _)| results)
    }

    fn summarised(folders: &[PathBuf]) -> Result<(Results, Vec<Places>), ReportError> {
        let mut results = Results::default();
        let mut places = Vec::new();
        let names = names(folders);
        for (folder, name) in folders.iter().zip(&names) {
            let summary = summary(folder)?;
            let above = if folders.len() > 1 { name.as_str() } else { "" };
            let first = results.groups.len();
            places.push(results.add(above, &summary));
            results.sources.push(source(folder, name)?);
            let layout = layout(folder)?;
            results.groups[first..].iter_mut().for_each(|group| group.places.clone_from(&layout));
        }
        results.shown = shown(&results.groups);
        results.combinations = results.groups.iter().map(summed).collect();
        Ok((results, places))
    }

    /// Adds the runs of a folder: for each the group that it belongs to, if it counts.
    fn add(&mut self, above: &str, summary: &Summary) -> Places {
        let (first, source) = (self.groups.len(), self.sources.len());
        let mut places = Vec::new();
        let settings: Vec<_> =
            summary.runs().iter().map(|run| run.id.settings.as_slice()).collect();
        let keys = varying(&settings);
        for key in &keys {
            if !self.keys.iter().any(|known| known == key) {
                self.keys.push((*key).to_owned());
            }
        }
        let has_whole = summary.runs().iter().any(|run| !run.interrupted);
        for run in summary.runs() {
            if run.interrupted && has_whole {
                self.interrupted += 1;
                places.push(None);
                continue;
            }
            let label = label(above, &run.id.settings, &keys);
            let known = self.groups[first..].iter().position(|group| group.label == label);
            let place = known.map_or(self.groups.len(), |place| first + place);
            if known.is_none() {
                self.groups.push(Group::new(label, source, run));
            }
            places.push(Some((place, self.groups[place].runs.len())));
            self.groups[place].runs.push(run.clone());
        }
        places
    }

    fn series(
        &mut self,
        folder: &Path,
        places: &[Option<(usize, usize)>],
    ) -> Result<(), ReportError> {
        let path = folder.join(SERIES_FILE);
        if !path.exists() {
            return Ok(());
        }
        let shown = self.shown;
        let groups = &mut self.groups;
        let mut key: Key = Key::default();
        let (mut rows, mut made) = (0, 0);
        let read = read_series(&path, |row| {
            rows += 1;
            let Some((group, run)) = places.get(row.run).copied().flatten() else {
                return Ok(());
            };
            let Group { runs, tracks, .. } = &mut groups[group];
            for (part, text) in
                [(&mut key.0, row.subject), (&mut key.1, row.quantity), (&mut key.2, row.entity)]
            {
                part.clear();
                part.push_str(text);
            }
            let list = match tracks.get_mut(&key) {
                Some(list) => list,
                None => tracks.entry(key.clone()).or_default(),
            };
            // Runs without this quantity have a track beside it. A few values in a file must not
            // create one for each of any number of runs.
            if made + (run + 1).saturating_sub(list.len()) > rows + MOST_EMPTY {
                return Err(General("the runs have hardly any values".to_owned()));
            }
            while list.len() <= run {
                list.push(Track::new(runs[list.len()].duration_s, shown));
                made += 1;
            }
            list[run].add(row.time_s, row.value);
            Ok(())
        });
        read.map_err(|error| ReportError::damaged(&path, &error))
    }

    /// The runs of a folder, by its index among the sources.
    pub fn of(&self, source: usize) -> impl Iterator<Item = &RunResult> {
        self.groups.iter().filter(move |group| group.source == source).flat_map(|g| &g.runs)
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &RunResult> {
        self.groups.iter().flat_map(|group| &group.runs)
    }
}

/// The time of the means of links in tables and pictures.
pub const SPAN: &str = "Use and mean queues of links are of the time until the last flow ended.";

/// The share of the time until the last flow ended in which a direction of a link was used.
pub fn used(run: &RunResult, link: &Link) -> f64 {
    (link.utilization * run.duration_s / run.last_end_s().max(1e-9)).min(1.0)
}

/// A direction of a link with its means over the time until the last flow ended, after which there
/// is little traffic.
#[must_use]
pub fn until_the_end(run: &RunResult, link: &Link) -> Link {
    let longer = run.duration_s / run.last_end_s().max(1e-9);
    Link {
        utilization: used(run, link),
        queue_mean_bytes: link.queue_mean_bytes * longer.max(1.0),
        ..link.clone()
    }
}

/// The most used direction of a link.
pub fn busiest(run: &RunResult) -> Option<&Link> {
    run.links.iter().max_by(|a, b| a.utilization.total_cmp(&b.utilization))
}

fn summed(group: &Group) -> (String, Combination) {
    let runs: Vec<&RunResult> = group.runs.iter().collect();
    (group.label.clone(), Combination::of(&[], &runs))
}

/// Until the last flow ended, and a little more; the whole run if one did not end.
fn shown(groups: &[Group]) -> f64 {
    let ends = groups.iter().flat_map(|group| &group.runs);
    let ends = ends.map(|run| (run.last_end_s() * 1.03).min(run.duration_s));
    ends.fold(0.0, f64::max)
}

/// The values that a sweep varied, under the names of [`Results::keys`].
fn label(above: &str, settings: &[(String, String)], keys: &[&str]) -> String {
    let varied = settings.iter().filter(|(key, _)| keys.contains(&key.as_str()));
    let parts = std::iter::once(above).chain(varied.map(|(_, value)| value.as_str()));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn summary(folder: &Path) -> Result<Summary, ReportError> {
    let path = folder.join(SUMMARY);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            ReportError::NoResults { path: folder.to_owned(), file: SUMMARY }
        }
        _ => ReportError::read(&path, error),
    })?;
    Summary::read(&text).map_err(|error| ReportError::damaged(&path, &error))
}

/// The places of nodes. Results copied without them are still drawn.
fn layout(folder: &Path) -> Result<BTreeMap<String, [f64; 2]>, ReportError> {
    let path = folder.join(LAYOUT);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(BTreeMap::new()) };
    serde_json::from_str(&text).map_err(|error| ReportError::damaged(&path, &error))
}

/// The names of folders: their last components, or the full paths if two are equal.
fn names(folders: &[PathBuf]) -> Vec<String> {
    let mut last: Vec<String> = Vec::new();
    for folder in folders {
        let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        let name = whole.file_name().unwrap_or_default();
        last.push(name.to_string_lossy().into_owned());
    }
    folders
        .iter()
        .zip(&last)
        .map(|(folder, name)| match last.iter().filter(|other| *other == name).count() {
            1 => name.clone(),
            _ => folder.display().to_string(),
        })
        .collect()
}

fn source(folder: &Path, name: &str) -> Result<Source, ReportError> {
    let names = scenarios(folder).map_err(|error| ReportError::read(folder, error))?;
    Ok(Source {
        name: name.to_owned(),
        version: text(folder, VERSION).trim().to_owned(),
        command: text(folder, COMMAND).trim().to_owned(),
        scenarios: names.iter().map(|name| (name.clone(), text(folder, name))).collect(),
    })
}

/// The names of the scenarios' files, in their order.
fn scenarios(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("scenario") && name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort_by_key(|name| (name.len(), name.clone()));
    Ok(names)
}

/// The text of a file; empty without it.
fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

#[cfg(test)]
impl Results {
    /// The runs of folders with these names.
    pub fn of_runs(folders: &[(&str, Vec<RunResult>)]) -> Results {
        use scenario::result::SweepResult;
        let mut results = Results::default();
        for (name, runs) in folders {
            let sweep = SweepResult { runs: runs.clone(), ..SweepResult::default() };
            results.add(name, &Summary::Sweep(sweep));
            let [version, command] = [String::new(), String::new()];
            let name = (*name).to_owned();
            results.sources.push(Source { name, version, command, scenarios: Vec::new() });
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet_file::SeriesWriter;
    use scenario::series::{Row, Subject};
    use std::sync::Arc;

    /// The result of a value of each of `things` in the last of this many runs.
    fn read(runs: usize, things: usize) -> Result<usize, ReportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SERIES_FILE);
        let mut writer = SeriesWriter::create(&path, runs - 1, Vec::new()).unwrap();
        for thing in 0..things {
            let entity = &Arc::from(thing.to_string());
            let (subject, quantity) = (Subject::Node, "x");
            writer.row(&Row { time_s: 0.5, subject, entity, quantity, value: 1.0 }).unwrap();
        }
        writer.close().unwrap();
        let mut results = Results::of_runs(&[("one", vec![RunResult::default(); runs])]);
        let places: Vec<_> = (0..runs).map(|run| Some((0, run))).collect();
        results.series(folder.path(), &places)?;
        Ok(results.groups[0].tracks.values().map(Vec::len).sum())
    }

    #[test]
    fn a_few_values_of_many_runs_do_not_make_a_track_in_each() {
        assert_eq!(read(100, 10).unwrap(), 1000);
        let error = read(1000, 100).unwrap_err().to_string();
        assert!(error.contains("hardly any values"), "{error}");
    }
}
