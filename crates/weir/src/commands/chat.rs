//! `weir chat`: talks in a group.

mod files;

use crate::chat::{ChatLine, Event, Input, Left, Line, Printer, Room, Screen};
use crate::cli::chat::ChatArgs;
use crate::exit::{Failure, Kind};
use crate::identity::{self, Signing};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress};
use crate::signals::Stop;
use client::parts::group;
use control::{Duration, Rng};
use files::Files;
use net::client::{Address, Connection};
use net::clock::unix_millis;
use packet::Name;
use security::{Certificate, Signer};
use sync::Stream;
use weir::message::{Body, MOST_TEXT};

/// A turn lasts this long at most, so that a signal is noticed.
const TURN: Duration = Duration::from_millis(250);
/// The time for which a leaving member waits for others to fetch its last message.
const FAREWELL: Duration = Duration::from_secs(1);
/// The time in which other members may fetch the last texts. A member that has just joined is known
/// after a second, and its certificate is fetched first.
const DELIVERY: Duration = Duration::from_secs(5);

const HELP: &str = "/who lists the members, /send FILE publishes a file, /get NAME [FILE] fetches \
                    one, /quit leaves; // begins a line of text with a slash";

/// The part of the chat outside of the room.
struct Session<'a> {
    args: &'a ChatArgs,
    screen: Screen,
    files: Files,
    stop: Stop,
    /// The keys whose certificates are served.
    keys: Vec<Name>,
    /// The input is at its end: the member leaves when its files are done.
    is_at_end: bool,
    /// The user leaves.
    is_over: bool,
    /// Omitted events, already reported.
    left_out: u64,
}

/// Joins the group, and talks until the user leaves.
pub fn run(args: &ChatArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    if !args.folder.is_dir() {
        let what = format!("there is no folder {} for files of `/get`", args.folder.display());
        return Err(Failure::new(Kind::File, what).then("make it, or name another with --folder"));
    }
    let name = member(args)?;
    let Signing { signer, chain, remark } = identity::signing(args.sign.as_ref(), &name)?;
    if matches!(signer, Signer::Digest) {
        let why = remark.unwrap_or_else(|| "there is no key to sign messages with".to_owned());
        return Err(Failure::new(Kind::Usage, why).then(NO_KEY));
    }
    let trust = trusted(args, &chain)?;
    let policy = identity::policy(&trust)?;
    let address = Address::find(args.forwarder.socket.as_deref())?;
    let mut connection = Connection::open(address.clone())?;
    let (input, bell) = Input::start().map_err(|error| Failure::new(Kind::Failed, error))?;
    let printer = bell
        .try_clone()
        .and_then(|bell| Printer::start(Some(bell)))
        .map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut session = Session {
        args,
        screen: Screen::new(args.group.clone(), args.json, args.quiet, printer),
        files: Files::new(signer.clone(), trust, address.to_string(), args.folder.clone(), &stop),
        stop,
        keys: chain.iter().map(Certificate::key_name).collect(),
        is_at_end: false,
        is_over: false,
        left_out: 0,
    };
    session.files.wake(&bell)?;
    connection.wake_on(bell);
    let boot = session.start(&name)?;
    let seed = getrandom::u64().map_err(|error| Failure::new(Kind::Failed, error))?;
    let options = group::Options {
        group: args.group.clone(),
        own: Stream { name, boot },
        signer,
        policy,
        history: args.history.into(),
        keep: group::MOST_PACKETS,
        rng: Rng::stream(seed, &["chat"]),
        clock: Box::new(unix_millis),
    };
    let mut room = Room::new(options, args.heartbeat, &chain, connection.now()).map_err(|len| {
        let most = packet::MAX_PACKET;
        let message = format!(
            "the names of the group and of the member are too long: a packet would have {len} \
             bytes, and may have {most}"
        );
        Failure::new(Kind::Usage, message).then("use shorter names")
    })?;
    let note = group::register(&mut connection, &args.group, &room.prefixes(&session.keys))?;
    note.map_or(Ok(()), |note| session.screen.note(&note))?;
    let joined = session.begin(&mut room, &mut connection);
    let talked = joined.and_then(|()| session.talk(&mut room, &mut connection, &input));
    let left = talked.and_then(|()| session.leave(&mut room, &mut connection));
    left.and(session.screen.printer().drain(&session.stop))
}

fn too_long(len: usize) -> String {
    format!(
        "not sent: the line has {len} bytes, and a message {MOST_TEXT} or fewer; send a file \
         instead: /send FILE"
    )
}

const NO_KEY: &str = "make a key for this member, `weir key new NAME --default`, or name one with \
                      --sign";

/// The name of this member.
fn member(args: &ChatArgs) -> Result<Name, Failure> {
    if args.group.is_empty() {
        return Err(Failure::new(Kind::Usage, "a group needs a name").then("try /example/chat"));
    }
    if let Some(name) = &args.member {
        return Ok(name.clone());
    }
    identity::identity_of(args.sign.as_ref())?.ok_or_else(|| {
        Failure::new(Kind::Usage, "there is no key to sign messages with").then(NO_KEY)
    })
}

/// The arguments of `--trust`; by default the own key.
fn trusted(args: &ChatArgs, chain: &[Certificate]) -> Result<Vec<String>, Failure> {
    match (args.trust.is_empty(), chain.first(), &args.sign) {
        (false, ..) => Ok(args.trust.clone()),
        (true, Some(own), _) => Ok(vec![own.key_name().to_string()]),
        (true, None, Some(shared)) => Ok(vec![shared.to_string()]),
        (true, None, None) => Err(Failure::new(Kind::Usage, "no key is trusted")
            .then("name the certificates of members with --trust")),
    }
}

impl Session<'_> {
    /// Waits for a second in which no other start of this member has published, and returns it.
    fn start(&self, name: &Name) -> Result<u64, Failure> {
        let (boot, warning) = group::second(name, &self.args.group, unix_millis() / 1_000);
        warning.map_or(Ok(()), |warning| self.screen.note(&warning))?;
        while unix_millis() / 1_000 < boot {
            self.stop.wait();
            if self.stop.requested() {
                let message = "interrupted before it joined the group";
                return Err(Failure::new(Kind::Interrupted, message));
            }
        }
        Ok(boot)
    }

    /// Joins the group.
    fn begin(&mut self, room: &mut Room, connection: &mut Connection) -> Result<(), Failure> {
        let own = room.member().own().clone();
        self.send(room, connection, Body::Joined)?;
        self.screen.line(|| ChatLine::Joined {
            group: self.args.group.to_string(),
            member: own.name.to_string(),
            boot: own.boot,
        })?;
        if !self.args.json {
            let group = &self.args.group;
            self.screen.note(&format!("you are {} in {group}; {HELP}", own.name))?;
        }
        Ok(())
    }

    /// Talks until the user leaves, or a signal comes.
    fn talk(
        &mut self,
        room: &mut Room,
        connection: &mut Connection,
        input: &Input,
    ) -> Result<(), Failure> {
        let progress = Progress::new("chat", self.args.quiet || self.args.json);
        let stop = self.stop.clone();
        let shown = Some(&progress).filter(|_| !self.args.quiet && !self.args.json);
        let mut outage = Outage::new("weir chat", &stop, shown, connection.now());
        while !self.stop.requested() && !self.is_over {
            let until = connection.now() + TURN;
            if let Err(lost) = connection.turn(room, until) {
                self.screen.line(|| ChatLine::Forwarder { state: "away" })?;
                let (name, prefixes) = (&self.args.group, room.prefixes(&self.keys));
                let outcome = outage.end(connection, lost, None, &mut |connection| {
                    group::register(connection, name, &prefixes).map(|_| ())
                })?;
                if outcome != Outcome::Back {
                    break;
                }
                self.screen.line(|| ChatLine::Forwarder { state: "back" })?;
                room.reconnected(connection.now());
            }
            self.show(room)?;
            while room.is_welcome(connection.now())
                && self.screen.printer().is_ready()?
                && let Some(line) = input.poll()
            {
                self.line(room, connection, line)?;
            }
            for done in self.files.poll() {
                self.file(room, connection, done)?;
            }
            self.is_over |= self.is_at_end && self.files.is_idle();
        }
        progress.end();
        Ok(())
    }

    /// Shows events while the output takes them. The others wait in the room.
    fn show(&mut self, room: &mut Room) -> Result<(), Failure> {
        while self.screen.printer().is_ready()? {
            let Some(event) = room.poll_event() else { return self.report_left_out(room) };
            if !self.args.quiet || matches!(event, Event::Message { .. }) {
                self.screen.event(&event, unix_millis())?;
            }
        }
        Ok(())
    }

    fn report_left_out(&mut self, room: &Room) -> Result<(), Failure> {
        let unshown = room.counts().unshown;
        let new = unshown - std::mem::replace(&mut self.left_out, unshown);
        match new {
            0 => Ok(()),
            _ => self.screen.error(&format!("{new} events were left out: the output was not read")),
        }
    }

    fn send(&self, room: &mut Room, connection: &Connection, body: Body) -> Result<(), Failure> {
        let is_shown = matches!(body, Body::Text(_) | Body::File { .. });
        match room.send(connection.now(), body) {
            Ok(seq) if is_shown => self.screen.line(|| ChatLine::Sent { seq }),
            Ok(_) => Ok(()),
            Err(len) => self.screen.error(&format!(
                "not sent: the message would have {len} bytes with its names, and a packet has \
                 {}; shorten it, or use shorter names",
                packet::MAX_PACKET
            )),
        }
    }

    /// A line of the user.
    fn line(
        &mut self,
        room: &mut Room,
        connection: &Connection,
        line: Line,
    ) -> Result<(), Failure> {
        let text = match line {
            Line::End if self.args.stay => return Ok(()),
            Line::End => {
                self.is_at_end = true;
                return Ok(());
            }
            Line::TooLong(len) => return self.screen.error(&too_long(len)),
            Line::Text(text) => text,
        };
        let Some(command) = text.strip_prefix('/') else {
            return match text.len() {
                0 => Ok(()),
                1..=MOST_TEXT => self.send(room, connection, Body::Text(text)),
                len => self.screen.error(&too_long(len)),
            };
        };
        if command.starts_with('/') {
            return self.send(room, connection, Body::Text(command.to_owned()));
        }
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        match (word, rest.trim()) {
            ("quit", "") => self.is_over = true,
            ("who", "") => return self.screen.members(room, connection.now()),
            ("help", "") => return self.screen.note(HELP),
            ("send", file) if !file.is_empty() => {
                let sent = self.files.send(file, |component| room.file_name(component));
                if let Err(failure) = sent {
                    return self.screen.error(&failure.to_string());
                }
            }
            ("get", what) if !what.is_empty() => {
                if let Err(failure) = self.files.get(what) {
                    return self.screen.error(&failure.to_string());
                }
            }
            _ => return self.screen.error(&format!("no command /{word} of this form; {HELP}")),
        }
        Ok(())
    }

    /// The end of a file's publication or transfer.
    fn file(
        &mut self,
        room: &mut Room,
        connection: &Connection,
        done: Result<files::Done, Failure>,
    ) -> Result<(), Failure> {
        match done {
            Ok(files::Done::Sent { publication, bytes }) => {
                let object = publication.name().clone();
                let name = object.to_string();
                self.screen.line(|| ChatLine::Serving { name, bytes })?;
                if !self.args.json {
                    self.screen.note(&format!("serving {object} until you leave"))?;
                }
                room.serve(*publication);
                self.send(room, connection, Body::File { object, bytes })
            }
            Ok(files::Done::Got { path, line }) => {
                let file = path.display().to_string();
                self.screen.line(|| ChatLine::Got { file })?;
                if self.args.json { Ok(()) } else { self.screen.note(&line) }
            }
            Err(failure) => self.screen.error(&failure.to_string()),
        }
    }

    /// Leaves the group: the last messages are served until another member has them.
    fn leave(&mut self, room: &mut Room, connection: &mut Connection) -> Result<(), Failure> {
        self.send(room, connection, Body::Left)?;
        let (answered, begin) = (room.answered(), connection.now());
        let delivered = begin + if self.stop.requested() { FAREWELL } else { DELIVERY };
        loop {
            let is_received = !room.presence().is_anyone_here() || room.answered() > answered;
            let end = match room.unfetched() {
                0 if is_received => break,
                0 => begin + FAREWELL,
                _ => delivered,
            };
            // Without a forwarder, no member can fetch it.
            if connection.now() >= end
                || connection.turn(room, end.min(connection.now() + TURN)).is_err()
            {
                break;
            }
        }
        let _ = connection.send_frames(room);
        for prefix in [self.args.group.clone()].into_iter().chain(room.prefixes(&self.keys)) {
            connection.unregister(&prefix).ok();
        }
        self.show(room)?;
        while room.has_events() && !self.stop.requested() {
            self.screen.printer().drain(&self.stop)?;
            self.show(room)?;
        }
        let unfetched = room.unfetched();
        let (counts, sync) = (room.counts(), room.member().stats());
        let left = Left {
            rejected: counts.rejected,
            rejected_vectors: counts.rejected_vectors,
            unshown: counts.unshown,
            vectors_sent: sync.sent,
            vectors_received: sync.received,
            suppressed: sync.suppressed,
            implausible: sync.implausible,
            unfetched: unfetched as u64,
        };
        self.screen.line(|| ChatLine::Left(left))?;
        match unfetched {
            0 => Ok(()),
            many => {
                let messages = output::counted(many, "message");
                let text = format!("no other member has fetched {messages}");
                Err(Failure::new(Kind::Failed, text))
            }
        }
    }
}
