//! The clock of runs, their progress, and the signal that ends them.

use super::traces::Traces;
use crate::output::RunProgress;
use crate::signals::Stop;
use report::Folder;
use scenario::series::Rows;
use scenario::traces::Tracer;
use scenario::{Batch, OnHashing, Progress, Watch};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Watches the runs of a batch.
pub struct Watcher<'s> {
    batch: &'s Batch,
    traces: &'s Traces,
    origin: Instant,
    stop: Stop,
    folder: Option<Folder>,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Until the end.
    bar: Option<RunProgress>,
    /// Simulated nanoseconds and events by run.
    runs: Vec<(u64, u64)>,
}

impl<'s> Watcher<'s> {
    /// Begins to watch; what is recorded goes to `folder` and into `traces`.
    pub fn new(
        batch: &'s Batch,
        traces: &'s Traces,
        stop: Stop,
        quiet: bool,
        folder: Option<Folder>,
    ) -> Watcher<'s> {
        let total =
            batch.runs.iter().map(|run| run.scenario.duration.0).fold(0, u64::saturating_add);
        let bar = RunProgress::new(&batch.name, total, quiet);
        let state = State { bar: Some(bar), runs: vec![(0, 0); batch.runs.len()] };
        #[expect(clippy::disallowed_methods, reason = "a driver: it is the one who has a clock")]
        let origin = Instant::now();
        Watcher { batch, traces, origin, stop, folder, state: Arc::new(Mutex::new(state)) }
    }

    /// Takes the bar away and gives the folder back.
    pub fn end(self) -> Option<Folder> {
        if let Some(bar) = self.state.lock().ok().and_then(|mut state| state.bar.take()) {
            bar.end();
        }
        self.folder
    }
}

impl Watch for Watcher<'_> {
    fn seconds(&self) -> f64 {
        self.origin.elapsed().as_secs_f64()
    }

    fn progress(&self, progress: Progress) -> bool {
        if let Ok(mut state) = self.state.lock() {
            state.runs[progress.run] = (progress.now.0, progress.events);
            let sum = |(a, b): (u64, u64), (c, d): &(u64, u64)| (a.saturating_add(*c), b + d);
            let (now, events) = state.runs.iter().fold((0, 0), sum);
            if let Some(bar) = &state.bar {
                bar.at(now, events, self.seconds());
            }
        }
        !self.stop.requested() && !self.traces.are_broken()
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        let (stop, state) = (self.stop.clone(), Arc::clone(&self.state));
        Some(Box::new(move |hashing| {
            if let Ok(state) = state.lock()
                && let Some(bar) = &state.bar
            {
                bar.hashing(&hashing.object.to_string(), hashing.done, hashing.size);
            }
            !stop.requested()
        }))
    }

    fn tracer(&self, run: usize) -> Option<Box<dyn Tracer>> {
        self.traces.begin(self.batch, run)
    }

    fn rows(&self, run: usize) -> Option<Box<dyn Rows>> {
        self.folder.as_ref().map(|folder| folder.rows(run))
    }
}
