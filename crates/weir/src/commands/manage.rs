//! Commands to a running forwarder by NFD's management protocol, so that it may be another one than
//! Weir's.

pub mod face;
pub mod route;
pub mod store;
pub mod strategy;
pub mod trace;

use crate::cli::manage::{ListArgs, Switch};
use crate::exit::{Failure, Kind, Word};
use crate::identity;
use crate::output::{self, Table};
use crate::signals::Stop;
use net::client::{Address, Connection, lists};
use net::management::parameters::ControlParameters;
use net::management::response::ControlResponse;
use net::uri::{FaceUri, Transport, UriError};
use schemars::JsonSchema;
use serde::Serialize;

/// A connection to the forwarder; the first signal ends its commands.
struct Session {
    connection: Connection,
    json: bool,
    stop: Stop,
}

impl Session {
    fn open(args: &ListArgs) -> Result<Session, Failure> {
        let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
        let signer = identity::commander(args.sign.as_ref())?;
        let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
        connection.sign_commands(signer);
        Ok(Session { connection, json: args.json, stop })
    }

    /// Sends a command; `what` names its action in messages. A response with one of the codes
    /// `also` is not an error.
    fn command(
        &mut self,
        verb: [&str; 3],
        asked: &ControlParameters,
        what: &str,
        also: &[u64],
    ) -> Result<ControlResponse, Failure> {
        let answer = self.connection.control(verb, asked, what)?;
        if answer.code == 200 || also.contains(&answer.code) {
            return Ok(answer);
        }
        let (kind, next) = next_step(answer.code, verb[1]);
        let ControlResponse { code, text, .. } = answer;
        Err(Failure::new(kind, format!("the forwarder refused to {what}: {code} {text}"))
            .then(&next))
    }

    /// The face of this number or URI.
    fn face(&mut self, given: &str) -> Result<u64, Failure> {
        let faces = lists::faces(&mut self.connection)?;
        let number = given.parse::<u64>().ok();
        let uri = canonical(given).unwrap_or_else(|_| given.to_owned());
        let found = faces.iter().find(|face| match number {
            Some(id) => face.id == id,
            None => face.uri == uri,
        });
        found.map(|face| face.id).ok_or_else(|| {
            let text = format!("the forwarder has no face {uri}");
            Failure::new(Kind::NotFound, text).then("`weir face list` lists them")
        })
    }

    /// Prints an object, or a line for people.
    fn print(&self, object: &(impl Serialize + JsonSchema), line: &str) -> Result<(), Failure> {
        if self.json { output::json(object) } else { output::result(line) }
    }

    /// Prints a list as JSON, or as a table.
    fn list(&self, objects: &[impl Serialize + JsonSchema], table: &Table) -> Result<(), Failure> {
        if self.json {
            return output::json(objects);
        }
        let width = output::width(std::io::stdout());
        table.lines(width).iter().try_for_each(|line| output::result(line))
    }
}

/// The word for a rejection by a module of the forwarder, and the next step.
fn next_step(code: u64, module: &str) -> (Word, String) {
    let (group, list) = match module {
        "faces" => ("face", "face list"),
        "rib" => ("route", "route list"),
        "strategy-choice" => ("strategy", "strategy list"),
        _ => ("cs", "cs info"),
    };
    match code {
        403 => {
            let next = "its configuration lists who may send commands; --sign chooses a key";
            (Word::Rejected, next.to_owned())
        }
        404 | 410 => (Word::NotFound, format!("see `weir {list}`")),
        400 => (Word::Usage, format!("see `weir {group} --help`")),
        _ => (Word::Rejected, "see the forwarder's log".to_owned()),
    }
}

/// A URI as forwarders write it: a host is looked up, a port filled in.
fn canonical(uri: &str) -> Result<String, Failure> {
    let uri: FaceUri = uri.parse().map_err(|error: UriError| Failure::new(Kind::Usage, error))?;
    let FaceUri::Internet { transport, .. } = &uri else { return Ok(uri.to_string()) };
    let address = uri
        .resolve()
        .map_err(|error| Failure::new(Kind::Failed, format!("cannot find {uri}: {error}")))?;
    Ok(match transport {
        Transport::Udp => FaceUri::udp(address).to_string(),
        Transport::Tcp => FaceUri::tcp(address).to_string(),
    })
}

/// Flags and their mask, of the given switches.
fn flags(switches: &[(Option<Switch>, u64)]) -> (Option<u64>, Option<u64>) {
    let given = switches.iter().filter_map(|(switch, bit)| Some(((*switch)?, *bit)));
    let (mut flags, mut mask) = (0, 0);
    for (switch, bit) in given {
        mask |= bit;
        flags |= if switch == Switch::On { bit } else { 0 };
    }
    if mask == 0 { (None, None) } else { (Some(flags), Some(mask)) }
}

/// The words of the set bits.
fn flag_names(flags: u64, names: &[(u64, &'static str)]) -> Vec<&'static str> {
    names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_flags_are_in_the_mask() {
        assert_eq!(flags(&[(None, 1), (None, 2)]), (None, None));
        let some = [(Some(Switch::On), 2), (None, 1), (Some(Switch::Off), 4)];
        assert_eq!(flags(&some), (Some(2), Some(6)));
        assert_eq!(flag_names(6, &[(1, "a"), (2, "b"), (4, "c")]), ["b", "c"]);
    }

    #[test]
    fn a_rejection_names_the_command_that_helps() {
        for (code, module, kind, next) in [
            (400, "faces", Word::Usage, "see `weir face --help`"),
            (400, "cs", Word::Usage, "see `weir cs --help`"),
            (404, "strategy-choice", Word::NotFound, "see `weir strategy list`"),
            (410, "rib", Word::NotFound, "see `weir route list`"),
        ] {
            assert_eq!(next_step(code, module), (kind, next.to_owned()));
        }
    }

    #[test]
    fn uris_are_sent_as_forwarders_write_them() {
        for (given, sent) in [
            ("udp://127.0.0.1", "udp4://127.0.0.1:6363"),
            ("tcp6://[::1]:9", "tcp6://[::1]:9"),
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
        ] {
            assert_eq!(canonical(given).unwrap(), sent);
        }
        assert!(canonical("127.0.0.1").unwrap_err().to_string().contains("no `://`"));
    }
}
