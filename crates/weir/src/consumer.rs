//! Fetching over a connection: the loop behind `weir get` and each answer of `weir gateway`.

use crate::exit::{Failure, Kind, Word};
use crate::file::{FileSink, SinkError, StreamSink, open_stream};
use crate::outage::{Notes, Outcome};
use crate::output::Progress;
use crate::record::Record;
use crate::signals::Stop;
use crate::slow::Slowness;
use client::parts::{Host, Limit, behind_links, is_open_file};
use control::{Duration, Rate, Size, Time};
use net::client::{ConnectError, Connection};
use schemars::JsonSchema;
use security::Proof;
use serde::Serialize;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use transport::Counters;
use transport::fetch::{Fetch, FetchError, ObjectInfo, Resume, Sink, Status};

/// The interval at which the progress bar and the signals are looked at.
const TICK: Duration = Duration::from_millis(100);

/// A sink for the loop: it may fail, and be slower than the network.
pub trait Keep: Sink {
    /// The number of bytes that it takes now; `None` without a limit.
    fn room(&self) -> Option<Size> {
        None
    }

    /// True if it needs no more, though there may be more.
    fn is_satisfied(&self) -> bool {
        false
    }

    /// The failure, once.
    fn take_failure(&mut self) -> Option<Failure>;

    /// No more content comes: all received content goes to its place.
    fn flush(&mut self);
}

/// Where the bytes go.
pub enum Target {
    /// A file.
    File(Box<FileSink>),
    /// Standard output, a device, a named pipe.
    Stream(StreamSink),
}

impl Target {
    /// `-` is standard output, anything else a file. An existing path that is neither file nor
    /// folder, such as `/dev/null`, is written to directly: a file in its place would take it away
    /// from other programs. A symbolic link stays one, and its target is written.
    ///
    /// # Errors
    ///
    /// It is a folder, or cannot be opened.
    pub fn new(path: &Path, stop: &Stop) -> Result<Target, Failure> {
        if path.as_os_str() == "-" {
            // As a file it has no lines to be gathered, and no lock.
            let output = io::stdout().as_fd().try_clone_to_owned().map(File::from);
            return Target::stream(output, "standard output", stop);
        }
        let shown = path.display().to_string();
        if shown.ends_with('/') && !path.exists() {
            let message = format!("cannot write {shown}: there is no such folder");
            return Err(Failure::new(Kind::File, message).then("name a file with -o FILE"));
        }
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                let message = format!("cannot write {shown}: it is a folder");
                Err(Failure::new(Kind::File, message).then("name a file in it with -o FILE"))
            }
            Ok(meta) if !meta.is_file() || is_open_file(path) => {
                Target::stream(open_stream(path, stop), &shown, stop)
            }
            _ => match behind_links(path) {
                Ok(path) => Ok(Target::File(Box::new(FileSink::new(&path)))),
                Err(error) => Err(SinkError { path: shown, error, resumes: false }.into()),
            },
        }
    }

    fn stream(stream: io::Result<File>, shown: &str, stop: &Stop) -> Result<Target, Failure> {
        let sink = stream.and_then(|stream| StreamSink::new(stream, shown, stop));
        sink.map(Target::Stream).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => {
                let message = format!("interrupted before {shown} had a reader");
                Failure::new(Kind::Interrupted, message)
                    .then("run the same command again once something reads it")
            }
            _ => SinkError { path: shown.to_owned(), error, resumes: false }.into(),
        })
    }

    /// It needs segments in order.
    pub fn is_stream(&self) -> bool {
        matches!(self, Target::Stream(_))
    }

    /// The descriptor that becomes readable when the target has room again.
    ///
    /// # Errors
    ///
    /// The system has no descriptor left.
    pub fn bell(&self) -> io::Result<Option<OwnedFd>> {
        match self {
            Target::File(_) => Ok(None),
            Target::Stream(sink) => sink.bell().map(Some),
        }
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.flush();
        if let Some(failure) = self.take_failure() {
            return Err(failure);
        }
        match self {
            Target::File(sink) => Ok(sink.finish()?),
            Target::Stream(sink) if sink.is_drained() => Ok(()),
            Target::Stream(_) => {
                let message = "interrupted before its reader had taken all";
                Err(Failure::new(Kind::Interrupted, message)
                    .then("run the same command again to start over"))
            }
        }
    }
}

impl Keep for Target {
    fn room(&self) -> Option<Size> {
        match self {
            Target::File(_) => None,
            Target::Stream(sink) => Some(Size(sink.room() as u64)),
        }
    }

    fn take_failure(&mut self) -> Option<Failure> {
        let failure = match self {
            Target::File(sink) => sink.take_failure(),
            Target::Stream(sink) => sink.take_failure(),
        };
        failure.map(Failure::from)
    }

    fn flush(&mut self) {
        match self {
            Target::File(sink) => sink.flush(),
            Target::Stream(sink) => sink.drain(),
        }
    }
}

impl Sink for Target {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        match self {
            Target::File(sink) => sink.begin(info),
            Target::Stream(sink) => sink.begin(info),
        }
    }

    fn bounded(&mut self, at_most: u64, is_signed: bool) {
        if let Target::File(sink) = self {
            sink.bounded(at_most, is_signed);
        }
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        match self {
            Target::File(sink) => sink.write(segment, offset, content),
            Target::Stream(sink) => sink.write(segment, offset, content),
        }
    }
}

/// The proof by a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verified {
    /// Signed by a trusted or own key.
    Key,
    /// Undamaged, of unknown origin.
    Digest,
    /// Signed by an unknown key.
    Unchecked,
}

/// The result of a fetch, for people and for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Summary {
    /// The object's name, with its version.
    pub name: String,
    /// The congestion-control scheme.
    pub control: String,
    /// Bytes of the object.
    pub bytes: u64,
    /// Bytes that an earlier, interrupted transfer had left.
    pub resumed_bytes: u64,
    /// Segments verified in this transfer.
    pub segments: u64,
    /// Seconds from the first Interest to the last byte in its place.
    pub duration_s: f64,
    /// Content of this transfer over its duration, in Mbit/s.
    pub goodput_mbps: f64,
    /// The proof by the signature.
    pub verified: Verified,
    /// The name of the key that signed, or null.
    pub key: Option<String>,
    /// Counters of the transfer.
    #[serde(flatten)]
    pub counters: Counters,
    /// The former name of `false_losses`, in this version only.
    pub false_timeouts: u64,
    /// Data received after the segment had already arrived.
    pub duplicates: u64,
    /// Data received that differs from its publisher's.
    pub forged: u64,
    /// The smallest round-trip time in ms, or null.
    pub rtt_min_ms: Option<f64>,
    /// The mean round-trip time in ms, or null.
    pub rtt_mean_ms: Option<f64>,
}

/// The observer of a running fetch.
pub struct Watch<'a> {
    /// Shows the progress.
    pub progress: &'a Progress,
    /// The signal to stop.
    pub stop: &'a Stop,
    /// Every tick gets a line.
    pub verbose: bool,
    /// A failed fetch can be resumed.
    pub resumes: bool,
    /// The reaction to a lost forwarder; `None`: the fetch ends with it.
    pub absence: Option<Absence>,
    /// The maximum rate; `None`: as fast as the network allows.
    pub rate: Option<Rate>,
}

/// The behaviour of a fetch without a forwarder.
#[derive(Clone, Copy, Debug)]
pub struct Absence {
    /// The limit of the wait for a forwarder, counted from the last verified content.
    pub patience: Duration,
    /// True if it prints nothing about it.
    pub quiet: bool,
}

/// Runs a fetch to its end, and returns the time from the first Interest to the last byte. The
/// record has the progress even if the fetch fails.
pub fn run(
    connection: &mut Connection,
    fetch: &mut Fetch,
    mut target: Target,
    watch: &Watch<'_>,
    mut record: Option<Record>,
) -> Result<Duration, Failure> {
    let result = drive(connection, fetch, &mut target, watch, &mut record);
    let recorded = record.map_or(Ok(()), |record| record.end(fetch));
    let took = result?;
    target.finish()?;
    recorded?;
    Ok(took)
}

/// Runs a fetch until it is over or its sink has enough; see [`run`].
pub fn drive(
    connection: &mut Connection,
    fetch: &mut Fetch,
    target: &mut dyn Keep,
    watch: &Watch<'_>,
    record: &mut Option<Record>,
) -> Result<Duration, Failure> {
    let now = connection.now();
    let absence = watch.absence.map(|absence| client::parts::Absence::new(absence.patience, now));
    let (limit, slowness) = (Limit::new(watch.rate), Slowness::new(now));
    let mut driver =
        Driver { target, watch, record, absence, limit, slowness, shown: false, tick: now };
    let took = client::parts::drive(connection, fetch, &mut driver)?;
    if let Status::Failed(error) = fetch.status() {
        let failure = match error {
            FetchError::Stalled { .. } => {
                Failure::new(Word::Stalled, error).then(again(watch.resumes))
            }
            _ => Failure::from(error),
        };
        target.flush();
        return Err(failure);
    }
    // Making it durable takes the disk's time, not the network's.
    target.flush();
    Ok(took)
}

/// A fetch's target and its observer.
struct Driver<'a, 'w> {
    target: &'a mut dyn Keep,
    watch: &'a Watch<'w>,
    record: &'a mut Option<Record>,
    absence: Option<client::parts::Absence>,
    limit: Limit,
    slowness: Slowness,
    /// The progress bar has begun.
    shown: bool,
    /// When signals and progress were looked at.
    tick: Time,
}

impl Host for Driver<'_, '_> {
    type Failure = Failure;

    fn sink(&mut self) -> &mut dyn Sink {
        self.target
    }

    fn room(&self) -> Option<Size> {
        self.target.room()
    }

    fn is_satisfied(&self) -> bool {
        self.target.is_satisfied()
    }

    fn limit(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn received(&mut self, fetch: &Fetch) {
        if let Some(record) = self.record {
            record.received(fetch);
        }
    }

    fn next(&self) -> Time {
        self.record.as_ref().map_or(Time(u64::MAX), Record::next).min(self.tick + TICK)
    }

    fn look(&mut self, now: Time, fetch: &Fetch) -> Result<(), Failure> {
        if let Some(record) = self.record {
            record.look(now, fetch);
        }
        self.target.take_failure().or_else(|| is_folder(fetch)).map_or(Ok(()), Err)
    }

    fn went_on(&mut self, now: Time, fetch: &Fetch) -> Result<(), Failure> {
        let watch = self.watch;
        if now >= self.tick + TICK {
            self.tick = now;
            show(fetch, watch.progress, &mut self.shown);
            if let Some(line) = self.slowness.look(now, fetch.stats()) {
                watch.progress.warn(&line);
            }
            if watch.verbose {
                watch.progress.above(&state(now, fetch));
            }
        }
        if watch.stop.requested() {
            self.target.flush();
            return Err(interrupted(fetch, watch.resumes));
        }
        Ok(())
    }

    fn lost(
        &mut self,
        connection: &mut Connection,
        fetch: &mut Fetch,
        error: ConnectError,
    ) -> Result<(), Failure> {
        let ended = self.wait(connection, fetch, error);
        if ended.is_err() {
            self.target.flush();
        }
        ended
    }
}

impl Driver<'_, '_> {
    /// Waits for the forwarder, if it may go away.
    fn wait(
        &mut self,
        connection: &mut Connection,
        fetch: &mut Fetch,
        error: ConnectError,
    ) -> Result<(), Failure> {
        let watch = self.watch;
        let Some((absence, of)) = self.absence.as_mut().zip(watch.absence) else {
            return Err(error.into());
        };
        let progress = Some(watch.progress).filter(|_| !of.quiet);
        let notes = Notes { command: "weir get", stop: watch.stop, progress };
        match absence.end(connection, fetch, error, &notes)? {
            Outcome::Back => Ok(()),
            Outcome::Stopped => Err(interrupted(fetch, watch.resumes)),
            Outcome::TooLate => {
                let (address, patience) = (connection.address(), of.patience);
                let message = format!(
                    "the forwarder at {address} went away and was not back within {patience}"
                );
                let next = format!("start it, and {}", again(watch.resumes));
                Err(Failure::new(Kind::NoForwarder, message).then(&next))
            }
        }
    }
}

/// The failure if the object of a name is the list of a folder.
pub fn is_folder(fetch: &Fetch) -> Option<Failure> {
    if !client::parts::is_folder(fetch) {
        return None;
    }
    let name = fetch.name();
    let next = format!("`weir get {name}/` fetches it, `weir ls {name}` lists it");
    Some(Failure::new(Kind::Usage, format!("{name} is a folder, not a file")).then(&next))
}

fn interrupted(fetch: &Fetch, resumes: bool) -> Failure {
    let (there, fetched) = fetch.bytes();
    let (message, next) = match fetch.object() {
        Some(object) => {
            let kept = Size(there + fetched);
            (format!("interrupted with {kept} of {} there", object.name), again(resumes))
        }
        None => {
            let message = format!("interrupted before anything of {} was found", fetch.name());
            (message, "run the same command again")
        }
    };
    Failure::new(Kind::Interrupted, message).then(next)
}

/// The next step after a transfer that did not end. Output to a pipe cannot be resumed.
fn again(resumes: bool) -> &'static str {
    match resumes {
        true => "run the same command again to resume",
        false => "run the same command again to start over",
    }
}

/// One line for `--verbose`: the progress of the transfer, and the state of its controller.
fn state(now: Time, fetch: &Fetch) -> String {
    let (there, fetched) = fetch.bytes();
    let srtt = fetch.rtt().smoothed().unwrap_or_default();
    let mut line = format!(
        "{:.6} state bytes={} in_flight={} srtt={srtt} sent_again={}",
        now.as_secs_f64(),
        there + fetched,
        fetch.in_flight(),
        fetch.stats().counters.retransmissions,
    );
    fetch.gauges(&mut |lane, name, value| line += &format!(" {name}[{lane}]={value:.1}"));
    line
}

fn show(fetch: &Fetch, progress: &Progress, shown: &mut bool) {
    let Some(object) = fetch.object() else { return };
    let (there, fetched) = fetch.bytes();
    if !std::mem::replace(shown, true) {
        progress.begin(object.size, there + fetched);
    }
    progress.at(there + fetched);
}

impl Summary {
    /// The summary of a fetch that took `took`.
    pub fn of(fetch: &Fetch, control: &str, took: Duration) -> Summary {
        let stats = fetch.stats();
        let (there, fetched) = fetch.bytes();
        let (verified, key) = match fetch.proof() {
            Some(Proof::Key(name)) => (Verified::Key, Some(name.to_string())),
            Some(Proof::Digest) => (Verified::Digest, None),
            Some(Proof::Unchecked) | None => (Verified::Unchecked, None),
        };
        Summary {
            name: fetch.object().map_or_else(String::new, |object| object.name.to_string()),
            control: control.to_owned(),
            bytes: there + fetched,
            resumed_bytes: there,
            segments: stats.verified,
            duration_s: took.as_secs_f64(),
            goodput_mbps: Rate::of(Size(fetched), took).0 as f64 / 1e6,
            verified,
            key,
            counters: stats.counters,
            false_timeouts: stats.counters.false_losses,
            duplicates: stats.duplicates,
            forged: stats.forged,
            rtt_min_ms: stats.rtt.min().map(|rtt| rtt.as_secs_f64() * 1e3),
            rtt_mean_ms: stats.rtt.mean().map(|rtt| rtt.as_secs_f64() * 1e3),
        }
    }

    /// The proof by the signature, for people.
    pub fn proof(&self) -> String {
        match (self.verified, &self.key) {
            (Verified::Key, Some(key)) => format!("signed by {key}"),
            (Verified::Digest, _) => "intact, unsigned (digest only)".to_owned(),
            _ => "its signature could not be checked: no --trust, and not your own key".to_owned(),
        }
    }

    /// One line for people.
    pub fn line(&self) -> String {
        let proof = self.proof();
        let resumed = match self.resumed_bytes {
            0 => String::new(),
            n => format!(" ({} were there already)", Size(n)),
        };
        format!(
            "{}: {}{resumed} in {}, {}; {proof}",
            self.name,
            Size(self.bytes),
            Duration::from_secs_f64(self.duration_s),
            Rate((self.goodput_mbps * 1e6) as u64),
        )
    }
}
