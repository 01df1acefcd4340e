//! `weir cs`

use super::Session;
use super::flags::{flag_names, flags};
use crate::cli::manage::{CsCommand, ListArgs};
use crate::exit::Failure;
use crate::output::counted;
use net::client::lists;
use net::management::parameters::ControlParameters;
use packet::Name;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of `weir cs config`.
#[derive(JsonSchema, Serialize)]
pub struct Configured {
    /// The largest number of packets.
    capacity: u64,
    /// Its flags: `admit` stores packets, `serve` answers with them.
    #[schemars(extend("items" = { "type": "string", "enum": ["admit", "serve"] }))]
    flags: Vec<&'static str>,
}

/// The content store, as `weir cs info` shows it.
#[derive(JsonSchema, Serialize)]
pub struct Info {
    #[serde(flatten)]
    configured: Configured,
    /// Packets in it.
    entries: u64,
    /// Interests that it answered.
    hits: u64,
    /// Interests that it did not answer.
    misses: u64,
}

/// The result of `weir cs erase`.
#[derive(JsonSchema, Serialize)]
pub struct Erased {
    /// The prefix.
    prefix: String,
    /// Packets that were erased.
    erased: u64,
}

const ADMIT: u64 = 1;
const SERVE: u64 = 2;
const FLAGS: [(u64, &str); 2] = [(ADMIT, "admit"), (SERVE, "serve")];

/// Shows, configures or empties the content store.
pub fn run(command: &CsCommand) -> Result<(), Failure> {
    match command {
        CsCommand::Info(args) => info(args),
        CsCommand::Config { capacity, admit, serve, list } => {
            let mut session = Session::open(list)?;
            let (flags, mask) = flags(&[(*admit, ADMIT), (*serve, SERVE)]);
            let asked = ControlParameters {
                capacity: *capacity,
                flags,
                mask,
                ..ControlParameters::default()
            };
            let what = "configure its content store";
            let body = session.command(["nfd", "cs", "config"], &asked, what, &[])?.body;
            let (capacity, flags) = (body.capacity.unwrap_or(0), body.flags.unwrap_or(0));
            let object = Configured { capacity, flags: flag_names(flags, &FLAGS) };
            session.print(&object, &holds(capacity, flags))
        }
        CsCommand::Erase { prefix, count, list } => erase(prefix, *count, list),
    }
}

fn holds(capacity: u64, flags: u64) -> String {
    let admit = if flags & ADMIT == 0 { "off" } else { "on" };
    let serve = if flags & SERVE == 0 { "off" } else { "on" };
    let packets = counted(capacity, "packet");
    format!("at most {packets}; admit {admit}, serve {serve}")
}

fn info(args: &ListArgs) -> Result<(), Failure> {
    let mut session = Session::open(args)?;
    let store = lists::store(&mut session.connection)?;
    let configured =
        Configured { capacity: store.capacity, flags: flag_names(store.flags, &FLAGS) };
    let object =
        Info { configured, entries: store.entries, hits: store.hits, misses: store.misses };
    let asked = store.hits + store.misses;
    let line = format!(
        "{}, {}\ncache hits: {} of {asked}",
        counted(store.entries, "packet"),
        holds(store.capacity, store.flags),
        store.hits,
    );
    session.print(&object, &line)
}

/// Forwarders erase a limited number of packets at a time.
fn erase(prefix: &Name, count: Option<u64>, list: &ListArgs) -> Result<(), Failure> {
    let mut session = Session::open(list)?;
    let mut erased = 0;
    loop {
        let asked = ControlParameters {
            name: Some(prefix.clone()),
            count: count.map(|count| count - erased),
            ..ControlParameters::default()
        };
        let what = format!("erase {prefix}");
        let body = session.command(["nfd", "cs", "erase"], &asked, &what, &[])?.body;
        let now = body.count.unwrap_or(0);
        erased += now;
        if body.capacity.is_none() || now == 0 || count.is_some_and(|count| erased >= count) {
            break;
        }
    }
    let object = Erased { prefix: prefix.to_string(), erased };
    session.print(&object, &format!("{} erased", counted(erased, "packet")))
}
