//! Users and groups of this host, by name or number.

use super::error::DaemonError;
use crate::config::Listen;
use crate::management::authority::Users;
use crate::socket::listen::Access;
use uzers::Group;
use uzers::os::unix::GroupExt;

/// The group whose programs may use a forwarder of root, if the host has it.
pub(super) const GROUP: &str = "ndn";

/// Rights to connect to the Unix socket: as configured; else the group [`GROUP`] if root is the
/// owner; else the owner's own group. Root without that group serves all users, as NFD does.
///
/// # Errors
///
/// There is no such group.
pub(super) fn access(listen: &Listen) -> Result<Access, DaemonError> {
    let is_root = rustix::process::geteuid().is_root();
    let gid = match &listen.unix_group {
        Some(name) => Some(number_of_group(name).ok_or_else(|| unknown("group", name))?),
        None if is_root => number_of_group(GROUP),
        None => None,
    };
    let by_default = if is_root && gid.is_none() { 0o666 } else { 0o660 };
    Ok(Access { mode: listen.unix_mode.unwrap_or(by_default), gid })
}

/// The users that the configuration names, and the members of the groups that it names.
///
/// # Errors
/// There is no such user or group.
pub(super) fn users(users: &[String], groups: &[String]) -> Result<Users, DaemonError> {
    let mut found = Users::default();
    for user in users {
        found.uids.push(number_of_user(user).ok_or_else(|| unknown("user", user))?);
    }
    for group in groups {
        let entry = group_of(group).ok_or_else(|| unknown("group", group))?;
        found.gids.push(entry.gid());
        // Members have it as a further group, of which a socket says nothing.
        let members = entry.members().iter().filter_map(uzers::get_user_by_name);
        found.uids.extend(members.map(|user| user.uid()));
    }
    Ok(found)
}

fn number_of_user(text: &str) -> Option<u32> {
    text.parse().ok().or_else(|| uzers::get_user_by_name(text).map(|user| user.uid()))
}

fn group_of(text: &str) -> Option<Group> {
    match text.parse() {
        Ok(number) => uzers::get_group_by_gid(number),
        Err(_) => uzers::get_group_by_name(text),
    }
}

/// The number of a group, which may have no name.
fn number_of_group(text: &str) -> Option<u32> {
    text.parse().ok().or_else(|| group_of(text).map(|group| group.gid()))
}

fn unknown(what: &'static str, name: &str) -> DaemonError {
    DaemonError::Account { what, name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_groups_are_found_by_name_and_number() {
        let text = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let found = users(&text(&["root", "4711"]), &text(&["0"])).unwrap();
        assert_eq!((&found.uids[..2], &found.gids[..]), (&[0, 4711][..], &[0][..]));
        assert_eq!(number_of_group("4712"), Some(4712));
        let error = users(&text(&["no-such-user"]), &[]).unwrap_err().to_string();
        assert!(error.contains("no user `no-such-user`"), "{error}");
        let error = users(&[], &text(&["no-such-group"])).unwrap_err().to_string();
        assert!(error.contains("no group `no-such-group`"), "{error}");
    }
}
