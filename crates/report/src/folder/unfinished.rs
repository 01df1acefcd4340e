//! Folders of running and of killed processes.
//!
//! During a run, the process holds a lock on a file in its folder. The system releases it when the
//! process ends for any reason. So a lock that can be acquired belongs to a dead process.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// The beginning of their names.
const PREFIX: &str = ".weir-unfinished-";
/// The locked file.
const LOCK: &str = "alive.lock";

/// A new folder in `home`, and its lock, which is `None` on disks without locks.
pub fn begin(home: &Path) -> io::Result<(TempDir, Option<File>)> {
    let folder = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(home)?;
    // It gets its name after it is locked: before, no process looks at it.
    let fresh = folder.path().join("fresh.lock");
    let file = File::create(&fresh)?;
    let held = file.try_lock().is_ok();
    if held {
        fs::rename(&fresh, folder.path().join(LOCK))?;
    } else {
        fs::remove_file(&fresh)?;
    }
    Ok((folder, held.then_some(file)))
}

/// Removes the lock from a complete folder.
pub fn finish(folder: &Path, lock: Option<File>) -> io::Result<()> {
    let Some(lock) = lock else { return Ok(()) };
    fs::remove_file(folder.join(LOCK))?;
    drop(lock);
    Ok(())
}

/// Removes folders of killed runs in `home`, if possible.
pub fn sweep(home: &Path) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_one {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_are_removed_and_others_stay() {
        let home = tempfile::tempdir().unwrap();
        let (living, lock) = begin(home.path()).unwrap();
        let (killed, gone) = begin(home.path()).unwrap();
        fs::write(killed.path().join("series-0.part"), "half").unwrap();
        // A killed process removes nothing, but its locks are released.
        let killed = killed.keep();
        drop(gone);
        // Neither folders without a lock, nor foreign folders of this name, are removed.
        let early = home.path().join(".weir-unfinished-early");
        fs::create_dir(&early).unwrap();
        let file = home.path().join(".weir-unfinished-file");
        fs::write(&file, "").unwrap();
        sweep(home.path());
        assert!(!killed.exists(), "the dead one's");
        assert!(living.path().exists() && early.exists() && file.exists());
        finish(living.path(), lock).unwrap();
        assert_eq!(fs::read_dir(living.path()).unwrap().count(), 0, "it holds no lock any more");
        sweep(home.path());
        assert!(living.path().exists());
    }
}
