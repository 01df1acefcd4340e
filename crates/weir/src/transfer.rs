//! The options of a transfer, for one fetch or for many.

use crate::cli::TransferArgs;
use crate::exit::{Failure, Kind};
use crate::identity;
use client::parts::keys::at_present;
use client::parts::{check_depth, check_length};
use control::{Duration, Time};
use net::client::Endpoint;
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
