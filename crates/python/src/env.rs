//! Flows whose windows are set from outside, step by step: the environments of `weir.env`.

use crate::errors::raise;
use crate::hosting::{Cause, Fault, Hosted};
use crate::running::of_fault;
use crate::scenarios::Scenario;
use control::{
    Ack, Controller, Cx, Duration, Observation, Observer, Params, Round, RttEstimate, Scheme,
    Signal, Time, WindowLaw, Windowed, observation, policy,
};
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scenario::{FlowId, Manner, Network, build};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name by which a flow of an environment chooses its scheme. No class may have it.
pub const NAME: &str = "agent";
/// The key of that scheme. Classes of Python count from 1 on.
const KEY: u64 = u64::MAX;

type Shared = Arc<Mutex<Observer>>;

thread_local! {
    /// The flows of the network that is being built in this thread.
    static BUILDING: RefCell<Option<Vec<Shared>>> = const { RefCell::new(None) };
}

fn lock(shared: &Shared) -> MutexGuard<'_, Observer> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The law of a flow: it reports, and takes the window that it is given.
#[derive(Clone)]
struct Agent(Shared);

fn make(_params: &Params) -> Box<dyn Controller> {
    let shared = Shared::default();
    BUILDING.with_borrow_mut(|flows| {
        if let Some(flows) = flows {
            flows.push(Arc::clone(&shared));
        }
    });
    Box::new(Windowed::new(Box::new(Agent(shared))))
}

impl WindowLaw for Agent {
    fn window(&self) -> f64 {
        lock(&self.0).window()
    }

    fn on_ack(&mut self, _cx: &mut Cx<'_>, ack: &Ack) {
        lock(&self.0).on_ack(ack);
    }

    fn on_round(&mut self, _cx: &mut Cx<'_>, round: &Round) {
        lock(&self.0).on_round(round);
    }

    fn on_congestion(&mut self, _cx: &mut Cx<'_>, signal: Signal, _rtt: &RttEstimate) {
        if signal == Signal::Mark {
            lock(&self.0).on_mark();
        }
    }

    fn seed(&mut self, _segments: f64) {}

    fn answers_every_mark(&self) -> bool {
        true
    }
}

/// A flow of an environment.
struct Flow {
    id: FlowId,
    shared: Shared,
}

/// A simulation that advances in steps.
#[pyclass(frozen, module = "weir._weir")]
pub struct Stepped {
    /// Boxed: objects of Python are not aligned as it is.
    network: Mutex<Box<Network>>,
    flows: Vec<Flow>,
    /// Its schemes in Python.
    hosted: Arc<Hosted>,
    step: Duration,
    end: Time,
}

/// Of each flow: its observation of a step, the segments that came in it, and whether everything
/// has come. The time is over.
type Step = (Vec<(Observation, u64, bool)>, bool);

/// The consumers of a scenario that are flows of an environment, by their places.
fn chosen(scenario: &scenario::Scenario) -> Vec<usize> {
    let mut chosen = Vec::new();
    for (at, consumer) in scenario.consumers.iter().enumerate() {
        if let Manner::Fetch { control, .. } = &consumer.manner
            && control.scheme().name == NAME
        {
            chosen.push(at);
        }
    }
    chosen
}

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
    /// The consumers of a scenario that have the control `agent`, by their places.
    #[staticmethod]
    fn agents(scenario: &Bound<'_, Scenario>) -> Vec<usize> {
        chosen(&scenario.get().batch.runs[0].scenario)
    }

    /// Builds the network of a scenario. Its consumers with the control `agent` take the windows of
    /// `step`, in their order.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, Scenario>,
        seed: Option<u64>,
        step: f64,
    ) -> PyResult<Stepped> {
        let batch = Arc::clone(&scenario.get().batch);
        let run = &batch.runs[0];
        if !step.is_finite() || step < 1e-6 {
            return Err(PyValueError::new_err(format!("a step of {step} s; take 1e-6 s or more")));
        }
        let hosted = Hosted::new();
        BUILDING.set(Some(Vec::new()));
        let network = hosted.enter(|| build(&run.scenario, seed.unwrap_or(run.seed)));
        let shared = BUILDING.take().unwrap_or_default();
        let network = network.map_err(|error| raise(py, "RunError", (error.to_string(),)))?;
        check(py, &hosted)?;
        let agents = chosen(&run.scenario);
        if shared.len() != agents.len() {
            let what = format!(
                "`{NAME}` is the control of {} flows, of which {} are consumers that fetch; \
                 players, workloads and startups cannot have it",
                shared.len(),
                agents.len()
            );
            return Err(PyValueError::new_err(what));
        }
        // Each consumer is a flow, and they are the first ones.
        let flows = agents.into_iter().zip(shared);
        let flows = flows.map(|(at, shared)| Flow { id: FlowId(at as u32), shared }).collect();
        Ok(Stepped {
            network: Mutex::new(Box::new(network)),
            flows,
            hosted,
            step: Duration::from_secs_f64(step),
            end: Time::ZERO + run.scenario.duration,
        })
    }

    /// Sets the windows and advances one step. Windows are in segments; values outside of 1 to
    /// 262,144 become the nearest of these.
    ///
    /// # Errors
    /// `ValueError`: a window is not finite, or there is not one for each flow. `RuntimeError`: the
    /// episode is over. `SchemeError`: a scheme in Python failed, which ends the episode.
    fn step(&self, py: Python<'_>, windows: Vec<f64>) -> PyResult<Step> {
        let step = py.detach(|| self.hosted.enter(|| self.go_on(windows)));
        check(py, &self.hosted)?;
        step
    }
}

impl Stepped {
    fn go_on(&self, windows: Vec<f64>) -> PyResult<Step> {
        if windows.len() != self.flows.len() {
            let what = format!("{} windows for {} flows", windows.len(), self.flows.len());
            return Err(PyValueError::new_err(what));
        }
        if let Some(window) = windows.iter().find(|window| !window.is_finite()) {
            return Err(PyValueError::new_err(format!("a window of {window} segments")));
        }
        let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let now = network.now();
        if now >= self.end || network.is_over() || self.hosted.is_broken() {
            let what = "the episode is over; call `reset`";
            return Err(PyRuntimeError::new_err(what));
        }
        for (flow, window) in self.flows.iter().zip(windows) {
            lock(&flow.shared).begin(window);
        }
        let next = (now + self.step).min(self.end);
        network.advance(next);
        let seen = self.flows.iter().map(|flow| {
            let seen = lock(&flow.shared);
            let observation = seen.observation(next.since(Time::ZERO), next.since(now));
            (observation, seen.delivered(), network.is_flow_over(flow.id))
        });
        Ok((seen.collect(), next >= self.end))
    }
}

/// The window after an action.
///
/// # Errors
/// `ValueError`: the action is not from -1 to 1.
#[pyfunction]
fn scaled(window: f64, action: f64) -> PyResult<f64> {
    observation::scaled(window, action)
        .ok_or_else(|| PyValueError::new_err(format!("an action of {action}; it is from -1 to 1")))
}

/// Adds the class, the scheme of its flow, and what observations and actions are.
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
    module.add("OBSERVED", policy::OBSERVED)?;
    module.add("FIRST_WINDOW", observation::FIRST_WINDOW)?;
    module.add_function(wrap_pyfunction!(scaled, module)?)?;
    module.add_class::<Stepped>()
}
