//! Does the runs of a study, several at a time, and keeps the required data of each.

use crate::curve::curves;
use crate::judge::{Values, judge};
use crate::measure::What;
use crate::model::{Case, Experiment, Form, Study};
use crate::outcome::{CaseValue, Drawable, ExperimentResult, Outcome, Series};
use crate::records::{self, Records, recorded};
use crate::samples::{Collector, Samples, Wanted};
use crate::selector::Selector;
use scenario::result::RunResult;
use scenario::series::{Rows, Subject, class_label};
use scenario::{OnHashing, Progress, Watch, execute, run_parallel};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// The kept data of a run.
struct Record {
    result: Result<Kept, String>,
    /// Its place in the experiment's batch.
    run: usize,
    experiment: usize,
}

/// The content of a record.
#[derive(Serialize, Deserialize)]
struct Kept {
    values: Vec<Value>,
    mistakes: Vec<String>,
    lines: Vec<Drawable>,
    simulated_s: f64,
    packet_hops: u64,
    wall_s: f64,
    interrupted: bool,
}

/// A measured value.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Value(#[serde(with = "records::exact")] Option<f64>);

/// The watch of one run: `watch` provides the clock and receives the progress, with the index of
/// the run in the whole study.
struct Watched<'w> {
    watch: &'w dyn Watch,
    number: usize,
    wanted: Vec<Wanted>,
    samples: Arc<Mutex<Samples>>,
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
        if self.wanted.is_empty() {
            return None;
        }
        Some(Box::new(Collector::new(self.wanted.clone(), Arc::clone(&self.samples))))
    }
}

/// Does all runs of a study, `jobs` at a time. The outcome reports failed ones, and lacks runs that
/// were not started because the watch ended the study. The watch identifies runs by their index in
/// [`Study::runs`].
#[must_use]
pub fn perform(study: &Study, jobs: usize, watch: &dyn Watch) -> Outcome {
    perform_with(study, jobs, watch, &())
}

/// Does the runs of a study that have no record, and keeps their records. Then it is as
/// [`perform`].
#[must_use]
pub fn perform_with(
    study: &Study,
    jobs: usize,
    watch: &dyn Watch,
    records: &dyn Records,
) -> Outcome {
    let began = watch.seconds();
    let all: Vec<(usize, usize)> = study.runs().collect();
    let jobs = jobs.clamp(1, all.len().max(1));
    let records = run_parallel(all.len(), jobs, |number| {
        let (experiment, run) = all[number];
        let result = done(&study.experiments[experiment], run, number, watch, records);
        // A run that fails does not keep the others from being done.
        let goes_on = result.as_ref().map_or(true, |kept| !kept.interrupted);
        (Record { result, run, experiment }, goes_on)
    });
    let interrupted = records.len() < all.len()
        || records.iter().any(|r| r.result.as_ref().is_ok_and(|kept| kept.interrupted));
    let mut outcome = Outcome {
        study: study.name.clone(),
        title: study.title.clone(),
        paper: study.paper.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        quick: study.is_quick,
        claims: Vec::new(),
        experiments: Vec::new(),
        jobs,
        wall_s: 0.0,
        interrupted,
    };
    for (number, experiment) in study.experiments.iter().enumerate() {
        let own: Vec<&Record> = records.iter().filter(|r| r.experiment == number).collect();
        let (result, values) = summed(experiment, &own);
        let was_cut = own.len() < result.wanted
            || own.iter().any(|r| r.result.as_ref().is_ok_and(|kept| kept.interrupted));
        for claim in &experiment.claims {
            let mut judged = judge(experiment, claim, &values);
            if was_cut && judged.failure.is_some() {
                judged.not_run();
            }
            outcome.claims.push(judged);
        }
        outcome.experiments.push(result);
    }
    outcome.wall_s = watch.seconds() - began;
    outcome
}

/// Does some runs, by their places in [`Study::runs`], and keeps their records. Returns the errors
/// of failed runs, in their order, with `None` for the others; fewer if the watch ended them.
#[must_use]
pub fn complete(
    study: &Study,
    numbers: &[usize],
    jobs: usize,
    watch: &dyn Watch,
    records: &dyn Records,
) -> Vec<Option<String>> {
    let all: Vec<(usize, usize)> = study.runs().collect();
    run_parallel(numbers.len(), jobs.clamp(1, numbers.len().max(1)), |place| {
        let number = numbers[place];
        let (experiment, run) = all[number];
        let result = done(&study.experiments[experiment], run, number, watch, records);
        let goes_on = result.as_ref().map_or(true, |kept| !kept.interrupted);
        (result.err(), goes_on)
    })
}

/// All that the record of a run depends on, except the program's version and the content of files
/// that the scenario names: texts that are equal for equal runs alone. The file of the second part
/// is [`scenario::files`]'s argument.
#[must_use]
pub fn identity(study: &Study, number: usize) -> Option<(String, Arc<str>)> {
    let (experiment, run) = study.runs().nth(number)?;
    let experiment = &study.experiments[experiment];
    let place = (run / experiment.seeds, run % experiment.seeds);
    let one = &experiment.batch.runs[run];
    // The interval of series depends on the number of runs.
    let count = experiment.batch.runs.len();
    let taken = (&experiment.measures, &experiment.pictures);
    let name = &experiment.name;
    Some((format!("{name} {place:?} {count} {} {taken:?}", one.seed), Arc::clone(&one.filled)))
}

/// The record of a run, found or made.
fn done(
    experiment: &Experiment,
    run: usize,
    number: usize,
    watch: &dyn Watch,
    records: &dyn Records,
) -> Result<Kept, String> {
    recorded(
        records,
        number,
        // A record of another program, or a damaged one, may have other values.
        |kept: &Kept| {
            !kept.interrupted
                && kept.values.len() == experiment.measures.len()
                && kept.lines.len() == experiment.pictures.len()
        },
        || one(experiment, run, number, watch),
    )
}

fn one(
    experiment: &Experiment,
    run: usize,
    number: usize,
    watch: &dyn Watch,
) -> Result<Kept, String> {
    let (case, seed) = (run / experiment.seeds, run % experiment.seeds);
    let samples = Arc::new(Mutex::new(Samples::default()));
    let wanted = wanted(experiment, case, seed);
    let watched = Watched { watch, number, wanted, samples: Arc::clone(&samples) };
    let result = execute(&experiment.batch, run, &watched).map_err(|error| error.to_string())?;
    let samples = samples.lock().unwrap_or_else(PoisonError::into_inner);
    let mut mistakes = Vec::new();
    let values = experiment.measures.iter().map(|measure| {
        measure.value(&result, &samples).unwrap_or_else(|why| {
            mistakes.push(why);
            None
        })
    });
    Ok(Kept {
        values: values.map(Value).collect(),
        lines: lines(experiment, case, seed, &result, &samples),
        mistakes,
        simulated_s: result.duration_s,
        packet_hops: result.packet_hops,
        wall_s: result.wall_s,
        interrupted: result.interrupted,
    })
}

/// Series that measures need; of the first seed those that are drawn as well.
fn wanted(experiment: &Experiment, case: usize, seed: usize) -> Vec<Wanted> {
    let measured = experiment.measures.iter().filter_map(|measure| match measure.what {
        What::Series(quantity) => Some((measure.of.clone(), quantity)),
        What::Value(_) => None,
    });
    let drawn = experiment.pictures.iter().filter_map(|picture| match &picture.form {
        Form::Time(of, quantity) if seed == 0 && picture.cases.contains(&case) => {
            Some((of.clone(), *quantity))
        }
        _ => None,
    });
    measured.chain(drawn).collect()
}

/// The run's lines for each picture.
fn lines(
    experiment: &Experiment,
    case: usize,
    seed: usize,
    run: &RunResult,
    samples: &Samples,
) -> Vec<Drawable> {
    let mut drawables = Vec::new();
    for picture in &experiment.pictures {
        let lines = match &picture.form {
            _ if !picture.cases.contains(&case) => Vec::new(),
            Form::Time(of, quantity) if seed == 0 => samples
                .of(of, quantity)
                .map(|(entity, track)| Series {
                    case,
                    entity: entity.to_owned(),
                    points: track.clone(),
                    ..Series::default()
                })
                .collect(),
            Form::Cdf(of) => vec![completions(case, of, run)],
            Form::Time(..) | Form::Curve(..) => Vec::new(),
        };
        drawables.push(Drawable { lines });
    }
    drawables
}

/// Completion times, and the number of flows with each.
fn completions(case: usize, of: &Selector, run: &RunResult) -> Series {
    let mut series = Series { case, ..Series::default() };
    if of.subject == Some(Subject::Workload) {
        for one in &run.completions {
            if !of.names(&class_label(&one.workload, &one.class)) {
                continue;
            }
            let mut seen = 0;
            for (time, count) in &one.times {
                series.points.push((*time, count.saturating_sub(seen) as f64));
                seen = *count;
            }
            series.unfinished += one.started.saturating_sub(seen);
        }
        return series;
    }
    for flow in run.flows.iter().filter(|flow| of.names(&flow.flow)) {
        match flow.fct_s {
            Some(time) => series.points.push((time, 1.0)),
            None => series.unfinished += 1,
        }
    }
    series
}

/// All runs of an experiment together.
fn summed(experiment: &Experiment, records: &[&Record]) -> (ExperimentResult, Values) {
    let mut values = Values { cases: vec![vec![None; experiment.seeds]; experiment.cases.len()] };
    let mut result = ExperimentResult {
        experiment: experiment.name.clone(),
        runs: 0,
        wanted: experiment.batch.runs.len(),
        failures: Vec::new(),
        simulated_s: 0.0,
        packet_hops: 0,
        run_s: 0.0,
        values: Vec::new(),
        pictures: vec![Drawable::default(); experiment.pictures.len()],
    };
    for record in records {
        let (case, seed) = (record.run / experiment.seeds, record.run % experiment.seeds);
        let name = &experiment.cases[case].name;
        let number = experiment.batch.runs[record.run].seed;
        match &record.result {
            Err(why) => result.failures.push(format!("{name}, seed {number}: {why}")),
            Ok(kept) => {
                for mistake in &kept.mistakes {
                    result.failures.push(format!("{name}, seed {number}: {mistake}"));
                }
                if kept.interrupted {
                    continue;
                }
                values.cases[case][seed] = Some(kept.values.iter().map(|value| value.0).collect());
                result.runs += 1;
                result.simulated_s += kept.simulated_s;
                result.packet_hops = result.packet_hops.saturating_add(kept.packet_hops);
                result.run_s += kept.wall_s;
                for (picture, more) in result.pictures.iter_mut().zip(&kept.lines) {
                    more.lines.iter().for_each(|line| merge(&mut picture.lines, line));
                }
            }
        }
    }
    for (measure, about) in experiment.measures.iter().enumerate() {
        for (case, Case { name, .. }) in experiment.cases.iter().enumerate() {
            let mean = values.mean(measure, case);
            let case = name.clone();
            result.values.push(CaseValue { measure: about.name.clone(), case, mean });
        }
    }
    for (picture, drawn) in result.pictures.iter_mut().zip(&experiment.pictures) {
        if let Form::Curve(measure, key) = &drawn.form {
            picture.lines = curves(experiment, &drawn.cases, *measure, key, &values);
        }
        if let Form::Cdf(_) = &drawn.form {
            let lines = picture.lines.iter_mut();
            lines.for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        }
    }
    (result, values)
}

/// Distributions of one case are pooled over its seeds.
fn merge(lines: &mut Vec<Series>, line: &Series) {
    match lines.iter_mut().find(|known| known.case == line.case && known.entity == line.entity) {
        Some(known) => {
            known.points.extend(&line.points);
            known.unfinished += line.unfinished;
        }
        None => lines.push(line.clone()),
    }
}
