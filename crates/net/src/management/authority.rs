//! Who may command what: the configuration's `[[authorize]]`, and without any, applications of this
//! host everything.

use super::command::{Claim, Command, Refusal};
use control::Duration;
use packet::{KeyLocator, Name, NameRef, SignatureType};
use security::Certificate;
use std::collections::{BTreeMap, BTreeSet};

/// Commands of one key and one instant whose nonces are remembered.
const SAME_INSTANT: usize = 256;

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

/// Lets somebody command something.
#[derive(Clone, Debug)]
pub struct Rule {
    /// From where.
    pub from: Origin,
    /// Which of [`MODULES`].
    pub modules: Vec<String>,
    /// Routes, strategies and cached Data below this name only.
    pub prefix: Name,
    /// Whose signature it takes; `None`: anybody's, a digest included.
    pub key: Option<Certificate>,
    /// How far the time of a key's signature may be from this host's.
    pub skew: Duration,
}

impl Rule {
    /// What holds without rules: applications of this host may do everything.
    #[must_use]
    pub fn everything_here() -> Rule {
        Rule {
            from: Origin::Local,
            modules: MODULES.map(str::to_owned).to_vec(),
            prefix: Name::new(),
            key: None,
            skew: Duration::ZERO,
        }
    }

    fn is_about(&self, command: &Command<'_>, from: Origin) -> bool {
        let has = self.modules.iter().any(|module| module.as_bytes() == command.module);
        let name = command.asked.name().unwrap_or_default();
        self.from == from && has && name.as_ref().starts_with(self.prefix.as_ref())
    }
}

/// What a key signed last.
#[derive(Clone, Debug, Default)]
struct Last {
    time_ms: u64,
    nonces: BTreeSet<Vec<u8>>,
}

/// The rules, and what commands they have let pass.
#[derive(Debug)]
pub struct Authority {
    rules: Vec<Rule>,
    /// By the key's name.
    last: BTreeMap<Name, Last>,
}

impl Authority {
    /// An authority with these rules, or without any with [`Rule::everything_here`].
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Authority {
        let rules = if rules.is_empty() { vec![Rule::everything_here()] } else { rules };
        Authority { rules, last: BTreeMap::new() }
    }

    /// Whether peers may command anything.
    #[must_use]
    pub fn hears_peers(&self) -> bool {
        self.rules.iter().any(|rule| rule.from == Origin::Remote)
    }

    /// Lets a command pass, `wall_ms` milliseconds after the beginning of 1970.
    ///
    /// # Errors
    /// No rule lets it; why not by the last one that is about such commands.
    pub fn permit(
        &mut self,
        command: &Command<'_>,
        from: Origin,
        wall_ms: u64,
    ) -> Result<(), Refusal> {
        let mut why = "no rule lets this be commanded from there".to_owned();
        for rule in self.rules.iter().filter(|rule| rule.is_about(command, from)) {
            let Some(key) = &rule.key else { return Ok(()) };
            match judge(key, &command.claim, wall_ms) {
                Ok(()) => {
                    let last = self.last.entry(key.key_name()).or_default();
                    return last.admit(&command.claim, wall_ms, rule.skew);
                }
                Err(doubt) => why = doubt,
            }
        }
        Err(Refusal::Unauthorized(why))
    }
}

/// Whether the certificate's key made the signature.
fn judge(key: &Certificate, claim: &Claim<'_>, wall_ms: u64) -> Result<(), String> {
    let name = key.key_name();
    match claim.key {
        _ if claim.kind == SignatureType::DigestSha256 => {
            return Err("a digest says nothing of who commands; a key's signature is needed".into());
        }
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
    Ok(())
}

/// Whether a KeyLocator's name is the key's, or that of one of its certificates.
fn is_key(given: NameRef<'_>, key: NameRef<'_>) -> bool {
    given == key || given.len() == key.len() + 2 && given.starts_with(key)
}

impl Last {
    /// Takes a command for new (NDN Packet Format, "Signed Interest"): it was made about now, and
    /// later than the key's last one or, in the same millisecond, with another nonce.
    fn admit(&mut self, claim: &Claim<'_>, wall_ms: u64, skew: Duration) -> Result<(), Refusal> {
        let refuse = |why: &str| Err(Refusal::unauthorized(why));
        let (Some(time_ms), Some(nonce)) = (claim.time_ms, claim.nonce) else {
            return refuse("the signature has no time or no nonce");
        };
        if time_ms.abs_diff(wall_ms) > skew.as_millis() {
            return refuse("the signature's time is too far from now; check both clocks");
        }
        if time_ms < self.time_ms {
            return refuse("the key has signed a later command already");
        }
        if time_ms > self.time_ms {
            *self = Last { time_ms, nonces: BTreeSet::new() };
        }
        if self.nonces.len() >= SAME_INSTANT || !self.nonces.insert(nonce.to_vec()) {
            return refuse("the command was heard before");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
