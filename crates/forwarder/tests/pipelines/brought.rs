//! The stamper of an upstream face and the packets of its link; the strategies' view of links.

use crate::support::{Bench, Cheapest, data, frame, interest, ms};
use control::{
    Action, Cx, DataMeta, Duration, Flow, InterestMeta, LinkView, NodeView, Offer, Rate, Released,
    Shaper, Size, Stage, Stamper, Strategy, StrategyCx, Time,
};
use forwarder::{FaceConfig, FaceId, FaceParts, ForwarderConfig, Medium, RateIn};
use packet::{HopOptions, LpHeader, NackReason};
use std::sync::{Arc, Mutex};

const OUT: u32 = 944;
const STAMP: u32 = 948;
const OTHER: u32 = 952;

/// The calls of the stamper.
#[derive(Default)]
struct Recorded {
    /// Flow, segment and expected bytes of Interests.
    out: Vec<(Flow, u64, Size)>,
    /// Flow, bytes and time of Data.
    data: Vec<(Flow, Size, Duration)>,
    nacks: Vec<Flow>,
}

#[derive(Clone, Default)]
struct Toll(Arc<Mutex<Recorded>>);

impl Stamper for Toll {
    fn on_interest_out(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        interest: &mut InterestMeta,
    ) {
        interest.options.set_raw(OUT, b"out");
        let reported = (interest.flow, interest.segment, interest.expected);
        self.0.lock().unwrap().out.push(reported);
    }

    fn on_data_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        data: &mut DataMeta,
        since_release: Duration,
    ) {
        data.options.set_raw(STAMP, b"data");
        data.mark = 3;
        self.0.lock().unwrap().data.push((data.flow, data.size, since_release));
    }

    fn on_nack_in(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        flow: Flow,
        options: &mut HopOptions,
    ) {
        options.set_raw(STAMP, b"nack");
        self.0.lock().unwrap().nacks.push(flow);
    }
}

/// Rejects at once, or holds and rejects when its time has come.
struct Refusing {
    at: Option<Time>,
    held: Vec<InterestMeta>,
}

impl Shaper for Refusing {
    fn stage(&self) -> Stage {
        Stage::Departure
    }

    fn offer(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _other: &LinkView,
        interest: InterestMeta,
    ) -> Offer {
        if self.at.is_none() {
            return Offer::Rejected(interest);
        }
        self.held.push(interest);
        Offer::Held
    }

    fn release(&mut self, cx: &mut Cx<'_>, _view: &LinkView) -> Option<Released> {
        self.at.filter(|at| *at <= cx.now)?;
        self.held.pop().map(Released::Rejected)
    }

    fn next_release(&self) -> Option<Time> {
        self.at
    }
}

fn tolled(b: &mut Bench, toll: &Toll, shaper: Option<Box<dyn Shaper>>) -> (FaceId, FaceId) {
    let stamper: Option<Box<dyn Stamper>> = Some(Box::new(toll.clone()));
    let d = b.face();
    let u = b.face_with(FaceConfig {
        parts: FaceParts { stamper, shaper, ..FaceParts::default() },
        ..FaceConfig::default()
    });
    b.route("/a", u);
    (d, u)
}

#[test]
fn stamps_on_data_go_downstream_and_not_into_the_store() {
    let (mut b, toll) = (Bench::new(), Toll::default());
    let (d, u) = tolled(&mut b, &toll, None);
    b.ask(d, &interest("/a/seg=5", 1));
    assert_eq!(b.one(u).header.options.get_raw(OUT), Some(&b"out"[..]));
    b.pass(ms(20));
    let answer = data("/a/seg=5", b"x");
    let mut options = HopOptions::new();
    options.set_raw(OTHER, b"upstream");
    b.receive(u, &frame(&LpHeader { options, congestion_mark: 5, ..<_>::default() }, &answer));
    let sent = b.one(d);
    assert_eq!(sent.header.options.get_raw(STAMP), Some(&b"data"[..]));
    assert_eq!(sent.header.options.get_raw(OTHER), Some(&b"upstream"[..]));
    assert_eq!(sent.header.congestion_mark, 5, "a mark is not taken back");
    let reported = std::mem::take(&mut *toll.0.lock().unwrap());
    let flow = reported.out[0].0;
    assert_eq!(reported.out, [(flow, 5, Size(8192))]);
    assert_eq!(reported.data, [(flow, Size(answer.len() as u64), ms(20))]);
    // From the content store it comes without.
    b.ask(d, &interest("/a/seg=5", 2));
    let sent = b.one(d);
    assert!(sent.header.options.is_empty() && sent.header.congestion_mark == 0);
}

#[test]
fn unsolicited_data_is_not_stamped() {
    let (mut b, toll) = (Bench::new(), Toll::default());
    let (d, u) = tolled(&mut b, &toll, None);
    b.receive(u, &data("/a/seg=5", b"x"));
    assert!(toll.0.lock().unwrap().data.is_empty() && b.sent(d).is_empty());
}

#[test]
fn a_nack_goes_down_with_its_options_and_the_stamp() {
    let (mut b, toll) = (Bench::new(), Toll::default());
    let (d, u) = tolled(&mut b, &toll, None);
    b.ask(d, &interest("/a", 1));
    let nack = |nonce| {
        let mut options = HopOptions::new();
        options.set_raw(OTHER, b"upstream");
        let header =
            LpHeader { nack: Some(NackReason::Congestion), options, ..LpHeader::default() };
        frame(&header, &interest("/a", nonce).encode())
    };
    b.receive(u, &nack(99));
    assert!(b.sent(d).is_empty(), "for another Interest");
    b.receive(u, &nack(1));
    let sent = b.one(d);
    assert_eq!(sent.header.nack, Some(NackReason::Congestion));
    assert_eq!(sent.header.options.get_raw(STAMP), Some(&b"nack"[..]));
    assert_eq!(sent.header.options.get_raw(OTHER), Some(&b"upstream"[..]));
}

#[test]
fn a_rejection_by_the_faces_own_shaper_is_stamped_like_a_nack() {
    for wait in [None, Some(ms(30))] {
        let (mut b, toll) = (Bench::new(), Toll::default());
        let at = wait.map(|wait| b.now + wait);
        let (d, _) = tolled(&mut b, &toll, Some(Box::new(Refusing { at, held: Vec::new() })));
        b.ask(d, &interest("/a", 1));
        if wait.is_some() {
            assert!(b.sent(d).is_empty());
            b.pass(ms(30));
        }
        let sent = b.one(d);
        assert_eq!(sent.header.nack, Some(NackReason::Congestion));
        assert_eq!(sent.header.options.get_raw(STAMP), Some(&b"nack"[..]), "{wait:?}");
        assert_eq!(sent.header.options.get_raw(OUT), None, "the Interest's own do not go down");
    }
}

/// Forwards to the fastest next hop, and notes the rates.
struct Fastest(Arc<Mutex<Vec<Option<Rate>>>>);

impl Strategy for Fastest {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        let rate = |face| s.links.view(face).map(|view| view.rate_out);
        let rates = s.next_hops.iter().map(|hop| rate(hop.face));
        self.0.lock().unwrap().extend(rates);
        self.0.lock().unwrap().push(rate(1234));
        let fastest = s.next_hops.iter().max_by_key(|hop| rate(hop.face)).map(|hop| hop.face);
        s.out.extend(fastest.map(Action::Forward));
    }
}

#[test]
fn a_strategy_sees_the_links_of_its_next_hops() {
    let rates: Arc<Mutex<Vec<Option<Rate>>>> = Arc::default();
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Fastest(rates.clone()))));
    let d = b.face();
    let [slow, fast] = [1, 10].map(|mbps| {
        b.face_with(FaceConfig {
            medium: Medium { rate: Some(Rate::from_mbps(mbps)), ..Medium::default() },
            ..FaceConfig::default()
        })
    });
    b.route_cost("/a", slow, 0);
    b.route_cost("/a", fast, 1);
    b.ask(d, &interest("/a", 1));
    assert_eq!((b.sent(slow).len(), b.sent(fast).len()), (0, 1));
    let expected = [Some(Rate::from_mbps(1)), Some(Rate::from_mbps(10)), None];
    assert_eq!(*rates.lock().unwrap(), expected);
}

#[test]
fn faces_without_a_stamper_pass_on_what_came() {
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Cheapest)));
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    b.ask(d, &interest("/a", 1));
    let mut options = HopOptions::new();
    options.set_raw(STAMP, b"data");
    b.receive(u, &frame(&LpHeader { options, ..LpHeader::default() }, &data("/a", b"x")));
    assert_eq!(b.one(d).header.options.get_raw(STAMP), Some(&b"data"[..]));
}

/// The expected Data of an Interest has the size of its flow's last Data, with the header of its
/// frame, which takes time on the link too.
#[test]
fn an_interest_is_expected_to_bring_a_whole_frame() {
    let (mut b, toll) = (Bench::new(), Toll::default());
    let (d, u) = tolled(&mut b, &toll, None);
    b.ask(d, &interest("/a/seg=1", 1));
    let mut options = HopOptions::new();
    options.set_raw(OTHER, &[7; 40]);
    let came = frame(&LpHeader { options, ..LpHeader::default() }, &data("/a/seg=1", b"x"));
    b.receive(u, &came);
    b.ask(d, &interest("/a/seg=2", 2));
    assert_eq!(toll.0.lock().unwrap().out[1].2, Size(came.len() as u64));
}

#[test]
fn link_views_show_a_changed_incoming_rate() {
    let mut b = Bench::new();
    let u = b.face_with(FaceConfig {
        medium: Medium { rate: Some(Rate(80)), ..Medium::default() },
        ..FaceConfig::default()
    });
    assert_eq!(b.fw.link_view(b.now, u).unwrap().rate_in, Rate(80), "taken as symmetric");
    b.fw.set_rate_in(u, RateIn::Known(Rate(9)));
    let view = b.fw.link_view(b.now, u).unwrap();
    assert_eq!((view.rate_in, view.rate_out), (Rate(9), Rate(80)));
}
