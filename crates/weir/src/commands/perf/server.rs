//! `weir perf server`

use super::made::Maker;
use super::name::{DESCRIPTION, Run, Wanted, base, wanted};
use crate::cli::perf::PerfServerArgs;
use crate::exit::{Failure, Kind};
use crate::identity::{self, Signing};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress, Recent};
use crate::signals::Stop;
use client::parts::Limit;
use control::{Duration, Time};
use net::client::{Address, Connection, Endpoint};
use packet::interest::DEFAULT_LIFETIME_MS;
use packet::options::{Range, SegmentBits, answer};
use packet::{Bytes, HopOptions, Interest, LpHeader, LpPacket, NackReason, Name};
use schemars::JsonSchema;
use security::Signer;
use serde::Serialize;
use std::collections::VecDeque;

/// The interval at which signals and the progress are looked at.
const TICK: Duration = Duration::from_millis(250);
/// The maximum number of waiting answers; more Interests are dropped. Answers are made when they
/// are sent, so a waiting one is small.
const MOST_WAITING: usize = 16_384;
/// The same for Nacks, which contain the Interest.
const MOST_NACKS: usize = 512;

/// A line of `weir perf server`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// Serving begins.
    Begin(Beginning),
    /// Serving has ended.
    End(Counts),
}

/// The line when serving begins.
#[derive(JsonSchema, Serialize)]
pub struct Beginning {
    /// The name that is served.
    serving: String,
}

/// The counters of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counts {
    /// Interests answered with Data.
    answered: u64,
    /// Bytes of content sent.
    content_bytes: u64,
    /// Requests below its name for packets that do not exist: answered with a Nack.
    refused: u64,
    /// Interests for other names.
    unknown: u64,
    /// Requests dropped because too many answers were waiting, they waited too long, or the
    /// connection broke.
    dropped: u64,
    /// Frames that could not be decoded as an Interest.
    malformed: u64,
}

/// A waiting answer.
struct Waiting {
    header: LpHeader,
    answer: Answer,
    /// The time at which it is dropped: half of the Interest's lifetime is over. Otherwise a server
    /// with more requests than its rate allows would send only answers to expired Interests.
    overdue: Time,
}

enum Answer {
    Data(Run, Wanted),
    Nack(Bytes),
}

/// Answers the Interests of all runs. It keeps no state of a run between its Interests.
struct Server {
    base: Name,
    maker: Maker,
    /// The latest run, and the name of its object.
    latest: Option<(Run, Name)>,
    packet: Vec<u8>,
    waiting: VecDeque<Waiting>,
    nacks: usize,
    limit: Limit,
    counts: Counts,
}

impl Server {
    fn new(base: Name, signer: Signer, limit: Limit) -> Server {
        let (maker, waiting, counts) = (Maker::new(signer), VecDeque::new(), Counts::default());
        let (latest, packet) = (None, Vec::new());
        Server { base, maker, latest, packet, waiting, nacks: 0, limit, counts }
    }

    fn push(&mut self, header: LpHeader, answer: Answer, overdue: Time) {
        let is_nack = matches!(answer, Answer::Nack(_));
        if self.waiting.len() >= MOST_WAITING || is_nack && self.nacks >= MOST_NACKS {
            self.counts.dropped += 1;
            return;
        }
        self.nacks += usize::from(is_nack);
        self.waiting.push_back(Waiting { header, answer, overdue });
    }

    fn nack(&mut self, mut header: LpHeader, interest: &[u8], overdue: Time) {
        header.nack = Some(NackReason::None);
        self.push(header, Answer::Nack(Bytes::copy_from_slice(interest)), overdue);
    }

    /// Drops the answers at the front that have waited too long.
    fn drop_overdue(&mut self, now: Time) {
        while self.waiting.front().is_some_and(|waiting| waiting.overdue <= now) {
            if let Some(Waiting { answer: Answer::Nack(_), .. }) = self.waiting.pop_front() {
                self.nacks -= 1;
            }
            self.counts.dropped += 1;
        }
    }

    /// Queues an answer for each segment of a range that exists, and one Nack for the others.
    fn receive_range(
        &mut self,
        run: Run,
        first: u64,
        range: &Range,
        asked: &HopOptions,
        header: &LpHeader,
        interest: &[u8],
        overdue: Time,
    ) {
        let mut missing = SegmentBits::NONE;
        for at in range.wanted().iter() {
            let segment = first.saturating_add(u64::from(at));
            if segment < run.segments() {
                let header = LpHeader { options: answer(asked, Some(0)), ..header.clone() };
                self.push(header, Answer::Data(run, Wanted::Segment(segment)), overdue);
            } else {
                missing.insert(at);
            }
        }
        if let Some(range) = Range::of(missing) {
            self.counts.refused += u64::from(missing.count());
            let mut header = LpHeader { options: answer(asked, None), ..header.clone() };
            header.options.set(&range);
            self.nack(header, interest, overdue);
        }
    }

    /// Drops the waiting answers: the connection broke.
    fn forget_waiting(&mut self) {
        self.counts.dropped += self.waiting.len() as u64;
        self.waiting.clear();
        self.nacks = 0;
    }

    fn encode_next(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(Waiting { header, answer, .. }) = self.waiting.pop_front() else { return false };
        match answer {
            Answer::Nack(interest) => {
                self.nacks -= 1;
                header.encode_into(&interest, out);
            }
            Answer::Data(run, wanted) => {
                let latest = self.latest.take().filter(|(latest, _)| *latest == run);
                let (_, object) = latest.unwrap_or_else(|| (run, run.object(&self.base)));
                self.packet.clear();
                let content = self.maker.encode(&run, wanted, object.as_ref(), &mut self.packet);
                header.encode_into(&self.packet, out);
                self.latest = Some((run, object));
                self.counts.answered += 1;
                self.counts.content_bytes += content as u64;
            }
        }
        true
    }
}

impl Endpoint for Server {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else {
            self.counts.malformed += 1;
            return;
        };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else {
            self.counts.malformed += 1;
            return;
        };
        let name = interest.name();
        if !name.starts_with(self.base.as_ref()) {
            self.counts.unknown += 1;
            return;
        }
        let asked = if link.has_options() { link.to_options() } else { HopOptions::new() };
        let pit_token = link.pit_token().unwrap_or_default().into();
        let header = LpHeader { pit_token, ..LpHeader::default() };
        let lifetime = interest.lifetime_ms().min(DEFAULT_LIFETIME_MS);
        let overdue = now + Duration::from_micros(500 * lifetime);
        let found = wanted(name, self.base.len(), interest.can_be_prefix());
        let object_len = name.prefix(self.base.len() + DESCRIPTION + 1).as_bytes().len();
        match found.filter(|(run, _)| self.maker.fits(run, object_len)) {
            Some((run, Wanted::Segment(first))) if let Some(range) = asked.get::<Range>() => {
                self.receive_range(run, first, &range, &asked, &header, fragment, overdue);
            }
            Some((run, wanted)) => {
                let options = answer(&asked, Some(0));
                self.push(LpHeader { options, ..header }, Answer::Data(run, wanted), overdue);
            }
            None => {
                self.counts.refused += 1;
                let options = answer(&asked, None);
                self.nack(LpHeader { options, ..header }, fragment, overdue);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        self.drop_overdue(now);
        let sent = self.limit.allows(now) && self.encode_next(out);
        self.limit.passed(now, out.len() - before);
        sent
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.limit.next(now).filter(|_| !self.waiting.is_empty())
    }

    fn on_deadline(&mut self, _now: Time) {}
}

/// Answers until interrupted. Waits for a forwarder that goes away.
pub fn run(args: &PerfServerArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let base = base(&args.name);
    let signer = match &args.sign {
        Some(_) => {
            let Signing { signer, .. } = identity::signing(args.sign.as_ref(), &base)?;
            signer
        }
        None => Signer::Digest,
    };
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    connection.register(&base)?;
    let mut server = Server::new(base.clone(), signer, Limit::new(args.limit_rate));
    if args.json {
        output::json(&Printed::Begin(Beginning { serving: base.to_string() }))?;
    } else if !args.quiet {
        output::note(&format!("serving {base}; Ctrl-C ends it"));
    }
    let progress = Progress::new("sent", args.quiet);
    let shown = Some(&progress).filter(|_| !args.quiet);
    let outage = Outage::new("weir perf", &stop, shown, connection.now());
    let served = serve(&mut connection, &mut server, &progress, outage, &stop);
    connection.unregister(&base).ok();
    progress.end();
    served?;
    let Counts { answered, content_bytes, .. } = server.counts;
    if args.json {
        return output::json(&Printed::End(server.counts));
    }
    if args.quiet {
        return Ok(());
    }
    let size = control::Size(content_bytes);
    output::result(&format!("sent {answered} Data packets with {size} of content"))
}

fn serve(
    connection: &mut Connection,
    server: &mut Server,
    progress: &Progress,
    mut outage: Outage<'_>,
    stop: &Stop,
) -> Result<(), Failure> {
    let base = server.base.clone();
    let (mut tick, mut recent) = (connection.now(), Recent::default());
    progress.begin_endless();
    while !stop.requested() {
        let before = server.counts.answered;
        if let Err(lost) = connection.turn(server, tick + TICK) {
            server.forget_waiting();
            let outcome =
                outage.end(connection, lost, None, &mut |connection| connection.register(&base))?;
            if outcome != Outcome::Back {
                return Ok(());
            }
        }
        if server.counts.answered > before {
            outage.was_useful();
        }
        let now = connection.now();
        if now >= tick + TICK {
            tick = now;
            let sent = server.counts.content_bytes;
            progress.sent(sent, recent.look(now, sent));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Data, InterestBuf};

    const RUN: &str = "/a/32=perf/0123456789abcdef/1000/2500";

    fn server() -> Server {
        Server::new(base(&"/a".parse().unwrap()), Signer::Digest, Limit::new(None))
    }

    fn frame(name: &str, options: HopOptions) -> Vec<u8> {
        let (mut interest, mut frame) = (Vec::new(), Vec::new());
        let buf = InterestBuf { nonce: Some(7), ..InterestBuf::new(name.parse().unwrap()) };
        buf.encode_into(&mut interest);
        let pit_token = [1, 2, 3].as_slice().into();
        LpHeader { pit_token, options, ..LpHeader::default() }.encode_into(&interest, &mut frame);
        frame
    }

    /// The names of the Data packets of all answers, and "Nack" for each Nack.
    fn answers(server: &mut Server) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let mut frame = Vec::new();
            if !server.poll_transmit(Time::ZERO, &mut frame) {
                return all;
            }
            let link = LpPacket::decode(&frame).unwrap();
            assert_eq!(link.pit_token(), Some(&[1, 2, 3][..]));
            all.push(match link.nack() {
                Some(_) => "Nack".to_owned(),
                None => Data::decode(link.fragment().unwrap()).unwrap().name().to_string(),
            });
        }
    }

    #[test]
    fn each_interest_has_one_answer() {
        let mut server = server();
        for name in [&format!("{RUN}/v=1/seg=2"), &format!("{RUN}/v=1/seg=3"), "/a/32=perf/x", "/b"]
        {
            server.receive(Time::ZERO, &frame(name, HopOptions::new()));
        }
        server.receive(Time::ZERO, b"HTTP/1.1 400");
        let segment: Name = format!("{RUN}/v=1/seg=2").parse().unwrap();
        assert_eq!(answers(&mut server), [&segment.to_string(), "Nack", "Nack"]);
        let counts = server.counts;
        assert_eq!((counts.answered, counts.content_bytes, counts.refused), (1, 500, 2));
        assert_eq!((counts.unknown, counts.malformed, counts.dropped), (1, 1, 0));
    }

    #[test]
    fn a_range_has_an_answer_for_each_segment_and_a_nack_for_the_rest() {
        let mut server = server();
        let mut options = HopOptions::new();
        options.set(&Range::whole(4).unwrap());
        server.receive(Time::ZERO, &frame(&format!("{RUN}/v=1/seg=1"), options));
        let name = |n: u8| format!("{RUN}/v=1/seg={n}").parse::<Name>().unwrap().to_string();
        assert_eq!(answers(&mut server), [name(1), name(2), "Nack".to_owned()]);
        assert_eq!(server.counts.refused, 2);
    }

    #[test]
    fn an_answer_is_dropped_when_half_of_the_lifetime_is_over() {
        let mut server = server();
        for name in [&format!("{RUN}/v=1/seg=0"), "/a/32=perf/x"] {
            server.receive(Time::ZERO, &frame(name, HopOptions::new()));
        }
        let half = Time::ZERO + Duration::from_secs(2);
        server.receive(half, &frame(&format!("{RUN}/v=1/seg=1"), HopOptions::new()));
        let mut frame = Vec::new();
        assert!(server.poll_transmit(half, &mut frame));
        assert!(!server.poll_transmit(half, &mut frame));
        assert_eq!((server.counts.answered, server.counts.dropped, server.nacks), (1, 2, 0));
    }

    #[test]
    fn waiting_answers_are_bounded() {
        let mut server = server();
        let segment = frame(&format!("{RUN}/v=1/seg=0"), HopOptions::new());
        for _ in 0..MOST_NACKS + 1 {
            server.receive(Time::ZERO, &frame("/a/32=perf/x", HopOptions::new()));
        }
        for _ in 0..MOST_WAITING {
            server.receive(Time::ZERO, &segment);
        }
        assert_eq!(server.waiting.len(), MOST_WAITING);
        assert_eq!(server.counts.dropped as usize, 1 + MOST_NACKS);
        server.forget_waiting();
        assert_eq!((answers(&mut server).len(), server.nacks), (0, 0));
    }
}
