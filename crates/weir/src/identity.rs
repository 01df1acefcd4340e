//! Keys on this machine: whose signatures are made, and whose are trusted.

use crate::exit::{Failure, Kind};
use client::parts::keys;
use net::clock::unix_millis;
use packet::Name;
use security::keychain::StoredShared;
use security::{Certificate, KeyChain, KeyType, SecretKey, Signer, TrustPolicy, Validity};
use std::path::PathBuf;
use zeroize::Zeroizing;

pub use client::parts::keys::{AnyKey, any_key, identity_of, key, key_dir, keychain, pib};

/// The signer of `name`: the wanted key, or the default key if it is for such names, or none, which
/// leaves a digest. Returns a remark for the user as well.
pub fn signing(wanted: Option<&Name>, name: &Name) -> Result<Signing, Failure> {
    let keys::Signing { signer, chain, unused } = keys::signing(wanted, name)?;
    let remark = unused.map(|why| {
        let next = match &why.covering {
            Some(identity) => format!("`--sign {identity}` signs it"),
            None => "`weir key new` makes a key for a prefix of it".to_owned(),
        };
        format!("not signed: {why}; {next}")
    });
    Ok(Signing { signer, chain, remark })
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

/// The policy of `--trust`: files of rules, certificates, own keys; keys that they certify are
/// trusted too. Without it, the user's own keys are checked and others are accepted, with a note in
/// the summary.
pub fn policy(trusted: &[String]) -> Result<TrustPolicy, Failure> {
    Ok(keys::policy(trusted)?)
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

/// Makes a key to be shared, and returns its path.
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
        Failure::new(Kind::Failed, format!("the system provides no random numbers: {error}"))
    })?;
    Ok(random)
}
