//! `weir ls`

use crate::cli::LsArgs;
use crate::commands::get::{Search, each_page};
use crate::exit::{Failure, Kind};
use crate::output;
use crate::reach::Reach;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::Size;
use net::client::Connection;
use packet::Name;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use tree::{Directory, Entry, Kind as EntryKind};

/// The line of an entry.
#[derive(JsonSchema, Serialize)]
pub struct Line {
    /// The path of the entry. Bytes that are no UTF-8 are replaced.
    path: String,
    /// The kind of the entry.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["file", "directory", "link"]))]
    kind: &'static str,
    /// Bytes of the file, or of all files in the directory; null for a link.
    size: Option<u64>,
    /// Its permissions, as a number.
    mode: u16,
    /// The time of its modification, in nanoseconds since 1970.
    modified: u64,
    /// The name of the file's object, with its version, or null.
    name: Option<String>,
    /// The target of the link, or null.
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
    let search = Search { transfers, stop, patience, rate: None, quiet, room: None };
    let found = search.find(connection, &args.name)?;
    let mut list = List { args, base: &found.name, lines: BTreeMap::new(), text: String::new() };
    each_page(connection, &found, transfers, stop, args.recursive, &mut |page| {
        page.entries.iter().for_each(|entry| list.add(&page.directory, entry));
        Ok(())
    })?;
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
                self.text += &output::json_text(line);
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
