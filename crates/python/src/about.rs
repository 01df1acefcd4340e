//! The tables that the package's documentation and stubs come from, and the colours of plots.

use control::Scheme;
use document::Described;
use document::schema::{Form, Section};
use pyo3::prelude::*;
use report::{DASHES, axis_of, colour, colour_of_scheme, colour_of_thing, dashes, toned};
use scenario::schema::{DirectionSection, SECTIONS};
use schemes::defaults;
use serde_json::{Value, json};

/// Adds the functions of this file.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(schemes_json, module)?)?;
    module.add_function(wrap_pyfunction!(sections_json, module)?)?;
    module.add_function(wrap_pyfunction!(scheme_colour, module)?)?;
    module.add_function(wrap_pyfunction!(thing_colour, module)?)?;
    module.add_function(wrap_pyfunction!(named_colour, module)?)?;
    module.add_function(wrap_pyfunction!(line_styles, module)?)?;
    module.add_function(wrap_pyfunction!(axis, module)?)
}

/// Every scheme, as `weir schemes --json` prints it, added ones included.
#[pyfunction]
fn schemes_json() -> String {
    Value::from(schemes::all().into_iter().map(scheme).collect::<Vec<_>>()).to_string()
}

fn scheme(scheme: &Scheme) -> Value {
    let parameters = scheme.params.iter().map(|row| {
        json!({
            "name": row.name,
            "default": row.default.to_string(),
            "low": row.range.0,
            "high": row.range.1,
            "help": row.help,
            "source": row.source,
        })
    });
    let equations =
        scheme.equations.iter().map(|(number, text)| json!({ "number": number, "text": text }));
    json!({
        "name": scheme.name,
        "summary": scheme.summary,
        "paper": scheme.paper,
        "parts": scheme.parts(),
        "default_for": defaults::of(scheme.name),
        "equations": equations.collect::<Vec<_>>(),
        "parameters": parameters.collect::<Vec<_>>(),
    })
}

/// The sections of a scenario file, with their fields.
#[pyfunction]
fn sections_json() -> String {
    let sections = SECTIONS.iter().copied().chain([DirectionSection::SECTION]).map(section);
    Value::from(sections.collect::<Vec<_>>()).to_string()
}

fn section(section: &Section) -> Value {
    let fields = section.fields().map(|field| {
        json!({
            "name": field.name,
            "form": form(field.form),
            "default": field.default,
            "required": field.required,
            "help": field.help,
        })
    });
    json!({
        "name": section.name,
        "repeated": section.repeated,
        "help": section.help,
        "fields": fields.collect::<Vec<_>>(),
    })
}

/// The kind of value, and what is known of it.
fn form(form: Form) -> Value {
    match form {
        Form::Text => json!(["text"]),
        Form::Path => json!(["path"]),
        Form::Number(low, high) => json!(["number", low, high]),
        Form::Switch => json!(["switch"]),
        Form::Size => json!(["size"]),
        Form::Rate => json!(["rate"]),
        Form::Duration => json!(["time"]),
        Form::Ratio => json!(["share"]),
        Form::Word(words) => json!(["word", words]),
        Form::As(words) => json!(["other", words]),
        Form::Name => json!(["name"]),
        Form::Part(part) => json!(["scheme", part]),
    }
}

/// The colour of a scheme on light or on dark ground, in one of three tones.
#[pyfunction]
#[pyo3(signature = (control, dark = false, tone = 0))]
fn scheme_colour(control: &str, dark: bool, tone: usize) -> Option<String> {
    colour(&format!("c{}", toned(colour_of_scheme(control), tone)), dark)
}

/// The colour of the nth of several things that are no schemes.
#[pyfunction]
#[pyo3(signature = (number, dark = false))]
fn thing_colour(number: usize, dark: bool) -> Option<String> {
    colour(&format!("c{}", colour_of_thing(number)), dark)
}

/// A colour by its name in the report: `ink`, `paper`, `soft`, `grid`.
#[pyfunction]
#[pyo3(signature = (name, dark = false))]
fn named_colour(name: &str, dark: bool) -> Option<String> {
    colour(name, dark)
}

/// The dashes and gaps of the line of each of these schemes, which are drawn in one picture; none
/// for a solid line.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the argument is made for this call")]
fn line_styles(controls: Vec<String>) -> Vec<Vec<f64>> {
    let colours: Vec<_> = controls.iter().map(|control| colour_of_scheme(control)).collect();
    dashes(&colours).into_iter().map(|style| DASHES[style % DASHES.len()].to_vec()).collect()
}

/// The axis of a quantity of a kind of subject: label, unit, factor from the recorded unit.
#[pyfunction]
fn axis(kind: &str, quantity: &str) -> (String, &'static str, f64) {
    axis_of(kind, quantity)
}
