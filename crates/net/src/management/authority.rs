//! Permissions to send commands: the configuration's `[[authorize]]`. Without any, the programs of
//! the daemon's own user and of root may send every command, and those of other users may register
//! prefixes for themselves, within limits ([`Rule::is_bounded`]).

mod once;
mod replay;

use super::command::Arrival;

use super::checks::{CheckError, Checks};
use super::command::{Claim, Command, Rejection};
use control::{Duration, Time};
use document::Words;
use once::AcceptedCommands;
use packet::{KeyLocator, Name, NameRef, SignatureType};
use replay::Replays;
use security::trust::{Broken, ChainError};
use security::{Certificate, Validator};
use std::sync::Arc;

/// The modules that commands belong to.
pub const MODULES: [&str; 6] = ["rib", "fib", "faces", "cs", "strategy-choice", "trace"];

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Origin {
    /// An application of this host, under `/localhost`.
    Local,
    /// A peer, under `/localhop`.
    Remote,
}

/// The user with all permissions on a host.
const ROOT: u32 = 0;

/// The signatures that a rule accepts.
#[derive(Clone, Debug)]
pub enum AcceptedSignature {
    /// Any signature, a digest included.
    Any,
    /// The signature of one key.
    Key(Box<Certificate>),
    /// The signature of a key at the end of a chain of certificates from an anchor.
    Trusted(Arc<Validator>),
}

/// The user whose program is at the other end of a face, as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user's number.
    pub uid: u32,
    /// The number of the user's main group; `None` if only the user is known.
    pub gid: Option<u32>,
}

/// The users whose programs a rule allows; all users if the lists are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// By the numbers of users.
    pub uids: Vec<u32>,
    /// By the numbers of their main groups.
    pub gids: Vec<u32>,
}

impl Users {
    /// True if programs of this user are included; `None` is an unknown user.
    #[must_use]
    pub fn have(&self, account: Option<Account>) -> bool {
        if self.uids.is_empty() && self.gids.is_empty() {
            return true;
        }
        let Some(account) = account else { return false };
        self.uids.contains(&account.uid) || account.gid.is_some_and(|gid| self.gids.contains(&gid))
    }
}

/// A rule that allows commands.
#[derive(Clone, Debug)]
pub struct Rule {
    /// From where.
    pub from: Origin,
    /// The allowed ones of [`MODULES`].
    pub modules: Vec<String>,
    /// Routes, strategies and cached Data below this name only.
    pub prefix: Name,
    /// The accepted signatures.
    pub who: AcceptedSignature,
    /// Programs of these users only.
    pub users: Users,
    /// Permits only an application's own routes: none for `/`, none to another face, and none for
    /// names that an application of another user has registered.
    pub is_bounded: bool,
    /// The maximum difference between the time of a signature and this host's.
    pub skew: Duration,
}

/// The skew of a host without rules.
const SKEW: Duration = Duration::from_secs(120);

/// Permission to execute a command, if it is a new one.
#[derive(Debug)]
pub struct Grant {
    /// The key that signed it, if the signature was verified.
    key: Option<Name>,
    from: Origin,
    /// The maximum difference between its time and this host's.
    skew: Duration,
    /// See [`Rule::is_bounded`].
    pub is_bounded: bool,
}

/// Why a command may not be executed, or not yet.
#[derive(Debug)]
pub enum Denial {
    /// It is rejected.
    Rejected(Rejection),
    /// It is rejected, possibly because these certificates are forged.
    Untrusted(String, Vec<Name>),
    /// A certificate is missing.
    Missing(Box<MissingCertificate>),
}

/// A missing certificate.
#[derive(Debug)]
pub struct MissingCertificate {
    /// As the signature names it: a certificate, or a key.
    pub name: Name,
    /// The validator that needs it.
    pub validator: Arc<Validator>,
    /// The message if it cannot be fetched.
    pub why: String,
}

impl From<Rejection> for Denial {
    fn from(rejection: Rejection) -> Denial {
        Denial::Rejected(rejection)
    }
}

impl CheckError for Denial {
    fn is_incomplete(&self) -> bool {
        matches!(self, Denial::Missing(_))
    }
}

impl Denial {
    /// The denial of a command or announcement whose chain does not end at an anchor.
    pub(super) fn of(broken: &ChainError, validator: &Arc<Validator>) -> Denial {
        let why = broken.to_string();
        match &broken.why {
            Broken::Missing(name) => {
                let (name, validator) = (name.clone(), Arc::clone(validator));
                Denial::Missing(Box::new(MissingCertificate { name, validator, why }))
            }
            Broken::Signature { .. } | Broken::WrongType { .. } => {
                Denial::Untrusted(why, broken.chain.clone())
            }
            _ => Rejection::Unauthorized(why).into(),
        }
    }
}

impl Rule {
    /// The rule without a configuration: applications of this host may send every command.
    #[must_use]
    pub fn everything_here() -> Rule {
        Rule {
            from: Origin::Local,
            modules: MODULES.map(str::to_owned).to_vec(),
            prefix: Name::new(),
            who: AcceptedSignature::Any,
            users: Users::default(),
            is_bounded: false,
            skew: SKEW,
        }
    }

    /// The rules without a configuration, in the daemon of this user.
    fn defaults(owner: u32) -> Vec<Rule> {
        let owners = Users { uids: vec![owner, ROOT], gids: Vec::new() };
        let modules = vec!["rib".to_owned()];
        vec![
            Rule { users: owners, ..Rule::everything_here() },
            Rule { modules, is_bounded: true, ..Rule::everything_here() },
        ]
    }

    fn is_about(&self, command: &Command<'_>, from: Origin) -> bool {
        let has = self.modules.iter().any(|module| module.as_bytes() == command.module);
        let name = command.asked.name().unwrap_or_default();
        self.from == from && has && name.as_ref().starts_with(self.prefix.as_ref())
    }

    fn judge(
        &self,
        command: &Command<'_>,
        wall_ms: u64,
        checks: &mut Checks,
    ) -> Result<Grant, Denial> {
        let claim = &command.claim;
        let key = match &self.who {
            AcceptedSignature::Any => return Ok(self.grant(None)),
            _ if claim.kind == SignatureType::DigestSha256 => {
                let why = "a digest does not identify the sender; a signature by a key is needed";
                return Err(Rejection::unauthorized(why).into());
            }
            AcceptedSignature::Key(key) => checks.time(|| {
                judge(key, claim, wall_ms).map_err(|why| Denial::from(Rejection::Unauthorized(why)))
            })?,
            AcceptedSignature::Trusted(validator) => checks.time(|| {
                let judged = command.judged_by(validator, wall_ms / 1000);
                judged.map_err(|broken| Denial::of(&broken, validator))
            })?,
        };
        Ok(self.grant(Some(key)))
    }

    fn grant(&self, key: Option<Name>) -> Grant {
        Grant { key, from: self.from, skew: self.skew, is_bounded: self.is_bounded }
    }
}

/// The rules, and the commands that they have let pass.
#[derive(Debug)]
pub struct Authority {
    /// The user that the daemon runs as, if it is known.
    owner: Option<u32>,
    /// When the daemon started, in milliseconds since 1970.
    started_ms: u64,
    rules: Vec<Rule>,
    replays: Replays,
    /// Commands without a verified key, local ones and those of peers.
    local: AcceptedCommands,
    remote: AcceptedCommands,
    /// The times of signature checks of commands.
    checks: Checks,
}

impl Authority {
    /// An authority with these rules, or without any with [`Rule::everything_here`].
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Authority {
        let mut made = Authority {
            owner: None,
            started_ms: u64::MAX,
            rules: Vec::new(),
            replays: Replays::default(),
            local: AcceptedCommands::new(once::LOCAL),
            remote: AcceptedCommands::new(once::REMOTE),
            checks: Checks::default(),
        };
        made.set_rules(rules);
        made
    }

    /// Replaces the rules. Commands that were executed before are still rejected.
    pub fn set_rules(&mut self, rules: Vec<Rule>) {
        self.rules = match self.owner {
            _ if !rules.is_empty() => rules,
            Some(owner) => Rule::defaults(owner),
            None => vec![Rule::everything_here()],
        };
    }

    /// The daemon runs as this user. To be called before [`Authority::set_rules`].
    pub fn set_owner(&mut self, owner: u32) {
        self.owner = Some(owner);
    }

    /// The same in a daemon that started then, in milliseconds since 1970.
    #[must_use]
    pub fn started(self, wall_ms: u64) -> Authority {
        Authority { started_ms: wall_ms, ..self }
    }

    /// True if peers may send commands.
    #[must_use]
    pub fn takes_remote_commands(&self) -> bool {
        self.rules.iter().any(|rule| rule.from == Origin::Remote)
    }

    /// Checks a command against the rules, `wall_ms` milliseconds after the beginning of 1970. A
    /// permitted command must then be [admitted](Authority::admit).
    ///
    /// # Errors
    /// No rule permits the command. The error is the reason of the last rule for such commands or,
    /// if a rule may still permit it, the missing certificate.
    pub fn permit(
        &mut self,
        command: &Command<'_>,
        from: Origin,
        account: Option<Account>,
        wall_ms: u64,
    ) -> Result<Grant, Denial> {
        let why = match (from, account) {
            (Origin::Local, Some(Account { uid, .. })) => format!(
                "no rule allows this to programs of user {uid}; an [[authorize]] section does, \
                 and a program of the daemon's own user needs none"
            ),
            _ => "no rule allows this command from there".to_owned(),
        };
        let mut denial = Denial::from(Rejection::Unauthorized(why));
        let Authority { rules, checks, .. } = self;
        for rule in rules {
            if !rule.is_about(command, from) || !rule.users.have(account) {
                continue;
            }
            match rule.judge(command, wall_ms, checks) {
                Ok(grant) => return Ok(grant),
                Err(Denial::Rejected(_) | Denial::Untrusted(..))
                    if matches!(denial, Denial::Missing(_)) => {}
                Err(other) => denial = other,
            }
        }
        Err(denial)
    }

    /// Accepts a permitted command if it is new, and remembers it.
    ///
    /// # Errors
    /// It was received before, or may have been.
    pub fn admit(
        &mut self,
        grant: Grant,
        claim: &Claim<'_>,
        arrival: Arrival,
    ) -> Result<(), Rejection> {
        // An earlier run of the daemon may have accepted a command from before the start. The start
        // is the recorded time or the current time minus the uptime, whichever is earlier, so that
        // setting the clock locks no program out.
        let ran_ms = arrival.now.since(Time::ZERO).as_millis();
        let started_ms = self.started_ms.min(arrival.wall_ms.saturating_sub(ran_ms));
        if let Some(time_ms) = claim.time_ms
            && time_ms < started_ms
            && arrival.wall_ms.abs_diff(time_ms) <= grant.skew.as_millis()
        {
            let why = "the command was signed before this forwarder started; sign it again";
            return Err(Rejection::unauthorized(why));
        }
        match (grant.key, grant.from) {
            (Some(key), _) => self.replays.admit(key, claim, arrival.wall_ms, grant.skew),
            (None, Origin::Local) => self.local.admit(claim, arrival, grant.skew),
            (None, Origin::Remote) => self.remote.admit(claim, arrival, grant.skew),
        }
    }

    /// The times of signature checks of commands.
    #[must_use]
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    /// Bytes that remembered commands without a key take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.local.memory() + self.remote.memory()
    }
}

/// The name of the certificate's key if it made the signature.
fn judge(key: &Certificate, claim: &Claim<'_>, wall_ms: u64) -> Result<Name, String> {
    let name = key.key_name();
    match claim.key {
        Some(KeyLocator::Name(given)) if !is_key(given, name.as_ref()) => {
            return Err(format!("the key {given} may not send this command"));
        }
        Some(KeyLocator::Digest(given)) if given != key.public_key().digest() => {
            return Err("the key of that digest may not send this command".into());
        }
        None => return Err("the signature does not name its key".into()),
        Some(_) => {}
    }
    if !key.validity().contains(wall_ms / 1000) {
        return Err(format!("the certificate of {name} is not valid now"));
    }
    let fits = claim.kind == key.public_key().signature_type();
    if !fits || !key.public_key().verifies(&claim.message(), claim.value) {
        return Err(format!("the signature by {name} is wrong"));
    }
    Ok(name)
}

/// True if a KeyLocator's name is the key's, or that of one of its certificates.
fn is_key(given: NameRef<'_>, key: NameRef<'_>) -> bool {
    given == key || given.len() == key.len() + 2 && given.starts_with(key)
}

#[cfg(test)]
mod tests;
