//! Time, random numbers and events, for the duration of a call.

use super::texts::lasting;
use crate::hosting::Cause;
use control::{Cx, Rng, Time};
use pyo3::prelude::*;

/// The first argument of calls that may change state.
#[pyclass(module = "weir._weir")]
#[derive(Default)]
pub struct Context {
    now: Time,
    /// The part's own stream; `None` between calls.
    rng: Option<Rng>,
    notes: Vec<(&'static str, f64)>,
}

/// The most events of a call.
const MOST_NOTES: usize = 1000;

fn outside() -> PyErr {
    let what = "random numbers and events belong to a call; do not keep its context";
    pyo3::exceptions::PyRuntimeError::new_err(what)
}

#[pymethods]
impl Context {
    /// Simulated seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    /// A random number in [0, 1) from the part's own stream: equal runs draw equal numbers.
    fn random(&mut self) -> PyResult<f64> {
        self.rng.as_mut().map(Rng::unit).ok_or_else(outside)
    }

    /// A random whole number below `n`.
    fn below(&mut self, n: u64) -> PyResult<u64> {
        self.rng.as_mut().map(|rng| rng.below(n)).ok_or_else(outside)
    }

    /// Reports an event of this name.
    fn note(&mut self, name: &str, value: f64) -> PyResult<()> {
        if self.rng.is_none() {
            return Err(outside());
        }
        if self.notes.len() < MOST_NOTES {
            self.notes.push((lasting(name), value));
        }
        Ok(())
    }
}

/// Gives the context what belongs to the call.
pub fn lend(context: &Bound<'_, Context>, cx: &Cx<'_>) -> Result<(), Cause> {
    let mut inner = context.try_borrow_mut().map_err(|error| Cause::Raised(error.into()))?;
    inner.now = cx.now;
    inner.rng = Some(cx.rng.clone());
    Ok(())
}

/// Takes it back.
pub fn take_back(context: &Bound<'_, Context>, cx: &mut Cx<'_>) -> Result<(), Cause> {
    let mut inner = context.try_borrow_mut().map_err(|error| Cause::Raised(error.into()))?;
    if let Some(rng) = inner.rng.take() {
        *cx.rng = rng;
    }
    let notes = std::mem::take(&mut inner.notes);
    drop(inner);
    notes.into_iter().for_each(|(name, value)| cx.note(name, value));
    Ok(())
}
