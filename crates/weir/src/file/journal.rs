//! The journal beside a partial file: the verified runs of an interrupted transfer.
//!
//! A header line of JSON identifies the object. A record for each run of written bytes follows:
//! first segment, segments, offset, bytes, XXH3 of these numbers and the bytes, each 8 bytes in
//! little-endian order. When a transfer resumes, every run is read again and counts only if its
//! hash is right, so that neither a crash nor a lost write leaves bytes in the file that were never
//! verified. The hash has no key, so a user who may write the journal decides which runs count:
//! both files are used only if no other user may have written them ([`own`]).

use super::own;
use rangemap::RangeSet;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use transport::fetch::{ObjectInfo, Resume};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const RECORD: usize = 40;

/// The maximum number of bytes in one run: a damaged record may make a resuming transfer read this
/// number at once.
pub const MAX_RUN: usize = 512 * 1024;

/// The object that a partial file belongs to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    object: String,
    root_digest: Option<String>,
    segment_size: Option<u64>,
}

impl Header {
    fn of(info: &ObjectInfo) -> Header {
        Header {
            object: info.name.to_string(),
            root_digest: info
                .root_digest
                .map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect()),
            segment_size: info.segment_size,
        }
    }
}

/// A run of bytes in the partial file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its first segment.
    pub first: u64,
    /// Its number of segments.
    pub segments: u64,
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub len: u64,
    /// XXH3 of the bytes, with that of the numbers above for its seed: a damaged number would
    /// otherwise take one segment's bytes for another's.
    pub hash: u64,
}

impl Run {
    /// A run of `segments` from `first` on, which is `content`, at `offset`.
    pub fn new(first: u64, segments: u64, offset: u64, content: &[u8]) -> Run {
        let mut run = Run { first, segments, offset, len: content.len() as u64, hash: 0 };
        run.hash = run.hash_with(content);
        run
    }

    fn hash_with(&self, content: &[u8]) -> u64 {
        let numbers = [self.first, self.segments, self.offset, self.len].map(u64::to_le_bytes);
        xxh3_64_with_seed(content, xxh3_64(numbers.as_flattened()))
    }
}

/// An open journal.
pub struct Journal {
    path: PathBuf,
    /// `None` before anything was verified that it could hold.
    file: Option<File>,
    header: Header,
    /// Where the last of its runs ends.
    end: u64,
}

impl Journal {
    /// Opens the journal at `path` for a transfer of `info` into `part`. If the journal is about
    /// the same object, the transfer resumes from it. If it is about another object, both files
    /// stay as they are until [`Journal::start`]: `info` may be a lie.
    ///
    /// # Errors
    /// The files cannot be read or written.
    pub fn open(path: PathBuf, info: &ObjectInfo, part: &File) -> io::Result<(Journal, Resume)> {
        let header = Header::of(info);
        if let Some((runs, resume)) = read(&path, &header, part)? {
            // The runs are written again, because remains of a crash must not come before new
            // records. The new name is no longer than that of the journal, which may be the longest
            // possible one.
            let new = path.with_extension("new");
            let mut journal = Journal { path: new.clone(), file: None, header, end: 0 };
            if let Err(error) = journal.copy(&runs, &path) {
                let _ = std::fs::remove_file(&new);
                return Err(error);
            }
            journal.path = path;
            return Ok((journal, resume));
        }
        Ok((Journal { path, file: None, header, end: 0 }, Resume::default()))
    }

    /// Writes these runs, and takes the place of the journal at `path`, which is whole until then.
    fn copy(&mut self, runs: &[Run], path: &Path) -> io::Result<()> {
        self.create()?;
        runs.iter().try_for_each(|run| self.append(run))?;
        if let Some(file) = &self.file {
            file.sync_data()?;
        }
        std::fs::rename(&self.path, path)
    }

    fn create(&mut self) -> io::Result<()> {
        let mut file = match own::existing(&self.path)? {
            Some(file) => file,
            None => own::make(&self.path)?,
        };
        file.set_len(0)?;
        let mut line = serde_json::to_vec(&self.header)?;
        line.push(b'\n');
        file.write_all(&line)?;
        self.file = Some(file);
        Ok(())
    }

    /// Begins with the first verified bytes of the object: removes those of another object.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn start(&mut self, part: &File) -> io::Result<()> {
        if self.has_started() {
            return Ok(());
        }
        part.set_len(0)?;
        self.create()
    }

    /// The files are about its object.
    pub fn has_started(&self) -> bool {
        self.file.is_some()
    }

    /// Adds a written run, once the journal has started.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn append(&mut self, run: &Run) -> io::Result<()> {
        let mut record = [0; RECORD];
        let words = [run.first, run.segments, run.offset, run.len, run.hash];
        for (bytes, word) in record.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        if let Some(file) = &mut self.file {
            file.write_all(&record)?;
        }
        self.end = self.end.max(run.offset.saturating_add(run.len));
        Ok(())
    }

    /// Bytes of the partial file up to the end of its last run. Later bytes were never verified.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Removes the journal: the transfer is complete, or has failed for good.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// Reads a journal about the same object; `None` if the file is missing or about another one.
fn read(path: &Path, wanted: &Header, part: &File) -> io::Result<Option<(Vec<Run>, Resume)>> {
    let Some(file) = own::existing(path)? else { return Ok(None) };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    reader.by_ref().take(64 * 1024).read_until(b'\n', &mut line)?;
    if serde_json::from_slice::<Header>(&line).ok().as_ref() != Some(wanted) {
        return Ok(None);
    }
    let (mut runs, mut segments, mut bytes) = (Vec::new(), RangeSet::new(), 0);
    let mut record = [0; RECORD];
    while reader.read_exact(&mut record).is_ok() {
        let Some(run) = checked(&record, part) else { continue };
        // A damaged record may speak of segments that no object has.
        let Some(end) = run.first.checked_add(run.segments) else { continue };
        let range = run.first..end;
        if !range.is_empty() && !segments.overlaps(&range) {
            segments.insert(range);
            bytes += run.len;
            runs.push(run);
        }
    }
    Ok(Some((runs, Resume { segments, bytes })))
}

/// The run of a record, if its bytes are in the partial file.
fn checked(record: &[u8; RECORD], part: &File) -> Option<Run> {
    let (words, _) = record.as_chunks::<8>();
    let &[first, segments, offset, len, hash] = words else { return None };
    let run = Run {
        first: u64::from_le_bytes(first),
        segments: u64::from_le_bytes(segments),
        offset: u64::from_le_bytes(offset),
        len: u64::from_le_bytes(len),
        hash: u64::from_le_bytes(hash),
    };
    let size = part.metadata().ok()?.len();
    if run.len > MAX_RUN as u64 || run.offset.checked_add(run.len)? > size {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(run.len).ok()?];
    part.read_exact_at(&mut bytes, run.offset).ok()?;
    (run.hash_with(&bytes) == run.hash).then_some(run)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of runs of segments")]
mod tests {
    use super::*;
    use std::ops::Range;

    /// Three runs as a transfer leaves them, the last one out of turn: segment, segments, bytes.
    const RUNS: [(u64, u64, &[u8]); 3] = [(0, 2, b"abcdef"), (2, 1, b"ghi"), (5, 1, b"pqr")];
    const SEGMENT: u64 = 3;

    fn info() -> ObjectInfo {
        ObjectInfo {
            name: "/a/v=1".parse().unwrap(),
            segments: Some(7),
            segment_size: Some(SEGMENT),
            size: Some(21),
            root_digest: Some([7; 32]),
        }
    }

    fn runs() -> [Run; 3] {
        RUNS.map(|(first, segments, content)| Run::new(first, segments, first * SEGMENT, content))
    }

    /// An interrupted transfer: a partial file, and its journal as it was written.
    struct Interrupted {
        _folder: tempfile::TempDir,
        path: PathBuf,
        part: File,
        written: Vec<u8>,
    }

    /// The state that a transfer resumes: segments, bytes in them, and the end of the last run.
    type Resumed = (Vec<Range<u64>>, u64, u64);

    impl Interrupted {
        fn new(runs: &[Run]) -> Interrupted {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal");
            let part = tempfile::tempfile().unwrap();
            let (mut journal, resume) = Journal::open(path.clone(), &info(), &part).unwrap();
            assert_eq!((resume, journal.end()), (Resume::default(), 0));
            journal.start(&part).unwrap();
            runs.iter().for_each(|run| journal.append(run).unwrap());
            let written = std::fs::read(&path).unwrap();
            Interrupted { _folder: folder, path, part, written }
        }

        fn resumed(&self, info: &ObjectInfo, journal: &[u8]) -> Resumed {
            // A journal about something else has emptied the file.
            self.write_part();
            std::fs::write(&self.path, journal).unwrap();
            let (journal, resume) = Journal::open(self.path.clone(), info, &self.part).unwrap();
            (resume.segments.iter().cloned().collect(), resume.bytes, journal.end())
        }

        fn write_part(&self) {
            for (first, _, content) in RUNS {
                self.part.write_all_at(content, first * SEGMENT).unwrap();
            }
        }

        fn header(&self) -> usize {
            self.written.iter().position(|byte| *byte == b'\n').unwrap() + 1
        }
    }

    /// A full disk, a kill or a power cut at that moment would lose all progress otherwise.
    #[test]
    fn a_journal_is_whole_until_it_is_written_again() {
        let interrupted = Interrupted::new(&runs());
        interrupted.write_part();
        let new = interrupted.path.with_extension("new");
        std::fs::create_dir(&new).unwrap();
        let open = || Journal::open(interrupted.path.clone(), &info(), &interrupted.part);
        assert!(open().is_err());
        assert_eq!(std::fs::read(&interrupted.path).unwrap(), interrupted.written);
        std::fs::remove_dir(&new).unwrap();
        assert_eq!(open().unwrap().1.bytes, 12);
        assert_eq!(std::fs::read(&interrupted.path).unwrap(), interrupted.written);
        assert!(!new.exists());
    }

    #[test]
    fn of_a_journal_that_ends_anywhere_what_is_whole_counts() {
        let there = Interrupted::new(&runs());
        let header = there.header();
        assert_eq!(there.written.len(), header + 3 * RECORD);
        for len in 0..=there.written.len() {
            let (expected, records) = match len.saturating_sub(header) / RECORD {
                0 => ((vec![], 0, 0), 0),
                1 => ((vec![0..2], 6, 6), 1),
                2 => ((vec![0..3], 9, 9), 2),
                _ => ((vec![0..3, 5..6], 12, 18), 3),
            };
            assert_eq!(there.resumed(&info(), &there.written[..len]), expected, "{len}");
            // Half a record is removed before the next write. A file without a whole header may be
            // of another program, and is left alone.
            let again = std::fs::read(&there.path).unwrap();
            let kept = if len < header - 1 { len } else { header + records * RECORD };
            assert_eq!(again, there.written[..kept], "{len}");
        }
    }

    #[test]
    fn a_name_of_any_length_resumes() {
        // A byte of a name may have three characters here.
        let name = "/a".to_owned() + &format!("/{}", "%00".repeat(30)).repeat(250);
        let long = ObjectInfo { name: name.parse().unwrap(), ..info() };
        let (folder, part) = (tempfile::tempdir().unwrap(), tempfile::tempfile().unwrap());
        let path = folder.path().join("journal");
        let (mut journal, _) = Journal::open(path.clone(), &long, &part).unwrap();
        journal.start(&part).unwrap();
        let [run, ..] = runs();
        part.write_all_at(RUNS[0].2, 0).unwrap();
        journal.append(&run).unwrap();
        let (_, resume) = Journal::open(path, &long, &part).unwrap();
        assert_eq!(resume.bytes, 6);
    }

    #[test]
    fn a_flipped_bit_costs_its_run_or_all_and_never_adds_one() {
        let there = Interrupted::new(&runs());
        let header = there.header();
        for at in 0..there.written.len() {
            for bit in [at % 8, (at + 3) % 8] {
                let mut journal = there.written.clone();
                journal[at] ^= 1 << bit;
                let expected = match at.checked_sub(header).map(|rest| rest / RECORD) {
                    None => (vec![], 0, 0),
                    Some(0) => (vec![2..3, 5..6], 6, 18),
                    Some(1) => (vec![0..2, 5..6], 9, 18),
                    Some(_) => (vec![0..3], 9, 9),
                };
                assert_eq!(there.resumed(&info(), &journal), expected, "bit {bit} of {at}");
            }
        }
    }

    #[test]
    fn a_flipped_bit_in_the_file_costs_its_run() {
        let there = Interrupted::new(&runs());
        let all = there.resumed(&info(), &there.written);
        for (run, (first, _, content)) in RUNS.into_iter().enumerate() {
            for at in 0..content.len() as u64 {
                there.part.write_all_at(&[0], first * SEGMENT + at).unwrap();
                let (_, resume) = Journal::open(there.path.clone(), &info(), &there.part).unwrap();
                assert_eq!(resume.bytes, all.1 - content.len() as u64, "run {run}");
                assert!(!resume.segments.contains(&first));
                assert_eq!(there.resumed(&info(), &there.written), all);
            }
        }
    }

    #[test]
    fn a_file_that_is_too_short_for_a_run_has_lost_it() {
        let there = Interrupted::new(&runs());
        for len in 0..18 {
            there.resumed(&info(), &there.written);
            there.part.set_len(len).unwrap();
            let (_, resume) = Journal::open(there.path.clone(), &info(), &there.part).unwrap();
            let expected = [6, 9].iter().rfind(|end| **end <= len).copied().unwrap_or(0);
            assert_eq!(resume.bytes, expected, "{len}");
        }
    }

    #[test]
    fn another_object_version_root_or_segment_size_begins_again() {
        let there = Interrupted::new(&runs());
        let others = [
            ObjectInfo { name: "/a/v=2".parse().unwrap(), ..info() },
            ObjectInfo { name: "/b/v=1".parse().unwrap(), ..info() },
            ObjectInfo { root_digest: Some([8; 32]), ..info() },
            ObjectInfo { root_digest: None, ..info() },
            ObjectInfo { segment_size: Some(SEGMENT + 1), ..info() },
            ObjectInfo { segment_size: None, ..info() },
        ];
        for other in others {
            assert_eq!(there.resumed(&other, &there.written), (vec![], 0, 0), "{other:?}");
            assert_eq!(std::fs::read(&there.path).unwrap(), there.written, "{other:?}");
            assert_eq!(there.part.metadata().unwrap().len(), 18, "{other:?}");
        }
        // A hint does not identify the bytes.
        let same = ObjectInfo { size: Some(20), segments: None, ..info() };
        assert_eq!(there.resumed(&same, &there.written).1, 12);
    }

    #[test]
    fn runs_that_overlap_are_empty_or_too_long_count_once_or_not() {
        let [first, ..] = runs();
        let long = vec![7; MAX_RUN + 1];
        for (run, expected) in [
            (first, (vec![0..2], 6, 6)),
            (Run::new(1, 1, 3, b"def"), (vec![0..2], 6, 6)),
            (Run::new(2, 0, 6, b"ghi"), (vec![0..2], 6, 6)),
            (Run::new(u64::MAX, 2, 6, b"ghi"), (vec![0..2], 6, 6)),
            (Run { offset: u64::MAX, ..first }, (vec![0..2], 6, 6)),
            (Run { len: u64::MAX, ..first }, (vec![0..2], 6, 6)),
            (Run::new(9, 1, 100, &long), (vec![0..2], 6, 6)),
            (Run::new(9, 1, 100, &long[1..]), (vec![0..2, 9..10], 6 + MAX_RUN as u64, 0)),
        ] {
            let there = Interrupted::new(&[first, run]);
            there.part.write_all_at(&long, 100).unwrap();
            let (segments, bytes, end) = there.resumed(&info(), &there.written);
            let expected_end = if expected.2 == 0 { 100 + MAX_RUN as u64 } else { expected.2 };
            assert_eq!((segments, bytes, end), (expected.0, expected.1, expected_end), "{run:?}");
        }
    }

    #[test]
    fn a_run_has_half_a_mebibyte_at_most() {
        assert_eq!(MAX_RUN, 524_288);
    }

    #[test]
    fn a_journal_that_cannot_be_read_is_not_taken_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let part = tempfile::tempfile().unwrap();
        part.write_all_at(b"abc", 0).unwrap();
        // A folder has this name; it can be opened but not read.
        let rejected = Journal::open(folder.path().to_owned(), &info(), &part).err().unwrap();
        assert_eq!(rejected.kind(), io::ErrorKind::IsADirectory);
        // A name below a file can neither.
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let rejected = Journal::open(file.join("journal"), &info(), &part).err().unwrap();
        assert_eq!(rejected.kind(), io::ErrorKind::NotADirectory);
        assert_eq!(part.metadata().unwrap().len(), 3, "the file is as it was");
    }

    #[test]
    fn a_header_without_end_is_read_no_further_than_a_header_is_long() {
        let there = Interrupted::new(&runs());
        let endless = [vec![b' '; 1 << 20], there.written.clone()].concat();
        assert_eq!(there.resumed(&info(), &endless), (vec![], 0, 0));
    }
}
