//! Changes in a folder, as the system reports them.

use crate::exit::{Failure, Kind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a folder and everything below.
pub struct FolderWatcher {
    /// The path by which the user named the folder. Links in it may lead elsewhere later.
    place: PathBuf,
    /// Device and inode of the folder that is watched: the system watches these, not the path.
    watched: (u64, u64),
    changed: Arc<AtomicBool>,
    /// Watches as long as it lives.
    _watcher: RecommendedWatcher,
}

/// Device and inode of the folder at a path; `None` if there is none.
fn identity(place: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(place).ok().filter(std::fs::Metadata::is_dir)?;
    Some((meta.dev(), meta.ino()))
}

fn cannot_watch(folder: &Path, error: &notify::Error) -> Failure {
    let message = format!("cannot watch {}: {error}", folder.display());
    Failure::new(Kind::Failed, message).then(match error.kind {
        ErrorKind::MaxFilesWatch => "raise fs.inotify.max_user_watches, or use `weir put`",
        _ => "make it readable, or use `weir put`, which need not watch what --exclude names",
    })
}

impl FolderWatcher {
    /// Watches from now on.
    ///
    /// # Errors
    /// The system has no room for more watches, or there is no such folder.
    pub fn new(folder: &Path) -> Result<FolderWatcher, Failure> {
        // A link itself would be watched, and not the folder to which it leads.
        let real = folder.canonicalize();
        let real = real.map_err(|error| cannot_watch(folder, &notify::Error::io(error)))?;
        let watched = identity(&real)
            .ok_or_else(|| cannot_watch(folder, &notify::Error::path_not_found()))?;
        let changed = Arc::new(AtomicBool::new(false));
        let flag = changed.clone();
        // Nothing outside the folder is published, so nothing there is watched.
        let config = notify::Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(
            move |event: notify::Result<Event>| {
                // An error, such as an overflow, may have hidden a change.
                if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                    flag.store(true, Ordering::Relaxed);
                }
            },
            config,
        );
        let mut watcher = watcher.map_err(|error| cannot_watch(folder, &error))?;
        watcher
            .watch(&real, RecursiveMode::Recursive)
            .map_err(|error| cannot_watch(folder, &error))?;
        Ok(FolderWatcher { place: folder.to_owned(), watched, changed, _watcher: watcher })
    }

    /// True if there is no folder at the path at present.
    pub fn is_gone(&self) -> bool {
        identity(&self.place).is_none()
    }

    /// Watches the folder that has taken the place of the watched one, by a rename or by another
    /// link. Returns where it is; `None` if it is the same folder, or if there is none at present.
    ///
    /// # Errors
    /// The new folder cannot be watched. It is tried again at the next call.
    pub fn replaced(&mut self) -> Result<Option<PathBuf>, Failure> {
        if identity(&self.place).is_none_or(|now| now == self.watched) {
            return Ok(None);
        }
        let place = std::mem::take(&mut self.place);
        let next = FolderWatcher::new(&place);
        self.place = place;
        *self = next?;
        self.changed.store(true, Ordering::Relaxed);
        // It may be gone again, as the next call notices.
        Ok(self.place.canonicalize().ok())
    }

    /// True if something has changed since the last call.
    pub fn has_changed(&mut self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Waits until the watcher has seen a change.
    fn sees(watcher: &mut FolderWatcher) -> bool {
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            if watcher.has_changed() {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    #[test]
    fn the_folder_that_takes_a_place_is_watched() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (place, other) = (home.join("place"), home.join("other"));
        std::fs::create_dir(&place).unwrap();
        let mut watcher = FolderWatcher::new(&place).unwrap();
        assert_eq!(watcher.replaced().unwrap(), None);
        // Removed, and made again.
        std::fs::rename(&place, home.join("old")).unwrap();
        assert!(watcher.is_gone());
        assert_eq!(watcher.replaced().unwrap(), None);
        std::fs::create_dir(&place).unwrap();
        assert_eq!(watcher.replaced().unwrap(), Some(place.clone()));
        assert!(watcher.has_changed() && !watcher.is_gone());
        std::fs::write(place.join("file"), "new").unwrap();
        assert!(sees(&mut watcher));
        // A link that leads elsewhere.
        std::fs::create_dir(&other).unwrap();
        std::fs::rename(&place, home.join("first")).unwrap();
        std::os::unix::fs::symlink("other", &place).unwrap();
        assert_eq!(watcher.replaced().unwrap(), Some(other.clone()));
        assert!(watcher.has_changed());
        std::fs::write(other.join("file"), "new").unwrap();
        assert!(sees(&mut watcher));
        assert_eq!(watcher.replaced().unwrap(), None);
    }
}
