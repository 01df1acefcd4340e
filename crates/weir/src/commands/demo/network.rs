//! Three forwarders in a row, and the processes that go with them.

use crate::commands::status;
use crate::exit::{Failure, Kind};
use crate::output;
use control::{Duration, Rate, Size};
use net::client::{Address, Connection};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as Span;

const NODES: [&str; 3] = ["A", "B", "C"];

/// The variable of programs whose result `weir demo` reads: they print their failures as text.
const CHILD: &str = "WEIR_DEMO_CHILD";

/// The interval at which children and signals are looked at.
const TICK: Span = Span::from_millis(20);

/// True if this process is such a program.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// The properties of both links, in both directions.
pub struct Link {
    /// Frames leave at this pace.
    pub rate: Rate,
    /// One way.
    pub delay: Duration,
    /// Frames wait in this much room.
    pub queue: Size,
}

/// The forwarders A, B and C, linked in this order, in a temporary directory. They end with this
/// value.
pub struct Network {
    program: PathBuf,
    dir: tempfile::TempDir,
    children: Vec<Child>,
    /// Set by SIGINT, SIGTERM and SIGHUP. However many come, the children have to be ended.
    stop: Arc<AtomicBool>,
}

impl Drop for Network {
    fn drop(&mut self) {
        for child in &mut self.children {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl Network {
    /// Starts the forwarders. A's content store has room for `cache`.
    pub fn start(link: &Link, cache: Size) -> Result<Network, Failure> {
        let dir = tempfile::tempdir().map_err(|error| {
            Failure::new(Kind::File, format!("cannot make a temporary directory: {error}"))
        })?;
        let program = std::env::current_exe().map_err(|error| Failure::new(Kind::Failed, error))?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&stop))
                .map_err(|error| Failure::new(Kind::Failed, error))?;
        }
        let mut network = Network { program, dir, children: Vec::new(), stop };
        let ports = free_ports()?;
        for (i, node) in NODES.iter().enumerate() {
            let path = network.path(&format!("{node}.toml"));
            std::fs::write(&path, network.config(i, ports, link, cache)).map_err(|error| {
                Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
            })?;
            let log = File::create(network.path(&format!("{node}.log")));
            let log = log.map_err(|error| Failure::new(Kind::File, error))?;
            let mut command = network.weir(&["daemon", "--config"]);
            command.arg(path);
            // Ctrl-C at the terminal ends the demonstration, which then ends its forwarders.
            network.spawn(command.stdout(Stdio::null()).stderr(log).process_group(0))?;
        }
        for i in 0..NODES.len() {
            network.wait_for(i)?;
        }
        Ok(network)
    }

    /// A file of this name in the temporary directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn socket(&self, node: &str) -> PathBuf {
        self.path(&format!("{node}.sock"))
    }

    /// This program, with its keys in the temporary directory and without input.
    fn weir(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).stdin(Stdio::null());
        command.env("WEIR_HOME", self.dir.path()).env_remove("NDN_CLIENT_TRANSPORT");
        command
    }

    fn spawn(&mut self, command: &mut Command) -> Result<usize, Failure> {
        let child = command.spawn().map_err(|error| {
            let program = self.program.display();
            Failure::new(Kind::Failed, format!("cannot start {program}: {error}"))
        })?;
        self.children.push(child);
        Ok(self.children.len() - 1)
    }

    /// Every node has a face to each neighbour; names lead from A over B to C.
    fn config(&self, node: usize, ports: [u16; 3], link: &Link, cache: Size) -> String {
        let mut text = format!(
            "[listen]\nunix = {:?}\nudp = \"127.0.0.1:{}\"\ntcp = \"off\"\n",
            self.socket(NODES[node]),
            ports[node],
        );
        if node == 0 {
            text += &format!("[content_store]\ncapacity = \"{} B\"\n", cache.0);
        } else {
            text += &face_section("back", ports[node - 1], link);
        }
        if node + 1 < NODES.len() {
            text += &face_section("next", ports[node + 1], link);
            text += "[[route]]\nprefix = \"/demo\"\nface = \"next\"\n";
        }
        text
    }

    /// A daemon is ready when its socket answers; the log of one that has ended has the reason.
    fn wait_for(&mut self, index: usize) -> Result<(), Failure> {
        let node = NODES[index];
        loop {
            self.check_stop()?;
            let socket = self.socket(node);
            if socket.exists() && Connection::open(Address::Unix(socket)).is_ok() {
                return Ok(());
            }
            if let Ok(Some(ended)) = self.children[index].try_wait() {
                let log = std::fs::read_to_string(self.path(&format!("{node}.log")));
                let log = log.unwrap_or_default();
                let message = format!("forwarder {node} ended ({ended}): {}", log.trim());
                return Err(Failure::new(Kind::Failed, message));
            }
            std::thread::park_timeout(TICK);
        }
    }

    fn check_stop(&self) -> Result<(), Failure> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Failure::new(Kind::Interrupted, "the demonstration was interrupted")
                .then("nothing is left of it; run the same command again")),
            false => Ok(()),
        }
    }

    /// Publishes `file` as `name` at C, signed by a new key of the identity `by`.
    pub fn publish(&mut self, name: &str, file: &Path, by: &str) -> Result<(), Failure> {
        let made = self.weir(&["key", "new", by]).output();
        if !made.is_ok_and(|made| made.status.success()) {
            return Err(Failure::new(Kind::Failed, "no key could be made for the demonstration"));
        }
        let mut command = self.weir(&["put", name, "--sign", by, "--socket"]);
        command.arg(self.socket("C")).arg("--").arg(file);
        let child = self.spawn(command.stderr(Stdio::piped()))?;
        let Some(stderr) = self.children[child].stderr.take() else {
            return Err(Failure::new(Kind::Failed, "the producer has no output"));
        };
        let (mut printed, mut lines) = (String::new(), BufReader::new(stderr));
        while !printed.contains("serving ") {
            match lines.read_line(&mut printed) {
                Ok(n) if n > 0 => {}
                _ => {
                    self.check_stop()?;
                    let why = printed.trim().trim_start_matches("weir: ");
                    return Err(Failure::new(Kind::Failed, format!("the producer ended: {why}")));
                }
            }
        }
        // Its output is not needed any more, but the pipe must not fill up.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(())
    }

    /// Fetches `name` at A into `path`, trusting the identity `by` alone, and returns the summary
    /// of `weir get`. Its progress bar goes to our standard error.
    pub fn fetch(
        &mut self,
        name: &str,
        path: &Path,
        by: &str,
        quiet: bool,
    ) -> Result<Value, Failure> {
        let mut command = self.weir(&["get", name, "--trust", by, "--json", "-o"]);
        command.arg(path).arg("--socket").arg(self.socket("A")).env(CHILD, "1");
        if quiet {
            command.arg("--quiet");
        }
        // In another process group, like the forwarders: the message of an interrupted `weir get`
        // would offer to resume, and this transfer cannot.
        let child = self.spawn(command.stdout(Stdio::piped()).process_group(0))?;
        let got = self.wait(child)?;
        if !got.status.success() {
            self.check_stop()?;
            let message = format!("the consumer failed ({})", got.status);
            return Err(Failure::new(Kind::Failed, message));
        }
        serde_json::from_slice(&got.stdout).map_err(|error| {
            Failure::new(Kind::Failed, format!("the consumer's summary is malformed: {error}"))
        })
    }

    /// Waits for a child that writes little on standard output.
    fn wait(&mut self, child: usize) -> Result<Output, Failure> {
        self.output(child).map_err(|error| Failure::new(Kind::Failed, error))
    }

    fn output(&mut self, child: usize) -> std::io::Result<Output> {
        let child = &mut self.children[child];
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if self.stop.load(Ordering::Relaxed) {
                child.kill()?;
                let status = child.wait()?;
                // The line has its progress bar.
                if std::io::stderr().is_terminal() {
                    output::note("");
                }
                break status;
            }
            std::thread::park_timeout(TICK);
        };
        let mut stdout = Vec::new();
        if let Some(mut pipe) = child.stdout.take() {
            pipe.read_to_end(&mut stdout)?;
        }
        Ok(Output { status, stdout, stderr: Vec::new() })
    }

    /// Data that A's content store has answered with.
    pub fn hits(&self) -> Result<u64, Failure> {
        let counters = self.counters("A")?;
        Ok(counters.pointer("/content_store/hits").and_then(Value::as_u64).unwrap_or(0))
    }

    /// Data on the link from C to B.
    pub fn producer_sent(&self) -> Result<u64, Failure> {
        let counters = self.counters("C")?;
        let faces = counters.get("faces").and_then(Value::as_array);
        let back = faces.into_iter().flatten().find(|face| face["name"] == "back");
        Ok(back.and_then(|face| face.pointer("/sent/data")?.as_u64()).unwrap_or(0))
    }

    fn counters(&self, node: &str) -> Result<Value, Failure> {
        status::counters(&mut Connection::open(Address::Unix(self.socket(node)))?)
    }
}

/// The section of a face to the neighbour at this port.
fn face_section(name: &str, port: u16, link: &Link) -> String {
    let Link { rate, delay, .. } = link;
    format!(
        "[[face]]\nname = \"{name}\"\nuri = \"udp4://127.0.0.1:{port}\"\n\
         rate = \"{rate}\"\nrate_in = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \"{} B\"\n",
        link.queue.0,
    )
}

/// Three free UDP ports.
fn free_ports() -> Result<[u16; 3], Failure> {
    let sockets: Result<Vec<_>, _> = (0..3).map(|_| UdpSocket::bind("127.0.0.1:0")).collect();
    let sockets = sockets.map_err(|error| {
        Failure::new(Kind::Failed, format!("no free UDP ports on 127.0.0.1: {error}"))
    })?;
    let mut ports = [0; 3];
    for (port, socket) in ports.iter_mut().zip(&sockets) {
        *port = socket.local_addr().map_or(0, |address| address.port());
    }
    Ok(ports)
}
