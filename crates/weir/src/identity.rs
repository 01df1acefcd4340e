//! Keys on this machine: whose signatures are made, and whose are trusted.

use crate::exit::{Failure, Kind};
use net::clock::unix_millis;
use packet::Name;
use security::keychain::{KeyChainError, StoredKey};
use security::{Certificate, KeyChain, SecretKey, Signer, TrustPolicy, TrustedKey, Validity};
use std::path::{Path, PathBuf};

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

/// The user's key of this name, or of this identity.
fn key(name: &Name) -> Result<StoredKey, Failure> {
    match keychain()? {
        Some(keys) => Ok(keys.get(name.as_ref())?),
        None => Err(KeyChainError::NotFound { name: name.clone(), dir: key_dir()? }.into()),
    }
}

/// The user's default key, if there is one.
fn default_key() -> Result<Option<StoredKey>, Failure> {
    match keychain()?.map(|keys| keys.get_default()) {
        None | Some(Err(KeyChainError::NoDefault { .. })) => Ok(None),
        Some(found) => Ok(Some(found?)),
    }
}

/// Who signs `name`: the key that is asked for, or the default key if it is for such names, or
/// nobody, which leaves a digest. With it comes what the user should know about that.
///
/// Consumers trust a key for names under its identity only, so that a signature elsewhere would be
/// refused by everybody who knows the key.
pub fn signer(wanted: Option<&Name>, name: &Name) -> Result<(Signer, Option<String>), Failure> {
    let key = match wanted {
        Some(wanted) => Some(key(wanted)?),
        None => default_key()?,
    };
    let Some(key) = key else { return Ok((Signer::Digest, None)) };
    let identity = key.certificate.identity();
    if name.as_ref().starts_with(identity.as_ref()) {
        return Ok((key.signer(), None));
    }
    let key_name = key.certificate.key_name();
    let why = format!("the key {key_name} is for names under {identity}, not for {name}");
    if wanted.is_some() {
        let next = format!("publish under {identity}, or sign with another key");
        return Err(Failure::new(Kind::Usage, why).then(&next));
    }
    Ok((Signer::Digest, Some(format!("not signed: {why}"))))
}

/// Who signs commands to a forwarder: the key that is asked for, or nobody, which leaves a digest.
pub fn commander(wanted: Option<&Name>) -> Result<Signer, Failure> {
    wanted.map_or(Ok(Signer::Digest), |wanted| Ok(key(wanted)?.signer()))
}

/// What `--trust` says; without it, the user's own keys are checked and others are let through,
/// with the summary saying so.
pub fn policy(trusted: &[String]) -> Result<TrustPolicy, Failure> {
    if trusted.is_empty() {
        let own = keychain()?.map_or(Ok(Vec::new()), |keys| Ok(keys.list()?.keys));
        let own = own.map_err(|error: KeyChainError| Failure::from(error))?;
        let keys = own.iter().map(|key| TrustedKey::from_certificate(&key.certificate));
        return Ok(TrustPolicy::AnySigned(keys.collect()));
    }
    let keys: Result<Vec<_>, _> = trusted.iter().map(|text| trusted_key(text)).collect();
    Ok(TrustPolicy::Keys(keys?))
}

fn trusted_key(text: &str) -> Result<TrustedKey, Failure> {
    // A key's name may also be that of a folder, so only a file is taken for one.
    let certificate = if Path::new(text).is_file() {
        let next = "name the file of a certificate as `weir key new` prints it";
        let file = std::fs::read_to_string(text).map_err(|error| {
            Failure::new(Kind::File, format!("cannot read --trust {text}: {error}")).then(next)
        })?;
        Certificate::from_base64(&file).map_err(|error| {
            Failure::new(Kind::Usage, format!("--trust {text} is no certificate: {error}"))
                .then(next)
        })?
    } else {
        let name: Name = text.parse().map_err(|no_name| {
            Failure::new(Kind::Usage, format!("--trust {text} is no file, and {no_name}"))
        })?;
        key(&name)?.certificate
    };
    let validity = certificate.validity();
    if !validity.contains(unix_millis() / 1000) {
        let message = format!("the certificate {} is not valid now", certificate.name());
        return Err(Failure::new(Kind::NotVerified, message)
            .then("get a new one from its owner, and check this host's clock"));
    }
    Ok(TrustedKey::from_certificate(&certificate))
}

/// Makes a key.
pub fn new_key(identity: &Name, default: bool) -> Result<Certificate, Failure> {
    const DAYS: u64 = 20 * 365;
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Failure::new(Kind::Failed, format!("the system gives no random numbers: {error}"))
    })?;
    let secret = SecretKey::ed25519(&random);
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
