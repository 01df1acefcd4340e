//! `weir testbed`

mod preparation;
mod up;

pub use preparation::{ensure_rights, fits, program};

use crate::cli::{ShapeWord, TestbedCommand, TestbedRunArgs};
use crate::commands::scenario::load;
use crate::commands::sim::{Shown, Watcher, finish, keeps_scenario, unwritable};
use crate::exit::Failure;
use crate::output;
use preparation::{failure, listen, name};
use report::Folder;
use scenario::result::RunResult;
use testbed::{MTU, Medium, Shape};

/// Runs the command.
pub fn run(command: &TestbedCommand) -> Result<(), Failure> {
    match command {
        TestbedCommand::Run(args) => run_all(args),
        TestbedCommand::Up(args) => up::run(args),
        TestbedCommand::Clean => clean(),
    }
}

fn run_all(args: &TestbedRunArgs) -> Result<(), Failure> {
    let batch = load(&args.scenario, args.seed)?;
    keeps_scenario(args.out.as_deref(), &batch, &args.scenario.file)?;
    let name = name(args.name.as_deref(), &batch)?;
    let shape = match args.shape {
        ShapeWord::Faces => Shape::Faces,
        ShapeWord::Kernel => Shape::Kernel,
    };
    let medium = Medium { shape, mtu: args.mtu.unwrap_or(MTU) };
    // A run that cannot be built is reported before any is built.
    for run in &batch.runs {
        let plan = fits(run, medium, args.anyway)?;
        if !args.quiet && !args.json && std::ptr::eq(run, &raw const batch.runs[0]) {
            plan.notes.iter().for_each(|note| output::note(note));
        }
    }
    ensure_rights()?;
    let folder = args.out.as_deref().map(|place| Folder::begin(place, &batch)).transpose();
    let folder = folder.map_err(|e| unwritable(&e))?;
    let (stop, program) = (listen()?, program()?);
    let watcher = Watcher::new(&batch, None, stop, args.quiet, folder);
    let mut results: Vec<RunResult> = Vec::new();
    let mut failed = None;
    // One after the other: they would take each other's time.
    for number in 0..batch.runs.len() {
        match testbed::run(&batch, number, &name, &program, medium, &watcher) {
            Ok(result) => {
                let interrupted = result.interrupted;
                results.push(result);
                if interrupted {
                    break;
                }
            }
            Err(error) => {
                failed = Some(failure(&error));
                break;
            }
        }
    }
    let folder = watcher.end();
    if let Some(failed) = failed {
        return Err(failed);
    }
    let shown =
        Shown { out: args.out.as_deref(), json: args.json, quiet: args.quiet, resumes: false };
    finish(&batch, results, folder, &shown)
}

fn clean() -> Result<(), Failure> {
    let cleaned = testbed::clean().map_err(|error| failure(&error))?;
    for name in &cleaned.running {
        output::note(&format!("{name} is running and was left alone"));
    }
    output::result(&match cleaned.testbeds.len() {
        0 => "there was nothing to remove".to_owned(),
        _ => format!(
            "removed the leftovers of {}: {} network namespaces",
            cleaned.testbeds.join(", "),
            cleaned.namespaces
        ),
    })
}
