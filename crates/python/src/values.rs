//! Python values as TOML. A number in a field with a unit is in that unit's base: seconds, bits per
//! second, bytes, requests per second.

use ::document::schema::{Field, Form, Section};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use scenario::schema::SECTIONS;
use std::fmt::Write;

/// The deepest nesting of values.
const DEEPEST: usize = 16;

/// The document with these sections, as TOML: a dictionary, or a list of them, by section.
#[pyfunction]
pub fn document(sections: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut out = String::new();
    for (name, value) in sections {
        let name: String = name.extract()?;
        let section = SECTIONS.iter().find(|section| section.name == name).copied();
        let is_repeated = section.is_some_and(|section| section.repeated);
        let entries = match listed(&value)? {
            Some(entries) => entries,
            None => vec![value],
        };
        for entry in &entries {
            let Ok(fields) = entry.cast::<PyDict>() else {
                let what = entry.get_type().name()?;
                let message = format!("section `{name}` is a dictionary, not {what}");
                return Err(PyTypeError::new_err(message));
            };
            let head = key(&name);
            let head = if is_repeated { format!("[[{head}]]") } else { format!("[{head}]") };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}{head}", if out.is_empty() { "" } else { "\n" });
            for (name, value) in fields {
                if value.is_none() {
                    continue;
                }
                let name: String = name.extract()?;
                let text = text(&value, form(section, &name), 0)
                    .map_err(|error| at(entry.py(), &name, &error))?;
                // A key of a sweep has dots that separate its parts.
                let parts: Vec<String> = name.split('.').map(key).collect();
                let _ = writeln!(out, "{} = {text}", parts.join("."));
            }
        }
    }
    Ok(out)
}

/// A setting as `--set` takes it, `KEY=VALUE`.
#[pyfunction]
pub fn setting(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = text(value, form(None, name), 0).map_err(|error| at(value.py(), name, &error))?;
    Ok(format!("{name}={text}"))
}

fn at(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    PyErr::from_type(error.get_type(py), format!("`{name}`: {}", error.value(py)))
}

/// The form of a field: of the section, or of the one that `SECTION.FIELD` names, or of all that
/// have such a field, if they agree.
fn form(section: Option<&Section>, name: &str) -> Option<Form> {
    let word = name.rsplit('.').next().unwrap_or(name);
    if let Some(field) = section.and_then(|section| section.field(word)) {
        return Some(field.form);
    }
    if let Some((first, _)) = name.split_once('.')
        && let Some(section) = SECTIONS.iter().find(|section| section.name == first)
        && let Some(field) = section.field(word)
    {
        return Some(field.form);
    }
    let fields: Vec<&Field> = SECTIONS.iter().filter_map(|section| section.field(word)).collect();
    let form = fields.first()?.form;
    fields.iter().all(|field| unit(field.form) == unit(form)).then_some(form)
}

/// The unit of a bare number in a field of this form.
fn unit(form: Form) -> Option<&'static str> {
    match form {
        Form::Size => Some("B"),
        Form::Rate => Some("bit/s"),
        Form::Duration => Some("s"),
        Form::As(words) if words.starts_with("number a second") => Some("/s"),
        Form::As(words) if words.starts_with("time") || words.ends_with("time") => Some("s"),
        Form::As(words) if words.starts_with("size, packets") => Some("packets"),
        Form::As(words) if words.starts_with("size,") => Some("B"),
        _ => None,
    }
}

/// A value as it stands in a file.
fn text(value: &Bound<'_, PyAny>, form: Option<Form>, depth: usize) -> PyResult<String> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err("it is nested too deeply"));
    }
    let unit = form.and_then(unit);
    if value.cast::<PyBool>().is_ok() {
        return Ok(value.extract::<bool>()?.to_string());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(quoted(&text.to_cow()?));
    }
    // A scalar of numpy, which may be a switch, or an array without dimensions.
    if value.getattr_opt("ndim")?.is_some_and(|ndim| ndim.eq(0).unwrap_or(false)) {
        return text(&value.call_method0("item")?, form, depth + 1);
    }
    if let Ok(span) = value.cast::<PyDelta>() {
        let seconds: f64 = span.call_method0("total_seconds")?.extract()?;
        return Ok(quoted(&format!("{seconds} s")));
    }
    if let Ok(path) = value.call_method0("__fspath__") {
        return Ok(quoted(&path.extract::<String>()?));
    }
    // A class of a scheme, or anything else that is chosen by its name.
    if let Some(name) = value.getattr_opt("__weir_name__")? {
        return Ok(quoted(&name.extract::<String>()?));
    }
    if let Some(list) = listed(value)? {
        let texts: PyResult<Vec<_>> = list.iter().map(|one| text(one, form, depth + 1)).collect();
        return Ok(format!("[{}]", texts?.join(", ")));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let mut fields = Vec::new();
        for (name, value) in table {
            let name: String = name.extract()?;
            let text = text(&value, self::form(None, &name), depth + 1)?;
            fields.push(format!("{} = {text}", key(&name)));
        }
        return Ok(format!("{{ {} }}", fields.join(", ")));
    }
    number(value, unit)
}

fn number(value: &Bound<'_, PyAny>, unit: Option<&str>) -> PyResult<String> {
    let whole = value.cast::<PyInt>().is_ok() || value.hasattr("__index__")?;
    if whole && let Ok(number) = value.extract::<i64>() {
        return Ok(match unit {
            Some(unit) => quoted(&format!("{number} {unit}")),
            None => number.to_string(),
        });
    }
    let is_number = value.cast::<PyFloat>().is_ok() || value.hasattr("__float__")?;
    if is_number && let Ok(number) = value.extract::<f64>() {
        if !number.is_finite() {
            return Err(PyValueError::new_err(format!("{number} is not a finite number")));
        }
        return Ok(match unit {
            Some(unit) => quoted(&format!("{number} {unit}")),
            // A number of TOML with a point stays one with a point.
            None => format!("{number:?}"),
        });
    }
    let what = value.get_type().name()?;
    let message =
        format!("it takes a text, a number, a switch, a list or a dictionary, not {what}");
    Err(PyTypeError::new_err(message))
}

/// The elements of a list or a tuple.
fn listed<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(Some(list.iter().collect()));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(Some(tuple.iter().collect()));
    }
    // Arrays of numpy and columns of data frames.
    match value.hasattr("tolist")? && value.hasattr("__len__")? {
        true => Ok(Some(value.call_method0("tolist")?.extract()?)),
        false => Ok(None),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match is_bare && !name.is_empty() {
        true => name.to_owned(),
        false => quoted(name),
    }
}
