//! Errors of a testbed.

use crate::plan::Unsupported;
use control::Duration;
use net::client::{CommandError, ConnectError, DatasetError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The reason why a testbed cannot be built or has ended.
#[derive(Debug, Error)]
pub enum TestbedError {
    /// The scenario has features that a testbed lacks.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Unsupported>),
    /// Another one of that name runs.
    #[error("a testbed called {0} is running")]
    InUse(String),
    /// Another program has a namespace of that name.
    #[error("there is a network namespace {0} already, which is not of a testbed")]
    ForeignNamespace(String),
    /// A required program is missing.
    #[error("cannot run `{program}`: {error}")]
    NoProgram {
        /// The program.
        program: String,
        /// The system's error.
        error: io::Error,
    },
    /// A program failed.
    #[error("`{command}` failed: {output}")]
    Failed {
        /// The command.
        command: String,
        /// Its output.
        output: String,
    },
    /// A process ended that should run on.
    #[error("{what} at {node} ended ({status}); last log lines:\n{log}")]
    Ended {
        /// `the daemon`, `the producer of /a/b`.
        what: String,
        /// Its node.
        node: String,
        /// How it ended.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// A daemon does not answer.
    #[error("the daemon at {node}: {error}")]
    Silent {
        /// Its node.
        node: String,
        /// The fault.
        error: DatasetError,
    },
    /// A daemon cannot be reached.
    #[error("the daemon at {node}: {error}")]
    Unreachable {
        /// Its node.
        node: String,
        /// The fault.
        error: ConnectError,
    },
    /// A daemon was to be changed, and was not.
    #[error("the daemon at {node}: {error}")]
    CommandFailed {
        /// Its node.
        node: String,
        /// The fault.
        error: CommandError,
    },
    /// A daemon's counters are malformed.
    #[error("the counters of the daemon at {node} are malformed: {error}")]
    Counters {
        /// Its node.
        node: String,
        /// The fault.
        error: serde_json::Error,
    },
    /// A file.
    #[error("cannot {verb} {path}: {error}")]
    File {
        /// The operation.
        verb: &'static str,
        /// Its path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Something that every program needs.
    #[error("a system call failed: {0}")]
    System(io::Error),
    /// The kernel cannot keep to rates.
    #[error("this kernel has no token buckets (tc … tbf), which --shape kernel needs: {0}")]
    NoTokenBuckets(String),
    /// A node cannot be made slow.
    #[error("node {node} has a `cpu` of its own, which takes a control group: {why}")]
    NoControlGroup {
        /// The node.
        node: String,
        /// The missing part.
        why: String,
    },
    /// The measurement does not describe the network.
    #[error(
        "the clock jumped by {by} at {at} of the run: this machine stood still (suspended, \
         stopped, or busy with something else), and what was measured is not the network; run it \
         again"
    )]
    ClockJumped {
        /// When, since the beginning of the run.
        at: Duration,
        /// The difference.
        by: Duration,
    },
    /// A signal arrived.
    #[error("interrupted")]
    Interrupted,
}

impl TestbedError {
    pub(crate) fn file(verb: &'static str, path: &std::path::Path, error: io::Error) -> Self {
        TestbedError::File { verb, path: path.to_owned(), error }
    }
}
