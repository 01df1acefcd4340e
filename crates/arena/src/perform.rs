//! Runs every scheme in every cell, several runs at a time.

use crate::error::ArenaError;
use crate::measure::{Measured, Seen, Tracks};
use crate::model::{Arena, Cell, Limits};
use crate::network::Network;
use crate::outcome::{CellOutcome, Effort, Entry, Outcome};
use crate::pairing::Competitor;
use crate::wanted::verdicts;
use control::Duration;
use scenario::series::{Row, Rows, Subject};
use scenario::{Batch, OnHashing, Progress, Watch, execute, run_parallel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use study::records::{Records, recorded};

/// The runs of an arena, in the order in which they begin.
#[derive(Debug)]
pub struct Runs<'a> {
    arena: &'a Arena,
    competitors: Vec<Competitor>,
    /// Seeds that count for scores.
    seeds: u64,
    all: Vec<Run>,
    /// By run: the simulated time.
    durations: Vec<Duration>,
    /// By cell, and by seed where each draws a network.
    networks: BTreeMap<(usize, u64), OnceLock<Result<Network, String>>>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    cell: usize,
    scheme: usize,
    seed: u64,
}

/// The kept data of a run: its record.
#[derive(Serialize, Deserialize)]
struct Kept {
    measured: Measured,
    limits: Limits,
    simulated_s: f64,
    packet_hops: u64,
    wall_s: f64,
    interrupted: bool,
}

impl<'a> Runs<'a> {
    /// All runs, with as many seeds as are given or as the arena has.
    ///
    /// # Errors
    /// A scenario has a mistake.
    pub fn new(arena: &'a Arena, seeds: Option<u64>) -> Result<Runs<'a>, ArenaError> {
        let seeds = seeds.unwrap_or(arena.seeds).max(1);
        let competitors: Vec<Competitor> =
            arena.schemes.iter().filter_map(|name| Competitor::named(name)).collect();
        let mut runs = Runs {
            arena,
            competitors,
            seeds,
            all: Vec::new(),
            durations: Vec::new(),
            networks: BTreeMap::new(),
        };
        for (number, cell) in arena.cells.iter().enumerate() {
            // One scheme shows a mistake of the file before an hour has passed.
            let first = load(arena, cell, runs.competitors[0], 1)?;
            let duration = first.runs[0].scenario.duration;
            for (place, competitor) in runs.competitors.iter().enumerate() {
                let is_judged = competitor.scheme.name == arena.judged;
                let count = match is_judged {
                    true => seeds.max(cell.judged_seeds),
                    false if runs.same_as(cell, place) < place => 0,
                    false => seeds,
                };
                let own = (1..=count).map(|seed| Run { cell: number, scheme: place, seed });
                runs.all.extend(own);
            }
            runs.durations.resize(runs.all.len(), duration);
        }
        for run in &runs.all {
            let key = network_key(&arena.cells[run.cell], run);
            runs.networks.entry(key).or_default();
        }
        Ok(runs)
    }

    /// The first scheme that is the same as this one in a cell: schemes that differ in a strategy
    /// alone are alike where there is one path, and run once.
    fn same_as(&self, cell: &Cell, place: usize) -> usize {
        let settings = self.competitors[place].settings(cell);
        let first = self.competitors.iter().position(|other| other.settings(cell) == settings);
        first.unwrap_or(place)
    }

    /// The simulated time of each run.
    #[must_use]
    pub fn durations(&self) -> &[Duration] {
        &self.durations
    }

    /// All that the record of a run depends on, except the program's version and the content of
    /// files that the scenario names, and the scenario with all defaults.
    ///
    /// # Errors
    /// The scenario has a mistake.
    pub fn identity(&self, number: usize) -> Result<(String, Arc<str>), ArenaError> {
        let run = self.all[number];
        let cell = &self.arena.cells[run.cell];
        let competitor = self.competitors[run.scheme];
        let batch = load(self.arena, cell, competitor, run.seed)?;
        let filled = Arc::clone(&batch.runs[0].filled);
        Ok((format!("{} {} {cell:?}", competitor.scheme.name, run.seed), filled))
    }

    /// Does some runs, by their places in [`Runs::durations`], and keeps their records. Returns the
    /// errors of those that failed, in their order, with `None` for the others; fewer if the watch
    /// ended them.
    #[must_use]
    pub fn complete(
        &self,
        numbers: &[usize],
        jobs: usize,
        watch: &dyn Watch,
        records: &dyn Records,
    ) -> Vec<Option<String>> {
        run_parallel(numbers.len(), jobs.clamp(1, numbers.len().max(1)), |place| {
            let kept = self.recorded(numbers[place], watch, records);
            let goes_on = !kept.as_ref().is_ok_and(|kept| kept.interrupted);
            (kept.err(), goes_on)
        })
    }

    fn recorded(
        &self,
        number: usize,
        watch: &dyn Watch,
        records: &dyn Records,
    ) -> Result<Kept, String> {
        recorded(records, number, |kept: &Kept| !kept.interrupted, || self.one(number, watch))
    }

    fn one(&self, number: usize, watch: &dyn Watch) -> Result<Kept, String> {
        let run = self.all[number];
        let cell = &self.arena.cells[run.cell];
        let batch = load(self.arena, cell, self.competitors[run.scheme], run.seed);
        let batch = batch.map_err(|error| error.to_string())?;
        let scenario = &batch.runs[0].scenario;
        let network = self.networks.get(&network_key(cell, &run));
        let network = network.map(|once| once.get_or_init(|| Network::new(scenario, cell)));
        let network = match network {
            Some(Ok(network)) => network,
            Some(Err(why)) => return Err(why.clone()),
            None => return Err("the run has no network".to_owned()),
        };
        let tracks = Arc::new(Mutex::new(Tracks::new()));
        let watched = Watched { watch, number, tracks: Arc::clone(&tracks) };
        let result = execute(&batch, 0, &watched).map_err(|error| error.to_string())?;
        let tracks = tracks.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Seen { cell, scenario, network, result: &result, tracks: &tracks };
        let (measured, limits) = seen.measure()?;
        Ok(Kept {
            measured,
            limits,
            simulated_s: result.duration_s,
            packet_hops: result.packet_hops,
            wall_s: result.wall_s,
            interrupted: result.interrupted,
        })
    }
}

fn network_key(cell: &Cell, run: &Run) -> (usize, u64) {
    (run.cell, if cell.drawn.is_empty() { 0 } else { run.seed })
}

/// The single run of a scheme in a cell with a seed.
fn load(arena: &Arena, cell: &Cell, scheme: Competitor, seed: u64) -> Result<Batch, ArenaError> {
    let mut settings = cell.set.clone();
    settings.extend(cell.drawn.iter().map(|key| format!("{key}={seed}")));
    settings.extend(scheme.settings(cell));
    settings.push(format!("scenario.seed={seed}"));
    scenario::load(&arena.folder.join(&cell.file), &settings).map_err(|error| ArenaError::Cell {
        cell: format!("{} with {}", cell.name, scheme.scheme.name),
        why: error.to_string(),
    })
}

/// The watch of one run, which keeps the courses of consumers.
struct Watched<'w> {
    watch: &'w dyn Watch,
    number: usize,
    tracks: Arc<Mutex<Tracks>>,
}

impl Watch for Watched<'_> {
    fn seconds(&self) -> f64 {
        self.watch.seconds()
    }

    fn progress(&self, progress: Progress) -> bool {
        self.watch.progress(Progress { run: self.number, ..progress })
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        self.watch.hashing(self.number)
    }

    fn rows(&self, _run: usize) -> Option<Box<dyn Rows>> {
        Some(Box::new(Keeper { tracks: Arc::clone(&self.tracks) }))
    }
}

struct Keeper {
    tracks: Arc<Mutex<Tracks>>,
}

impl Rows for Keeper {
    fn row(&mut self, row: &Row<'_>) {
        if row.subject == Subject::Flow && row.quantity == "bytes" {
            let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
            match tracks.get_mut(&**row.entity) {
                Some(track) => track.push((row.time_s, row.value)),
                None => {
                    tracks.insert(row.entity.to_string(), vec![(row.time_s, row.value)]);
                }
            }
        }
    }
}

/// Does all runs, `jobs` at a time; `None` if the watch ended them before all were done. The watch
/// identifies runs by their places in [`Runs::durations`].
#[must_use]
pub fn perform(runs: &Runs<'_>, jobs: usize, watch: &dyn Watch) -> Option<Outcome> {
    perform_with(runs, jobs, watch, &())
}

/// Does the runs that have no record, and keeps their records. Then it is as [`perform`].
#[must_use]
pub fn perform_with(
    runs: &Runs<'_>,
    jobs: usize,
    watch: &dyn Watch,
    records: &dyn Records,
) -> Option<Outcome> {
    let began = watch.seconds();
    let jobs = jobs.clamp(1, runs.all.len().max(1));
    let records = run_parallel(runs.all.len(), jobs, |number| {
        let kept = runs.recorded(number, watch, records);
        let goes_on = !kept.as_ref().is_ok_and(|kept| kept.interrupted);
        (kept, goes_on)
    });
    if records.len() < runs.all.len() || records.iter().flatten().any(|kept| kept.interrupted) {
        return None;
    }
    let mut effort = Effort { runs: records.len(), jobs, ..Effort::default() };
    for kept in records.iter().flatten() {
        effort.simulated_s += kept.simulated_s;
        effort.packet_hops += kept.packet_hops;
        // A run takes one thread; the driver may know better.
        effort.cpu_s += kept.wall_s;
    }
    effort.wall_s = watch.seconds() - began;
    let arena = runs.arena;
    let mut outcome = Outcome {
        arena: arena.name.clone(),
        arena_title: arena.title.clone(),
        judged: arena.judged.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        is_quick: arena.is_quick,
        seeds: runs.seeds,
        seeds_of_file: arena.seeds,
        effort,
        schemes: arena.schemes.clone(),
        cells: summed(runs, records),
        wanted: Vec::new(),
    };
    outcome.wanted = verdicts(arena, &outcome);
    Some(outcome)
}

/// The runs by cell and scheme.
fn summed(runs: &Runs<'_>, records: Vec<Result<Kept, String>>) -> Vec<CellOutcome> {
    let mut of: BTreeMap<(usize, usize), Vec<Result<Measured, String>>> = BTreeMap::new();
    let mut limits = BTreeMap::new();
    for (run, kept) in runs.all.iter().zip(records) {
        if let Ok(kept) = &kept {
            limits.entry(run.cell).or_insert(kept.limits);
        }
        let kept = kept.map(|kept| kept.measured);
        let kept = kept.map_err(|why| format!("seed {}: {why}", run.seed));
        of.entry((run.cell, run.scheme)).or_default().push(kept);
    }
    let mut outcomes = Vec::new();
    for (number, cell) in runs.arena.cells.iter().enumerate() {
        let mut entries = Vec::new();
        for (place, competitor) in runs.competitors.iter().enumerate() {
            let own = of.get(&(number, place));
            let own = own.or_else(|| of.get(&(number, runs.same_as(cell, place))));
            let own = own.cloned().unwrap_or_default();
            let seeds = runs.seeds as usize;
            entries.push(Entry::new(competitor.scheme.name, &cell.measures, seeds, own));
        }
        let mut outcome = CellOutcome {
            cell: cell.name.clone(),
            title: cell.title.clone(),
            group: cell.group.clone(),
            measures: cell.measures.clone(),
            limits: limits.get(&number).copied().unwrap_or_default(),
            entries,
        };
        outcome.compare();
        outcomes.push(outcome);
    }
    outcomes
}
