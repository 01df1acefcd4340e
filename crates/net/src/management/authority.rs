//! Who may command what: the configuration's `[[authorize]]`, and without any, applications of this
//! host everything.

mod replay;

use super::command::{Claim, Command, Refusal};
use control::Duration;
use packet::{KeyLocator, Name, NameRef, SignatureType};
use replay::Replays;
use security::trust::{Broken, ChainError};
use security::{Certificate, Validator};
use std::sync::Arc;

/// The modules that commands belong to.
pub const MODULES: [&str; 5] = ["rib", "fib", "faces", "cs", "strategy-choice"];

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An application of this host, under `/localhost`.
    Local,
    /// A peer, under `/localhop`.
    Remote,
}

/// Whose signature a rule takes.
#[derive(Clone, Debug)]
pub enum Who {
    /// Anybody's, a digest included.
    Anybody,
    /// That of one key.
    Key(Box<Certificate>),
    /// That of a key which a chain of certificates leads to from an anchor.
    Trusted(Arc<Validator>),
}

/// Lets somebody command something.
#[derive(Clone, Debug)]
pub struct Rule {
    /// From where.
    pub from: Origin,
    /// Which of [`MODULES`].
    pub modules: Vec<String>,
    /// Routes, strategies and cached Data below this name only.
    pub prefix: Name,
    /// Who.
    pub who: Who,
    /// How far the time of a key's signature may be from this host's.
    pub skew: Duration,
}

/// That a command may be obeyed, if it is a new one.
#[derive(Debug)]
pub struct Grant {
    /// The key that signed it, and how far its clock may be from this host's.
    key: Option<(Name, Duration)>,
}

/// Why a command may not be obeyed, or not yet.
#[derive(Debug)]
pub enum Doubt {
    /// It may not.
    Refused(Refusal),
    /// It may not, and perhaps because of certificates that are not what they are called.
    Untrusted(String, Vec<Name>),
    /// A certificate is missing.
    Lacks(Box<Lack>),
}

/// A certificate that is needed.
#[derive(Debug)]
pub struct Lack {
    /// As the signature names it: a certificate, or a key.
    pub name: Name,
    /// Who needs it.
    pub validator: Arc<Validator>,
    /// What is to be said if it cannot be had.
    pub why: String,
}

impl From<Refusal> for Doubt {
    fn from(refusal: Refusal) -> Doubt {
        Doubt::Refused(refusal)
    }
}

impl Doubt {
    /// What a chain that does not end at an anchor comes to.
    pub(super) fn of(broken: &ChainError, validator: &Arc<Validator>) -> Doubt {
        let why = broken.to_string();
        match &broken.why {
            Broken::Missing(name) => {
                let (name, validator) = (name.clone(), Arc::clone(validator));
                Doubt::Lacks(Box::new(Lack { name, validator, why }))
            }
            Broken::Signature { .. } | Broken::WrongType { .. } => {
                Doubt::Untrusted(why, broken.chain.clone())
            }
            _ => Refusal::Unauthorized(why).into(),
        }
    }
}

impl Rule {
    /// What holds without rules: applications of this host may do everything.
    #[must_use]
    pub fn everything_here() -> Rule {
        Rule {
            from: Origin::Local,
            modules: MODULES.map(str::to_owned).to_vec(),
            prefix: Name::new(),
            who: Who::Anybody,
            skew: Duration::ZERO,
        }
    }

    fn is_about(&self, command: &Command<'_>, from: Origin) -> bool {
        let has = self.modules.iter().any(|module| module.as_bytes() == command.module);
        let name = command.asked.name().unwrap_or_default();
        self.from == from && has && name.as_ref().starts_with(self.prefix.as_ref())
    }

    fn judge(&self, command: &Command<'_>, wall_ms: u64) -> Result<Grant, Doubt> {
        let claim = &command.claim;
        let key = match &self.who {
            Who::Anybody => return Ok(Grant { key: None }),
            _ if claim.kind == SignatureType::DigestSha256 => {
                let why = "a digest says nothing of who commands; a key's signature is needed";
                return Err(Refusal::unauthorized(why).into());
            }
            Who::Key(key) => judge(key, claim, wall_ms).map_err(Refusal::Unauthorized)?,
            Who::Trusted(validator) => command
                .judged_by(validator, wall_ms / 1000)
                .map_err(|broken| Doubt::of(&broken, validator))?,
        };
        Ok(Grant { key: Some((key, self.skew)) })
    }
}

/// The rules, and what commands they have let pass.
#[derive(Debug)]
pub struct Authority {
    rules: Vec<Rule>,
    replays: Replays,
}

impl Authority {
    /// An authority with these rules, or without any with [`Rule::everything_here`].
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Authority {
        let mut made = Authority { rules: Vec::new(), replays: Replays::default() };
        made.set_rules(rules);
        made
    }

    /// Other rules from now on. What was obeyed is not obeyed again.
    pub fn set_rules(&mut self, rules: Vec<Rule>) {
        self.rules = if rules.is_empty() { vec![Rule::everything_here()] } else { rules };
    }

    /// Whether peers may command anything.
    #[must_use]
    pub fn hears_peers(&self) -> bool {
        self.rules.iter().any(|rule| rule.from == Origin::Remote)
    }

    /// Lets a command pass, `wall_ms` milliseconds after the beginning of 1970; it is to be
    /// [admitted](Authority::admit) yet.
    ///
    /// # Errors
    /// No rule lets it; why not by the last one that is about such commands, or what is missing if
    /// a rule may let it yet.
    pub fn permit(
        &self,
        command: &Command<'_>,
        from: Origin,
        wall_ms: u64,
    ) -> Result<Grant, Doubt> {
        let why = "no rule lets this be commanded from there";
        let mut doubt = Doubt::from(Refusal::unauthorized(why));
        for rule in self.rules.iter().filter(|rule| rule.is_about(command, from)) {
            match rule.judge(command, wall_ms) {
                Ok(grant) => return Ok(grant),
                Err(Doubt::Refused(_) | Doubt::Untrusted(..))
                    if matches!(doubt, Doubt::Lacks(_)) => {}
                Err(other) => doubt = other,
            }
        }
        Err(doubt)
    }

    /// Takes a command that was permitted for new, and remembers it.
    ///
    /// # Errors
    /// It was heard before, or may have been.
    pub fn admit(&mut self, grant: Grant, claim: &Claim<'_>, wall_ms: u64) -> Result<(), Refusal> {
        match grant.key {
            Some((key, skew)) => self.replays.admit(key, claim, wall_ms, skew),
            None => Ok(()),
        }
    }
}

/// Whether the certificate's key made the signature; its name if it did.
fn judge(key: &Certificate, claim: &Claim<'_>, wall_ms: u64) -> Result<Name, String> {
    let name = key.key_name();
    match claim.key {
        Some(KeyLocator::Name(given)) if !is_key(given, name.as_ref()) => {
            return Err(format!("the key {given} is none of those that may command this"));
        }
        Some(KeyLocator::Digest(given)) if given != key.public_key().digest() => {
            return Err("the key of that digest is none of those that may command this".into());
        }
        None => return Err("the signature does not name its key".into()),
        Some(_) => {}
    }
    if !key.validity().contains(wall_ms / 1000) {
        return Err(format!("the certificate of {name} is valid at another time"));
    }
    let fits = claim.kind == key.public_key().signature_type();
    if !fits || !key.public_key().verifies(&claim.message(), claim.value) {
        return Err(format!("the signature by {name} is wrong"));
    }
    Ok(name)
}

/// Whether a KeyLocator's name is the key's, or that of one of its certificates.
fn is_key(given: NameRef<'_>, key: NameRef<'_>) -> bool {
    given == key || given.len() == key.len() + 2 && given.starts_with(key)
}

#[cfg(test)]
mod tests;
