//! Network namespaces, and the programs that make and change them.

use crate::error::TestbedError;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Where `ip netns` keeps namespaces.
const NAMESPACES: &str = "/run/netns";

/// The namespace of a node of a testbed.
#[must_use]
pub fn namespace(testbed: &str, short: &str) -> String {
    format!("{}{short}", prefix(testbed))
}

/// The beginning of the names of a testbed's namespaces.
fn prefix(testbed: &str) -> String {
    format!("weir-{testbed}.")
}

/// The existing namespaces of a testbed.
#[must_use]
pub fn namespaces(testbed: &str) -> Vec<String> {
    let prefix = prefix(testbed);
    let entries = std::fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(&prefix)).collect();
    names.sort();
    names
}

/// Returns `true` if a namespace has this name.
#[must_use]
pub fn exists(name: &str) -> bool {
    Path::new(NAMESPACES).join(name).exists()
}

/// Ends the processes in a namespace, and removes it and its links.
///
/// # Errors
/// `ip` fails.
pub fn remove(name: &str) -> Result<(), TestbedError> {
    let output = run("ip", &["netns", "pids", name], "")?;
    for pid in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended in the meantime.
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
        }
    }
    ip(&[], &format!("netns delete {name}\n"))
}

/// Passes lines of commands to `ip`.
///
/// # Errors
/// `ip` is missing, or a command fails.
pub fn ip(options: &[&str], lines: &str) -> Result<(), TestbedError> {
    let arguments: Vec<&str> = options.iter().copied().chain(["-batch", "-"]).collect();
    run("ip", &arguments, lines).map(|_| ())
}

fn output(program: &str, arguments: &[&str], input: &str) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // An input that it does not read is unnecessary; its exit status shows errors.
        stdin.write_all(input.as_bytes()).ok();
    }
    child.wait_with_output()
}

/// Runs a program to its end.
///
/// # Errors
/// It is missing, or it fails.
pub fn run(program: &str, arguments: &[&str], input: &str) -> Result<Output, TestbedError> {
    let output = output(program, arguments, input)
        .map_err(|error| TestbedError::NoProgram { program: program.to_owned(), error })?;
    match output.status.success() {
        true => Ok(output),
        false => Err(TestbedError::Failed {
            command: format!("{program} {}", arguments.join(" ")),
            output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}
