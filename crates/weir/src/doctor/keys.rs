//! The user's keys and certificates.

use super::check::{Check, Verdict};
use packet::Name;
use security::keychain::{KeyChainError, Listing};
use security::{Certificate, KeyChain, Validity, human_instant};
use std::path::Path;

/// A certificate that ends sooner should be renewed.
const SOON: u64 = 30 * 86_400;

/// The content of a key chain.
pub struct Found {
    listing: Result<Listing, KeyChainError>,
    default: Result<Name, KeyChainError>,
}

/// Reads the keys in a folder; `None` if it is not there.
pub fn read(dir: &Path) -> Option<Found> {
    // A folder that this user may not look at is reported as such.
    if matches!(dir.try_exists(), Ok(false)) {
        return None;
    }
    let default = KeyChain::open(dir)
        .and_then(|keys| keys.get_default())
        .map(|key| key.certificate.key_name());
    let listing = KeyChain::open(dir).and_then(|keys| keys.list());
    Some(Found { listing, default })
}

/// The start of the newest certificate, in seconds since 1970; zero without any.
pub fn newest(found: &Found) -> u64 {
    let keys = found.listing.as_ref().map_or(&[][..], |listing| &listing.keys);
    // The version is the time at which the certificate was made.
    keys.iter().map(|key| key.certificate.version() / 1000).max().unwrap_or(0)
}

/// Judges all of them.
pub fn examine(dir: &Path, found: Option<&Found>, now: u64) -> Vec<Check> {
    let Some(found) = found else { return vec![no_default("no keys")] };
    let listing = match &found.listing {
        Ok(listing) => listing,
        // The check of the folder reports its permissions.
        Err(error) => {
            return vec![Check::unchecked("private-keys", error, SECRET).of(dir.display())];
        }
    };
    let mut checks = vec![judge_default(&found.default, listing.keys.len())];
    checks.extend(secrets(listing));
    let certificates = listing.keys.iter().map(|key| &key.certificate);
    checks.extend(validity(certificates, now));
    checks
}

const SECRET: &str = "closed to other users, as mode 600";

fn no_default(found: &str) -> Check {
    Check::good("default-key", found, "a key")
        .but(Verdict::Advice, "weir key new /your/name --default")
}

fn judge_default(default: &Result<Name, KeyChainError>, keys: usize) -> Check {
    match default {
        Ok(name) => Check::good("default-key", name, "a key"),
        Err(KeyChainError::NoDefault { .. }) if keys == 0 => no_default("no keys"),
        Err(KeyChainError::NoDefault { .. }) => no_default("no default among the keys"),
        Err(KeyChainError::NotFound { name, .. }) => {
            no_default(&format!("{name}, which is missing")).but(Verdict::Wrong, NEW_DEFAULT)
        }
        // The check of its file reports the fault.
        Err(KeyChainError::Exposed { .. } | KeyChainError::Damaged { .. }) => {
            Check::unchecked("default-key", "its file has a fault", "a key")
        }
        Err(error) => Check::unchecked("default-key", error, "a key"),
    }
}

const NEW_DEFAULT: &str = "weir key new /your/name --default, or weir key import FILE --default";

/// The files of private and shared keys.
fn secrets(listing: &Listing) -> Vec<Check> {
    let count = listing.keys.len() + listing.shared.len();
    if listing.problems.is_empty() && count > 0 {
        return vec![Check::good("private-keys", format!("{count} readable by you only"), SECRET)];
    }
    listing.problems.iter().map(judge_problem).collect()
}

fn judge_problem(problem: &KeyChainError) -> Check {
    match problem {
        KeyChainError::Exposed { path, mode } => {
            let shown = path.display();
            let change = format!("chmod 600 {shown}; if another user has read it, make a new key");
            Check::good("private-keys", format!("mode {:03o}", mode & 0o777), SECRET)
                .of(&shown)
                .but(Verdict::Wrong, change)
        }
        KeyChainError::Damaged { path, problem } => {
            Check::good("key-files", format!("damaged: {problem}"), "an undamaged file")
                .of(path.display())
                .but(Verdict::Wrong, "restore it from a backup, or delete it and make a new key")
        }
        KeyChainError::Io { path, source, .. } => {
            Check::unchecked("private-keys", source, SECRET).of(path.display())
        }
        other => Check::unchecked("private-keys", other, SECRET),
    }
}

/// One check for each certificate that needs something, or one for all.
fn validity<'c>(all: impl Iterator<Item = &'c Certificate>, now: u64) -> Vec<Check> {
    let all: Vec<_> = all.collect();
    let judged = all.iter().map(|certificate| judge_validity(certificate, now));
    let faulty: Vec<_> = judged.filter(|check| check.result != Verdict::Good).collect();
    if !faulty.is_empty() || all.is_empty() {
        return faulty;
    }
    let least = all.iter().map(|certificate| certificate.validity().not_after()).min();
    let found =
        format!("{} valid, until {} or later", all.len(), human_instant(least.unwrap_or(0)));
    vec![Check::good("certificates", found, "valid for 30 days")]
}

fn judge_validity(certificate: &Certificate, now: u64) -> Check {
    let key = certificate.key_name();
    let (verdict, found) = judge_span(certificate.validity(), now);
    let check = Check::good("certificates", found, "valid for 30 days").of(&key);
    let change = match verdict {
        Verdict::Good => return check,
        _ if certificate.validity().not_before() > now => {
            "set the clock, or wait until then: timedatectl shows the time".to_owned()
        }
        _ if certificate.is_self_signed() => format!("weir key renew {key}"),
        _ => format!("weir key renew {key}, then `weir key sign` by its issuer"),
    };
    check.but(verdict, change)
}

fn judge_span(validity: Validity, now: u64) -> (Verdict, String) {
    let (start, end) = (validity.not_before(), validity.not_after());
    if now < start {
        return (Verdict::Wrong, format!("not valid before {}", human_instant(start)));
    }
    if now > end {
        return (Verdict::Wrong, format!("expired {}", human_instant(end)));
    }
    let verdict = if end - now < SOON { Verdict::Advice } else { Verdict::Good };
    (verdict, format!("valid until {}", human_instant(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use security::{KeyType, SecretKey};
    use zeroize::Zeroizing;

    const NOW: u64 = 1_800_000_000;
    const DAY: u64 = 86_400;

    fn certificate(not_before: u64, not_after: u64) -> Certificate {
        let secret = SecretKey::generate(KeyType::Ed25519, &Zeroizing::new([7; 32])).unwrap();
        let identity: Name = "/a".parse().unwrap();
        let validity = Validity::new(not_before, not_after).unwrap();
        Certificate::self_signed(identity.as_ref(), &secret, validity, NOW * 1000)
    }

    #[test]
    fn a_certificate_is_renewed_30_days_before_its_end() {
        let verdict = |start, end| judge_validity(&certificate(start, end), NOW).result;
        assert_eq!(verdict(NOW, NOW + 30 * DAY), Verdict::Good);
        assert_eq!(verdict(NOW, NOW + 30 * DAY - 1), Verdict::Advice);
        assert_eq!(verdict(NOW - DAY, NOW), Verdict::Advice, "its last second");
        assert_eq!(verdict(NOW - DAY, NOW - 1), Verdict::Wrong);
        assert_eq!(verdict(NOW + 1, NOW + 90 * DAY), Verdict::Wrong);
        let expired = judge_validity(&certificate(NOW - DAY, NOW - 1), NOW);
        assert_eq!(expired.found, "expired 2027-01-15 07:59:59 UTC");
        assert!(expired.change.unwrap().starts_with("weir key renew /a/KEY/"));
    }

    #[test]
    fn valid_certificates_make_one_check_and_each_other_its_own() {
        let good = certificate(NOW, NOW + 90 * DAY);
        let (expired, soon) = (certificate(0, NOW - 1), certificate(NOW, NOW + DAY));
        let count = |all: &[&Certificate]| validity(all.iter().copied(), NOW).len();
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[&good, &good]), 1);
        assert_eq!(count(&[&good, &expired, &soon]), 2);
    }

    #[test]
    fn a_secret_that_others_can_read_is_wrong() {
        let exposed = KeyChainError::Exposed { path: "/k/a.key".into(), mode: 0o644 };
        let check = judge_problem(&exposed);
        assert_eq!((check.result, &*check.found), (Verdict::Wrong, "mode 644"));
        assert!(check.change.unwrap().starts_with("chmod 600 /k/a.key"));
        let unread = std::io::Error::from_raw_os_error(13);
        let path = "/k/a.key".into();
        let unread = KeyChainError::Io { doing: "read", path, source: unread };
        assert_eq!(judge_problem(&unread).result, Verdict::Unchecked);
    }

    #[test]
    fn no_default_key_is_advice_and_a_missing_one_is_wrong() {
        let name: Name = "/a/KEY/1".parse().unwrap();
        assert_eq!(judge_default(&Ok(name.clone()), 1).result, Verdict::Good);
        let dir = std::path::PathBuf::from("/k");
        let none = Err(KeyChainError::NoDefault { dir: dir.clone() });
        assert_eq!(judge_default(&none, 1).result, Verdict::Advice);
        let missing = Err(KeyChainError::NotFound { name, dir });
        assert_eq!(judge_default(&missing, 1).result, Verdict::Wrong);
        assert_eq!(examine(Path::new("/k"), None, NOW)[0].result, Verdict::Advice);
    }
}
