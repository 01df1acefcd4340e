//! The options of a transfer, for one fetch or for many.

use crate::cli::TransferArgs;
use crate::exit::{Failure, Kind};
use crate::identity;
use control::{Duration, Time};
use net::client::Endpoint;
use net::clock::unix_millis;
use packet::{Data, Name};
use schemes::Choice;
use security::{Proof, TrustPolicy, VerifyError};
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
    /// There is no such scheme, or no such key.
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
    /// No Interest has room for the name, or the system gives no random numbers.
    pub fn config(&self, name: Name) -> Result<FetchConfig, Failure> {
        check_length(&name)?;
        check_depth(&name)?;
        let mut config = FetchConfig::new(name, self.policy.clone());
        if let TrustPolicy::Chains(chains) = &mut config.policy {
            chains.now = unix_millis() / 1000;
        }
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
        let mut policy = self.policy.clone();
        if let TrustPolicy::Chains(chains) = &mut policy {
            chains.now = unix_millis() / 1000;
        }
        policy.verify(data)
    }

    /// A batch under a controller of its own.
    ///
    /// # Errors
    /// The scheme has no controller, or the system gives no random numbers.
    pub fn batch(&self) -> Result<Batch, Failure> {
        let config = BatchConfig {
            lifetime: self.lifetime.unwrap_or(Duration::from_secs(4)),
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
        Ok(Fetch::new(config, self.choice.controller()?))
    }
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

/// The bytes that an Interest takes besides the given name: version and segment behind the name,
/// nonce, lifetime and the heads of all of them.
const BESIDES: usize = 64;

/// Forwarders drop packets that are too large without an answer.
fn check_length(name: &Name) -> Result<(), Failure> {
    let (length, most) = (name.as_ref().as_bytes().len(), packet::MAX_PACKET - BESIDES);
    if length <= most {
        return Ok(());
    }
    let what = format!("the name has {length} bytes, and an Interest has room for {most}");
    Err(Failure::new(Kind::Usage, what).then("use a shorter name"))
}

/// The number of components beyond which no object is found. The Interest that finds one has a
/// keyword more, and is for any version.
pub const MOST_COMPONENTS: usize = packet::name::MAX_PREFIX - 1;

/// An object of an unknown version is found by a prefix of its name. With the version, its root
/// packet is requested by its exact name.
fn check_depth(name: &Name) -> Result<(), Failure> {
    let has_version = name.as_ref().last().is_some_and(|last| last.as_version_any().is_some());
    if name.len() <= MOST_COMPONENTS || has_version {
        return Ok(());
    }
    let (len, most) = (name.len(), MOST_COMPONENTS);
    let message =
        format!("the name has {len} components, and objects are found by {most} or fewer");
    Err(Failure::new(Kind::Usage, message)
        .then("fetch a folder above it as a tree, and choose files by --include"))
}

/// Nonces must differ between runs.
fn seed() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| {
        Failure::new(Kind::Failed, format!("the system gives no random numbers: {error}"))
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

    #[test]
    fn a_name_that_no_packet_takes_is_an_error() {
        // A component has a byte of type and three of length.
        let of = |bytes: usize| format!("/{}", "a".repeat(bytes - 4)).parse::<Name>().unwrap();
        check_length(&of(8736)).unwrap();
        let said = check_length(&of(8737)).unwrap_err().to_string();
        assert!(said.contains("8737 bytes") && said.contains("room for 8736"), "{said}");
    }
}
