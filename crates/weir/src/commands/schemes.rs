//! `weir schemes`

use crate::cli::SchemesArgs;
use crate::exit::Failure;
use crate::output;
use control::Scheme;
use schemes::{Choice, SCHEMES};
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    parts: Vec<&'static str>,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    default: String,
    low: f64,
    high: f64,
    help: &'static str,
    source: &'static str,
}

/// Lists all schemes, or explains one.
pub fn run(args: &SchemesArgs) -> Result<(), Failure> {
    let chosen: Vec<&Scheme> = match &args.name {
        Some(name) => vec![Choice::named(name)?.scheme()],
        None => SCHEMES.iter().collect(),
    };
    if args.json {
        output::json(&chosen.into_iter().map(row).collect::<Vec<_>>());
        return Ok(());
    }
    match (&args.name, chosen.first()) {
        (Some(_), Some(scheme)) => explain(&row(scheme)),
        _ => chosen.into_iter().for_each(|scheme| {
            let (name, parts) = (scheme.name, scheme.parts().join(", "));
            output::result(&format!("{name:<12} {parts:<12} {}", scheme.summary));
        }),
    }
    Ok(())
}

fn row(scheme: &Scheme) -> Row {
    let parameter = |spec: &control::ParamSpec| Parameter {
        name: spec.name,
        default: spec.default.to_string(),
        low: spec.range.0,
        high: spec.range.1,
        help: spec.help,
        source: spec.source,
    };
    Row {
        name: scheme.name,
        summary: scheme.summary,
        paper: scheme.paper,
        parts: scheme.parts(),
        parameters: scheme.params.iter().map(parameter).collect(),
    }
}

fn explain(row: &Row) {
    output::result(&format!("{}: {}", row.name, row.summary));
    output::result(&format!("paper: {}", row.paper));
    output::result(&format!("parts: {}", row.parts.join(", ")));
    if row.parameters.is_empty() {
        return output::result("no parameters");
    }
    output::result("parameters:");
    for p in &row.parameters {
        output::result(&format!("  {} = {} ({} to {})", p.name, p.default, p.low, p.high));
        output::result(&format!("      {} [{}]", p.help, p.source));
    }
}
