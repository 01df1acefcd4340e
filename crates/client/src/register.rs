//! Answers to Interests by a function of the program.

use crate::error::Error;
use crate::name::AsName;
use crate::packets::{Interest, Reply};
use crate::service::{Prefixes, Producer, Service};
use crate::settings::{Settings, Unstopped};
use control::Time;
use net::client::Endpoint;
use packet::{LpHeader, LpPacket, NackReason, Name};
use security::Signer;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of answers that wait to be sent. The excess of Interests is dropped;
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

pub(crate) type Handler = Box<dyn FnMut(&Interest) -> Option<Reply> + Send>;

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
        let answers = Answers { handler, signer, packets, waiting, counts: Arc::clone(&counts) };
        let prefixes = Prefixes { main: prefix.clone(), others, is_group: false };
        let service = Service::start(connection, prefixes, Box::new(answers))?;
        Ok(Registration { prefix, counts, service })
    }

    /// The prefix.
    #[must_use]
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// Interests that were answered with Data so far.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }

    /// Interests that were rejected so far, because the handler returned `None`.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.counts.rejected.load(Ordering::Relaxed)
    }

    /// Interests without an answer so far, because the handler panicked, its reply does not satisfy
    /// the Interest, or no packet takes it. They are rejected, too.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.counts.failed.load(Ordering::Relaxed)
    }

    /// The error that has ended the service, such as a forwarder that came back and rejects the
    /// prefix; `None` while it goes on.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.service.error()
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
    counts: Arc<Counts>,
}

/// The result of an Interest.
enum Answer {
    Data(Vec<u8>),
    Nack,
    Silence,
}

impl Answers {
    fn answer(&mut self, view: &packet::Interest<'_>) -> Answer {
        let is_meant =
            |packet: &&Vec<u8>| packet::Data::decode(packet).is_ok_and(|data| data.satisfies(view));
        if let Some(packet) = self.packets.iter().find(is_meant) {
            return Answer::Data(packet.clone());
        }
        // The digest is a part of the name: with another one, the Interest has been tampered with.
        let Some(interest) = Interest::received(view) else { return Answer::Silence };
        let handler = AssertUnwindSafe(|| (self.handler)(&interest));
        let reply = match catch_unwind(handler) {
            Ok(Some(reply)) if reply.is_silent() => return Answer::Silence,
            Ok(Some(reply)) => reply,
            Ok(None) => {
                self.counts.rejected.fetch_add(1, Ordering::Relaxed);
                return Answer::Nack;
            }
            Err(_) => return self.fail(),
        };
        let mut wire = Vec::new();
        self.signer.encode(&reply.into_packet(&interest), &mut wire);
        let fits = wire.len() <= packet::MAX_PACKET;
        let data = packet::Data::decode(&wire);
        match data.is_ok_and(|data| fits && data.name().starts_with(view.name())) {
            true if view.can_be_prefix() => Answer::Data(wire),
            true if packet::Data::decode(&wire).is_ok_and(|data| data.satisfies(view)) => {
                Answer::Data(wire)
            }
            _ => self.fail(),
        }
    }

    fn fail(&self) -> Answer {
        self.counts.failed.fetch_add(1, Ordering::Relaxed);
        Answer::Nack
    }
}

impl Endpoint for Answers {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(view) = packet::Interest::decode(fragment) else { return };
        if self.waiting.len() >= MOST_WAITING {
            return;
        }
        let mut header = LpHeader {
            pit_token: link.pit_token().unwrap_or_default().into(),
            ..LpHeader::default()
        };
        let mut out = Vec::new();
        match self.answer(&view) {
            Answer::Data(wire) => {
                self.counts.answered.fetch_add(1, Ordering::Relaxed);
                header.encode_into(&wire, &mut out);
            }
            Answer::Nack => {
                header.nack = Some(NackReason::None);
                header.encode_into(fragment, &mut out);
            }
            Answer::Silence => return,
        }
        self.waiting.push_back(out);
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
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
    fn forget(&mut self) {
        self.waiting.clear();
    }

    fn answered(&self) -> u64 {
        self.counts.answered.load(Ordering::Relaxed)
    }
}
