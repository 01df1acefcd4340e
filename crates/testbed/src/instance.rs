//! A running testbed: namespaces, links, daemons, producers. It removes itself.

use crate::buckets::{self, Passed};
use crate::change::Change;
use crate::children::Process;
use crate::clean::empty;
use crate::error::TestbedError;
use crate::groups::Group;
use crate::hosts;
use crate::namespaces::namespace;
use crate::plan::{Plan, PlannedContent, PlannedFetch, Shape};
use crate::readings::{Pid, address};
use crate::state_dir::StateDir;
use control::{Duration, Rng};
use net::client::Connection;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration as Span;

/// The interval of checks on a starting program.
const LOOK: Span = Span::from_millis(5);
/// A producer's message when it is ready.
const SERVING: &str = "serving ";

/// A running testbed.
pub struct Testbed {
    plan: Plan,
    state_dir: StateDir,
    /// The folder for large files: contents, fetched files, logs.
    folder: tempfile::TempDir,
    program: PathBuf,
    groups: Vec<Option<Group>>,
    daemons: Vec<Option<Process>>,
    /// The processes that they are now.
    pids: Vec<Pid>,
    producers: Vec<Option<Process>>,
    /// The changes of each node's daemon since its configuration.
    changes: Vec<Vec<Change>>,
}

impl Testbed {
    /// Builds a plan under a name, with this program's daemons and tools; while it waits, `goes_on`
    /// may end it.
    ///
    /// # Errors
    /// The name is taken, or an item cannot be made or started; then nothing is left.
    pub fn build(
        name: &str,
        plan: Plan,
        program: &Path,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Testbed, TestbedError> {
        let mut testbed = Testbed::network(name, plan, program)?;
        testbed.start_daemons(goes_on)?;
        testbed.publish(goes_on)?;
        Ok(testbed)
    }

    /// Builds only namespaces and links, without programs.
    ///
    /// # Errors
    /// The name is taken, or an item cannot be made; then nothing is left.
    pub fn network(name: &str, plan: Plan, program: &Path) -> Result<Testbed, TestbedError> {
        let state_dir = StateDir::take(name)?;
        if state_dir.folder().is_some() {
            // The leftovers of an earlier testbed that could not remove itself.
            empty(&state_dir)?;
            drop(state_dir);
            return Testbed::network(name, plan, program);
        }
        let temporary = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("weir-testbed-").tempdir();
        let folder = folder.map_err(|e| TestbedError::file("make a folder in", &temporary, e))?;
        hosts::build(name, &plan).inspect_err(|error| {
            // The namespaces of other programs must stay.
            if !matches!(error, TestbedError::ForeignNamespace(_)) {
                state_dir.remember(folder.path()).ok();
                empty(&state_dir).ok();
            } else {
                state_dir.remove();
            }
        })?;
        state_dir.remember(folder.path())?;
        let mut testbed = Testbed {
            daemons: plan.nodes.iter().map(|_| None).collect(),
            pids: plan.nodes.iter().map(|_| Pid::default()).collect(),
            changes: vec![Vec::new(); plan.nodes.len()],
            groups: Vec::new(),
            producers: Vec::new(),
            program: program.to_owned(),
            plan,
            state_dir,
            folder,
        };
        for node in &testbed.plan.nodes {
            let group = match node.cpu {
                Some(share) => Some(Group::make(&testbed.state_dir.name, &node.short, share)?),
                None => None,
            };
            testbed.groups.push(group);
        }
        Ok(testbed)
    }

    /// Starts all daemons, and waits until they answer.
    ///
    /// # Errors
    /// One cannot be started or has ended, or `goes_on` ended the wait.
    pub fn start_daemons(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), TestbedError> {
        let all = 0..self.plan.nodes.len();
        all.clone().try_for_each(|at| self.start_daemon(at))?;
        all.clone().try_for_each(|at| self.wait_for_daemon(at, goes_on))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state_dir.name
    }

    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The changes of a node's daemon since its configuration, in their order.
    pub(crate) fn changes(&self, at: usize) -> &[Change] {
        &self.changes[at]
    }

    /// Records a change of a node's daemon.
    pub(crate) fn record_change(&mut self, at: usize, change: Change) {
        self.changes[at].push(change);
    }

    /// The control group of a node's programs, if it has one.
    #[must_use]
    pub fn group(&self, at: usize) -> Option<&Path> {
        self.groups[at].as_ref().map(Group::path)
    }

    /// Starts this program at a node.
    fn start(
        &self,
        at: usize,
        what: &str,
        arguments: &[String],
        log: &Path,
    ) -> Result<Process, TestbedError> {
        let (node, namespace) = (&self.plan.nodes[at].name, self.namespace(at));
        let home = self.state_dir.file("home");
        let process = Process::start(what, node, &namespace, &self.program, arguments, &home, log)?;
        self.groups[at].as_ref().map_or(Ok(()), |group| group.take(process.id()))?;
        Ok(process)
    }

    /// The socket of a node's daemon.
    #[must_use]
    pub fn socket(&self, at: usize) -> PathBuf {
        self.state_dir.file(&format!("{}.sock", self.plan.nodes[at].short))
    }

    /// A file in its folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The process that a node's daemon is now.
    #[must_use]
    pub fn pid(&self, at: usize) -> Pid {
        Pid::clone(&self.pids[at])
    }

    /// The network namespace of a node.
    #[must_use]
    pub fn namespace(&self, at: usize) -> String {
        namespace(&self.state_dir.name, &self.plan.nodes[at].short)
    }

    /// Starts a node's daemon.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_daemon(&mut self, at: usize) -> Result<(), TestbedError> {
        let node = &self.plan.nodes[at];
        let path = self.state_dir.file(&format!("{}.toml", node.short));
        // A socket's path is short enough for any name: the folder's is, and so is the node's.
        let socket = self.socket(at);
        let listen = format!(
            "\n[listen]\nunix = {:?}\nudp = \"0.0.0.0:6363\"\ntcp = \"off\"\n",
            socket.display().to_string()
        );
        fs::write(&path, node.config.clone() + &listen)
            .map_err(|e| TestbedError::file("write", &path, e))?;
        let log = self.file(&format!("{}.daemon.log", node.short));
        let arguments = ["daemon".to_owned(), "--config".to_owned(), path.display().to_string()];
        let process = self.start(at, "the daemon", &arguments, &log)?;
        self.pids[at].store(process.id(), Ordering::Relaxed);
        self.daemons[at] = Some(process);
        Ok(())
    }

    /// Kills a node's producers and its daemon without warning.
    pub fn kill_node(&mut self, at: usize) {
        for (producer, content) in self.producers.iter_mut().zip(&self.plan.contents) {
            if content.at == at {
                *producer = None;
            }
        }
        self.daemons[at] = None;
        fs::remove_file(self.socket(at)).ok();
    }

    /// Waits until a node's daemon answers.
    ///
    /// # Errors
    /// It has ended, or `goes_on` ended the wait.
    pub fn wait_for_daemon(
        &mut self,
        at: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), TestbedError> {
        let socket = self.socket(at);
        loop {
            if socket.exists() && Connection::open(address(&socket)).is_ok() {
                return Ok(());
            }
            self.check_daemon(at)?;
            if !goes_on() {
                return Err(TestbedError::Interrupted);
            }
            std::thread::park_timeout(LOOK);
        }
    }

    /// Checks that all expected daemons and producers run.
    ///
    /// # Errors
    /// One has ended.
    pub fn check(&mut self) -> Result<(), TestbedError> {
        (0..self.daemons.len()).try_for_each(|at| self.check_daemon(at))?;
        self.producers.iter_mut().flatten().try_for_each(Process::check)
    }

    /// Returns `true` if a node has a daemon.
    #[must_use]
    pub fn is_up(&self, at: usize) -> bool {
        self.daemons[at].is_some()
    }

    fn check_daemon(&mut self, at: usize) -> Result<(), TestbedError> {
        self.daemons[at].as_mut().map_or(Ok(()), Process::check)
    }

    /// Publishes the producers' content.
    fn publish(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), TestbedError> {
        let contents = self.plan.contents.clone();
        for (number, content) in contents.iter().enumerate() {
            let file = self.file(&format!("content{}", content.content));
            if !file.exists() {
                make(&file, content).map_err(|e| TestbedError::file("write", &file, e))?;
            }
            let producer = self.start_producer(number, content, &file)?;
            self.producers.push(Some(producer));
        }
        for producer in self.producers.iter_mut().flatten() {
            while !producer.output().contains(SERVING) {
                producer.check()?;
                if !goes_on() {
                    return Err(TestbedError::Interrupted);
                }
                std::thread::park_timeout(LOOK);
            }
        }
        Ok(())
    }

    /// Starts the producers of a node again, when its daemon is back.
    ///
    /// # Errors
    /// A producer cannot be started.
    pub fn publish_again(&mut self, at: usize) -> Result<(), TestbedError> {
        let contents = self.plan.contents.clone();
        for (number, content) in contents.iter().enumerate().filter(|(_, one)| one.at == at) {
            let file = self.file(&format!("content{}", content.content));
            self.producers[number] = Some(self.start_producer(number, content, &file)?);
        }
        Ok(())
    }

    fn start_producer(
        &self,
        number: usize,
        content: &PlannedContent,
        file: &Path,
    ) -> Result<Process, TestbedError> {
        let segment = format!("{} B", content.segment.0);
        let (file, socket) = (file.display().to_string(), self.socket(content.at));
        let socket = socket.display().to_string();
        let arguments = ["put", &content.name, &file, "--segment-size", &segment];
        let arguments = arguments.into_iter().chain(["--socket", &socket]).map(str::to_owned);
        let what = format!("the producer of {}", content.name);
        let log = self.file(&format!("producer{number}.log"));
        self.start(content.at, &what, &arguments.collect::<Vec<_>>(), &log)
    }

    /// Starts a transfer, whose record is in [`Testbed::record_of`].
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_fetch(&self, number: usize, every: Duration) -> Result<Process, TestbedError> {
        let fetch = &self.plan.fetches[number];
        let arguments = self.arguments_of(fetch, number, every);
        let what = format!("the consumer of {}", fetch.name);
        let log = self.file(&format!("fetch{number}.log"));
        self.start(fetch.at, &what, &arguments, &log)
    }

    fn arguments_of(&self, fetch: &PlannedFetch, number: usize, every: Duration) -> Vec<String> {
        let output = self.file(&format!("fetched{number}"));
        let options = [
            ("--output", output.display().to_string()),
            ("--control", fetch.control.to_string()),
            ("--lifetime", format!("{} ns", fetch.lifetime.0)),
            ("--patience", format!("{} ns", fetch.patience.0)),
            ("--socket", self.socket(fetch.at).display().to_string()),
            ("--record", self.record_of(number).display().to_string()),
            ("--record-every", format!("{} ns", every.0)),
        ];
        let mut arguments = vec!["get".to_owned(), fetch.name.clone()];
        for (option, value) in options {
            arguments.extend([option.to_owned(), value]);
        }
        arguments.extend(["--json".to_owned(), "--quiet".to_owned()]);
        if let Some(range) = fetch.range {
            arguments.extend(["--range".to_owned(), range.to_string()]);
        }
        arguments
    }

    /// Where a transfer's record is.
    #[must_use]
    pub fn record_of(&self, number: usize) -> PathBuf {
        self.file(&format!("fetch{number}.jsonl"))
    }

    /// Cuts or fixes a link.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn switch(&self, link: usize, is_up: bool) -> Result<(), TestbedError> {
        let planned = &self.plan.links[link];
        let shorts = planned.ends.map(|at| self.plan.nodes[at].short.as_str());
        hosts::switch(&self.state_dir.name, shorts, &planned.interface, is_up)
    }
}

impl Testbed {
    /// The traffic of both ends of each link, if the kernel enforces their rates.
    ///
    /// # Errors
    /// `tc` fails.
    pub fn passed(&self) -> Result<Option<Vec<[Passed; 2]>>, TestbedError> {
        match self.plan.medium.shape {
            Shape::Faces => Ok(None),
            Shape::Kernel => buckets::passed(&self.state_dir.name, &self.plan).map(Some),
        }
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.producers.clear();
        self.daemons.clear();
        // `weir testbed clean` removes the remaining items later.
        empty(&self.state_dir).ok();
    }
}

/// Content that no compression makes smaller, equal for equal names.
fn make(file: &Path, content: &PlannedContent) -> std::io::Result<()> {
    let mut rng = Rng::stream(0, &["testbed", &content.name]);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let mut left = content.size.0;
    while left > 0 {
        let bytes = rng.next_u64().to_le_bytes();
        let taken = left.min(8);
        file.write_all(&bytes[..taken as usize])?;
        left -= taken;
    }
    file.flush()
}
