//! `weir study`

mod arenas;
mod daemons;
mod pages;
mod records;
mod shared;
mod tables;

use crate::cli::StudyArgs;
use crate::cli::sweep::EngineWord;
use crate::commands::jobs::jobs;
use crate::exit::{Failure, Kind};
use crate::output::{self, RunProgress};
use crate::signals::Stop;
use records::Folder;
use scenario::{OnHashing, Progress, Watch};
use schemars::JsonSchema;
use serde::Serialize;
use shared::{OUT, all_ran};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use study::{OnDaemons, Outcome, Quickness, Study, StudyError};

/// The result of `weir study`: of a folder that is a study, with `--all`, with `--testbed`, or of a
/// folder that is an arena.
#[cfg(test)]
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub enum Printed<'a> {
    /// A study.
    Study(Outcome),
    /// All studies of a folder, with `--all`.
    All(All<'a>),
    /// Studies on real daemons, with `--testbed`.
    AllOnDaemons(AllOnDaemons<'a>),
    /// An arena.
    Arena(arena::Outcome),
}

/// Several studies.
#[derive(JsonSchema, Serialize)]
pub struct All<'a> {
    /// The studies.
    studies: &'a [Outcome],
}

/// Several studies on real daemons.
#[derive(JsonSchema, Serialize)]
pub struct AllOnDaemons<'a> {
    /// The studies.
    studies: &'a [OnDaemons],
}

/// The default folder of studies.
const STUDIES: &str = "scenarios";

/// Runs the command.
pub fn run(args: &StudyArgs) -> Result<(), Failure> {
    if let Some(engine @ (EngineWord::Ray | EngineWord::Dask)) = args.shared.engine {
        return shared::on_cluster(args, engine);
    }
    let given = args.folder.clone();
    if let Some(folder) = given.as_deref().filter(|folder| folder.join(arena::FILE).is_file())
        && !args.all
    {
        return arenas::run(folder, args);
    }
    if args.seeds.is_some() {
        let what = "--seeds is for an arena: the seeds of a study are in its expected.toml";
        return Err(Failure::new(Kind::Usage, what).then("leave --seeds out"));
    }
    let folders: Vec<PathBuf> = match args.all {
        true => study::find(&given.unwrap_or_else(|| STUDIES.into())).map_err(|e| unread(&e))?,
        false => given.into_iter().collect(),
    };
    // All are read before one is run: a mistake in the last should not show after an hour.
    let studies = folders.iter().map(|folder| load(folder, args)).collect::<Result<Vec<_>, _>>()?;
    if args.shared.plan {
        let plans = studies.iter().map(records::of_study).collect::<Result<Vec<_>, _>>()?;
        return shared::print(&plans);
    }
    if args.testbed {
        super::testbed::ensure_rights()?;
    }
    let stop = Stop::listen().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot listen to signals: {error}"))
    })?;
    let jobs = jobs(args.jobs);
    if !args.shared.run.is_empty() {
        return some(&studies, args, jobs, &stop);
    }
    let out = args.out.clone().unwrap_or_else(|| OUT.into());
    pages::begin(&out)?;
    let mut outcomes = Vec::new();
    if args.testbed {
        return on_testbed(&studies, &out, args, &stop);
    }
    for study in &studies {
        let kept = folder(study, args)?;
        let watch = Watcher::new(study, stop.clone(), args.quiet || args.json);
        let kept: &dyn study::Records = match &kept {
            Some(kept) => kept,
            None => &(),
        };
        let outcome = study::perform_with(study, jobs, &watch, kept);
        watch.end();
        if !args.json && !args.quiet {
            tables::study(study, &outcome)?;
        }
        pages::study(&out, study, &outcome)?;
        let interrupted = outcome.interrupted;
        outcomes.push(outcome);
        if interrupted {
            break;
        }
    }
    pages::index(&out)?;
    if !args.json && !args.quiet {
        output::note(&format!("written to {}", out.display()));
    }
    match (args.json, &*outcomes) {
        (true, [only]) if !args.all => output::json(only)?,
        (true, all) => output::json(&All { studies: all })?,
        _ => {}
    }
    verdict(&outcomes)
}

/// The records of a study, if they are kept.
fn folder(study: &Study, args: &StudyArgs) -> Result<Option<Folder>, Failure> {
    let place = shared::wanted(&args.shared, args.out.as_deref());
    place.map(|place| Folder::new(&place, records::of_study(study)?)).transpose()
}

/// Does some runs of a study.
fn some(studies: &[Study], args: &StudyArgs, jobs: usize, stop: &Stop) -> Result<(), Failure> {
    let Some(study) = studies.first() else { return Ok(()) };
    let Some(kept) = folder(study, args)? else { return Ok(()) };
    let numbers = kept.numbers(&args.shared.run)?;
    let watch = Watcher::new(study, stop.clone(), args.quiet || args.json);
    let errors = study::complete(study, &numbers, jobs, &watch, &kept);
    watch.end();
    shared::report(&numbers, errors)
}

/// Runs on daemons all experiments that can, and adds the results to the pages.
fn on_testbed(studies: &[Study], out: &Path, args: &StudyArgs, stop: &Stop) -> Result<(), Failure> {
    let mut all = Vec::new();
    for study in studies {
        let done = daemons::run(study, stop, args.quiet || args.json)?;
        pages::keep(out, study, &done)?;
        if !args.quiet && !args.json {
            tables::on_daemons(&done)?;
        }
        all.push(done);
    }
    if args.json {
        output::json(&AllOnDaemons { studies: &all })?;
    }
    all_ran(all.iter().flat_map(|one| &one.experiments).flat_map(|one| &one.failures))
}

fn load(folder: &Path, args: &StudyArgs) -> Result<Study, Failure> {
    let quickness = if args.quick { Quickness::Quick } else { Quickness::Whole };
    let mut study = study::load(folder, quickness).map_err(|error| unread(&error))?;
    if let Some(name) = args.only.iter().find(|name| study.experiment(name).is_none()) {
        let all: Vec<&str> = study.experiments.iter().map(|e| e.name.as_str()).collect();
        let what = format!("{} has no experiment {name}", folder.display());
        return Err(
            Failure::new(Kind::Usage, what).then(&format!("choose one of {}", all.join(", ")))
        );
    }
    if !args.only.is_empty() {
        study.experiments.retain(|experiment| args.only.contains(&experiment.name));
    }
    Ok(study)
}

fn unread(error: &StudyError) -> Failure {
    match error {
        StudyError::Unreadable { .. } => {
            Failure::new(Kind::File, error).then("name a folder that can be read")
        }
        StudyError::NoStudy { .. } => Failure::new(Kind::File, error)
            .then("name the folder of a study, or with --all that of several"),
        StudyError::Mistakes(mistakes) => {
            let many = output::counted(mistakes.len(), "mistake");
            let what = format!("the study has {many}; nothing was run");
            Failure::new(Kind::Usage, what).then(&format!("fix these mistakes:\n{error}"))
        }
    }
}

/// Fails unless all ran, and all claims hold or are explained.
fn verdict(outcomes: &[Outcome]) -> Result<(), Failure> {
    if outcomes.iter().any(|outcome| outcome.interrupted) {
        let what = "interrupted; the results are those of the complete runs";
        return Err(Failure::new(Kind::Interrupted, what));
    }
    all_ran(outcomes.iter().flat_map(|o| &o.experiments).flat_map(|e| &e.failures))?;
    let claims = outcomes.iter().flat_map(|outcome| &outcome.claims);
    let open: Vec<&str> = claims.filter(|c| c.is_open()).map(|c| c.id.as_str()).collect();
    match open.is_empty() {
        true => Ok(()),
        false => {
            let what = format!("neither held nor explained: {}", open.join(", "));
            Err(Failure::new(Kind::Failed, what)
                .then("explain the cause in deviations.md; `explained` names the heading"))
        }
    }
}

/// The clock, the bar and the signal.
struct Watcher {
    origin: Instant,
    stop: Stop,
    bar: Mutex<RunProgress>,
}

impl Watcher {
    fn new(study: &Study, stop: Stop, quiet: bool) -> Watcher {
        let runs =
            study.runs().map(|(n, run)| study.experiments[n].batch.runs[run].scenario.duration.0);
        let bar = Mutex::new(RunProgress::new(&study.name, runs, quiet));
        #[expect(clippy::disallowed_methods, reason = "a driver: it owns the clock")]
        let origin = Instant::now();
        Watcher { origin, stop, bar }
    }

    fn end(self) {
        if let Ok(bar) = self.bar.into_inner() {
            bar.end();
        }
    }
}

impl Watch for Watcher {
    fn seconds(&self) -> f64 {
        self.origin.elapsed().as_secs_f64()
    }

    fn progress(&self, progress: Progress) -> bool {
        if let Ok(mut bar) = self.bar.lock() {
            bar.at(progress.run, progress.now.0, progress.events, self.seconds());
        }
        !self.stop.requested()
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        let stop = self.stop.clone();
        Some(Box::new(move |_| !stop.requested()))
    }
}
