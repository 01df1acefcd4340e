use super::*;
use std::os::unix::fs::{MetadataExt, symlink};

const PLAIN: Dress = Dress { mode: 0o644, modified: 1_500_000_000_123_456_789, is_new: true };

#[test]
fn a_file_is_written_whole_with_its_attributes() {
    let dir = tempfile::tempdir().unwrap();
    let target = Target::open(&dir.path().join("made/here")).unwrap();
    target.make(b"", b"sub").unwrap();
    target.write(b"sub", b"file", b"content", PLAIN).unwrap();
    let path = dir.path().join("made/here/sub/file");
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"content");
    assert_eq!((meta.mtime(), meta.mtime_nsec()), (1_500_000_000, 123_456_789));
    assert_eq!(target.names(b"sub").unwrap().len(), 1, "nothing else is left");
    // The file system takes a second entry of the name for the same.
    let error = target.write(b"sub", b"file", b"other", PLAIN).unwrap_err();
    assert_eq!(error.to_string(), SAME_NAME);
    assert_eq!(std::fs::read(&path).unwrap(), b"content");
    target.write(b"sub", b"file", b"newer", Dress { is_new: false, ..PLAIN }).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"newer");
}

#[test]
fn links_in_the_folder_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    let target = Target::open(&dir.path().join("in")).unwrap();
    symlink(&outside, dir.path().join("in/sub")).unwrap();
    symlink(outside.join("secret"), dir.path().join("in/file")).unwrap();
    assert!(target.write(b"sub", b"file", b"x", PLAIN).is_err());
    assert!(target.names(b"sub").is_err() && target.make(b"sub", b"x").is_err());
    assert!(target.read(b"", b"file").is_none());
    assert!(target.dress(b"", b"file", PLAIN).is_err());
    // The link itself is replaced.
    target.write(b"", b"file", b"x", Dress { is_new: false, ..PLAIN }).unwrap();
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"secret");
    // Removing stays inside, too.
    assert_eq!(target.remove(b"", b"sub", &|_, _| false).unwrap(), 1);
    assert!(outside.join("secret").exists());
}

#[test]
fn a_planted_part_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let target = Target::open(dir.path()).unwrap();
    let (mut part, resumed) = target.part(b"", b"file").unwrap();
    part.write_all(b"abc").unwrap();
    // Another transfer may have begun in a folder above or below.
    assert!(target.part(b"", b"file").is_err() && target.write(b"", b"file", b"", PLAIN).is_err());
    drop(part);
    assert!(!resumed && target.part(b"", b"file").unwrap().1);
    let path = dir.path().join(part_name(b"file"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let (fresh, resumed) = target.part(b"", b"file").unwrap();
    assert!(!resumed && fresh.metadata().unwrap().len() == 0);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(dir.path().join("victim"), "mine").unwrap();
    symlink("victim", &path).unwrap();
    assert!(!target.part(b"", b"file").unwrap().1);
    assert_eq!(std::fs::read(dir.path().join("victim")).unwrap(), b"mine");
}

#[test]
fn a_part_that_another_transfer_writes_stays() {
    let dir = tempfile::tempdir().unwrap();
    let target = Target::open(dir.path()).unwrap();
    let (part, _) = target.part(b"", b"file").unwrap();
    let (name, path) = (part_name(b"file"), dir.path().join(part_name(b"file")));
    target.remove_part(b"", b"file");
    assert_eq!(target.remove(b"", name.as_bytes(), &|_, _| false).unwrap(), 0);
    assert!(target.link(b"", b"file", b"x", PLAIN).is_err() && path.exists());
    // Completed by that transfer, it is no longer a part.
    let root = target.directory(b"").unwrap();
    let part = OwnedFd::from(part);
    assert!(is_at(&root, &name, &part));
    std::fs::rename(&path, dir.path().join("file")).unwrap();
    assert!(!is_at(&root, &name, &part));
    std::fs::write(&path, "").unwrap();
    assert!(!is_at(&root, &name, &part));
    assert_eq!(target.remove(b"", name.as_bytes(), &|_, _| false).unwrap(), 1);
}

#[test]
fn a_directory_without_permissions_is_opened_up_and_gets_them_back() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
    std::fs::write(dir.path().join("a/b/stays"), "").unwrap();
    let set = |path: &str, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir.path().join(path), mode).unwrap();
    };
    let mode = |path: &str| dir.path().join(path).metadata().unwrap().mode() & 0o777;
    set("a/b", 0o055);
    set("a", 0o555);
    let target = Target::open(dir.path()).unwrap();
    target.open_up(b"a").unwrap();
    assert_eq!(mode("a"), 0o755);
    target.open_up(b"a").unwrap();
    // One in which something stays is as it was.
    let stays = |path: &[u8], _| path.ends_with(b"stays");
    assert_eq!(target.remove(b"a", b"b", &stays).unwrap(), 0);
    assert_eq!(mode("a/b"), 0o055);
    assert_eq!(target.remove(b"a", b"b", &|_, _| false).unwrap(), 2);
    // The folder itself is the user's.
    set(".", 0o500);
    target.open_up(b"").unwrap();
    assert_eq!(mode("."), 0o500);
}

#[test]
fn permissions_are_restored_if_a_transfer_ends_early() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
    std::fs::create_dir(dir.path().join("done")).unwrap();
    let path = |path: &str| dir.path().join(path);
    let mode = |at: &str| path(at).metadata().unwrap().mode() & 0o7777;
    let modes = [("a/b", 0o3055), ("a", 0o2555), ("done", 0o2555)];
    for (at, mode) in modes {
        std::fs::set_permissions(path(at), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let target = Target::open(dir.path()).unwrap();
    for (at, before) in modes.iter().rev() {
        target.open_up(at.as_bytes()).unwrap();
        assert_eq!(mode(at), before | 0o700);
    }
    target.dress(b"", b"done", Dress { mode: 0o700, ..PLAIN }).unwrap();
    drop(target);
    assert_eq!((mode("a"), mode("a/b"), mode("done")), (0o2555, 0o3055, 0o2700));
}

#[test]
fn a_folder_without_files_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let target = Target::open(dir.path()).unwrap();
    drop(target.part(b"", b"file").unwrap());
    assert!(target.is_empty());
    target.write(b"", b"file", b"", PLAIN).unwrap();
    assert!(!target.is_empty());
}

#[test]
fn whole_directories_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
    std::fs::write(dir.path().join("a/b/file"), "").unwrap();
    let target = Target::open(dir.path()).unwrap();
    target.names(b"a/b").unwrap();
    assert_eq!(target.remove(b"", b"a", &|_, _| false).unwrap(), 4);
    assert_eq!(target.names(b"").unwrap().len(), 0);
}
