//! `weir trace`

mod file;
mod lines;

use super::Session;
use crate::cli::manage::TraceArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use control::Duration;
use file::CaptureFile;
pub use lines::Printed;
use lines::{Lines, Lost};
use net::client::{TraceReader, Turn};
use net::management::WITH_PACKETS;
use net::management::parameters::ControlParameters;
use net::trace::{Item, Record};
use std::path::Path;

/// A turn lasts this long at most, so that a signal is noticed.
const TURN: Duration = Duration::from_millis(250);

/// Where records go.
enum Target {
    Lines(Lines),
    Json,
    File(CaptureFile),
}

/// Shows the forwarder's packets until it is interrupted.
pub fn run(args: &TraceArgs) -> Result<(), Failure> {
    let mut session = Session::open(&args.list)?;
    let face = args.face.as_deref().map(|face| session.face(face)).transpose()?;
    let mut target = match &args.pcap {
        Some(path) => Target::File(CaptureFile::open(path)?),
        None if args.list.json => Target::Json,
        None => Target::Lines(Lines::new(output::width(std::io::stdout()))),
    };
    let flags = matches!(target, Target::File(_)).then_some(WITH_PACKETS);
    let (name, mask) = (args.prefix.clone(), flags);
    let asked = ControlParameters { face_id: face, name, flags, mask, ..Default::default() };
    let answer = session.command(["weir", "trace", "start"], &asked, "trace packets", &[])?;
    let Some(stream) = answer.body.name else {
        let text = "the forwarder's answer does not name a trace";
        return Err(Failure::new(Kind::Failed, text).then("is it a Weir forwarder?"));
    };
    let mut reader = TraceReader::new(stream);
    target.begin()?;
    let mut lost = 0;
    while !session.stop.requested() {
        let until = session.connection.now() + TURN;
        if session.connection.turn(&mut reader, until)? == Turn::Idle {
            continue;
        }
        let mut records = Vec::new();
        while let Some(item) = reader.poll().map_err(malformed)? {
            match item {
                Item::Record(record) => records.push(*record),
                Item::Lost(packets) => {
                    target.write(&std::mem::take(&mut records))?;
                    target.lost(packets)?;
                    lost += packets;
                }
                Item::Ended(why) => {
                    target.write(&records)?;
                    target.end(args.pcap.as_deref(), lost);
                    return Err(Failure::new(Kind::Failed, format!("the trace ended: {why}"))
                        .then("run the same command again"));
                }
            }
        }
        target.write(&records)?;
    }
    target.end(args.pcap.as_deref(), lost);
    Ok(())
}

fn malformed(fault: packet::tlv::Fault) -> Failure {
    Failure::new(Kind::Failed, format!("the forwarder's trace is malformed: {fault}"))
        .then("use a weir program of the forwarder's version")
}

impl Target {
    fn begin(&mut self) -> Result<(), Failure> {
        match self {
            Target::Lines(lines) => output::result(&lines.head()),
            Target::Json => Ok(()),
            Target::File(file) => file.begin(),
        }
    }

    fn write(&mut self, records: &[Record]) -> Result<(), Failure> {
        if records.is_empty() {
            return Ok(());
        }
        let records = records.iter();
        let texts: Vec<String> = match self {
            Target::Lines(lines) => records.map(|record| lines.line(record)).collect(),
            Target::Json => {
                records.map(|record| output::json_text(&lines::object(record))).collect()
            }
            Target::File(file) => return file.write(records.as_slice()),
        };
        output::result(&texts.join("\n"))
    }

    /// Reports the number of packets that are missing here.
    fn lost(&self, packets: u64) -> Result<(), Failure> {
        match self {
            Target::Lines(_) => {
                output::note(&format!("packets missing here: {packets}"));
                Ok(())
            }
            Target::Json => output::json(&Printed::Lost(Lost { lost: packets })),
            Target::File(_) => Ok(()),
        }
    }

    fn end(&self, path: Option<&Path>, lost: u64) {
        if let (Target::File(file), Some(path)) = (self, path) {
            let written = output::counted(file.written(), "packet");
            output::note(&format!("{written} in {}", path.display()));
        }
        if lost > 0 {
            output::note(&format!(
                "packets missing: {lost}; they arrived faster than they were read; \
                 --face and --prefix select fewer"
            ));
        }
    }
}
