//! Whether namespaces may be made.

use std::process::{Command, Stdio};

/// What this process may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Make network namespaces.
    Namespaces,
    /// Make a user namespace, and network namespaces in it: [`Rights::in_user_namespace`] does.
    UserNamespaces,
    /// Neither.
    None,
}

/// Finds out by trying, which is the only way to be sure.
#[must_use]
pub fn rights() -> Rights {
    let works = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(arguments).arg("true");
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    if works(&["--net", "--mount"]) {
        Rights::Namespaces
    } else if works(&["--user", "--map-root-user", "--net", "--mount"]) {
        Rights::UserNamespaces
    } else {
        Rights::None
    }
}

impl Rights {
    /// The command that runs `program` in a user namespace with a `/run` of its own, in which
    /// nothing outlives it.
    #[must_use]
    pub fn in_user_namespace(program: &std::path::Path) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--mount", "--kill-child", "--"]);
        command.args(["sh", "-c", "mount -t tmpfs tmpfs /run && exec \"$@\"", "sh"]);
        command.arg(program);
        command
    }
}
