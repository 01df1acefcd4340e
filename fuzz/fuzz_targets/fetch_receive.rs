//! A consumer that trusts one key, among forgers: nothing reaches the sink that the key's owner did
//! not sign, whatever comes in whatever order; and once the network is honest the fetch comes to an
//! end.
//!
//! The input is a list of things that happen, see [`Event`].
#![no_main]

use control::{Controller, Duration, Params, Time};
use libfuzzer_sys::fuzz_target;
use packet::{Interest, LpHeader, LpPacket, NackReason, Name};
use security::{Certificate, SecretKey, Signer, TrustPolicy, TrustedKey, Validity};
use std::cell::RefCell;
use std::collections::VecDeque;
use transport::fetch::{Fetch, FetchConfig, ObjectInfo, Resume, Sink, Status};
use transport::publish::{Preparation, Publish, Spec};

const NAME: &str = "/example/file";
const SEGMENT: usize = 16;
/// Enough segments for a manifest of two levels.
const SIZE: usize = 300 * SEGMENT - 5;
/// Earlier answers that can come again.
const REPLAYS: usize = 32;
/// More than any fetch of the object takes, once answers are honest.
const TURNS: usize = 20_000;

/// What happens next. The first octet's low three bits choose, the rest of it is `n`.
enum Event<'a> {
    /// The producer answers n + 1 Interests.
    Honest(usize),
    /// Somebody else's object of the same name answers n + 1 Interests.
    Forged(usize),
    /// The producer's answer is changed: the place in two octets, what is done to it in one.
    Damaged(usize, u8),
    /// A stranger's frame: its length in two octets, then the frame.
    Frame(&'a [u8]),
    /// The network returns an Interest.
    Nack(u64),
    /// An Interest is lost.
    Lost,
    /// Time passes until something is due.
    Wait,
    /// An earlier answer comes again.
    Replay(usize),
}

fn next<'a>(input: &mut &'a [u8]) -> Option<Event<'a>> {
    let (first, rest) = input.split_first()?;
    *input = rest;
    let n = usize::from(first >> 3);
    Some(match first & 7 {
        0 => Event::Honest(n + 1),
        1 => Event::Forged(n + 1),
        2 => {
            let ([high, low, change], rest) = input.split_first_chunk()?;
            *input = rest;
            Event::Damaged(usize::from(u16::from_be_bytes([*high, *low])), *change)
        }
        3 => {
            let (len, rest) = input.split_first_chunk::<2>()?;
            let len = usize::from(u16::from_be_bytes(*len)).min(rest.len());
            let (frame, rest) = rest.split_at(len);
            *input = rest;
            Event::Frame(frame)
        }
        4 => Event::Nack([0, 50, 100, 150][n % 4]),
        5 => Event::Lost,
        6 => Event::Wait,
        _ => Event::Replay(n),
    })
}

fn content(seed: u8) -> Vec<u8> {
    (0..SIZE).map(|at| (at / SEGMENT) as u8 ^ at as u8 ^ seed).collect()
}

fn certificate(secret: &SecretKey) -> Certificate {
    let identity: Name = "/example".parse().expect("a name");
    Certificate::self_signed(identity.as_ref(), secret, Validity::days(0, 30_000), 0)
}

/// Publishes an object under the name with the key of that seed.
fn producer(seed: u8) -> Publish {
    let secret = SecretKey::ed25519(&[seed; 32]);
    let key_locator = certificate(&SecretKey::ed25519(&[0; 32])).name().clone();
    let signer = Signer::Key { secret, key_locator };
    let name: Name = NAME.parse().expect("a name");
    let spec = Spec { segment_size: SEGMENT, ..Spec::new(name, 7) };
    let preparation = Preparation::new(spec, content(seed), &signer).expect("it fits");
    let mut publish = Publish::new();
    publish.add(preparation.run(&signer).expect("it can be read"));
    publish
}

fn controller() -> Box<dyn Controller> {
    let scheme = schemes::find("cubic").expect("a scheme");
    scheme.controller.expect("a consumer's")(&Params::defaults(scheme.params))
}

/// Takes only what was published.
struct Judge {
    octets: Vec<u8>,
    there: Vec<bool>,
    begun: bool,
}

impl Sink for Judge {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        assert!(info.name.to_string().starts_with(NAME));
        assert!(!std::mem::replace(&mut self.begun, true), "one transfer is of one object");
        Resume::default()
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        assert_eq!(offset, segment * SEGMENT as u64);
        let from = offset as usize;
        assert_eq!(content, &self.octets[from..from + content.len()], "nobody signed this");
        assert!(!std::mem::replace(&mut self.there[segment as usize], true), "written twice");
    }
}

struct Network {
    now: Time,
    fetch: Fetch,
    judge: Judge,
    waiting: VecDeque<Vec<u8>>,
    earlier: VecDeque<Vec<u8>>,
}

impl Network {
    fn new(in_order: bool) -> Network {
        let key = TrustedKey::from_certificate(&certificate(&SecretKey::ed25519(&[0; 32])));
        let name: Name = NAME.parse().expect("a name");
        let mut config = FetchConfig::new(name, TrustPolicy::Keys(vec![key]));
        config.in_order = in_order;
        // Long enough for every repetition, short enough for many inputs.
        config.patience = Duration::from_secs(5);
        let octets = content(0);
        let there = vec![false; SIZE.div_ceil(SEGMENT)];
        Network {
            now: Time::ZERO,
            fetch: Fetch::new(config, controller()),
            judge: Judge { octets, there, begun: false },
            waiting: VecDeque::new(),
            earlier: VecDeque::new(),
        }
    }

    /// The next Interest; time passes if there is none yet.
    fn interest(&mut self) -> Option<Vec<u8>> {
        if self.waiting.is_empty() {
            self.send();
        }
        if self.waiting.is_empty() {
            self.wait();
        }
        self.waiting.pop_front()
    }

    fn send(&mut self) {
        let mut out = Vec::new();
        while self.fetch.poll_transmit(self.now, &mut out) {
            self.waiting.push_back(std::mem::take(&mut out));
        }
        assert!(self.waiting.len() < 100_000, "Interests without end");
    }

    fn wait(&mut self) {
        if let Some(at) = self.fetch.next_deadline(self.now) {
            self.now = self.now.max(at);
            self.fetch.on_deadline(self.now, &mut self.judge);
        }
        self.send();
    }

    fn receive(&mut self, frame: &[u8]) {
        self.now += Duration::from_micros(500);
        self.fetch.receive(self.now, frame, &mut self.judge);
        if self.fetch.next_deadline(self.now).is_some_and(|at| at <= self.now) {
            self.fetch.on_deadline(self.now, &mut self.judge);
        }
    }

    fn answer(&mut self, by: &mut Publish, change: impl Fn(&mut Vec<u8>)) {
        let Some(interest) = self.interest() else { return };
        by.receive(&interest);
        let mut out = Vec::new();
        while by.poll_transmit(&mut out) {
            change(&mut out);
            self.receive(&out);
            self.earlier.push_front(std::mem::take(&mut out));
            self.earlier.truncate(REPLAYS);
        }
    }

    fn happen(&mut self, event: Event<'_>, honest: &mut Publish, forger: &mut Publish) {
        match event {
            Event::Honest(n) => (0..n).for_each(|_| self.answer(honest, |_| {})),
            Event::Forged(n) => (0..n).for_each(|_| self.answer(forger, |_| {})),
            Event::Damaged(at, change) => self.answer(honest, |frame| {
                let at = at % frame.len();
                frame[at] ^= change;
            }),
            Event::Frame(frame) => self.receive(frame),
            Event::Nack(reason) => {
                let Some(interest) = self.interest() else { return };
                let fragment = LpPacket::decode(&interest).ok().and_then(|link| link.fragment());
                let Some(fragment) = fragment.filter(|f| Interest::decode(f).is_ok()) else {
                    panic!("the consumer sends what is no Interest")
                };
                let nack = Some(NackReason::from(reason));
                let mut frame = Vec::new();
                LpHeader { nack, ..LpHeader::default() }.encode_into(fragment, &mut frame);
                self.receive(&frame);
            }
            Event::Lost => drop(self.interest()),
            Event::Wait => self.wait(),
            Event::Replay(n) => {
                if let Some(frame) = self.earlier.get(n).cloned() {
                    self.receive(&frame);
                }
            }
        }
    }
}

thread_local! {
    static PRODUCERS: RefCell<(Publish, Publish)> = (producer(0), producer(1)).into();
}

fuzz_target!(|input: &[u8]| {
    PRODUCERS.with_borrow_mut(|(honest, forger)| run(input, honest, forger));
});

fn run(input: &[u8], honest: &mut Publish, forger: &mut Publish) {
    let Some((how, mut input)) = input.split_first() else { return };
    let mut network = Network::new(how & 1 == 1);
    while let Some(event) = next(&mut input) {
        network.happen(event, honest, forger);
    }
    if how & 2 == 0 {
        return;
    }
    let mut turns = 0;
    while network.fetch.status() == Status::Running {
        network.happen(Event::Honest(8), honest, forger);
        turns += 1;
        assert!(turns < TURNS, "it does not come to an end: {:?}", network.fetch.stats());
    }
    if network.fetch.status() == Status::Done {
        assert!(network.judge.there.iter().all(|there| *there), "done without all of it");
    }
}
