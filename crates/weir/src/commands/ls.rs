//! `weir ls`

use crate::cli::LsArgs;
use crate::commands::get::Search;
use crate::exit::{Failure, Kind};
use crate::folder::{malformed, page_object, walk_of};
use crate::output;
use crate::reach::Reach;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::{Duration, Size, Time};
use net::client::{Connection, Endpoint};
use packet::Name;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use transport::fetch::batch::{Batch, BatchSink, BatchStatus, Failure as Lost};
use tree::{Directory, Entry, Kind as EntryKind, Request};

/// The number of pages in flight.
const PAGES: usize = 32;
const TICK: Duration = Duration::from_millis(100);

/// An entry, for programs.
#[derive(Serialize)]
struct Line {
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: Option<u64>,
    mode: u16,
    modified: u64,
    name: Option<String>,
    target: Option<String>,
}

/// Lists a tree.
pub fn run(args: &LsArgs) -> Result<(), Failure> {
    let transfers = Transfers::new(&args.transfer)?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut reach = Reach::consumer(&args.reach)?;
    let listed = list(args, &transfers, &stop, &mut reach.connection);
    listed.map_err(|failure| reach.explain(failure))
}

fn list(
    args: &LsArgs,
    transfers: &Transfers,
    stop: &Stop,
    connection: &mut Connection,
) -> Result<(), Failure> {
    let (patience, quiet) = (args.transfer.patience, args.quiet);
    let search = Search { transfers, stop, patience, rate: None, quiet };
    let found = search.find(connection, &args.name)?;
    let base = found.name.as_ref().prefix(found.root.base.into()).to_name();
    let mut walk = walk_of(&found.name, &found.root)?;
    let (mut batch, mut pages) = (transfers.batch()?, Pages::default());
    let mut list = List { args, base: &found.name, lines: BTreeMap::new(), text: String::new() };
    loop {
        for (request, content) in std::mem::take(&mut pages.there) {
            let mut enter = |_: &Directory, _: &Entry| args.recursive;
            let accepted = walk.accept(request, &content, &mut enter);
            let found = accepted.map_err(|error| malformed(&found.name, &error))?;
            for entry in &found.entries {
                list.add(&found.directory, entry);
            }
        }
        while pages.awaited.len() < PAGES
            && let Some(request) = walk.next_page()
        {
            let number = batch.add(page_object(&base, &request.page), true, &mut pages);
            pages.awaited.entry(number).or_default().requests.push(request);
        }
        if let Some(why) = pages.lost.take() {
            let message = format!("a page of {}/ cannot be fetched: {why}", found.name);
            return Err(Failure::new(Kind::Failed, message).then("run the same command again"));
        }
        match batch.status() {
            BatchStatus::Idle if pages.there.is_empty() => break,
            BatchStatus::Idle => continue,
            BatchStatus::Stalled { waited, cause } => {
                let name = &found.name;
                let message = format!("nothing of {name}/ came for {waited} ({cause})");
                return Err(Failure::new(Kind::Failed, message).then("run the same command again"));
            }
            BatchStatus::Running => {}
        }
        batch.set_last(walk.is_done());
        let until = connection.now() + TICK;
        connection.turn(&mut Lister { batch: &mut batch, pages: &mut pages }, until)?;
        if stop.requested() {
            return Err(
                Failure::new(Kind::Interrupted, "interrupted").then("run the same command again")
            );
        }
    }
    list.print()
}

/// The entries, by path.
struct List<'a> {
    args: &'a LsArgs,
    base: &'a Name,
    lines: BTreeMap<Vec<u8>, Line>,
    text: String,
}

impl List<'_> {
    fn add(&mut self, directory: &Directory, entry: &Entry) {
        let path = directory.join(&entry.name);
        let shown = String::from_utf8_lossy(&path).into_owned();
        let (kind, size, target) = match &entry.kind {
            EntryKind::File(file) => ("file", Some(file.size), None),
            EntryKind::Directory(page) => ("directory", Some(page.totals.bytes), None),
            EntryKind::Link(target) => {
                ("link", None, Some(String::from_utf8_lossy(target).into_owned()))
            }
        };
        let name = match &entry.kind {
            EntryKind::File(file) => Some(self.object(&path, file.version)),
            _ => None,
        };
        let (mode, modified) = (entry.mode, entry.modified);
        let line = Line { path: shown, kind, size, mode, modified, name, target };
        self.lines.insert(path, line);
    }

    fn object(&self, path: &[u8], version: u64) -> String {
        tree::name_of(self.base, path).with(&packet::Component::version(version)).to_string()
    }

    fn print(mut self) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.lines);
        for line in lines.values() {
            if self.args.json {
                self.text += &serde_json::to_string(line).unwrap_or_default();
                self.text.push('\n');
                continue;
            }
            // Names of a publisher may contain control characters.
            let mut path = net::text::visible(&line.path);
            if line.kind == "directory" {
                path.push('/');
            }
            if self.args.long {
                let size = line.size.map_or_else(String::new, |size| Size(size).to_string());
                let (mode, time) =
                    (permissions(line), security::human_instant(line.modified / 1_000_000_000));
                // Writing to a string cannot fail.
                let _ = write!(self.text, "{mode} {size:>9} {time} ");
            }
            self.text += &path;
            if let Some(target) = line.target.as_ref().filter(|_| self.args.long) {
                let _ = write!(self.text, " -> {}", net::text::visible(target));
            }
            self.text.push('\n');
        }
        match self.text.strip_suffix('\n') {
            Some(text) => output::result(text),
            None => Ok(()),
        }
    }
}

/// The permissions as `ls -l` shows them.
fn permissions(line: &Line) -> String {
    let first = match line.kind {
        "directory" => 'd',
        "link" => 'l',
        _ => '-',
    };
    let bits = (0..9).rev().map(|bit| match (line.mode >> bit & 1, bit % 3) {
        (0, _) => '-',
        (_, 2) => 'r',
        (_, 1) => 'w',
        _ => 'x',
    });
    std::iter::once(first).chain(bits).collect()
}

/// Pages that arrive.
#[derive(Default)]
struct Pages {
    awaited: BTreeMap<u64, Awaited>,
    there: Vec<(Request, Vec<u8>)>,
    lost: Option<Lost>,
}

#[derive(Default)]
struct Awaited {
    requests: Vec<Request>,
    content: Vec<u8>,
}

impl BatchSink for Pages {
    fn write(&mut self, object: u64, _offset: u64, content: &[u8]) {
        if let Some(page) = self.awaited.get_mut(&object) {
            page.content.extend_from_slice(content);
        }
    }

    fn complete(&mut self, object: u64) {
        if let Some(Awaited { requests, content }) = self.awaited.remove(&object) {
            self.there.extend(requests.into_iter().map(|request| (request, content.clone())));
        }
    }

    fn failed(&mut self, _object: u64, why: Lost) {
        self.lost = Some(why);
    }
}

struct Lister<'a> {
    batch: &'a mut Batch,
    pages: &'a mut Pages,
}

impl Endpoint for Lister<'_> {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.batch.receive(now, frame, self.pages);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.batch.poll_transmit(now, out)
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.batch.next_deadline(now)
    }

    fn on_deadline(&mut self, now: Time) {
        self.batch.on_deadline(now);
    }

    fn set_ranges(&mut self, answered: bool) {
        self.batch.set_ranges(answered);
    }
}
