//! The build script finds the commit where there is one.

#[path = "../build.rs"]
mod build;

use std::path::Path;
use std::process::Command;

/// Runs git in a folder, with a committer of its own and without the user's settings.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    for variable in build::OF_ANOTHER_REPOSITORY {
        command.env_remove(variable);
    }
    let done = command
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=A", "-c", "user.email=a@example", "-c", "commit.gpgSign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_COMMITTER_DATE", "2026-11-27T23:30:00-0800")
        .output()
        .expect("git runs");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok_and(|done| done.status.success())
}

#[test]
fn a_source_archive_has_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(build::commit(folder.path()), None);
    assert!(build::watched(folder.path()).is_empty());
    assert_eq!(build::commit(&folder.path().join("missing")), None);
}

#[test]
fn the_commit_has_its_digits_and_the_date_of_its_place() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "-q", "-b", "topic/one"]);
    assert_eq!(build::commit(root), None, "there is no commit yet");
    git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let hash = git(root, &["rev-parse", "HEAD"]);
    assert_eq!(build::commit(root), Some(format!("{}, 2026-11-27", &hash[..9])));
    // An archive that is unpacked here is no part of this repository.
    let archive = root.join("archive");
    std::fs::create_dir(&archive).unwrap();
    assert_eq!(build::commit(&archive), None);
    assert!(build::watched(&archive).is_empty());
}

#[test]
fn a_file_changes_with_each_commit() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "-q", "-b", "topic/one"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let at = |name: &str| root.join(".git").join(name);
    assert_eq!(build::watched(root), [at("HEAD"), at("refs/heads/topic/one")]);
    git(root, &["pack-refs", "--all"]);
    let packed = build::watched(root);
    assert_eq!(packed[..2], [at("HEAD"), at("packed-refs")]);
    // The next commit makes a file or a folder in it.
    assert!(packed[2].is_dir() && at("refs/heads/topic/one").starts_with(&packed[2]));
    git(root, &["checkout", "-q", "--detach"]);
    assert_eq!(build::watched(root), [at("HEAD"), at("packed-refs")]);
    // In a further working tree, the branch is in the first one's folder.
    git(root, &["worktree", "add", "-q", "-b", "two", "further"]);
    let further = build::watched(&root.join("further"));
    assert_eq!(further, [at("worktrees/further/HEAD"), at("packed-refs"), at("refs/heads/two")]);
    assert!(build::commit(&root.join("further")).is_some());
}
