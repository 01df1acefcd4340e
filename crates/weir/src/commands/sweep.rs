//! `weir sweep`: the Python package does it, with its engines.

use crate::cli::sweep::SweepArgs;
use crate::exit::{Failure, Kind};
use serde_json::json;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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

/// Replaces this process by a module of the Python package, with what is asked of it. Its exit
/// codes are the program's.
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
