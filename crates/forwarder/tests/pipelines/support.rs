//! One forwarder with faces to poke at, small strategies, and packets.

use control::{Action, Duration, Size, Strategy, StrategyCx, Time};
use forwarder::{
    DropReason, FaceConfig, FaceId, Forwarder, ForwarderConfig, Scope, Transmit, Wire,
};
use packet::{Bytes, DataBuf, Interest, InterestBuf, LpHeader, LpPacket, NackReason, Name, tlv};

/// Sends to the cheapest next hop; tries the next one after a Nack, and after a loss that the link
/// reports.
pub struct Cheapest;

impl Cheapest {
    fn untried(s: &StrategyCx<'_, '_>) -> Option<Action> {
        let downstream = |face| s.downstreams.iter().any(|d| d.face == face);
        let untried = |face| s.upstream(face).is_none() && !downstream(face);
        s.next_hops.iter().find(|hop| untried(hop.face)).map(|hop| Action::Forward(hop.face))
    }
}

impl Strategy for Cheapest {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let pending = s.downstreams.iter().any(|d| d.face != s.ingress) && !s.upstreams.is_empty();
        match s.next_hops.first() {
            None => s.act(Action::Nack(NackReason::NoRoute)),
            Some(_) if pending => {}
            Some(hop) => s.act(Action::Forward(hop.face)),
        }
    }

    fn on_nack(&mut self, s: &mut StrategyCx<'_, '_>, reason: NackReason) {
        s.act(Cheapest::untried(s).unwrap_or(Action::Nack(reason)));
    }

    fn on_dropped_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        s.out.extend(Cheapest::untried(s));
    }
}

/// Sends to every next hop.
pub struct Everyone;

impl Strategy for Everyone {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        for hop in s.next_hops {
            s.out.push(Action::Forward(hop.face));
        }
    }
}

/// A packet that a face sent, taken out of its frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub header: LpHeader,
    pub packet: Vec<u8>,
}

impl Sent {
    pub fn interest(&self) -> Interest<'_> {
        Interest::decode(&self.packet).unwrap()
    }
}

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

pub fn interest(uri: &str, nonce: u32) -> InterestBuf {
    InterestBuf { nonce: Some(nonce), ..InterestBuf::new(name(uri)) }
}

pub fn data(uri: &str, content: &[u8]) -> Bytes {
    DataBuf::new(name(uri), content.to_vec()).encode_digest()
}

pub fn fresh_data(uri: &str, freshness_ms: u64) -> Bytes {
    let mut data = DataBuf::new(name(uri), Bytes::from_static(b"fresh"));
    data.freshness_ms = Some(freshness_ms);
    data.encode_digest()
}

pub fn frame(header: &LpHeader, packet: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    header.encode_into(packet, &mut out);
    out
}

/// A forwarder and the time.
pub struct Bench {
    pub fw: Forwarder,
    pub now: Time,
}

impl Bench {
    pub fn new() -> Bench {
        Bench::with(ForwarderConfig::new(Box::new(Cheapest)))
    }

    pub fn with(config: ForwarderConfig) -> Bench {
        Bench { fw: Forwarder::new(config), now: Time(1_000_000_000) }
    }

    /// A non-local point-to-point face with a stream below it.
    pub fn face(&mut self) -> FaceId {
        self.face_with(FaceConfig::default())
    }

    pub fn local(&mut self) -> FaceId {
        self.face_with(FaceConfig { scope: Scope::Local, ..FaceConfig::default() })
    }

    pub fn face_with(&mut self, mut config: FaceConfig) -> FaceId {
        config.name = format!("face {}", self.fw.faces().len());
        self.fw.add_face(self.now, config)
    }

    pub fn route(&mut self, prefix: &str, face: FaceId) {
        self.route_cost(prefix, face, 0);
    }

    pub fn route_cost(&mut self, prefix: &str, face: FaceId, cost: u64) {
        self.fw.add_route(face, name(prefix).as_ref(), cost).unwrap();
    }

    pub fn receive(&mut self, face: FaceId, frame: &[u8]) {
        self.fw.receive(self.now, face, Wire::Borrowed(frame));
    }

    pub fn ask(&mut self, face: FaceId, interest: &InterestBuf) {
        self.receive(face, &interest.encode());
    }

    /// Passes time, calling the forwarder whenever it wants to be called.
    pub fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(at) = self.fw.next_deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.fw.on_deadline(self.now);
        }
        self.now = end;
    }

    /// The frames that a face sends now, each packet's together.
    pub fn transmissions(&mut self, face: FaceId) -> Vec<(Transmit, Vec<u8>)> {
        let mut all = Vec::new();
        loop {
            let mut out = Vec::new();
            let Some(transmit) = self.fw.poll_transmit(self.now, face, &mut out) else { break };
            assert_eq!(transmit.len, out.len());
            all.push((transmit, out));
        }
        all
    }

    /// The packets that a face on a stream sends now.
    pub fn sent(&mut self, face: FaceId) -> Vec<Sent> {
        let frames = self.transmissions(face);
        frames.iter().map(|(_, frame)| unframe(frame)).collect()
    }

    /// The one packet that a face sends now.
    pub fn one(&mut self, face: FaceId) -> Sent {
        let mut sent = self.sent(face);
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    /// The packets that a face dropped for this reason.
    pub fn drops(&self, face: FaceId, reason: DropReason) -> u64 {
        self.fw.counters(face).unwrap().drops.of(reason)
    }

    /// Asserts that the books of a face's queues balance.
    pub fn check_books(&self, face: FaceId) {
        let q = &self.fw.counters(face).unwrap().queue;
        let mut accounted = self.fw.queued(face).unwrap();
        accounted += &q.sent;
        accounted += &q.dropped;
        assert_eq!(q.offered, accounted, "{q:?}");
    }
}

/// Takes a packet out of its frame.
pub fn unframe(frame: &[u8]) -> Sent {
    assert_eq!(tlv::frame_len(frame, 1 << 20).unwrap(), Some(frame.len()));
    let lp = LpPacket::decode(frame).unwrap();
    Sent { header: LpHeader::from(&lp), packet: lp.fragment().unwrap_or_default().to_vec() }
}

/// A queue bound, for faces.
pub fn queue(bytes: u64) -> Size {
    Size(bytes)
}
