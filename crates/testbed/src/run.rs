//! Executes a scenario at its times.

use crate::changes;
use crate::children::Process;
use crate::error::TestbedError;
use crate::in_process::{InProcessApps, RunningApps};
use crate::instance::Testbed;
use crate::outcome::{Ended, Fetched, Observed, outcome};
use crate::plan::{Medium, Plan};
use crate::readings::Reader;
use control::{Duration, Time};
use net::clock::monotonic;
use scenario::model::{FaultKind, Scenario};
use scenario::result::{RunResult, TESTBED};
use scenario::series::interval;
use scenario::{Batch, Progress, Watch};
use std::path::Path;
use std::time::Duration as Span;

/// The minimum interval between requests to daemons, because answers cost them time.
const LEAST_INTERVAL: Duration = Duration::from_millis(20);
/// The time between the completed network and the start.
const LEAD: Duration = Duration::from_millis(50);
/// The interval at which processes and the watch are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// A wake-up later than this means the host was suspended or overloaded; the run is invalid.
const JUMP: Duration = Duration::from_secs(1);
/// The time for a transfer to write its last line.
const PATIENCE: Span = Span::from_secs(2);

/// Executes one of a batch's runs on real daemons, under a name of the testbed, with `program` as
/// daemon and tools, over links of a medium.
///
/// # Errors
/// The scenario has features that a testbed lacks, or an item cannot be built or ends early.
pub fn run(
    batch: &Batch,
    number: usize,
    name: &str,
    program: &Path,
    medium: Medium,
    watch: &dyn Watch,
) -> Result<RunResult, TestbedError> {
    let began = watch.seconds();
    let run = &batch.runs[number];
    let scenario = &run.scenario;
    let plan = Plan::new(scenario, run.seed, medium).map_err(TestbedError::Unsupported)?;
    let end = scenario.duration;
    let goes_on = |now| watch.progress(Progress { run: number, now, end, events: 0 });
    let every = interval(scenario, batch.runs.len()).max(LEAST_INTERVAL);
    let testbed = Testbed::build(name, plan, program, &|| goes_on(Duration::ZERO))?;
    let in_process = InProcessApps::new(scenario, run.seed, &testbed)?;
    let observed = Course::begin(testbed, in_process, scenario, every)?.go(end, &goes_on)?;
    let interrupted = observed.duration < end;
    let (outcome, measures, caching) = outcome(scenario, &observed, every, watch.rows(number));
    let wall_s = watch.seconds() - began;
    let mut result = RunResult::new(run, &outcome, &measures, caching, wall_s, interrupted);
    result.id.driver = TESTBED.to_owned();
    // Runs on real daemons are never identical.
    result.trace_hash = String::new();
    Ok(result)
}

/// A due event.
enum Event {
    Fetch(usize),
    Fault(FaultKind),
}

/// A run in progress.
struct Course {
    testbed: Testbed,
    origin: Time,
    every: Duration,
    events: Vec<(Duration, Event)>,
    fetches: Vec<Option<Process>>,
    ended: Vec<Ended>,
    readers: Vec<Reader>,
    carrying: Option<RunningApps>,
}

impl Course {
    fn begin(
        testbed: Testbed,
        in_process: Option<InProcessApps>,
        scenario: &Scenario,
        every: Duration,
    ) -> Result<Course, TestbedError> {
        let fetches = testbed.plan().fetches.iter().enumerate();
        let fetches = fetches.map(|(number, fetch)| (fetch.start, Event::Fetch(number)));
        let faults = scenario.faults.iter().map(|f| (f.at, Event::Fault(f.kind.clone())));
        // Last first, and of those at the same time the first of the file last.
        let mut events: Vec<_> = fetches.chain(faults).collect();
        events.sort_by_key(|(at, _)| *at);
        events.reverse();
        let origin = monotonic() + LEAD;
        let nodes = 0..testbed.plan().nodes.len();
        let readers = nodes
            .map(|at| Reader::start(testbed.socket(at), testbed.pid(at), origin, every))
            .collect();
        let count = testbed.plan().fetches.len();
        let fetches = std::iter::repeat_with(|| None).take(count).collect();
        let ended = vec![Ended::default(); count];
        let carrying = in_process.map(|in_process| in_process.start(origin, every)).transpose();
        let carrying = carrying.map_err(TestbedError::System)?;
        Ok(Course { testbed, origin, every, events, fetches, ended, readers, carrying })
    }

    fn now(&self) -> Duration {
        monotonic().since(self.origin)
    }

    /// Executes everything, and returns the observations.
    fn go(
        mut self,
        end: Duration,
        goes_on: &dyn Fn(Duration) -> bool,
    ) -> Result<Observed, TestbedError> {
        let mut look = Duration::ZERO;
        // Time before the start counts as zero, at which the first flows start.
        while monotonic() < self.origin {
            std::thread::park_timeout(Span::from_nanos(self.origin.since(monotonic()).0));
        }
        loop {
            let now = self.now();
            while self.events.last().is_some_and(|(at, _)| *at <= now) {
                if let Some((_, event)) = self.events.pop() {
                    self.happen(event, goes_on)?;
                }
            }
            if now >= look {
                look = now + LOOK;
                self.testbed.check()?;
                if !goes_on(now.min(end)) || now >= end {
                    break;
                }
            }
            let next = self.events.last().map_or(end, |(at, _)| *at).min(look).min(end);
            let wait = next.saturating_sub(self.now());
            std::thread::park_timeout(Span::from_nanos(wait.0));
            let by = self.now().saturating_sub(next);
            if by >= JUMP {
                return Err(TestbedError::ClockJumped { at: next, by });
            }
        }
        let duration = self.now().min(end);
        self.observed(duration)
    }

    fn happen(
        &mut self,
        event: Event,
        goes_on: &dyn Fn(Duration) -> bool,
    ) -> Result<(), TestbedError> {
        let kind = match event {
            Event::Fetch(number) => {
                self.fetches[number] = Some(self.testbed.start_fetch(number, self.every)?);
                return Ok(());
            }
            Event::Fault(kind) => kind,
        };
        match kind {
            FaultKind::LinkDown(link) => self.testbed.switch(link, false),
            FaultKind::LinkUp(link) => self.testbed.switch(link, true),
            FaultKind::NodeCrash(at) => {
                self.crash(at);
                Ok(())
            }
            FaultKind::NodeRestart(at) => {
                let now = self.now();
                self.testbed.start_daemon(at)?;
                self.testbed.wait_for_daemon(at, &|| goes_on(now))?;
                self.testbed.change_again(at)?;
                if let Some(carrying) = &mut self.carrying {
                    carrying.restart(at);
                }
                self.testbed.publish_again(at)
            }
            // A plan does not have these.
            FaultKind::LinkDelay { .. } | FaultKind::LinkLoss { .. } => Ok(()),
            FaultKind::LinkRate { .. } | FaultKind::RouteAdd(_) | FaultKind::RouteRemove(_) => {
                let changes = changes::of(&kind, &self.testbed);
                changes.into_iter().try_for_each(|(at, change)| self.testbed.change(at, change))
            }
        }
    }

    /// A node crashes with everything on it: applications first, so that none sees the daemon
    /// disappear.
    fn crash(&mut self, at: usize) {
        let now = self.now();
        if let Some(carrying) = &mut self.carrying {
            carrying.crash(at);
        }
        let fetches = self.testbed.plan().fetches.iter().zip(&mut self.fetches);
        for ((fetch, process), ended) in fetches.zip(&mut self.ended) {
            if fetch.at == at
                && let Some(process) = process
                && !process.has_ended()
            {
                process.kill();
                ended.crashed = Some(now);
            }
        }
        self.testbed.kill_node(at);
    }

    fn observed(&mut self, duration: Duration) -> Result<Observed, TestbedError> {
        let carried = self.carrying.take().map(RunningApps::end).unwrap_or_default();
        if let Some(failed) = carried.failed {
            return Err(failed);
        }
        for (number, process) in self.fetches.iter_mut().enumerate() {
            let Some(process) = process else { continue };
            self.ended[number].by_itself = process.has_ended();
            process.end(PATIENCE);
            self.ended[number].output = process.output();
        }
        let fetches = self.testbed.plan().fetches.iter().enumerate();
        let fetched = fetches.zip(&self.ended).map(|((number, fetch), ended)| {
            let text = std::fs::read_to_string(self.testbed.record_of(number));
            let text = text.unwrap_or_default();
            // After a kill, the last line may be incomplete.
            let records = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            let (records, ended) = (records.collect(), ended.clone());
            (fetch.consumer, Fetched { records, ended })
        });
        let fetched = fetched.collect();
        let readings = self.readers.drain(..).map(Reader::end).collect();
        let interfaces = self.testbed.plan().links.iter().map(|link| link.interface.clone());
        let interfaces = interfaces.collect();
        let passed = self.testbed.passed()?;
        let origin = self.origin;
        Ok(Observed { origin, duration, interfaces, passed, readings, fetched, carried })
    }
}
