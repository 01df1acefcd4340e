//! Keys on this machine: whose signatures are made, and whose are trusted.

use crate::exit::{Failure, Kind};
use net::clock::unix_millis;
use packet::Name;
use security::keychain::KeyChainError;
use security::{Certificate, KeyChain, SecretKey, Signer, TrustPolicy, TrustedKey, Validity};
use std::path::PathBuf;

/// The variable that names Weir's own directory instead of `~/.weir`.
const HOME_VARIABLE: &str = "WEIR_HOME";

/// The key chain of the user.
pub fn keychain() -> Result<KeyChain, Failure> {
    let own = std::env::var_os(HOME_VARIABLE).map(PathBuf::from);
    let home = own.or_else(|| std::env::home_dir().map(|home| home.join(".weir")));
    let home = home.ok_or_else(|| {
        let message = "no home directory is known for the keys; set WEIR_HOME or HOME";
        Failure::new(Kind::File, message)
    })?;
    Ok(KeyChain::open(home.join("keys"))?)
}

/// The signer that is asked for, or that of the default key, or a digest if there is no key.
pub fn signer(wanted: Option<&Name>) -> Result<Signer, Failure> {
    let keys = keychain()?;
    match wanted {
        Some(name) => Ok(keys.get(name.as_ref())?.signer()),
        None => match keys.get_default() {
            Ok(key) => Ok(key.signer()),
            Err(KeyChainError::NoDefault { .. }) => Ok(Signer::Digest),
            Err(error) => Err(error.into()),
        },
    }
}

/// What `--trust` says; without it, the user's own keys are checked and others are let through,
/// with the summary saying so.
pub fn policy(trusted: &[String]) -> Result<TrustPolicy, Failure> {
    if trusted.is_empty() {
        let own = keychain()?.list()?.keys;
        let keys = own.iter().map(|key| TrustedKey::from_certificate(&key.certificate));
        return Ok(TrustPolicy::AnySigned(keys.collect()));
    }
    let keys: Result<Vec<_>, _> = trusted.iter().map(|text| trusted_key(text)).collect();
    Ok(TrustPolicy::Keys(keys?))
}

fn trusted_key(text: &str) -> Result<TrustedKey, Failure> {
    let certificate = match std::fs::read_to_string(text) {
        Ok(file) => Certificate::from_base64(&file).map_err(|error| {
            let message = format!("--trust {text} is no certificate: {error}");
            Failure::new(Kind::Usage, message)
                .then("`weir key new` prints one, and its owner can send it")
        })?,
        Err(no_file) => {
            let name: Name = text.parse().map_err(|no_name| {
                let message = format!("--trust {text} is no file ({no_file}), and {no_name}");
                Failure::new(Kind::Usage, message)
            })?;
            keychain()?.get(name.as_ref())?.certificate
        }
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
    let keys = keychain()?;
    keys.insert(&secret, &certificate)?;
    if default {
        keys.set_default(certificate.key_name().as_ref())?;
    }
    Ok(certificate)
}
