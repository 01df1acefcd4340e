//! A forwarder with faces of unknown peers only: whatever they send, in whatever order and at
//! whatever time, the books balance and nothing grows beyond its bound.
//!
//! The input is a list of records: which face (and whether it answers instead), milliseconds that
//! pass before, length of the frame in two bytes, the frame.
#![no_main]

use control::{Action, Duration, Rate, Size, Strategy, StrategyCx, Time};
use forwarder::tables::{ContentStoreConfig, PitConfig};
use forwarder::{
    DropReason, FaceConfig, FaceId, Forwarder, ForwarderConfig, LinkType, Medium, QueueLimits,
    ReassemblyLimits, Scope, Traceroute, Wire,
};
use fuzz as _; // Its callbacks are linked.
use libfuzzer_sys::fuzz_target;
use packet::{DataBuf, Interest, LpHeader, LpPacket, NackReason, Name};

const ENTRIES: usize = 24;
const PER_FACE: usize = 10;
const STORE: usize = 40_000;
const QUEUE: u64 = 20_000;
const FACES: usize = 6;
/// The answer to the last Interest that the face was sent, instead of a frame.
const ANSWER: u8 = 0x80;

/// Sends everything everywhere and asks again later; where there is nowhere, says so.
struct Everyone;

impl Strategy for Everyone {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if s.next_hops.is_empty() {
            return s.act(Action::Nack(NackReason::NoRoute));
        }
        s.out.extend(s.next_hops.iter().map(|hop| Action::Forward(hop.face)));
        let later = s.cx.now + Duration::from_millis(50);
        s.act(Action::RetryAt(later));
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        s.act(Action::Nack(reason));
    }

    fn on_dropped_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        self.on_timer(s);
    }

    fn on_timer(&mut self, s: &mut StrategyCx<'_, '_>) {
        s.out.extend(s.next_hops.iter().map(|hop| Action::Forward(hop.face)));
    }
}

struct Bench {
    forwarder: Forwarder,
    now: Time,
    faces: Vec<(FaceId, Option<usize>)>,
    /// The Interest that each face was sent last.
    asked: Vec<Option<Vec<u8>>>,
}

impl Bench {
    fn new() -> Bench {
        let mut config = ForwarderConfig::new(Box::new(Everyone));
        config.pit = PitConfig { entries: ENTRIES, per_face: PER_FACE, ..PitConfig::default() };
        config.content_store = ContentStoreConfig { capacity: STORE, ..Default::default() };
        config.dead_nonces = 100;
        config.regions = vec!["/r/x".parse().expect("a name")];
        let mut forwarder = Forwarder::new(config);
        forwarder.set_traceroute(Some(Traceroute { name: None, rate: 10 }));
        let mut faces = Vec::new();
        for i in 0..FACES {
            let mtu = [None, None, Some(1400), Some(130), None, Some(300)][i];
            let face = FaceConfig {
                name: i.to_string(),
                scope: if i == 0 { Scope::Local } else { Scope::NonLocal },
                local_fields: i == 0,
                link_type: [LinkType::PointToPoint, LinkType::MultiAccess, LinkType::AdHoc]
                    [if i < 4 { 0 } else { i - 3 }],
                reassembly: ReassemblyLimits { packets: 3, bytes: 10_000, ..Default::default() },
                reliability: i == 3 || i == 5,
                medium: Medium {
                    mtu,
                    rate: (i == 2).then(|| Rate::from_mbps(1)),
                    ..Medium::default()
                },
                queues: QueueLimits {
                    data: Size(QUEUE),
                    interests: Size(QUEUE),
                    ..QueueLimits::default()
                },
                ..FaceConfig::default()
            };
            let id = forwarder.add_face(Time(0), face);
            faces.push((id, mtu));
            let prefix: Name =
                ["/", "/a", "/a/b", "/localhop", "/a", "/localhost"][i].parse().expect("a name");
            forwarder.add_route(id, prefix.as_ref(), i as u64).expect("room for a route");
        }
        Bench { forwarder, now: Time(0), faces, asked: vec![None; FACES] }
    }

    fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        while self.step(end) {}
        self.now = end;
    }

    /// Moves on to the next deadline, if that is not after `end`.
    fn step(&mut self, end: Time) -> bool {
        let Some(at) = self.forwarder.next_deadline().filter(|at| *at <= end) else { return false };
        self.now = self.now.max(at);
        self.forwarder.on_deadline(self.now);
        let next = self.forwarder.next_deadline();
        assert!(next.is_none_or(|next| next > self.now), "deadlines move forward");
        self.transmit();
        true
    }

    fn transmit(&mut self) {
        while let Some(face) = self.forwarder.poll_ready() {
            let mut out = Vec::new();
            while let Some(sent) = self.forwarder.poll_transmit(self.now, face, &mut out) {
                let i = self.faces.iter().position(|(id, _)| *id == face).expect("a face of ours");
                let mtu = self.faces[i].1.unwrap_or(usize::MAX);
                for frame in out.chunks(sent.segment.unwrap_or(sent.len)) {
                    assert!(frame.len() <= mtu);
                    let packet = LpPacket::decode(frame).expect("what is sent can be read");
                    if packet.frag_count() == 1 && packet.nack().is_none() {
                        self.asked[i] = packet.fragment().map(<[u8]>::to_vec);
                    }
                }
                out.clear();
            }
        }
    }

    fn answer(&mut self, i: usize) {
        let Some(asked) = self.asked[i].take() else { return };
        let Ok(interest) = Interest::decode(&asked) else { return };
        let data = DataBuf::new(interest.name().to_name(), asked.clone()).encode_digest();
        if data.len() <= packet::MAX_PACKET {
            let mut frame = Vec::new();
            LpHeader { congestion_mark: 1, ..LpHeader::default() }.encode_into(&data, &mut frame);
            self.forwarder.receive(self.now, self.faces[i].0, Wire::Borrowed(&frame));
        }
    }

    fn check(&self) {
        let (forwarder, stats) = (&self.forwarder, self.forwarder.stats());
        assert!(forwarder.pit().len() <= ENTRIES);
        assert!(
            forwarder.content_store().is_empty() || forwarder.content_store().memory() <= STORE
        );
        assert!(forwarder.dead_nonces().len() <= 100);
        let rejected = stats.drops.before_entry();
        let ended = stats.satisfied + stats.nacked + stats.expired;
        let pending = forwarder.pit().len() as u64;
        let hits = forwarder.content_store().counters().hits;
        // A full PIT rejects out-records too, and a nonce may make a packet too large, so that some
        // Interests are counted twice, but none is lost.
        assert!(
            stats.received.interests
                <= rejected
                    + hits
                    + stats.aggregated
                    + ended
                    + pending
                    + stats.drops.of(DropReason::TooBig)
        );
        for (face, _) in &self.faces {
            assert!(forwarder.pit().pending_of(*face) <= PER_FACE);
            let tally = forwarder.counters(*face).expect("a face of ours").queue;
            let queued = forwarder.queued(*face).expect("a face of ours");
            let mut accounted = queued;
            accounted += &tally.sent;
            accounted += &tally.dropped;
            assert_eq!(tally.offered, accounted);
            assert!(queued.bytes <= 2 * QUEUE);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let mut bench = Bench::new();
    let mut rest = input;
    while let [face, pause, high, low, tail @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (frame, later) = tail.split_at(len);
        rest = later;
        bench.pass(Duration::from_millis(u64::from(*pause)));
        let i = usize::from(*face & !ANSWER) % FACES;
        if *face & ANSWER == 0 {
            bench.forwarder.receive(bench.now, bench.faces[i].0, Wire::Borrowed(frame));
        } else {
            bench.answer(i);
        }
        bench.transmit();
        bench.check();
    }
    // Without new Interests there is nothing to wait for once none is pending.
    let end = bench.now + Duration::from_secs(200);
    while !bench.forwarder.pit().is_empty() && bench.step(end) {}
    assert!(bench.forwarder.pit().is_empty(), "every Interest ends");
    bench.check();
});
