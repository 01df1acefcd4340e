//! A consumer that trusts one key, among forgers. Only Data signed by the key's owner reach the
//! sink, in whatever order packets arrive. Once the network is honest, the fetch ends.
//!
//! The input is a list of things that happen, see [`Event`].
#![no_main]

use control::{Duration, Time};
use fuzz::transfer::{Judge, Parts, Shape};
use libfuzzer_sys::fuzz_target;
use packet::{Interest, LpHeader, LpPacket, NackReason};
use rangemap::RangeSet;
use std::cell::RefCell;
use std::collections::VecDeque;
use transport::fetch::{Fetch, Status};
use transport::publish::Publish;

/// Enough segments for a manifest of two levels.
const SHAPE: Shape = Shape { segment: 16, size: 20 * 16 - 5, fanout: 6 };
/// Earlier answers that can come again.
const REPLAYS: usize = 32;
/// More than any fetch of the object takes, once answers are honest.
const TURNS: usize = 20_000;

/// The next event. The first byte's low three bits choose, the rest of it is `n`.
enum Event<'a> {
    /// The producer answers n + 1 Interests.
    Honest(usize),
    /// Another producer's object of the same name answers n + 1 Interests.
    Forged(usize),
    /// The producer's answer is changed: the place in two bytes, what is done to it in one.
    Damaged(usize, u8),
    /// An unknown peer's frame: its length in two bytes, then the frame.
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

/// Segments of an earlier transfer, chosen by the input's first byte.
fn resume(how: u8) -> RangeSet<u64> {
    let in_order = how & 1 == 1;
    let mut segments = RangeSet::new();
    match how >> 2 & 15 {
        15 => {}
        11..15 => segments.insert(0..14),
        7..11 => segments.insert(5..20),
        // Where segments come in order, a run in the middle is of no use.
        _ if in_order => segments.extend([0..3, 9..20]),
        _ => segments.insert(6..16),
    }
    segments
}

struct Network {
    now: Time,
    fetch: Fetch,
    judge: Judge,
    waiting: VecDeque<Vec<u8>>,
    earlier: VecDeque<Vec<u8>>,
}

impl Network {
    fn new(how: u8, parts: &Parts) -> Network {
        let in_order = how & 1 == 1;
        let mut config = parts.config();
        config.in_order = in_order;
        // Long enough for every repetition, short enough for many inputs.
        config.patience = Duration::from_secs(5);
        Network {
            now: Time::ZERO,
            fetch: Fetch::new(config, parts.controller(0)),
            judge: parts.judge(in_order, resume(how)),
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
    static PARTS: RefCell<Parts> = Parts::new(SHAPE, &["cubic"]).into();
}

fuzz_target!(|input: &[u8]| {
    PARTS.with_borrow_mut(|parts| run(input, parts));
});

fn run(input: &[u8], parts: &mut Parts) {
    let Some((how, mut input)) = input.split_first() else { return };
    let mut network = Network::new(*how, parts);
    let Parts { honest, forger, .. } = parts;
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
        assert!(network.judge.is_complete(), "done without all of it");
    }
}
