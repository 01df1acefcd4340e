//! The version with the commit that the program is built from, for `weir --version` and the Python
//! package:
//! `0.1.0 (1a2b3c4d5, 2026-11-27)`. Without git, as in a source archive, it is the version alone.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of a commit. `git rev-parse --short` takes more of them in a clone with more objects, and
/// the program would differ.
const DIGITS: usize = 9;

#[allow(clippy::print_stdout, dead_code, reason = "the test has this file as a module")]
fn main() {
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    let version = variable("CARGO_PKG_VERSION");
    println!("cargo::rerun-if-changed=Cargo.toml");
    match commit(&root) {
        Some(commit) => println!("cargo::rustc-env=WEIR_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=WEIR_VERSION={version}"),
    }
    for path in watched(&root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The commit that is checked out in the repository at `root`, and its date where it was made:
/// `1a2b3c4d5, 2026-11-27`.
pub fn commit(root: &Path) -> Option<String> {
    if !is_repository(root) {
        return None;
    }
    let printed = git(root, &["-c", "log.showSignature=false", "log", "-1", "--format=%H %cs"])?;
    let (commit, date) = printed.split_once(' ')?;
    Some(format!("{}, {date}", commit.get(..DIGITS)?))
}

/// The files that change when another commit is checked out. Cargo runs a script at each build if
/// one of its files does not exist.
pub fn watched(root: &Path) -> Vec<PathBuf> {
    if !is_repository(root) {
        return Vec::new();
    }
    let mut paths: Vec<_> =
        ["HEAD", "packed-refs"].into_iter().filter_map(|name| git_path(root, name)).collect();
    if let Some(branch) = git(root, &["symbolic-ref", "-q", "HEAD"])
        && let Some(branch) = git_path(root, &branch)
    {
        // A packed branch has no file until the next commit makes one in a folder that is there.
        paths.extend(branch.ancestors().find(|path| path.exists()).map(Path::to_owned));
    }
    paths.retain(|path| path.exists());
    paths
}

/// The path of a file in the folder of git, such as `HEAD`.
fn git_path(root: &Path, name: &str) -> Option<PathBuf> {
    Some(root.join(git(root, &["rev-parse", "--git-path", name])?))
}

/// An archive may be unpacked within another project's repository.
fn is_repository(root: &Path) -> bool {
    let top = git(root, &["rev-parse", "--show-toplevel"]);
    top.is_some_and(|top| Path::new(&top).canonicalize().ok() == root.canonicalize().ok())
}

/// A hook of git that builds has these for its own repository.
pub const OF_ANOTHER_REPOSITORY: [&str; 4] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"];

/// The output of git; `None` if there is no git, or it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(arguments);
    for variable in OF_ANOTHER_REPOSITORY {
        command.env_remove(variable);
    }
    let done = command.output().ok().filter(|done| done.status.success())?;
    let printed = String::from_utf8(done.stdout).ok()?;
    Some(printed.trim_end().to_owned()).filter(|printed| !printed.is_empty())
}
