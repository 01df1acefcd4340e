//! A trace as a capture that Wireshark opens.

use super::lines::action;
use crate::exit::{Failure, Kind};
use net::trace::{Direction, Record};
use packet::{LpHeader, NackReason};
use scenario::traces::{Captured, Pcapng};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// The number of the forwarder in Ethernet addresses; a face has its own.
const FORWARDER: u64 = 0;

/// The capture.
pub struct CaptureFile {
    path: PathBuf,
    out: Pcapng<Box<dyn Write>>,
    /// Faces with their interfaces.
    interfaces: BTreeMap<u64, u32>,
    written: u64,
}

impl CaptureFile {
    /// Begins a capture; `-` is standard output.
    pub fn create(path: &Path) -> Result<CaptureFile, Failure> {
        let open = || -> io::Result<Pcapng<Box<dyn Write>>> {
            if path.as_os_str() == "-" {
                return Pcapng::new(Box::new(io::stdout()));
            }
            let mut options = OpenOptions::new();
            // It holds the traffic of others.
            let file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
            Pcapng::new(Box::new(BufWriter::with_capacity(BUFFER, file)))
        };
        let (path, interfaces) = (path.to_owned(), BTreeMap::new());
        match open() {
            Ok(out) => Ok(CaptureFile { path, out, interfaces, written: 0 }),
            Err(error) => Err(failure(&path, &error)),
        }
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

fn failure(path: &Path, error: &io::Error) -> Failure {
    let next = match error.kind() {
        ErrorKind::BrokenPipe => return Failure::silent(Kind::File),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room; the capture holds the packets before"
        }
        _ => "choose another file with --pcap FILE",
    };
    Failure::new(Kind::File, format!("cannot write {}: {error}", path.display())).then(next)
}
