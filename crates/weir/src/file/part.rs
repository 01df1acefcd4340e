//! Where fetched bytes go: a partial file that becomes the file when all is verified.

use crate::file::journal::{Journal, MAX_RUN, Run};
use crate::file::own;
use crate::file::place::check_name;
use crate::file::reserve::Reserve;
use crate::file::writeback::Writeback;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use thiserror::Error;
use transport::fetch::{ObjectInfo, Resume, Sink};
use xxhash_rust::xxh3::xxh3_128;

/// The endings of partial files and, behind that, of their journals.
const PART: &str = ".part";
const JOURNAL: &str = ".journal";
/// The maximum number of bytes of a file's name on Linux (NAME_MAX).
const LONGEST_NAME: usize = 255;
/// Bytes of a longer name that its partial file has as well.
const KEPT: usize = 128;

/// Why bytes could not be kept.
#[derive(Debug, Error)]
#[error("cannot write {path}: {error}")]
pub struct SinkError {
    /// The file.
    pub path: String,
    /// Why.
    pub error: io::Error,
    /// A later transfer resumes from the written bytes: with a file, but not with a pipe or device.
    pub resumes: bool,
}

/// A file that is being fetched. Under its final name it appears whole or not at all. Until then
/// its bytes are in `<file>.part`, with a journal in `<file>.part.journal`, so that an interrupted
/// transfer resumes.
pub struct FileSink {
    path: PathBuf,
    part_path: PathBuf,
    part: Option<(File, Journal)>,
    reserve: Reserve,
    writeback: Option<Writeback>,
    /// The run that is being gathered: its first segment, number of segments and offset.
    first: u64,
    segments: u64,
    offset: u64,
    run: Vec<u8>,
    /// True if a later transfer can resume from the partial file.
    worth_keeping: bool,
    failure: Option<SinkError>,
}

impl FileSink {
    /// A sink for `path`. The disk is unchanged until the transfer begins.
    #[must_use]
    pub fn new(path: &Path) -> FileSink {
        FileSink {
            path: path.to_owned(),
            part_path: part_of(path),
            part: None,
            reserve: Reserve::new(0, 0, None),
            writeback: None,
            first: 0,
            segments: 0,
            offset: 0,
            run: Vec::with_capacity(MAX_RUN),
            worth_keeping: false,
            failure: None,
        }
    }

    /// The first error, once.
    pub fn take_failure(&mut self) -> Option<SinkError> {
        self.failure.take()
    }

    /// Writes the gathered bytes, so that they are not lost if the transfer stops here.
    pub fn flush(&mut self) {
        if let Err(error) = self.write_run() {
            self.fail(error);
        }
    }

    /// The object is complete: gives the file its name.
    ///
    /// # Errors
    ///
    /// The file cannot be written, synchronised or renamed.
    pub fn finish(mut self) -> Result<(), SinkError> {
        self.flush();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.rename().map_err(|error| SinkError {
            path: self.path.display().to_string(),
            error,
            resumes: true,
        })
    }

    /// Gives the complete file its name.
    fn rename(&mut self) -> io::Result<()> {
        drop(self.writeback.take());
        let Some((part, journal)) = &mut self.part else { return Ok(()) };
        journal.start(part)?;
        part.set_len(journal.end())?;
        own::share(part);
        // Before the name, so that not even a power cut leaves half a file under it.
        part.sync_all()?;
        std::fs::rename(&self.part_path, &self.path)?;
        journal.remove()?;
        self.part = None;
        Ok(())
    }

    fn open(&mut self, info: &ObjectInfo) -> io::Result<Resume> {
        // Another version was begun before, and none of its bytes could be verified.
        self.discard();
        check_name(&self.path)?;
        let part = locked(&self.part_path)?;
        let mut journal = self.part_path.as_os_str().to_owned();
        journal.push(JOURNAL);
        let (journal, resume) = match Journal::open(journal.into(), info, &part) {
            Ok(opened) => opened,
            Err(error) => {
                remove_empty(&part, &self.part_path);
                let kind = error.kind();
                return Err(io::Error::new(kind, format!("its journal cannot be used: {error}")));
            }
        };
        if journal.has_started() {
            // A transfer that was killed has left its reserved space.
            part.set_len(journal.end())?;
        }
        self.worth_keeping = !resume.segments.is_empty();
        self.reserve = Reserve::new(journal.end(), resume.bytes, info.size);
        let (part, _) = self.part.insert((part, journal));
        let disk = part.try_clone()?;
        // An error shows again at the end, where it is reported.
        self.writeback = Some(Writeback::start(move || drop(disk.sync_data())));
        Ok(resume)
    }

    fn write_run(&mut self) -> io::Result<()> {
        let Some((part, journal)) = &mut self.part else { return Ok(()) };
        if self.segments == 0 {
            return Ok(());
        }
        journal.start(part)?;
        let len = self.run.len() as u64;
        self.reserve.before_write(part, self.offset.saturating_add(len), len);
        part.write_all_at(&self.run, self.offset)?;
        journal.append(&Run::new(self.first, self.segments, self.offset, &self.run))?;
        self.worth_keeping = true;
        if let Some(writeback) = &mut self.writeback {
            writeback.wrote(self.run.len());
        }
        self.run.clear();
        self.segments = 0;
        Ok(())
    }

    fn fail(&mut self, error: io::Error) {
        let path = self.part_path.display().to_string();
        self.failure.get_or_insert(SinkError { path, error, resumes: true });
    }

    /// Closes the partial file. A file that cannot be resumed is removed; any other loses its
    /// reserved space.
    fn discard(&mut self) {
        drop(self.writeback.take());
        let Some((part, journal)) = self.part.take() else { return };
        // An error here does not change the earlier failure.
        if self.worth_keeping {
            let _ = part.set_len(journal.end());
        } else if journal.has_started() || part.metadata().is_ok_and(|meta| meta.len() == 0) {
            let _ = std::fs::remove_file(&self.part_path);
            let _ = journal.remove();
        }
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        self.discard();
    }
}

/// The partial file of a file. A name that would be too long for the file system with the endings
/// is shortened, and gets a digest of the whole, which does not change from run to run.
fn part_of(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    if let Some(name) = path.file_name().map(OsStr::as_bytes)
        && (LONGEST_NAME - PART.len() - JOURNAL.len() + 1..=LONGEST_NAME).contains(&name.len())
    {
        let mut kept = &name[..KEPT.min(name.len())];
        // A truncated letter is no text, which some file systems reject.
        if let Err(error) = std::str::from_utf8(kept)
            && error.error_len().is_none()
        {
            kept = &kept[..error.valid_up_to()];
        }
        let digest = format!("-{:032x}", xxh3_128(name));
        part = path.with_file_name(OsStr::from_bytes(&[kept, digest.as_bytes()].concat())).into();
    }
    part.push(PART);
    part.into()
}

/// Removes an empty partial file.
fn remove_empty(part: &File, path: &Path) {
    if part.metadata().is_ok_and(|meta| meta.len() == 0) {
        let _ = std::fs::remove_file(path);
    }
}

/// Opens a partial file, or makes it, and locks it.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let part = match own::existing(path)? {
            Some(part) => part,
            None => match own::make(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            },
        };
        lock(&part)?;
        // Between the two, another transfer may have ended and given the file its final name.
        let opened = part.metadata()?;
        if let Ok(named) = std::fs::symlink_metadata(path)
            && (named.dev(), named.ino()) == (opened.dev(), opened.ino())
        {
            return Ok(part);
        }
    }
}

/// Two transfers into one file would undo each other's work. The lock ends with the process. A
/// killed process ends once the disk has taken its bytes, so `lock` waits for that.
#[expect(clippy::disallowed_methods, reason = "this program waits, and no core crate does")]
fn lock(part: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    const LOOKS: u32 = 20;
    const BETWEEN: std::time::Duration = std::time::Duration::from_millis(100);
    for _ in 0..LOOKS {
        match flock(part, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(BETWEEN),
            // File systems without locks are no obstacle.
            Ok(()) | Err(_) => return Ok(()),
        }
    }
    let why = "another transfer is writing it";
    Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
}

impl Sink for FileSink {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        self.open(info).unwrap_or_else(|error| {
            self.fail(error);
            Resume::default()
        })
    }

    fn bounded(&mut self, at_most: u64, is_signed: bool) {
        let Some((part, journal)) = self.part.as_mut().filter(|_| self.failure.is_none()) else {
            return;
        };
        let started = journal.start(part);
        if let Err(error) = started.and_then(|()| self.reserve.bound(part, at_most, is_signed)) {
            self.fail(error);
        }
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let follows = segment == self.first + self.segments
            && offset == self.offset + self.run.len() as u64
            && self.run.len() + content.len() <= MAX_RUN;
        if !follows || self.segments == 0 {
            self.flush();
            (self.first, self.offset) = (segment, offset);
        }
        self.run.extend_from_slice(content);
        self.segments += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn info(version: u64) -> ObjectInfo {
        ObjectInfo {
            name: format!("/a/v={version}").parse().unwrap(),
            segments: Some(4),
            segment_size: Some(3),
            size: Some(12),
            root_digest: None,
        }
    }

    #[test]
    fn a_version_that_is_given_up_makes_room_for_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut sink = FileSink::new(&path);
        sink.begin(&info(1));
        assert_eq!(sink.begin(&info(2)), Resume::default());
        for (segment, content) in [(0, b"abc"), (1, b"def"), (2, b"ghi"), (3, b"jkl")] {
            sink.write(segment, segment * 3, content);
        }
        assert!(sink.take_failure().is_none());
        sink.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abcdefghijkl");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_name_of_any_legal_length_can_be_fetched_and_resumed() {
        for (letter, count) in [("x", 242), ("x", 243), ("x", 250), ("x", 255), ("ü", 127)] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(letter.repeat(count));
            let mut sink = FileSink::new(&path);
            sink.begin(&info(1));
            sink.write(0, 0, b"abc");
            sink.flush();
            drop(sink);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "{letter} {count}");
            let mut sink = FileSink::new(&path);
            assert_eq!(sink.begin(&info(1)).bytes, 3, "{letter} {count}");
            for (segment, content) in [(1, b"def"), (2, b"ghi"), (3, b"jkl")] {
                sink.write(segment, segment * 3, content);
            }
            sink.finish().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"abcdefghijkl");
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        // A name that is no text, as in old archives.
        let dir = tempfile::tempdir().unwrap();
        let mut sink = FileSink::new(&dir.path().join(OsStr::from_bytes(&[0xc4; 250])));
        sink.begin(&info(1));
        assert!(sink.take_failure().is_none());
        // An impossible name is rejected before anything is fetched.
        let dir = tempfile::tempdir().unwrap();
        let mut sink = FileSink::new(&dir.path().join("x".repeat(256)));
        sink.begin(&info(1));
        assert!(sink.take_failure().is_some());
    }

    #[test]
    fn long_names_that_begin_alike_have_their_own_partial_files() {
        let part = |end: &str| part_of(Path::new(&format!("a/{}{end}", "x".repeat(250))));
        assert_ne!(part("1"), part("2"));
        assert_eq!(part("1"), part("1"));
        assert_eq!(part_of(Path::new("a/film.mkv")), Path::new("a/film.mkv.part"));
    }

    #[test]
    fn the_file_appears_whole_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut sink = FileSink::new(&path);
        assert_eq!(sink.begin(&info(1)), Resume::default());
        for (segment, content) in [(1, b"def"), (2, b"ghi"), (0, b"abc"), (3, b"jkl")] {
            sink.write(segment, segment * 3, content);
            assert!(!path.exists());
        }
        sink.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abcdefghijkl");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_interrupted_transfer_resumes_with_what_is_really_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let begin = |version| {
            let mut sink = FileSink::new(&path);
            let resume = sink.begin(&info(version));
            (sink, resume)
        };
        let (mut sink, _) = begin(1);
        sink.write(0, 0, b"abc");
        sink.write(3, 9, b"jkl");
        sink.flush();
        drop(sink);
        let (_, resume) = begin(1);
        let there: Vec<_> = resume.segments.iter().cloned().collect();
        assert_eq!((there, resume.bytes), (vec![0..1, 3..4], 6));

        // Bytes that have changed since do not count, nor does half a record.
        let part = dir.path().join("file.part");
        File::options().write(true).open(&part).unwrap().write_all_at(b"X", 1).unwrap();
        let journal = dir.path().join("file.part.journal");
        File::options().append(true).open(&journal).unwrap().write_all(&[1; 17]).unwrap();
        let (_, resume) = begin(1);
        assert_eq!(resume.segments.iter().cloned().collect::<Vec<_>>(), vec![3..4]);

        // Nor does a record of impossible segments, though its bytes are in the file.
        let words = [u64::MAX, 2, 9, 3, Run::new(u64::MAX, 2, 9, b"jkl").hash];
        std::fs::write(
            &journal,
            [
                std::fs::read(&journal).unwrap(),
                words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            ]
            .concat(),
        )
        .unwrap();
        let (_, resume) = begin(1);
        assert_eq!(resume.segments.iter().cloned().collect::<Vec<_>>(), vec![3..4]);

        let (_, resume) = begin(2);
        assert_eq!(resume, Resume::default(), "another version begins again");
        let (_, resume) = begin(1);
        assert_eq!(resume.bytes, 3, "nothing of the other one was verified");
        let (mut sink, _) = begin(2);
        sink.write(0, 0, b"xyz");
        sink.flush();
        drop(sink);
        assert_eq!(begin(2).1.bytes, 3);
        assert_eq!(begin(1).1, Resume::default());
    }

    /// The resumed part of a transfer that wrote these segments, and the number of its runs.
    fn runs_of(segments: &[(u64, u64, usize)]) -> (Resume, usize) {
        const RECORD: usize = 40;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut sink = FileSink::new(&path);
        sink.begin(&info(1));
        for (segment, offset, len) in segments {
            sink.write(*segment, *offset, &vec![*segment as u8; *len]);
        }
        sink.flush();
        assert!(sink.take_failure().is_none());
        drop(sink);
        let journal = std::fs::read(dir.path().join("file.part.journal")).unwrap();
        let header = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        assert!((journal.len() - header).is_multiple_of(RECORD));
        (FileSink::new(&path).begin(&info(1)), (journal.len() - header) / RECORD)
    }

    #[test]
    fn segments_that_follow_each_other_are_one_run_of_bounded_length() {
        const HALF: usize = MAX_RUN / 2;
        let half = HALF as u64;
        for (written, runs) in [
            (&[(0, 0, 3), (1, 3, 3), (2, 6, 3)][..], 1),
            // Another segment, or another place, than the next one.
            (&[(0, 0, 3), (2, 3, 3)], 2),
            (&[(0, 0, 3), (1, 6, 3)], 2),
            (&[(1, 3, 3), (0, 0, 3)], 2),
            // The longest run, and one byte longer.
            (&[(0, 0, HALF), (1, half, HALF)], 1),
            (&[(0, 0, HALF), (1, half, HALF + 1)], 2),
            (&[(0, 0, HALF), (1, half, HALF), (2, 2 * half, HALF)], 2),
        ] {
            let (resume, found) = runs_of(written);
            assert_eq!(found, runs, "{written:?}");
            let bytes = written.iter().map(|(.., len)| *len as u64).sum::<u64>();
            assert_eq!(resume.bytes, bytes, "{written:?}");
            assert!(written.iter().all(|(segment, ..)| resume.segments.contains(segment)));
        }
    }

    #[test]
    fn nothing_is_left_of_a_transfer_that_brought_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let left = || std::fs::read_dir(dir.path()).unwrap().count();
        let mut sink = FileSink::new(&path);
        sink.begin(&info(1));
        assert_eq!(left(), 1);
        // While the second is kept out, the first one's files stay.
        let mut second = FileSink::new(&path);
        second.begin(&info(1));
        drop(second);
        assert_eq!(left(), 1);
        drop(sink);
        assert_eq!(left(), 0);

        // The partial file alone, where the journal cannot be made.
        std::fs::create_dir(dir.path().join("file.part.journal")).unwrap();
        let mut sink = FileSink::new(&path);
        sink.begin(&info(1));
        assert!(sink.take_failure().is_some());
        drop(sink);
        assert_eq!(left(), 1);
    }

    #[test]
    fn reservations_are_released_however_a_transfer_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let part = dir.path().join("file.part");
        let large = ObjectInfo { size: Some(50_000_000), ..info(1) };
        let taken = |path: &Path| std::fs::metadata(path).unwrap().blocks() * 512;
        // A block, plus the rounding of the file system.
        let little = 100_000;
        for is_signed in [true, false] {
            let mut sink = FileSink::new(&path);
            sink.begin(&large);
            sink.bounded(50_000_000, is_signed);
            sink.write(0, 0, b"abc");
            sink.flush();
            let reserved = taken(&part);
            drop(sink);
            assert!(taken(&part) < little, "interrupted, {is_signed}: {}", taken(&part));
            if !is_signed {
                assert!(reserved < 2_500_000, "{reserved} for three bytes that nobody signed");
            }
            // Killed: nothing was cleaned up.
            let killed = File::options().write(true).open(&part).unwrap();
            Reserve::new(0, 0, None).bound(&killed, 50_000_000, true).unwrap();
            drop(killed);
            let mut sink = FileSink::new(&path);
            assert_eq!(sink.begin(&large).bytes, 3);
            assert!(taken(&part) < little, "resumed: {}", taken(&part));
            sink.bounded(50_000_000, is_signed);
            sink.write(1, 3, b"def");
            sink.finish().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"abcdef");
            assert!(taken(&path) < little, "finished: {}", taken(&path));
        }
    }

    #[test]
    fn a_too_large_object_fails_before_any_file_is_created() {
        let dir = tempfile::tempdir().unwrap();
        let mut sink = FileSink::new(&dir.path().join("file"));
        sink.begin(&info(1));
        sink.bounded(u64::MAX, false);
        sink.write(0, 0, b"abc");
        let error = sink.take_failure().unwrap().to_string();
        assert!(
            error.contains("file.part: it needs ") && error.ends_with(" are free there"),
            "{error}"
        );
        drop(sink);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn two_transfers_into_one_file_do_not_meet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut first = FileSink::new(&path);
        first.begin(&info(1));
        let mut second = FileSink::new(&path);
        second.begin(&info(1));
        assert!(second.take_failure().unwrap().to_string().contains("another transfer"));
        // The lock goes with its owner. A third transfer waits for an owner that is ending.
        let mut third = FileSink::new(&path);
        std::thread::scope(|scope| {
            scope.spawn(|| drop(first));
            third.begin(&info(1));
        });
        assert!(third.take_failure().is_none());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let mut sink = FileSink::new(Path::new("/nonexistent/dir/file"));
        sink.begin(&info(1));
        sink.write(0, 0, b"abc");
        assert!(sink.take_failure().unwrap().to_string().contains("/nonexistent/dir/file.part"));
    }
}
