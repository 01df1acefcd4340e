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
    traces: Option<&'s Traces>,
    origin: Instant,
    stop: Stop,
    folder: Option<Folder>,
    /// Until the end.
    bar: Arc<Mutex<Option<RunProgress>>>,
}

impl<'s> Watcher<'s> {
    /// Begins to watch; records go to `folder` and into `traces`.
    pub fn new(
        batch: &'s Batch,
        traces: Option<&'s Traces>,
        stop: Stop,
        quiet: bool,
        folder: Option<Folder>,
    ) -> Watcher<'s> {
        let runs = batch.runs.iter().map(|run| run.scenario.duration.0);
        let bar = Arc::new(Mutex::new(Some(RunProgress::new(&batch.name, runs, quiet))));
        #[expect(clippy::disallowed_methods, reason = "a driver: it owns the clock")]
        let origin = Instant::now();
        Watcher { batch, traces, origin, stop, folder, bar }
    }

    /// Takes the bar away and gives the folder back.
    pub fn end(self) -> Option<Folder> {
        if let Some(bar) = self.bar.lock().ok().and_then(|mut bar| bar.take()) {
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
        if let Ok(mut bar) = self.bar.lock()
            && let Some(bar) = &mut *bar
        {
            bar.at(progress.run, progress.now.0, progress.events, self.seconds());
        }
        !self.stop.requested() && !self.traces.is_some_and(Traces::have_failed)
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        let (stop, bar) = (self.stop.clone(), Arc::clone(&self.bar));
        Some(Box::new(move |hashing| {
            if let Ok(bar) = bar.lock()
                && let Some(bar) = &*bar
            {
                bar.hashing(&hashing.object.to_string(), hashing.done, hashing.size);
            }
            !stop.requested()
        }))
    }

    fn tracer(&self, run: usize) -> Option<Box<dyn Tracer>> {
        self.traces?.begin(self.batch, run)
    }

    fn rows(&self, run: usize) -> Option<Box<dyn Rows>> {
        self.folder.as_ref().map(|folder| folder.rows(self.batch, run))
    }
}
