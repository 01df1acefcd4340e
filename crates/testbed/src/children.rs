//! Processes in namespaces. They end with this one, however it ends.

use crate::error::TestbedError;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration as Span;

/// The interval at which an ending child is looked at.
const LOOK: Span = Span::from_millis(5);
/// The priority for nice(1).
const PRIORITY: &str = "-10";
/// The maximum number of bytes of a log in a message.
const LONGEST_EXCERPT: usize = 2_000;

/// A child of ours.
pub struct Process {
    /// Its description, for messages.
    what: String,
    /// The name of its node.
    node: String,
    child: Child,
    log: PathBuf,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts a program in a namespace, with its output in `log` and its keys in `home`.
    ///
    /// The kernel ends it when the starting thread ends (PR_SET_PDEATHSIG), so that thread must
    /// live as long as the testbed.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        what: &str,
        node: &str,
        namespace: &str,
        program: &Path,
        arguments: &[String],
        home: &Path,
        log: &Path,
    ) -> Result<Process, TestbedError> {
        let file = File::create(log).map_err(|e| TestbedError::file("write", log, e))?;
        let again = file.try_clone().map_err(|e| TestbedError::file("write", log, e))?;
        // Other work on the machine must not affect the measurement. Without the right to this
        // priority, the program runs without it.
        let mut command = Command::new("nice");
        command.args(["-n", PRIORITY, "nsenter"]);
        command.arg(format!("--net=/run/netns/{namespace}"));
        command.args(["--", "setpriv", "--pdeathsig", "KILL", "--"]);
        command.arg(program).args(arguments);
        command.stdin(Stdio::null()).stdout(file).stderr(again);
        // A terminal's Ctrl-C goes only to the testbed, which ends the programs in order.
        command.env_remove("NDN_CLIENT_TRANSPORT").process_group(0);
        // The result must not depend on the user's keys, nor on access to them.
        command.env("WEIR_HOME", home);
        let child = command
            .spawn()
            .map_err(|error| TestbedError::NoProgram { program: "nsenter".to_owned(), error })?;
        Ok(Process {
            what: what.to_owned(),
            node: node.to_owned(),
            child,
            log: log.to_owned(),
            ended: None,
        })
    }

    /// Returns `true` after it has ended.
    pub fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.is_some()
    }

    /// Its output until now.
    #[must_use]
    pub fn output(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Checks that it runs.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&mut self) -> Result<(), TestbedError> {
        if self.has_ended() { Err(self.lost()) } else { Ok(()) }
    }

    fn lost(&self) -> TestbedError {
        let output = self.output();
        let from = output.len().saturating_sub(LONGEST_EXCERPT);
        let from = (from..output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
        TestbedError::Ended {
            what: self.what.clone(),
            node: self.node.clone(),
            status: self.ended.map_or_else(|| "?".to_owned(), |status| status.to_string()),
            log: output[from..].trim().to_owned(),
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end (SIGINT), and ends it if it does not in time.
    pub fn end(&mut self, patience: Span) {
        if !self.has_ended()
            && let Some(pid) = i32::try_from(self.child.id()).ok()
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            rustix::process::kill_process(pid, rustix::process::Signal::INT).ok();
        }
        let mut waited = Span::ZERO;
        while !self.has_ended() && waited < patience {
            std::thread::park_timeout(LOOK);
            waited += LOOK;
        }
        self.kill();
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        if !self.has_ended() {
            self.child.kill().ok();
            self.ended = self.child.wait().ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
