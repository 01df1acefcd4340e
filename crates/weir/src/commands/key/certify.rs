//! `weir key sign` and `weir key renew`: certificates for others and for oneself.

use super::text::{print, text};
use crate::cli::{KeyRenewArgs, KeySignArgs};
use crate::exit::{Failure, Kind};
use crate::{identity, output};
use net::clock::unix_millis;
use packet::Component;
use security::certificate::Issue;
use security::{Certificate, Validity};

/// Prints a certificate for another user's key.
pub fn sign(args: &KeySignArgs) -> Result<(), Failure> {
    let shown = args.file.display();
    let request = Certificate::from_base64(&text(&args.file)?).map_err(|why| {
        Failure::new(Kind::Usage, format!("{shown} is not a certificate: {why}"))
            .then("ask for what `weir key new` or `weir key export` printed")
    })?;
    // The sender of a key has to have its secret. Otherwise he could have another user's key
    // certified.
    request.verify_self_signed().map_err(|why| {
        Failure::new(Kind::NotVerified, format!("{shown} is not signed by its own key: {why}"))
            .then("ask its owner for the self-signed certificate")
    })?;
    let by = identity::key(&args.by)?;
    let now = unix_millis();
    let issue = Issue {
        issuer: Component::generic(args.issuer.as_bytes()),
        validity: Validity::days(now / 1000, args.days),
        version: now,
    };
    let ends = by.certificate.validity().not_after();
    if issue.validity.not_after() > ends {
        let name = by.certificate.name();
        output::note(&format!("it becomes invalid when {name} expires, which is earlier"));
    }
    let (below, above) = (request.identity(), by.certificate.identity());
    if !below.as_ref().starts_with(above.as_ref()) {
        output::note(&format!(
            "only trust rules can let {above} certify {below}, which is not below it"
        ));
    }
    let certificate = request.issued(&by.signer(), &issue);
    output::note(&format!("{} certifies {}:", by.certificate.key_name(), request.key_name()));
    print(&certificate)
}

/// Gives a key a certificate with a longer validity.
pub fn renew(args: &KeyRenewArgs) -> Result<(), Failure> {
    let key = identity::key(&args.key)?;
    let name = key.certificate.key_name();
    let now = unix_millis();
    let validity = Validity::days(now / 1000, args.days);
    let renewed = Certificate::self_signed_as(&name, &key.secret, validity, now);
    if key.certificate.is_self_signed() {
        identity::keychain()?.map_or(Ok(()), |keys| keys.set_certificate(&renewed))?;
        output::note(&format!("the key {name} has a new certificate:"));
    } else {
        output::note(&format!(
            "another key certifies {name} and must do so again: its owner passes this to `weir key \
             sign`, and you pass the answer to `weir key import`:"
        ));
    }
    print(&renewed)
}
