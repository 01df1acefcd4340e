//! Changes in a folder, as the system reports them.

use crate::exit::{Failure, Kind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a folder and everything below.
pub struct FolderWatcher {
    changed: Arc<AtomicBool>,
    /// Watches as long as it lives.
    _watcher: RecommendedWatcher,
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
    /// The system has no room for more watches.
    pub fn new(folder: &Path) -> Result<FolderWatcher, Failure> {
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
            .watch(folder, RecursiveMode::Recursive)
            .map_err(|error| cannot_watch(folder, &error))?;
        Ok(FolderWatcher { changed, _watcher: watcher })
    }

    /// True if something has changed since the last call.
    pub fn has_changed(&mut self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }
}
