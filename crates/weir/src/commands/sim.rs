//! `weir sim`

mod report;
mod watch;

use crate::cli::{SimCommand, SimRunArgs};
use crate::commands::scenario::load;
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use scenario::result::{RunResult, SweepResult};
use scenario::{Study, execute_all};
use serde::Serialize;
use std::fs;
use std::path::Path;
use watch::Watcher;

/// Runs what the command line says.
pub fn run(command: &SimCommand) -> Result<(), Failure> {
    let SimCommand::Run(args) = command;
    let study = load(&args.scenario, args.seed)?;
    if let Some(folder) = &args.out {
        // Whether it can be written is found out before the work is done.
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let stop = Stop::listen().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot listen to signals: {error}"))
    })?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.jobs.map_or(cores, std::num::NonZero::get);
    let watcher = Watcher::new(&study, stop.clone(), args.quiet);
    let results = execute_all(&study, jobs, &watcher);
    watcher.end();
    let results = results.map_err(|error| {
        Failure::new(Kind::Failed, error).then("see `weir scenario show` for what was to be built")
    })?;
    let was_stopped = results.len() < study.runs.len() || results.iter().any(|r| r.interrupted);
    say(args, &study, results)?;
    match was_stopped {
        false => Ok(()),
        true => {
            let what = "interrupted; what is shown is what was simulated until then";
            Err(Failure::new(Kind::Interrupted, what))
        }
    }
}

fn say(args: &SimRunArgs, study: &Study, mut results: Vec<RunResult>) -> Result<(), Failure> {
    if study.is_sweep {
        let sweep = SweepResult::new(&study.name, study.repetitions, results);
        write(args, study, &sweep)?;
        return match (args.json, args.quiet) {
            (true, _) => output::json(&sweep),
            (false, true) => Ok(()),
            (false, false) => report::sweep(&sweep),
        };
    }
    let Some(result) = results.pop() else { return Ok(()) };
    write(args, study, &result)?;
    match (args.json, args.quiet) {
        (true, _) => output::json(&result),
        (false, true) => Ok(()),
        (false, false) => report::run(&result),
    }
}

/// Writes what `--out` asks for.
fn write(args: &SimRunArgs, study: &Study, summary: &impl Serialize) -> Result<(), Failure> {
    let Some(folder) = &args.out else { return Ok(()) };
    let json = serde_json::to_string_pretty(summary).map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot write the summary: {error}"))
    })?;
    file(folder, "summary.json", &(json + "\n"))?;
    file(folder, "version.txt", concat!("weir ", env!("CARGO_PKG_VERSION"), "\n"))?;
    let number = |i: usize| i / usize::try_from(study.repetitions).unwrap_or(1).max(1);
    for (i, run) in study.runs.iter().enumerate() {
        let is_first = i == 0 || number(i) != number(i - 1);
        if is_first && study.is_sweep {
            file(folder, &format!("scenario-{}.toml", number(i)), &run.filled)?;
        } else if is_first {
            file(folder, "scenario.toml", &run.filled)?;
        }
    }
    Ok(())
}

/// Written beside its place and moved there, so that nothing is ever half written.
fn file(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let done = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    });
    done.map_err(|error| unwritable(&path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
        .then("choose another folder with --out")
}
