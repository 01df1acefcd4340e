//! Certificates that are needed before what came can be judged.
//!
//! They are asked for one after the other, upwards: which one comes next is known only when the one
//! before is there. They are few and small, so that they fly beside the controller.

use crate::fetch::error::FetchError;
use crate::fetch::flight::Item;
use crate::fetch::{Fetch, Sink};
use control::{Duration, Time};
use packet::options::{Exclude, MAX_EXCLUDED};
use packet::{Data, HopOptions, InterestBuf, LpHeader, NackReason, Name, NameRef};
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
    /// Packets that came in its place.
    forged: Exclude,
    /// When it is asked for again, or given up.
    again_at: Time,
}

impl Wanted {
    /// Whoever was asked is gone: the certificate is asked for at `now` as if for the first time.
    pub(super) fn restart(&mut self, now: Time) {
        (self.attempts, self.again_at) = (0, now);
    }
}

impl Fetch {
    /// What came cannot be judged: the error names the certificate that is missing.
    pub(super) fn want_certificate(&mut self, now: Time, why: VerifyError) {
        let Some(name) = why.missing().cloned() else {
            return self.fail(FetchError::Untrusted(why));
        };
        if self.wanted.as_ref().is_none_or(|wanted| wanted.name != name) {
            let (attempts, forged) = (0, Exclude::new());
            self.wanted = Some(Wanted { name, why, attempts, forged, again_at: now });
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
    pub(super) fn certificate_deadline(&self) -> Option<Time> {
        self.wanted.as_ref().map(|wanted| wanted.again_at)
    }

    /// The certificate did not come, however often it was asked for. The first time that may be
    /// because what waits for it was forged, and is asked for again.
    pub(super) fn give_up_certificate(&mut self, now: Time) {
        let over = |wanted: &mut Wanted| wanted.again_at <= now && wanted.attempts >= ATTEMPTS;
        let Some(wanted) = self.wanted.take_if(over) else { return };
        let why = FetchError::Untrusted(wanted.why);
        let root = self.verification.take_waiting_root().map(|(n, wire)| (Item::Node(n), wire));
        let segments = self.verification.take_waiting().into_iter();
        let waited = segments.map(|(n, wire)| (Item::Segment(n), wire)).chain(root);
        let waited: Vec<_> = waited.collect();
        if waited.is_empty() || std::mem::replace(&mut self.gave_up_certificate, true) {
            return self.fail(why);
        }
        self.note_reason(why);
        for (item, wire) in waited {
            let Ok(data) = Data::decode(&wire) else { continue };
            let came = data.implicit_digest();
            self.requests.stats.forged += 1;
            let times = self.verification.count_forged(item, None, Some(&came));
            self.requests.ask_again(now, item, times as u16);
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
        let Some(mut wanted) = self.wanted.take_if(is_it) else { return false };
        self.progress_at = now;
        if let Err(error) = self.config.policy.offer(data) {
            self.count_forged(now);
            if wanted.forged.len() + 1 < MAX_EXCLUDED && wanted.forged.add(&data.implicit_digest())
            {
                // A cache may hold another one than its owner has.
                (wanted.attempts, wanted.again_at, wanted.why) = (0, now, error);
                self.wanted = Some(wanted);
            } else {
                self.fail(FetchError::Untrusted(error));
            }
            return true;
        }
        self.judge_metadata_again();
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
