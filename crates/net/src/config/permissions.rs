//! Sections on rights to command and announce, and on prefixes for the hosts behind this one.

use super::values::{modules, names, texts};
use crate::management::authority::{MODULES, Origin};
use control::Duration;
use document::{Fields, Read, Section, Words};
use packet::Name;
use std::path::PathBuf;

/// Routes by prefix announcements: those that the strategy `self-learning` receives, and those of
/// the command `rib/announce`, which makes routes for programs that may command `rib`.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
#[section(name = "announcements", check = Announcements::checked)]
pub struct Announcements {
    /// Announcements that strategies accept. `any`: an announcement makes a route to its incoming
    /// face, for ten minutes at most; only a digest is verified, no key's signature, so this is for
    /// links whose nodes trust each other. `trusted`: the same if `trust` accepts its signer.
    /// `off`: none makes a route, and `self-learning` asks all peers each time.
    #[field(default = "off")]
    pub accept: Accept,
    /// File of [trust rules](trust.md), or of a certificate, with the accepted signers of
    /// announcements, also of commanded ones; `data` are their names,
    /// `/<prefix>/32=PA/<version>/<segment>`. Certificates are fetched. Without it any key may sign
    /// a commanded announcement, as with NFD's `trust-anchor any`.
    pub trust: Option<PathBuf>,
}

/// The prefix announcements that make routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Accept {
    /// None.
    Off,
    /// All.
    Any,
    /// Those whose signers the trust rules allow.
    Trusted,
}

impl Announcements {
    fn checked(self, section: &Section<'_>) -> Option<Announcements> {
        let why = match (self.accept, section.given("trust").is_some()) {
            (Accept::Any, true) => {
                "with `trust` the signatures are verified: write `\"trusted\"` or `\"off\"`"
            }
            (Accept::Trusted, false) => "`trusted` needs `trust`, the file of the accepted signers",
            _ => return Some(self),
        };
        section.doc.mistake(section.place("accept"), why);
        Some(self)
    }
}

/// Lets programs send management commands. Without any such section, programs of the daemon's own
/// user and of root may send every command, and peers none. Programs of other users, and those of
/// an unknown user (by UDP and WebSocket), may then register prefixes for themselves: not `/`, nor
/// names that an application of another user has registered. With a section, each command needs one
/// that allows it. A rejected command is answered with 403 and logged with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
#[section(name = "authorize", repeated, check = Authorize::checked)]
pub struct Authorize {
    /// Applications of this host, or peers, which command under `/localhop/nfd` and only `rib`,
    /// with a `key` or `trust`.
    #[field(default = "local")]
    pub from: Origin,
    /// `"rib"`, `"fib"`, `"faces"`, `"cs"`, `"strategy-choice"`, `"trace"`, or a list of these.
    /// Without it: all of them; for peers, `"rib"`.
    #[field(name = "commands", default, form = "modules", with = modules)]
    pub modules: Vec<String>,
    /// Only commands about names below it.
    #[field(default = "/")]
    pub prefix: Name,
    /// Only programs of these users, by name or number. The kernel reports the user at the other
    /// end of a Unix socket or of a TCP connection within this host. Without it and without
    /// `group`: programs of all users.
    #[field(default, form = "user, or list of users", with = texts)]
    pub user: Vec<String>,
    /// Only programs of users in these groups, by name or number; with `user`, of either.
    #[field(default, form = "group, or list of groups", with = texts)]
    pub group: Vec<String>,
    /// File with the certificate of the key that has to sign, as `weir key new` prints it. Without
    /// it and without `trust`: any signature is accepted, also a digest.
    pub key: Option<PathBuf>,
    /// Instead of `key`: file of [trust rules](trust.md), or of a certificate whose key certifies
    /// others. A chain of certificates has to lead from the command's key to an anchor.
    /// Certificates are fetched, also from the sender of the command.
    pub trust: Option<PathBuf>,
    /// The largest difference between the time of a signature and this host's clock. Each command
    /// is accepted once. A key's commands must also be signed in order.
    #[field(default = "2 min")]
    pub skew: Duration,
}

impl Authorize {
    fn checked(mut self, section: &Section<'_>) -> Option<Authorize> {
        let doc = section.doc;
        let has_signer = self.key.is_some() || self.trust.is_some();
        if self.key.is_some() && self.trust.is_some() {
            let why = "a section has a `key` or `trust`; write two sections for both";
            doc.mistake(section.place("trust"), why);
        }
        let is_remote = self.from == Origin::Remote;
        if is_remote && !has_signer {
            doc.mistake(section.place("from"), "peers may command only with a `key` or `trust`");
        }
        if is_remote && !(self.user.is_empty() && self.group.is_empty()) {
            let why = "the user of a peer is not known; write a `key` or `trust`";
            doc.mistake(section.place("from"), why);
        }
        if is_remote && self.modules.iter().any(|module| module != "rib") {
            doc.mistake(section.place("commands"), "peers may command only `rib`");
        }
        if section.given("commands").is_none() {
            let all: &[&str] = if is_remote { &["rib"] } else { &MODULES };
            self.modules = all.iter().map(|module| (*module).to_owned()).collect();
        }
        Some(self)
    }
}

/// Answers to hub discovery, as with ndn-autoconfig.
#[derive(Debug, Fields, Read)]
#[section(name = "hub")]
pub(super) struct Hub {
    /// Prefixes by which the network finds the applications behind this host. They answer requests
    /// for `/localhop/nfd/rib/routable-prefixes` from peers and applications.
    #[field(default, form = "name, or list of names", with = names)]
    pub(super) prefixes: Vec<Name>,
}

impl Authorize {
    pub(super) fn is_for_everybody(&self) -> bool {
        let (users, keys) = (self.user.len() + self.group.len(), [&self.key, &self.trust]);
        self.from == Origin::Local && users == 0 && keys.iter().all(|key| key.is_none())
    }

    pub(super) fn warning(&self, number: usize) -> String {
        let which = match self.modules.len() {
            most if most == MODULES.len() => "all commands".to_owned(),
            _ => format!("the commands of {}", self.modules.join(", ")),
        };
        format!(
            "[[authorize]] number {number} lets every program of this host send {which}; name a \
             `user`, a `group` or a `key` in it"
        )
    }
}
