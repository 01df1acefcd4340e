//! Checks before a network is built, and the failures of a testbed.

use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use scenario::{Batch, Run};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use testbed::{Estimate, Machine, Medium, Plan, Rights, TestbedError};

/// The plan of a run, if a testbed can do it and, unless it is to be built `anyway`, this machine
/// can carry it.
pub fn fits(run: &Run, medium: Medium, anyway: bool) -> Result<Plan, Failure> {
    let plan = Plan::new(&run.scenario, run.seed, medium);
    let plan = plan.map_err(|rejected| failure(&TestbedError::Unsupported(rejected)))?;
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

/// The testbed's name: the given one, or that of the scenario.
pub fn name(given: Option<&str>, batch: &Batch) -> Result<String, Failure> {
    let name = match given {
        Some(name) => name.to_owned(),
        None => batch.name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(32).collect(),
    };
    match !name.is_empty() && name.len() <= 32 && name.chars().all(is_plain) {
        true => Ok(name),
        false => Err(Failure::new(Kind::Usage, format!("`{name}` is not a name for a testbed"))
            .then("use up to 32 letters, digits, - and _")),
    }
}

pub fn listen() -> Result<Stop, Failure> {
    Stop::listen()
        .map_err(|error| Failure::new(Kind::Failed, format!("cannot listen to signals: {error}")))
}

/// Continues if namespaces may be made here. Otherwise runs this program again in a user namespace,
/// if that permits them.
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
            Err(Failure::new(Kind::Failed, format!("cannot enter a user namespace: {error}")))
        }
        Rights::None => {
            let what = "a testbed needs network namespaces, which this user may not make: neither \
                        as root nor in a user namespace";
            Err(Failure::new(Kind::Failed, what)
                .then("run it as root, or enable user namespaces in the kernel"))
        }
    }
}

pub fn failure(error: &TestbedError) -> Failure {
    match error {
        TestbedError::Unsupported(rejected) => {
            let many = output::counted(rejected.len(), "thing");
            let what = format!("the scenario has {many} that a testbed does not; nothing was run");
            Failure::new(Kind::Usage, what).then(&format!("change these settings:\n{error}"))
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
            .then("`modprobe sch_tbf`, or let the faces apply the rates: `weir testbed run` does"),
        TestbedError::NoControlGroup { .. } => Failure::new(Kind::Failed, error).then(
            "run it as root where cgroups (version 2, or cpu of version 1) are mounted, or leave \
             out `cpu`",
        ),
        TestbedError::Interrupted => Failure::new(Kind::Interrupted, "interrupted")
            .then("nothing is left of it; run the same command again"),
        TestbedError::File { .. } => Failure::new(Kind::File, error),
        _ => Failure::new(Kind::Failed, error).then("nothing is left of the testbed"),
    }
}
