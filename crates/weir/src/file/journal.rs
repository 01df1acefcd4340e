//! What an interrupted transfer has verified: the journal beside a partial file.
//!
//! A header line of JSON says which object it is; behind it stands a record for each run of octets
//! that was written: first segment, segments, offset, octets, XXH3 of the octets, each 8 octets in
//! little-endian order. When a transfer resumes, every run is read again and counts only if its
//! hash is right, so that neither a crash nor a lost write nor another program's meddling leaves
//! octets in the file that were never verified.

use rangemap::RangeSet;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use transport::fetch::{ObjectInfo, Resume};
use xxhash_rust::xxh3::xxh3_64;

const RECORD: usize = 40;

/// The most octets in one run: what a damaged record may make a resuming transfer read at once.
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
        let hex = |d: [u8; 32]| d.iter().map(|octet| format!("{octet:02x}")).collect();
        Header {
            object: info.name.to_string(),
            root_digest: info.root_digest.map(hex),
            segment_size: info.segment_size,
        }
    }
}

/// A run of octets that is in the partial file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its first segment.
    pub first: u64,
    /// How many segments it has.
    pub segments: u64,
    /// Where it begins.
    pub offset: u64,
    /// Its octets.
    pub len: u64,
    /// Their XXH3.
    pub hash: u64,
}

/// An open journal.
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal at `path` for a transfer of `info` into `part`: goes on with what it says
    /// if it is about the same object, begins anew otherwise.
    ///
    /// # Errors
    /// The files cannot be read or written.
    pub fn open(path: PathBuf, info: &ObjectInfo, part: &File) -> io::Result<(Journal, Resume)> {
        let header = Header::of(info);
        if let Some((runs, resume)) = read(&path, &header, part)? {
            // Written anew: what a crash has left at the end must not come before new records.
            let mut journal = Journal::create(path, &header)?;
            runs.iter().try_for_each(|run| journal.append(run))?;
            return Ok((journal, resume));
        }
        part.set_len(0)?;
        Ok((Journal::create(path, &header)?, Resume::default()))
    }

    fn create(path: PathBuf, header: &Header) -> io::Result<Journal> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
        let mut line = serde_json::to_vec(header)?;
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(Journal { path, file })
    }

    /// Adds a run that was written.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn append(&mut self, run: &Run) -> io::Result<()> {
        let mut record = [0; RECORD];
        let words = [run.first, run.segments, run.offset, run.len, run.hash];
        for (octets, word) in record.chunks_mut(8).zip(words) {
            octets.copy_from_slice(&word.to_le_bytes());
        }
        self.file.write_all(&record)
    }

    /// Nobody needs the journal any more: the transfer is complete, or nothing came of it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// Reads a journal about the same object; `None` if there is none.
fn read(path: &Path, wanted: &Header, part: &File) -> io::Result<Option<(Vec<Run>, Resume)>> {
    let mut reader = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut line = Vec::new();
    reader.by_ref().take(64 * 1024).read_until(b'\n', &mut line)?;
    if serde_json::from_slice::<Header>(&line).ok().as_ref() != Some(wanted) {
        return Ok(None);
    }
    let (mut runs, mut segments, mut octets) = (Vec::new(), RangeSet::new(), 0);
    let mut record = [0; RECORD];
    while reader.read_exact(&mut record).is_ok() {
        let Some(run) = checked(&record, part) else { continue };
        // A damaged record may speak of segments that no object has.
        let Some(end) = run.first.checked_add(run.segments) else { continue };
        let range = run.first..end;
        if !range.is_empty() && !segments.overlaps(&range) {
            segments.insert(range);
            octets += run.len;
            runs.push(run);
        }
    }
    Ok(Some((runs, Resume { segments, octets })))
}

/// The run of a record, if its octets are in the partial file.
fn checked(record: &[u8; RECORD], part: &File) -> Option<Run> {
    let mut words = record.chunks(8).map(|c| c.try_into().map_or(0, u64::from_le_bytes));
    let mut next = || words.next().unwrap_or(0);
    let run = Run { first: next(), segments: next(), offset: next(), len: next(), hash: next() };
    let size = part.metadata().ok()?.len();
    if run.len > MAX_RUN as u64 || run.offset.checked_add(run.len)? > size {
        return None;
    }
    let mut octets = vec![0; usize::try_from(run.len).ok()?];
    part.read_exact_at(&mut octets, run.offset).ok()?;
    (xxh3_64(&octets) == run.hash).then_some(run)
}
