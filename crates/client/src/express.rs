//! One Interest, one Data packet.

use crate::bell::Bell;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::packets::{Data, Interest};
use crate::parts::keys::at_present;
use crate::parts::{Answer, Exchange, Surroundings};
use crate::settings::{Settings, span};
use crate::trust::Verified;
use packet::NackReason;
use security::TrustPolicy;
use std::sync::Arc;
use std::time::Duration;

impl Surroundings for Cancel {
    fn is_stopped(&self) -> bool {
        self.is_cancelled()
    }
}

/// Sends the Interest, and verifies the answer.
pub(crate) fn express(
    settings: &Settings,
    interest: &Interest,
    policy: &TrustPolicy,
    cancel: &Cancel,
) -> Result<Data, Error> {
    let name = &interest.name;
    if name.is_empty() {
        return Err(Error::Usage("an Interest needs a name with a component".to_owned()));
    }
    if interest.lifetime < Duration::from_millis(1) {
        return Err(Error::Usage("an Interest needs a lifetime of 1 ms or more".to_owned()));
    }
    let nonce = getrandom::u32().map_err(|error| {
        Error::Failed(format!("the system provides no random numbers: {error}"))
    })?;
    let mut exchange = Exchange::new(&interest.packet(nonce));
    if exchange.interest_len() > packet::MAX_PACKET {
        let (length, most) = (exchange.interest_len(), packet::MAX_PACKET);
        return Err(Error::Usage(format!("the Interest has {length} bytes, and a packet {most}")));
    }
    let mut connection = settings.open(cancel)?;
    let bell = Arc::new(Bell::new()?);
    connection.wake_on(bell.share()?);
    cancel.attach(&bell);
    let end = connection.now() + span(interest.lifetime);
    while !exchange.is_over() && connection.now() < end {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        connection.turn(&mut exchange, end)?;
    }
    match exchange.into_answer() {
        Some(Answer::Data { wire, .. }) => {
            let data = packet::Data::decode(&wire).map_err(|error| {
                Error::Failed(format!("the answer is not a Data packet: {error}"))
            })?;
            let proof = at_present(policy).verify(&data).map_err(|error| {
                Error::NotVerified(format!("{} is not verified: {error}", data.name()))
            })?;
            Ok(Data::accepted(&data, Verified::from(&proof)))
        }
        Some(Answer::Nack(NackReason::Congestion)) => {
            Err(Error::TimedOut(format!("a forwarder returned {name}: it is congested")))
        }
        Some(Answer::Nack(NackReason::None)) => {
            Err(Error::NotFound(format!("the producer of {name} has no such packet")))
        }
        Some(Answer::Nack(reason)) => {
            Err(Error::NotFound(format!("a forwarder returned {name}: {reason}")))
        }
        None => {
            let text = format!("no answer to {name} within {:?}", interest.lifetime);
            Err(Error::TimedOut(text))
        }
    }
}
