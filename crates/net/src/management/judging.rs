//! Commands and announcements are judged, wait for certificates, and are judged again.

use super::answer::Answer;
use super::authority::{Account, Denial, Origin};
use super::certificates::{Waiting, What};
use super::command::Arrival;
use super::command::{Asked, Command, Rejection};
use super::learning::Reception;
use super::{Host, Management, Question};
use control::Time;
use forwarder::{FaceId, Forwarder};
use packet::{Bytes, Interest, Name};
use security::Validator;
use std::sync::Arc;

impl Management {
    /// Sets the accepted signers of announcements; `None` accepts all.
    pub fn set_announcers(&mut self, announcers: Option<Arc<Validator>>) {
        self.announcers.accept(announcers);
    }

    /// Decides if a command may be executed now. Returns true if it is limited; see
    /// [`super::authority::Rule::is_bounded`].
    pub(super) fn judge(
        &mut self,
        host: &Host<'_>,
        command: &Command<'_>,
        origin: Origin,
        question: &Question<'_, '_>,
    ) -> Result<bool, Denial> {
        let Question { now, wall_ms, from, .. } = *question;
        let account = (host.account)(from);
        let grant = self.authority.permit(command, origin, account, wall_ms)?;
        if grant.is_bounded {
            self.judge_bounds(host, command, account, from)?;
        }
        if origin == Origin::Remote && !command.asked.is_for(from.0) {
            let why = "peers may register prefixes only for themselves";
            return Err(Rejection::unauthorized(why).into());
        }
        if let Asked::Announcement(bytes) = command.asked {
            self.announcers.judge(bytes, wall_ms)?;
        }
        // Last: a command that has to wait is judged again, and must not be a replay then.
        let is_bounded = grant.is_bounded;
        self.authority.admit(grant, &command.claim, Arrival { from, now, wall_ms })?;
        Ok(is_bounded)
    }

    /// Checks that a command of another user's program is within the limits for applications; see
    /// [`super::authority::Rule::is_bounded`].
    fn judge_bounds(
        &self,
        host: &Host<'_>,
        command: &Command<'_>,
        account: Option<Account>,
        from: FaceId,
    ) -> Result<(), Rejection> {
        let Some(what) = self.beyond_bounds(host, command, account, from) else { return Ok(()) };
        let user = account.map_or("an unknown user".to_owned(), |a| format!("user {}", a.uid));
        Err(Rejection::Unauthorized(format!(
            "a program of {user} may not {what}; an [[authorize]] section with its `user` allows it"
        )))
    }

    /// The part of a command beyond those limits.
    fn beyond_bounds(
        &self,
        host: &Host<'_>,
        command: &Command<'_>,
        account: Option<Account>,
        from: FaceId,
    ) -> Option<&'static str> {
        if !command.asked.is_for(from.0) {
            return Some("set routes to other faces than its own");
        }
        let name = command.asked.name().unwrap_or_default();
        let Some(first) = name.as_ref().first() else { return Some("register /") };
        if name.as_ref().len() == 1
            && [b"localhost".as_slice(), b"localhop"].contains(&first.value())
        {
            return Some("register all names of a scope");
        }
        let uid = account.map(|account| account.uid);
        let mut faces = self.rib.applications_at(name.as_ref()).filter(|face| *face != from);
        let is_taken =
            faces.any(|face| (host.account)(face).is_some_and(|owner| Some(owner.uid) != uid));
        is_taken.then_some("register names that an application of another user has registered")
    }

    /// Handles a command that is not executed: returns the reply of a rejection; `None` if it waits
    /// or is no command.
    pub(super) fn defer_or_reject(
        &mut self,
        forwarder: &mut Forwarder,
        denial: Denial,
        question: &Question<'_, '_>,
    ) -> Option<Rejection> {
        let Question { now, since, wall_ms, from, interest, token, is_last } = *question;
        let rejection = self.wait_or_reject(forwarder, now, denial, || {
            let wire = Bytes::copy_from_slice(interest.wire());
            let what = What::Command { wire, token: Bytes::copy_from_slice(token) };
            Waiting { what, from, since, wall_ms, is_last }
        });
        rejection.filter(|rejection| *rejection != Rejection::NotACommand)
    }

    /// Has something wait if a certificate is missing; otherwise, why it is rejected.
    pub(super) fn wait_or_reject(
        &mut self,
        forwarder: &mut Forwarder,
        now: Time,
        denial: Denial,
        waiting: impl FnOnce() -> Waiting,
    ) -> Option<Rejection> {
        match denial {
            Denial::Rejected(rejection) => Some(rejection),
            Denial::Untrusted(why, chain) => {
                forget_content(forwarder, &chain);
                Some(Rejection::Unauthorized(why))
            }
            Denial::Missing(missing) => match self.certificates.wait(now, &missing, waiting()) {
                Ok(()) => {
                    tracing::debug!(certificate = %missing.name, "asking for a certificate");
                    None
                }
                Err(reason) => Some(Rejection::Unauthorized(format!("{}; {reason}", missing.why))),
            },
        }
    }

    /// Judges waiting commands again; returns the next answer.
    pub fn resume(&mut self, host: &mut Host<'_>, now: Time) -> Option<Answer> {
        while let Some(waiting) = self.certificates.poll_ready() {
            let Waiting { what, from, since, wall_ms, is_last } = waiting;
            let (wire, token) = match what {
                What::Command { wire, token } => (wire, token),
                What::Announcement(received) => {
                    let reception = Reception { now, since, wall_ms, face: from, is_last };
                    self.receive_announcement(host.forwarder, reception, received);
                    continue;
                }
            };
            let Ok(interest) = Interest::decode(&wire) else { continue };
            let (interest, token) = (&interest, &token[..]);
            let question = Question { now, since, wall_ms, from, interest, token, is_last };
            let answer = self.command(host, &question);
            if answer.is_some() {
                return answer;
            }
        }
        None
    }
}

/// The certificates at which a chain broke may be forgeries under that name: the next request for
/// them must not get them from the content store.
fn forget_content(forwarder: &mut Forwarder, certificates: &[Name]) {
    for name in certificates {
        forwarder.erase_content(name.as_ref(), 1);
    }
}
