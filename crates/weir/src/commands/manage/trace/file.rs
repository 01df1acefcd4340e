//! A trace as a capture that Wireshark opens.

use super::lines::action;
use crate::exit::{Failure, Kind, Word};
use crate::output;
use net::trace::{Direction, Record};
use packet::{LpHeader, NackReason};
use scenario::traces::{Captured, Pcapng};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// The number of bytes of one write.
const BUFFER: usize = 1 << 18;

/// The number of the forwarder in Ethernet addresses; a face has its own.
const FORWARDER: u64 = 0;

/// The capture.
pub struct CaptureFile {
    path: PathBuf,
    /// The new file until it takes its place.
    new: Option<TempPath>,
    out: Pcapng<Box<dyn Write>>,
    /// Faces with their interfaces.
    interfaces: BTreeMap<u64, u32>,
    written: u64,
}

impl CaptureFile {
    /// Opens a capture; `-` is standard output. A file of that name stays as it is until
    /// [`CaptureFile::begin`].
    ///
    /// The capture holds the traffic of others. So it is a new file that only its owner may read,
    /// and takes the place of a file that others may read or that a link leads to.
    pub fn open(path: &Path) -> Result<CaptureFile, Failure> {
        let opened = destination(path).and_then(|(new, out)| Ok((new, Pcapng::new(out)?)));
        let (new, out) = opened.map_err(|error| failure(path, &error))?;
        Ok(CaptureFile { path: path.to_owned(), new, out, interfaces: BTreeMap::new(), written: 0 })
    }

    /// Puts the capture, still without packets, in its place.
    pub fn begin(&mut self) -> Result<(), Failure> {
        let flushed = self.out.flush().and_then(|()| match self.new.take() {
            Some(new) => new.persist(&self.path).map_err(|rejected| rejected.error),
            None => Ok(()),
        });
        flushed.map_err(|error| failure(&self.path, &error))
    }

    /// Packets in it.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends packets, and writes all of them.
    pub fn write(&mut self, records: &[Record]) -> Result<(), Failure> {
        let written = records.iter().try_for_each(|record| self.append(record));
        written.and_then(|()| self.out.flush()).map_err(|error| failure(&self.path, &error))
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        if record.packet.is_empty() {
            return Ok(());
        }
        let interface = match self.interfaces.get(&record.face) {
            Some(interface) => *interface,
            None => {
                let name = format!("face {}", record.face);
                let interface = self.out.interface(&name, &name, None)?;
                self.interfaces.insert(record.face, interface);
                interface
            }
        };
        let [from, to] = match record.direction {
            Direction::In => [record.face, FORWARDER],
            Direction::Out => [FORWARDER, record.face],
        };
        let mut frame = Vec::new();
        if record.kind == Some(control::Kind::Nack) {
            // The record has the Interest without the link header that makes it a Nack.
            let header = LpHeader { nack: Some(NackReason::None), ..LpHeader::default() };
            header.encode_into(&record.packet, &mut frame);
        }
        let packet = if frame.is_empty() { &record.packet } else { &frame };
        let (time_ns, comment) = (record.time_ns, action(record));
        let comments = &[comment.as_str()];
        self.out.packet(&Captured { interface, time_ns, from, to, packet, comments })?;
        self.written += 1;
        Ok(())
    }
}

/// Where to write a capture of this name; a temporary file, if it is to be a regular file.
fn destination(path: &Path) -> io::Result<(Option<TempPath>, Box<dyn Write>)> {
    if path.as_os_str() == "-" {
        return Ok((None, Box::new(io::stdout())));
    }
    let is_special = path.metadata().is_ok_and(|about| !about.is_file());
    if is_special {
        let device = OpenOptions::new().write(true).open(path)?;
        return Ok((None, Box::new(BufWriter::with_capacity(BUFFER, device))));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let new = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let (file, new) = new.into_parts();
    Ok((Some(new), Box::new(BufWriter::with_capacity(BUFFER, file))))
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    if path.as_os_str() == "-" {
        return output::unwritable(error);
    }
    let next = match error.kind() {
        ErrorKind::BrokenPipe => return Failure::silent(Kind::File, output::READER_GONE),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room; the capture holds the packets before"
        }
        _ => "choose another file with --pcap FILE",
    };
    // `tempfile` appends the path of its own file.
    let text = error.to_string();
    let why = text.split(" at path ").next().unwrap_or_default();
    let message = format!("cannot write {}: {why}", path.display());
    Failure::new(Word::unwritable(error), message).then(next)
}
