//! `weir get NAME/ DIR`

use super::least::{VersionFloor, version_of};
use super::root::{Found, Search};
use crate::cli::GetArgs;
use crate::consumer::Verified;
use crate::exit::{Failure, Kind, Word};
use crate::folder::{Choices, Count, Filter, Receiver, Tally, Target, TreeFetch, Version, walk_of};
use crate::identity;
use crate::outage::{Outage, Outcome};
use crate::output::{self, Moving, TreeProgress};
use crate::reach::Reach;
use crate::signals::Stop;
use crate::transfer::Transfers;
use client::parts::Limit;
use control::{Duration, Rate, Size, Time};
use net::client::{ConnectError, Connection, Endpoint};
use packet::Name;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use transport::Counters;
use transport::fetch::batch::{Batch, BatchStatus, Failure as Lost};

/// The interval at which the bars and the signals are looked at.
const TICK: Duration = Duration::from_millis(100);
/// The same while the disk is slower than the network.
const HELD: Duration = Duration::from_millis(5);
/// The number of attempts with new versions of a tree that changes during a fetch.
const VERSIONS: usize = 5;

/// The result, for people and programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Summary {
    /// The name of the tree's object, with its version.
    name: String,
    /// The folder.
    folder: PathBuf,
    /// The congestion-control scheme.
    control: String,
    #[serde(flatten)]
    entries: Entries,
    /// Seconds from the first Interest to the last file.
    duration_s: f64,
    /// Content from the network over the duration, in Mbit/s.
    goodput_mbps: f64,
    /// The proof of the tree by its signature.
    verified: Verified,
    /// The name of the key that signed, or null.
    key: Option<String>,
    #[serde(flatten)]
    counters: Counters,
    /// The former name of `false_losses`, in this version only.
    false_timeouts: u64,
    /// Data received that differs from its publisher's.
    forged: u64,
}

/// Numbers of a tree and of its transfer.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Entries {
    /// Files of the tree, without those that were not chosen.
    files: u64,
    /// Directories in it.
    directories: u64,
    /// Symbolic links in it.
    links: u64,
    /// Bytes of the files.
    bytes: u64,
    /// Files that were new or different.
    fetched_files: u64,
    /// Bytes that came from the network.
    fetched_bytes: u64,
    /// Files that were there already: by size and time, or by their content.
    unchanged_files: u64,
    /// Entries that were removed because they are not in the tree.
    removed: u64,
}

/// A batch, the target of its content, and the limit of its rate.
struct Driven<'a> {
    batch: &'a mut Batch,
    receiver: &'a mut Receiver,
    limit: &'a mut Limit,
}

impl Endpoint for Driven<'_> {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.batch.receive(now, frame, self.receiver);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some(room) = self.limit.room(now) {
            self.batch.set_allowance(now, room);
        }
        let before = self.batch.requested();
        let sent = self.batch.poll_transmit(now, out);
        self.limit.passed(now, (self.batch.requested() - before) as usize);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        let own = self.batch.next_deadline(now);
        let waits = self.batch.status() == BatchStatus::Running;
        own.into_iter().chain(self.limit.next(now).filter(|_| waits)).min()
    }

    fn on_deadline(&mut self, now: Time) {
        self.batch.on_deadline(now);
    }

    fn set_ranges(&mut self, answered: bool) {
        self.batch.set_ranges(answered);
    }
}

/// A running command.
struct Getting<'a> {
    args: &'a GetArgs,
    folder: &'a Path,
    transfers: &'a Transfers,
    stop: &'a Stop,
    target: Arc<Target>,
    choices: Choices,
    /// Keeps the version that the folder has.
    version: Version,
    /// Older versions than that of the folder are not taken.
    least: VersionFloor,
}

/// The sums of all attempts.
#[derive(Default)]
struct Sums {
    fetched: Tally,
    counters: Counters,
    forged: u64,
}

/// Fetches a tree.
pub fn run(args: &GetArgs, folder: &Path, transfers: &Transfers) -> Result<(), Failure> {
    let filter = Filter::new(&args.filter)?;
    let choices = Choices { delete: args.delete, checksum: args.checksum, filter };
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut reach = Reach::consumer(&args.reach)?;
    let (patience, quiet) = (args.transfer.patience, args.output.quiet);
    let rate = args.limit_rate;
    let search = Search { transfers, stop: &stop, patience, rate, quiet, room: None };
    let home = identity::key_dir().ok().and_then(|keys| keys.parent().map(Path::to_owned));
    let fetched = fetch(args, folder, choices, &search, home.as_deref(), &mut reach.connection);
    fetched.map(drop).map_err(|failure| reach.explain(failure))
}

/// Fetches a tree into a folder, prints the result, and returns the root of the version that was
/// fetched. The version that the folder has is kept below `home`.
///
/// # Errors
/// The tree does not exist or is not verified, or an entry cannot be written.
pub fn fetch(
    args: &GetArgs,
    folder: &Path,
    choices: Choices,
    search: &Search<'_>,
    home: Option<&Path>,
    connection: &mut Connection,
) -> Result<Found, Failure> {
    let started = connection.now();
    let mut sums = Sums::default();
    let (mut before, mut missing): (Option<Name>, Option<String>) = (None, None);
    let mut found = search.find(connection, &args.name.name)?;
    // The folder is made once it will have content.
    walk_of(&found.name, &found.root)?;
    let target = Arc::new(Target::open(folder)?);
    let version = Version::of(home, &found.name, folder);
    // A version in the name is the user's choice, and an empty folder has no newer files.
    let is_empty = target.is_new || target.is_empty();
    let takes_older = args.older || version_of(&args.name.name).is_some();
    let least = VersionFloor::new(version.read().filter(|_| !is_empty), takes_older);
    let (transfers, stop) = (search.transfers, search.stop);
    let mut getting = Getting { args, folder, transfers, stop, target, choices, version, least };
    if getting.is_older(&found) {
        found = getting.look_again(connection, search, &|found| !getting.is_older(found))?;
    }
    for _ in 0..VERSIONS {
        getting.reject_older(&found)?;
        if before.as_ref() == Some(&found.object) {
            break;
        }
        let (fetch, lost) = getting.fetch(connection, &found, &mut sums)?;
        let Some((path, why)) = lost else {
            getting.keep_version(&found);
            getting.end(connection, &found, fetch, &sums, started)?;
            return Ok(found);
        };
        let path = getting.target.shown(&path);
        if let Some(failure) = wrong(&path, &why) {
            return Err(failure);
        }
        let next = "the tree has changed at its publisher; looking for the next version";
        if !args.output.quiet {
            output::note(&format!("cannot fetch {path}: {why}; {next}"));
        }
        fetch.receiver.finish()?;
        getting.least.raise(&found.object);
        missing = Some(path);
        before = Some(found.object);
        // The producer makes the next version when it notices the change.
        found = getting.look_again(connection, search, &|found| {
            version_of(&found.object) > before.as_ref().and_then(version_of)
        })?;
    }
    let name = &args.name.name;
    let mut message = format!("{name}/ keeps changing, or is incomplete at its publisher");
    if let Some(path) = missing {
        message += &format!(": {path} could not be fetched");
    }
    Err(Failure::new(Kind::Failed, message)
        .then("run the same command again to resume, or leave the file out with --exclude"))
}

/// An entry that could not be fetched, with the reason.
type LostEntry = Option<(Vec<u8>, Lost)>;

/// The lost entry to report. Another version helps only if all are gone.
fn decisive(lost: &[(Vec<u8>, Lost)]) -> LostEntry {
    lost.iter().find(|(_, why)| *why != Lost::Gone).or(lost.first()).cloned()
}

/// The failure if an entry is lost for another reason than a change at the publisher.
fn wrong(path: &str, why: &Lost) -> Option<Failure> {
    if *why == Lost::Gone {
        return None;
    }
    let failure = Failure::new(Kind::NotVerified, format!("cannot fetch {path}: {why}"));
    Some(failure.then("run the same command again, or leave it out with --exclude"))
}

impl Getting<'_> {
    /// True if the folder has a newer version.
    fn is_older(&self, found: &Found) -> bool {
        self.least.newer_than(&found.object).is_some()
    }

    /// Files of this version are in the folder.
    fn keep_version(&self, found: &Found) {
        let kept = version_of(&found.object).map_or(Ok(()), |version| self.version.write(version));
        if let Err(error) = kept
            && !self.args.output.quiet
        {
            output::note(&format!("the version that the folder has cannot be kept: {error}"));
        }
    }

    /// Rejects a version older than that of the folder.
    fn reject_older(&self, found: &Found) -> Result<(), Failure> {
        let Some(least) = self.least.newer_than(&found.object) else { return Ok(()) };
        let (object, folder) = (&found.object, self.folder.display());
        let message =
            format!("only {object} was found, and {folder} has the newer version {least}");
        Err(Failure::new(Kind::Failed, message)
            .then("run the same command again later, or accept the older version with --older"))
    }

    /// Looks for a wanted version for a short time; returns the last version found.
    fn look_again(
        &self,
        connection: &mut Connection,
        search: &Search<'_>,
        is_wanted: &dyn Fn(&Found) -> bool,
    ) -> Result<Found, Failure> {
        // Metadata of the version before may be in caches while it is fresh.
        const LONGEST: Duration = Duration::from_secs(10);
        let until = connection.now() + LONGEST;
        loop {
            let found = search.find(connection, &self.args.name.name)?;
            if is_wanted(&found) || connection.now() >= until {
                return Ok(found);
            }
            let pause = connection.now() + Duration::from_millis(500);
            while connection.now() < pause {
                if self.stop.requested() {
                    return Err(self.interrupted(0, 0));
                }
                connection.turn(&mut Nothing, pause)?;
            }
        }
    }

    /// Fetches as much of one version as possible.
    fn fetch(
        &self,
        connection: &mut Connection,
        found: &Found,
        sums: &mut Sums,
    ) -> Result<(TreeFetch, LostEntry), Failure> {
        let mut batch = self.transfers.batch()?;
        let (target, choices) = (self.target.clone(), self.choices.clone());
        let mut fetch = TreeFetch::new(&found.name, &found.root, target, choices)?;
        let hidden = self.args.output.quiet;
        let mut progress = TreeProgress::new(&format!("{}/", found.name), hidden);
        let moved = self.drive(connection, &mut batch, &mut fetch, found, &mut progress);
        progress.end();
        let tally = fetch.receiver.tally;
        sums.fetched.fetched_files += tally.fetched_files;
        sums.fetched.fetched_bytes += tally.fetched_bytes;
        sums.counters += &batch.stats().counters;
        sums.forged += batch.stats().forged;
        moved?;
        let lost = decisive(&fetch.receiver.lost);
        Ok((fetch, lost))
    }

    fn drive(
        &self,
        connection: &mut Connection,
        batch: &mut Batch,
        fetch: &mut TreeFetch,
        found: &Found,
        progress: &mut TreeProgress,
    ) -> Result<(), Failure> {
        let lines = progress.lines();
        let shown = Some(&lines).filter(|_| !self.args.output.quiet);
        let mut outage = Outage::new("weir get", self.stop, shown, connection.now());
        let mut limit = Limit::new(self.args.limit_rate);
        let (mut tick, mut is_kept) = (connection.now(), false);
        loop {
            fetch.advance(&found.name, batch)?;
            if fetch.receiver.tally.fetched_files > 0 && !is_kept {
                self.keep_version(found);
                is_kept = true;
            }
            if let Some(failure) = fetch.receiver.take_failure() {
                return Err(failure);
            }
            let is_done = fetch.is_listed() || !fetch.receiver.lost.is_empty();
            match batch.status() {
                BatchStatus::Idle if is_done => return Ok(()),
                BatchStatus::Stalled { waited, cause } => {
                    return Err(self.stalled(fetch, waited, &cause.to_string()));
                }
                _ => {}
            }
            let held = fetch.receiver.is_full();
            batch.hold(connection.now(), held);
            let until = if held { connection.now() + HELD } else { tick + TICK };
            let receiver = &mut fetch.receiver;
            let mut driven = Driven { batch, receiver, limit: &mut limit };
            if let Err(lost) = connection.turn(&mut driven, until) {
                self.reconnect(connection, batch, lost, &mut outage, fetch)?;
            }
            let now = connection.now();
            if now >= tick + TICK {
                tick = now;
                show(fetch, progress);
                if self.args.output.verbose {
                    progress.above(&state(now, batch, fetch));
                }
            }
            if self.stop.requested() {
                return Err(self.interrupted(fetch.done(), fetch.totals.bytes));
            }
        }
    }

    fn reconnect(
        &self,
        connection: &mut Connection,
        batch: &mut Batch,
        lost: ConnectError,
        outage: &mut Outage<'_>,
        fetch: &TreeFetch,
    ) -> Result<(), Failure> {
        let patience = self.args.transfer.patience;
        let until = Some(connection.now() + patience);
        match outage.end(connection, lost, until, &mut |_| Ok(()))? {
            Outcome::Back => {
                batch.reconnected(connection.now());
                Ok(())
            }
            Outcome::Stopped => Err(self.interrupted(fetch.done(), fetch.totals.bytes)),
            Outcome::TooLate => {
                let address = connection.address();
                let message = format!(
                    "the forwarder at {address} went away and was not back within {patience}"
                );
                Err(Failure::new(Kind::NoForwarder, message)
                    .then("start it, and run the same command again to resume"))
            }
        }
    }

    fn stalled(&self, fetch: &TreeFetch, waited: Duration, cause: &str) -> Failure {
        let (done, total) = (Size(fetch.done()), Size(fetch.totals.bytes));
        let name = &self.args.name.name;
        let message = format!(
            "no data of {name}/ arrived for {waited} ({cause}); {done} of {total} are there"
        );
        Failure::new(Word::Stalled, message).then("run the same command again to resume")
    }

    fn interrupted(&self, done: u64, total: u64) -> Failure {
        let (done, total) = (Size(done), Size(total));
        let message =
            format!("interrupted with {done} of {total} of {}/ there", self.args.name.name);
        Failure::new(Kind::Interrupted, message).then("run the same command again to resume")
    }

    /// Everything has arrived: finishes the folder and prints the result.
    fn end(
        &self,
        connection: &mut Connection,
        found: &Found,
        fetch: TreeFetch,
        sums: &Sums,
        started: Time,
    ) -> Result<(), Failure> {
        let (count, outward) = (fetch.count, fetch.outward.clone());
        let found_files = fetch.receiver.tally.unchanged_files;
        let (removed, foreign) = fetch.finish()?;
        if let Some(path) = foreign.first().filter(|_| !self.args.output.quiet) {
            let (count, path) = (foreign.len(), self.target.shown(path));
            let why = "only their owners may set permissions and times";
            output::note(&format!("{count} entries keep their attributes, such as {path}: {why}"));
        }
        let took = connection.now().since(started);
        let Count { files, bytes, directories, links, unchanged_files, .. } = count;
        let Tally { fetched_files, fetched_bytes, .. } = sums.fetched;
        let summary = Summary {
            name: found.object.to_string(),
            folder: self.folder.to_owned(),
            control: self.transfers.control(),
            entries: Entries {
                files,
                directories,
                links,
                bytes,
                fetched_files,
                fetched_bytes,
                unchanged_files: unchanged_files + found_files,
                removed,
            },
            duration_s: took.as_secs_f64(),
            goodput_mbps: Rate::of(Size(fetched_bytes), took).0 as f64 / 1e6,
            verified: found.summary.verified,
            key: found.summary.key.clone(),
            counters: sums.counters,
            false_timeouts: sums.counters.false_losses,
            forged: sums.forged,
        };
        if self.args.output.json {
            output::json(&summary)?;
        } else if !self.args.output.quiet {
            output::note(&summary.line(&found.summary.proof()));
        }
        match outward.first() {
            None => Ok(()),
            Some(path) => {
                let (count, path) = (outward.len(), String::from_utf8_lossy(path));
                let message = format!(
                    "{count} symbolic links may lead outside the folder and were not made, such \
                     as {path}"
                );
                Err(Failure::new(Kind::Failed, message).then("leave them out with --exclude"))
            }
        }
    }
}

impl Summary {
    /// One line for people.
    fn line(&self, proof: &str) -> String {
        let took = Duration::from_secs_f64(self.duration_s);
        let Entries { files, bytes, fetched_files, fetched_bytes, removed, .. } = self.entries;
        let removed = match removed {
            0 => String::new(),
            n => format!(", {n} removed"),
        };
        format!(
            "{}: {}, {}; fetched {}, {}{removed} in {took}; {proof}",
            self.name,
            output::counted(files, "file"),
            Size(bytes),
            output::counted(fetched_files, "file"),
            Size(fetched_bytes),
        )
    }
}

fn show(fetch: &TreeFetch, progress: &mut TreeProgress) {
    progress.at(fetch.totals.bytes, fetch.done(), fetch.count.files);
    let large: Vec<_> = fetch
        .receiver
        .large()
        .map(|(number, job, there)| {
            (number, String::from_utf8_lossy(&job.path()).into_owned(), job.size, there)
        })
        .collect();
    let moving = large.iter().map(|(number, path, size, there)| Moving {
        number: *number,
        path,
        size: *size,
        there: *there,
    });
    progress.moving(moving);
}

/// One line for `--verbose`.
fn state(now: Time, batch: &Batch, fetch: &TreeFetch) -> String {
    let srtt = batch.rtt().smoothed().unwrap_or_default();
    let mut line = format!(
        "{:.6} state bytes={} files={} objects={} in_flight={} srtt={srtt} sent_again={}",
        now.as_secs_f64(),
        fetch.done(),
        fetch.count.files,
        batch.objects(),
        batch.in_flight(),
        batch.stats().counters.retransmissions,
    );
    batch.gauges(&mut |lane, name, value| line += &format!(" {name}[{lane}]={value:.1}"));
    line
}

/// An endpoint that sends nothing.
struct Nothing;

impl Endpoint for Nothing {
    fn receive(&mut self, _now: Time, _frame: &[u8]) {}

    fn poll_transmit(&mut self, _now: Time, _out: &mut Vec<u8>) -> bool {
        false
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_entry_that_is_gone_is_a_reason_for_another_version() {
        let gone = (b"a".to_vec(), Lost::Gone);
        let forged = (b"b".to_vec(), Lost::Forged);
        assert_eq!(decisive(&[]), None);
        assert_eq!(decisive(std::slice::from_ref(&gone)), Some(gone.clone()));
        assert_eq!(decisive(&[gone, forged.clone()]), Some(forged));
        assert!(wrong("a", &Lost::Gone).is_none());
        for why in [Lost::Forged, Lost::Inconsistent] {
            let failure = wrong("b", &why).unwrap();
            assert_eq!(failure.kind(), Kind::NotVerified);
            assert!(failure.to_string().contains(&why.to_string()), "{failure}");
        }
    }
}
