//! The files of `--pcap` and `--events`, written during the runs.

use crate::cli::sim::SimRunArgs;
use crate::exit::{Failure, Kind};
use crate::file::is_same;
use scenario::Batch;
use scenario::traces::{Capture, EventLog, FirstError, Places, Several, Tracer, check_events};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// The number of bytes of one write.
const BUFFER: usize = 1 << 18;

/// The traces of each run.
pub struct Traces {
    pcap: Option<PathBuf>,
    events: Option<PathBuf>,
    kinds: Vec<String>,
    /// By run.
    places: Vec<Places>,
    first_error: FirstError,
}

impl Traces {
    /// Checks the options of the command line.
    pub fn new(args: &SimRunArgs, batch: &Batch) -> Result<Traces, Failure> {
        if args.pcap.is_none() && args.events.is_none() {
            let without = match (args.trace_at.is_empty(), args.events_of.is_empty()) {
                (true, true) => None,
                (false, _) => Some("--trace-at needs --pcap or --events"),
                (true, false) => Some("--events-of needs --events"),
            };
            if let Some(why) = without {
                return Err(rejected(why));
            }
        }
        distinct(args, batch.runs.len())?;
        check_events(&args.events_of).map_err(|why| rejected(&format!("--events-of: {why}")))?;
        let mut places = Vec::new();
        if args.pcap.is_some() || args.events.is_some() {
            for run in &batch.runs {
                let of_run = Places::of(&run.scenario, &args.trace_at)
                    .map_err(|why| rejected(&format!("--trace-at: {why}")))?;
                places.push(of_run);
            }
        }
        Ok(Traces {
            pcap: args.pcap.clone(),
            events: args.events.clone(),
            kinds: args.events_of.clone(),
            places,
            first_error: FirstError::default(),
        })
    }

    /// Opens the files of a run.
    pub fn begin(&self, batch: &Batch, number: usize) -> Option<Box<dyn Tracer>> {
        let (run, places) = (batch.runs.get(number)?, self.places.get(number)?);
        let file_of = |path: &Path| of_run(path, number, batch.runs.len());
        let mut tracers = Vec::new();
        let done = self.open(run, &file_of, places, &mut tracers);
        self.first_error.note(done);
        Some(Box::new(Several(tracers)))
    }

    /// Adds a tracer for each file that can be opened, up to the first that cannot.
    fn open(
        &self,
        run: &scenario::Run,
        file_of: &dyn Fn(&Path) -> PathBuf,
        places: &Places,
        tracers: &mut Vec<Box<dyn Tracer>>,
    ) -> io::Result<()> {
        let scenario = &run.scenario;
        if let Some(path) = &self.pcap {
            let (out, first_error) = (create(&file_of(path))?, self.first_error.clone());
            tracers.push(Box::new(Capture::new(out, scenario, places, first_error)?));
        }
        if let Some(path) = &self.events {
            let (out, first_error) = (create(&file_of(path))?, self.first_error.clone());
            let (seed, places) = (run.seed, places.clone());
            let log = EventLog::new(out, scenario, seed, places, &self.kinds, first_error)?;
            tracers.push(Box::new(log));
        }
        Ok(())
    }

    /// True if a write failed: the run can end.
    pub fn have_failed(&self) -> bool {
        self.first_error.has_occurred()
    }

    /// Returns the first error of writing.
    pub fn end(&self) -> Result<(), Failure> {
        match self.first_error.take() {
            None => Ok(()),
            Some(error) => {
                let what = format!("cannot write the trace: {error}; the simulation was ended");
                Err(Failure::new(Kind::File, what).then("choose another file, or fewer events"))
            }
        }
    }
}

/// Rejects traces that would overwrite the scenario or each other.
fn distinct(args: &SimRunArgs, runs: usize) -> Result<(), Failure> {
    let scenario = &args.scenario.file;
    for (option, path) in [("--pcap", &args.pcap), ("--events", &args.events)] {
        let Some(path) = path else { continue };
        if (0..runs).any(|number| is_same(&of_run(path, number, runs), scenario)) {
            let what = format!("{} cannot be both scenario and trace", scenario.display());
            return Err(
                Failure::new(Kind::Usage, what).then(&format!("choose another file with {option}"))
            );
        }
    }
    match (&args.pcap, &args.events) {
        (Some(pcap), Some(events)) if pcap == events || is_same(pcap, events) => {
            let what = format!("{} cannot be both --pcap and --events", pcap.display());
            Err(Failure::new(Kind::Usage, what).then("choose another file for one of them"))
        }
        _ => Ok(()),
    }
}

fn rejected(why: &str) -> Failure {
    Failure::new(Kind::Usage, format!("{why}; nothing was run"))
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    let file = File::create(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(BufWriter::with_capacity(BUFFER, file))
}

/// The file of a run: of several runs, each has its own.
fn of_run(path: &Path, number: usize, runs: usize) -> PathBuf {
    if runs > 1 { numbered(path, number) } else { path.to_owned() }
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

    #[test]
    fn a_trace_never_overwrites_the_scenario_or_another_trace() {
        use clap::Parser;
        #[derive(Parser)]
        struct Run {
            #[command(flatten)]
            args: SimRunArgs,
        }
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name).display().to_string();
        for name in ["s.toml", "t-1.toml"] {
            std::fs::write(file(name), "").unwrap();
        }
        let is_taken = |scenario: &str, traces: &[(&str, &str)], runs| {
            let mut words = vec!["run".to_owned(), file(scenario)];
            for (option, name) in traces {
                words.extend([(*option).to_owned(), file(name)]);
            }
            distinct(&Run::try_parse_from(words).unwrap().args, runs).is_ok()
        };
        assert!(is_taken("s.toml", &[("--pcap", "a"), ("--events", "b")], 1));
        assert!(!is_taken("s.toml", &[("--events", "s.toml")], 1));
        assert!(!is_taken("s.toml", &[("--pcap", "./s.toml")], 1));
        assert!(!is_taken("s.toml", &[("--pcap", "a"), ("--events", "./a")], 1));
        // Traces of several runs have other names.
        assert!(is_taken("s.toml", &[("--events", "s.toml")], 2));
        assert!(!is_taken("t-1.toml", &[("--events", "t.toml")], 2));
        assert!(is_taken("t-1.toml", &[("--events", "t.toml")], 1));
    }
}
