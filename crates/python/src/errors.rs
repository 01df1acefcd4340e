//! Exceptions: their classes are in `python/weir/_errors.py`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use scenario::ScenarioError;
use std::path::Path;

/// The exception of this class of `weir._errors`.
pub fn raise<'py>(py: Python<'py>, class: &str, args: impl PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("weir._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1(args));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Text that the command line would print, after `weir: `.
pub fn told(what: &str, next: &str) -> String {
    match next {
        "" => what.to_owned(),
        next => format!("{what}; {next}"),
    }
}

/// A scenario that cannot be read. Each mistake is a tuple of file, line, column and message.
pub fn of_scenario(py: Python<'_>, error: &ScenarioError, file: &str) -> PyErr {
    let [what, mut next] = error.told(file);
    // A scenario made in code is in no file that the program could check.
    if !Path::new(file).exists() {
        next = next.replace(&format!(" and try `weir scenario check {file}`"), "");
    }
    let mistakes: Vec<_> = match error {
        ScenarioError::Mistakes(mistakes) => mistakes
            .iter()
            .map(|one| (one.file.clone(), one.line, one.column, one.message.clone()))
            .collect(),
        _ => Vec::new(),
    };
    raise(py, "ScenarioError", (told(&what, &next), mistakes))
}
