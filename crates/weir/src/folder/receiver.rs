//! Content of a tree as it arrives: pages for the walk, files for the disk.

use super::disk::{Content as Complete, Disk, Whole, cannot_write};
use super::job::{FileJob, Same};
use super::stamp::Stamp;
use super::target::{Target, is_of_another_owner};
use crate::exit::Failure;
use rangemap::RangeSet;
use security::Digest;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use transport::fetch::batch::{BatchSink, Failure as Lost};
use tree::Request;

/// The content of a file so far.
enum Content {
    Memory(Vec<u8>),
    /// The incomplete file, while it is open, or its last state. `resumed`: an earlier transfer
    /// made it.
    Disk {
        part: Option<File>,
        left: Option<Stamp>,
        resumed: bool,
    },
    /// All segments so far are equal to those of the former file, which has the same size: nothing
    /// has been written.
    Same(Vec<Same>),
    /// No content was needed yet.
    None,
}

/// Segments that were fetched are not verified again.
const CHANGED: &str = "another program has removed or changed what was fetched of it";

enum Job {
    /// Directories with the same content share their page.
    Page { requests: Vec<Request>, content: Vec<u8> },
    File {
        job: Box<FileJob>,
        content: Content,
        written: u64,
        /// Something of it was fetched.
        is_fetched: bool,
        /// The former file when its first segment was read.
        former: Option<Stamp>,
    },
}

/// The maximum number of open incomplete files; others are opened again by their names.
const MOST_OPEN: usize = 128;

/// Numbers of a transfer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Files fetched, wholly or in part.
    pub fetched_files: u64,
    /// Bytes from the network.
    pub fetched_bytes: u64,
    /// Bytes found in the folder.
    pub present_bytes: u64,
    /// Files with all bytes found at their places.
    pub unchanged_files: u64,
}

/// Receives the objects of a batch.
pub struct Receiver {
    target: Arc<Target>,
    disk: Disk,
    jobs: BTreeMap<u64, Job>,
    /// Objects with an open file, in the order of opening.
    open: VecDeque<u64>,
    /// Pages that have arrived.
    pub pages: Vec<(Request, Vec<u8>)>,
    /// The number of pages that have not arrived.
    pub awaited: usize,
    /// Entries that could not be fetched, by path; of pages, that of their directory.
    pub lost: Vec<(Vec<u8>, Lost)>,
    /// Files to request again: another program changed them while they were compared.
    pub changed: Vec<FileJob>,
    /// Paths of other users' files and directories: they have their content, but not the
    /// attributes of the tree.
    pub foreign: Vec<Vec<u8>>,
    /// Numbers of the transfer.
    pub tally: Tally,
    failure: Option<Failure>,
}

impl Receiver {
    /// Writes into `target`.
    pub fn new(target: Arc<Target>) -> Receiver {
        Receiver {
            disk: Disk::new(target.clone()),
            target,
            jobs: BTreeMap::new(),
            open: VecDeque::new(),
            pages: Vec::new(),
            awaited: 0,
            lost: Vec::new(),
            changed: Vec::new(),
            foreign: Vec::new(),
            tally: Tally::default(),
            failure: None,
        }
    }

    /// Expects a page under this number.
    pub fn expect_page(&mut self, number: u64, request: Request) {
        self.awaited += 1;
        match self.jobs.get_mut(&number) {
            Some(Job::Page { requests, .. }) => requests.push(request),
            _ => {
                let (requests, content) = (vec![request], Vec::new());
                self.jobs.insert(number, Job::Page { requests, content });
            }
        }
    }

    /// Expects a file under this number.
    pub fn expect_file(&mut self, number: u64, job: FileJob) {
        let content = match job.is_small {
            true => Content::Memory(Vec::new()),
            false => Content::None,
        };
        let job = Box::new(job);
        let job = Job::File { job, content, written: 0, is_fetched: false, former: None };
        self.jobs.insert(number, job);
    }

    /// True if the disk is slower than the network.
    pub fn is_full(&self) -> bool {
        self.disk.is_full()
    }

    /// The first failure, once.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take().or_else(|| self.disk.take_failure())
    }

    /// Waits until all received content is written.
    ///
    /// # Errors
    /// A file could not be written.
    pub fn finish(self) -> Result<(), Failure> {
        let Receiver { disk, failure, .. } = self;
        disk.finish()?;
        failure.map_or(Ok(()), Err)
    }

    /// The files that are written to the disk piece by piece, with their sizes and the bytes so
    /// far.
    pub fn large(&self) -> impl Iterator<Item = (u64, &FileJob, u64)> {
        self.jobs.iter().filter_map(|(number, job)| match job {
            Job::File { job, content: Content::Disk { .. }, written, .. } => {
                Some((*number, &**job, *written))
            }
            _ => None,
        })
    }

    /// Opens the incomplete file of an object, unless it is open.
    fn open(&mut self, object: u64) {
        let Some(Job::File { job, content, .. }) = self.jobs.get_mut(&object) else { return };
        if matches!(content, Content::Memory(_) | Content::Disk { part: Some(_), .. }) {
            return;
        }
        let same = match content {
            Content::Same(same) => std::mem::take(same),
            _ => Vec::new(),
        };
        match self.target.part(&job.directory, &job.name) {
            Ok((_, false)) if matches!(content, Content::Disk { .. }) => {
                let path = job.path();
                return self.fail(&path, &std::io::Error::other(CHANGED));
            }
            Ok((file, found)) => match content {
                Content::Disk { left, .. } if *left != Stamp::of(&file) => {
                    let path = job.path();
                    return self.fail(&path, &std::io::Error::other(CHANGED));
                }
                Content::Disk { part, .. } => *part = Some(file),
                _ => {
                    let former = self.target.read(&job.directory, &job.name);
                    if let Err(error) = job.copy(&same, former.as_ref(), &file) {
                        let path = job.path();
                        return self.fail(&path, &error);
                    }
                    *content = Content::Disk { part: Some(file), resumed: found, left: None };
                }
            },
            Err(error) => {
                let path = job.path();
                return self.fail(&path, &error);
            }
        }
        self.open.push_back(object);
        if self.open.len() > MOST_OPEN
            && let Some(oldest) = self.open.pop_front()
            && let Some(Job::File { content: Content::Disk { part, left, .. }, .. }) =
                self.jobs.get_mut(&oldest)
        {
            *left = part.take().as_ref().and_then(Stamp::of);
        }
    }

    /// Looks for a run in the former file, if all runs before were found there. Returns the number
    /// of its bytes.
    fn find_same(&mut self, object: u64, first: u64, digests: &[Digest]) -> Option<u64> {
        let Some(Job::File { job, content, written, former: stamp, .. }) =
            self.jobs.get_mut(&object)
        else {
            return None;
        };
        if !job.may_be_same() || !matches!(content, Content::None | Content::Same(_)) {
            return None;
        }
        let former = self.target.read(&job.directory, &job.name)?;
        if stamp.is_none() {
            *stamp = Stamp::of(&former);
        }
        let run = job.same(&former, first, digests)?;
        let bytes = (first..).take(digests.len()).map(|segment| job.range_of(segment).1 as u64);
        let bytes = bytes.sum();
        *written += bytes;
        match content {
            Content::Same(same) => same.push(run),
            _ => *content = Content::Same(vec![run]),
        }
        Some(bytes)
    }

    /// The file in the folder has all of the content: only its attributes may differ.
    fn keep(&mut self, mut job: FileJob, content: &Content, former: Option<&Stamp>) {
        let file = self.target.read(&job.directory, &job.name);
        // The first segments may have changed before the last one was compared.
        let same = file.filter(|file| former.is_some() && Stamp::of(file).as_ref() == former);
        let Some(file) = same else {
            if let Content::Memory(content) = content {
                self.tally.fetched_files += 1;
                let FileJob { directory, name, dress, .. } = job;
                let content = Complete::Bytes(content.clone());
                self.disk.write(Whole { directory, name, content, dress });
            } else {
                self.tally.present_bytes = self.tally.present_bytes.saturating_sub(job.size);
                job.is_changing = true;
                self.changed.push(job);
            }
            return;
        };
        self.tally.unchanged_files += 1;
        let done = match self.target.dress_open(&file, job.dress) {
            // A copy of the file has another owner. Without one, its content is right.
            Err(why) if is_of_another_owner(&why) => match self.replace(&job, content, &file) {
                Err(_) if Stamp::of(&file).as_ref() == former => {
                    self.foreign.push(job.path());
                    Ok(())
                }
                done => done,
            },
            done => done,
        };
        if let Err(error) = done {
            self.fail(&job.path(), &error);
        }
        self.target.remove_part(&job.directory, &job.name);
    }

    /// Puts a copy with the right attributes in the place of the former file.
    fn replace(&self, job: &FileJob, content: &Content, former: &File) -> std::io::Result<()> {
        let (directory, name) = (&job.directory, &job.name);
        match content {
            Content::Memory(content) => self.target.write(directory, name, content, job.dress),
            Content::Same(same) => {
                let (part, _) = self.target.part(directory, name)?;
                job.copy(same, Some(former), &part)?;
                part.set_len(job.size)?;
                self.target.finish(directory, name, &part, job.dress)
            }
            Content::Disk { .. } | Content::None => Ok(()),
        }
    }

    fn fail(&mut self, path: &[u8], error: &std::io::Error) {
        let failure = cannot_write(&self.target, path, error);
        self.failure.get_or_insert(failure);
    }
}

impl BatchSink for Receiver {
    fn present(&mut self, object: u64, first: u64, digests: &[Digest]) -> RangeSet<u64> {
        let mut present = RangeSet::new();
        if let Some(bytes) = self.find_same(object, first, digests) {
            self.tally.present_bytes += bytes;
            present.insert(first..first + digests.len() as u64);
            return present;
        }
        self.open(object);
        let Some(Job::File { job, content, written, former: stamp, .. }) =
            self.jobs.get_mut(&object)
        else {
            return present;
        };
        let former = job.former_size.and_then(|_| self.target.read(&job.directory, &job.name));
        if stamp.is_none() {
            *stamp = former.as_ref().and_then(Stamp::of);
        }
        let (mut bytes, mut error) = (0, None);
        for (segment, digest) in (first..).zip(digests) {
            let (offset, len) = job.range_of(segment);
            let found = match content {
                Content::Memory(memory) => former.as_ref().is_some_and(|former| {
                    let found = job.segment_in(former, segment, digest);
                    found.is_some_and(|found| {
                        put(memory, offset, &found);
                        true
                    })
                }),
                Content::Disk { part: Some(part), resumed, .. } => {
                    let in_part = *resumed && job.segment_in(part, segment, digest).is_some();
                    if !in_part
                        && let Some(former) = &former
                        && let Some(found) = job.segment_in(former, segment, digest)
                    {
                        if let Err(why) = part.write_all_at(&found, offset) {
                            error = Some(why);
                            break;
                        }
                        true
                    } else {
                        in_part
                    }
                }
                Content::Disk { part: None, .. } | Content::Same(_) | Content::None => false,
            };
            if found {
                present.insert(segment..segment + 1);
                bytes += len as u64;
            }
        }
        *written += bytes;
        self.tally.present_bytes += bytes;
        if let Some(error) = error {
            let path = job.path();
            self.fail(&path, &error);
        }
        present
    }

    fn write(&mut self, object: u64, offset: u64, bytes: &[u8]) {
        self.open(object);
        match self.jobs.get_mut(&object) {
            Some(Job::Page { content, .. }) => put(content, offset, bytes),
            Some(Job::File { job, content, written, is_fetched, .. }) => {
                *is_fetched = true;
                self.tally.fetched_bytes += bytes.len() as u64;
                *written += bytes.len() as u64;
                let done = match content {
                    Content::Memory(memory) => {
                        put(memory, offset, bytes);
                        Ok(())
                    }
                    Content::Disk { part: Some(part), .. } => part.write_all_at(bytes, offset),
                    Content::Disk { part: None, .. } | Content::Same(_) | Content::None => Ok(()),
                };
                if let Err(error) = done {
                    let path = job.path();
                    self.fail(&path, &error);
                }
            }
            None => {}
        }
    }

    fn complete(&mut self, object: u64) {
        if !matches!(self.jobs.get(&object), Some(Job::File { content: Content::Same(_), .. })) {
            self.open(object);
        }
        self.open.retain(|open| *open != object);
        match self.jobs.remove(&object) {
            Some(Job::File { job, content, is_fetched: false, former, .. })
                if job.may_be_same()
                    && matches!(content, Content::Memory(_) | Content::Same(_)) =>
            {
                self.keep(*job, &content, former.as_ref());
            }
            Some(Job::Page { requests, content }) => {
                self.awaited -= requests.len();
                self.pages.extend(requests.into_iter().map(|request| (request, content.clone())));
            }
            Some(Job::File { job, content, .. }) => {
                self.tally.fetched_files += 1;
                match content {
                    Content::Memory(content) => {
                        let FileJob { directory, name, dress, .. } = *job;
                        let content = Complete::Bytes(content);
                        self.disk.write(Whole { directory, name, content, dress });
                    }
                    Content::Disk { part: Some(part), .. } => {
                        let FileJob { directory, name, dress, size, .. } = *job;
                        let content = Complete::Part(part, size);
                        self.disk.write(Whole { directory, name, content, dress });
                    }
                    Content::Disk { part: None, .. } | Content::Same(_) | Content::None => {}
                }
            }
            None => {}
        }
    }

    fn failed(&mut self, object: u64, why: Lost) {
        self.open.retain(|open| *open != object);
        match self.jobs.remove(&object) {
            Some(Job::Page { requests, .. }) => {
                self.awaited -= requests.len();
                for request in requests {
                    self.lost.push((request.directory().path.clone(), why.clone()));
                }
            }
            Some(Job::File { job, .. }) => self.lost.push((job.path(), why)),
            None => {}
        }
    }
}

/// Writes bytes at an offset of a buffer, which grows if necessary.
fn put(buffer: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let start = offset as usize;
    let end = start + bytes.len();
    if buffer.len() < end {
        buffer.resize(end, 0);
    }
    buffer[start..end].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::super::target::Dress;
    use super::*;
    use packet::Name;
    use std::os::unix::fs::MetadataExt;
    use transport::publish::segment_digest;

    fn job(name: &str) -> FileJob {
        FileJob {
            directory: Vec::new(),
            name: name.as_bytes().to_vec(),
            dress: Dress { mode: 0o644, modified: 1, is_new: true },
            object: Name::new(),
            size: 200,
            segment_size: 100,
            last: 1,
            is_small: false,
            former_size: None,
            is_changing: false,
            known: None,
        }
    }

    #[test]
    fn a_file_that_changes_while_it_is_compared_is_not_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let digest = |segment| [segment_digest(&Name::new(), 1, segment, &[7; 100])];
        // A small file, and two large ones, of which the first does not change.
        for (is_small, changes) in [(true, true), (false, false), (false, true)] {
            let mut receiver = Receiver::new(Arc::new(Target::open(dir.path()).unwrap()));
            std::fs::write(&path, [7; 200]).unwrap();
            let dress = Dress { mode: 0o644, modified: 1, is_new: false };
            let former_size = Some(200);
            receiver.expect_file(0, FileJob { is_small, former_size, dress, ..job("f") });
            assert_eq!(receiver.present(0, 0, &digest(0)).len(), 1);
            if changes {
                let changed = File::options().write(true).open(&path).unwrap();
                changed.write_all_at(&[8; 100], 0).unwrap();
                // A write within some milliseconds has the same time.
                changed.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
            assert_eq!(receiver.present(0, 1, &digest(1)).len(), 1);
            receiver.complete(0);
            let (tally, changed) = (receiver.tally, std::mem::take(&mut receiver.changed));
            receiver.finish().unwrap();
            let modified = std::fs::metadata(&path).unwrap().mtime_nsec();
            let is_again = changes && !is_small;
            assert_eq!(
                (tally.unchanged_files, changed.len()),
                (!changes as u64, is_again as usize)
            );
            assert_eq!(tally.present_bytes, if is_again { 0 } else { 200 });
            assert_eq!(modified == 1, !is_again, "it has the attributes of the tree");
            if is_small {
                assert_eq!(std::fs::read(&path).unwrap(), [7; 200]);
            }
            assert!(changed.iter().all(|job| !job.may_be_same()));
        }
    }

    #[test]
    fn files_changed_by_another_program_are_not_completed() {
        for is_changed in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let target = Arc::new(Target::open(dir.path()).unwrap());
            let mut receiver = Receiver::new(target);
            // One more than may be open: the first one is closed.
            for number in 0..=MOST_OPEN as u64 {
                receiver.expect_file(number, job(&format!("f{number}")));
                receiver.write(number, 0, &[7; 100]);
            }
            if is_changed {
                let part = dir.path().join(super::super::target::part_name(b"f0"));
                std::fs::write(part, [8; 100]).unwrap();
            }
            receiver.write(0, 100, &[7; 100]);
            receiver.complete(0);
            assert_eq!(receiver.take_failure().is_some(), is_changed);
            receiver.finish().unwrap();
            assert_eq!(dir.path().join("f0").exists(), !is_changed);
        }
    }

    #[test]
    fn many_files_under_way_keep_few_open() {
        const FILES: u64 = 3 * MOST_OPEN as u64;
        let dir = tempfile::tempdir().unwrap();
        let target = Arc::new(Target::open(dir.path()).unwrap());
        let mut receiver = Receiver::new(target);
        (0..FILES).for_each(|number| receiver.expect_file(number, job(&format!("f{number}"))));
        let open = |receiver: &Receiver| {
            let has = |job: &&Job| {
                matches!(job, Job::File { content: Content::Disk { part: Some(_), .. }, .. })
            };
            receiver.jobs.values().filter(has).count()
        };
        for half in [0, 1] {
            for number in 0..FILES {
                receiver.write(number, half * 100, &[number as u8; 100]);
                assert!(open(&receiver) <= MOST_OPEN);
            }
        }
        (0..FILES).for_each(|number| receiver.complete(number));
        assert_eq!((open(&receiver), receiver.open.len()), (0, 0));
        receiver.finish().unwrap();
        for number in 0..FILES {
            let found = std::fs::read(dir.path().join(format!("f{number}"))).unwrap();
            assert_eq!(found, [number as u8; 200], "f{number}");
        }
    }
}
