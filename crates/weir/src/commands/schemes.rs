//! `weir schemes`

use crate::cli::SchemesArgs;
use crate::exit::Failure;
use crate::output::{self, Column, Table};
use control::Scheme;
use schemars::JsonSchema;
use schemes::{Choice, SCHEMES, defaults, reference};
use serde::Serialize;

/// The default uses of a scheme.
const DEFAULT_FOR: [&str; 4] = ["controller", "strategy", "parts of links", "baseline"];

/// A scheme.
#[derive(JsonSchema, Serialize)]
pub struct Row {
    /// The scheme's name.
    name: &'static str,
    /// Its effect, in one line.
    summary: &'static str,
    /// Its publication.
    paper: &'static str,
    /// Its parts.
    parts: Vec<&'static str>,
    /// Its uses where nothing is chosen.
    #[schemars(extend("items" = { "type": "string", "enum": DEFAULT_FOR }))]
    default_for: Vec<&'static str>,
    /// Its equations.
    equations: Vec<Equation>,
    /// Its parameters.
    parameters: Vec<Parameter>,
}

/// An equation of a scheme.
#[derive(JsonSchema, Serialize)]
pub struct Equation {
    /// Its number in the source.
    number: &'static str,
    /// The equation.
    text: &'static str,
}

/// A parameter of a scheme.
#[derive(JsonSchema, Serialize)]
pub struct Parameter {
    /// Its name.
    name: &'static str,
    /// Its default, as it is written on the command line.
    default: String,
    /// The smallest value.
    low: f64,
    /// The largest value; null: there is no limit.
    high: f64,
    /// Its meaning.
    help: &'static str,
    /// The place in the source.
    source: &'static str,
}

/// Lists all schemes, or explains one.
pub fn run(args: &SchemesArgs) -> Result<(), Failure> {
    let chosen: Vec<&Scheme> = match &args.name {
        Some(name) => vec![Choice::named(name)?.scheme()],
        None => SCHEMES.iter().collect(),
    };
    if args.json {
        return output::json(&chosen.into_iter().map(row).collect::<Vec<_>>());
    }
    if let (Some(_), Some(scheme)) = (&args.name, chosen.first()) {
        return explain(scheme);
    }
    let mut table =
        Table::new(["scheme", "parts", "what it does"].map(|head| Column::left(head, 0)).to_vec());
    for scheme in chosen {
        table.row(vec![scheme.name.into(), scheme.parts().join(", "), scheme.summary.into()]);
    }
    table.lines(output::width(std::io::stdout())).iter().try_for_each(|line| output::result(line))
}

fn row(scheme: &Scheme) -> Row {
    Row {
        name: scheme.name,
        summary: scheme.summary,
        paper: scheme.paper,
        parts: scheme.parts(),
        default_for: defaults::of(scheme.name),
        equations: scheme
            .equations
            .iter()
            .map(|&(number, text)| Equation { number, text })
            .collect(),
        parameters: scheme.params.iter().map(parameter).collect(),
    }
}

fn parameter(spec: &control::ParamSpec) -> Parameter {
    Parameter {
        name: spec.name,
        default: spec.default.to_string(),
        low: spec.range.0,
        high: spec.range.1,
        help: spec.help,
        source: spec.source,
    }
}

fn explain(scheme: &Scheme) -> Result<(), Failure> {
    output::wrapped(&format!("{}: {}", scheme.name, scheme.summary))?;
    output::wrapped(&format!("paper: {}", scheme.paper))?;
    output::wrapped(&format!("parts: {}", scheme.parts().join(", ")))?;
    let default_for = defaults::of(scheme.name);
    if !default_for.is_empty() {
        output::wrapped(&format!("default: {}", default_for.join(", ")))?;
    }
    if !scheme.equations.is_empty() {
        output::result("equations:")?;
    }
    for (number, text) in scheme.equations {
        output::wrapped(&format!("  {text}"))?;
        output::wrapped(&format!("      [{number}]"))?;
    }
    if scheme.params.is_empty() {
        return output::result("no parameters");
    }
    output::result("parameters:")?;
    scheme.params.iter().try_for_each(|p| {
        let (default, range) = (reference::value(p.default), reference::range(p));
        output::wrapped(&format!("  {} = {default} ({range})", p.name))?;
        output::wrapped(&format!("      {} [{}]", p.help, p.source))
    })
}
