//! `weir key`

mod carry;
mod certify;
mod list;

use crate::cli::{KeyCommand, KeyWord};
use crate::exit::{Failure, Kind};
use crate::{identity, output};
use security::{Certificate, KeyType};
use std::io::Read;
use std::path::Path;

/// More than any certificate or key takes.
const MOST: u64 = 64 * 1024;

/// Makes, lists, carries and certifies keys.
pub fn run(command: &KeyCommand) -> Result<(), Failure> {
    match command {
        KeyCommand::New { identity, kind, default } => {
            let certificate = identity::new_key(identity, kind.key_type(), *default)?;
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
    fn key_type(self) -> KeyType {
        match self {
            KeyWord::Ed25519 => KeyType::Ed25519,
            KeyWord::Ecdsa => KeyType::Ecdsa,
            KeyWord::Rsa => KeyType::Rsa,
        }
    }
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
            .then("name a file that somebody exported, or `-` for standard input")
    })?;
    Ok(text)
}
