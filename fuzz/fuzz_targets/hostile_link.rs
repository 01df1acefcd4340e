//! Two machines and a link that belongs to an attacker. A consumer and its forwarder are on one
//! side, another forwarder and the producer on the other. The attacker drops, duplicates, delays,
//! reorders, damages, cuts, forges and replays frames, sends frames of its own in both directions,
//! and restarts the forwarders.
//!
//! The consumer hands on only what the producer signed, all of it if it says so. It ends, in
//! bounded time and with a bounded number of Interests, and so does all state in the forwarders.
//! Where the attacker only loses, repeats and delays frames, nothing is called forged.
//!
//! The input is a byte for the configuration and a list of [`Fate`]s.
#![no_main]

use control::{Duration, Time};
use forwarder::tables::{ContentStoreConfig, PitConfig};
use forwarder::{FaceConfig, FaceId, Forwarder, ForwarderConfig, Medium, Scope, Wire};
use fuzz::transfer::{Judge, NAME, Parts, Shape};
use libfuzzer_sys::fuzz_target;
use packet::{LpPacket, Name};
use rangemap::RangeSet;
use schemes::Choice;
use security::VerifyError;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use transport::fetch::{Fetch, FetchError, Status};
use transport::publish::Publish;

const SEGMENTS: usize = 8;
const SHAPE: Shape = Shape { segment: 40, size: SEGMENTS * 40 - 3, fanout: 20 };
/// Pending Interests of a forwarder.
const ENTRIES: usize = 64;
/// Bytes in a forwarder's content store.
const STORE: usize = 6000;
/// The link's own delay.
const DELAY: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(5);
/// Frames that the attacker keeps for later.
const KEPT: usize = 32;
/// Frames that the link holds at a time; like a real one, it loses what is more.
const ON_LINK: usize = 4096;
/// Discovery, manifest and every segment may each use up the patience, and a forged answer to each
/// may cost another one.
const LONGEST: Duration = Duration::from_secs(5 * 2 * (SEGMENTS as u64 + 6));
/// Longer than the pauses between repetitions of a frame, or between two announcements of a
/// forwarder, at which the attacker may act again.
const QUIET: Duration = Duration::from_secs(40);
/// Interests of a fetch: many times what it needs on a link that loses half of the frames.
const MOST_INTERESTS: u64 = 20_000;
const STEPS: u32 = 200_000;

/// One end of the link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Consumer = 0,
    Producer = 1,
}

use Side::{Consumer, Producer};

impl Side {
    fn of(n: usize) -> Side {
        [Consumer, Producer][n & 1]
    }

    fn other(self) -> Side {
        Side::of(self as usize + 1)
    }
}

/// The attacker's action on the next frame. The first byte's low three bits choose, the rest of
/// it is `n`.
enum Fate<'a> {
    /// n + 1 frames arrive as they are.
    Arrive(usize),
    /// n + 1 frames are lost.
    Lost(usize),
    /// It arrives n² · 4 ms later than usual, after frames that were sent behind it.
    Late(usize),
    /// It arrives twice, the second time n² · 4 ms later.
    Twice(usize),
    /// A byte of it is changed: the place in two bytes, the change in one.
    Damaged(usize, u8),
    /// A frame of the attacker's arrives first: its length in two bytes, then the frame.
    Injected(Side, &'a [u8]),
    /// A frame that was sent before arrives first, at either side.
    Replayed(Side, usize),
    /// See [`Trick`].
    Trick(Trick),
}

enum Trick {
    /// A forwarder starts again, with empty tables.
    Restart(Side),
    /// A forger answers the Interest in the frame, before the producer does.
    Forged,
    /// The frame ends early.
    Cut(usize),
    /// Nothing arrives for a while.
    Outage(Duration),
}

fn next<'a>(input: &mut &'a [u8]) -> Option<Fate<'a>> {
    let (first, rest) = input.split_first()?;
    *input = rest;
    let n = usize::from(first >> 3);
    Some(match first & 7 {
        0 => Fate::Arrive(n),
        1 => Fate::Lost(n),
        2 => Fate::Late(n),
        3 => Fate::Twice(n),
        4 => {
            let ([high, low, change], rest) = input.split_first_chunk()?;
            *input = rest;
            Fate::Damaged(usize::from(u16::from_be_bytes([*high, *low])), *change)
        }
        5 => {
            let (len, rest) = input.split_first_chunk::<2>()?;
            let (frame, rest) =
                rest.split_at(usize::from(u16::from_be_bytes(*len)).min(rest.len()));
            *input = rest;
            Fate::Injected(Side::of(n), frame)
        }
        6 => Fate::Replayed(Side::of(n), n >> 1),
        _ => Fate::Trick(match n {
            0 | 1 => Trick::Restart(Side::of(n)),
            2..8 => Trick::Forged,
            8..16 => Trick::Cut(n - 7),
            _ => Trick::Outage(Duration::from_millis((n as u64 - 15) * 250)),
        }),
    })
}

/// The attacker, and the frames that it has not delivered yet.
struct Link<'a> {
    input: &'a [u8],
    /// More frames that arrive (or are lost) like the last one.
    more: (usize, bool),
    out_until: Time,
    /// By the time of arrival. No frame at all restarts the machine.
    flying: BTreeMap<(Time, u64), (Side, Option<Vec<u8>>)>,
    sent: u64,
    kept: VecDeque<Vec<u8>>,
    /// Something arrived that no machine sent.
    lied: bool,
}

impl<'a> Link<'a> {
    fn put(&mut self, at: Time, to: Side, frame: impl Into<Option<Vec<u8>>>) {
        self.sent += 1;
        if self.flying.len() < ON_LINK {
            self.flying.insert((at, self.sent), (to, frame.into()));
        }
    }

    /// A frame of a machine's is on the link.
    fn take(&mut self, now: Time, to: Side, mut frame: Vec<u8>, forger: &mut Publish) {
        let usual = now + DELAY;
        self.kept.push_front(frame.clone());
        self.kept.truncate(KEPT);
        loop {
            if now < self.out_until {
                return;
            }
            if self.more.0 > 0 {
                self.more.0 -= 1;
                if self.more.1 {
                    self.put(usual, to, frame);
                }
                return;
            }
            let later = |n: usize| usual + Duration::from_millis((n * n * 4) as u64);
            match next(&mut self.input) {
                // The attacker is gone.
                None => return self.put(usual, to, frame),
                Some(Fate::Arrive(n)) => self.more = (n + 1, true),
                Some(Fate::Lost(n)) => self.more = (n + 1, false),
                Some(Fate::Late(n)) => return self.put(later(n), to, frame),
                Some(Fate::Twice(n)) => {
                    self.put(usual, to, frame.clone());
                    return self.put(later(n), to, frame);
                }
                Some(Fate::Damaged(at, change)) => {
                    self.lied = true;
                    let at = at % frame.len();
                    frame[at] ^= change;
                    return self.put(usual, to, frame);
                }
                Some(Fate::Injected(to, frame)) => {
                    self.lied = true;
                    self.put(usual, to, frame.to_vec());
                }
                Some(Fate::Replayed(to, n)) => {
                    if let Some(frame) = self.kept.get(n).cloned() {
                        // A machine's own frame comes back to it.
                        self.lied = true;
                        self.put(usual, to, frame);
                    }
                }
                Some(Fate::Trick(Trick::Forged)) => {
                    self.lied = true;
                    forger.receive(&frame);
                    let mut answer = Vec::new();
                    while forger.poll_transmit(&mut answer) {
                        self.put(now, to.other(), std::mem::take(&mut answer));
                    }
                    return self.put(usual, to, frame);
                }
                Some(Fate::Trick(Trick::Cut(n))) => {
                    self.lied = true;
                    frame.truncate(frame.len() - n.min(frame.len()));
                    return self.put(usual, to, frame);
                }
                Some(Fate::Trick(Trick::Outage(span))) => self.out_until = now + span,
                Some(Fate::Trick(Trick::Restart(side))) => self.put(now, side, None),
            }
        }
    }
}

/// A forwarder with an application and the link.
struct Machine {
    forwarder: Forwarder,
    app: FaceId,
    link: FaceId,
    mtu: Option<usize>,
}

impl Machine {
    /// `seed` differs from start to start: numbers of frames begin at random, so those from before
    /// a restart belong to no packet of later.
    fn new(now: Time, side: Side, how: u8, seed: u64) -> Machine {
        let strategy = STRATEGY.with(Choice::strategy).expect("a strategy");
        let mut config = ForwarderConfig::new(strategy);
        config.seed = seed;
        config.pit = PitConfig { entries: ENTRIES, ..PitConfig::default() };
        config.content_store = ContentStoreConfig { capacity: STORE, ..Default::default() };
        config.dead_nonces = 100;
        let mut forwarder = Forwarder::new(config);
        let scope = Scope::Local;
        let app = forwarder.add_face(now, FaceConfig { scope, ..FaceConfig::default() });
        let mtu = [None, Some(1400), Some(300), Some(120)][usize::from(how >> 1 & 3)];
        let reliability = how & 8 != 0;
        let link = FaceConfig {
            reliability,
            medium: Medium { mtu, ..Medium::default() },
            ..FaceConfig::default()
        };
        let link = forwarder.add_face(now, link);
        let to = if side == Consumer { link } else { app };
        NAMED.with(|name| forwarder.add_route(to, name.as_ref(), 0)).expect("room for a route");
        Machine { forwarder, app, link, mtu }
    }

    /// Sends all that can leave; frames for the application are `for_app`, those for the other
    /// machine `for_link`.
    fn transmit(
        &mut self,
        now: Time,
        mut for_app: impl FnMut(&[u8]),
        mut for_link: impl FnMut(Vec<u8>),
    ) {
        let mut out = Vec::new();
        while let Some(face) = self.forwarder.poll_ready() {
            while let Some(sent) = self.forwarder.poll_transmit(now, face, &mut out) {
                for frame in out.chunks(sent.segment.unwrap_or(sent.len)) {
                    assert!(LpPacket::decode(frame).is_ok(), "what is sent can be read");
                    if face == self.app {
                        for_app(frame);
                    } else {
                        assert!(frame.len() <= self.mtu.unwrap_or(usize::MAX));
                        for_link(frame.to_vec());
                    }
                }
                out.clear();
            }
        }
        assert!(self.forwarder.pit().len() <= ENTRIES);
        let store = self.forwarder.content_store();
        assert!(store.is_empty() || store.memory() <= STORE);
    }
}

struct World<'a> {
    now: Time,
    how: u8,
    machines: [Machine; 2],
    /// Machines that were started, restarts included.
    started: u64,
    link: Link<'a>,
    fetch: Fetch,
    judge: Judge,
    publish: &'a mut Publish,
    forger: &'a mut Publish,
}

impl<'a> World<'a> {
    fn new(how: u8, input: &'a [u8], parts: &'a mut Parts) -> World<'a> {
        let now = Time::ZERO;
        let in_order = how & 1 == 1;
        let mut config = parts.config();
        (config.in_order, config.patience, config.seed) = (in_order, PATIENCE, u64::from(how));
        let scheme = usize::from(how >> 4 & 1);
        World {
            now,
            how,
            machines: [Consumer, Producer].map(|side| Machine::new(now, side, how, side as u64)),
            started: 2,
            link: Link {
                input,
                more: (0, true),
                out_until: now,
                flying: BTreeMap::new(),
                sent: 0,
                kept: VecDeque::new(),
                lied: false,
            },
            fetch: Fetch::new(config, parts.controller(scheme)),
            judge: parts.judge(in_order, RangeSet::new()),
            publish: &mut parts.honest,
            forger: &mut parts.forger,
        }
    }

    /// Everything that can happen at this instant happens.
    fn run_instant(&mut self) {
        let mut out = Vec::new();
        let mut moved = true;
        while moved {
            moved = false;
            let [here, there] = &mut self.machines;
            let (now, link) = (self.now, &mut self.link);
            while self.fetch.poll_transmit(now, &mut out) {
                moved = true;
                here.forwarder.receive(now, here.app, Wire::Borrowed(&out));
                out.clear();
            }
            let mut answers = Vec::new();
            here.transmit(
                now,
                |frame| answers.push(frame.to_vec()),
                |frame| link.take(now, Producer, frame, self.forger),
            );
            for frame in answers {
                moved = true;
                self.fetch.receive(now, &frame, &mut self.judge);
            }
            there.transmit(
                now,
                |frame| self.publish.receive(frame),
                |frame| link.take(now, Consumer, frame, self.forger),
            );
            while self.publish.poll_transmit(&mut out) {
                moved = true;
                there.forwarder.receive(now, there.app, Wire::Borrowed(&out));
                out.clear();
            }
        }
    }

    fn next_deadline(&mut self) -> Option<Time> {
        let [here, there] = &self.machines;
        let machines = [here.forwarder.next_deadline(), there.forwarder.next_deadline()];
        let arrival = self.link.flying.keys().next().map(|(at, _)| *at);
        let fetch = self.fetch.next_deadline(self.now);
        machines.into_iter().chain([arrival, fetch]).flatten().min()
    }

    /// Moves on to the next thing that is due, if that is before `end`.
    fn step(&mut self, end: Time) -> bool {
        let Some(at) = self.next_deadline().filter(|at| *at <= end) else { return false };
        self.now = self.now.max(at);
        while let Some(first) = self.link.flying.first_entry() {
            if first.key().0 > self.now {
                break;
            }
            let (to, frame) = first.remove();
            let machine = &mut self.machines[to as usize];
            match frame {
                Some(frame) => {
                    machine.forwarder.receive(self.now, machine.link, Wire::Borrowed(&frame));
                }
                None => {
                    *machine = Machine::new(self.now, to, self.how, self.started);
                    self.started += 1;
                }
            }
        }
        for machine in &mut self.machines {
            if machine.forwarder.next_deadline().is_some_and(|at| at <= self.now) {
                machine.forwarder.on_deadline(self.now);
            }
        }
        if self.fetch.next_deadline(self.now).is_some_and(|at| at <= self.now) {
            self.fetch.on_deadline(self.now, &mut self.judge);
        }
        self.run_instant();
        true
    }

    /// No Interest is pending.
    fn is_quiet(&self) -> bool {
        self.machines.iter().all(|machine| machine.forwarder.pit().is_empty())
    }

    fn check(&self) {
        match self.fetch.status() {
            Status::Running => panic!("it does not come to an end: {:?}", self.fetch.stats()),
            Status::Done => assert!(self.judge.is_complete(), "done without all of {NAME}"),
            // Where metadata are lost, all that came may be a segment that only the manifest
            // vouches for: it is the reason given for finding nothing.
            Status::Failed(FetchError::Untrusted(VerifyError::NotSigned(_))) => {}
            Status::Failed(
                FetchError::Forged { .. }
                | FetchError::Manifest(_)
                | FetchError::Untrusted(_)
                | FetchError::WrongSize { .. },
            ) => assert!(self.link.lied, "loss is no forgery: {:?}", self.fetch.status()),
            Status::Failed(_) => {}
        }
        let stats = self.fetch.stats();
        assert!(stats.counters.interests <= MOST_INTERESTS, "{stats:?}");
    }
}

thread_local! {
    static PARTS: RefCell<Parts> = Parts::new(SHAPE, &["cubic", "bbr"]).into();
    static STRATEGY: Choice = Choice::named("best-route").expect("a scheme");
    static NAMED: Name = NAME.parse().expect("a name");
}

fuzz_target!(|input: &[u8]| {
    let Some((how, input)) = input.split_first() else { return };
    PARTS.with_borrow_mut(|parts| run(World::new(*how, input, parts)));
});

fn run(mut world: World<'_>) {
    world.run_instant();
    let mut steps = 0;
    let end = Time::ZERO + LONGEST;
    while world.fetch.status() == Status::Running && world.step(end) {
        steps += 1;
        assert!(steps < STEPS, "time does not pass: {:?}", world.fetch.stats());
    }
    world.check();
    // The rest of it ends as well, whether or not the attacker continues.
    let end = world.now + Duration::from_secs(300);
    let mut quiet_since = None;
    loop {
        quiet_since = world.is_quiet().then(|| quiet_since.unwrap_or(world.now));
        if !world.step(quiet_since.map_or(end, |since| end.min(since + QUIET))) {
            break;
        }
        steps += 1;
        assert!(steps < STEPS, "time does not pass without a fetch");
    }
    for machine in &world.machines {
        assert!(machine.forwarder.pit().is_empty(), "every Interest ends");
    }
}
