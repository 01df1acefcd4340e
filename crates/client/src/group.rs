//! Groups of programs that publish for each other: State Vector Sync.

use crate::error::Error;
use crate::name::AsName;
use crate::parts::group::{Event, MOST_PACKETS, Options, Participant, second};
use crate::parts::keys;
use crate::service::{Prefixes, Producer, Service};
use crate::settings::{Settings, Unstopped};
use crate::trust::Verified;
use control::{Rng, Time};
use net::client::Endpoint;
use net::clock::{monotonic, unix_millis};
use packet::Name;
use security::{Certificate, Signer, TrustPolicy};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sync::Stream;

/// Publications that wait for the program, by default.
const WAITING: usize = 1_000;
/// The number of remembered reasons of rejections.
const REPORTED: usize = 20;

/// The options of a member: see [`Client::join`](crate::Client::join).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct JoinOptions {
    key: Option<String>,
    history: usize,
    keep: usize,
    waiting: usize,
}

impl Default for JoinOptions {
    fn default() -> JoinOptions {
        JoinOptions { key: None, history: MOST_PACKETS, keep: MOST_PACKETS, waiting: WAITING }
    }
}

impl JoinOptions {
    /// The key, or identity, that signs, instead of that of the client. Without either, the
    /// member's own key signs if it exists, and otherwise the default key.
    pub fn key(self, name: impl Into<String>) -> JoinOptions {
        JoinOptions { key: Some(name.into()), ..self }
    }

    /// The number of publications of each stream that are fetched on joining, the latest ones: from
    /// 1 to 2,000, which is the default. Later ones are all fetched.
    pub fn history(self, publications: usize) -> JoinOptions {
        JoinOptions { history: publications, ..self }
    }

    /// The number of own publications that are kept for other members: from 1 to 2,000, which is
    /// the default, and at most 8 MB. The oldest one makes room, even if no member has fetched it.
    pub fn keep(self, publications: usize) -> JoinOptions {
        JoinOptions { keep: publications, ..self }
    }

    /// The number of publications that wait for [`Group::next`]; 1,000 by default. At this number,
    /// no more are requested until the program takes one. They stay at their members, which keep
    /// the last 2,000.
    pub fn waiting(self, publications: usize) -> JoinOptions {
        JoinOptions { waiting: publications, ..self }
    }

    fn check(&self) -> Result<(), Error> {
        for (what, given, most) in [
            ("a history", self.history, MOST_PACKETS),
            ("a number of own publications", self.keep, MOST_PACKETS),
            ("a number of waiting publications", self.waiting, usize::MAX),
        ] {
            if !(1..=most).contains(&given) {
                return Err(Error::Usage(format!("{what} of {given} is not within 1 and {most}")));
            }
        }
        Ok(())
    }
}

/// A verified publication of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberPublication {
    /// The member.
    pub member: Name,
    /// Its start, in seconds since 1970. Each start numbers its publications from 1.
    pub boot: u64,
    /// The number of the publication.
    pub seq: u64,
    /// Its content.
    pub content: Vec<u8>,
    /// The proof by its signature, always a trusted key.
    pub verified: Verified,
    /// Later ones of this stream have come before it, because it could not be fetched then. All
    /// others come in the order of their numbers.
    pub is_late: bool,
}

/// The last publication of a stream: of one start of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamState {
    /// The member.
    pub member: Name,
    /// Its start, in seconds since 1970.
    pub boot: u64,
    /// The number of its last publication.
    pub seq: u64,
    /// The member itself has claimed that number. Otherwise another member did, which may be wrong.
    pub is_confirmed: bool,
}

/// A member of a group, until this value is dropped. The thread and the registrations have ended
/// then. After a restart of the forwarder, the member joins again, and fetches the publications
/// that it has missed.
///
/// Members number their publications, and send the last numbers of all members to each other
/// (State Vector Sync, version 3). Each one fetches the publications that it lacks, from their
/// member or from any other one that is there. Vectors and publications of members that the
/// client's rules of trust do not accept are dropped and counted; certificates that are missing are
/// fetched.
///
/// A group can be used from several threads.
#[derive(Debug)]
pub struct Group {
    group: Name,
    own: Stream,
    shared: Arc<Shared>,
    service: Service,
    warnings: Vec<String>,
}

impl Group {
    pub(crate) fn join(
        settings: &Settings,
        group: Name,
        member: Name,
        options: &JoinOptions,
    ) -> Result<Group, Error> {
        options.check()?;
        if group.is_empty() || member.is_empty() {
            let text = "a group and a member need names with a component, such as /example/group";
            return Err(Error::Usage(text.to_owned()));
        }
        let key = options.key.as_deref().map(AsName::as_name).transpose()?;
        let is_own = key.is_none() && settings.key.is_none() && keys::key(&member).is_ok();
        let key = if is_own { Some(member.clone()) } else { key };
        let keys::Signing { signer, chain, unused } = settings.signing(key.as_ref(), &member)?;
        if matches!(signer, Signer::Digest) {
            let why = unused.map_or_else(|| "there is none".to_owned(), |why| why.to_string());
            return Err(Error::Usage(format!(
                "a member of a group needs a key for {member}: {why}; make one with \
                 `weir key new {member}`, or name one in the options"
            )));
        }
        let policy = policy(settings, &chain, key.as_ref())?;
        let connection = settings.open(&Unstopped)?;
        let (boot, warning) = start(&member, &group);
        let own = Stream { name: member, boot };
        let seed = getrandom::u64().map_err(|error| {
            Error::Failed(format!("the system provides no random numbers: {error}"))
        })?;
        let of_group = Options {
            group: group.clone(),
            own: own.clone(),
            signer,
            policy,
            history: options.history as u64,
            keep: options.keep,
            rng: Rng::stream(seed, &["group"]),
            clock: Box::new(unix_millis),
        };
        let participant = Participant::new(of_group, &chain, connection.now());
        let participant = participant.map_err(|bytes| {
            let most = packet::MAX_PACKET;
            Error::Usage(format!(
                "the names of the group {group} and of the member {} are too long: a packet would \
                 have {bytes} bytes, and may have {most}",
                own.name
            ))
        })?;
        let keys: Vec<Name> = chain.iter().map(Certificate::key_name).collect();
        let others = participant.prefixes(&keys);
        let origin = monotonic().0.saturating_sub(connection.now().0);
        let shared = Arc::new(Shared::new(participant, options.waiting, origin));
        let prefixes = Prefixes { main: group.clone(), others, is_group: true };
        let producer = Box::new(Joined(Arc::clone(&shared)));
        let service = Service::start(connection, prefixes, producer)?;
        let warnings = warning.into_iter().chain(service.note().map(str::to_owned)).collect();
        Ok(Group { group, own, shared, service, warnings })
    }

    /// The group.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.group
    }

    /// This member.
    #[must_use]
    pub fn member(&self) -> &Name {
        &self.own.name
    }

    /// The start of this member, in seconds since 1970: see [`MemberPublication::boot`].
    #[must_use]
    pub fn boot(&self) -> u64 {
        self.own.boot
    }

    /// Publishes, and returns the number of the publication. It is served at once, and other
    /// members learn of it at once; publishing does not wait for them. Content, names and signature
    /// have room for 8800 bytes in all, also with the names of the group and the member around them
    /// a second time.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: no packet takes it. Or the error that has ended the group;
    /// [`Error::Cancelled`] after [`Group::close`].
    pub fn publish(&self, content: impl Into<Vec<u8>>) -> Result<u64, Error> {
        let (content, now) = (content.into(), self.shared.now());
        let mut state = self.shared.lock();
        if state.is_over {
            return Err(self.end());
        }
        let published = state.participant.publish(now, content.into(), true);
        drop(state);
        self.service.wake();
        published.map_err(|bytes| {
            let most = packet::MAX_PACKET;
            Error::TooLarge(format!(
                "the publication would have {bytes} bytes with its names and signature, and may \
                 have {most}; publish an object, and its name in the group"
            ))
        })
    }

    /// The next publication of another member, or of an earlier start of this one; `None` if none
    /// comes within `timeout`, or after [`Group::wake`]. Those of a stream come in the order of
    /// their numbers. Numbers that are left out could not be fetched: see [`Group::missing`] and
    /// [`MemberPublication::is_late`].
    ///
    /// # Errors
    /// The error that has ended the group, after all publications that had come before, such as a
    /// forwarder that came back and rejects the group's prefix.
    pub fn next(&self, timeout: Duration) -> Result<Option<MemberPublication>, Error> {
        let mut state = self.shared.wait(timeout, State::waits);
        let Some(publication) = state.ready.pop_front() else {
            state.wakes = state.wakes.saturating_sub(1);
            return match state.is_over {
                true => Err(self.end()),
                false => Ok(None),
            };
        };
        if state.adapt() {
            self.service.wake();
        }
        Ok(Some(publication))
    }

    /// Ends one wait of [`Group::next`] from another thread: the waiting call, or the next one that
    /// would wait, returns `None` at once. If several threads wait, one returns.
    pub fn wake(&self) {
        let mut state = self.shared.lock();
        state.wakes = state.wakes.saturating_add(1);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Waits until [`Group::next`] returns at once: a publication is there, the group has ended, or
    /// [`Group::wake`] was called. Returns false if `timeout` is over first.
    #[must_use]
    pub fn wait_until_ready(&self, timeout: Duration) -> bool {
        !self.shared.wait(timeout, State::waits).waits()
    }

    /// The known other members that have published since they started.
    #[must_use]
    pub fn members(&self) -> Vec<Name> {
        let state = self.shared.lock();
        let names = state.participant.member().others().map(|(stream, _)| &stream.name);
        let names: BTreeSet<&Name> = names.filter(|name| **name != self.own.name).collect();
        names.into_iter().cloned().collect()
    }

    /// The state vector: the last publication of each stream that this member knows, with its own.
    /// It is ahead of [`Group::next`] while publications are fetched. A stream without publications
    /// is not in it.
    #[must_use]
    pub fn state(&self) -> Vec<StreamState> {
        let state = self.shared.lock();
        let member = state.participant.member();
        let others = member.others().map(|(stream, entry)| StreamState {
            member: stream.name.clone(),
            boot: stream.boot,
            seq: entry.seq,
            is_confirmed: entry.confirmed >= entry.seq,
        });
        let own = StreamState {
            member: self.own.name.clone(),
            boot: self.own.boot,
            seq: member.seq(),
            is_confirmed: true,
        };
        others.chain([own]).filter(|state| state.seq > 0).collect()
    }

    /// The number of own publications that no other member has fetched, with those that had to make
    /// room before. One is fetched when the answer to an Interest for it was handed to the
    /// connection to the forwarder. Members do not confirm publications, so such an answer can
    /// still be lost on its way; then the other member asks again, while this one is a member.
    #[must_use]
    pub fn unfetched(&self) -> usize {
        self.shared.lock().participant.unfetched()
    }

    /// Waits until each own publication was fetched by another member, which serves it to later
    /// ones when this one has left: see [`Group::unfetched`]. Returns false if `timeout` is over
    /// first.
    ///
    /// # Errors
    /// The error that has ended the group, before all were fetched; [`Error::Cancelled`] after
    /// [`Group::close`]. [`Error::Failed`]: some had to make room before, and never will be.
    pub fn wait_until_fetched(&self, timeout: Duration) -> Result<bool, Error> {
        let state = self.shared.wait(timeout, State::awaits);
        let (awaited, all) = (state.participant.awaited(), state.participant.unfetched());
        match awaited {
            0 if all == 0 => Ok(true),
            0 => Err(Error::Failed(format!(
                "{all} publications were evicted before another member fetched them"
            ))),
            _ if state.is_over => Err(self.end()),
            _ => Ok(false),
        }
    }

    /// The number of publications that could not be fetched, and of those that were skipped because
    /// they are more than a member keeps. Publications that arrive later are included.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.shared.lock().missing
    }

    /// The number of vectors and publications that were dropped because their signers are not
    /// trusted, or because they are malformed.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.shared.lock().rejected
    }

    /// Notes for the user of the program: the forwarder does not let this program choose the
    /// multicast strategy, the start could not be recorded, and up to 20 reasons of
    /// [`Group::rejected`].
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let state = self.shared.lock();
        self.warnings.iter().chain(&state.reasons).cloned().collect()
    }

    /// The error that has ended the group, such as a forwarder that came back and rejects its
    /// prefix; `None` while it continues.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.service.error()
    }

    /// Leaves the group, as a drop does. Publications that have come can still be taken, and then
    /// [`Group::next`] returns [`Error::Cancelled`].
    pub fn close(&self) {
        self.service.stop();
    }

    /// The reason why it is over: the error of its thread, which otherwise runs until it is
    /// stopped.
    fn end(&self) -> Error {
        self.service.error().unwrap_or(Error::Cancelled)
    }
}

/// The rules of trust. Without any, the member's own key is trusted, and keys that it certifies.
fn policy(
    settings: &Settings,
    chain: &[Certificate],
    key: Option<&Name>,
) -> Result<TrustPolicy, Error> {
    match &settings.policy {
        TrustPolicy::Chains(_) => Ok(settings.policy.clone()),
        TrustPolicy::AnySigned(_) => {
            let own = chain.first().map(Certificate::key_name);
            let own = own.or_else(|| key.or(settings.key.as_ref()).cloned());
            let own: Vec<String> = own.iter().map(Name::to_string).collect();
            Ok(keys::policy(&own)?)
        }
        _ => Err(Error::Usage(
            "a group accepts only signatures by keys; name trust anchors for the client".to_owned(),
        )),
    }
}

/// The second of this start, after waiting for it, and a warning.
#[expect(clippy::disallowed_methods, reason = "a program that joins waits, and no core crate does")]
fn start(member: &Name, group: &Name) -> (u64, Option<String>) {
    let (boot, warning) = second(member, group, unix_millis() / 1_000);
    let wait = boot.saturating_mul(1_000).saturating_sub(unix_millis());
    std::thread::sleep(Duration::from_millis(wait));
    (boot, warning)
}

/// The state that the thread of the service and the program share.
struct Shared {
    state: Mutex<State>,
    /// A publication has come or was fetched, or the group has ended.
    changed: Condvar,
    /// The origin of the connection's clock, in nanoseconds of the monotonic clock.
    origin: u64,
}

impl fmt::Debug for Shared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Shared {
    fn new(participant: Participant, most: usize, origin: u64) -> Shared {
        let state = State {
            participant,
            ready: VecDeque::new(),
            most,
            is_paused: false,
            missing: 0,
            rejected: 0,
            reasons: BTreeSet::new(),
            wakes: 0,
            is_over: false,
        };
        Shared { state: Mutex::new(state), changed: Condvar::new(), origin }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while this holds, for at most `timeout`.
    fn wait(&self, timeout: Duration, holds: fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.changed.wait_timeout_while(self.lock(), timeout, |state| holds(state));
        state.unwrap_or_else(PoisonError::into_inner).0
    }

    /// This instant by the connection's clock.
    fn now(&self) -> Time {
        Time(monotonic().0.saturating_sub(self.origin))
    }

    fn with<R>(&self, now: Time, work: impl FnOnce(&mut Participant) -> R) -> R {
        let mut state = self.lock();
        let unfetched = state.participant.unfetched();
        let result = work(&mut state.participant);
        let is_news = state.drain(now) || state.participant.unfetched() < unfetched;
        state.adapt();
        if is_news {
            self.changed.notify_all();
        }
        result
    }
}

struct State {
    participant: Participant,
    ready: VecDeque<MemberPublication>,
    /// With this number of ready ones, no more are requested.
    most: usize,
    is_paused: bool,
    missing: u64,
    rejected: u64,
    reasons: BTreeSet<String>,
    /// The number of waits to end.
    wakes: usize,
    is_over: bool,
}

impl State {
    /// True if there is nothing to take yet.
    fn waits(&self) -> bool {
        self.ready.is_empty() && self.wakes == 0 && !self.is_over
    }

    /// Others are still to fetch own publications.
    fn awaits(&self) -> bool {
        self.participant.awaited() > 0 && !self.is_over
    }

    /// Handles events. Returns true if publications have come.
    fn drain(&mut self, now: Time) -> bool {
        let before = self.ready.len();
        while let Some(event) = self.participant.poll_event() {
            match event {
                Event::Publication { stream, seq, arrival, is_late, .. } => {
                    self.ready.push_back(MemberPublication {
                        member: stream.name,
                        boot: stream.boot,
                        seq,
                        content: arrival.content.to_vec(),
                        verified: Verified::Key(arrival.key),
                        is_late,
                    });
                }
                Event::Missing { count, .. } => self.missing = self.missing.saturating_add(count),
                Event::Vector(verified) => {
                    let signer = verified.signer.as_ref();
                    self.participant.again(now, |name| name.as_ref().starts_with(signer));
                }
                Event::Rejected { what, .. } => {
                    self.rejected += 1;
                    if self.reasons.len() < REPORTED {
                        self.reasons.insert(what);
                    }
                }
            }
        }
        self.ready.len() > before
    }

    /// Asks for more publications, or for no more. Returns true if it continues now.
    fn adapt(&mut self) -> bool {
        let was_paused = self.is_paused;
        self.is_paused = self.ready.len() >= self.most;
        self.participant.pause(self.is_paused);
        was_paused && !self.is_paused
    }
}

/// The end of the connection.
struct Joined(Arc<Shared>);

impl Endpoint for Joined {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.0.with(now, |participant| participant.receive(now, frame));
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.0.with(now, |participant| participant.poll_transmit(now, out))
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.0.lock().participant.next_deadline(now)
    }

    fn on_deadline(&mut self, now: Time) {
        self.0.with(now, |participant| participant.on_deadline(now));
    }
}

impl Producer for Joined {
    fn returned(&mut self) {
        let now = self.0.now();
        self.0.with(now, |participant| participant.reconnected(now));
    }

    fn answered(&self) -> u64 {
        self.0.lock().participant.answered()
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}
