//! The management protocol, by which applications register prefixes and tools ask for the
//! forwarder's state. Its Interests are under `/localhost/nfd` as NFD defines them, and under
//! `/localhost/weir` for Weir's own commands and datasets.
//!
//! A machine without I/O: the daemon hands in the packets that the forwarder sends to its internal
//! face, and gives the replies to the forwarder.

mod announcement;
mod answer;
pub mod authority;
mod certificates;
mod checks;
pub mod command;
mod counters;
mod dataset;
mod events;
mod face_info;
mod fields;
mod host;
mod hub;
mod judging;
mod learning;
pub mod metrics;
mod names;
pub mod orders;
pub mod parameters;
mod query;
mod rates;
mod rejections;
pub mod response;
pub mod rib;
mod routes;
pub(crate) mod status;
mod store;
mod strategies;
mod timer;
mod trace;
mod verification;

pub use answer::Answer;
pub use counters::{COUNTERS, ContentStore, Counters, Pit, Queue, counters_json};
pub use events::FaceEvent;
pub use face_info::{FaceInfo, Marking, Persistency};
pub use host::Host;
pub use names::{is_reserved, prefixes, remote_prefix};
pub use status::{CONGESTION_MARKING, LOCAL_FIELDS, RELIABILITY};
pub use trace::WITH_PACKETS;

use authority::{Authority, Denial, Origin, Rule};
use certificates::Certificates;
use checks::Checks;
use command::{Arrival, Asked, Command, Rejection};
use control::Time;
use dataset::Datasets;
use events::Events;
use forwarder::{FaceId, Forwarder, Scope};
use hub::Hub;
use names::{is_remote, verb};
use orders::{Order, Rejected, Reply, Task};
use packet::{Bytes, Data, Interest, LpPacket, Name};
use parameters::ControlParameters;
use query::Filter;
use rejections::Rejections;
use response::ControlResponse;
use rib::Rib;
use routes::{RouteCommand, Routes};
use std::collections::{BTreeMap, BTreeSet};
use timer::Timer;
use trace::Traces;
use verification::Announcers;

/// Datasets that clients may still read take at most this part of the shared memory.
const DATASETS: usize = 32;

/// The management service.
#[derive(Debug)]
pub struct Management {
    /// Its face at the forwarder.
    face: FaceId,
    routes_per_face: usize,
    authority: Authority,
    announcers: Announcers,
    certificates: Certificates,
    hub: Hub,
    rib: Rib,
    /// Prefixes with the names of their strategies.
    strategies: BTreeMap<Name, Name>,
    datasets: Datasets,
    /// True if announcements make routes.
    accepts_announcements: bool,
    /// Prefixes whose announcements are known.
    announced: BTreeSet<Name>,
    events: Events,
    rejections: Rejections,
    traces: Traces,
    /// Milliseconds since 1970 when it began.
    started_ms: u64,
}

/// An Interest for management, and where it comes from.
struct Question<'a, 'i> {
    now: Time,
    /// When it came, and in milliseconds since 1970.
    since: Time,
    wall_ms: u64,
    from: FaceId,
    interest: &'a Interest<'i>,
    /// The PIT token.
    token: &'a [u8],
    /// True if missing certificates will not come any more.
    is_last: bool,
}

/// The result of a command.
enum Outcome {
    Response(Box<ControlResponse>),
    ToDo(Box<(Task, ControlParameters)>),
}

impl From<ControlResponse> for Outcome {
    fn from(response: ControlResponse) -> Outcome {
        Outcome::Response(Box::new(response))
    }
}

impl Outcome {
    fn of(read: Result<Task, Rejected>, asked: &ControlParameters) -> Outcome {
        match read {
            Ok(task) => Outcome::ToDo(Box::new((task, asked.clone()))),
            Err(Rejected { code, why }) => ControlResponse::new(code, why, asked.clone()).into(),
        }
    }
}

impl Management {
    /// A service behind the internal face `face`; a face may have `routes_per_face` routes.
    #[must_use]
    pub fn new(face: FaceId, routes_per_face: usize, started_ms: u64) -> Management {
        Management {
            face,
            routes_per_face,
            authority: Authority::new(Vec::new()).started(started_ms),
            announcers: Announcers::default(),
            certificates: Certificates::default(),
            hub: Hub::default(),
            rib: Rib::default(),
            strategies: BTreeMap::new(),
            datasets: Datasets::default(),
            accepts_announcements: false,
            announced: BTreeSet::new(),
            events: Events::default(),
            rejections: Rejections::default(),
            traces: Traces::default(),
            started_ms,
        }
    }

    /// The daemon runs as this user; to be called before [`Management::set_rules`].
    pub fn set_owner(&mut self, uid: u32) {
        self.authority.set_owner(uid);
    }

    /// Replaces the rules about the permitted commands.
    pub fn set_rules(&mut self, rules: Vec<Rule>) {
        self.authority.set_rules(rules);
    }

    /// Sets the maximum number of routes per face.
    pub fn set_routes_per_face(&mut self, most: usize) {
        self.routes_per_face = most;
    }

    /// Sets the prefixes reported to hosts that ask for them.
    pub fn set_routable(&mut self, prefixes: &[Name]) {
        self.hub.set(prefixes);
    }

    /// The times of signature checks, by the kind of signed packet.
    pub fn checks(&self) -> impl Iterator<Item = (&'static str, &Checks)> {
        let announcements = self.announcers.checks();
        [("command", self.authority.checks()), ("announcement", announcements)].into_iter()
    }

    /// True if peers may send requests or commands, under [`remote_prefix`].
    #[must_use]
    pub fn takes_remote_commands(&self) -> bool {
        self.authority.takes_remote_commands() || !self.hub.is_empty()
    }

    /// The names of the chosen strategies by prefix, for drivers that choose strategies themselves.
    pub fn strategies(&mut self) -> &mut BTreeMap<Name, Name> {
        &mut self.strategies
    }

    /// Reports to the forwarder the part of the shared memory that management uses.
    pub fn count(&self, forwarder: &mut Forwarder) {
        if forwarder.counts_memory() {
            let asked = self.datasets.memory() + self.hub.memory() + self.traces.memory();
            let chosen: usize = self.strategies.iter().map(|(p, s)| strategies::bytes(p, s)).sum();
            let routes = self.rib.memory() + chosen;
            let trust = self.certificates.memory() + self.authority.memory();
            forwarder.set_driver_memory(routes + asked + trust);
        }
    }

    /// The routes by origin.
    pub fn rib(&mut self) -> &mut Rib {
        &mut self.rib
    }

    /// Answers a frame that the forwarder sent to the internal face; `wall_ms` is the time since
    /// 1970. `None` without an answer, or if it comes later.
    pub fn receive(
        &mut self,
        host: &mut Host<'_>,
        now: Time,
        wall_ms: u64,
        frame: &[u8],
    ) -> Option<Answer> {
        let packet = LpPacket::decode(frame).ok()?;
        let bytes = packet.fragment()?;
        if let Ok(data) = Data::decode(bytes) {
            self.certificates.receive(now, &data);
            return None;
        }
        let interest = &Interest::decode(bytes).ok()?;
        if packet.nack().is_some() {
            self.certificates.on_nack(now, interest.name());
            return None;
        }
        let from = FaceId(packet.incoming_face_id()?);
        let token = packet.pit_token().unwrap_or_default();
        let question = Question { now, wall_ms, since: now, from, interest, token, is_last: false };
        if Hub::is_asked(interest.name()) {
            let data = self.hub.answer(now, wall_ms, interest);
            return data.map(|data| Answer::Frame(orders::frame(&data, token)));
        }
        if trace::is_asked(interest.name()) {
            let data = self.traces.ask(now, from, interest, token);
            return data.map(|data| Answer::Frame(orders::frame(&data, token)));
        }
        if !is_remote(interest.name())
            && let Some(data) = self.read(host, &question)
        {
            return data.map(|data| Answer::Frame(orders::frame(&data, token)));
        }
        self.command(host, &question)
    }

    /// Answers a dataset request. `None`: not a dataset. `Some(None)`: a dataset without a reply.
    fn read(&mut self, host: &mut Host<'_>, question: &Question<'_, '_>) -> Option<Option<Bytes>> {
        let Question { now, wall_ms, interest, .. } = *question;
        let name = interest.name();
        if let Some(answer) = self.datasets.published(now, interest) {
            return Some(Some(answer));
        }
        let words = [1, 2, 3, 4].map(|at| name.get(at).map_or(&b""[..], |c| c.value()));
        let content = match (words[0], words[1], words[2]) {
            (b"nfd", b"status", b"general") => {
                status::general(host.forwarder, self.started_ms, wall_ms)
            }
            (b"nfd", b"faces", b"list") => faces(host, &Filter::default(), now),
            (b"nfd", b"faces", b"query") => match Filter::read(words[3]) {
                Ok(filter) => faces(host, &filter, now),
                Err(fault) => {
                    let text = format!("malformed filter: {fault}");
                    let rejected = ControlResponse::new(400, text, ControlParameters::default());
                    self.rejections.note(now, question.from, "faces/query", &rejected);
                    return Some(Some(rejected.rejection(name)));
                }
            },
            (b"nfd", b"faces", b"channels") => status::channels(host.channels),
            (b"nfd", b"faces", b"events") => return Some(self.events.ask(now, interest)),
            (b"nfd", b"fib", b"list") => status::fib(host.forwarder),
            (b"nfd", b"rib", b"list") => status::rib(&self.rib, now),
            (b"nfd", b"cs", b"info") => status::content_store(host.forwarder),
            (b"nfd", b"strategy-choice", b"list") => {
                status::strategies(host.forwarder, &self.strategies)
            }
            (b"weir", b"counters", _) => {
                let uptime_ms = self.uptime_ms(wall_ms);
                counters_json(host.forwarder, &(host.faces)(host.forwarder), now, uptime_ms)
                    .into_bytes()
            }
            _ => return None,
        };
        let kept = match host.forwarder.memory().limit {
            Some(limit) => limit / DATASETS,
            None => usize::MAX,
        };
        Some(self.datasets.publish(now, wall_ms, interest, &content, kept))
    }

    /// Answers a command, which is any Interest except for a dataset.
    fn command(&mut self, host: &mut Host<'_>, question: &Question<'_, '_>) -> Option<Answer> {
        let (from, name) = (question.from, question.interest.name());
        let is_remote = is_remote(name);
        // The forwarder restricts the names that a peer may use.
        let origin = match host.forwarder.face_scope(from) {
            Some(Scope::Local) => Origin::Local,
            _ => Origin::Remote,
        };
        let taken = Command::take(question.interest).map_err(Denial::from);
        let taken = taken.and_then(|command| {
            let is_known = command.protocol == b"nfd" || command.protocol == b"weir";
            if !is_known || (is_remote && command.module != b"rib") {
                return Err(Rejection::NotACommand.into());
            }
            let is_bounded = self.judge(host, &command, origin, question)?;
            Ok((command, is_bounded))
        });
        let outcome = match taken {
            Ok((command, is_bounded)) => self.execute(host, question, &command, is_bounded),
            Err(denial) => {
                let rejection = self.defer_or_reject(host.forwarder, denial, question)?;
                Outcome::Response(Box::new(rejection.into()))
            }
        };
        let reply = Reply { name: name.to_name(), token: Bytes::copy_from_slice(question.token) };
        Some(match outcome {
            Outcome::Response(response) => {
                self.rejections.note(question.now, from, &verb(name), &response);
                Answer::Frame(reply.with(&response))
            }
            Outcome::ToDo(to_do) => {
                let (task, asked) = *to_do;
                Answer::Order(Box::new(Order { task, reply, asked, from }))
            }
        })
    }

    fn execute(
        &mut self,
        host: &mut Host<'_>,
        question: &Question<'_, '_>,
        command: &Command<'_>,
        is_bounded: bool,
    ) -> Outcome {
        let Question { now, from, .. } = *question;
        let forwarder = &mut *host.forwarder;
        let asked = match &command.asked {
            Asked::Parameters(asked) => asked,
            Asked::Announcement(bytes) => {
                let response = self.routes(forwarder, question, is_bounded).announce(bytes);
                if response.code == 200 {
                    self.know(forwarder, bytes);
                }
                return response.into();
            }
        };
        match (command.protocol, command.module, command.verb) {
            (b"weir", b"faces", b"update") => rates::update(forwarder, now, asked).into(),
            (b"weir", b"trace", b"start") => self.traces.start(host, now, from, asked).into(),
            (b"weir", ..) => ControlResponse::unsupported().into(),
            (_, b"rib", _) => {
                self.routes(forwarder, question, is_bounded).rib(command.verb, asked).into()
            }
            (_, b"fib", _) => {
                self.routes(forwarder, question, is_bounded).fib(command.verb, asked).into()
            }
            (_, b"cs", b"config") => store::config(forwarder, asked).into(),
            (_, b"cs", b"erase") => store::erase(forwarder, asked).into(),
            (_, b"strategy-choice", b"set") => {
                strategies::set(forwarder, &mut self.strategies, asked).into()
            }
            (_, b"strategy-choice", b"unset") => {
                strategies::unset(forwarder, &mut self.strategies, asked).into()
            }
            (_, b"faces", b"create") => Outcome::of(orders::create(asked), asked),
            (_, b"faces", b"update") => Outcome::of(orders::update(asked, from, forwarder), asked),
            (_, b"faces", b"destroy") => Outcome::of(orders::destroy(asked), asked),
            _ => ControlResponse::unsupported().into(),
        }
    }

    fn routes<'a>(
        &'a mut self,
        forwarder: &'a mut Forwarder,
        question: &Question<'_, '_>,
        is_bounded: bool,
    ) -> Routes<'a> {
        let Question { now, wall_ms, from, .. } = *question;
        let per_face = self.routes_per_face;
        let arrival = Arrival { from, now, wall_ms };
        let command = RouteCommand { arrival, per_face, is_bounded };
        Routes::new(forwarder, &mut self.rib, command)
    }

    /// Something happened to a face.
    pub fn face_event(&mut self, now: Time, event: FaceEvent, face: &FaceInfo) {
        self.events.post(now, event, face);
    }

    /// A frame for the forwarder, from the internal face: Data that an Interest waits for, or an
    /// Interest for a certificate.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        if let Some(data) = self.events.poll() {
            return Some(orders::frame(&data, b""));
        }
        if let Some((data, token)) = self.traces.poll(now) {
            return Some(orders::frame(&data, &token));
        }
        self.certificates.poll_transmit()
    }

    /// Starts writing a log line for each packet, if the log takes such lines.
    pub fn log_packets(&mut self, forwarder: &mut Forwarder) {
        self.traces.log(forwarder);
    }

    /// When [`Management::on_deadline`] has to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        Timer::ALL.into_iter().filter_map(|timer| self.due(timer)).min()
    }

    /// Removes routes that have expired, and asks again for certificates. There may be something to
    /// [resume](Management::resume) then, and to send.
    pub fn on_deadline(&mut self, forwarder: &mut Forwarder, now: Time) {
        for timer in Timer::ALL {
            if self.due(timer).is_some_and(|at| at <= now) {
                self.on_timer(timer, forwarder, now);
            }
        }
        self.forget_announcements(forwarder);
        // Old datasets can wait for any timer.
        self.datasets.forget(now);
        self.hub.forget(now);
    }

    /// When a timer goes off, if it is set.
    fn due(&self, timer: Timer) -> Option<Time> {
        match timer {
            Timer::Routes => self.rib.next_deadline(),
            Timer::Certificates => self.certificates.next_deadline(),
            Timer::Rejections => self.rejections.next_deadline(),
            Timer::Traces => self.traces.next_deadline(),
        }
    }

    fn on_timer(&mut self, timer: Timer, forwarder: &mut Forwarder, now: Time) {
        match timer {
            Timer::Routes => self.rib.expire(forwarder, now),
            Timer::Certificates => self.certificates.on_deadline(now),
            Timer::Rejections => self.rejections.on_deadline(now),
            Timer::Traces => self.traces.on_deadline(forwarder, now),
        }
    }

    /// Records the result of an order.
    pub fn executed(&mut self, now: Time, order: &Order, response: &ControlResponse) {
        self.rejections.note(now, order.from, &order.verb(), response);
    }

    /// The face is gone, and its routes with it.
    pub fn face_gone(&mut self, forwarder: &mut Forwarder, face: FaceId) {
        self.rib.face_gone(forwarder, face);
        self.certificates.face_gone(face);
        self.rejections.face_gone(face);
        self.traces.face_gone(forwarder, face);
    }

    /// Milliseconds since it began; `wall_ms` is the time since 1970.
    #[must_use]
    pub fn uptime_ms(&self, wall_ms: u64) -> u64 {
        wall_ms.saturating_sub(self.started_ms)
    }

    /// The internal face.
    #[must_use]
    pub fn face(&self) -> FaceId {
        self.face
    }
}

/// The dataset of the faces that pass a filter.
fn faces(host: &Host<'_>, wanted: &Filter, now: Time) -> Vec<u8> {
    let mut faces = (host.faces)(host.forwarder);
    faces.retain(|face| wanted.wants(face));
    status::faces(host.forwarder, &faces, now)
}

#[cfg(test)]
mod tests;
