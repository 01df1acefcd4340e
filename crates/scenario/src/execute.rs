//! Runs runs: one after the other, or several at a time.

use crate::batch::Batch;
use crate::build::{BuildError, build};
use crate::result::{Caching, Measures, RunResult, sampling};
use crate::series::{Rows, Sampler, interval};
use control::{Duration, Time};
use sim::{Network, OnHashing, Tracer};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The run's place in [`Batch::runs`].
    pub run: usize,
    /// Simulated time that has passed.
    pub now: Duration,
    /// Simulated time at which it ends.
    pub end: Duration,
    /// Events so far.
    pub events: u64,
}

/// The owner of the runs: the clock, and the receiver of reports.
pub trait Watch: Sync {
    /// Seconds since some origin.
    fn seconds(&self) -> f64;

    /// Called at least two hundred times in a run, and in a long one several times a second. The
    /// run ends once it returns `false`.
    fn progress(&self, _progress: Progress) -> bool {
        true
    }

    /// Receives the progress of hashing an object for a run: it takes long if the object is large,
    /// and no simulated time. It returns the same as [`Watch::progress`].
    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        None
    }

    /// The receiver of the time series of the run with this number in its batch, if there is one.
    fn rows(&self, _run: usize) -> Option<Box<dyn Rows>> {
        None
    }

    /// The tracer of every packet of a run, whose number in its batch is `run`.
    fn tracer(&self, _run: usize) -> Option<Box<dyn Tracer>> {
        None
    }
}

/// The minimum number of progress reports of a run.
const LOOKS: u64 = 200;
/// The target interval between two progress reports in seconds, so that a run ends without delay.
const CHECK_INTERVAL_S: f64 = 0.1;
/// Events between two readings of the clock: a few milliseconds.
const EVENTS: u64 = 1000;

/// Advances to an instant, and reports progress meanwhile if that takes long: a short span of
/// simulated time can have any number of events. `looked` is the time of the last report. Returns
/// false if the run is to end before.
fn reach(
    network: &mut Network,
    at: Time,
    watch: &dyn Watch,
    progress: Progress,
    looked: &mut f64,
) -> bool {
    while !network.advance_some(at, EVENTS) {
        let seconds = watch.seconds();
        if seconds - *looked <= CHECK_INTERVAL_S {
            continue;
        }
        *looked = seconds;
        let (now, events) = (network.now().since(Time::ZERO), network.events());
        if !watch.progress(Progress { now, events, ..progress }) {
            return false;
        }
    }
    true
}

/// Does one of a batch's runs, by its place there.
///
/// # Errors
/// The network rejects a part of the scenario.
pub fn execute(batch: &Batch, number: usize, watch: &dyn Watch) -> Result<RunResult, BuildError> {
    let began = watch.seconds();
    let run = &batch.runs[number];
    let mut network = build(&run.scenario, run.seed)?;
    if let Some(rows) = watch.rows(number) {
        let workloads = network.workload_results();
        let recorder = Box::new(Sampler::new(&run.scenario, &workloads, rows));
        network.observe(interval(&run.scenario, batch.runs.len()), recorder);
    }
    if let Some(tracer) = watch.tracer(number) {
        network.trace(tracer);
    }
    if let Some(hashing) = watch.hashing(number) {
        network.on_hashing(hashing);
    }
    let sampling = sampling(&run.scenario);
    if let Some((every, most)) = sampling {
        network.watch_stores(every, most);
    }
    // Samples are at the same instants however long the steps are.
    let (mut measures, mut is_over) = (Measures::new(&run.scenario), false);
    let end = run.scenario.duration;
    let longest = Duration(end.0.div_ceil(LOOKS));
    // How much happens in a span is not known yet: the first ones are short.
    let first = Duration((longest.0 / 1024).max(1));
    let (mut step, mut now, mut looked) = (first, Time::ZERO, began);
    loop {
        now = (now + step).min(Time(end.0));
        let begun = Progress { run: number, now: Duration::ZERO, end, events: 0 };
        let (mut is_wanted, mut reported) = (true, looked);
        while is_wanted && measures.due() <= now && !is_over && !network.is_given_up() {
            is_wanted = reach(&mut network, measures.due(), watch, begun, &mut reported);
            if is_wanted {
                network.sample(&mut measures);
                is_over = network.is_over();
            }
        }
        is_wanted = is_wanted && reach(&mut network, now, watch, begun, &mut reported);
        // Where it was given up, if it was.
        let given_up = network.is_given_up();
        let span = network.now().since(Time::ZERO);
        let progress = Progress { run: number, now: span, end, events: network.events() };
        let goes_on = is_wanted && watch.progress(progress) && !given_up;
        let seconds = watch.seconds();
        if span == end || !goes_on {
            let samples = (network.store_samples(), &network.store_sample());
            let caching = sampling.and_then(|_| Caching::new(&run.scenario, samples.0, samples.1));
            network.sample(&mut measures);
            let outcome = network.outcome();
            let interrupted = given_up || !is_wanted || span < end;
            return Ok(RunResult::new(
                run,
                &outcome,
                &measures,
                caching,
                seconds - began,
                interrupted,
            ));
        }
        // Where the looks fall does not change what happens.
        step = match seconds - looked {
            taken if taken > CHECK_INTERVAL_S => Duration((step.0 / 2).max(1)),
            taken if taken < CHECK_INTERVAL_S / 4.0 => (step + step).min(longest),
            _ => step,
        };
        looked = seconds;
    }
}

/// Executes the runs of a batch, `jobs` at a time, and returns their results in the order of the
/// runs. Runs that had not begun when the watch returned `false` are missing; those that had begun
/// are there, marked as interrupted.
///
/// # Errors
/// The first that occurred.
pub fn execute_all(
    batch: &Batch,
    jobs: usize,
    watch: &dyn Watch,
) -> Result<Vec<RunResult>, BuildError> {
    execute_rest(batch, jobs, watch, BTreeMap::new())
}

/// As [`execute_all`], without the runs of which `done` has results, by their place in the batch.
/// Returns the results of the first runs of the batch, without a gap: results behind a gap, which
/// there may be after an interruption, are dropped.
///
/// # Errors
/// The first that occurred.
pub fn execute_rest(
    batch: &Batch,
    jobs: usize,
    watch: &dyn Watch,
    done: BTreeMap<usize, RunResult>,
) -> Result<Vec<RunResult>, BuildError> {
    let open: Vec<usize> = (0..batch.runs.len()).filter(|run| !done.contains_key(run)).collect();
    let executed = run_parallel(open.len(), jobs, |place| {
        let result = execute(batch, open[place], watch);
        let goes_on = result.as_ref().is_ok_and(|result| !result.interrupted);
        ((open[place], result), goes_on)
    });
    let mut all = done;
    for (run, result) in executed {
        all.insert(run, result?);
    }
    let without_gap = all.into_iter().enumerate().take_while(|(place, (run, _))| place == run);
    Ok(without_gap.map(|(_, (_, result))| result).collect())
}

/// Calls `one` with the numbers below `count`, `jobs` at a time. Returns the results in order of
/// the numbers. No call begins after `one` has returned false; numbers that remain have no result.
pub fn run_parallel<T: Send>(
    count: usize,
    jobs: usize,
    one: impl Fn(usize) -> (T, bool) + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let (result, goes_on) = one(number);
            if !goes_on {
                next.store(count, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, count.max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
