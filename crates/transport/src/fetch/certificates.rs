//! Certificates that are needed before what came can be judged.
//!
//! They are asked for one after the other, upwards: which one comes next is known only when the one
//! before is there. They are few and small, so that they fly beside the controller.

use crate::fetch::error::FetchError;
use crate::fetch::{Fetch, Sink};
use control::{Duration, Time};
use packet::{Data, InterestBuf, NackReason, Name, NameRef};
use security::VerifyError;

/// How often a certificate is asked for, and how long each Interest waits.
const ATTEMPTS: u32 = 3;
const ATTEMPT: Duration = Duration::from_secs(2);
/// Who said no may know more a little later: routes are on their way.
const AFTER_NACK: Duration = Duration::from_millis(500);

/// A certificate that is needed.
pub(super) struct Wanted {
    name: Name,
    /// What is to be said if it does not come.
    why: VerifyError,
    attempts: u32,
    /// When it is asked for again, or given up.
    again_at: Time,
}

impl Fetch {
    /// What came cannot be judged: the error names the certificate that is missing.
    pub(super) fn want_certificate(&mut self, now: Time, why: VerifyError) {
        let Some(name) = why.missing().cloned() else {
            return self.fail(FetchError::Untrusted(why));
        };
        if self.wanted.as_ref().is_none_or(|wanted| wanted.name != name) {
            self.wanted = Some(Wanted { name, why, attempts: 0, again_at: now });
        }
    }

    /// Appends the Interest for the certificate that is needed, if it is time for one.
    pub(super) fn ask_for_certificate(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let due = |wanted: &&mut Wanted| wanted.again_at <= now && wanted.attempts < ATTEMPTS;
        let Some(wanted) = self.wanted.as_mut().filter(due) else { return false };
        wanted.attempts += 1;
        wanted.again_at = now + ATTEMPT;
        let interest = InterestBuf {
            // A KeyLocator may name the key, and not which certificate of it.
            can_be_prefix: true,
            must_be_fresh: true,
            nonce: Some(self.requests.nonce()),
            lifetime_ms: Some(ATTEMPT.as_millis()),
            ..InterestBuf::new(wanted.name.clone())
        };
        interest.encode_into(out);
        true
    }

    /// When the certificate is asked for again, or given up.
    pub(super) fn certificate_deadline(&self) -> Option<Time> {
        self.wanted.as_ref().map(|wanted| wanted.again_at)
    }

    /// The certificate did not come, however often it was asked for.
    pub(super) fn give_up_certificate(&mut self, now: Time) {
        let over = |wanted: &mut Wanted| wanted.again_at <= now && wanted.attempts == ATTEMPTS;
        if let Some(wanted) = self.wanted.take_if(over) {
            self.fail(FetchError::Untrusted(wanted.why));
        }
    }

    /// An Interest for the certificate came back; false if it was for something else.
    pub(super) fn refuse_certificate(
        &mut self,
        now: Time,
        name: NameRef<'_>,
        reason: NackReason,
    ) -> bool {
        let Some(wanted) = self.wanted.as_mut().filter(|wanted| wanted.name.as_ref() == name)
        else {
            return false;
        };
        if reason != NackReason::Duplicate {
            wanted.again_at = wanted.again_at.min(now + AFTER_NACK);
        }
        true
    }

    /// Takes the certificate, and judges again what waited for it; false if it is something else.
    pub(super) fn receive_certificate(
        &mut self,
        now: Time,
        data: &Data<'_>,
        sink: &mut dyn Sink,
    ) -> bool {
        let is_it = |wanted: &mut Wanted| data.name().starts_with(wanted.name.as_ref());
        if self.wanted.take_if(is_it).is_none() {
            return false;
        }
        self.progress_at = now;
        if let Err(error) = self.config.policy.offer(data) {
            self.fail(FetchError::Untrusted(error));
            return true;
        }
        self.judge_end_again();
        if let Some((number, wire)) = self.verification.take_waiting_root()
            && let Ok(root) = Data::decode(&wire)
        {
            self.receive_node(now, number, &root, sink);
        }
        for (segment, wire) in self.verification.take_waiting() {
            if let Some(data) = Data::decode(&wire).ok().filter(|_| self.outcome.is_none()) {
                self.receive_segment(now, segment, &data, sink);
            }
        }
        true
    }
}
