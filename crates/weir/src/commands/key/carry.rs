//! `weir key export` and `weir key import`: certificates and keys between hosts and tools.

use super::text::{print, text};
use crate::cli::{KeyExportArgs, KeyImportArgs};
use crate::exit::{Failure, Kind};
use crate::identity::AnyKey;
use crate::{identity, output, passphrase};
use security::keychain::{KeyChainError, SharedError, StoredShared};
use security::safe_bag::{SEAL_RANDOM, SafeBag, SafeBagError};
use security::{Certificate, KeyChain};

/// Prints a certificate, or a SafeBag with the secret.
pub fn export(args: &KeyExportArgs) -> Result<(), Failure> {
    let key = match identity::any_key(&args.key)? {
        AnyKey::Own(key) => key,
        AnyKey::Shared(shared) => return export_shared(args, &shared),
    };
    if !args.secret {
        return print(&key.certificate);
    }
    let passphrase = passphrase::new(args.passphrase_file.as_deref())?;
    let random: [u8; SEAL_RANDOM] = identity::random()?;
    let bag = SafeBag::seal(key.certificate, &key.secret, passphrase.as_bytes(), &random);
    let bag = bag.map_err(|why| Failure::new(Kind::Usage, why))?;
    output::result(bag.to_base64().trim_end())
}

fn export_shared(args: &KeyExportArgs, shared: &StoredShared) -> Result<(), Failure> {
    if !args.secret {
        let message = format!("{} is a shared key, and has no certificate", shared.name);
        return Err(Failure::new(Kind::Usage, message).then("export it with --secret"));
    }
    let passphrase = passphrase::new(args.passphrase_file.as_deref())?;
    let random: [u8; SEAL_RANDOM] = identity::random()?;
    let sealed = shared.seal(passphrase.as_bytes(), &random);
    let sealed = sealed.map_err(|why| Failure::new(Kind::Usage, why))?;
    output::result(sealed.trim_end())
}

/// Imports an exported key, or a certificate for an existing one.
pub fn import(args: &KeyImportArgs) -> Result<(), Failure> {
    let shown = args.file.display();
    let text = text(&args.file)?;
    if StoredShared::is_meant(&text) {
        return import_shared(args, &text);
    }
    let bag = match SafeBag::from_base64(&text) {
        Err(SafeBagError::NoBag) => return import_certificate(args, &text),
        other => other.map_err(|why| {
            Failure::new(Kind::Usage, format!("cannot import {shown}: {why}"))
                .then("export it again from its origin")
        })?,
    };
    let passphrase = passphrase::known(args.passphrase_file.as_deref())?;
    let secret = bag.open(passphrase.as_bytes()).map_err(|why| {
        let kind = match why {
            SafeBagError::Passphrase => Kind::NotVerified,
            _ => Kind::Usage,
        };
        Failure::new(kind, format!("cannot import {shown}: {why}"))
    })?;
    let certificate = bag.certificate();
    let keys = KeyChain::open(identity::key_dir()?)?;
    keys.insert(&secret, certificate)?;
    if args.default {
        keys.set_default(certificate.key_name().as_ref())?;
    }
    output::note(&format!("imported the key {}", certificate.key_name()));
    Ok(())
}

fn import_shared(args: &KeyImportArgs, text: &str) -> Result<(), Failure> {
    let read = match StoredShared::is_sealed(text) {
        true => {
            let passphrase = passphrase::known(args.passphrase_file.as_deref())?;
            StoredShared::unseal(text, passphrase.as_bytes())
        }
        false => StoredShared::from_text(text).map_err(Into::into),
    };
    let shared = read.map_err(|why| {
        let kind = match why {
            SharedError::Sealed(SafeBagError::Passphrase) => Kind::NotVerified,
            _ => Kind::Usage,
        };
        Failure::new(kind, format!("cannot import {}: {why}", args.file.display()))
    })?;
    if args.default {
        return Err(never_default());
    }
    KeyChain::open(identity::key_dir()?)?.insert_shared(&shared)?;
    output::note(&format!("imported the shared key {}", shared.name));
    Ok(())
}

fn import_certificate(args: &KeyImportArgs, text: &str) -> Result<(), Failure> {
    let certificate = Certificate::from_base64(text).map_err(|why| {
        let message = format!("cannot import {}: {why}", args.file.display());
        Failure::new(Kind::Usage, message).then("name a certificate's file, or that of a SafeBag")
    })?;
    let key = certificate.key_name();
    let Some(keys) = identity::keychain()? else {
        let dir = identity::key_dir()?;
        return Err(KeyChainError::NotFound { name: key, dir }.into());
    };
    keys.set_certificate(&certificate)?;
    if args.default {
        keys.set_default(key.as_ref())?;
    }
    output::note(&format!("the key {key} has the certificate {} now", certificate.name()));
    Ok(())
}

pub fn never_default() -> Failure {
    let message = "a shared key is never the default: only those who share it can check what it \
                   signs";
    Failure::new(Kind::Usage, message).then("leave out --default, and name it with --sign")
}
