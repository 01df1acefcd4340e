//! `weir demo`: a real file through three forwarders, twice.
//!
//! ```text
//! get 1 --\
//!          A ==UDP== B ==UDP== C --- put
//! get 2 --/
//! ```
//!
//! Everything is the program itself: three `weir daemon`, one `weir put`, two `weir get`, in a
//! temporary directory, over loopback.

use crate::cli::DemoArgs;
use crate::commands::status;
use crate::exit::{Failure, Kind};
use crate::output;
use control::{Rate, Size};
use net::client::{Address, Connection};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const NAME: &str = "/demo/file";
const NODES: [&str; 3] = ["A", "B", "C"];

/// What the demonstration showed.
#[derive(Serialize)]
struct Summary {
    file: String,
    bytes: u64,
    transfers: Vec<Transfer>,
}

#[derive(Serialize)]
struct Transfer {
    consumer: u32,
    goodput_mbps: f64,
    duration_s: f64,
    key: Option<String>,
    sha256_matches: bool,
    /// Segments answered by the content store of A, and by the producer.
    from_cache: u64,
    from_producer: u64,
}

/// Child processes that end with the demonstration, however it ends.
#[derive(Default)]
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

struct Demo {
    program: PathBuf,
    dir: tempfile::TempDir,
    children: Children,
    quiet: bool,
}

/// Runs the demonstration.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::new(Kind::Failed, e))?;
    let file = args.file.clone().unwrap_or_else(|| program.clone());
    let dir = tempfile::tempdir().map_err(|e| Failure::new(Kind::File, e))?;
    let quiet = args.output.quiet || args.output.json;
    let mut demo = Demo { program, dir, children: Children::default(), quiet };
    let digest = sha256(&file)?;
    let bytes = std::fs::metadata(&file).map_or(0, |meta| meta.len());
    demo.say(&format!("{} ({})", file.display(), Size(bytes)));
    demo.start_daemons()?;
    demo.make_key()?;
    demo.publish(&file)?;
    let mut transfers = Vec::new();
    for consumer in 1..=2 {
        transfers.push(demo.fetch(consumer, &digest)?);
    }
    if args.output.json {
        output::json(&Summary { file: file.display().to_string(), bytes, transfers });
    }
    Ok(())
}

impl Demo {
    fn say(&self, text: &str) {
        if !self.quiet {
            output::note(text);
        }
    }

    fn socket(&self, node: &str) -> PathBuf {
        self.dir.path().join(format!("{node}.sock"))
    }

    /// This program, with its keys in the temporary directory.
    fn weir(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env("WEIR_HOME", self.dir.path()).env_remove("NDN_CLIENT_TRANSPORT");
        command
    }

    fn spawn(&mut self, command: &mut Command) -> Result<&mut Child, Failure> {
        let child = command.spawn().map_err(|error| {
            let program = self.program.display();
            Failure::new(Kind::Failed, format!("cannot start {program}: {error}"))
        })?;
        self.children.0.push(child);
        self.children.0.last_mut().ok_or_else(|| Failure::new(Kind::Failed, "no child was started"))
    }

    fn start_daemons(&mut self) -> Result<(), Failure> {
        self.say("starting three forwarders: A == B == C over UDP");
        let ports = free_ports()?;
        for (i, node) in NODES.iter().enumerate() {
            let path = self.dir.path().join(format!("{node}.toml"));
            std::fs::write(&path, self.config(i, ports)).map_err(|error| {
                Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
            })?;
            let log = self.dir.path().join(format!("{node}.log"));
            let log = File::create(log).map_err(|e| Failure::new(Kind::File, e))?;
            let path = path.display().to_string();
            let mut command = self.weir(&["daemon", "--config", &path]);
            let stdout = log.try_clone().map_err(|e| Failure::new(Kind::File, e))?;
            self.spawn(command.stdin(Stdio::null()).stdout(stdout).stderr(log))?;
        }
        NODES.iter().try_for_each(|node| self.wait_for(node))
    }

    /// Every node has a face to each neighbour; names lead from A over B to C.
    fn config(&self, node: usize, ports: [u16; 3]) -> String {
        let face = |name: &str, at: usize| {
            format!("[[face]]\nname = \"{name}\"\nuri = \"udp4://127.0.0.1:{}\"\n", ports[at])
        };
        let mut text = format!(
            "[listen]\nunix = {:?}\nudp = \"127.0.0.1:{}\"\ntcp = \"off\"\n",
            self.socket(NODES[node]),
            ports[node],
        );
        if node > 0 {
            text += &face("back", node - 1);
        }
        if node + 1 < NODES.len() {
            text += &face("next", node + 1);
            text += "[[route]]\nprefix = \"/demo\"\nface = \"next\"\n";
        }
        text
    }

    /// A daemon is ready when its socket answers; one that has ended says why in its log.
    fn wait_for(&mut self, node: &str) -> Result<(), Failure> {
        let index = NODES.iter().position(|n| *n == node).unwrap_or(0);
        loop {
            let socket = self.socket(node);
            if socket.exists() && Connection::open(Address::Unix(socket)).is_ok() {
                return Ok(());
            }
            if let Ok(Some(ended)) = self.children.0[index].try_wait() {
                let log = self.dir.path().join(format!("{node}.log"));
                let log = std::fs::read_to_string(log).unwrap_or_default();
                let message = format!("forwarder {node} ended ({ended}): {}", log.trim());
                return Err(Failure::new(Kind::Failed, message));
            }
            std::thread::yield_now();
        }
    }

    fn make_key(&self) -> Result<(), Failure> {
        let status = self
            .weir(&["key", "new", "/demo"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Failure::new(Kind::Failed, "no key could be made for the demonstration")),
        }
    }

    fn publish(&mut self, file: &Path) -> Result<(), Failure> {
        self.say(&format!("publishing it at C as {NAME}, signed with a key made for this"));
        let (socket, file) = (self.socket("C"), file.display().to_string());
        let socket = socket.display().to_string();
        let mut command = self.weir(&["put", NAME, &file, "--socket", &socket]);
        let child = self.spawn(command.stdin(Stdio::null()).stderr(Stdio::piped()))?;
        let Some(stderr) = child.stderr.take() else {
            return Err(Failure::new(Kind::Failed, "the producer has no output"));
        };
        let mut said = String::new();
        let mut lines = BufReader::new(stderr);
        while !said.contains("serving ") {
            said.clear();
            match lines.read_line(&mut said) {
                Ok(n) if n > 0 => {}
                _ => return Err(Failure::new(Kind::Failed, format!("the producer ended: {said}"))),
            }
        }
        // Nobody reads what it says from now on; the pipe must not fill up.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(())
    }

    fn fetch(&mut self, consumer: u32, digest: &[u8; 32]) -> Result<Transfer, Failure> {
        let before = (self.hits("A")?, self.data_from_producer()?);
        let path = self.dir.path().join(format!("copy-{consumer}"));
        let (socket, path_text) = (self.socket("A"), path.display().to_string());
        let socket = socket.display().to_string();
        let args =
            ["get", NAME, "-o", &path_text, "--socket", &socket, "--trust", "/demo", "--json"];
        self.say(&format!("consumer {consumer} fetches it at A"));
        let mut command = self.weir(&args);
        if self.quiet {
            command.arg("--quiet");
        }
        let got = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let got = got.map_err(|error| Failure::new(Kind::Failed, error))?;
        if !got.status.success() {
            let message = format!("consumer {consumer} failed ({})", got.status);
            return Err(Failure::new(Kind::Failed, message));
        }
        let summary: Value = serde_json::from_slice(&got.stdout).unwrap_or_default();
        let float = |key: &str| summary.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        let transfer = Transfer {
            consumer,
            goodput_mbps: float("goodput_mbps"),
            duration_s: float("duration_s"),
            key: summary.get("key").and_then(Value::as_str).map(str::to_owned),
            sha256_matches: sha256(&path)? == *digest,
            from_cache: self.hits("A")? - before.0,
            from_producer: self.data_from_producer()? - before.1,
        };
        if !transfer.sha256_matches {
            return Err(Failure::new(Kind::NotVerified, "the copy is not what was published"));
        }
        self.say(&format!(
            "consumer {consumer}: {} in {:.2} s, SHA-256 equal, signed by {}; {} packets from A's \
             content store, {} from the producer",
            Rate((transfer.goodput_mbps * 1e6) as u64),
            transfer.duration_s,
            transfer.key.as_deref().unwrap_or("nobody"),
            transfer.from_cache,
            transfer.from_producer,
        ));
        Ok(transfer)
    }

    fn counters(&self, node: &str) -> Result<Value, Failure> {
        status::counters(&mut Connection::open(Address::Unix(self.socket(node)))?)
    }

    fn hits(&self, node: &str) -> Result<u64, Failure> {
        let counters = self.counters(node)?;
        Ok(counters.pointer("/content_store/hits").and_then(Value::as_u64).unwrap_or(0))
    }

    /// Data that C has sent to B: what its content store or its producer answered.
    fn data_from_producer(&self) -> Result<u64, Failure> {
        let counters = self.counters("C")?;
        let faces = counters.get("faces").and_then(Value::as_array);
        let back = faces.into_iter().flatten().find(|face| face["name"] == "back");
        Ok(back.and_then(|face| face.pointer("/sent/data")?.as_u64()).unwrap_or(0))
    }
}

/// Three UDP ports that are free now.
fn free_ports() -> Result<[u16; 3], Failure> {
    let bind = |_| UdpSocket::bind("127.0.0.1:0");
    let sockets: Result<Vec<_>, _> = (0..3).map(bind).collect();
    let sockets = sockets.map_err(|error| {
        Failure::new(Kind::Failed, format!("no free UDP ports on 127.0.0.1: {error}"))
    })?;
    let mut ports = [0; 3];
    for (port, socket) in ports.iter_mut().zip(&sockets) {
        *port = socket.local_addr().map_or(0, |address| address.port());
    }
    Ok(ports)
}

fn sha256(path: &Path) -> Result<[u8; 32], Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Kind::File, format!("cannot read {}: {error}", path.display()))
    };
    let mut file = File::open(path).map_err(failed)?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(digest.finalize().into()),
            n => digest.update(&buffer[..n]),
        }
    }
}
