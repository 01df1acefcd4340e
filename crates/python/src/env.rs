//! One flow whose window is set from outside, step by step: the environment of `weir.env`.

use crate::errors::raise;
use crate::hosting::{Cause, Fault, Hosted};
use crate::running::of_fault;
use crate::scenarios::Scenario;
use control::{
    Ack, Controller, Cx, Duration, MAX_WINDOW, Params, Round, RttEstimate, Scheme, Signal, Time,
    WindowLaw, Windowed,
};
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scenario::{Network, build};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name by which the flow of an environment chooses its scheme. No class may have it.
pub const NAME: &str = "agent";
/// The key of that scheme. Classes of Python count from 1 on.
const KEY: u64 = u64::MAX;
/// Segments of the window at the beginning.
const FIRST: f64 = 10.0;

/// The numbers that pass between the flow and the environment.
#[derive(Clone, Copy, Default)]
struct Seen {
    window: f64,
    /// Since the last step.
    delivered: u64,
    marks: u64,
    losses: u64,
    rtt_sum_s: f64,
    samples: u64,
    /// As it was last.
    rtt_s: f64,
    rtt_min_s: f64,
    in_flight: u32,
}

type Shared = Arc<Mutex<Seen>>;

thread_local! {
    /// The environment whose network is being built in this thread.
    static BUILDING: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

fn lock(shared: &Shared) -> MutexGuard<'_, Seen> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The law of the flow: it reports, and takes the window that it is given.
#[derive(Clone)]
struct Agent(Shared);

fn make(_params: &Params) -> Box<dyn Controller> {
    let shared = BUILDING
        .with_borrow(Option::clone)
        .unwrap_or_else(|| Arc::new(Mutex::new(Seen { window: FIRST, ..Seen::default() })));
    Box::new(Windowed::new(Box::new(Agent(shared))))
}

impl WindowLaw for Agent {
    fn window(&self) -> f64 {
        lock(&self.0).window
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        let mut seen = lock(&self.0);
        seen.delivered += 1;
        seen.in_flight = ack.in_flight;
        seen.rtt_min_s = ack.rtt_min.as_secs_f64();
        if let Some(rtt) = ack.rtt {
            seen.rtt_s = rtt.as_secs_f64();
            seen.rtt_sum_s += seen.rtt_s;
            seen.samples += 1;
        }
    }

    fn on_round(&mut self, _cx: &mut Cx<'_>, round: &Round) {
        lock(&self.0).losses += u64::from(round.lost);
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, signal: Signal, _rtt: &RttEstimate) {
        let mut seen = lock(&self.0);
        if signal == Signal::Mark {
            seen.marks += 1;
            seen.delivered += 1;
        }
    }

    fn seed(&mut self, _segments: f64) {}

    fn answers_every_mark(&self) -> bool {
        true
    }
}

/// A simulation that goes on by steps.
#[pyclass(frozen, module = "weir._weir")]
pub struct Stepped {
    /// Boxed: objects of Python are not aligned as it is.
    network: Mutex<Box<Network>>,
    shared: Shared,
    /// Its schemes in Python.
    hosted: Arc<Hosted>,
    step: Duration,
    end: Time,
    /// Bits of content in a segment.
    segment_bits: f64,
}

/// Window, goodput in Mbit/s, mean and smallest round-trip time in ms, segments in flight, marks,
/// losses, time in seconds.
type Observation = [f64; 8];
/// The observation of a step, the segments that came in it, and two ends: everything has come, the
/// time is over.
type Step = (Observation, u64, bool, bool);

/// Raises the exception of a scheme in Python that failed. Ctrl-C in its call is no fault of it.
fn check(py: Python<'_>, hosted: &Hosted) -> PyResult<()> {
    match hosted.take_fault() {
        None => Ok(()),
        Some(Fault { cause: Cause::Raised(error), .. })
            if !error.is_instance_of::<PyException>(py) =>
        {
            Err(error)
        }
        Some(fault) => Err(of_fault(py, fault)),
    }
}

#[pymethods]
impl Stepped {
    /// Builds the network of a scenario with one consumer, which takes the window of `step`.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, Scenario>,
        seed: Option<u64>,
        step: f64,
    ) -> PyResult<Stepped> {
        let batch = Arc::clone(&scenario.get().batch);
        let run = &batch.runs[0];
        let [consumer] = &*run.scenario.consumers else {
            let n = run.scenario.consumers.len();
            let what = format!("the scenario has {n} consumers; this environment has one flow");
            return Err(PyValueError::new_err(what));
        };
        if !step.is_finite() || step < 1e-6 {
            return Err(PyValueError::new_err(format!("a step of {step} s; take 1e-6 s or more")));
        }
        let content = &run.scenario.contents[consumer.content];
        let shared = Arc::new(Mutex::new(Seen { window: FIRST, ..Seen::default() }));
        BUILDING.set(Some(Arc::clone(&shared)));
        let hosted = Hosted::new();
        let network = hosted.enter(|| build(&run.scenario, seed.unwrap_or(run.seed)));
        BUILDING.set(None);
        let network = network.map_err(|error| raise(py, "RunError", (error.to_string(),)))?;
        check(py, &hosted)?;
        Ok(Stepped {
            network: Mutex::new(Box::new(network)),
            shared,
            hosted,
            step: Duration::from_secs_f64(step),
            end: Time::ZERO + run.scenario.duration,
            segment_bits: content.segment.0 as f64 * 8.0,
        })
    }

    /// Sets the window and goes on for a step. The window is in segments; values outside of 1 to
    /// 262,144 become the nearest of these.
    ///
    /// # Errors
    /// `ValueError`: the window is not finite. `RuntimeError`: the episode is over.
    /// `SchemeError`: a scheme in Python failed, which ends the episode.
    fn step(&self, py: Python<'_>, window: f64) -> PyResult<Step> {
        let step = py.detach(|| self.hosted.enter(|| self.go_on(window)));
        check(py, &self.hosted)?;
        step
    }
}

impl Stepped {
    fn go_on(&self, window: f64) -> PyResult<Step> {
        if !window.is_finite() {
            return Err(PyValueError::new_err(format!("a window of {window} segments")));
        }
        let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let now = network.now();
        if now >= self.end || network.is_over() || self.hosted.is_broken() {
            let what = "the episode is over; call `reset`";
            return Err(PyRuntimeError::new_err(what));
        }
        let before = *lock(&self.shared);
        *lock(&self.shared) = Seen {
            window: window.clamp(1.0, MAX_WINDOW),
            rtt_s: before.rtt_s,
            rtt_min_s: before.rtt_min_s,
            in_flight: before.in_flight,
            ..Seen::default()
        };
        let next = (now + self.step).min(self.end);
        network.advance(next);
        let seen = *lock(&self.shared);
        let taken = next.since(now).as_secs_f64();
        let rtt = match seen.samples {
            0 => seen.rtt_s,
            n => seen.rtt_sum_s / n as f64,
        };
        let observation = [
            seen.window,
            seen.delivered as f64 * self.segment_bits * 1e-6 / taken,
            rtt * 1e3,
            seen.rtt_min_s * 1e3,
            f64::from(seen.in_flight),
            seen.marks as f64,
            seen.losses as f64,
            next.since(Time::ZERO).as_secs_f64(),
        ];
        Ok((observation, seen.delivered, network.is_over(), next >= self.end))
    }
}

/// Adds the class, and the scheme of its flow.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let scheme = Scheme {
        name: NAME,
        summary: "the window that an environment of `weir.env` is given step by step",
        key: KEY,
        controller: Some(make),
        ..Scheme::EMPTY
    };
    let py = module.py();
    schemes::add(scheme).map_err(|error| raise(py, "WeirError", (error.to_string(),)))?;
    module.add_class::<Stepped>()
}
