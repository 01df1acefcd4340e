//! The forwarder: its address, its answer and the permissions of its socket.

use super::check::{Check, Verdict};
use crate::exit::{Failure, Kind};
use crate::signals::Stop;
use net::client::{Address, ConnectError, Connection, DatasetError, General};
use net::uri::DEFAULT_SOCKET;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The version that a forwarder of this program reports.
const VERSION: &str = concat!("weir-", env!("CARGO_PKG_VERSION"));
/// Write permission of other users, and the bit of folders whose files only owners replace.
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// The result of one question to the forwarder.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// It reported its version.
    Version(String),
    /// No forwarder runs there.
    Nothing,
    /// This user cannot open its socket.
    NotAllowed,
    /// It accepts connections, and does not answer as a forwarder.
    Broken(String),
}

/// The permissions and the group of a file.
#[derive(Clone, Debug)]
struct Access {
    mode: u32,
    group: String,
}

/// Reads and judges everything.
///
/// # Errors
/// A signal came.
pub fn examine(socket: Option<&str>) -> Result<Vec<Check>, Failure> {
    let _stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let address = match Address::find(socket) {
        Ok(address) => address,
        Err(error) => return Ok(vec![no_address(&error.to_string())]),
    };
    let answer = ask(&address)?;
    let path = match &address {
        Address::Unix(path) => Some(path.as_path()),
        _ => None,
    };
    let file = path.and_then(access);
    let mut checks = vec![judge_answer(&answer, &address, file.as_ref())];
    let (Some(path), Some(file)) = (path, file) else { return Ok(checks) };
    checks.push(judge_socket(path, &file));
    // Of a link, the folder of the socket itself counts.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = real.parent()
        && let Some(found) = access(folder)
    {
        checks.push(judge_folder(folder, &found));
    }
    Ok(checks)
}

fn access(path: &Path) -> Option<Access> {
    let meta = std::fs::metadata(path).ok()?;
    Some(Access { mode: meta.mode() & 0o7777, group: group(meta.gid()) })
}

/// The name of a group, or else its number.
fn group(gid: u32) -> String {
    let name =
        uzers::get_group_by_gid(gid).map(|group| group.name().to_string_lossy().into_owned());
    name.unwrap_or_else(|| gid.to_string())
}

/// Connects and asks for the version.
fn ask(address: &Address) -> Result<Answer, Failure> {
    let is_udp = matches!(address, Address::Udp(_));
    let read =
        Connection::open(address.clone()).map_err(DatasetError::from).and_then(|mut open| {
            let content = open.dataset(&General::dataset())?;
            General::read(&content)
        });
    Ok(match read {
        Ok(general) => Answer::Version(general.version),
        Err(DatasetError::Interrupted) => return Err(DatasetError::Interrupted.into()),
        Err(DatasetError::Connection(
            ConnectError::NoSocket(_) | ConnectError::NobodyListens(_),
        )) => Answer::Nothing,
        Err(DatasetError::Connection(ConnectError::NotAllowed(_))) => Answer::NotAllowed,
        // Datagrams have no connection that fails without a forwarder.
        Err(DatasetError::NoAnswer { .. } | DatasetError::Connection(_)) if is_udp => {
            Answer::Nothing
        }
        Err(error) => Answer::Broken(net::text::without_error_numbers(&error.to_string())),
    })
}

fn no_address(why: &str) -> Check {
    let (what, change) = why.rsplit_once("; ").unwrap_or((why, "check the host's resolver"));
    Check::good("forwarder", what, "an address")
        .but(Verdict::Wrong, format!("{change}, in --socket, NDN_CLIENT_TRANSPORT or client.conf"))
}

fn judge_answer(answer: &Answer, address: &Address, file: Option<&Access>) -> Check {
    let found = match answer {
        Answer::Version(version) => version,
        Answer::Nothing => "no forwarder runs there",
        Answer::NotAllowed => "this user may not connect",
        Answer::Broken(why) => why,
    };
    let check = Check::good("forwarder", found, VERSION).of(address);
    match answer {
        Answer::Version(version) if version == VERSION => check,
        Answer::Version(version) if version.starts_with("weir-") => {
            check.but(Verdict::Advice, "systemctl restart weir, after an update of it")
        }
        // Programs of Weir work with forwarders of other projects.
        Answer::Version(_) => check,
        Answer::Nothing => check.but(Verdict::Advice, start(address)),
        Answer::NotAllowed => {
            let group = file.map_or("ndn", |file| &file.group);
            let user = uzers::get_effective_username();
            let user = user.map_or("USER".into(), |name| name.to_string_lossy().into_owned());
            let change = format!("usermod --append --groups {group} {user}, and log in again");
            check.but(Verdict::Wrong, change)
        }
        Answer::Broken(_) => {
            check.but(Verdict::Wrong, "systemctl restart weir, or give another --socket")
        }
    }
}

/// How to start a forwarder at an address.
fn start(address: &Address) -> String {
    match address {
        Address::Unix(path) if path == Path::new(DEFAULT_SOCKET) => "weir daemon".to_owned(),
        Address::Unix(path) => {
            let path = path.display();
            format!("weir daemon --config FILE, with unix = \"{path}\" under [listen] of FILE")
        }
        _ => "weir daemon, on the host of this address".to_owned(),
    }
}

fn judge_socket(path: &Path, file: &Access) -> Check {
    let found = format!("mode {:03o}, group {}", file.mode & 0o777, file.group);
    let check = Check::good("forwarder-socket", found, "closed to other users, as mode 660");
    let check = check.of(path.display());
    if file.mode & OTHERS_WRITE == 0 {
        return check;
    }
    check.but(Verdict::Advice, "unix_mode = \"660\" and unix_group = \"GROUP\" under [listen]")
}

/// A user with write permission for the folder can replace the socket by another one.
fn judge_folder(folder: &Path, found: &Access) -> Check {
    let text = format!("mode {:04o}", found.mode);
    let check = Check::good("forwarder-folder", text, "not writable by other users");
    let check = check.of(folder.display());
    if found.mode & OTHERS_WRITE == 0 || found.mode & STICKY != 0 {
        return check;
    }
    check.but(Verdict::Wrong, format!("chmod o-w {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(path: &str) -> Address {
        Address::Unix(path.into())
    }

    fn verdict(answer: &Answer) -> Verdict {
        judge_answer(answer, &unix("/a.sock"), None).result
    }

    #[test]
    fn a_forwarder_is_good_and_none_is_no_failure() {
        assert_eq!(verdict(&Answer::Version(VERSION.to_owned())), Verdict::Good);
        assert_eq!(verdict(&Answer::Version("0.7.1-NFD".to_owned())), Verdict::Good);
        assert_eq!(verdict(&Answer::Version("weir-0.0.1".to_owned())), Verdict::Advice);
        assert_eq!(verdict(&Answer::Nothing), Verdict::Advice);
        assert_eq!(verdict(&Answer::Broken("it sends HTTP".to_owned())), Verdict::Wrong);
    }

    #[test]
    fn a_user_joins_the_group_of_the_socket() {
        let file = Access { mode: 0o660, group: "ndn".to_owned() };
        let check = judge_answer(&Answer::NotAllowed, &unix("/a.sock"), Some(&file));
        assert_eq!(check.result, Verdict::Wrong);
        let change = check.change.unwrap();
        assert!(change.starts_with("usermod --append --groups ndn "), "{change}");
    }

    #[test]
    fn a_forwarder_is_started_at_the_address_in_question() {
        assert_eq!(start(&unix(DEFAULT_SOCKET)), "weir daemon");
        assert!(start(&unix("/tmp/a.sock")).contains("unix = \"/tmp/a.sock\""));
        assert!(start(&"tcp://127.0.0.1".parse().unwrap()).contains("on the host"));
    }

    #[test]
    fn a_socket_for_everybody_is_advice_and_a_folder_for_everybody_is_wrong() {
        let with = |mode| Access { mode, group: "ndn".to_owned() };
        let socket = |mode| judge_socket(Path::new("/a/b"), &with(mode)).result;
        assert_eq!((socket(0o660), socket(0o666)), (Verdict::Good, Verdict::Advice));
        let folder = |mode| judge_folder(Path::new("/a"), &with(mode));
        assert_eq!(folder(0o750).result, Verdict::Good);
        assert_eq!(folder(0o1777).result, Verdict::Good, "only its owner replaces the socket");
        assert_eq!(folder(0o777).change.as_deref(), Some("chmod o-w /a"));
    }

    #[test]
    fn an_address_that_is_none_is_wrong() {
        let error = "tcp5://a".parse::<Address>().unwrap_err();
        let check = no_address(&error.to_string());
        assert_eq!(check.result, Verdict::Wrong);
        assert!(check.change.unwrap().starts_with("write it like unix:///"));
    }
}
