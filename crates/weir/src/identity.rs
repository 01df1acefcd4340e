//! Keys on this machine: whose signatures are made, and whose are trusted.

use crate::exit::{Failure, Kind};
use net::client::KeyPlaces;
use net::clock::unix_millis;
use packet::Name;
use security::certificate;
use security::keychain::{KeyChainError, Listing, StoredKey, StoredShared};
use security::pib::Pib;
use security::trust::{Chains, Schema, Validator};
use security::{
    Certificate, KeyChain, KeyType, SecretKey, Signer, TrustPolicy, TrustedKey, Validity,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The variable that names Weir's own directory instead of `~/.weir`.
const HOME_VARIABLE: &str = "WEIR_HOME";

/// Where the user's keys are.
pub fn key_dir() -> Result<PathBuf, Failure> {
    let own = std::env::var_os(HOME_VARIABLE).map(PathBuf::from);
    let home = own.or_else(|| std::env::home_dir().map(|home| home.join(".weir")));
    let home = home.ok_or_else(|| {
        Failure::new(Kind::File, "no home directory is known for the keys")
            .then("set WEIR_HOME or HOME")
    })?;
    Ok(home.join("keys"))
}

/// The user's key chain, if there is one: looking for keys makes no directory for them.
pub fn keychain() -> Result<Option<KeyChain>, Failure> {
    let dir = key_dir()?;
    Ok(if dir.exists() { Some(KeyChain::open(dir)?) } else { None })
}

/// The key chain of ndn-cxx, if the user has one.
///
/// # Errors
/// It cannot be read.
pub fn pib() -> Result<Option<Pib>, KeyChainError> {
    let places = KeyPlaces::find().filter(|places| places.pib.is_file());
    places.map(|places| Pib::open(&places.pib, &places.tpm)).transpose()
}

/// The user's key of this name, or of this identity; if there is none, that of ndn-cxx.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn key(name: &Name) -> Result<StoredKey, Failure> {
    let dir = key_dir()?;
    let none = || Err(KeyChainError::NotFound { name: name.clone(), dir });
    let found = keychain()?.map_or_else(none, |keys| keys.get(name.as_ref()));
    let missing = match found {
        Err(missing @ KeyChainError::NotFound { .. }) => missing,
        other => return Ok(other?),
    };
    match pib()?.map(|pib| pib.get(name.as_ref())) {
        None | Some(Err(KeyChainError::NotFound { .. })) => Err(missing.into()),
        Some(found) => Ok(found?),
    }
}

/// The user's shared key of this name, or of this identity.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn shared_key(name: &Name) -> Result<StoredShared, KeyChainError> {
    let none = || KeyChainError::NotFound { name: name.clone(), dir: PathBuf::new() };
    match keychain() {
        Ok(Some(keys)) => keys.get_shared(name.as_ref()),
        _ => Err(none()),
    }
}

/// A key of this name, of either kind: one with a certificate first.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn any_key(name: &Name) -> Result<AnyKey, Failure> {
    let missing = match key(name) {
        Ok(key) => return Ok(AnyKey::Own(Box::new(key))),
        Err(missing) => missing,
    };
    match shared_key(name) {
        Ok(shared) => Ok(AnyKey::Shared(shared)),
        Err(KeyChainError::NotFound { .. }) => Err(missing),
        Err(other) => Err(other.into()),
    }
}

/// A key of the user.
pub enum AnyKey {
    /// With a certificate.
    Own(Box<StoredKey>),
    /// Shared with others.
    Shared(StoredShared),
}

impl AnyKey {
    fn identity(&self) -> Name {
        match self {
            AnyKey::Own(key) => key.certificate.identity(),
            AnyKey::Shared(shared) => shared.identity(),
        }
    }

    fn name(&self) -> Name {
        match self {
            AnyKey::Own(key) => key.certificate.key_name(),
            AnyKey::Shared(shared) => shared.name.clone(),
        }
    }

    fn signer(&self) -> Signer {
        match self {
            AnyKey::Own(key) => key.signer(),
            AnyKey::Shared(shared) => shared.signer(),
        }
    }

    /// The certificates that consumers can request: the key's, and those above it that are here.
    fn chain(&self) -> Vec<Certificate> {
        match self {
            AnyKey::Own(key) => chain(&key.certificate),
            AnyKey::Shared(_) => Vec::new(),
        }
    }
}

/// The user's default key, if there is one.
fn default_key() -> Result<Option<StoredKey>, Failure> {
    match keychain()?.map(|keys| keys.get_default()) {
        None | Some(Err(KeyChainError::NoDefault { .. })) => Ok(None),
        Some(found) => Ok(Some(found?)),
    }
}

/// The identity of the wanted key, or of the default key.
///
/// # Errors
/// The key is not there.
pub fn identity_of(wanted: Option<&Name>) -> Result<Option<Name>, Failure> {
    Ok(match wanted {
        Some(wanted) => Some(any_key(wanted)?.identity()),
        None => default_key()?.map(|key| key.certificate.identity()),
    })
}

/// The signer of `name`: the wanted key, or the default key if it is for such names, or none, which
/// leaves a digest. Returns a remark for the user as well.
///
/// Consumers trust a key for names under its identity only, so a signature elsewhere would be
/// rejected by all that know the key.
pub fn signing(wanted: Option<&Name>, name: &Name) -> Result<Signing, Failure> {
    let unsigned = |remark| Signing { signer: Signer::Digest, chain: Vec::new(), remark };
    let key = match wanted {
        Some(wanted) => Some(any_key(wanted)?),
        None => default_key()?.map(|key| AnyKey::Own(Box::new(key))),
    };
    let Some(key) = key else { return Ok(unsigned(None)) };
    let identity = key.identity();
    if name.as_ref().starts_with(identity.as_ref()) {
        return Ok(Signing { signer: key.signer(), chain: key.chain(), remark: None });
    }
    let key_name = key.name();
    let why = format!("the key {key_name} is for names under {identity}, not for {name}");
    if wanted.is_some() {
        let next = format!("publish under {identity}, or sign with another key");
        return Err(Failure::new(Kind::Usage, why).then(&next));
    }
    let next = covering(name)?.map_or_else(
        || "`weir key new` makes a key for a prefix of it".to_owned(),
        |identity| format!("`--sign {identity}` signs it"),
    );
    Ok(unsigned(Some(format!("not signed: {why}; {next}"))))
}

/// The longest identity with a key here under which the name is.
fn covering(name: &Name) -> Result<Option<Name>, Failure> {
    let own = keychain()?.map_or(Ok(Listing::default()), |keys| keys.list())?;
    let identities = own.keys.iter().map(|key| key.certificate.identity());
    let covering = identities.filter(|identity| name.as_ref().starts_with(identity.as_ref()));
    Ok(covering.max_by_key(|identity| identity.as_ref().len()))
}

/// The signer of commands to a forwarder: the wanted key, or none, which leaves a digest.
pub fn commander(wanted: Option<&Name>) -> Result<Signer, Failure> {
    wanted.map_or(Ok(Signer::Digest), |wanted| Ok(key(wanted)?.signer()))
}

/// The signer, and the certificates that consumers need.
pub struct Signing {
    /// Signs.
    pub signer: Signer,
    /// The certificate, and those above it that are here.
    pub chain: Vec<Certificate>,
    /// A remark for the user.
    pub remark: Option<String>,
}

/// The certificate, and those of the user's own keys that vouch for it.
fn chain(certificate: &Certificate) -> Vec<Certificate> {
    let mut chain = vec![certificate.clone()];
    while let Some(issuer) = chain.last().and_then(Certificate::issuer) {
        let Some(name) = certificate::key_of(issuer.as_ref()) else { break };
        let Ok(above) = key(&name) else { break };
        let known = chain.iter().any(|below| below.name() == above.certificate.name());
        if known || !above.certificate.name().as_ref().starts_with(issuer.as_ref()) {
            break;
        }
        chain.push(above.certificate);
    }
    chain
}

/// The policy of `--trust`: files of rules, certificates, own keys; keys that they certify are
/// trusted too. Without it, the user's own keys are checked and others are accepted, with a note in
/// the summary.
pub fn policy(trusted: &[String]) -> Result<TrustPolicy, Failure> {
    if trusted.is_empty() {
        let own = keychain()?.map_or(Ok(Listing::default()), |keys| keys.list())?;
        let keys = own.keys.iter().map(|key| TrustedKey::from_certificate(&key.certificate));
        let shared = own.shared.iter().map(|shared| shared.stored.trusted());
        return Ok(TrustPolicy::AnySigned(keys.chain(shared).collect()));
    }
    let validator = match trusted {
        [file] if is_rules(file) => net::trust::load(Path::new(file))?,
        several => {
            let (mut anchors, mut shared) = (Vec::new(), Vec::new());
            for text in several {
                match anchor(text)? {
                    Anchor::Certificate(certificate) => anchors.push(*certificate),
                    Anchor::Shared(key) => shared.push(key.trusted()),
                }
            }
            Validator::new(anchors, Schema::Hierarchy).with_shared(shared)
        }
    };
    let now = unix_millis() / 1000;
    if let Some(anchor) = validator.outdated(now) {
        let message = format!("the certificate {} is not valid now", anchor.name());
        return Err(Failure::new(Kind::NotVerified, message)
            .then("get a new one from its owner, and check this host's clock"));
    }
    Ok(TrustPolicy::Chains(Chains { validator: Arc::new(validator), now }))
}

/// True for a file of rules, false for a certificate. An unreadable file is neither, and is
/// reported later.
fn is_rules(text: &str) -> bool {
    let path = Path::new(text);
    path.is_file() && net::bounded::text(path).is_ok_and(|text| net::trust::is_meant(&text))
}

/// An argument of `--trust`.
enum Anchor {
    Certificate(Box<Certificate>),
    Shared(StoredShared),
}

fn anchor(text: &str) -> Result<Anchor, Failure> {
    // A key's name may also be that of a folder, so only a file is taken for one.
    if !Path::new(text).is_file() {
        let name: Name = text.parse().map_err(|no_name| {
            Failure::new(Kind::Usage, format!("--trust {text} is no file, and {no_name}"))
        })?;
        return Ok(match any_key(&name)? {
            AnyKey::Own(key) => Anchor::Certificate(Box::new(key.certificate)),
            AnyKey::Shared(shared) => Anchor::Shared(shared),
        });
    }
    if is_rules(text) {
        let message = format!("--trust {text} has rules, and says itself who is trusted");
        return Err(Failure::new(Kind::Usage, message)
            .then("give it alone, and name other certificates as its anchors"));
    }
    let next = "name the file of a certificate as `weir key new` prints it, of a shared key, or of \
                trust rules";
    let file = net::bounded::text(Path::new(text)).map_err(|error| {
        Failure::new(Kind::File, format!("cannot read --trust {text}: {error}")).then(next)
    })?;
    if StoredShared::is_meant(&file) {
        return Ok(Anchor::Shared(StoredShared::read(Path::new(text))?));
    }
    let certificate = Certificate::from_base64(&file).map_err(|error| {
        Failure::new(Kind::Usage, format!("--trust {text} is no certificate: {error}")).then(next)
    })?;
    Ok(Anchor::Certificate(Box::new(certificate)))
}

/// Makes a key.
pub fn new_key(identity: &Name, kind: KeyType, default: bool) -> Result<Certificate, Failure> {
    const DAYS: u64 = 20 * 365;
    let secret = SecretKey::generate(kind, &Zeroizing::new(random()?))
        .map_err(|why| Failure::new(Kind::Usage, why))?;
    let now = unix_millis();
    let validity = Validity::days(now / 1000, DAYS);
    let certificate = Certificate::self_signed(identity.as_ref(), &secret, validity, now);
    let keys = KeyChain::open(key_dir()?)?;
    keys.insert(&secret, &certificate)?;
    if default {
        keys.set_default(certificate.key_name().as_ref())?;
    }
    Ok(certificate)
}

/// Makes a key that is to be shared, and says where it is.
pub fn new_shared(identity: &Name) -> Result<(StoredShared, PathBuf), Failure> {
    let (secret, id) = (Zeroizing::new(random()?), random()?);
    let shared = StoredShared::generate(identity.as_ref(), &secret, &id);
    let keys = KeyChain::open(key_dir()?)?;
    let path = keys.insert_shared(&shared)?;
    Ok((shared, path))
}

/// The system's best randomness.
///
/// # Errors
/// It gives none.
pub fn random() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Failure::new(Kind::Failed, format!("the system gives no random numbers: {error}"))
    })?;
    Ok(random)
}
