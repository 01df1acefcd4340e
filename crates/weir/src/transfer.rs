//! The options of a transfer, for one fetch or for many.

use crate::cli::TransferArgs;
use crate::exit::{Failure, Kind};
use crate::identity;
use client::parts::keys::at_present;
use client::parts::{check_depth, check_length};
use control::{Controller, Duration, Time};
use net::client::Endpoint;
use packet::{Data, Name};
use schemes::Choice;
use security::{Certificate, Proof, TrustPolicy, VerifyError};
use transport::fetch::batch::{Batch, BatchConfig, BatchSink};
use transport::fetch::{Fetch, FetchConfig};

/// The options, checked: keys are read, the scheme is chosen.
#[derive(Clone)]
pub struct Transfers {
    choice: Choice,
    policy: TrustPolicy,
    range: Option<u16>,
    patience: Duration,
    lifetime: Option<Duration>,
}

impl Transfers {
    /// # Errors
    /// The scheme or the key does not exist.
    pub fn new(args: &TransferArgs) -> Result<Transfers, Failure> {
        let choice = choice(args)?;
        // A scheme without a controller fails here, not at the first fetch.
        choice.controller()?;
        Ok(Transfers {
            choice,
            policy: identity::policy(&args.trust)?,
            range: args.range,
            patience: args.patience,
            lifetime: args.lifetime,
        })
    }

    /// The scheme, as it is chosen by.
    pub fn control(&self) -> String {
        self.choice.to_string()
    }

    /// The configuration of a fetch of `name`.
    ///
    /// # Errors
    ///
    /// No Interest has room for the name, or the system provides no random numbers.
    pub fn config(&self, name: Name) -> Result<FetchConfig, Failure> {
        check_length(&name)?;
        check_depth(&name)?;
        let mut config = FetchConfig::new(name, at_present(&self.policy));
        config.patience = self.patience;
        config.range = self.range;
        config.lifetime = self.lifetime.unwrap_or(config.lifetime);
        config.seed = seed()?;
        Ok(config)
    }

    /// Checks the signature of a packet, with the certificates that a fetch has brought.
    ///
    /// # Errors
    /// The policy rejects it.
    pub fn verify(&self, data: &Data<'_>) -> Result<Proof, VerifyError> {
        at_present(&self.policy).verify(data)
    }

    /// True if only signatures by trusted keys are accepted.
    pub fn needs_key(&self) -> bool {
        self.policy.needs_key()
    }

    /// The certificates of a chain that are anchors, or verified by one. Each certificate has the
    /// key of the signature before it.
    pub fn certified(&self, chain: Vec<Certificate>) -> Vec<Certificate> {
        certified(&at_present(&self.policy), chain)
    }

    /// A batch under a controller of its own.
    ///
    /// # Errors
    /// The scheme has no controller, or the system provides no random numbers.
    pub fn batch(&self) -> Result<Batch, Failure> {
        let config = BatchConfig {
            lifetime: self.lifetime.unwrap_or(FetchConfig::LIFETIME),
            patience: self.patience,
            range: self.range,
            seed: seed()?,
            tap: Box::new(|_| {}),
        };
        Ok(Batch::new(config, self.choice.controller()?))
    }

    /// A fetch under a controller of its own.
    ///
    /// # Errors
    /// The scheme has no controller.
    pub fn fetch(&self, config: FetchConfig) -> Result<Fetch, Failure> {
        self.fetch_by(config, |controller| controller)
    }

    /// The same, with the controller that `by` returns.
    ///
    /// # Errors
    /// The scheme has no controller.
    pub fn fetch_by(
        &self,
        config: FetchConfig,
        by: impl FnOnce(Box<dyn Controller>) -> Box<dyn Controller>,
    ) -> Result<Fetch, Failure> {
        Ok(Fetch::new(config, by(self.choice.controller()?)))
    }
}

/// See [`Transfers::certified`].
fn certified(policy: &TrustPolicy, chain: Vec<Certificate>) -> Vec<Certificate> {
    let mut good = Vec::new();
    // From the anchor down: each is verified by those above it.
    for certificate in chain.into_iter().rev() {
        let Ok(data) = Data::decode(certificate.wire()) else { continue };
        let anchors = match policy {
            TrustPolicy::Chains(chains) => chains.validator.anchors(),
            _ => &[],
        };
        let is_anchor = anchors.iter().any(|anchor| anchor.wire() == certificate.wire());
        if !is_anchor && !matches!(policy.verify(&data), Ok(Proof::Key(_))) {
            continue;
        }
        // The pool rejects it if it has another verified certificate of that name.
        if policy.offer(&data).is_ok() {
            good.push(certificate);
        }
    }
    good.reverse();
    good
}

fn choice(args: &TransferArgs) -> Result<Choice, Failure> {
    let mut choice: Choice = args.control.parse()?;
    for setting in &args.set {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            let message = format!("--set {setting} has no value");
            Failure::new(Kind::Usage, message).then("write it like --set name=value")
        })?;
        choice.set(name, value)?;
    }
    #[cfg(feature = "onnx")]
    onnx::load(&mut choice, std::path::Path::new("."))?;
    Ok(choice)
}

/// Nonces must differ between runs.
fn seed() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| {
        Failure::new(Kind::Failed, format!("the system provides no random numbers: {error}"))
    })
}

/// A batch with the receiver of its content.
pub struct Driven<'a, S> {
    /// The batch.
    pub batch: &'a mut Batch,
    /// The receiver.
    pub sink: &'a mut S,
}

impl<S: BatchSink> Endpoint for Driven<'_, S> {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.batch.receive(now, frame, self.sink);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.batch.poll_transmit(now, out)
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.batch.next_deadline(now)
    }

    fn on_deadline(&mut self, now: Time) {
        self.batch.on_deadline(now);
    }

    fn set_ranges(&mut self, answered: bool) {
        self.batch.set_ranges(answered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Component;
    use security::certificate::Issue;
    use security::trust::{Chains, Schema, Validator};
    use security::{KeyType, SecretKey, Signer, Validity};
    use std::sync::Arc;

    const NOW: u64 = 1_795_183_387;

    fn key(seed: u8) -> SecretKey {
        SecretKey::generate(KeyType::Ed25519, &[seed; 32]).unwrap()
    }

    fn alone(identity: &str, seed: u8) -> Certificate {
        let validity = Validity::days(NOW - 10, 10);
        let identity: Name = identity.parse().unwrap();
        Certificate::self_signed(identity.as_ref(), &key(seed), validity, 1)
    }

    /// The certificate of the same key by another.
    fn issued(of: &Certificate, by: &Certificate, seed: u8) -> Certificate {
        let signer = Signer::Key { secret: key(seed), key_locator: by.name().clone() };
        let validity = Validity::days(NOW - 10, 5);
        of.issued(&signer, &Issue { issuer: Component::generic(b"up"), validity, version: 2 })
    }

    #[test]
    fn only_certificates_below_an_anchor_are_certified() {
        let site = alone("/site", 1);
        let group = issued(&alone("/site/group", 2), &site, 1);
        let member = issued(&alone("/site/group/member", 3), &group, 2);
        let good = vec![member.clone(), group.clone(), site.clone()];
        let validator = Arc::new(Validator::new(vec![site.clone()], Schema::Hierarchy));
        let policy = TrustPolicy::Chains(Chains { validator, now: NOW });
        assert_eq!(certified(&policy, good.clone()), good);
        // The key of the member, under the name of its certificate, by another key.
        let eve = alone("/eve", 9);
        let forged = issued(&alone("/site/group/member", 3), &eve, 9);
        assert_eq!(forged.name(), member.name());
        assert_eq!(certified(&policy, vec![forged.clone(), eve.clone()]), []);
        // By another key under the name of the anchor's certificate.
        let named = alone("/site", 9);
        let forged = issued(&alone("/site/group/member", 3), &named, 9);
        assert_eq!(certified(&policy, vec![forged, named]), []);
        // The forgeries do not verify later certificates.
        assert_eq!(certified(&policy, good.clone()), good);
    }

    #[test]
    fn without_anchors_only_certificates_by_known_keys_are_certified() {
        let (own, other) = (alone("/own", 1), alone("/other", 2));
        let policy = TrustPolicy::AnySigned(vec![security::TrustedKey::from_certificate(&own)]);
        assert_eq!(certified(&policy, vec![other, own.clone()]), [own]);
    }
}
