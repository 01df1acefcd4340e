//! Schemes that are classes of Python: their registration, and the parts that call them.

mod context;
mod controller;
mod law;
mod link;
mod strategy;
mod views;

use crate::env;
use crate::errors::{error_text, raise};
use crate::hosting::{Cause, Fault, Hosted};
use context::Context;
use control::{Cx, Duration, ParamSpec, Params, Rate, Scheme, Size, Time, Value, Windowed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

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

/// A class, as the functions that build parts find it.
pub struct Class {
    pub name: Arc<str>,
    class: Py<PyAny>,
    /// The methods that it has of its own.
    methods: BTreeSet<String>,
}

impl Class {
    /// The class has this method; otherwise the call is left out.
    pub fn has(&self, method: &str) -> bool {
        self.methods.contains(method)
    }
}

/// The classes, by the keys of their schemes.
static CLASSES: RwLock<BTreeMap<u64, Arc<Class>>> = RwLock::new(BTreeMap::new());

/// Texts that live as long as the process. Schemes and events have few, which return with every
/// definition of a class.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The most texts.
const MOST_TEXTS: usize = 100_000;

/// The text, for as long as the process lives.
pub fn lasting(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    if texts.len() >= MOST_TEXTS {
        return "other";
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(text);
    text
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
    let mut classes = CLASSES.write().unwrap_or_else(PoisonError::into_inner);
    let key = classes.keys().next_back().map_or(1, |last| last + 1);
    let mut scheme = Scheme {
        name: lasting(&name),
        summary: lasting(summary),
        params: Box::leak(params.into_boxed_slice()),
        key,
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
        other => return Err(PyValueError::new_err(format!("`{other}` is no part of a scheme"))),
    }
    let added = schemes::add(scheme);
    added.map_err(|error| raise(py, "WeirError", (error.to_string(),)))?;
    classes.insert(key, Arc::new(Class { name: name.into(), class, methods }));
    Ok(())
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

/// A part of a scheme: an object of its class, and the run that it belongs to.
pub struct Part {
    pub class: Arc<Class>,
    hosted: Arc<Hosted>,
    /// `None` if it could not be made.
    object: Option<Py<PyAny>>,
    context: Option<Py<Context>>,
}

impl Part {
    /// An object with these parameters.
    pub fn new(params: &Params) -> Part {
        let hosted = Hosted::current();
        let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
        let known = classes.get(&params.key()).map(Arc::clone);
        drop(classes);
        let Some(class) = known else {
            let nothing = Class {
                name: "".into(),
                class: Python::attach(|py| py.None()),
                methods: BTreeSet::new(),
            };
            return Part { class: Arc::new(nothing), hosted, object: None, context: None };
        };
        let made = hosted.call(&class.name, Time::ZERO, |py| {
            let values = PyDict::new(py);
            for (row, value) in params.rows() {
                match value {
                    Value::Switch(on) => values.set_item(row.name, on),
                    other => values.set_item(row.name, other.base()),
                }
                .map_err(Cause::Raised)?;
            }
            let object = class.class.call_method1(py, "_weir_make", (values,));
            let object = object.map_err(Cause::Raised)?;
            let context = Py::new(py, Context::default()).map_err(Cause::Raised)?;
            Ok((object, context))
        });
        let (object, context) = made.unzip();
        Part { class, hosted, object, context }
    }

    /// Another part with a copy of the object.
    pub fn copied(&self, at: Time) -> Part {
        let copy = self.object.as_ref().and_then(|object| {
            self.hosted.call(&self.class.name, at, |py| {
                object.call_method0(py, "_weir_copy").map_err(Cause::Raised)
            })
        });
        let context = self
            .context
            .as_ref()
            .and_then(|_| Python::attach(|py| Py::new(py, Context::default()).ok()));
        let (class, hosted) = (Arc::clone(&self.class), Arc::clone(&self.hosted));
        Part { class, hosted, object: copy, context }
    }

    /// Calls the object. `None` if it is broken, or breaks now.
    pub fn call<T>(
        &self,
        now: Time,
        work: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, Cause>,
    ) -> Option<T> {
        let object = self.object.as_ref()?;
        self.hosted.call(&self.class.name, now, |py| work(object.bind(py)))
    }

    /// Calls the object with time, random numbers and events.
    pub fn call_with<T>(
        &self,
        cx: &mut Cx<'_>,
        work: impl for<'py> FnOnce(&Bound<'py, PyAny>, &Bound<'py, Context>) -> Result<T, Cause>,
    ) -> Option<T> {
        let (object, context) = (self.object.as_ref()?, self.context.as_ref()?);
        self.hosted.call(&self.class.name, cx.now, |py| {
            let context = context.bind(py);
            context::lend(context, cx)?;
            let result = work(object.bind(py), context);
            context::take_back(context, cx)?;
            result
        })
    }

    /// Notes a wrong value.
    pub fn wrong(&self, at: Time, what: String) {
        let scheme = self.class.name.to_string();
        self.hosted.fail(Fault { scheme, at, cause: Cause::Wrong(what) });
    }
}

/// An attribute of an object as a number.
pub fn number(
    object: &Bound<'_, PyAny>,
    name: &Bound<'_, pyo3::types::PyString>,
) -> Result<f64, Cause> {
    object.getattr(name).and_then(|value| value.extract()).map_err(Cause::Raised)
}
