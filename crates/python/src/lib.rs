//! The module `weir._weir`: the part of the Python package `weir` that is not Python.
//!
//! It reads scenarios, runs them without the interpreter's lock, and hands results over as Arrow
//! tables. The classes that people use are in `python/weir/`.
#![forbid(unsafe_code)]

mod about;
mod application;
mod env;
mod errors;
mod hosting;
mod parts;
mod results;
mod running;
mod scenarios;
mod series;
mod table;
mod traces;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _weir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // With the commit: results of another build may differ.
    module.add("BUILD", env!("WEIR_VERSION"))?;
    module.add_class::<scenarios::Scenario>()?;
    module.add_class::<results::Results>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<traces::Trace>()?;
    module.add_function(wrap_pyfunction!(table::table_of_columns, module)?)?;
    module.add_function(wrap_pyfunction!(running::run, module)?)?;
    module.add_function(wrap_pyfunction!(scenarios::files_of, module)?)?;
    module.add_function(wrap_pyfunction!(results::measures, module)?)?;
    module.add_function(wrap_pyfunction!(results::empty_table, module)?)?;
    module.add_function(wrap_pyfunction!(results::swept_table, module)?)?;
    module.add_function(wrap_pyfunction!(values::document, module)?)?;
    module.add_function(wrap_pyfunction!(values::setting, module)?)?;
    application::add(module)?;
    parts::add(module)?;
    env::add(module)?;
    about::add(module)
}
