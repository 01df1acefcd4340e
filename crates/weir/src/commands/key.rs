//! `weir key`

use crate::cli::KeyCommand;
use crate::exit::Failure;
use crate::{identity, output};
use security::keychain::Listing;
use serde::Serialize;

#[derive(Serialize)]
struct Key {
    name: String,
    certificate: String,
    default: bool,
    secret: String,
}

/// Makes or lists keys.
pub fn run(command: &KeyCommand) -> Result<(), Failure> {
    match command {
        KeyCommand::New { identity, default } => {
            let certificate = identity::new_key(identity, *default)?;
            output::note(&format!("made {}; its certificate:", certificate.key_name()));
            output::result(certificate.to_base64().trim_end())
        }
        KeyCommand::List { json } => list(*json),
    }
}

fn list(json: bool) -> Result<(), Failure> {
    let listing = match identity::keychain()? {
        Some(keychain) => keychain.list()?,
        None => Listing::default(),
    };
    for problem in &listing.problems {
        output::note(&format!("weir: {problem}"));
    }
    let keys: Vec<_> = listing
        .keys
        .iter()
        .map(|key| Key {
            name: key.name.to_string(),
            certificate: key.certificate.name().to_string(),
            default: key.default,
            secret: key.path.display().to_string(),
        })
        .collect();
    if json {
        return output::json(&keys);
    }
    if keys.is_empty() {
        let dir = identity::key_dir()?.display().to_string();
        output::note(&format!("no keys in {dir}; make one with `weir key new /your/name`"));
    }
    keys.iter().try_for_each(|key| {
        output::result(&format!("{} {}", if key.default { "*" } else { " " }, key.name))
    })
}
