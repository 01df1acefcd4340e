//! `weir study` of an arena: all schemes on the same networks.

use super::pages;
use super::records::{Folder, Keys, Plan, Planned};
use super::shared::{self, OUT, all_ran};
use crate::cli::StudyArgs;
use crate::commands::jobs::jobs;
use crate::exit::{Failure, Kind};
use crate::output::{self, Column, RunProgress, Table};
use crate::signals::Stop;
use arena::{Arena, ArenaError, Outcome, Page, Runs};
use scenario::{OnHashing, Progress, Watch};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// Runs the arena of a folder, and writes its page.
pub fn run(folder: &Path, args: &StudyArgs) -> Result<(), Failure> {
    if args.testbed {
        let what = format!("{} is an arena, which runs in the simulator alone", folder.display());
        return Err(Failure::new(Kind::Usage, what).then("leave --testbed out"));
    }
    let whole = arena::load(folder, args.quick).map_err(|error| unread(&error))?;
    let arena = chosen(&whole, folder, args)?;
    let runs = Runs::new(&arena, args.seeds.map(std::num::NonZeroU64::get));
    let runs = runs.map_err(|error| unread(&error))?;
    let records = match shared::wanted(&args.shared, args.out.as_deref()) {
        Some(place) => Some(Folder::new(&place, plan(&arena, &runs)?)?),
        None if args.shared.plan => return shared::print(&[plan(&arena, &runs)?]),
        None => None,
    };
    let stop = Stop::listen().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot listen to signals: {error}"))
    })?;
    let jobs = jobs(args.jobs);
    let watch = Watcher::new(&arena, &runs, stop, args.quiet || args.json);
    if let (Some(records), false) = (&records, args.shared.run.is_empty()) {
        let numbers = records.numbers(&args.shared.run)?;
        let errors = runs.complete(&numbers, jobs, &watch, records);
        watch.end();
        return shared::report(&numbers, errors);
    }
    let out = args.out.clone().unwrap_or_else(|| OUT.into());
    pages::begin(&out)?;
    let kept: &dyn study::Records = match &records {
        Some(records) => records,
        None => &(),
    };
    let outcome = arena::perform_with(&runs, jobs, &watch, kept);
    watch.end();
    let Some(mut outcome) = outcome else {
        let what = "interrupted; no page was written, because a regret needs all schemes";
        return Err(Failure::new(Kind::Interrupted, what).then(match records {
            Some(_) => "run the same command again to finish the rest",
            None => "run cell by cell with --only CELL, or keep records with --records DIR",
        }));
    };
    if records.as_ref().is_none_or(|records| records.found() == 0) {
        outcome.effort.cpu_s = processor_seconds();
    }
    let earlier = pages::kept_arena(&out, &arena.name).filter(|_| !args.only.is_empty());
    let outcome = match earlier {
        Some(earlier) => outcome.joined(earlier, &whole),
        None => outcome,
    }
    .as_written();
    pages::arena(&out, &arena.name, &outcome, &Page::new(&outcome, &arena.readme))?;
    match (args.json, args.quiet) {
        (true, _) => output::json(&outcome)?,
        (false, false) => {
            shown(&outcome)?;
            output::note(&format!("written to {}", out.display()));
        }
        (false, true) => {}
    }
    let failures = outcome.cells.iter().flat_map(|cell| &cell.entries);
    all_ran(failures.flat_map(|entry| &entry.failures))
}

/// The runs with their keys.
fn plan(arena: &Arena, runs: &Runs<'_>) -> Result<Plan, Failure> {
    let mut keys = Keys::default();
    let mut all = Vec::new();
    for (number, duration) in runs.durations().iter().enumerate() {
        let (identity, filled) = runs.identity(number).map_err(|error| unread(&error))?;
        let key = keys.key(&identity, &filled)?;
        all.push(Planned { number, key, seconds: duration.as_secs_f64() });
    }
    Ok(Plan { folder: arena.folder.clone(), runs: all })
}

/// The arena with the chosen cells.
fn chosen(whole: &Arena, folder: &Path, args: &StudyArgs) -> Result<Arena, Failure> {
    let mut arena = whole.clone();
    let mut only = args.only.iter();
    if let Some(name) = only.find(|name| arena.cells.iter().all(|cell| cell.name != **name)) {
        let all: Vec<&str> = arena.cells.iter().map(|cell| cell.name.as_str()).collect();
        let what = format!("{} has no cell {name}", folder.display());
        return Err(
            Failure::new(Kind::Usage, what).then(&format!("choose one of {}", all.join(", ")))
        );
    }
    if !args.only.is_empty() {
        arena.cells.retain(|cell| args.only.contains(&cell.name));
        // Figures over all cells do not describe some of them.
        arena.wanted.clear();
    }
    Ok(arena)
}

fn unread(error: &ArenaError) -> Failure {
    match error {
        ArenaError::Unreadable { .. } => {
            Failure::new(Kind::File, error).then("name a folder that can be read")
        }
        ArenaError::Malformed { .. } | ArenaError::Cell { .. } => {
            Failure::new(Kind::Usage, error).then("fix the mistakes listed there; nothing was run")
        }
    }
}

/// Shows the ranking and the wanted figures.
fn shown(outcome: &Outcome) -> Result<(), Failure> {
    let width = output::width(std::io::stdout());
    let cells = match outcome.cells.len() {
        1 => "one cell".to_owned(),
        cells => format!("{cells} cells"),
    };
    let seeds = outcome.seeds;
    output::wrapped(&format!("{}: {cells}, seeds of each: {seeds}", outcome.arena))?;
    output::result("")?;
    let mut table = Table::new(vec![
        Column::left("scheme", 0),
        Column::right("mean regret %", 0),
        Column::right("worst %", 0),
        Column::left("in", 1),
    ]);
    for scheme in outcome.ranking() {
        let Some((cell, worst)) = outcome.worst(scheme) else { continue };
        let mean = format!("{:.1}", outcome.mean_regret(scheme) * 100.0);
        let worst = format!("{:.1}", worst * 100.0);
        table.row(vec![scheme.to_owned(), mean, worst, cell.cell.clone()]);
    }
    table.lines(width).iter().try_for_each(|line| output::result(line))?;
    if !outcome.wanted.is_empty() {
        output::result("")?;
        let mut table = Table::new(vec![
            Column::left("figure", 0),
            Column::left("wanted", 1),
            Column::right("found", 0),
            Column::left("", 0),
        ]);
        for verdict in &outcome.wanted {
            let word = if verdict.is_hit { "hit" } else { "missed" };
            let (bound, found) = (verdict.bound.clone(), verdict.shown.clone());
            table.row(vec![verdict.what.clone(), bound, found, word.to_owned()]);
        }
        table.lines(width).iter().try_for_each(|line| output::result(line))?;
    }
    Ok(())
}

/// Processor time of this program until now: the load of the machine does not change it.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The bar is drawn at this interval, in seconds, and at the end of each run.
const REDRAW: f64 = 0.2;

/// The clock, the bar and the signal.
struct Watcher {
    origin: Instant,
    stop: Stop,
    bar: Mutex<Bar>,
}

struct Bar {
    bar: RunProgress,
    drawn: f64,
}

impl Watcher {
    fn new(arena: &Arena, runs: &Runs<'_>, stop: Stop, quiet: bool) -> Watcher {
        let durations = runs.durations().iter().map(|duration| duration.0);
        let bar = RunProgress::new(&arena.name, durations, quiet);
        let bar = Mutex::new(Bar { bar, drawn: 0.0 });
        #[expect(clippy::disallowed_methods, reason = "a driver: it owns the clock")]
        let origin = Instant::now();
        Watcher { origin, stop, bar }
    }

    fn end(self) {
        if let Ok(bar) = self.bar.into_inner() {
            bar.bar.end();
        }
    }
}

impl Watch for Watcher {
    fn seconds(&self) -> f64 {
        self.origin.elapsed().as_secs_f64()
    }

    fn progress(&self, progress: Progress) -> bool {
        let now = self.seconds();
        if let Ok(mut bar) = self.bar.lock()
            && (progress.now == progress.end || now > bar.drawn + REDRAW)
        {
            bar.drawn = now;
            bar.bar.at(progress.run, progress.now.0, progress.events, now);
        }
        !self.stop.requested()
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        let stop = self.stop.clone();
        Some(Box::new(move |_| !stop.requested()))
    }
}
