//! The commands with `--json`, and the types that they print.

use super::super::{
    demo, docs, get, key, ls, manage, mount, peek, perf, ping, proxy, put, repo, schemes, status,
    study, sweep, traceroute,
};
use super::generated::of;
use crate::consumer::Summary;
use schemars::{JsonSchema, Schema};

/// The form of an output.
pub enum Form {
    /// One object.
    Object,
    /// One list.
    List,
    /// Objects, one per line.
    Lines,
}

/// A command.
pub struct Entry {
    /// Its words, without `weir`.
    pub command: &'static str,
    /// The form of its output.
    pub form: Form,
    /// The time of its output, if that is not its end.
    pub note: &'static str,
    /// The schema of its output.
    pub schema: fn() -> Schema,
}

impl Entry {
    /// The name of its schema.
    pub fn file_name(&self) -> String {
        self.command.replace(' ', "-")
    }
}

const fn object(command: &'static str, schema: fn() -> Schema) -> Entry {
    Entry { command, form: Form::Object, note: "", schema }
}

const fn list(command: &'static str, schema: fn() -> Schema) -> Entry {
    Entry { command, form: Form::List, note: "", schema }
}

const fn lines(command: &'static str, note: &'static str, schema: fn() -> Schema) -> Entry {
    Entry { command, form: Form::Lines, note, schema }
}

impl Entry {
    const fn noted(self, note: &'static str) -> Entry {
        Entry { note, ..self }
    }
}

/// The output of `weir get`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Fetched {
    /// Of an object.
    Object(Summary),
    /// Of a tree: the name ends in a slash.
    Tree(get::TreeSummary),
}

const SERVING: &str = "The first line is printed when serving begins, the last one at the end.";
const FOUND: &str = "It is printed also if the command fails after it has begun.";

/// All commands with `--json`.
pub const ENTRIES: &[Entry] = &[
    lines("put", SERVING, of::<put::Printed>),
    lines("share", SERVING, of::<put::Printed>),
    object("get", of::<Fetched>)
        .noted("With `-o -` it is printed on standard error: standard output has the content."),
    lines("ls", "Each entry has a line.", of::<ls::Line>),
    object("cat", of::<Summary>)
        .noted("It is printed on standard error: standard output has the content."),
    object("mount", of::<mount::Ready>).noted("It is printed when the content is mounted."),
    object("peek", of::<peek::Packet>),
    object("ping", of::<ping::Printed>).noted(FOUND),
    object("traceroute", of::<traceroute::Summary>).noted(FOUND),
    lines("perf server", SERVING, of::<perf::Printed>),
    object("perf client", of::<perf::Report>).noted(FOUND),
    lines("chat", "Each event has a line.", of::<crate::chat::ChatLine>),
    lines("repo run", SERVING, of::<repo::Printed>),
    object("repo put", of::<repo::Kept>),
    object("repo fetch", of::<repo::Kept>),
    lines("repo ls", "Each object and tree has a line.", of::<repo::Row>),
    lines("repo stat", "Each version has a line.", of::<repo::Row>),
    object("repo rm", of::<repo::Removed>),
    object("repo verify", of::<repo::Verification>)
        .noted("It is printed also if something is damaged."),
    object("repo export", of::<repo::Exported>)
        .noted("With `-` it is printed on standard error: standard output has the content."),
    object("repo gc", of::<repo::Collected>),
    lines("proxy", SERVING, of::<proxy::Printed>),
    lines(
        "gateway",
        "The first line is printed when the gateway listens, and one after each answer.",
        of::<crate::gateway::Printed<'_>>,
    ),
    object("status", of::<status::Printed<'_>>).noted("With `--watch`, one per second and line."),
    object("docs", of::<docs::Ready<'_>>).noted("It is printed when the documentation is served."),
    list("doctor", of::<Vec<crate::doctor::Check>>)
        .noted("It is printed also if a result is `wrong`, which is a failure."),
    list("face list", of::<Vec<manage::face::Face>>),
    object("face create", of::<manage::face::Created>),
    object("face update", of::<manage::face::FaceReply>),
    object("face destroy", of::<manage::face::Destroyed>),
    list("route list", of::<Vec<manage::route::Route>>),
    object("route add", of::<manage::route::Added>),
    object("route remove", of::<manage::route::Removed>),
    list("strategy list", of::<Vec<manage::strategy::Choice>>),
    object("strategy set", of::<manage::strategy::Choice>),
    object("strategy unset", of::<manage::strategy::Unset>),
    object("cs info", of::<manage::store::Info>),
    object("cs config", of::<manage::store::Configured>),
    object("cs erase", of::<manage::store::Erased>),
    lines("trace", "Each packet has a line.", of::<manage::trace::Printed>),
    list("schemes", of::<Vec<schemes::Row>>),
    list("key list", of::<Vec<key::Key>>)
        .noted("It is printed also if a key file cannot be read, which is a failure."),
    object("sim run", of::<report::Summary>)
        .noted("The fields are those of [results](results.md). A sweep has all runs."),
    object("sweep", of::<sweep::Printed>),
    object("study", of::<study::Printed<'_>>).noted("It is printed also if a claim does not hold."),
    object("testbed run", of::<report::Summary>)
        .noted("The fields are those of [results](results.md). A sweep has all runs."),
    object("testbed up", of::<::testbed::Described>)
        .noted("It is printed when the network is ready."),
    object("compare", of::<report::Comparison>)
        .noted("It is printed also if differences exceed `--within`, which is a failure."),
    object("demo", of::<demo::Summary>),
];
