//! Folders published as trees.

use super::printed::Object;
use crate::cli::PutArgs;
use crate::exit::{Failure, Kind};
use crate::folder::{Catalogue, Filter, FolderWatcher, Publisher, Shelves, Watched};
use crate::identity;
use crate::output::Progress;
use crate::producer::Look;
use crate::signals::Stop;
use packet::Name;
use security::Signer;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use transport::publish::{Publish, PublishError};
use xxhash_rust::xxh3::xxh3_128;

/// The trees of a producer.
pub struct Trees(Vec<Tree>);

struct Tree {
    publisher: Arc<Publisher>,
    current: Arc<Catalogue>,
    watcher: Option<FolderWatcher>,
    /// The folder, or a file in it, has changed since the current version was made.
    is_stale: bool,
    /// Files whose bytes differed from the hashed ones.
    distrusted: BTreeSet<Vec<u8>>,
    /// Makes the next version.
    job: Option<JoinHandle<Result<Catalogue, Failure>>>,
    /// Ticks until the next version may be made.
    pause: u32,
    /// The folder is gone, or the new one cannot be watched, and this has been reported.
    is_gone: bool,
}

/// The ticks between two versions of a tree.
const PAUSE: u32 = 2;

impl Trees {
    /// Hashes folders and makes their trees.
    ///
    /// # Errors
    /// A folder, or a file in it, cannot be read, or it was interrupted.
    pub fn publish(
        args: &PutArgs,
        folders: Vec<(Name, PathBuf)>,
        signer: &Signer,
        stop: &Stop,
        watch: bool,
    ) -> Result<Trees, Failure> {
        let mut trees = Vec::new();
        if !folders.is_empty() && (args.sign_segments || args.segment_size.is_some()) {
            let message = "--segment-size and --sign-segments are for files, not for folders";
            return Err(Failure::new(Kind::Usage, message).then("publish the files one by one"));
        }
        for (base, folder) in folders {
            let place = folder;
            let found = || place.canonicalize().map_err(|error| cannot_publish(&place, &error));
            let mut folder = found()?;
            // Watched before it is read, so that no change is missed in between.
            let watcher = if watch { Some(FolderWatcher::new(&place)?) } else { None };
            if watch {
                folder = found()?;
            }
            let publisher = Publisher {
                hashes: place_of_hashes(&base, &folder),
                base,
                folder,
                signer: signer.clone(),
                filter: Filter::new(&args.filter)?,
            };
            let what = format!("hashing {}", publisher.folder.display());
            let progress = Progress::new(&what, args.output.quiet);
            let watched = Watched { progress: &progress, stop };
            let made = publisher.publish(None, &BTreeSet::new(), &watched);
            progress.end();
            trees.push(Tree {
                publisher: Arc::new(publisher),
                current: Arc::new(made?),
                watcher,
                is_stale: false,
                distrusted: BTreeSet::new(),
                job: None,
                pause: 0,
                is_gone: false,
            });
        }
        Ok(Trees(trees))
    }

    /// Serves the current versions.
    pub fn serve(&self, publish: &mut Publish) {
        if !self.0.is_empty() {
            let current = self.0.iter().map(|tree| tree.current.clone());
            publish.set_shelf(Box::new(Shelves::new(current)));
        }
    }

    /// The trees, for the user.
    pub fn objects(&self) -> impl Iterator<Item = Object> {
        self.0.iter().map(|tree| {
            let (base, current) = (&tree.publisher.base, &tree.current);
            Object {
                name: if base.is_empty() { "/".to_owned() } else { format!("{base}/") },
                bytes: current.top().map_or(0, |top| top.totals.bytes),
                segments: None,
                files: Some(current.files.len() as u64),
            }
        })
    }

    /// Makes new versions of changed trees, and serves finished ones. `failure` is that of the last
    /// answer.
    pub fn look(
        &mut self,
        publish: &mut Publish,
        failure: Option<&PublishError>,
        look: &Look<'_>,
    ) -> Result<(), Failure> {
        let mut is_new = false;
        for tree in &mut self.0 {
            tree.note(failure);
            tree.watch(look);
            is_new |= tree.take(look);
            tree.pause = tree.pause.saturating_sub(1);
            if tree.is_stale && tree.job.is_none() && tree.pause == 0 {
                tree.begin(look.stop);
            }
        }
        if is_new {
            self.serve(publish);
        }
        Ok(())
    }
}

impl Tree {
    /// Notes that an answer could not be made because the file has changed.
    fn note(&mut self, failure: Option<&PublishError>) {
        match failure {
            Some(PublishError::Changed { name }) => {
                let base = self.publisher.base.as_ref();
                if !name.as_ref().starts_with(base) {
                    return;
                }
                self.is_stale = true;
                let parts = name.as_ref().components().skip(base.len());
                let parts: Vec<_> = parts.map(|part| part.value().to_vec()).collect();
                let path = parts.split_last().map(|(_, path)| path.join(&b'/'));
                self.distrusted.extend(path);
            }
            Some(PublishError::Read { .. }) => self.is_stale = true,
            _ => {}
        }
    }

    /// Notes the system's reports, and a folder that has replaced this one.
    fn watch(&mut self, look: &Look<'_>) {
        let Some(watcher) = &mut self.watcher else { return };
        match watcher.replaced() {
            Ok(None) if self.is_gone && watcher.is_in_place() => {
                // The same folder is back. It may have changed meanwhile.
                self.is_gone = false;
                self.is_stale = true;
            }
            Ok(None) => {}
            Ok(Some(folder)) => {
                let Publisher { base, signer, filter, .. } = &*self.publisher;
                self.publisher = Arc::new(Publisher {
                    hashes: place_of_hashes(base, &folder),
                    base: base.clone(),
                    folder,
                    signer: signer.clone(),
                    filter: filter.clone(),
                });
                self.is_gone = false;
                // Other bytes may have the size and the time of those before.
                self.distrusted.extend(self.current.files.keys().map(|path| path.to_vec()));
            }
            Err(failure) => {
                if !std::mem::replace(&mut self.is_gone, true) {
                    let base = &self.publisher.base;
                    look.progress.warn(&format!("{base}/ stays as it was: {failure}"));
                }
            }
        }
        self.is_stale |= watcher.has_changed();
        if !self.is_stale || !watcher.is_gone() {
            return;
        }
        // Nothing can be published until the folder exists again.
        self.is_stale = false;
        if !std::mem::replace(&mut self.is_gone, true) {
            let Publisher { base, folder, .. } = &*self.publisher;
            look.progress.warn(&format!(
                "{base}/ stays as it was: {} is gone; create it again, and it is published",
                folder.display()
            ));
        }
    }

    /// Takes the next version, if it is ready.
    fn take(&mut self, look: &Look<'_>) -> bool {
        let Some(job) = self.job.take_if(|job| job.is_finished()) else { return false };
        self.pause = PAUSE;
        let base = &self.publisher.base;
        match job.join() {
            Ok(Ok(made)) => {
                let is_new = made.version != self.current.version;
                if is_new {
                    look.progress.warn(&format!("{base}/ has changed: {}", made.object()));
                }
                self.current = Arc::new(made);
                is_new
            }
            Ok(Err(failure)) if look.stop.requested() => {
                drop(failure);
                false
            }
            Ok(Err(failure)) => {
                look.progress.warn(&format!("{base}/ stays as it was: {failure}"));
                false
            }
            Err(_) => false,
        }
    }

    fn begin(&mut self, stop: &Stop) {
        self.is_stale = false;
        let (publisher, before) = (self.publisher.clone(), self.current.clone());
        let (distrusted, stop) = (std::mem::take(&mut self.distrusted), stop.clone());
        self.job = Some(std::thread::spawn(move || {
            let progress = Progress::new("", true);
            let watched = Watched { progress: &progress, stop: &stop };
            publisher.publish(Some(&before), &distrusted, &watched)
        }));
    }
}

/// The file that keeps the digests of a tree; `None` without a home directory.
fn place_of_hashes(base: &Name, folder: &Path) -> Option<PathBuf> {
    let key = format!("{base}\n{}", folder.display());
    let home = identity::key_dir().ok()?.parent()?.to_owned();
    Some(home.join("trees").join(format!("{:032x}.jsonl", xxh3_128(key.as_bytes()))))
}

fn cannot_publish(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot publish {}: {error}", folder.display()))
        .then("name a folder that can be read")
}
