//! `weir repo run`

use super::named::{Broken, ROWS, each};
use super::shelf::{Shown, StoreShelf};
use super::store::open_or_create;
use crate::cli::repo::RepoRunArgs;
use crate::exit::{Failure, Kind};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress};
use crate::producer::{self, Content, Look, ServeSettings};
use crate::reach::Reach;
use crate::signals::Stop;
use control::Size;
use net::client::{CommandError, Connection};
use packet::Name;
use repo::{Top, Usage, View};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::publish::{Publish, PublishStats};
use weir::http::ask::is_under;

/// A line of `weir repo run`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// Serving begins.
    Begin(Beginning),
    /// Serving has ended.
    End(Summary),
}

/// The line when serving begins.
#[derive(JsonSchema, Serialize)]
pub struct Beginning {
    /// The prefixes that are served.
    serving: Vec<String>,
    /// Objects and trees in the store.
    objects: u64,
    /// Bytes of their content.
    bytes: u64,
}

/// The result of serving, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Summary {
    /// Interests answered with Data.
    answered: u64,
    /// Bytes of content sent.
    content_bytes: u64,
    /// Requests for packets that do not exist.
    refused: u64,
    /// Interests for names that are not in the store.
    unknown: u64,
    /// Requests dropped because too many answers were waiting.
    dropped: u64,
    /// Frames that are not Interests.
    malformed: u64,
    /// Answers that could not be made, because of damage or a disk.
    failed: u64,
}

/// Serves a store.
pub fn run(args: &RepoRunArgs) -> Result<(), Failure> {
    let (store, is_new) = open_or_create(&args.store)?;
    if is_new && !args.output.quiet {
        output::note(&format!("made an empty store in {}", store.title()));
    }
    let store = Arc::new(store);
    let _serving = store.serve()?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let (mut reach, note) = Reach::producer(&args.reach, args.listen)?;
    if let Some(note) = note.filter(|_| !args.output.quiet) {
        output::note(&note);
    }
    let shown = Arc::new(Shown::new(store.clone())?);
    let _following = shown.follow();
    let mut publish = Publish::new();
    publish.set_shelf(Box::new(StoreShelf::new(shown.clone())));
    let progress = Progress::new("sent", args.output.quiet);
    let mut content = Served::new(shown, Claims::Instead(args.prefix.clone()), None);
    let quiet = args.output.quiet;
    let look = Look { progress: &progress, stop: &stop, verbose: args.output.verbose };
    let settings = ServeSettings { linger: None, rate: args.limit_rate };
    let running = Running { command: "weir repo run", look, settings, quiet };
    let ended = serve(&mut reach.connection, &mut publish, &mut content, &running, &|prefixes| {
        begin(prefixes, store.usage()?, args)
    });
    progress.end();
    ended?;
    if args.output.json {
        output::json(&Printed::End(Summary::of(publish.stats())))?;
    }
    Ok(())
}

/// How a store is served.
pub struct Running<'a> {
    /// The command, for messages.
    pub command: &'static str,
    /// The observers.
    pub look: Look<'a>,
    /// The end and the rate of serving.
    pub settings: ServeSettings,
    /// No lines about the forwarder.
    pub quiet: bool,
}

/// Registers the prefixes, calls `begin`, and serves until the end.
pub fn serve(
    connection: &mut Connection,
    publish: &mut Publish,
    content: &mut Served,
    running: &Running<'_>,
    begin: &dyn Fn(&Prefixes) -> Result<(), Failure>,
) -> Result<(), Failure> {
    content.update(publish)?;
    content.prefixes.take_new();
    let Running { command, look, settings, quiet } = running;
    let prefixes = content.prefixes.clone();
    let mut greet = |connection: &mut Connection| {
        prefixes.register_all().iter().try_for_each(|prefix| connection.register(prefix))
    };
    let shown = Some(look.progress).filter(|_| !quiet);
    let mut outage = Outage::new(command, look.stop, shown, connection.now());
    match greet(connection) {
        Err(CommandError::Connection(lost)) => {
            if outage.end(connection, lost, None, &mut greet)? != Outcome::Back {
                let message = "interrupted while there was no forwarder";
                return Err(Failure::new(Kind::Interrupted, message));
            }
        }
        other => other?,
    }
    begin(&prefixes)?;
    producer::serve(connection, publish, content, settings, look, &mut outage, &mut greet)?;
    // The forwarder would notice the end by itself; this saves consumers a time-out.
    for prefix in prefixes.all() {
        connection.unregister(&prefix).ok();
    }
    Ok(())
}

fn begin(prefixes: &Prefixes, usage: Usage, args: &RepoRunArgs) -> Result<(), Failure> {
    let serving: Vec<String> = prefixes.all().iter().map(ToString::to_string).collect();
    let (objects, bytes) = (usage.tops, usage.bytes);
    if args.output.json {
        return output::json(&Printed::Begin(Beginning { serving, objects, bytes }));
    }
    if !args.output.quiet {
        let below = match serving.len() {
            0 => "; nothing is registered yet".to_owned(),
            1..=3 => format!(" below {}", serving.join(", ")),
            more => format!(" below {} and {} more", serving[0], more - 1),
        };
        let (count, size) = (output::counted(objects, "object"), Size(bytes));
        output::note(&format!("serving {count} ({size}){below}; Ctrl-C ends it"));
    }
    Ok(())
}

/// The prefixes to register, for each connection to a forwarder again.
#[derive(Clone, Default)]
pub struct Prefixes(Arc<Mutex<Changing>>);

/// The wanted prefixes, and those registered at the forwarder.
#[derive(Default)]
struct Changing {
    known: BTreeSet<Name>,
    registered: BTreeSet<Name>,
}

impl Prefixes {
    fn lock(&self) -> MutexGuard<'_, Changing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> BTreeSet<Name> {
        self.lock().known.clone()
    }

    /// All of them, for a forwarder without any.
    fn register_all(&self) -> BTreeSet<Name> {
        let mut inner = self.lock();
        inner.registered = inner.known.clone();
        inner.known.clone()
    }

    /// Replaces the prefixes by these, without those that a shorter one covers. Returns the new and
    /// the removed ones.
    fn set(&self, mut wanted: Vec<Name>) -> (Vec<Name>, Vec<Name>) {
        wanted.sort_by_key(Name::len);
        let mut all = BTreeSet::new();
        for name in wanted {
            if (0..=name.len()).all(|len| !all.contains(&name.as_ref().prefix(len).to_name())) {
                all.insert(name);
            }
        }
        let mut inner = self.lock();
        let new: Vec<Name> = all.difference(&inner.known).cloned().collect();
        let old: Vec<Name> = inner.known.difference(&all).cloned().collect();
        inner.known = all;
        (new, old)
    }

    /// Adds a prefix, unless a shorter one covers it. Returns the longer ones that it now covers;
    /// `None` if nothing changes.
    fn add(&self, name: &Name) -> Option<Vec<Name>> {
        let mut inner = self.lock();
        if (0..=name.len()).any(|len| inner.known.contains(&name.as_ref().prefix(len).to_name())) {
            return None;
        }
        let below = inner.known.range(name.clone()..).take_while(|other| is_under(other, name));
        let covered: Vec<Name> = below.cloned().collect();
        inner.known.retain(|other| !is_under(other, name));
        inner.known.insert(name.clone());
        Some(covered)
    }

    fn take_new(&self) -> Vec<Name> {
        let mut inner = self.lock();
        let new: Vec<Name> = inner.known.difference(&inner.registered).cloned().collect();
        inner.registered.extend(new.iter().cloned());
        new
    }

    fn take_old(&self) -> Vec<Name> {
        let mut inner = self.lock();
        let Changing { known, registered } = &mut *inner;
        let old = registered.difference(known).cloned().collect();
        registered.retain(|name| known.contains(name));
        old
    }
}

/// The prefixes that the user has chosen.
pub enum Claims {
    /// Instead of the names in the store, if there are any.
    Instead(Vec<Name>),
    /// In addition to those.
    Besides(Vec<Name>),
}

/// A function that reports a complaint.
pub type Complain = Box<dyn Fn(String)>;

/// The state of a store whose prefixes are claimed.
struct Claimed {
    /// The number of changes.
    changes: u64,
    /// The largest number of a named thing.
    last: Option<u64>,
}

/// A served store.
pub struct Served {
    shown: Arc<Shown>,
    claims: Claims,
    prefixes: Prefixes,
    /// The state of the store when its prefixes were claimed.
    claimed: Option<Claimed>,
    /// The last complaint: consumers repeat Interests for damaged content.
    complaint: Option<String>,
    /// Reports it; `None`: above the progress.
    complain: Option<Complain>,
}

impl Served {
    /// Serves the shown store.
    pub fn new(shown: Arc<Shown>, claims: Claims, complain: Option<Complain>) -> Served {
        let prefixes = Prefixes::default();
        Served { shown, claims, prefixes, claimed: None, complaint: None, complain }
    }

    /// Claims the prefixes of the store's present content. Reads only later insertions than the
    /// last call if nothing else has changed.
    fn update(&mut self, publish: &mut Publish) -> Result<(), Failure> {
        let view = self.shown.view();
        let changes = view.changes();
        if self.claimed.as_ref().is_some_and(|claimed| claimed.changes == changes) {
            return Ok(());
        }
        self.complaint = None;
        let inserted = match &self.claimed {
            Some(Claimed { changes, last }) => view.inserted_since(*changes, *last, ROWS)?,
            None => None,
        };
        let tops = inserted.map(|rows| rows.into_iter().map(|(_, top)| top).collect());
        match tops.flatten() {
            Some(tops) => self.add(publish, tops),
            None => self.replace(publish, &view)?,
        }
        self.claimed = Some(Claimed { changes, last: view.last_top()? });
        Ok(())
    }

    /// Claims the prefixes of new named things.
    fn add(&self, publish: &mut Publish, tops: Vec<Top>) {
        if matches!(&self.claims, Claims::Instead(fixed) if !fixed.is_empty()) {
            return;
        }
        for prefix in tops.into_iter().flat_map(|top| top.prefixes) {
            let Some(covered) = self.prefixes.add(&prefix) else { continue };
            covered.iter().for_each(|longer| publish.disclaim(longer));
            publish.claim(prefix);
        }
    }

    fn complain(&mut self, complaint: String, look: &Look<'_>) {
        if self.complaint.as_ref() != Some(&complaint) {
            match &self.complain {
                Some(complain) => complain(complaint.clone()),
                None => look.progress.warn(&complaint),
            }
            self.complaint = Some(complaint);
        }
    }

    /// Claims the prefixes of all named things, instead of those before.
    fn replace(&self, publish: &mut Publish, view: &View) -> Result<(), Failure> {
        // Something was removed, or damaged content repaired.
        publish.forget_opened();
        let (mut wanted, has_all) = match &self.claims {
            Claims::Instead(fixed) => (fixed.clone(), !fixed.is_empty()),
            Claims::Besides(fixed) => (fixed.clone(), false),
        };
        if !has_all {
            let (prefixes, broken) = prefixes_of(view)?;
            broken.lines().into_iter().take(1).for_each(|line| self.shown.fail(line));
            wanted.extend(prefixes);
        }
        let (new, old) = self.prefixes.set(wanted);
        old.iter().for_each(|prefix| publish.disclaim(prefix));
        new.into_iter().for_each(|prefix| publish.claim(prefix));
        Ok(())
    }
}

fn prefixes_of(view: &View) -> Result<(Vec<Name>, Broken), Failure> {
    let mut found = BTreeSet::new();
    let broken = each(view, &mut |named| found.extend(named.top.prefixes))?;
    Ok((found.into_iter().collect(), broken))
}

impl Content for Served {
    fn look(&mut self, publish: &mut Publish, look: &Look<'_>) -> Result<(), Failure> {
        let failed = publish.take_failure().map(|error| error.to_string());
        let failed = self.shown.take_failure().or(failed);
        // An upload renews it, too.
        let renewed = self.shown.renew().map_err(Failure::from);
        match (renewed.and_then(|_| self.update(publish)), failed) {
            (Err(failure), _) => {
                let what = "cannot reload the store; serving its previous content";
                self.complain(format!("{what}: {failure}"), look);
            }
            (Ok(()), Some(why)) => {
                let next = "`weir repo verify` finds what is damaged";
                self.complain(format!("cannot serve: {why}; {next}"), look);
            }
            (Ok(()), None) => {
                if let Some(why) = self.shown.take_lag() {
                    let what = "cannot look for changes of other hosts";
                    self.complain(format!("{what}: {why}; trying again"), look);
                }
            }
        }
        Ok(())
    }

    fn new_prefixes(&mut self) -> Vec<Name> {
        self.prefixes.take_new()
    }

    fn old_prefixes(&mut self) -> Vec<Name> {
        self.prefixes.take_old()
    }
}

impl Summary {
    fn of(stats: &PublishStats) -> Summary {
        Summary {
            answered: stats.answered,
            content_bytes: stats.content_bytes,
            refused: stats.rejected,
            unknown: stats.unknown,
            dropped: stats.dropped,
            malformed: stats.malformed,
            failed: stats.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::DataBuf;
    use repo::{Body, Entry, Insertion, Store};
    use security::Signer;

    #[test]
    fn a_prefix_ends_with_its_last_object_and_no_longer_covers_others() {
        let names = |texts: &[&str]| -> Vec<Name> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let prefixes = Prefixes::default();
        let set = |texts: &[&str]| prefixes.set(names(texts));
        assert_eq!(set(&["/a/b", "/c", "/a"]), (names(&["/a", "/c"]), Vec::new()));
        assert_eq!(prefixes.take_new(), names(&["/a", "/c"]));
        assert_eq!(set(&["/a/b", "/c"]), (names(&["/a/b"]), names(&["/a"])));
        assert_eq!(set(&["/a/b", "/c", "/a"]), (names(&["/a"]), names(&["/a/b"])));
        // The forwarder's prefixes are unchanged.
        assert!(prefixes.take_old().is_empty() && prefixes.take_new().is_empty());
        assert_eq!(prefixes.all().len(), 2);
        set(&["/c"]);
        assert_eq!(prefixes.take_old(), names(&["/a"]));
    }

    #[test]
    fn a_prefix_that_is_added_covers_longer_ones_and_is_covered_by_shorter_ones() {
        let name = |text: &str| -> Name { text.parse().unwrap() };
        let prefixes = Prefixes::default();
        prefixes.set(["/a/b/c", "/a/bb", "/a/c", "/c"].map(name).to_vec());
        prefixes.take_new();
        for covered in ["/c", "/c/d"] {
            assert_eq!(prefixes.add(&name(covered)), None);
        }
        assert_eq!(prefixes.add(&name("/a/b")), Some(vec![name("/a/b/c")]));
        assert_eq!(prefixes.add(&name("/a/d")), Some(Vec::new()));
        assert_eq!(prefixes.take_new(), ["/a/b", "/a/d"].map(name));
        assert_eq!(prefixes.take_old(), [name("/a/b/c")]);
        assert_eq!(prefixes.all(), ["/a/b", "/a/bb", "/a/c", "/a/d", "/c"].map(name).into());
    }

    fn insert(store: &Store, text: &str) {
        let name: Name = text.parse().unwrap();
        let mut wire = Vec::new();
        Signer::Digest.encode(&DataBuf::new(name.clone(), vec![1]), &mut wire);
        let top = Top { prefixes: vec![name.clone()], ..Top::default() };
        let entry = Entry { name, version: 0, body: Body::Packet(wire.into()) };
        let mut staging = store.stage().unwrap();
        let mut insertion = Insertion::new(store, &mut staging).unwrap();
        assert!(insertion.top(&entry, &top).unwrap());
        insertion.commit().unwrap();
    }

    #[test]
    fn a_store_that_cannot_be_read_again_is_served_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::create(folder.path()).unwrap());
        insert(&store, "/a/x");
        let shown = Arc::new(Shown::new(store.clone()).unwrap());
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let log = complaints.clone();
        let complain: Complain = Box::new(move |what| log.lock().unwrap().push(what));
        let mut publish = Publish::new();
        let mut served = Served::new(shown, Claims::Besides(Vec::new()), Some(complain));
        served.update(&mut publish).unwrap();
        let index = std::fs::File::options().write(true).open(folder.path().join("index")).unwrap();
        index.set_len(0).unwrap();
        let progress = Progress::new("", true);
        let stop = Stop::never();
        let look = Look { progress: &progress, stop: &stop, verbose: false };
        for _ in 0..3 {
            served.look(&mut publish, &look).unwrap();
        }
        assert_eq!(served.prefixes.all().len(), 1);
        let complaints = complaints.lock().unwrap();
        assert!(!complaints.is_empty() && complaints.len() < 3, "{complaints:?}");
        assert!(complaints[0].contains("cannot reload the store"), "{complaints:?}");
    }

    /// The first record is damaged, so reading it again would fail again.
    #[test]
    fn an_insertion_makes_the_server_read_what_is_new_and_a_removal_all() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        insert(&store, "/damaged");
        insert(&store, "/a/x");
        let first = View::new(&store).unwrap().tops(None, 1).unwrap()[0].0;
        drop(store);
        let db = redb::Database::open(folder.path().join("index")).unwrap();
        let write = db.begin_write().unwrap();
        let entries: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("entries");
        write.open_table(entries).unwrap().insert(first, &b"?"[..]).unwrap();
        write.commit().unwrap();
        drop(db);
        let store = Arc::new(Store::open(folder.path()).unwrap());
        let shown = Arc::new(Shown::new(store.clone()).unwrap());
        let mut publish = Publish::new();
        let mut served = Served::new(shown.clone(), Claims::Besides(Vec::new()), None);
        served.update(&mut publish).unwrap();
        let all = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(served.prefixes.all(), all(&["/a/x"]));
        assert!(shown.take_failure().is_some(), "the damaged one was read");
        for name in ["/a/y", "/b"] {
            insert(&store, name);
        }
        shown.renew().unwrap();
        served.update(&mut publish).unwrap();
        assert_eq!(served.prefixes.all(), all(&["/a/x", "/a/y", "/b"]));
        assert_eq!(shown.take_failure(), None, "the damaged one was not read again");
        let last = View::new(&store).unwrap().last_top().unwrap().unwrap();
        store.remove(last).unwrap().unwrap();
        insert(&store, "/c");
        shown.renew().unwrap();
        served.update(&mut publish).unwrap();
        assert_eq!(served.prefixes.all(), all(&["/a/x", "/a/y", "/c"]));
        assert!(shown.take_failure().is_some());
    }
}
