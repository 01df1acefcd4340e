//! `weir key`

mod carry;
mod certify;
mod list;

use crate::cli::{KeyCommand, KeyWord};
use crate::exit::{Failure, Kind};
use crate::{identity, output};
#[cfg(test)]
pub use list::Key;
use packet::Name;
use security::{Certificate, KeyType};
use std::io::Read;
use std::path::Path;

/// More than any certificate or key takes.
const MOST: u64 = 64 * 1024;

/// Makes, lists, carries and certifies keys.
pub fn run(command: &KeyCommand) -> Result<(), Failure> {
    match command {
        KeyCommand::New { identity, kind, default } => {
            let Some(kind) = kind.key_type() else { return new_shared(identity, *default) };
            let certificate = identity::new_key(identity, kind, *default)?;
            output::note(&format!("made {}; its certificate:", certificate.key_name()));
            print(&certificate)
        }
        KeyCommand::List { json } => list::run(*json),
        KeyCommand::Export(args) => carry::export(args),
        KeyCommand::Import(args) => carry::import(args),
        KeyCommand::Sign(args) => certify::sign(args),
        KeyCommand::Renew(args) => certify::renew(args),
    }
}

impl KeyWord {
    /// Of keys that have a public half.
    fn key_type(self) -> Option<KeyType> {
        match self {
            KeyWord::Ed25519 => Some(KeyType::Ed25519),
            KeyWord::Ecdsa => Some(KeyType::Ecdsa),
            KeyWord::Rsa => Some(KeyType::Rsa),
            KeyWord::Hmac => None,
        }
    }
}

/// Makes a shared key. Its secret is not printed: it is in a file that no other user can read.
fn new_shared(identity: &Name, default: bool) -> Result<(), Failure> {
    if default {
        return Err(never_default());
    }
    let (shared, path) = identity::new_shared(identity)?;
    output::note(&format!("made {}; signers and verifiers need this file:", shared.name));
    output::result(&path.display().to_string())
}

fn never_default() -> Failure {
    let message = "a shared key is never the default: only those who share it can check what it \
                   signs";
    Failure::new(Kind::Usage, message).then("leave out --default, and name it by --sign")
}

fn print(certificate: &Certificate) -> Result<(), Failure> {
    output::result(certificate.to_base64().trim_end())
}

/// A file's text, or that of standard input.
fn text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().take(MOST).read_to_string(&mut text),
        false => std::fs::File::open(path).and_then(|f| f.take(MOST).read_to_string(&mut text)),
    };
    read.map_err(|error| {
        Failure::new(Kind::File, format!("cannot read {}: {error}", path.display()))
            .then("name a file that `weir key export` wrote, or `-` for standard input")
    })?;
    Ok(text)
}
