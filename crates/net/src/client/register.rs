//! Registering a prefix: NFD's `rib/register`, as every NDN application does it.

use crate::client::{ConnectError, Connection, Endpoint};
use crate::clock::unix_millis;
use crate::management::parameters::{ControlParameters, numbers};
use crate::management::response::ControlResponse;
use control::{Duration, Time};
use packet::{
    Component, Data, InterestBuf, LpPacket, NackReason, Name, Signature, SignatureInfoBuf,
};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// How long one command waits for its answer, and how often it is tried.
const ATTEMPT: Duration = Duration::from_secs(2);
const ATTEMPTS: u32 = 3;

/// Why a prefix is not registered.
#[derive(Debug, Error)]
pub enum RegisterError {
    /// The connection is lost.
    #[error(transparent)]
    Connection(#[from] ConnectError),
    /// The forwarder refused.
    #[error("the forwarder refused to register {prefix}: {code} {text}")]
    Refused {
        /// The prefix.
        prefix: Name,
        /// The status code of the management protocol.
        code: u64,
        /// The forwarder's words.
        text: String,
    },
    /// Nobody answers management commands there.
    #[error("the forwarder at {address} does not answer: {prefix} could not be registered")]
    NoAnswer {
        /// The prefix.
        prefix: Name,
        /// The forwarder.
        address: String,
    },
    /// A signal came in.
    #[error("interrupted")]
    Interrupted,
}

/// One command, from its Interest to its answer.
struct Command {
    name: Name,
    interest: Option<Vec<u8>>,
    answer: Option<ControlResponse>,
    nack: Option<NackReason>,
}

impl Connection {
    /// Registers `prefix` for this connection.
    ///
    /// # Errors
    /// The forwarder refuses or does not answer.
    pub fn register(&mut self, prefix: &Name) -> Result<(), RegisterError> {
        self.command("register", prefix)
    }

    /// Takes the registration of `prefix` back.
    ///
    /// # Errors
    /// The forwarder refuses or does not answer.
    pub fn unregister(&mut self, prefix: &Name) -> Result<(), RegisterError> {
        self.command("unregister", prefix)
    }

    fn command(&mut self, verb: &str, prefix: &Name) -> Result<(), RegisterError> {
        for _ in 0..ATTEMPTS {
            let mut command = Command::new(verb, prefix);
            let end = self.now() + ATTEMPT;
            while command.answer.is_none() && command.nack.is_none() && self.now() < end {
                if self.turn(&mut command, end)? == crate::client::Turn::Interrupted {
                    return Err(RegisterError::Interrupted);
                }
            }
            match command.answer {
                Some(answer) if answer.code == 200 => return Ok(()),
                Some(ControlResponse { code, text, .. }) => {
                    return Err(RegisterError::Refused { prefix: prefix.clone(), code, text });
                }
                None => {}
            }
        }
        let address = self.address().to_string();
        Err(RegisterError::NoAnswer { prefix: prefix.clone(), address })
    }
}

impl Command {
    fn new(verb: &str, prefix: &Name) -> Command {
        let parameters = ControlParameters { name: Some(prefix.clone()), ..Default::default() };
        let mut octets = Vec::new();
        parameters.encode_into(&mut octets);
        let mut name: Name = ["localhost", "nfd", "rib", verb]
            .into_iter()
            .map(|word| Component::generic(word.as_bytes()))
            .collect();
        debug_assert_eq!(octets.first().map(|o| u64::from(*o)), Some(numbers::CONTROL_PARAMETERS));
        name.push(Component::generic(&octets).as_ref());
        // The time makes the command unique; the replay check of forwarders wants it to increase.
        let time = unix_millis();
        let unique: [u8; 32] =
            Sha256::digest([name.as_bytes(), &time.to_be_bytes()].concat()).into();
        let nonce = u32::from_be_bytes([unique[0], unique[1], unique[2], unique[3]]);
        let mut interest = InterestBuf {
            nonce: Some(nonce),
            lifetime_ms: Some(ATTEMPT.as_millis()),
            ..InterestBuf::new(name)
        };
        let info = SignatureInfoBuf::digest().with_nonce(&unique[4..12]).with_time_ms(time);
        interest.sign_with(info, |portions| {
            let mut digest = Sha256::new();
            portions.iter().for_each(|portion| digest.update(portion));
            Signature::from(<[u8; 32]>::from(digest.finalize()))
        });
        let mut wire = Vec::new();
        interest.encode_into(&mut wire);
        Command { name: interest.name, interest: Some(wire), answer: None, nack: None }
    }
}

impl Endpoint for Command {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        if let Some(reason) = link.nack() {
            self.nack = Some(reason);
            return;
        }
        let Some(Ok(data)) = link.fragment().map(Data::decode) else { return };
        if data.name().starts_with(self.name.as_ref()) {
            self.answer = ControlResponse::decode(data.content()).ok();
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        self.interest.take().is_some_and(|interest| {
            out.extend_from_slice(&interest);
            true
        })
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}
