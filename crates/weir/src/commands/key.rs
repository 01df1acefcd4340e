//! `weir key`

mod carry;
mod certify;
mod list;
mod text;

use crate::cli::{KeyCommand, KeyWord};
use crate::exit::Failure;
use crate::{identity, output};
#[cfg(test)]
pub use list::Key;
use packet::Name;
use security::KeyType;
use text::print;

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
        return Err(carry::never_default());
    }
    let (shared, path) = identity::new_shared(identity)?;
    output::note(&format!("made {}; signers and verifiers need this file:", shared.name));
    output::result(&path.display().to_string())
}
