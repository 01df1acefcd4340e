//! A share of a processor for all programs of a node, by a control group of the kernel
//! (cgroups(7)): of version 2 if it has the cpu controller, otherwise of version 1.

use crate::error::TestbedError;
use crate::namespaces;
use control::Ratio;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration as Span;

/// The minimum quota of a group at once, in microseconds.
const LEAST: f64 = 1_000.0;
/// The time, in microseconds, in which a group has its share, unless the least takes longer: short
/// against the queues of links, which fill up while it waits.
const PERIOD: f64 = 10_000.0;
/// The interval and the number of attempts to remove a group whose processes are ending.
const AGAIN: (Span, usize) = (Span::from_millis(5), 200);

/// Where the kernel has the cpu controller.
struct Controller {
    root: PathBuf,
    is_second: bool,
}

/// A group, which exists until its testbed ends.
pub struct Group(PathBuf);

impl Group {
    /// Makes the group of a node.
    ///
    /// # Errors
    /// The host has no cpu controller, or the user may not use it.
    pub fn make(testbed: &str, short: &str, share: Ratio) -> Result<Group, TestbedError> {
        Group::try_make(&namespaces::namespace(testbed, short), share)
            .map_err(|why| TestbedError::NoControlGroup { node: short.to_owned(), why })
    }

    fn try_make(name: &str, share: Ratio) -> Result<Group, String> {
        let Some(controller) = controller() else {
            return Err("no control groups with the cpu controller are mounted".to_owned());
        };
        let path = controller.root.join(name);
        match fill(&controller, &path, share) {
            Ok(()) => Ok(Group(path)),
            Err((file, error)) => {
                fs::remove_dir(&path).ok();
                Err(format!("cannot write {}: {error}", file.display()))
            }
        }
    }

    /// Adds a process and all its future children.
    ///
    /// # Errors
    /// The kernel rejects it.
    pub fn take(&self, pid: u32) -> Result<(), TestbedError> {
        let file = self.0.join("cgroup.procs");
        match fs::write(&file, pid.to_string()) {
            // It has ended already, which its owner reports.
            Err(error) if error.raw_os_error() != Some(rustix::io::Errno::SRCH.raw_os_error()) => {
                Err(TestbedError::file("write", &file, error))
            }
            _ => Ok(()),
        }
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn write(file: PathBuf, text: &str) -> Result<(), (PathBuf, io::Error)> {
    fs::write(&file, text).map_err(|error| (file, error))
}

fn fill(controller: &Controller, path: &Path, share: Ratio) -> Result<(), (PathBuf, io::Error)> {
    let period = PERIOD.max(LEAST / share.get());
    let (quota, period) = ((period * share.get()).round().max(LEAST), period.round());
    if controller.is_second {
        let switch = controller.root.join("cgroup.subtree_control");
        if !words(&switch).iter().any(|word| word == "cpu") {
            write(switch, "+cpu")?;
        }
    }
    fs::create_dir_all(path).map_err(|error| (path.to_owned(), error))?;
    if controller.is_second {
        return write(path.join("cpu.max"), &format!("{quota} {period}"));
    }
    write(path.join("cpu.cfs_period_us"), &period.to_string())?;
    write(path.join("cpu.cfs_quota_us"), &quota.to_string())
}

fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The controller in use: the kernel gives it to one of the versions.
fn controller() -> Option<Controller> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mut mounts = mounts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        Some((PathBuf::from(fields.get(1)?), fields.get(2).copied()?, fields.get(3).copied()?))
    });
    mounts.find_map(|(root, kind, options)| {
        let is_second = kind == "cgroup2";
        let has = match kind {
            "cgroup2" => words(&root.join("cgroup.controllers")).iter().any(|word| word == "cpu"),
            "cgroup" => options.split(',').any(|option| option == "cpu"),
            _ => false,
        };
        has.then_some(Controller { root, is_second })
    })
}

/// Removes the groups of a testbed, after their processes have ended.
pub fn remove(testbed: &str) {
    let Some(controller) = controller() else { return };
    let prefix = namespaces::namespace(testbed, "");
    let entries = fs::read_dir(&controller.root).into_iter().flatten().flatten();
    let ours = entries.filter(|one| one.file_name().to_string_lossy().starts_with(&prefix));
    for one in ours {
        for _ in 0..AGAIN.1 {
            if fs::remove_dir(one.path()).is_ok() {
                break;
            }
            std::thread::park_timeout(AGAIN.0);
        }
    }
}
