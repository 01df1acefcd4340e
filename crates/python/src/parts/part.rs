//! Parts of schemes that call objects of Python.

use super::class::{self, Class};
use super::context::{self, Context};
use crate::hosting::{Cause, Fault, Hosted};
use control::{Cx, Params, Time, Value};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;
use std::sync::Arc;

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
        let Some(class) = class::known(params.key()) else {
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
