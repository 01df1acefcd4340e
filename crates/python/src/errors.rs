//! Exceptions: their classes are in `python/weir/_errors.py`.

use client::Error;
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
pub fn error_text(what: &str, next: &str) -> String {
    match next {
        "" => what.to_owned(),
        next => format!("{what}; {next}"),
    }
}

/// A scenario that cannot be read. Each mistake is a tuple of file, line, column and message.
pub fn of_scenario(py: Python<'_>, error: &ScenarioError, file: &str) -> PyErr {
    let [what, mut next] = error.report(file);
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
    raise(py, "ScenarioError", (error_text(&what, &next), mistakes))
}

/// An error of the crate `client`. Its `kind` is the word of the program `weir`, if that has one.
pub fn of_client(py: Python<'_>, error: &Error) -> PyErr {
    let (class, kind) = match error {
        Error::NotFound(_) => ("NotFound", Some("not-found")),
        Error::NotVerified(_) => ("NotVerified", Some("not-verified")),
        Error::NoForwarder(_) => ("NoForwarder", Some("no-forwarder")),
        Error::TimedOut(_) => ("TimedOut", None),
        Error::File(_) => ("FileFailed", Some("file")),
        Error::Usage(_) => ("UsageError", Some("usage")),
        Error::Rejected(_) => ("TransferError", Some("rejected")),
        _ => ("TransferError", Some("failed")),
    };
    let raised = raise(py, class, (error.to_string(),));
    if let Some(kind) = kind {
        // The classes are those of this package: each takes a kind.
        let _ = raised.value(py).setattr("kind", kind);
    }
    raised
}
