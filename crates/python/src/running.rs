//! Running a scenario: in threads of its own, without the interpreter's lock. The calling thread
//! meanwhile shows progress and answers Ctrl-C.

use crate::errors::{error_text, raise};
use crate::hosting::{Cause, Fault, Hosted};
use crate::results::Results;
use crate::scenarios::Scenario;
use crate::series::{Collected, MOST_ROWS};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use report::{Folder, ReportError};
use scenario::result::RunResult;
use scenario::series::Rows;
use scenario::{Batch, BuildError, Progress, Watch, execute, run_parallel};
use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often signals, progress and the time of calls are looked at.
const TICK: Duration = Duration::from_millis(50);
/// A scheme whose call was ended has this long to return before its thread is left alone.
const GRACE: Duration = Duration::from_secs(2);

/// One batch while it runs.
struct Work {
    batch: Arc<Batch>,
    hosted: Vec<Arc<Hosted>>,
    series: Arc<Collected>,
    folder: Option<Folder>,
    stop: Arc<AtomicBool>,
    /// Simulated nanoseconds and events of each run.
    done: Vec<[AtomicU64; 2]>,
    origin: Instant,
}

/// The results, in the order of the runs.
type Outcome = Result<Vec<RunResult>, BuildError>;

impl Watch for Work {
    fn seconds(&self) -> f64 {
        self.origin.elapsed().as_secs_f64()
    }

    fn progress(&self, progress: Progress) -> bool {
        let [now, events] = &self.done[progress.run];
        now.store(progress.now.0, Ordering::Relaxed);
        events.store(progress.events, Ordering::Relaxed);
        let broken = self.hosted[progress.run].is_broken();
        !broken && !self.series.is_full() && !self.stop.load(Ordering::Relaxed)
    }

    fn hashing(&self, run: usize) -> Option<scenario::OnHashing> {
        let (stop, hosted) = (Arc::clone(&self.stop), Arc::clone(&self.hosted[run]));
        Some(Box::new(move |_| !stop.load(Ordering::Relaxed) && !hosted.is_broken()))
    }

    fn rows(&self, run: usize) -> Option<Box<dyn Rows>> {
        let beside = self.folder.as_ref().map(|folder| folder.rows(&self.batch, run));
        Some(self.series.begin(run, beside))
    }
}

impl Work {
    fn all(&self, jobs: usize) -> Outcome {
        let results = run_parallel(self.batch.runs.len(), jobs, |run| {
            // The state that the interpreter has of a thread is kept for all calls from it.
            let result = self.hosted[run]
                .enter(|| Python::attach(|py| py.detach(|| execute(&self.batch, run, self))));
            let goes_on = result.as_ref().is_ok_and(|result| !result.interrupted);
            (result, goes_on)
        });
        results.into_iter().collect()
    }

    /// The share that is done, and the events.
    fn share(&self) -> (f64, u64) {
        let (mut time, mut events) = (0, 0);
        for [time_of_run, events_of_run] in &self.done {
            time += time_of_run.load(Ordering::Relaxed);
            events += events_of_run.load(Ordering::Relaxed);
        }
        let whole: u64 = self.batch.runs.iter().map(|run| run.scenario.duration.0).sum();
        (time as f64 / whole.max(1) as f64, events)
    }
}

/// Runs all runs of a scenario, `jobs` at a time. Returns the results, and the exception that is to
/// be raised with them, if the runs did not end well.
///
/// `tick` is called with the share that is done and the number of events. A call of a scheme in
/// Python may take `patience` seconds; it is a `ValueError` if that is negative or no number.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the argument is made for this call")]
#[pyo3(signature = (scenario, jobs, tick, patience, out = None, command = ""))]
pub fn run(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    jobs: usize,
    tick: &Bound<'_, PyAny>,
    patience: f64,
    out: Option<PathBuf>,
    command: &str,
) -> PyResult<(Option<Results>, Option<PyErr>)> {
    // An infinite one, and one that no clock can reach, never end a call.
    if patience.is_nan() || patience < 0.0 {
        let what = format!("`patience` is a number of seconds from 0, not {patience}");
        return Err(PyValueError::new_err(what));
    }
    let batch = Arc::clone(&scenario.get().batch);
    let folder = out.as_deref().map(|place| Folder::begin(place, &batch)).transpose();
    let folder = folder.map_err(|error| unwritable(py, &error))?;
    #[expect(clippy::disallowed_methods, reason = "a driver: it owns the clock")]
    let origin = Instant::now();
    let count = batch.runs.len();
    let work = Arc::new(Work {
        hosted: (0..count).map(|_| Hosted::new()).collect(),
        series: Arc::default(),
        folder,
        stop: Arc::default(),
        done: (0..count).map(|_| Default::default()).collect(),
        origin,
        batch,
    });
    let patience = Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX);
    let attended = attend(py, &work, jobs, tick, patience);
    // Runs that are left behind with a blocked one must not go on.
    work.stop.store(true, Ordering::Relaxed);
    let (outcome, mut problem) = attended?;
    let Some(outcome) = outcome else { return Ok((None, problem)) };
    let runs = outcome.map_err(|error| {
        let next = "see `weir scenario show` for what was to be built";
        raise(py, "RunError", (error_text(&error.to_string(), next),))
    })?;
    let work = Arc::into_inner(work);
    let Some(Work { batch, hosted, series, folder, .. }) = work else {
        return Ok((None, problem));
    };
    if let Some(fault) = hosted.iter().find_map(|hosted| hosted.take_fault()) {
        problem = Some(of_fault(py, fault));
    } else if series.is_full() {
        let what = format!("the time series have more than {MOST_ROWS} rows, which memory is for");
        let next = "set `record.interval`, or record fewer flows, links and nodes";
        problem = Some(raise(py, "RunError", (error_text(&what, next),)));
    }
    if let Some(folder) = folder
        && let Some(summary) = Results::summary(&batch, runs.clone())
    {
        let written = py.detach(|| folder.finish(&batch, &summary, command));
        if let Err(error) = written {
            problem.get_or_insert_with(|| unwritable(py, &error));
        }
    }
    Ok((Some(Results::new(batch, runs, series.take())), problem))
}

fn unwritable(py: Python<'_>, error: &ReportError) -> PyErr {
    let next = "make room there, or choose another folder with `out`";
    raise(py, "ResultsError", (error_text(&error.to_string(), next),))
}

/// Waits for the runs. No outcome if a scheme does not return.
fn attend(
    py: Python<'_>,
    work: &Arc<Work>,
    jobs: usize,
    tick: &Bound<'_, PyAny>,
    patience: Duration,
) -> PyResult<(Option<Outcome>, Option<PyErr>)> {
    let (sender, receiver) = mpsc::channel();
    let mine = Arc::clone(work);
    let thread = thread::Builder::new().name("weir-run".to_owned()).spawn(move || {
        let outcome = mine.all(jobs);
        drop(mine);
        // The receiver has gone if it has left this thread alone.
        let _ = sender.send(outcome);
    })?;
    let receiver = Mutex::new(receiver);
    let mut problem = None;
    let mut left = None;
    loop {
        match py.detach(|| next(&receiver)) {
            Ok(outcome) => {
                let _ = py.detach(|| thread.join());
                if let Err(error) = tick.call1(work.share()) {
                    problem.get_or_insert(error);
                }
                return Ok((Some(outcome), problem));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let died = py.detach(|| thread.join()).err();
                return Err(raise(py, "RunError", (panicked(died),)));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let interrupted = py.check_signals().and_then(|()| tick.call1(work.share()).map(drop));
        if let Err(error) = interrupted {
            work.stop.store(true, Ordering::Relaxed);
            problem.get_or_insert(error);
        }
        for hosted in &work.hosted {
            if let Some(thread) = hosted.overdue(py, patience) {
                left = Some(work.origin.elapsed() + GRACE);
                // The other runs have the same time to end with their results.
                work.stop.store(true, Ordering::Relaxed);
                let module = py.import("weir._errors")?;
                module.call_method1("end_call_of", (thread,))?;
            }
        }
        if left.is_some_and(|left| work.origin.elapsed() > left) {
            let fault = work.hosted.iter().find_map(|hosted| hosted.take_fault());
            return Ok((None, fault.map(|fault| of_fault(py, fault))));
        }
    }
}

fn next(receiver: &Mutex<Receiver<Outcome>>) -> Result<Outcome, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK)
}

fn panicked(died: Option<Box<dyn Any + Send>>) -> String {
    let text = died.and_then(|died| {
        let text = died.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| died.downcast_ref::<String>().cloned())
    });
    let what = text.unwrap_or_else(|| "no message".to_owned());
    format!("a defect of Weir ended the run: {what}; report it with the scenario")
}

/// The exception for a fault: with the scheme, the simulated time, and its own exception as cause.
pub fn of_fault(py: Python<'_>, fault: Fault) -> PyErr {
    let Fault { scheme, at, cause } = fault;
    let seconds = at.as_secs_f64();
    let (kind, what, raised) = match cause {
        Cause::Raised(error) => ("raised", error.to_string(), Some(error)),
        Cause::Wrong(what) => ("wrong", what, None),
        Cause::Blocked(stack) => ("blocked", stack, None),
    };
    raise(py, "SchemeError", (scheme, seconds, kind, what, raised))
}
