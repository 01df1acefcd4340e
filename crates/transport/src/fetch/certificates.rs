//! Certificates that are needed before what came can be judged.
//!
//! They are asked for one after the other, upwards: which one comes next is known only when the one
//! before is there. They are few and small, so that they fly beside the controller.

use control::{Duration, Time};
use packet::options::{Exclude, MAX_EXCLUDED};
use packet::{Data, HopOptions, InterestBuf, LpHeader, NackReason, Name, NameRef};
use security::{Digest, VerifyError};

/// How often a certificate is asked for, and how long each Interest waits.
const ATTEMPTS: u32 = 3;
const ATTEMPT: Duration = Duration::from_secs(2);
/// The pause after a Nack: routes may be on their way.
const AFTER_NACK: Duration = Duration::from_millis(500);

/// A certificate that is needed.
pub(super) struct Wanted {
    name: Name,
    /// The error if it does not come.
    why: VerifyError,
    attempts: u32,
    /// Packets that came in its place.
    forged: Exclude,
    /// When it is asked for again, or given up.
    again_at: Time,
}

/// The certificate that is needed now, if one is.
#[derive(Default)]
pub(super) struct Certificates {
    wanted: Option<Wanted>,
    /// One did not come once, and what waited for it was asked for again.
    gave_up: bool,
}

impl Certificates {
    /// A packet cannot be judged without the certificate of this name.
    pub fn want(&mut self, now: Time, name: Name, why: VerifyError) {
        if self.wanted.as_ref().is_none_or(|wanted| wanted.name != name) {
            let (attempts, forged) = (0, Exclude::new());
            self.wanted = Some(Wanted { name, why, attempts, forged, again_at: now });
        }
    }

    /// A certificate is needed.
    pub fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// None is needed any more.
    pub fn forget(&mut self) {
        self.wanted = None;
    }

    /// The connection is a new one: the certificate is asked for as if for the first time.
    pub fn restart(&mut self, now: Time) {
        if let Some(wanted) = &mut self.wanted {
            (wanted.attempts, wanted.again_at) = (0, now);
        }
    }

    /// Appends the Interest for the certificate that is needed, if it is time for one.
    pub fn poll_transmit(
        &mut self,
        now: Time,
        nonce: impl FnOnce() -> u32,
        out: &mut Vec<u8>,
    ) -> bool {
        let due = |wanted: &&mut Wanted| wanted.again_at <= now && wanted.attempts < ATTEMPTS;
        let Some(wanted) = self.wanted.as_mut().filter(due) else { return false };
        wanted.attempts += 1;
        wanted.again_at = now + ATTEMPT;
        let interest = InterestBuf {
            // A KeyLocator may name the key, and not which certificate of it.
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

    /// When the certificate is asked for again, or given up.
    pub fn deadline(&self) -> Option<Time> {
        self.wanted.as_ref().map(|wanted| wanted.again_at)
    }

    /// The certificate did not come, however often it was asked for: why it was needed.
    pub fn give_up(&mut self, now: Time) -> Option<VerifyError> {
        let over = |wanted: &mut Wanted| wanted.again_at <= now && wanted.attempts >= ATTEMPTS;
        self.wanted.take_if(over).map(|wanted| wanted.why)
    }

    /// Requests the packets that waited for a certificate again. Returns `false` if that was done
    /// before.
    pub fn may_ask_again(&mut self) -> bool {
        !std::mem::replace(&mut self.gave_up, true)
    }

    /// An Interest for the certificate came back; false if it was for something else.
    pub fn refused(&mut self, now: Time, name: NameRef<'_>, reason: NackReason) -> bool {
        let Some(wanted) = self.wanted.as_mut().filter(|wanted| wanted.name.as_ref() == name)
        else {
            return false;
        };
        if reason != NackReason::Duplicate {
            wanted.again_at = wanted.again_at.min(now + AFTER_NACK);
        }
        true
    }

    /// The certificate that is needed, if the packet answers for it.
    pub fn answered(&mut self, data: &Data<'_>) -> Option<Wanted> {
        self.wanted.take_if(|wanted| data.name().starts_with(wanted.name.as_ref()))
    }

    /// The packet that answered is another one. A cache may hold another one than its owner has:
    /// asks again, without this one.
    ///
    /// # Errors
    /// Too many were wrong.
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
