//! The files of `--pcap` and `--events`, written during the runs.

use crate::cli::sim::SimRunArgs;
use crate::exit::{Failure, Kind};
use scenario::Batch;
use scenario::traces::{Capture, EventLog, Places, Several, Tracer, Trouble, check_events};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// The traces of each run.
pub struct Traces {
    pcap: Option<PathBuf>,
    events: Option<PathBuf>,
    kinds: Vec<String>,
    /// By run.
    places: Vec<Places>,
    trouble: Trouble,
}

impl Traces {
    /// Checks what the command line asks for.
    pub fn new(args: &SimRunArgs, batch: &Batch) -> Result<Traces, Failure> {
        let wrong = |why: String| Failure::new(Kind::Usage, format!("{why}; nothing was run"));
        if args.pcap.is_none() && args.events.is_none() {
            let without = match (args.trace_at.is_empty(), args.events_of.is_empty()) {
                (true, true) => None,
                (false, _) => Some("--trace-at needs --pcap or --events"),
                (true, false) => Some("--events-of needs --events"),
            };
            if let Some(why) = without {
                return Err(wrong(why.to_owned()));
            }
        }
        check_events(&args.events_of).map_err(|why| wrong(format!("--events-of: {why}")))?;
        let is_traced = args.pcap.is_some() || args.events.is_some();
        let places = |run: &scenario::Run| {
            Places::of(&run.scenario, &args.trace_at)
                .map_err(|why| wrong(format!("--trace-at: {why}")))
        };
        Ok(Traces {
            pcap: args.pcap.clone(),
            events: args.events.clone(),
            kinds: args.events_of.clone(),
            places: match is_traced {
                true => batch.runs.iter().map(places).collect::<Result<_, _>>()?,
                false => Vec::new(),
            },
            trouble: Trouble::default(),
        })
    }

    /// Opens the files of a run.
    pub fn begin(&self, batch: &Batch, number: usize) -> Option<Box<dyn Tracer>> {
        let (run, places) = (batch.runs.get(number)?, self.places.get(number)?);
        let path = |path: &Path| match batch.runs.len() {
            1 => path.to_owned(),
            _ => numbered(path, number),
        };
        let open = |path: &Path| {
            let file = File::create(path).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })?;
            io::Result::Ok(BufWriter::with_capacity(BUFFER, file))
        };
        let mut tracers: Vec<Box<dyn Tracer>> = Vec::new();
        let mut begin = || {
            if let Some(file) = &self.pcap {
                let out = open(&path(file))?;
                let trouble = self.trouble.clone();
                tracers.push(Box::new(Capture::new(out, &run.scenario, places, trouble)?));
            }
            if let Some(file) = &self.events {
                let (out, trouble) = (open(&path(file))?, self.trouble.clone());
                let (of, places) = (&run.scenario, places.clone());
                let log = EventLog::new(out, of, run.seed, places, &self.kinds, trouble)?;
                tracers.push(Box::new(log));
            }
            io::Result::Ok(())
        };
        let done = begin();
        self.trouble.note(done);
        Some(Box::new(Several(tracers)))
    }

    /// True if a write failed: the run can end.
    pub fn are_broken(&self) -> bool {
        self.trouble.is_there()
    }

    /// Says what could not be written.
    pub fn end(&self) -> Result<(), Failure> {
        match self.trouble.take() {
            None => Ok(()),
            Some(error) => {
                let what = format!("cannot write the trace: {error}; the simulation was ended");
                Err(Failure::new(Kind::File, what).then("choose another file, or fewer events"))
            }
        }
    }
}

/// `trace-3.pcapng` of `trace.pcapng`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(ending) => format!("{stem}-{number}.{}", ending.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_a_file_of_its_own() {
        assert_eq!(numbered(Path::new("a/t.pcapng"), 3), Path::new("a/t-3.pcapng"));
        assert_eq!(numbered(Path::new("t"), 0), Path::new("t-0"));
    }
}
