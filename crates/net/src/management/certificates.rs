//! Certificates that commands and announcements need before a decision, and that have to be
//! fetched.
//!
//! A command that needs one waits here, and everything else continues. A certificate is requested
//! by the routes and, if that fails, from the faces that brought the commands: a peer that
//! registers its first prefix has no route yet, and serves its certificate itself. All numbers are
//! limited, for each face and together, since any sender can name certificates that do not exist.

use super::authority::MissingCertificate;
use control::{Duration, Time};
use forwarder::FaceId;
use packet::{Bytes, Data, InterestBuf, LpHeader, Name, NameRef};
use security::{Validator, certificate};
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of Interests for a certificate: by the routes and to the faces in turn.
const ATTEMPTS: usize = 4;

/// The time for which each Interest waits.
const ATTEMPT: Duration = Duration::from_secs(1);

/// The time limit for all certificates of a chain together.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum number of certificates being fetched, and that for one face.
const FETCHES: usize = 64;
const FETCHES_OF_FACE: usize = 4;

/// The maximum number of waiting commands and announcements, and that of one face.
const WAITING: usize = 128;
const WAITING_OF_FACE: usize = 16;

/// Faces that one certificate is asked of.
const FACES: usize = 8;

/// A command or announcement that waits for a certificate.
#[derive(Debug)]
pub(super) enum What {
    /// A command Interest, and its PIT token.
    Command { wire: Bytes, token: Bytes },
    /// An announcement that a strategy received.
    Announcement(ReceivedAnnouncement),
}

/// An announcement that a strategy received.
#[derive(Clone, Debug)]
pub(super) struct ReceivedAnnouncement {
    pub announcement: Bytes,
    /// The maximum lifetime of a route by it.
    pub longest: Duration,
}

/// A waiting command or announcement.
#[derive(Debug)]
pub(super) struct Waiting {
    pub what: What,
    /// The face that it arrived on.
    pub from: FaceId,
    /// When it came.
    pub since: Time,
    /// When it came, in milliseconds since 1970.
    pub wall_ms: u64,
    /// True if missing certificates will not come any more.
    pub is_last: bool,
}

impl Waiting {
    fn bytes(&self) -> usize {
        match &self.what {
            What::Command { wire, token } => wire.len() + token.len(),
            What::Announcement(received) => received.announcement.len(),
        }
    }
}

/// A certificate that is being fetched.
#[derive(Debug)]
struct Fetch {
    name: Name,
    validators: Vec<Arc<Validator>>,
    /// The faces of the waiting commands and announcements.
    faces: Vec<FaceId>,
    attempt: usize,
    /// When the attempt ends.
    until: Time,
    waiting: Vec<Waiting>,
}

impl Fetch {
    /// True if faces are asked now instead of the routes.
    fn is_direct(&self) -> bool {
        self.attempt % 2 == 1
    }
}

/// The certificates that are being fetched, and the commands and announcements that wait for them.
#[derive(Debug, Default)]
pub(super) struct Certificates {
    fetches: Vec<Fetch>,
    /// Commands and announcements for a new decision.
    ready: VecDeque<Waiting>,
    /// Frames with Interests.
    asking: VecDeque<Vec<u8>>,
}

impl Certificates {
    /// Has something wait for a certificate.
    ///
    /// # Errors
    /// It cannot wait, and why.
    pub fn wait(
        &mut self,
        now: Time,
        missing: &MissingCertificate,
        waiting: Waiting,
    ) -> Result<(), &'static str> {
        let from = waiting.from;
        if waiting.is_last || now.since(waiting.since) >= PATIENCE {
            return Err("it did not arrive in time");
        }
        let (mut of_all, mut of_face) = (0, 0);
        for other in self.fetches.iter().flat_map(|fetch| &fetch.waiting) {
            of_all += 1;
            of_face += usize::from(other.from == from);
        }
        if of_all >= WAITING || of_face >= WAITING_OF_FACE {
            return Err("too many packets already wait for certificates");
        }
        let scope = missing.name.as_ref().first().map(|first| first.value());
        if matches!(scope, Some(b"localhost" | b"localhop")) {
            return Err("certificates of that name do not leave their host");
        }
        let known = self.fetches.iter().position(|fetch| fetch.name == missing.name);
        let Some(at) = known else { return self.begin(now, missing, waiting) };
        let fetch = &mut self.fetches[at];
        if !fetch.faces.contains(&from) {
            if fetch.faces.len() == FACES {
                return Err("it is already requested from many faces");
            }
            fetch.faces.push(from);
            if fetch.is_direct() {
                self.asking.push_back(interest(fetch.name.as_ref(), Some(from)));
            }
        }
        add(&mut fetch.validators, &missing.validator);
        fetch.waiting.push(waiting);
        Ok(())
    }

    fn begin(
        &mut self,
        now: Time,
        missing: &MissingCertificate,
        waiting: Waiting,
    ) -> Result<(), &'static str> {
        let of_face = self.fetches.iter().filter(|fetch| fetch.faces.contains(&waiting.from));
        if self.fetches.len() >= FETCHES || of_face.count() >= FETCHES_OF_FACE {
            return Err("too many certificates are already requested");
        }
        self.asking.push_back(interest(missing.name.as_ref(), None));
        self.fetches.push(Fetch {
            name: missing.name.clone(),
            validators: vec![Arc::clone(&missing.validator)],
            faces: vec![waiting.from],
            attempt: 0,
            until: now + ATTEMPT,
            waiting: vec![waiting],
        });
        Ok(())
    }

    /// A packet arrived on the internal face: perhaps a requested certificate.
    pub fn receive(&mut self, now: Time, data: &Data<'_>) {
        let mut at = 0;
        while let Some(fetch) = self.fetches.get_mut(at) {
            if !data.name().starts_with(fetch.name.as_ref()) {
                at += 1;
                continue;
            }
            let offered = fetch.validators.iter().try_for_each(|v| v.offer(data));
            if let Err(why) = offered {
                tracing::debug!(certificate = %fetch.name, %why, "something else came");
                at += usize::from(self.next_attempt(now, at));
                continue;
            }
            self.ready.extend(self.fetches.remove(at).waiting);
        }
    }

    /// An Interest for a certificate came back.
    pub fn on_nack(&mut self, now: Time, name: NameRef<'_>) {
        if let Some(at) = self.fetches.iter().position(|fetch| fetch.name.as_ref() == name) {
            self.next_attempt(now, at);
        }
    }

    /// Asks for the certificate in another way; false if it was given up.
    fn next_attempt(&mut self, now: Time, at: usize) -> bool {
        let fetch = &mut self.fetches[at];
        fetch.attempt += 1;
        fetch.until = now + ATTEMPT;
        if fetch.attempt == ATTEMPTS {
            let given_up = self.fetches.remove(at).waiting;
            self.ready.extend(given_up.into_iter().map(|w| Waiting { is_last: true, ..w }));
            return false;
        }
        let name = fetch.name.as_ref();
        if fetch.is_direct() {
            self.asking.extend(fetch.faces.iter().map(|face| interest(name, Some(*face))));
        } else {
            self.asking.push_back(interest(name, None));
        }
        true
    }

    /// When [`Certificates::on_deadline`] has to be called.
    pub fn next_deadline(&self) -> Option<Time> {
        self.fetches.iter().map(|fetch| fetch.until).min()
    }

    /// Asks again, or gives up.
    pub fn on_deadline(&mut self, now: Time) {
        let mut at = 0;
        while let Some(fetch) = self.fetches.get(at) {
            at += usize::from(fetch.until > now || self.next_attempt(now, at));
        }
    }

    /// Commands of the face need no answer any more.
    pub fn face_gone(&mut self, face: FaceId) {
        for fetch in &mut self.fetches {
            fetch.faces.retain(|of| *of != face);
            fetch.waiting.retain(|waiting| waiting.from != face);
        }
        self.fetches.retain(|fetch| !fetch.waiting.is_empty());
        self.ready.retain(|waiting| waiting.from != face);
    }

    /// The next command or announcement to judge again.
    pub fn poll_ready(&mut self) -> Option<Waiting> {
        self.ready.pop_front()
    }

    /// A frame with an Interest.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.asking.pop_front()
    }

    /// Bytes of memory that wait.
    pub fn memory(&self) -> usize {
        let fetches = self.fetches.iter().flat_map(|fetch| &fetch.waiting);
        let waiting = fetches.chain(&self.ready);
        let waiting: usize = waiting.map(|one| size_of::<Waiting>() + one.bytes()).sum();
        waiting + self.fetches.len() * (size_of::<Fetch>() + 256)
    }
}

fn add(validators: &mut Vec<Arc<Validator>>, one: &Arc<Validator>) {
    if !validators.iter().any(|known| Arc::ptr_eq(known, one)) {
        validators.push(Arc::clone(one));
    }
}

/// The frame that asks for a certificate, by the routes or of a face.
fn interest(name: NameRef<'_>, face: Option<FaceId>) -> Vec<u8> {
    let interest = InterestBuf {
        // A KeyLocator may name the key, and not which certificate of it.
        can_be_prefix: !certificate::is_certificate_name(name),
        must_be_fresh: true,
        lifetime_ms: Some(ATTEMPT.as_millis()),
        ..InterestBuf::new(name.to_name())
    };
    let header = LpHeader { next_hop_face_id: face.map(|face| face.0), ..LpHeader::default() };
    let mut out = Vec::new();
    header.encode_into(&interest.encode(), &mut out);
    out
}

#[cfg(test)]
mod tests;
