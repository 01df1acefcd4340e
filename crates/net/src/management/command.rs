//! Command Interests: their parameters and their integrity.
//!
//! There are two forms: signed Interests of packet format v0.3, and the older form whose timestamp,
//! nonce and signature are name components. A digest is checked here, so that a damaged command is
//! not executed; the [authority](super::authority) knows the accepted signatures.

use super::announcement::announced;
use super::fields;
use super::parameters::{ControlParameters, numbers};
use super::response::ControlResponse;
use control::Time;
use forwarder::FaceId;
use packet::tlv::{self, Fault, types};
use packet::{Interest, KeyLocator, Name, NameRef, SignatureInfo, SignatureType};
use security::Validator;
use security::trust::{ChainError, Role, Signed};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use thiserror::Error;

/// Components before the parameters: `/localhost/<protocol>/<module>/<verb>`.
const PREFIX: usize = 4;

/// Components of the old form behind the parameters: timestamp, nonce, signature info and value.
const OLD_SIGNATURE: usize = 4;

/// A command, whole.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    /// The Interest's name as it was signed.
    name: NameRef<'a>,
    /// `nfd` or `weir`.
    pub protocol: &'a [u8],
    /// `rib`, `faces` …
    pub module: &'a [u8],
    /// `register`, `create` …
    pub verb: &'a [u8],
    /// The requested action.
    pub asked: Asked<'a>,
    /// The sender's claim.
    pub claim: Claim<'a>,
}

/// When a command arrived, and over which face.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The face.
    pub from: FaceId,
    /// By the clock that never jumps.
    pub now: Time,
    /// In milliseconds since 1970.
    pub wall_ms: u64,
}

/// The subject of a command.
#[derive(Clone, Debug)]
pub enum Asked<'a> {
    /// Most commands have parameters in their name.
    Parameters(Box<ControlParameters>),
    /// `rib/announce` has a Data packet behind it.
    Announcement(&'a [u8]),
}

/// A signature, and the bytes that it covers.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// Its type.
    pub kind: SignatureType,
    /// The key that it names.
    pub key: Option<KeyLocator<'a>>,
    /// Its stated time, in milliseconds since 1970.
    pub time_ms: Option<u64>,
    /// The nonce that makes it unique.
    pub nonce: Option<&'a [u8]>,
    /// Its number among those of its key.
    pub sequence: Option<u64>,
    signed: [&'a [u8]; 3],
    /// The signature itself.
    pub value: &'a [u8],
}

/// Why a command is not executed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rejection {
    /// The Interest is no command; it is not answered.
    #[error("not a command")]
    NotACommand,
    /// It is malformed.
    #[error("{0}")]
    Malformed(String),
    /// It is unsigned, has a wrong signature, or its signer has no right to it.
    #[error("{0}")]
    Unauthorized(String),
}

impl Rejection {
    pub(super) fn unauthorized(why: impl Into<String>) -> Rejection {
        Rejection::Unauthorized(why.into())
    }
}

impl From<Rejection> for ControlResponse {
    fn from(rejection: Rejection) -> ControlResponse {
        let code = match rejection {
            Rejection::NotACommand | Rejection::Malformed(_) => 400,
            Rejection::Unauthorized(_) => 403,
        };
        ControlResponse::new(code, rejection.to_string(), ControlParameters::default())
    }
}

impl Asked<'_> {
    /// The name that the command is about.
    #[must_use]
    pub fn name(&self) -> Option<Name> {
        match self {
            Asked::Parameters(asked) => asked.name.clone(),
            Asked::Announcement(bytes) => announced(bytes),
        }
    }

    /// True if it concerns only this face, from which it came.
    #[must_use]
    pub fn is_for(&self, face: u64) -> bool {
        match self {
            Asked::Parameters(asked) => asked.face_id.is_none_or(|id| id == 0 || id == face),
            Asked::Announcement(_) => true,
        }
    }
}

impl<'a> Command<'a> {
    /// Takes a command Interest apart and checks that it is whole.
    ///
    /// # Errors
    /// See [`Rejection`].
    pub fn take(interest: &Interest<'a>) -> Result<Command<'a>, Rejection> {
        let name = interest.name();
        let [Some(protocol), Some(module), Some(verb)] = [1, 2, 3].map(|at| name.get(at)) else {
            return Err(Rejection::NotACommand);
        };
        let [protocol, module, verb] = [protocol, module, verb].map(|word| word.value());
        let (claim, signature) =
            if interest.signature_info().is_some() || interest.parameters().is_some() {
                // The decoder has checked that the name has one digest.
                (Claim::signed(interest)?, 1)
            } else if name.len() > PREFIX + OLD_SIGNATURE {
                (Claim::old(name)?, OLD_SIGNATURE)
            } else {
                return Err(Rejection::unauthorized("the command is not signed"));
            };
        claim.check_digest()?;
        let asked = match (module, verb) {
            (b"rib", b"announce") => Asked::Announcement(interest.parameters().unwrap_or_default()),
            _ => Asked::Parameters(Box::new(parameters(name, module, verb)?)),
        };
        let name = name.prefix(name.len() - signature);
        Ok(Command { name, protocol, module, verb, asked, claim })
    }

    /// Judges the signature by chains of certificates, `now` in seconds since 1970; the name of the
    /// key that made it, if that may.
    pub(super) fn judged_by(
        &self,
        validator: &Validator,
        now: u64,
    ) -> Result<Name, Box<ChainError>> {
        let about = self.asked.name().unwrap_or_default();
        let mut shown = self.name.prefix(PREFIX).to_name();
        about.as_ref().components().for_each(|component| shown.push(component));
        let signed = Signed {
            name: shown.as_ref(),
            role: Role::Command { about: about.as_ref(), interest: self.name },
            kind: self.claim.kind,
            key: self.claim.key,
            portion: Cow::Owned(self.claim.message()),
            value: self.claim.value,
        };
        validator.verify_signed(&signed, now)
    }
}

/// The value of a component as a NonNegativeInteger.
fn big_endian(bytes: &[u8]) -> Option<u64> {
    if !matches!(bytes.len(), 1 | 2 | 4 | 8) {
        return None;
    }
    Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

fn parameters(
    name: NameRef<'_>,
    module: &[u8],
    verb: &[u8],
) -> Result<ControlParameters, Rejection> {
    let bytes = name
        .get(PREFIX)
        .filter(|c| c.typ() == types::GENERIC)
        .ok_or_else(|| Rejection::Malformed("the command has no parameters".to_owned()))?;
    let bytes = tlv::only(bytes.value(), numbers::CONTROL_PARAMETERS);
    let bytes = bytes.map_err(malformed_parameters)?;
    if let Some(field) = fields::misplaced(module, verb, bytes) {
        return Err(Rejection::Malformed(format!("this command has no {field}")));
    }
    ControlParameters::decode(bytes).map_err(malformed_parameters)
}

fn malformed_parameters(fault: Fault) -> Rejection {
    Rejection::Malformed(format!("malformed parameters: {fault}"))
}

impl<'a> Claim<'a> {
    /// The claim of a signed Interest of packet format v0.3.
    fn signed(interest: &Interest<'a>) -> Result<Claim<'a>, Rejection> {
        if !interest.check_parameters_digest() {
            return Err(Rejection::Malformed("the parameters digest is wrong".to_owned()));
        }
        if interest.name().last().is_none_or(|last| last.typ() != types::PARAMETERS_DIGEST) {
            let why = "the name of a signed command ends in the parameters digest";
            return Err(Rejection::Malformed(why.to_owned()));
        }
        let (Some(info), Some(value)) = (interest.signature_info(), interest.signature_value())
        else {
            return Err(Rejection::unauthorized("the command is not signed"));
        };
        Ok(Claim {
            kind: info.signature_type(),
            key: info.key_locator(),
            time_ms: info.time_ms(),
            nonce: info.nonce(),
            sequence: info.sequence(),
            signed: interest.signed_portion(),
            value,
        })
    }

    /// The claim of a command of the older form:
    /// `…/<timestamp>/<nonce>/<SignatureInfo>/<SignatureValue>`.
    fn old(name: NameRef<'a>) -> Result<Claim<'a>, Rejection> {
        let last = name.len() - 1;
        let [time, nonce, info, value] = [last - 3, last - 2, last - 1, last]
            .map(|at| name.get(at).map(|c| c.value()).unwrap_or_default());
        let info = tlv::only(info, types::SIGNATURE_INFO);
        let info = info.ok().and_then(|info| SignatureInfo::decode(info).ok());
        let (Some(info), Ok(value)) = (info, tlv::only(value, types::SIGNATURE_VALUE)) else {
            return Err(Rejection::unauthorized("the command is not signed"));
        };
        Ok(Claim {
            kind: info.signature_type(),
            key: info.key_locator(),
            time_ms: big_endian(time),
            nonce: Some(nonce),
            sequence: info.sequence(),
            signed: [name.prefix(last).as_bytes(), b"", b""],
            value,
        })
    }

    /// The bytes that the signature covers.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        self.signed.concat()
    }

    /// The same in its parts.
    pub(super) fn signed_parts(&self) -> &[&'a [u8]; 3] {
        &self.signed
    }

    /// A claim with a digest whose signature covers `signed`.
    #[cfg(test)]
    pub(super) fn test(signed: &'a [u8], time_ms: u64, nonce: &'a [u8]) -> Claim<'a> {
        Claim {
            kind: SignatureType::DigestSha256,
            key: None,
            time_ms: Some(time_ms),
            nonce: Some(nonce),
            sequence: None,
            signed: [signed, b"", b""],
            value: b"",
        }
    }

    fn check_digest(&self) -> Result<(), Rejection> {
        if self.kind != SignatureType::DigestSha256 {
            return Ok(());
        }
        let mut digest = Sha256::new();
        self.signed.iter().for_each(|part| digest.update(part));
        if digest.finalize().as_slice() == self.value {
            Ok(())
        } else {
            Err(Rejection::unauthorized("the signature is wrong"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Component, InterestBuf};

    /// The interop sheet's register command of python-ndn 0.5.2 (section 6), captured. The sheet
    /// writes the generic components' headers apart; the bytes are these.
    pub(crate) const CAPTURED: &str = "0597 074e 08096c6f63616c686f7374 08036e6664 0803726962 \
        08087265676973746572 080b 6809 0707 080568656c6c6f \
        0220 865ee4cdbb28ce3c172544ee8fc43e44a4a3c70177d87e3dc113aac8b2660b47 \
        0a0401020304 0c0203e8 2400 2c17 1b0100 26088f1d77dd3b05dd19 2808000001a1f84707a8 \
        2e20 2a32b2d81f4d89e9322ea07f615fef4d288868deb383446082a6830ae5780e05";

    pub(crate) fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let value = |d: u8| (d as char).to_digit(16).unwrap() as u8;
        digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
    }

    // ControlCommand, "Request format": [mgmt-1].
    // signed-interest.rst, "Signed Interest": [signed-interest-1].
    #[test]
    fn the_captured_command_is_whole() {
        let wire = bytes(CAPTURED);
        let interest = Interest::decode(&wire).unwrap();
        let command = Command::take(&interest).unwrap();
        assert_eq!((command.module, command.verb), (&b"rib"[..], &b"register"[..]));
        assert_eq!(command.asked.name(), Some("/hello".parse().unwrap()));
        // Without the digest of the parameters.
        assert_eq!((command.name.len(), command.name), (5, interest.name().prefix(5)));
        // The facts for the authority's decision.
        assert_eq!(command.claim.time_ms, Some(0x01a1_f847_07a8));
        assert_eq!(command.claim.nonce, Some(&bytes("8f1d77dd3b05dd19")[..]));
    }

    #[test]
    fn a_command_about_its_own_face_is_about_no_other() {
        let about = |face_id| {
            let asked = ControlParameters { face_id, ..ControlParameters::default() };
            Asked::Parameters(Box::new(asked))
        };
        // Without a number, or with 0, it is the face that the command came by.
        for (face, is_own) in [(None, true), (Some(0), true), (Some(7), true), (Some(8), false)] {
            assert_eq!(about(face).is_for(7), is_own, "{face:?}");
        }
        assert!(Asked::Announcement(b"").is_for(7));
    }

    // ControlCommand, "Request format": [mgmt-2].
    // signed-interest.rst, "Processing, 1": [signed-interest-2]; "Processing, 4":
    // [signed-interest-5].
    #[test]
    fn a_changed_byte_is_rejected() {
        let good = bytes(CAPTURED);
        let mut parameters = good.clone();
        let at = parameters.windows(5).position(|w| w == b"hello").unwrap();
        parameters[at] = b'j';
        let interest = Interest::decode(&parameters).unwrap();
        let wrong = Command::take(&interest).unwrap_err();
        assert_eq!(wrong, Rejection::unauthorized("the signature is wrong"));
        let mut value = good;
        *value.last_mut().unwrap() ^= 1;
        let interest = Interest::decode(&value).unwrap();
        assert!(matches!(Command::take(&interest), Err(Rejection::Malformed(_))));
    }

    // signed-interest.rst, "Signed Interest": [signed-interest-1]; "Processing, 1":
    // [signed-interest-2].
    #[test]
    fn the_parameters_digest_is_the_last_component() {
        let good = bytes(CAPTURED);
        let good = Interest::decode(&good).unwrap();
        let mut interest = InterestBuf::from_view(&good);
        // Encoding puts the right digest in the place of this one.
        interest.name.push(Component::parameters_digest([0; 32]).as_ref());
        interest.name.push(Component::generic(b"more").as_ref());
        let info = interest.signature.take().unwrap().info;
        interest.sign_with(info, |parts| {
            packet::Signature::from(<[u8; 32]>::from(Sha256::digest(parts.concat())))
        });
        let wire = interest.encode();
        let interest = Interest::decode(&wire).unwrap();
        assert!(interest.check_parameters_digest(), "it is right, but stands elsewhere");
        assert!(matches!(Command::take(&interest), Err(Rejection::Malformed(_))));
    }

    fn old_form(value: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let mut parameters = Vec::new();
        ControlParameters { name: Some("/old".parse().unwrap()), ..ControlParameters::default() }
            .encode_into(&mut parameters);
        let mut name: Name = "/localhost/nfd/rib/register".parse().unwrap();
        for part in [&parameters[..], &[0, 0, 1, 0x67, 0, 0, 0, 1], &[7; 8], &[0x16, 3, 0x1b, 1, 0]]
        {
            name.push(Component::generic(part).as_ref());
        }
        let mut last = vec![0x17, 32];
        last.extend(value(name.as_bytes()));
        name.push(Component::generic(&last).as_ref());
        InterestBuf::new(name).encode().to_vec()
    }

    // CommandInterest, "CommandInterest": [mgmt-4].
    // Other projects' programs, "Commands": [peer-14].
    #[test]
    fn the_old_form_is_accepted_if_its_digest_is_right() {
        let wire = old_form(|portion| Sha256::digest(portion).to_vec());
        let interest = Interest::decode(&wire).unwrap();
        let command = Command::take(&interest).unwrap();
        assert_eq!(command.asked.name(), Some("/old".parse().unwrap()));
        assert_eq!(command.claim.time_ms, Some(0x0167_0000_0001));
        assert_eq!(command.claim.nonce, Some(&[7; 8][..]));
        let wire = old_form(|_| vec![0; 32]);
        let interest = Interest::decode(&wire).unwrap();
        assert!(matches!(Command::take(&interest), Err(Rejection::Unauthorized(_))));
    }

    // ControlCommand, "Request format": [mgmt-2].
    // signed-interest.rst, "Processing, 2": [signed-interest-3].
    #[test]
    fn commands_without_signature_or_parameters_are_rejected() {
        let take = |uri: &str| {
            let wire = InterestBuf::new(uri.parse().unwrap()).encode();
            Command::take(&Interest::decode(&wire).unwrap()).map(|_| ()).unwrap_err()
        };
        assert!(matches!(take("/localhost/nfd/rib/register/x"), Rejection::Unauthorized(_)));
        assert!(matches!(
            take("/localhost/nfd/rib/register/x/1/2/3/4"),
            Rejection::Unauthorized(_)
        ));
        assert_eq!(take("/localhost/nfd"), Rejection::NotACommand);
    }
}
