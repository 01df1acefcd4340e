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

impl FolderWatcher {
    /// Watches from now on.
    ///
    /// # Errors
    /// The system has no room for more watches.
    pub fn new(folder: &Path) -> Result<FolderWatcher, Failure> {
        let cannot = |error: notify::Error| {
            let message = format!("cannot watch {}: {error}", folder.display());
            Failure::new(Kind::Failed, message).then(match error.kind {
                ErrorKind::MaxFilesWatch => "raise fs.inotify.max_user_watches, or use `weir put`",
                _ => {
                    "make it readable, or use `weir put`, which need not watch what --exclude names"
                }
            })
        };
        let changed = Arc::new(AtomicBool::new(false));
        let flag = changed.clone();
        // An error, such as an overflow, may have hidden a change.
        let report = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                return;
            }
            flag.store(true, Ordering::Relaxed);
        };
        // Nothing outside the folder is published, so nothing there is watched.
        let config = notify::Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(report, config).map_err(cannot)?;
        watcher.watch(folder, RecursiveMode::Recursive).map_err(cannot)?;
        Ok(FolderWatcher { changed, _watcher: watcher })
    }

    /// True if something has changed since the last call.
    pub fn has_changed(&mut self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }
}
