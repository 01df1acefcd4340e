//! The outcome of an arena: runs by cell and scheme, summed up over their seeds.

use crate::measure::Measured;
use crate::model::{Limits, Term, Verdict};
use crate::score::regrets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of an arena.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the folder.
    pub arena: String,
    /// The title in headings.
    pub arena_title: String,
    /// The scheme that the wanted figures are about.
    pub judged: String,
    /// The version of the program.
    pub version: String,
    /// It has the extent of the quick form.
    pub is_quick: bool,
    /// Seeds of each cell.
    pub seeds: u64,
    /// Seeds that the file asks for.
    pub seeds_of_file: u64,
    /// The effort of the runs.
    pub effort: Effort,
    /// The schemes, in the order of the entries of each cell.
    pub schemes: Vec<String>,
    /// The cells.
    pub cells: Vec<CellOutcome>,
    /// The wanted figures.
    pub wanted: Vec<Verdict>,
}

/// The effort of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Effort {
    /// Runs that were done.
    pub runs: usize,
    /// Runs at a time.
    pub jobs: usize,
    /// Seconds that all took.
    pub wall_s: f64,
    /// Seconds of processor time, if the driver knows them.
    pub cpu_s: f64,
    /// Seconds that were simulated.
    pub simulated_s: f64,
    /// Packets over links.
    pub packet_hops: u64,
}

/// A cell with the results of all schemes.
#[derive(Clone, Debug)]
pub struct CellOutcome {
    /// Its name.
    pub cell: String,
    /// Its description.
    pub title: String,
    /// Cells of a group share a table.
    pub group: String,
    /// The measures that matter.
    pub measures: Vec<Term>,
    /// The optimum, of the first seed.
    pub limits: Limits,
    /// By scheme.
    pub entries: Vec<Entry>,
}

/// A scheme in a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The scheme.
    pub scheme: String,
    /// The score of each seed.
    pub scores: Vec<f64>,
    /// The distance of their mean from the best scheme's.
    pub regret: f64,
    /// The measures, each the mean over the seeds that have it.
    pub mean: Measured,
    /// The largest distance from max-min of a run.
    pub unfair_most: Option<f64>,
    /// Runs in which the watched fetch had its share.
    pub arrived: usize,
    /// Runs that could not be done or measured, with the reasons.
    pub failures: Vec<String>,
}

impl Entry {
    /// The score of a seed.
    fn score_of(&self, seed: usize) -> f64 {
        self.scores.get(seed).copied().unwrap_or(0.0)
    }

    /// Sums up runs: a measured one or the reason why there is none for each seed. Only the first
    /// `seeds` count for the score.
    #[must_use]
    pub fn new(
        scheme: &str,
        terms: &[Term],
        seeds: usize,
        runs: Vec<Result<Measured, String>>,
    ) -> Entry {
        let failures = runs.iter().filter_map(|run| run.as_ref().err().cloned()).collect();
        let all: Vec<Measured> = runs.into_iter().map(Result::unwrap_or_default).collect();
        let scored = &all[..seeds.min(all.len())];
        Entry {
            scheme: scheme.to_owned(),
            scores: scored.iter().map(|run| short(run.score(terms))).collect(),
            regret: 0.0,
            mean: Measured {
                share: mean(scored, |run| run.share),
                unfair: mean(scored, |run| run.unfair),
                delay_mean_ms: mean(scored, |run| run.delay_mean_ms),
                delay_p99_ms: mean(scored, |run| run.delay_p99_ms),
                delay: mean(scored, |run| run.delay),
                ramp_s: mean(scored, |run| run.ramp_s),
                ramp: mean(scored, |run| run.ramp),
                short: mean(scored, |run| run.short),
                slowdown: mean(scored, |run| run.slowdown),
                vain: mean(scored, |run| run.vain),
            },
            unfair_most: all.iter().filter_map(|run| run.unfair).reduce(f64::max).map(short),
            arrived: scored.iter().filter(|run| run.ramp_s.is_some()).count(),
            failures,
        }
    }

    /// The score: the mean over the seeds.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len().max(1) as f64
    }
}

/// Five digits: more are noise, and the file is kept.
fn short(value: f64) -> f64 {
    report::picture::short(value)
}

impl CellOutcome {
    /// Gives each entry its regret.
    pub fn compare(&mut self) {
        let scores: Vec<f64> = self.entries.iter().map(Entry::score).collect();
        let entries = self.entries.iter_mut();
        entries.zip(regrets(&scores)).for_each(|(entry, regret)| entry.regret = short(regret));
    }

    /// The entry of a scheme.
    #[must_use]
    pub fn of(&self, scheme: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.scheme == scheme)
    }

    /// The regret of a scheme by a single seed.
    fn regret(&self, scheme: &str, seed: usize) -> f64 {
        let best = self.entries.iter().map(|entry| entry.score_of(seed)).fold(0.0, f64::max);
        let own = self.of(scheme).map_or(0.0, |entry| entry.score_of(seed));
        if best > 0.0 { 1.0 - own / best } else { 1.0 }
    }

    /// The schemes on the Pareto front of share and 99th percentile of queueing delay.
    #[must_use]
    pub fn front(&self) -> Vec<&str> {
        let points = self.points();
        points
            .iter()
            .filter(|(_, point)| {
                // No other has less delay and a greater share.
                !points
                    .iter()
                    .any(|(_, other)| other.0 <= point.0 && other.1 >= point.1 && other != point)
            })
            .map(|(scheme, _)| *scheme)
            .collect()
    }

    /// Delay in milliseconds and share of each scheme that has both.
    #[must_use]
    pub fn points(&self) -> Vec<(&str, (f64, f64))> {
        let mut points = Vec::new();
        for entry in &self.entries {
            if let (Some(delay), Some(share)) = (entry.mean.delay_p99_ms, entry.mean.share) {
                points.push((&*entry.scheme, (delay, share.min(1.0))));
            }
        }
        points
    }
}

impl Outcome {
    /// The regrets of a scheme, by cell.
    #[must_use]
    pub fn regrets(&self, scheme: &str) -> Vec<(&CellOutcome, f64)> {
        self.cells.iter().filter_map(|cell| Some((cell, cell.of(scheme)?.regret))).collect()
    }

    /// Its mean regret.
    #[must_use]
    pub fn mean_regret(&self, scheme: &str) -> f64 {
        let all = self.regrets(scheme);
        all.iter().map(|(_, regret)| regret).sum::<f64>() / all.len().max(1) as f64
    }

    /// The smallest and the largest of its mean regrets by single seeds, each compared with the
    /// best scheme of that seed; `None` with one seed.
    #[must_use]
    pub fn spread(&self, scheme: &str) -> Option<(f64, f64)> {
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        if seeds < 2 {
            return None;
        }
        let mut all: Vec<f64> = Vec::new();
        for seed in 0..seeds {
            let sum: f64 = self.cells.iter().map(|cell| cell.regret(scheme, seed)).sum();
            all.push(sum / self.cells.len().max(1) as f64);
        }
        let least = all.iter().copied().reduce(f64::min)?;
        Some((least, all.into_iter().fold(least, f64::max)))
    }

    /// The cell of its largest regret, and this.
    #[must_use]
    pub fn worst(&self, scheme: &str) -> Option<(&CellOutcome, f64)> {
        self.regrets(scheme).into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The schemes from the smallest mean regret to the largest.
    #[must_use]
    pub fn ranking(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.schemes.iter().map(|scheme| &**scheme).collect();
        all.sort_by(|a, b| self.mean_regret(a).total_cmp(&self.mean_regret(b)));
        all
    }
}

/// The mean over the runs that have the value.
fn mean(runs: &[Measured], value: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = runs.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| short(values.iter().sum::<f64>() / values.len() as f64))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn cell(name: &str, scores: &[(&str, f64)]) -> CellOutcome {
        let entry = |(scheme, score): &(&str, f64)| Entry {
            scheme: (*scheme).to_owned(),
            scores: vec![*score],
            ..Entry::default()
        };
        let mut cell = CellOutcome {
            cell: name.to_owned(),
            title: String::new(),
            group: String::new(),
            measures: vec![Term::Share],
            limits: Limits::default(),
            entries: scores.iter().map(entry).collect(),
        };
        cell.compare();
        cell
    }

    pub fn outcome(cells: Vec<CellOutcome>, schemes: &[&str]) -> Outcome {
        Outcome {
            arena: "arena".to_owned(),
            arena_title: String::new(),
            judged: schemes[0].to_owned(),
            version: String::new(),
            is_quick: false,
            seeds: 1,
            seeds_of_file: 1,
            effort: Effort::default(),
            schemes: schemes.iter().map(|scheme| (*scheme).to_owned()).collect(),
            cells,
            wanted: Vec::new(),
        }
    }

    #[test]
    fn the_best_of_each_cell_has_no_regret() {
        let cells =
            vec![cell("x", &[("a", 0.9), ("b", 0.45)]), cell("y", &[("a", 0.6), ("b", 0.8)])];
        let found = outcome(cells, &["b", "a"]);
        // a: 0 and a quarter of 0.8; b: a half and 0.
        assert!((found.mean_regret("a") - 0.125).abs() < 1e-4);
        assert!((found.mean_regret("b") - 0.25).abs() < 1e-4);
        assert_eq!(found.worst("b").map(|(cell, regret)| (&*cell.cell, regret)), Some(("x", 0.5)));
        assert_eq!(found.ranking(), ["a", "b"]);
    }

    #[test]
    fn single_seeds_show_how_much_chance_there_is() {
        let mut found = outcome(vec![cell("x", &[("a", 0.9), ("b", 0.9)])], &["a", "b"]);
        assert_eq!(found.spread("a"), None);
        found.seeds = 2;
        found.cells[0].entries[0].scores = vec![0.8, 1.0];
        found.cells[0].entries[1].scores = vec![1.0, 0.8];
        let (least, most) = found.spread("a").unwrap();
        assert!(least.abs() < 1e-9 && (most - 0.2).abs() < 1e-9, "{least} to {most}");
    }

    #[test]
    fn seeds_beyond_those_of_all_count_for_the_worst_alone() {
        let run = |unfair| Ok(Measured { unfair: Some(unfair), ..Measured::default() });
        let runs = vec![run(0.1), run(0.3), run(0.5), Err("why".to_owned())];
        let entry = Entry::new("a", &[Term::MaxMin], 2, runs);
        assert_eq!(entry.scores, [0.9, 0.7]);
        assert_eq!((entry.mean.unfair, entry.unfair_most), (Some(0.2), Some(0.5)));
        assert_eq!(entry.failures, ["why"]);
    }

    #[test]
    fn the_front_has_what_nothing_beats() {
        let mut found = cell("x", &[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]);
        let points = [(5.0, 0.9), (1.0, 0.8), (6.0, 0.9), (9.0, 0.99)];
        for (entry, (delay, share)) in found.entries.iter_mut().zip(points) {
            (entry.mean.delay_p99_ms, entry.mean.share) = (Some(delay), Some(share));
        }
        // c has as much as a, later.
        assert_eq!(found.front(), ["a", "b", "d"]);
    }
}
