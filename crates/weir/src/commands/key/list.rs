//! `weir key list`

use crate::exit::{Failure, Kind};
use crate::identity;
use crate::output::{self, counted};
use schemars::JsonSchema;
use security::keychain::{KeyEntry, Listing, SharedEntry};
use security::pib::{Pib, PibKey};
use serde::Serialize;

/// A key of the key chain.
#[derive(JsonSchema, Serialize)]
pub struct Key {
    /// The key's name.
    name: String,
    /// The name of its certificate; null for a shared key.
    certificate: Option<String>,
    /// The type of the key.
    #[schemars(extend("enum" = ["ed25519", "ecdsa", "rsa", "hmac"]))]
    r#type: String,
    /// The certificate's expiry, in seconds since 1970; null for a shared key.
    not_after: Option<u64>,
    /// The certificate is self-signed.
    self_signed: bool,
    /// It is the default key.
    default: bool,
    /// The file of the secret.
    secret: String,
    /// The key chain: `ndn` is that of ndn-cxx and python-ndn.
    #[schemars(extend("enum" = ["weir", "ndn"]))]
    store: &'static str,
}

impl Key {
    fn of(key: &KeyEntry) -> Key {
        let certificate = &key.certificate;
        Key {
            name: key.name.to_string(),
            certificate: Some(certificate.name().to_string()),
            r#type: certificate.public_key().key_type().to_string(),
            not_after: Some(certificate.validity().not_after()),
            self_signed: certificate.is_self_signed(),
            default: key.default,
            secret: key.path.display().to_string(),
            store: "weir",
        }
    }

    fn of_shared(shared: &SharedEntry) -> Key {
        Key {
            name: shared.name.to_string(),
            certificate: None,
            r#type: "hmac".to_owned(),
            not_after: None,
            self_signed: false,
            default: false,
            secret: shared.path.display().to_string(),
            store: "weir",
        }
    }

    fn of_pib(pib: &Pib, key: &PibKey) -> Key {
        let path = pib.secret_path(&key.name);
        let (name, certificate) = (key.name.clone(), key.certificate.clone());
        // The default signer is chosen among Weir's own keys.
        let listed = Key::of(&KeyEntry { name, certificate, path, default: false });
        Key { store: "ndn", ..listed }
    }
}

/// Lists the keys. Fails afterwards if one cannot be read.
pub fn run(json: bool) -> Result<(), Failure> {
    let listing = match identity::keychain()? {
        Some(keychain) => keychain.list()?,
        None => Listing::default(),
    };
    let mut problems: Vec<String> = listing.problems.iter().map(ToString::to_string).collect();
    let mut keys: Vec<_> = listing.keys.iter().map(Key::of).collect();
    keys.extend(listing.shared.iter().map(Key::of_shared));
    match identity::pib() {
        Ok(Some(pib)) => keys.extend(pib.keys().iter().map(|key| Key::of_pib(&pib, key))),
        Ok(None) => {}
        Err(problem) => problems.push(problem.to_string()),
    }
    problems.iter().for_each(|problem| output::note(&format!("weir: {problem}")));
    match json {
        true => output::json(&keys)?,
        false => print(&keys, problems.is_empty())?,
    }
    match problems.len() {
        0 => Ok(()),
        damaged => Err(Failure::new(Kind::File, counted(damaged, "key file") + " cannot be read")),
    }
}

fn print(keys: &[Key], is_complete: bool) -> Result<(), Failure> {
    if keys.is_empty() && is_complete {
        let dir = identity::key_dir()?.display().to_string();
        output::note(&format!("no keys in {dir}; make one with `weir key new /your/name`"));
    }
    keys.iter().try_for_each(|key| {
        output::result(&format!("{} {}", if key.default { "*" } else { " " }, key.name))
    })
}
