//! `weir sweep`: the Python package does it, with its engines.

use crate::cli::sweep::SweepArgs;
use crate::exit::{Failure, Kind};
#[cfg(test)]
use schemars::JsonSchema;
use serde_json::json;
#[cfg(test)]
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The output of `weir sweep`, which the Python package prints.
#[cfg(test)]
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct Printed {
    /// The folder with the results.
    place: String,
    /// Points of the sweep.
    points: u64,
    /// Points that have results.
    done: u64,
    /// Points that this command has run.
    new: u64,
    /// Points that failed.
    failed: Vec<FailedPoint>,
    /// Comparisons, with `--until`.
    comparisons: Vec<Comparison>,
}

/// A point that failed.
#[cfg(test)]
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct FailedPoint {
    /// Fields and values.
    settings: BTreeMap<String, serde_json::Value>,
    /// The seed.
    seed: u64,
    /// The reason.
    error: String,
}

/// Two values of a field, compared by the differences of a measure.
#[cfg(test)]
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Comparison {
    /// The other swept fields and their values.
    settings: BTreeMap<String, serde_json::Value>,
    /// The first value of the field.
    a: String,
    /// The second value of the field.
    b: String,
    /// The median or mean of the differences, `a` less `b`, in the unit of the measure, or null.
    difference: Option<f64>,
    /// The lower end of its interval; null: there is none.
    low: Option<f64>,
    /// The upper end of its interval; null: there is none.
    high: Option<f64>,
    /// Seeds with a difference.
    seeds: u64,
    /// The order of `a`: null if it is open.
    #[schemars(extend("enum" = ["more", "less", "equal", null]))]
    outcome: Option<String>,
    /// Seeds whose difference is a bound, because not all flows finished.
    bounded: u64,
    /// Seeds without a difference.
    missing: u64,
    /// Why it was given up without a decision, or null.
    reason: Option<String>,
}

/// The module that runs sweeps.
const MODULE: &str = "weir._command";

/// Replaces this process by the Python package's, which has its exit codes.
pub fn run(args: &SweepArgs) -> Result<(), Failure> {
    let Some(file) = args.scenario.file.to_str() else {
        let what = format!("{} is not UTF-8", args.scenario.file.display());
        return Err(Failure::new(Kind::Usage, what).then("rename the file"));
    };
    let asked = json!({
        "file": file,
        "set": args.scenario.set,
        "seed": args.seed,
        "out": args.out,
        "engine": args.engine,
        "jobs": args.jobs,
        "until": args.until,
        "json": args.json,
        "quiet": args.quiet,
    });
    hand_over(MODULE, &asked)
}

/// Replaces this process by a module of the Python package, with a request for it. Its exit codes
/// are the program's.
pub fn hand_over(module: &str, asked: &serde_json::Value) -> Result<(), Failure> {
    let python = python();
    let shown = python.display();
    // The current folder may have a module of the same name: `-P` leaves it out of the path.
    let probe = format!(
        "import importlib.util as u, sys; sys.exit(u.find_spec('weir') is None or \
         u.find_spec('{module}') is None)"
    );
    let found = Command::new(&python)
        .args(["-P", "-c", &probe])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match found {
        Ok(status) if status.success() => (),
        Ok(_) => {
            let what = format!("{shown} has no package `weir` with sweeps");
            return Err(Failure::new(Kind::Failed, what).then(INSTALL));
        }
        Err(error) => return Err(no_python(&python, &error)),
    }
    let error = Command::new(&python).args(["-P", "-m", module, &asked.to_string()]).exec();
    Err(no_python(&python, &error))
}

/// The remedy of a missing package.
const INSTALL: &str = "install Weir's Python package (pip install of the wheel that `make wheel` \
                       builds) and use its program `weir`, or run `weir sim run` on this host";

fn no_python(python: &std::path::Path, error: &std::io::Error) -> Failure {
    let what = format!("sweeps need Python, and cannot start {}: {error}", python.display());
    Failure::new(Kind::Failed, what).then(INSTALL)
}

/// The interpreter beside this program, as in an environment with the package, or the one in
/// $PATH.
fn python() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|program| {
        let python = program.parent()?.join("python3");
        python.is_file().then_some(python)
    });
    beside.unwrap_or_else(|| PathBuf::from("python3"))
}
