//! Schemes that are classes of Python: their registration, and the parts that call them.

mod class;
mod context;
mod controller;
mod law;
mod link;
mod part;
mod strategy;
mod texts;
mod views;

use crate::env;
use crate::errors::{error_text, raise};
use class::Class;
use context::Context;
use control::{Duration, ParamSpec, Rate, Scheme, Size, Value, Windowed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeSet;
use texts::lasting;

/// Adds the classes and functions of this file.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Context>()?;
    module.add_class::<views::Ack>()?;
    module.add_class::<views::Round>()?;
    module.add_class::<views::Rtt>()?;
    module.add_class::<views::Ask>()?;
    module.add_class::<views::Sent>()?;
    module.add_class::<views::Arrival>()?;
    module.add_class::<views::Loss>()?;
    module.add_class::<views::Link>()?;
    module.add_class::<views::Packet>()?;
    module.add_class::<views::Entry>()?;
    module.add_function(wrap_pyfunction!(add_scheme, module)?)
}

/// A parameter: name, default, unit, smallest and largest value, meaning. The default of a switch
/// has the unit `switch`.
type Row = (String, f64, String, f64, f64, String);

/// Adds a class as a scheme with one part, or replaces the scheme of its name.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the arguments are made for this call")]
fn add_scheme(
    py: Python<'_>,
    class: Py<PyAny>,
    name: String,
    part: &str,
    summary: &str,
    rows: Vec<Row>,
    methods: BTreeSet<String>,
) -> PyResult<()> {
    if name == env::NAME {
        let what = format!("`{name}` is the scheme of the flows of `weir.env`");
        return Err(raise(py, "WeirError", (error_text(&what, "choose another name"),)));
    }
    let params: Vec<ParamSpec> = rows.iter().map(spec).collect::<PyResult<_>>()?;
    let mut scheme = Scheme {
        name: lasting(&name),
        summary: lasting(summary),
        params: Box::leak(params.into_boxed_slice()),
        ..Scheme::EMPTY
    };
    match part {
        "law" => {
            scheme.law = Some(law::make);
            scheme.controller = Some(|params| Box::new(Windowed::new(law::make(params))));
        }
        "controller" => scheme.controller = Some(controller::make),
        "marker" => scheme.marker = Some(link::marker),
        "shaper" => scheme.shaper = Some(link::shaper),
        "strategy" => scheme.strategy = Some(strategy::make),
        other => return Err(PyValueError::new_err(format!("`{other}` is not a part of a scheme"))),
    }
    class::keep(Class { name: name.into(), class, methods }, |key| {
        let added = schemes::add(Scheme { key, ..scheme });
        added.map(|_| ()).map_err(|error| raise(py, "WeirError", (error.to_string(),)))
    })
}

fn spec((name, default, unit, low, high, help): &Row) -> PyResult<ParamSpec> {
    let value = match unit.as_str() {
        "" => Value::Number(*default),
        "s" => Value::Time(Duration::from_secs_f64(*default)),
        "bit/s" => Value::Rate(Rate(*default as u64)),
        "B" => Value::Size(Size(*default as u64)),
        "switch" => Value::Switch(*default != 0.0),
        other => {
            let what =
                format!("parameter `{name}`: there is no unit `{other}`; there are s, bit/s, B");
            return Err(PyValueError::new_err(what));
        }
    };
    let (name, help) = (lasting(name), lasting(help));
    Ok(ParamSpec { name, default: value, range: (*low, *high), help, source: "own" })
}
