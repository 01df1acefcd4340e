//! Questions to the forwarder itself: registering prefixes, reading datasets.

use super::{Client, ClientError, MAX_KEPT};
use crate::clock::unix_millis;
use crate::management::parameters::ControlParameters;
use crate::management::response::ControlResponse;
use crate::timer::Sleep;
use control::Duration;
use packet::{Bytes, Component, Data, Interest, InterestBuf, LpPacket, NackReason, Name};
use packet::{Signature, SignatureInfoBuf};
use sha2::{Digest as _, Sha256};
use std::io;

/// How long the forwarder may take to answer.
const PATIENCE: Duration = Duration::from_secs(4);

/// Segments of a dataset that are read at most: 64 MB.
const MAX_SEGMENTS: u64 = 8192;

impl Client {
    /// Registers `prefix` for this connection (`rib/register`).
    ///
    /// # Errors
    /// The forwarder refuses or does not answer, or the connection is lost.
    pub fn register(&mut self, prefix: &Name) -> Result<(), ClientError> {
        self.rib_command("register", prefix)
    }

    /// Takes back [`Client::register`]. Closing the connection does it, too.
    ///
    /// # Errors
    /// The forwarder refuses or does not answer, or the connection is lost.
    pub fn unregister(&mut self, prefix: &Name) -> Result<(), ClientError> {
        self.rib_command("unregister", prefix)
    }

    fn rib_command(&mut self, verb: &str, prefix: &Name) -> Result<(), ClientError> {
        let command = rib_command(verb, prefix, random()?, unix_millis());
        let packet = self.ask(&command)?;
        let bad = |why: String| ClientError::BadAnswer { name: prefix.clone(), why };
        let data = Data::decode(&packet).map_err(|e| bad(e.to_string()))?;
        let response = ControlResponse::decode(data.content()).map_err(|e| bad(e.to_string()))?;
        if response.code == 200 {
            return Ok(());
        }
        let what = format!("to {verb} {prefix}");
        Err(ClientError::Refused { what, code: response.code, text: response.text })
    }

    /// Reads a dataset of the forwarder, such as `/localhost/weir/counters`.
    ///
    /// # Errors
    /// The forwarder does not answer, or not with a dataset; or the connection is lost.
    pub fn dataset(&mut self, name: &Name) -> Result<Vec<u8>, ClientError> {
        let mut first = InterestBuf::new(name.clone());
        first.can_be_prefix = true;
        first.must_be_fresh = true;
        first.nonce = Some(random()? as u32);
        let packet = self.ask(&first.encode())?;
        let bad = |why: &str| ClientError::BadAnswer { name: name.clone(), why: why.to_owned() };
        let data = Data::decode(&packet).map_err(|e| bad(&e.to_string()))?;
        let mut content = data.content().to_vec();
        let versioned = data.name().parent().to_name();
        let last = data.final_block().and_then(|c| c.as_segment_any());
        let last = last.ok_or_else(|| bad("it has no final segment"))?;
        if last >= MAX_SEGMENTS {
            return Err(bad("it is too large"));
        }
        for segment in 1..=last {
            let mut next = InterestBuf::new(versioned.clone().with(&Component::segment(segment)));
            next.nonce = Some(random()? as u32);
            let packet = self.ask(&next.encode())?;
            let data = Data::decode(&packet).map_err(|e| bad(&e.to_string()))?;
            content.extend_from_slice(data.content());
        }
        Ok(content)
    }

    /// Sends an Interest and waits for its Data. Frames that are not its answer are kept for
    /// [`Client::drive`].
    fn ask(&mut self, interest: &Bytes) -> Result<Bytes, ClientError> {
        let asked = Interest::decode(interest)
            .map_err(|e| ClientError::System(io::Error::other(e.to_string())))?;
        let end = self.now() + PATIENCE;
        let mut unsent = Some(interest);
        let mut answer = None;
        loop {
            self.send(|out| unsent.take().map(|i| out.extend_from_slice(i)).is_some())?;
            let mut kept = std::mem::take(&mut self.kept);
            self.receive(|_, frame| match answer_to(&asked, frame) {
                Some(found) => answer = Some(found),
                None if kept.len() < MAX_KEPT => kept.push_back(frame.to_vec()),
                None => {}
            })?;
            self.kept = kept;
            match answer.take() {
                Some(Ok(data)) => return Ok(data),
                Some(Err(reason)) => {
                    let what = format!("to carry {}", asked.name());
                    let text = format!("Nack, {reason:?}");
                    return Err(ClientError::Refused { what, code: reason.number(), text });
                }
                None if self.now() >= end => {
                    return Err(ClientError::NoAnswer { name: asked.name().to_name() });
                }
                None => {
                    let sleep = if self.readable { Sleep::Not } else { Sleep::Until(Some(end)) };
                    self.wait(sleep)?;
                }
            }
        }
    }
}

/// The Data or Nack for `asked`, if the frame is one.
fn answer_to(asked: &Interest<'_>, frame: &[u8]) -> Option<Result<Bytes, NackReason>> {
    let link = LpPacket::decode(frame).ok()?;
    let fragment = link.fragment()?;
    if let Some(reason) = link.nack() {
        let nacked = Interest::decode(fragment).ok()?;
        return (nacked.name() == asked.name()).then_some(Err(reason));
    }
    let data = Data::decode(fragment).ok()?;
    data.satisfies(asked).then(|| Ok(Bytes::copy_from_slice(fragment)))
}

fn random() -> Result<u64, ClientError> {
    getrandom::u64().map_err(|e| ClientError::System(io::Error::other(e)))
}

/// The signed Interest of `rib/<verb>` for this connection's own face.
fn rib_command(verb: &str, prefix: &Name, nonce: u64, wall_ms: u64) -> Bytes {
    let mut parameters = Vec::new();
    ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() }
        .encode_into(&mut parameters);
    let words = ["localhost", "nfd", "rib", verb];
    let name = words
        .iter()
        .fold(Name::default(), |name, w| name.with(&Component::generic(w.as_bytes())))
        .with(&Component::generic(&parameters));
    let mut interest = InterestBuf::new(name);
    interest.must_be_fresh = true;
    interest.nonce = Some(nonce as u32);
    interest.lifetime_ms = Some(PATIENCE.as_millis());
    let info = SignatureInfoBuf::digest().with_nonce(&nonce.to_be_bytes()).with_time_ms(wall_ms);
    interest.sign_with(info, |portions| {
        let mut digest = Sha256::new();
        portions.iter().for_each(|part| digest.update(part));
        Signature::from(<[u8; 32]>::from(digest.finalize()))
    });
    interest.encode()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::command::Command;

    #[test]
    fn the_forwarder_understands_our_command() {
        let prefix: Name = "/a/b".parse().unwrap();
        let wire = rib_command("register", &prefix, 7, 1_700_000_000_000);
        let interest = Interest::decode(&wire).unwrap();
        let command = Command::take(&interest).unwrap();
        assert_eq!((command.module, command.verb), (&b"rib"[..], &b"register"[..]));
        assert_eq!(command.parameters.name, Some(prefix));
        assert!(interest.must_be_fresh() && interest.nonce().is_some());
    }
}
