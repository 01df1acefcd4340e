//! Changes in a folder, as the system reports them.

use crate::exit::{Failure, Kind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a folder and everything below.
pub struct FolderWatcher {
    /// The path by which the user named the folder. Links in it may lead elsewhere later.
    place: PathBuf,
    /// The watched folder.
    watched: Folder,
    changed: Arc<AtomicBool>,
    /// The watched folder was removed. A new one may have its inode.
    is_removed: Arc<AtomicBool>,
    /// The watcher; `None` if the folder in its place cannot be watched.
    watcher: Option<RecommendedWatcher>,
    /// Calls until a folder that could not be watched is tried again, and the number after the last
    /// attempt.
    pause: u32,
    last_pause: u32,
}

/// The longest pause between attempts to watch a folder, in calls.
const LONGEST_PAUSE: u32 = 240;

/// A folder: the system watches the inode, and reports changes by the path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// The folder to which a path leads.
fn folder_at(place: &Path) -> io::Result<Folder> {
    // A link itself would be watched, and not the folder to which it leads.
    let path = place.canonicalize()?;
    let meta = std::fs::metadata(&path)?;
    match meta.is_dir() {
        true => Ok(Folder { path, device: meta.dev(), inode: meta.ino() }),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

fn cannot_watch(folder: &Path, error: &notify::Error) -> Failure {
    let message = format!("cannot watch {}: {error}", folder.display());
    Failure::new(Kind::Failed, message).then(match error.kind {
        ErrorKind::MaxFilesWatch => "raise fs.inotify.max_user_watches, or use `weir put`",
        _ => "make it readable, or use `weir put`, which need not watch what --exclude names",
    })
}

impl FolderWatcher {
    /// Starts watching.
    ///
    /// # Errors
    /// The system has no room for more watches, or the folder does not exist.
    pub fn new(folder: &Path) -> Result<FolderWatcher, Failure> {
        let watched =
            folder_at(folder).map_err(|error| cannot_watch(folder, &notify::Error::io(error)))?;
        let (changed, is_removed) = (Arc::default(), Arc::default());
        let mut new = FolderWatcher {
            place: folder.to_owned(),
            watched,
            changed,
            is_removed,
            watcher: None,
            pause: 0,
            last_pause: 0,
        };
        new.begin()?;
        Ok(new)
    }

    /// Watches the folder `watched`.
    fn begin(&mut self) -> Result<(), Failure> {
        let path = self.watched.path.clone();
        self.is_removed = Arc::default();
        let (flag, is_removed, root) =
            (self.changed.clone(), self.is_removed.clone(), path.clone());
        // Only the folder is published, so nothing outside is watched.
        let config = notify::Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(
            move |event: notify::Result<Event>| {
                // An error, such as an overflow, may have hidden a change.
                if !event.as_ref().is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                    flag.store(true, Ordering::Relaxed);
                }
                let is_removal = |event: &Event| matches!(event.kind, EventKind::Remove(_));
                if event.is_ok_and(|event| is_removal(&event) && event.paths.contains(&root)) {
                    is_removed.store(true, Ordering::Relaxed);
                }
            },
            config,
        );
        let mut watcher = watcher.map_err(|error| cannot_watch(&self.place, &error))?;
        watcher
            .watch(&path, RecursiveMode::Recursive)
            .map_err(|error| cannot_watch(&self.place, &error))?;
        self.watcher = Some(watcher);
        Ok(())
    }

    /// True if the path has no folder at present.
    pub fn is_gone(&self) -> bool {
        folder_at(&self.place).is_err()
    }

    /// True if the watched folder is the one at the path.
    pub fn is_in_place(&self) -> bool {
        self.watcher.is_some() && folder_at(&self.place).is_ok_and(|folder| folder == self.watched)
    }

    /// Watches the folder that has taken the place of the watched one, by a rename or by another
    /// link. Returns its path; `None` if it is the same folder, or missing at present.
    ///
    /// # Errors
    /// The new folder cannot be watched. It is tried again at a later call, after longer and longer
    /// pauses, since an attempt looks at the whole folder.
    pub fn replaced(&mut self) -> Result<Option<PathBuf>, Failure> {
        if self.pause > 0 {
            self.pause -= 1;
            return Ok(None);
        }
        let Ok(now) = folder_at(&self.place) else { return Ok(None) };
        let is_removed = self.is_removed.load(Ordering::Relaxed);
        if now == self.watched && self.watcher.is_some() && !is_removed {
            return Ok(None);
        }
        // Both together might need more watches than the system permits.
        self.watcher = None;
        self.watched = now;
        if let Err(failure) = self.begin() {
            self.last_pause = (2 * self.last_pause).clamp(1, LONGEST_PAUSE);
            self.pause = self.last_pause;
            return Err(failure);
        }
        self.last_pause = 0;
        self.changed.store(true, Ordering::Relaxed);
        Ok(Some(self.watched.path.clone()))
    }

    /// True if something has changed since the last call.
    pub fn has_changed(&mut self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;
    use net::clock::Clock;

    /// Waits until something holds of the watcher.
    fn comes(
        watcher: &mut FolderWatcher,
        mut holds: impl FnMut(&mut FolderWatcher) -> bool,
    ) -> bool {
        let clock = Clock::start();
        let until = clock.now() + Duration::from_secs(60);
        while clock.now() < until {
            if holds(watcher) {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    /// Waits until the watcher has seen a change.
    fn sees(watcher: &mut FolderWatcher) -> bool {
        comes(watcher, FolderWatcher::has_changed)
    }

    #[test]
    fn the_folder_that_takes_a_place_is_watched() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (place, other) = (home.join("place"), home.join("other"));
        std::fs::create_dir(&place).unwrap();
        let mut watcher = FolderWatcher::new(&place).unwrap();
        assert_eq!(watcher.replaced().unwrap(), None);
        // Renamed, and another one made.
        std::fs::rename(&place, home.join("old")).unwrap();
        assert!(watcher.is_gone());
        assert_eq!(watcher.replaced().unwrap(), None);
        std::fs::create_dir(&place).unwrap();
        assert_eq!(watcher.replaced().unwrap(), Some(place.clone()));
        assert!(watcher.has_changed() && !watcher.is_gone());
        std::fs::write(place.join("file"), "new").unwrap();
        assert!(sees(&mut watcher));
        // Removed, and made again: the new one may have the inode of the old one.
        std::fs::remove_dir_all(&place).unwrap();
        std::fs::create_dir(&place).unwrap();
        assert!(comes(&mut watcher, |watcher| {
            watcher.replaced().unwrap().is_some_and(|folder| folder == place)
        }));
        watcher.has_changed();
        std::fs::write(place.join("file"), "newer").unwrap();
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
