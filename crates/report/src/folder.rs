//! The folder that `--out` names.
//!
//! It is written beside its place and moved there when complete, so it is never partial. Data go to
//! disk while the runs continue.

mod unfinished;

use crate::error::ReportError;
use crate::files::{
    COMMAND, FLOWS_FILE, LAYOUT, REPORT, RUNS_FILE, SERIES_FILE, SUMMARY, Summary, VERSION,
};
use crate::page::page;
use crate::parquet_file::{
    self, Column, Constant, ParquetError, SERIES, SeriesWriter, read_series,
};
use crate::runs_file;
use scenario::result::{Flow, Kind, RunResult, SweptField, Value};
use scenario::series::{Row, Rows};
use scenario::{Batch, Layout};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// The content of [`VERSION`].
const VERSION_TEXT: &str = concat!("weir ", env!("CARGO_PKG_VERSION"), "\n");

/// A folder that is being written.
pub struct Folder {
    place: PathBuf,
    /// The fields that the sweep sets.
    swept: Vec<SweptField>,
    beside: TempDir,
    /// Held during the life of this process: no other process removes its unfinished folder.
    alive: Option<File>,
    failed: Failed,
}

/// The first error.
type Failed = Arc<Mutex<Option<ReportError>>>;

impl Folder {
    /// Begins; checks at once that the folder can be written.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(place: &Path, batch: &Batch) -> Result<Folder, ReportError> {
        let (beside, alive) = prepare(place).map_err(|error| ReportError::write(place, error))?;
        let swept = SweptField::of(batch.runs.iter().map(|run| run.settings.as_slice()));
        Ok(Folder { place: place.to_owned(), swept, beside, alive, failed: Failed::default() })
    }

    /// The complete runs of a batch in the existing results, by their index in the batch. Their
    /// rows are copied. `None` without results.
    ///
    /// # Errors
    /// The results are of another scenario or another version, or cannot be read.
    pub fn resume(&self, batch: &Batch) -> Result<BTreeMap<usize, RunResult>, ReportError> {
        let summary = match fs::read_to_string(self.place.join(SUMMARY)) {
            Ok(text) => Summary::read(&text)
                .map_err(|error| ReportError::damaged(&self.place.join(SUMMARY), &error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(BTreeMap::new());
            }
            Err(error) => return Err(ReportError::read(&self.place, error)),
        };
        let is_same = self.existing_text(VERSION) == VERSION_TEXT
            && scenarios(batch).all(|(name, text)| self.existing_text(&name) == **text);
        if !is_same {
            return Err(ReportError::OtherResults { path: self.place.clone() });
        }
        let mut done: BTreeMap<usize, RunResult> =
            summary.runs().iter().cloned().enumerate().collect();
        done.retain(|place, run| {
            let wanted = batch.runs.get(*place);
            !run.interrupted
                && wanted.is_some_and(|w| w.seed == run.id.seed && w.settings == run.id.settings)
        });
        self.take_over(batch, &done)?;
        Ok(done)
    }

    /// The text of a file of the existing results; empty without the file.
    fn existing_text(&self, name: &str) -> String {
        fs::read_to_string(self.place.join(name)).unwrap_or_default()
    }

    /// Copies the rows of these runs from the results which are in the place now.
    fn take_over(
        &self,
        batch: &Batch,
        done: &BTreeMap<usize, RunResult>,
    ) -> Result<(), ReportError> {
        let from = self.place.join(SERIES_FILE);
        if !from.exists() {
            return Ok(());
        }
        let mut writers = BTreeMap::new();
        for run in done.keys() {
            let part = self.part(*run);
            let writer = SeriesWriter::create(&part, *run, self.constants(batch, *run))
                .map_err(|error| ReportError::write(&part, error))?;
            writers.insert(*run, writer);
        }
        let mut first = None;
        let read = read_series(&from, |row| {
            if let Some(writer) = writers.get_mut(&row.run)
                && let Err(error) = writer.copy(row)
            {
                first.get_or_insert((row.run, error));
            }
            Ok(())
        });
        read.map_err(|error| ReportError::damaged(&from, &error))?;
        if let Some((run, error)) = first {
            return Err(ReportError::write(&self.part(run), error));
        }
        for (run, writer) in writers {
            writer.close().map_err(|error| ReportError::write(&self.part(run), error))?;
        }
        Ok(())
    }

    /// The swept fields of a run.
    fn constants(&self, batch: &Batch, run: usize) -> Vec<Constant> {
        let settings = batch.runs.get(run).map_or(&[][..], |run| &run.settings);
        self.swept
            .iter()
            .map(|field| Constant { column: Column::swept(field), value: field.value(settings) })
            .collect()
    }

    /// Takes the rows of a run, by its index in the batch.
    #[must_use]
    pub fn rows(&self, batch: &Batch, run: usize) -> Box<dyn Rows> {
        let path = self.part(run);
        let writer = SeriesWriter::create(&path, run, self.constants(batch, run));
        let failed = Arc::clone(&self.failed);
        let mut part = Part { path, writer: None, failed };
        match writer {
            Ok(writer) => part.writer = Some(writer),
            Err(error) => part.fail(error),
        }
        Box::new(part)
    }

    fn part(&self, run: usize) -> PathBuf {
        self.beside.path().join(format!("series-{run}.part"))
    }

    /// Writes the rest and moves everything to its place. `command` is the command line.
    ///
    /// # Errors
    /// A file cannot be written, or could not be during the runs.
    pub fn finish(
        self,
        batch: &Batch,
        summary: &Summary,
        command: &str,
    ) -> Result<(), ReportError> {
        if let Some(error) = self.failed.lock().ok().and_then(|mut failed| failed.take()) {
            return Err(error);
        }
        let json = serde_json::to_string_pretty(summary)
            .map_err(|error| ReportError::write(&self.place.join(SUMMARY), error))?;
        self.text(SUMMARY, &(json + "\n"))?;
        self.text(VERSION, VERSION_TEXT)?;
        self.text(COMMAND, &format!("{command}\n"))?;
        scenarios(batch).try_for_each(|(name, text)| self.text(&name, text))?;
        self.layout(batch)?;
        self.flows(summary.runs())?;
        self.table(summary.runs())?;
        self.series(batch.runs.len())?;
        self.text(REPORT, &page(&[self.beside.path().to_owned()])?)?;
        self.move_in()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.beside.path().join(name)
    }

    fn text(&self, name: &str, text: &str) -> Result<(), ReportError> {
        fs::write(self.path(name), text)
            .map_err(|error| ReportError::write(&self.place.join(name), error))
    }

    fn layout(&self, batch: &Batch) -> Result<(), ReportError> {
        let Some(run) = batch.runs.first() else { return Ok(()) };
        let places = Layout::new(&run.scenario).places;
        let names = run.scenario.nodes.iter().map(|node| node.name.as_str());
        let places: BTreeMap<&str, [f64; 2]> = names.zip(places).collect();
        self.text(LAYOUT, &serde_json::to_string(&places).unwrap_or_default())
    }

    fn flows(&self, runs: &[RunResult]) -> Result<(), ReportError> {
        let rows = runs.iter().enumerate().flat_map(|(number, run)| {
            let settings: Vec<String> =
                run.id.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let about = [
                Value::Count(number as u64),
                Value::Count(run.id.seed),
                Value::Text(run.id.scenario.clone()),
                Value::Text(settings.join(" ")),
            ];
            let swept: Vec<Value> =
                self.swept.iter().map(|field| field.value(&run.id.settings)).collect();
            run.flows
                .iter()
                .map(move |flow| about.iter().chain(&swept).cloned().chain(flow.values()).collect())
        });
        parquet_file::write_records(&self.path(FLOWS_FILE), &flow_columns(&self.swept), rows)
            .map_err(|error| ReportError::write(&self.place.join(FLOWS_FILE), error))
    }

    fn table(&self, runs: &[RunResult]) -> Result<(), ReportError> {
        File::create(self.path(RUNS_FILE))
            .map_err(csv::Error::from)
            .and_then(|file| runs_file::write(file, &self.swept, runs))
            .map_err(|error| {
                ReportError::write(&self.place.join(RUNS_FILE), io::Error::from(error))
            })
    }

    fn series(&self, runs: usize) -> Result<(), ReportError> {
        let parts: Vec<PathBuf> =
            (0..runs).map(|run| self.part(run)).filter(|part| part.exists()).collect();
        self.join(&parts).map_err(|error| ReportError::write(&self.place.join(SERIES_FILE), error))
    }

    /// Makes one file of the runs' files.
    fn join(&self, parts: &[PathBuf]) -> Result<(), ParquetError> {
        let to = self.path(SERIES_FILE);
        if let [only] = parts {
            return Ok(fs::rename(only, to)?);
        }
        let swept = self.swept.iter().map(Column::swept);
        let columns: Vec<Column> = SERIES.iter().cloned().chain(swept).collect();
        parquet_file::concatenate(&columns, parts, &to)?;
        for part in parts {
            fs::remove_file(part)?;
        }
        Ok(())
    }

    fn move_in(self) -> Result<(), ReportError> {
        let Folder { place, beside, alive, .. } = self;
        // A folder without a lock is never removed by others.
        unfinished::finish(beside.path(), alive)
            .and_then(|()| replace(&place, beside))
            .map_err(|error| ReportError::write(&place, error))
    }
}

/// The files with the scenarios of a batch, and their texts: of a sweep one for each combination,
/// numbered.
fn scenarios(batch: &Batch) -> impl Iterator<Item = (String, &Arc<str>)> {
    let each = usize::try_from(batch.repetitions).unwrap_or(1).max(1);
    let firsts = batch.runs.iter().step_by(each).enumerate();
    firsts.map(|(number, run)| match batch.is_sweep {
        true => (format!("scenario-{number}.toml"), &run.filled),
        false => ("scenario.toml".to_owned(), &run.filled),
    })
}

/// Begins a folder beside the place, or in it if it exists, and locks it.
fn prepare(place: &Path) -> io::Result<(TempDir, Option<File>)> {
    let above = place.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    fs::create_dir_all(above)?;
    // An existing folder may be on another disk: its files are moved one by one.
    let home = match fs::metadata(place) {
        Ok(meta) if meta.is_dir() => place,
        Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
        Err(_) => {
            // Better now than after the runs: not every file system takes every name.
            if let Err(error) = fs::create_dir(place)
                && !place.is_dir()
            {
                return Err(error);
            }
            // Another run may already use it.
            let _ = fs::remove_dir(place);
            above
        }
    };
    unfinished::sweep(above);
    unfinished::sweep(place);
    unfinished::begin(home)
}

/// Moves the finished files to their place.
fn replace(place: &Path, beside: TempDir) -> io::Result<()> {
    if !place.exists() {
        fs::rename(beside.path(), place)?;
        // It has been moved.
        let _ = beside.keep();
        return Ok(());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(beside.path())? {
        names.push(entry?.file_name());
    }
    // Scenarios and the page of the former results.
    for entry in fs::read_dir(place)? {
        let name = entry?.file_name();
        if is_ours(&name.to_string_lossy()) && !names.contains(&name) {
            fs::remove_file(place.join(name))?;
        }
    }
    for name in names {
        fs::rename(beside.path().join(&name), place.join(name))?;
    }
    Ok(())
}

/// True if the results of this batch in `place` would overwrite, or remove, the scenario from which
/// it was read. The same text in its place is no loss: a scenario of earlier results can be run
/// again.
#[must_use]
pub fn overwrites(place: &Path, batch: &Batch, scenario: &Path) -> bool {
    // By a link it may have another name.
    let Ok(scenario) = scenario.canonicalize() else { return false };
    let name = scenario.file_name().unwrap_or_default().to_string_lossy();
    if !is_ours(&name) || !place.join(&*name).canonicalize().is_ok_and(|there| there == scenario) {
        return false;
    }
    let text = fs::read_to_string(&scenario).unwrap_or_default();
    !scenarios(batch).any(|(own, filled)| own == name && **filled == text)
}

/// True for the name of a file with results, and not with the page that shows them.
#[must_use]
pub fn is_result(name: &str) -> bool {
    is_ours(name) && name != REPORT
}

/// Returns `true` for names of files that this program writes into such a folder.
fn is_ours(name: &str) -> bool {
    let numbered = name.strip_prefix("scenario-").and_then(|rest| rest.strip_suffix(".toml"));
    [SUMMARY, SERIES_FILE, FLOWS_FILE, RUNS_FILE, LAYOUT, VERSION, COMMAND, REPORT, "scenario.toml"]
        .contains(&name)
        || numbered.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The columns of `flows.parquet` with these swept fields.
#[must_use]
pub fn flow_columns(swept: &[SweptField]) -> Vec<Column> {
    let about = [
        ("run", Kind::Count, "the run, as in the series"),
        ("seed", Kind::Count, "its seed"),
        ("scenario", Kind::Text, "the scenario's name"),
        ("settings", Kind::Text, "what a sweep set for it, `field=value` one behind the other"),
    ];
    let about =
        about.map(|(name, kind, help)| Column { name: name.into(), kind, optional: false, help });
    let fields = Flow::FIELDS.iter().map(|field| Column {
        name: field.name.into(),
        kind: field.kind,
        optional: field.optional,
        help: field.help,
    });
    about.into_iter().chain(swept.iter().map(Column::swept)).chain(fields).collect()
}

/// The rows of a run in transit to the disk.
struct Part {
    path: PathBuf,
    writer: Option<SeriesWriter>,
    failed: Failed,
}

impl Part {
    fn fail(&mut self, error: ParquetError) {
        if let Ok(mut failed) = self.failed.lock() {
            failed.get_or_insert(ReportError::write(&self.path, error));
        }
    }
}

impl Rows for Part {
    fn row(&mut self, row: &Row<'_>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.row(row) {
            self.writer = None;
            self.fail(error);
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.writer.take().map(SeriesWriter::close) {
            self.fail(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_had_is_an_error_before_the_runs() {
        let home = tempfile::tempdir().unwrap();
        let batch =
            Batch { name: "test".into(), runs: Vec::new(), repetitions: 1, is_sweep: false };
        // No file system in use takes more than 255 bytes.
        assert!(Folder::begin(&home.path().join("x".repeat(300)), &batch).is_err());
        let place = home.path().join("results");
        let folder = Folder::begin(&place, &batch).unwrap();
        assert!(!place.exists(), "a folder without results is not there");
        drop(folder);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_scenario_in_the_folder_of_the_results_is_kept_by_whatever_path_it_was_read() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let batch =
            Batch { name: "test".into(), runs: Vec::new(), repetitions: 1, is_sweep: false };
        fs::create_dir(at("results")).unwrap();
        fs::write(at("results/scenario.toml"), "[scenario]").unwrap();
        fs::write(at("other.toml"), "[scenario]").unwrap();
        std::os::unix::fs::symlink("results/scenario.toml", at("link.toml")).unwrap();
        std::os::unix::fs::symlink("../other.toml", at("results/summary.json")).unwrap();
        for read in ["results/scenario.toml", "link.toml"] {
            assert!(overwrites(&at("results"), &batch, &at(read)), "{read}");
        }
        assert!(!overwrites(&at("results"), &batch, &at("other.toml")));
        assert!(!overwrites(&at("new"), &batch, &at("link.toml")));
    }
}
