//! `/localhost/weir/trace`: the packets of this forwarder, for clients with the permission to send
//! commands.
//!
//! A command makes a stream under a name that cannot be guessed, for the face that the command came
//! from. Interests for the stream's numbers are answered as soon as there are packets. Packets that
//! do not fit into the stream are counted, and nothing waits for a reader.

mod recorder;

use super::host::Host;
use super::parameters::ControlParameters;
use super::response::ControlResponse;
use control::{Duration, Time};
use forwarder::tables::memory;
use forwarder::{FaceId, Forwarder};
use packet::{Bytes, Component, DataBuf, Interest, Name, NameRef};
use recorder::{Recorder, Selection, Tape};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of all streams, `/localhost/weir/trace`, as it is encoded.
const STREAM: &[u8] = b"\x08\x09localhost\x08\x04weir\x08\x05trace";

/// Components of a stream's name, and of that of one of its packets.
const NAMED: usize = 4;
const NUMBERED: usize = NAMED + 1;

/// The maximum number of traces, and that of one user.
const MOST: usize = 8;
const MOST_OF_A_USER: usize = 2;

/// Bytes that wait to be read, and the part of a limited memory that they may take.
const BUFFER: usize = 1 << 20;
const PART: usize = 32;

/// Bytes of a stream in one packet.
const PAYLOAD: usize = 8000;

/// The number of packets of a stream that can be requested ahead of the latest, or again.
const WINDOW: u64 = 16;

/// An Interest is not answered in the last milliseconds of its lifetime: that could be too late.
const MARGIN_MS: u64 = 100;

/// A trace without a reader for this long ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// A bit of the Flags of `trace/start`: records contain the packets, not only their description.
pub const WITH_PACKETS: u64 = 1;

/// An Interest for a future packet of a stream.
#[derive(Debug)]
struct Waiting {
    /// It is answered before: the Interest expires then.
    until: Time,
    token: Bytes,
}

/// A running trace.
#[derive(Debug)]
struct Session {
    number: u64,
    /// The face that may read it, and its user, if known.
    owner: FaceId,
    user: Option<u32>,
    /// The face that it is about, if it is about one.
    about: Option<FaceId>,
    name: Name,
    /// The number of the next packet.
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// The latest packets, for Interests that come again.
    sent: VecDeque<Bytes>,
    read: Time,
}

/// All running traces.
#[derive(Debug, Default)]
pub(super) struct Traces {
    recorder: Arc<Mutex<Recorder>>,
    sessions: Vec<Session>,
    number: u64,
}

impl Traces {
    /// Starts a trace for the face `from`.
    pub fn start(
        &mut self,
        host: &mut Host<'_>,
        now: Time,
        from: FaceId,
        asked: &ControlParameters,
    ) -> ControlResponse {
        let user = (host.account)(from).map(|account| account.uid);
        let forwarder = &mut *host.forwarder;
        let about = asked.face_id.filter(|id| *id != 0).map(FaceId);
        if let Some(face) = about.filter(|face| forwarder.face_scope(*face).is_none()) {
            return ControlResponse::new(404, format!("there is no face {face}"), asked.clone());
        }
        let of_user = self.sessions.iter().filter(|session| session.user == user).count();
        if of_user == MOST_OF_A_USER {
            let why = format!("{of_user} traces of this user are running: end one");
            return ControlResponse::new(503, why, asked.clone());
        }
        if self.sessions.len() == MOST {
            let owners: Vec<_> = self.sessions.iter().map(|s| s.owner.to_string()).collect();
            let owners = owners.join(", ");
            let why = format!("{MOST} traces are running, for the faces {owners}");
            return ControlResponse::new(503, why, asked.clone());
        }
        let mut token = [0; 16];
        if let Err(error) = getrandom::fill(&mut token) {
            let why = format!("no random numbers: {error}");
            return ControlResponse::new(500, why, asked.clone());
        }
        self.number += 1;
        let selection = Selection {
            face: about,
            prefix: asked.name.clone().unwrap_or_default(),
            packets: asked.flags.is_some_and(|flags| flags & WITH_PACKETS != 0),
        };
        let limit = forwarder.memory().limit.unwrap_or(usize::MAX);
        let name = stream().with(&Component::generic(&token));
        let tape = Tape::new(self.number, name.clone(), selection, BUFFER.min(limit / PART));
        self.recorder().add(tape);
        self.listen(forwarder);
        let prefix = asked.name.as_ref().map(Name::to_string);
        tracing::info!(face = %from, prefix, "trace started");
        self.sessions.push(Session {
            number: self.number,
            owner: from,
            user,
            about,
            name: name.clone(),
            next: 0,
            waiting: BTreeMap::new(),
            sent: VecDeque::new(),
            read: now,
        });
        let body = ControlParameters { name: Some(name), ..asked.clone() };
        ControlResponse::new(200, "OK", body)
    }

    /// Starts writing log lines about packets and their steps, if the log takes such lines.
    pub fn log(&mut self, forwarder: &mut Forwarder) {
        let logs = self.recorder().log();
        if logs {
            self.listen(forwarder);
        }
    }

    /// Answers an Interest for a packet of a stream, now or later. Streams of other faces have no
    /// answer.
    pub fn ask(
        &mut self,
        now: Time,
        from: FaceId,
        interest: &Interest<'_>,
        token: &[u8],
    ) -> Option<Bytes> {
        let name = interest.name();
        let number = name.last()?.as_sequence()?;
        let mut sessions = self.sessions.iter_mut();
        let own = sessions
            .find(|session| session.owner == from && session.name.as_ref() == name.prefix(NAMED));
        let Some(session) = own else {
            let gone =
                ControlResponse::new(410, "the trace has ended", ControlParameters::default());
            return Some(gone.rejection(name));
        };
        session.read = now;
        if let Some(sent) = session.sent_before(number) {
            return Some(sent);
        }
        if (session.next..session.next + WINDOW).contains(&number) {
            let until =
                now + Duration::from_millis(interest.lifetime_ms().saturating_sub(MARGIN_MS));
            let token = Bytes::copy_from_slice(token);
            session.waiting.insert(number, Waiting { until, token });
        }
        None
    }

    /// A requested packet of a stream, and the token of its Interest.
    pub fn poll(&mut self, now: Time) -> Option<(Bytes, Bytes)> {
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        for session in &mut self.sessions {
            session.waiting.retain(|_, waiting| waiting.until > now);
            let Some(waiting) = session.waiting.remove(&session.next) else { continue };
            let content = recorder.take(session.number, PAYLOAD);
            if content.is_empty() {
                session.waiting.insert(session.next, waiting);
                continue;
            }
            return Some((session.send(content), waiting.token));
        }
        None
    }

    /// A face is gone: its traces end, and the readers of those about it find out.
    pub fn face_gone(&mut self, forwarder: &mut Forwarder, face: FaceId) {
        self.end(forwarder, |session| session.owner == face);
        for session in &self.sessions {
            if session.about == Some(face) {
                self.recorder().end(session.number, &format!("face {face} is gone"));
            }
        }
    }

    /// Ends traces without a reader.
    pub fn on_deadline(&mut self, forwarder: &mut Forwarder, now: Time) {
        self.end(forwarder, |session| session.read + PATIENCE <= now);
    }

    /// When [`Traces::on_deadline`] has to be called.
    pub fn next_deadline(&self) -> Option<Time> {
        self.sessions.iter().map(|session| session.read + PATIENCE).min()
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let sent = self.sessions.iter().flat_map(|session| &session.sent);
        let sent: usize = sent.map(|wire| memory::packet(wire.len())).sum();
        if self.sessions.is_empty() { 0 } else { sent + self.recorder().memory() }
    }

    fn end(&mut self, forwarder: &mut Forwarder, is_over: impl Fn(&Session) -> bool) {
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        self.sessions.retain(|session| {
            let ends = is_over(session);
            if ends {
                recorder.remove(session.number);
                tracing::info!(face = %session.owner, "trace ended");
            }
            !ends
        });
        // Without a reader, no tap is set, so it takes no time.
        if recorder.is_idle() {
            forwarder.set_packet_tap(None);
        }
    }

    fn listen(&self, forwarder: &mut Forwarder) {
        let recorder = Arc::clone(&self.recorder);
        forwarder.set_packet_tap(Some(Box::new(move |face, event| {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).step(face, event);
        })));
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn sent_before(&self, number: u64) -> Option<Bytes> {
        let from_end = self.next.checked_sub(number)?.checked_sub(1)?;
        let at = self.sent.len().checked_sub(usize::try_from(from_end).ok()? + 1)?;
        self.sent.get(at).cloned()
    }

    /// The next packet, with this content.
    fn send(&mut self, content: Vec<u8>) -> Bytes {
        let name = self.name.clone().with(&Component::sequence(self.next));
        let data = DataBuf::new(name, content).encode_digest();
        self.next += 1;
        if self.sent.len() as u64 == WINDOW {
            self.sent.pop_front();
        }
        self.sent.push_back(data.clone());
        data
    }
}

fn stream() -> Name {
    [&b"localhost"[..], b"weir", b"trace"].into_iter().map(Component::generic).collect()
}

/// True if the name is that of a packet of a stream.
pub(super) fn is_asked(name: NameRef<'_>) -> bool {
    name.len() == NUMBERED && name.as_bytes().starts_with(STREAM)
}
