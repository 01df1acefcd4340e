//! The places where ndn-cxx, and programs like it, keep keys.

use super::conf;
use std::path::{Path, PathBuf};

/// Where the user's key chain is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlaces {
    /// The file of its database.
    pub pib: PathBuf,
    /// The folder of the secrets.
    pub tpm: PathBuf,
}

impl KeyPlaces {
    /// The places by `NDN_CLIENT_PIB` and `NDN_CLIENT_TPM`, or `client.conf`, or in `~/.ndn`;
    /// `None` without a home.
    #[must_use]
    pub fn find() -> Option<KeyPlaces> {
        let places = conf::places();
        let pib = setting("NDN_CLIENT_PIB", &places, "pib");
        let tpm = setting("NDN_CLIENT_TPM", &places, "tpm");
        Some(KeyPlaces::of(pib.as_deref(), tpm.as_deref(), &conf::home()?))
    }

    /// `home` is `~/.ndn`.
    fn of(pib: Option<&str>, tpm: Option<&str>, home: &Path) -> KeyPlaces {
        let pib = pib.and_then(place).unwrap_or_else(|| home.to_owned());
        // Some tools put the folder into the field, others the file.
        let is_file = pib.extension().is_some_and(|extension| extension == "db");
        let pib = if is_file { pib } else { pib.join("pib.db") };
        KeyPlaces { pib, tpm: tpm.and_then(place).unwrap_or_else(|| home.join("ndnsec-key-file")) }
    }
}

/// The value of a variable of the environment, or else of a key in `client.conf`.
fn setting(variable: &str, places: &[PathBuf], key: &str) -> Option<String> {
    if let Ok(value) = std::env::var(variable)
        && !value.is_empty()
    {
        return Some(value);
    }
    Some(conf::setting(places, key)?.0)
}

/// The place behind the kind, `pib-sqlite3:/some/where`, if there is one.
fn place(text: &str) -> Option<PathBuf> {
    let (_, place) = text.split_once(':')?;
    let place = place.strip_prefix("//").unwrap_or(place);
    (!place.is_empty()).then(|| PathBuf::from(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_chains_are_at_the_configured_place_or_the_default() {
        let home = Path::new("/a/.ndn");
        for (locator, pib) in [
            (None, "/a/.ndn/pib.db"),
            (Some("pib-sqlite3"), "/a/.ndn/pib.db"),
            (Some("pib-sqlite3:"), "/a/.ndn/pib.db"),
            (Some("pib-sqlite3:/x"), "/x/pib.db"),
            (Some("pib-sqlite3:/x/pib.db"), "/x/pib.db"),
            (Some("pib-sqlite3:///x/my.db"), "/x/my.db"),
        ] {
            assert_eq!(KeyPlaces::of(locator, None, home).pib, Path::new(pib), "{locator:?}");
        }
        let tpm = |locator| KeyPlaces::of(None, locator, home).tpm;
        assert_eq!(tpm(None), Path::new("/a/.ndn/ndnsec-key-file"));
        assert_eq!(tpm(Some("tpm-file:/keys")), Path::new("/keys"));
    }
}
