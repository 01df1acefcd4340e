//! Answers to Interests by a function of the program.

use crate::bell::Bell;
use crate::error::Error;
use crate::name::AsName;
use crate::packets::{Interest, Kind, Reply};
use crate::responder::{Outbox, Pending, Responder};
use crate::service::{Prefixes, Producer, Service};
use crate::settings::{Settings, Unstopped};
use control::Time;
use net::client::Endpoint;
use packet::{LpHeader, LpPacket, NackReason, Name};
use security::Signer;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

/// The maximum number of answers that wait to be made or sent. The excess of Interests is dropped;
/// consumers send them again.
const MOST_WAITING: usize = 4096;

/// The options of a registration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct RegisterOptions {
    key: Option<String>,
}

impl RegisterOptions {
    /// The key, or identity, that signs replies, instead of that of the client.
    pub fn key(self, name: impl Into<String>) -> RegisterOptions {
        RegisterOptions { key: Some(name.into()) }
    }
}

/// A prefix that a function answers for, until this value is dropped. The thread and the
/// registration have ended then. After a restart of the forwarder, the prefix is registered again.
#[derive(Debug)]
pub struct Registration {
    prefix: Name,
    counts: Arc<Counts>,
    service: Service,
}

#[derive(Debug, Default)]
struct Counts {
    answered: AtomicU64,
    rejected: AtomicU64,
    failed: AtomicU64,
}

type Answering = dyn FnMut(&Interest) -> Option<Reply> + Send;
type Deferring = dyn FnMut(&Interest, Responder) + Send;

/// The function that answers.
pub(crate) enum Handler {
    /// By its return.
    Now(Box<Answering>),
    /// By a responder, when it has a reply.
    Later(Box<Deferring>),
}

impl Registration {
    pub(crate) fn start(
        settings: &Settings,
        prefix: Name,
        options: &RegisterOptions,
        handler: Handler,
    ) -> Result<Registration, Error> {
        let key = options.key.as_deref().map(AsName::as_name).transpose()?;
        let signing = settings.signing(key.as_ref(), &prefix)?;
        let connection = settings.open(&Unstopped)?;
        let mut others = Vec::new();
        let mut packets = Vec::new();
        for certificate in signing.chain {
            let key = certificate.key_name();
            if !key.as_ref().starts_with(prefix.as_ref()) {
                others.push(key);
            }
            packets.push(certificate.wire().to_vec());
        }
        let counts = Arc::new(Counts::default());
        let (signer, waiting) = (signing.signer, VecDeque::new());
        let outbox = Arc::new(Outbox::default());
        let answers =
            Answers { handler, signer, packets, waiting, outbox, counts: Arc::clone(&counts) };
        let prefixes = Prefixes { main: prefix.clone(), others, is_group: false };
        let service = Service::start(connection, prefixes, Box::new(answers))?;
        Ok(Registration { prefix, counts, service })
    }

    /// The prefix.
    #[must_use]
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// The number of Interests answered with Data so far.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }

    /// The number of Interests rejected so far, because the handler returned `None`.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.counts.rejected.load(Ordering::Relaxed)
    }

    /// Interests without an answer so far, because the handler panicked or returned
    /// [`Reply::failure`], its reply does not satisfy the Interest, or no packet takes it. They are
    /// rejected, too.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.counts.failed.load(Ordering::Relaxed)
    }

    /// The error that has ended the service, such as a forwarder that came back and rejects the
    /// prefix; `None` while it continues.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.service.error()
    }

    /// Ends the registration, as a drop does; its counts remain. Later calls wait for the same end.
    pub fn close(&self) {
        self.service.stop();
    }
}

/// The state machine of a registration.
struct Answers {
    handler: Handler,
    signer: Signer,
    /// Certificates.
    packets: Vec<Vec<u8>>,
    /// Frames to send.
    waiting: VecDeque<Vec<u8>>,
    /// Replies made elsewhere.
    outbox: Arc<Outbox>,
    counts: Arc<Counts>,
}

impl Answers {
    /// The certificate that the Interest asks for.
    fn certificate(&self, view: &packet::Interest<'_>) -> Option<Vec<u8>> {
        let mut packets = self.packets.iter();
        packets
            .find(|packet| packet::Data::decode(packet).is_ok_and(|data| data.satisfies(view)))
            .cloned()
    }

    /// Lets the handler answer.
    fn handle(&mut self, pending: Pending) {
        let outbox = &self.outbox;
        let reply = match &mut self.handler {
            Handler::Now(handler) => {
                let handler = AssertUnwindSafe(|| handler(&pending.interest));
                catch_unwind(handler).unwrap_or_else(|_| Some(Reply::failure()))
            }
            Handler::Later(handler) => {
                let interest = pending.interest.clone();
                let responder = Responder::new(pending, outbox);
                // A responder dropped by a panic answers by itself.
                let _ = catch_unwind(AssertUnwindSafe(|| handler(&interest, responder)));
                return;
            }
        };
        self.finish(&pending, reply);
    }

    /// Sends a reply.
    fn finish(&mut self, pending: &Pending, reply: Option<Reply>) {
        if pending.connection != self.outbox.connection() {
            return;
        }
        let (counter, wire) = match reply {
            None => (&self.counts.rejected, None),
            Some(reply) => match reply.kind() {
                Kind::Silence => return,
                Kind::Failure => (&self.counts.failed, None),
                Kind::Data => match self.sign(reply, pending) {
                    Some(wire) => (&self.counts.answered, Some(wire)),
                    None => (&self.counts.failed, None),
                },
            },
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.waiting.push_back(match wire {
            Some(wire) => pending.frame(None, &wire),
            None => pending.frame(Some(NackReason::None), &pending.fragment),
        });
    }

    /// The signed packet, if one takes the reply and it satisfies the Interest.
    fn sign(&mut self, reply: Reply, pending: &Pending) -> Option<Vec<u8>> {
        let view = packet::Interest::decode(&pending.fragment).ok()?;
        let mut wire = Vec::new();
        self.signer.encode(&reply.into_packet(&pending.interest), &mut wire);
        let data = packet::Data::decode(&wire).ok()?;
        let is_below = data.name().starts_with(view.name());
        let is_meant = is_below && (view.can_be_prefix() || data.satisfies(&view));
        (wire.len() <= packet::MAX_PACKET && is_meant).then_some(wire)
    }
}

impl Endpoint for Answers {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(view) = packet::Interest::decode(fragment) else { return };
        if self.waiting.len() + self.outbox.open() >= MOST_WAITING {
            return;
        }
        let token = link.pit_token().unwrap_or_default().to_vec();
        if let Some(wire) = self.certificate(&view) {
            self.counts.answered.fetch_add(1, Ordering::Relaxed);
            let header = LpHeader { pit_token: token.as_slice().into(), ..LpHeader::default() };
            let mut out = Vec::new();
            header.encode_into(&wire, &mut out);
            self.waiting.push_back(out);
            return;
        }
        // The digest is a part of the name: with another one, the Interest has been tampered with.
        let Some(interest) = Interest::received(&view) else { return };
        let (fragment, connection) = (fragment.to_vec(), self.outbox.connection());
        self.handle(Pending { token, fragment, interest, connection });
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        while let Some((pending, reply)) = self.outbox.pop() {
            self.finish(&pending, reply);
        }
        self.waiting.pop_front().is_some_and(|frame| {
            out.extend_from_slice(&frame);
            true
        })
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

impl Producer for Answers {
    fn attach(&mut self, bell: &Arc<Bell>) {
        *self.outbox.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(bell));
    }

    fn forget(&mut self) {
        self.waiting.clear();
        self.outbox.reconnect();
    }

    fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }
}
