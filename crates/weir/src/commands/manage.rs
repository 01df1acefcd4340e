//! Commands to a running forwarder by NFD's management protocol, so that it may be another one than
//! Weir's.

mod canonical;
pub mod face;
mod flags;
pub mod route;
pub mod store;
pub mod strategy;
pub mod trace;

use crate::cli::manage::ListArgs;
use crate::exit::{Failure, Kind, Word};
use crate::identity;
use crate::output::{self, Table};
use crate::signals::Stop;
use canonical::canonical;
use net::client::{Address, Connection, lists};
use net::management::parameters::ControlParameters;
use net::management::response::ControlResponse;
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
