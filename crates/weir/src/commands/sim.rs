//! `weir sim`

mod tables;
mod traces;
mod watch;

use crate::cli::sim::SimCommand;
use crate::commands::jobs::jobs;
use crate::commands::scenario::load;
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use report::{Folder, ReportError, Summary};
use scenario::result::{RunResult, SweepResult};
use scenario::{Batch, execute_rest};
use std::collections::BTreeMap;
use std::path::Path;
use traces::Traces;
pub use watch::Watcher;

/// Runs the command.
pub fn run(command: &SimCommand) -> Result<(), Failure> {
    let SimCommand::Run(args) = command;
    let batch = load(&args.scenario, args.seed)?;
    let traces = Traces::new(args, &batch)?;
    keeps_scenario(args.out.as_deref(), &batch, &args.scenario.file)?;
    // A folder that cannot be written is reported before the work is done.
    let folder = args.out.as_deref().map(|place| Folder::begin(place, &batch)).transpose();
    let folder = folder.map_err(|e| unwritable(&e))?;
    let done = match &folder {
        Some(folder) if args.resume => folder.resume(&batch).map_err(|e| not_resumed(&e))?,
        _ => BTreeMap::new(),
    };
    let stop = Stop::listen().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot listen to signals: {error}"))
    })?;
    let jobs = jobs(args.jobs);
    let watcher = Watcher::new(&batch, Some(&traces), stop.clone(), args.quiet, folder);
    let results = execute_rest(&batch, jobs, &watcher, done);
    let folder = watcher.end();
    let results = results.map_err(|error| {
        Failure::new(Kind::Failed, error).then("see `weir scenario show` for what was to be built")
    })?;
    let resumes = args.pcap.is_none() && args.events.is_none();
    let shown = Shown { out: args.out.as_deref(), json: args.json, quiet: args.quiet, resumes };
    let finished = finish(&batch, results, folder, &shown);
    traces.end()?;
    finished
}

/// Rejects a folder in which the results would take the place of the scenario.
pub fn keeps_scenario(out: Option<&Path>, batch: &Batch, scenario: &Path) -> Result<(), Failure> {
    let Some(out) = out.filter(|out| report::overwrites(out, batch, scenario)) else {
        return Ok(());
    };
    let what = format!("results in {} would overwrite {}", out.display(), scenario.display());
    Err(Failure::new(Kind::Usage, what).then("choose another folder with --out"))
}

/// Where results go.
pub struct Shown<'a> {
    /// A folder with everything.
    pub out: Option<&'a Path>,
    /// One JSON object.
    pub json: bool,
    /// Prints only errors.
    pub quiet: bool,
    /// The command can do the rest of an interrupted sweep.
    pub resumes: bool,
}

/// Writes and shows the results of runs.
pub fn finish(
    batch: &Batch,
    results: Vec<RunResult>,
    folder: Option<Folder>,
    shown: &Shown<'_>,
) -> Result<(), Failure> {
    let was_stopped = results.len() < batch.runs.len() || results.iter().any(|r| r.interrupted);
    let Some(summary) = summary(batch, results) else { return Ok(()) };
    if let Some(folder) = folder {
        folder.finish(batch, &summary, &command_line()).map_err(|error| unwritable(&error))?;
    }
    say(shown, &summary)?;
    if !was_stopped {
        return Ok(());
    }
    let kept = match shown.out {
        Some(folder) => format!(" and kept in {}", folder.display()),
        None => String::new(),
    };
    let what = format!("interrupted; the results shown{kept} are incomplete");
    let next = match (batch.is_sweep, shown.out, shown.resumes) {
        (true, Some(_), true) => "run the same command with --resume to run the rest",
        _ => "",
    };
    Err(Failure::new(Kind::Interrupted, what).then(next))
}

/// The summary; `None` without results.
fn summary(batch: &Batch, mut results: Vec<RunResult>) -> Option<Summary> {
    if batch.is_sweep {
        let sweep = SweepResult::new(&batch.name, batch.repetitions, results);
        return Some(Summary::Sweep(sweep));
    }
    results.pop().map(|result| Summary::Run(Box::new(result)))
}

fn say(shown: &Shown<'_>, summary: &Summary) -> Result<(), Failure> {
    match (shown.json, shown.quiet, summary) {
        (true, ..) => output::json(summary),
        (false, true, _) => return Ok(()),
        (false, false, Summary::Sweep(sweep)) => tables::sweep(sweep),
        (false, false, Summary::Run(run)) => tables::run(run),
    }?;
    match shown.out {
        Some(folder) if !shown.json => {
            output::note(&format!("written to {}", folder.display()));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The command line, so that it can be typed again.
fn command_line() -> String {
    let mut line = "weir".to_owned();
    for argument in std::env::args_os().skip(1) {
        let argument = argument.to_string_lossy();
        line.push(' ');
        if !argument.is_empty()
            && argument.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c))
        {
            line += &argument;
        } else {
            line += &format!("'{}'", argument.replace('\'', "'\\''"));
        }
    }
    line
}

fn not_resumed(error: &ReportError) -> Failure {
    Failure::new(Kind::File, error).then("leave out --resume to run everything again")
}

/// A folder that cannot be written.
pub fn unwritable(error: &ReportError) -> Failure {
    Failure::new(Kind::File, error).then("make room there, or choose another folder with --out")
}
