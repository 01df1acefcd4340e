//! `weir testbed`

mod up;

use crate::cli::{ShapeWord, TestbedCommand, TestbedRunArgs};
use crate::commands::scenario::load;
use crate::commands::sim::{Shown, Watcher, finish, keeps_scenario, unwritable};
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use report::Folder;
use scenario::result::RunResult;
use scenario::{Batch, Run};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use testbed::{Estimate, MTU, Machine, Medium, Plan, Rights, Shape, TestbedError};

/// Does what the command line says.
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

/// The plan of a run, if a testbed can do it and, unless it is to be built `anyway`, this machine
/// can carry it.
pub fn fits(run: &Run, medium: Medium, anyway: bool) -> Result<Plan, Failure> {
    let plan = Plan::new(&run.scenario, run.seed, medium);
    let plan = plan.map_err(|refused| failure(&TestbedError::Unsupported(refused)))?;
    if let Some(why) = Estimate::of(&run.scenario, &plan).beyond(&Machine::this())
        && !anyway
    {
        let what = format!("the scenario is too large for a testbed here: {why}");
        return Err(Failure::new(Kind::Failed, what).then("--anyway builds it nevertheless"));
    }
    Ok(plan)
}

/// This program, which is daemon and tools.
pub fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot find this program's own file: {error}"))
    })
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// The testbed's name: what is asked for, or that of the scenario.
fn name(given: Option<&str>, batch: &Batch) -> Result<String, Failure> {
    let name = match given {
        Some(name) => name.to_owned(),
        None => batch.name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(32).collect(),
    };
    match !name.is_empty() && name.len() <= 32 && name.chars().all(is_plain) {
        true => Ok(name),
        false => Err(Failure::new(Kind::Usage, format!("`{name}` is no name for a testbed"))
            .then("use up to 32 letters, digits, - and _")),
    }
}

fn listen() -> Result<Stop, Failure> {
    Stop::listen()
        .map_err(|error| Failure::new(Kind::Failed, format!("cannot listen to signals: {error}")))
}

/// Goes on if namespaces may be made; runs this program again where they may, if there is such a
/// place.
pub fn ensure_rights() -> Result<(), Failure> {
    match testbed::rights() {
        Rights::Namespaces => Ok(()),
        Rights::UserNamespaces => {
            let error = match std::env::current_exe() {
                Ok(program) => {
                    let mut command = Rights::in_user_namespace(&program);
                    command.args(std::env::args_os().skip(1)).exec()
                }
                Err(error) => error,
            };
            Err(Failure::new(Kind::Failed, format!("cannot go into a user namespace: {error}")))
        }
        Rights::None => {
            let what = "a testbed needs network namespaces, which this user may not make: neither \
                        as root nor in a user namespace";
            Err(Failure::new(Kind::Failed, what)
                .then("run it as root, or let the kernel give user namespaces"))
        }
    }
}

fn failure(error: &TestbedError) -> Failure {
    match error {
        TestbedError::Unsupported(refused) => {
            let many = output::counted(refused.len(), "thing");
            let what = format!("the scenario has {many} that a testbed does not; nothing was run");
            Failure::new(Kind::Usage, what).then(&format!("change what is said here:\n{error}"))
        }
        TestbedError::InUse(_) => {
            Failure::new(Kind::Failed, error).then("choose another name with --name")
        }
        TestbedError::ForeignNamespace(name) => Failure::new(Kind::Failed, error)
            .then(&format!("choose another name with --name, or `ip netns delete {name}`")),
        TestbedError::NoProgram { .. } => Failure::new(Kind::Failed, error).then(
            "a testbed needs ip and, for kernel rates, tc (iproute2); nsenter, setpriv and unshare \
             (util-linux)",
        ),
        TestbedError::NoTokenBuckets(_) => Failure::new(Kind::Failed, error)
            .then("`modprobe sch_tbf`, or let faces keep to the rates: `weir testbed run` does"),
        TestbedError::NoControlGroup { .. } => Failure::new(Kind::Failed, error).then(
            "run it as root where cgroups (version 2, or cpu of version 1) are mounted, or leave \
             `cpu` away",
        ),
        TestbedError::Interrupted => Failure::new(Kind::Interrupted, "interrupted")
            .then("nothing is left of it; run the same command again"),
        TestbedError::File { .. } => Failure::new(Kind::File, error),
        _ => Failure::new(Kind::Failed, error).then("nothing is left of the testbed"),
    }
}

fn clean() -> Result<(), Failure> {
    let cleaned = testbed::clean().map_err(|error| failure(&error))?;
    for name in &cleaned.running {
        output::note(&format!("{name} is running and was left alone"));
    }
    output::result(&match cleaned.testbeds.len() {
        0 => "nothing was left over".to_owned(),
        _ => format!(
            "removed what {} left: {} network namespaces",
            cleaned.testbeds.join(", "),
            cleaned.namespaces
        ),
    })
}
