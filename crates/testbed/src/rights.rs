//! The right to make namespaces.

use std::process::{Command, Stdio};

/// The rights of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Make network namespaces.
    Namespaces,
    /// Make a user namespace, and network namespaces in it: [`Rights::in_user_namespace`] does.
    UserNamespaces,
    /// Neither.
    None,
}

/// Finds out by trying, which is the only reliable way.
#[must_use]
pub fn rights() -> Rights {
    if works(&["--net", "--mount"]) {
        Rights::Namespaces
    } else if works(&["--user", "--map-root-user", "--net", "--mount"]) {
        Rights::UserNamespaces
    } else {
        Rights::None
    }
}

/// Returns `true` if `unshare` can run a program with these arguments.
fn works(arguments: &[&str]) -> bool {
    let mut command = Command::new("unshare");
    command.args(arguments).arg("true");
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

impl Rights {
    /// The command that runs `program` in a user namespace with its own `/run`, in which no process
    /// outlives it.
    #[must_use]
    pub fn in_user_namespace(program: &std::path::Path) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--mount", "--kill-child", "--"]);
        command.args(["sh", "-c", "mount -t tmpfs tmpfs /run && exec \"$@\"", "sh"]);
        command.arg(program);
        command
    }
}
