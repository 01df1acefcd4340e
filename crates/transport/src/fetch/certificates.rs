//! Certificates needed to verify received packets.
//!
//! They are requested one after the other, up the chain: each certificate names the next one. They
//! are few and small, so their Interests do not need the controller's permission.

use control::{Duration, Time};
use packet::options::{Exclude, MAX_EXCLUDED};
use packet::{Data, HopOptions, InterestBuf, LpHeader, NackReason, Name, NameRef};
use security::{Digest, VerifyError};

/// The number of Interests for a certificate, and the lifetime of each.
const ATTEMPTS: u32 = 3;
const ATTEMPT: Duration = Duration::from_secs(2);
/// The pause after a Nack: the route may not have arrived yet.
const AFTER_NACK: Duration = Duration::from_millis(500);

/// A missing certificate.
pub(super) struct Wanted {
    name: Name,
    /// The error to report if it does not arrive.
    why: VerifyError,
    attempts: u32,
    /// Wrong packets received in its place.
    forged: Exclude,
    /// The instant at which it is requested again, or given up.
    again_at: Time,
}

/// The missing certificate, if there is one.
#[derive(Default)]
pub(super) struct Certificates {
    wanted: Option<Wanted>,
    /// A certificate was given up before, and the packets that waited for it were requested again.
    gave_up: bool,
}

impl Certificates {
    /// Begins to request the certificate `name`. `why` is the verification error that names it.
    pub fn want(&mut self, now: Time, name: Name, why: VerifyError) {
        if self.wanted.as_ref().is_none_or(|wanted| wanted.name != name) {
            let (attempts, forged) = (0, Exclude::new());
            self.wanted = Some(Wanted { name, why, attempts, forged, again_at: now });
        }
    }

    /// True if a certificate is missing.
    pub fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Forgets the missing certificate.
    pub fn forget(&mut self) {
        self.wanted = None;
    }

    /// Starts the attempts again, for a new connection.
    pub fn restart(&mut self, now: Time) {
        if let Some(wanted) = &mut self.wanted {
            (wanted.attempts, wanted.again_at) = (0, now);
        }
    }

    /// Appends an Interest for the missing certificate, if one is due, and returns true.
    pub fn poll_transmit(
        &mut self,
        now: Time,
        nonce: impl FnOnce() -> u32,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(wanted) = self.wanted.as_mut() else { return false };
        if wanted.again_at > now || wanted.attempts >= ATTEMPTS {
            return false;
        }
        wanted.attempts += 1;
        wanted.again_at = now + ATTEMPT;
        let interest = InterestBuf {
            // A KeyLocator may name the key rather than one of its certificates.
            can_be_prefix: true,
            must_be_fresh: true,
            nonce: Some(nonce()),
            lifetime_ms: Some(ATTEMPT.as_millis()),
            ..InterestBuf::new(wanted.name.clone())
        };
        let mut options = HopOptions::new();
        match wanted.forged.is_empty() {
            true => interest.encode_into(out),
            false => {
                options.set(&wanted.forged);
                LpHeader { options, ..LpHeader::default() }.encode_into(&interest.encode(), out);
            }
        }
        true
    }

    /// The instant at which the certificate is requested again, or given up.
    pub fn deadline(&self) -> Option<Time> {
        self.wanted.as_ref().map(|wanted| wanted.again_at)
    }

    /// Gives up the certificate after its last attempt, and returns the error to report.
    pub fn give_up(&mut self, now: Time) -> Option<VerifyError> {
        let over =
            self.wanted.take_if(|wanted| wanted.again_at <= now && wanted.attempts >= ATTEMPTS);
        over.map(|wanted| wanted.why)
    }

    /// Returns true at the first call, when the packets that waited for a certificate may be
    /// requested again, and false from then on.
    pub fn may_ask_again(&mut self) -> bool {
        !std::mem::replace(&mut self.gave_up, true)
    }

    /// Records a Nack for the certificate. Returns false if `name` is another name.
    pub fn on_nack(&mut self, now: Time, name: NameRef<'_>, reason: NackReason) -> bool {
        let Some(wanted) = self.wanted.as_mut().filter(|wanted| wanted.name.as_ref() == name)
        else {
            return false;
        };
        if reason != NackReason::Duplicate {
            wanted.again_at = wanted.again_at.min(now + AFTER_NACK);
        }
        true
    }

    /// Takes the missing certificate's record if the packet has its name.
    pub fn answered(&mut self, data: &Data<'_>) -> Option<Wanted> {
        self.wanted.take_if(|wanted| data.name().starts_with(wanted.name.as_ref()))
    }

    /// Requests the certificate again, excluding the wrong packet `came`. A cache may hold another
    /// packet than the owner of the key.
    ///
    /// # Errors
    /// Returns `error` if too many packets were wrong.
    pub fn ask_for_another(
        &mut self,
        now: Time,
        mut wanted: Wanted,
        came: &Digest,
        error: VerifyError,
    ) -> Result<(), VerifyError> {
        if wanted.forged.len() + 1 >= MAX_EXCLUDED || !wanted.forged.add(came) {
            return Err(error);
        }
        (wanted.attempts, wanted.again_at, wanted.why) = (0, now, error);
        self.wanted = Some(wanted);
        Ok(())
    }
}
