//! Commands: NFD's `rib/register`, as every NDN application does it, and commands that change a
//! running forwarder.

use crate::client::endpoint::Endpoint;
use crate::client::{ConnectError, Connection};
use crate::management::parameters::{ControlParameters, numbers};
use crate::management::response::ControlResponse;
use crate::management::rib::ORIGIN_STATIC;
use control::{Duration, Rate, Time};
use packet::{Component, Data, InterestBuf, LpPacket, NackReason, Name};
use security::Signer;
use thiserror::Error;

/// The time for which one command waits for its answer, and the number of attempts.
const ATTEMPT: Duration = Duration::from_secs(2);
const ATTEMPTS: u32 = 3;

/// Why a command was not executed.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The connection is lost.
    #[error(transparent)]
    Connection(#[from] ConnectError),
    /// The forwarder rejected.
    #[error("the forwarder refused to {what}: {code} {text}")]
    Rejected {
        /// `register /a/b`
        what: String,
        /// The status code of the management protocol.
        code: u64,
        /// The forwarder's words.
        text: String,
    },
    /// No answer to management commands.
    #[error("the forwarder at {address} does not answer: it did not {what}")]
    NoAnswer {
        /// `register /a/b`
        what: String,
        /// The forwarder.
        address: String,
    },
    /// The names in the command are too long.
    #[error("the command to {what} does not fit into a packet: {length} bytes, at most {max}",
        max = packet::MAX_PACKET)]
    TooLong {
        /// `register /a/b`
        what: String,
        /// The length of the Interest in bytes.
        length: usize,
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

const REGISTER: [&str; 3] = ["nfd", "rib", "register"];
const UNREGISTER: [&str; 3] = ["nfd", "rib", "unregister"];
const UPDATE: [&str; 3] = ["weir", "faces", "update"];

impl Connection {
    /// Registers `prefix` for this connection.
    ///
    /// # Errors
    /// The forwarder rejects or does not answer.
    pub fn register(&mut self, prefix: &Name) -> Result<(), CommandError> {
        self.command(REGISTER, &of(prefix), &format!("register {prefix}"))
    }

    /// Takes the registration of `prefix` back.
    ///
    /// # Errors
    /// The forwarder rejects or does not answer.
    pub fn unregister(&mut self, prefix: &Name) -> Result<(), CommandError> {
        self.command(UNREGISTER, &of(prefix), &format!("unregister {prefix}"))
    }

    /// Adds a route over a face of the forwarder, or changes its cost, as its configuration would
    /// have it.
    ///
    /// # Errors
    /// The forwarder rejects or does not answer.
    pub fn add_route(&mut self, prefix: &Name, face: u64, cost: u64) -> Result<(), CommandError> {
        let (face_id, origin) = (Some(face), Some(ORIGIN_STATIC));
        let (cost, flags) = (Some(cost), Some(0));
        let asked = ControlParameters { face_id, origin, cost, flags, ..of(prefix) };
        self.command(REGISTER, &asked, &format!("add a route for {prefix}"))
    }

    /// Removes a route over a face that the configuration, or [`Connection::add_route`], has.
    ///
    /// # Errors
    /// The forwarder rejects or does not answer.
    pub fn remove_route(&mut self, prefix: &Name, face: u64) -> Result<(), CommandError> {
        let (face_id, origin) = (Some(face), Some(ORIGIN_STATIC));
        let asked = ControlParameters { face_id, origin, ..of(prefix) };
        self.command(UNREGISTER, &asked, &format!("remove a route for {prefix}"))
    }

    /// Changes the pacing rate of a face of the forwarder, and the rate that its link is to bring.
    ///
    /// # Errors
    /// The forwarder rejects or does not answer.
    pub fn set_rates(
        &mut self,
        face: u64,
        rate: Option<Rate>,
        rate_in: Option<Rate>,
    ) -> Result<(), CommandError> {
        let [rate, rate_in] = [rate, rate_in].map(|rate| rate.map(|rate| rate.0));
        let asked = ControlParameters { face_id: Some(face), rate, rate_in, ..Default::default() };
        self.command(UPDATE, &asked, &format!("change the rates of face {face}"))
    }

    /// Sends a command of the management protocol, such as `["nfd", "faces", "create"]`, and
    /// returns the answer, whatever its status. `what` names the action, for messages.
    ///
    /// # Errors
    /// The forwarder does not answer, or no packet has room for the command.
    pub fn control(
        &mut self,
        verb: [&str; 3],
        asked: &ControlParameters,
        what: &str,
    ) -> Result<ControlResponse, CommandError> {
        for _ in 0..ATTEMPTS {
            let time_ms = self.next_command_ms();
            let mut command = Command::new(verb, asked, self.signer(), time_ms);
            // The forwarder would drop it without an answer.
            let length = command.interest.as_ref().map_or(0, Vec::len);
            if length > packet::MAX_PACKET {
                return Err(CommandError::TooLong { what: what.to_owned(), length });
            }
            let end = self.now() + ATTEMPT;
            while command.answer.is_none() && command.nack.is_none() && self.now() < end {
                if self.turn(&mut command, end)? == crate::client::Turn::Interrupted {
                    return Err(CommandError::Interrupted);
                }
            }
            if let Some(answer) = command.answer {
                return Ok(answer);
            }
        }
        let address = self.address().to_string();
        Err(CommandError::NoAnswer { what: what.to_owned(), address })
    }

    fn command(
        &mut self,
        verb: [&str; 3],
        asked: &ControlParameters,
        what: &str,
    ) -> Result<(), CommandError> {
        match self.control(verb, asked, what)? {
            ControlResponse { code: 200, .. } => Ok(()),
            ControlResponse { code, text, .. } => {
                Err(CommandError::Rejected { what: what.to_owned(), code, text })
            }
        }
    }
}

/// The parameters of a prefix.
fn of(prefix: &Name) -> ControlParameters {
    ControlParameters { name: Some(prefix.clone()), ..Default::default() }
}

impl Command {
    fn new(verb: [&str; 3], asked: &ControlParameters, signer: &Signer, time_ms: u64) -> Command {
        let mut bytes = Vec::new();
        asked.encode_into(&mut bytes);
        let mut name: Name = ["localhost"]
            .into_iter()
            .chain(verb)
            .map(|word| Component::generic(word.as_bytes()))
            .collect();
        debug_assert_eq!(bytes.first().map(|o| u64::from(*o)), Some(numbers::CONTROL_PARAMETERS));
        name.push(Component::generic(&bytes).as_ref());
        let unique = getrandom::u64().unwrap_or(time_ms).to_be_bytes();
        let nonce = u32::from_be_bytes([unique[0], unique[1], unique[2], unique[3]]);
        let mut interest = InterestBuf {
            nonce: Some(nonce),
            lifetime_ms: Some(ATTEMPT.as_millis()),
            ..InterestBuf::new(name)
        };
        let info = signer.info().with_nonce(&unique).with_time_ms(time_ms);
        interest.sign_with(info, |portions| signer.sign(&portions.concat()));
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
