//! The residence time of Interests: asked for, stated, and never for more than one link.

use crate::support::{Bench, data, frame, interest, ms};
use control::{Cx, Duration, InterestMeta, LinkView, NodeView, Rate, Stamper};
use forwarder::{FaceConfig, FaceId, FaceParts, Medium, RateIn};
use packet::options::ResidenceTime;
use packet::{HopOptions, LpHeader};

/// A part that does nothing: only links with parts measure.
struct Silent;

impl Stamper for Silent {
    fn on_interest_out(
        &mut self,
        _cx: &mut Cx<'_>,
        _view: &LinkView,
        _node: &dyn NodeView,
        _interest: &mut InterestMeta,
    ) {
    }
}

fn upstream(b: &mut Bench, rate_in: RateIn, has_parts: bool) -> FaceId {
    let stamper: Option<Box<dyn Stamper>> = has_parts.then(|| Box::new(Silent) as _);
    let face = b.face_with(FaceConfig {
        medium: Medium { rate_in, ..Medium::default() },
        parts: FaceParts { stamper, ..FaceParts::default() },
        ..FaceConfig::default()
    });
    b.route("/a", face);
    face
}

fn with(residence: ResidenceTime) -> LpHeader {
    let mut options = HopOptions::new();
    options.set(&residence);
    LpHeader { options, ..LpHeader::default() }
}

#[test]
fn a_face_that_measures_asks_its_neighbour_and_no_other_face_does() {
    for (rate_in, has_parts, asks) in [
        (RateIn::Measured, true, true),
        (RateIn::Measured, false, false),
        (RateIn::Known(Rate(9)), true, false),
        (RateIn::Symmetric, true, false),
    ] {
        let mut b = Bench::new();
        let (d, u) = (b.face(), upstream(&mut b, rate_in, has_parts));
        // The downstream's own question, and what makes no sense in an Interest, go no further.
        for (n, question) in [ResidenceTime::ASKED, ResidenceTime::of(5_000_000)].iter().enumerate()
        {
            let asked = interest(&format!("/a/{n}"), 1);
            b.receive(d, &frame(&with(*question), &asked.encode()));
            let asked = asks.then_some(ResidenceTime::ASKED);
            assert_eq!(b.one(u).header.options.get(), asked, "{rate_in:?}");
        }
    }
}

#[test]
fn data_state_the_time_in_this_node_to_a_downstream_that_asked() {
    for rate_in in [RateIn::Measured, RateIn::Symmetric] {
        let mut b = Bench::new();
        let (asks, does_not, u) = (b.face(), b.face(), upstream(&mut b, rate_in, true));
        b.receive(asks, &frame(&with(ResidenceTime::ASKED), &interest("/a/1", 1).encode()));
        b.pass(ms(3));
        b.ask(does_not, &interest("/a/1", 2));
        b.pass(ms(4));
        // The upstream states its own time, although it was not asked in one case.
        b.receive(u, &frame(&with(ResidenceTime::of(1_000_000)), &data("/a/1", b"x")));
        let stated = Some(ResidenceTime::of(Duration::from_millis(7).0));
        assert_eq!(b.one(asks).header.options.get(), stated);
        assert_eq!(b.one(does_not).header.options.get::<ResidenceTime>(), None);
        // From the content store.
        b.receive(asks, &frame(&with(ResidenceTime::ASKED), &interest("/a/1", 3).encode()));
        assert_eq!(b.one(asks).header.options.get(), Some(ResidenceTime::of(0)));
    }
}

#[test]
fn the_rate_of_a_link_is_that_of_the_data_which_wait_there() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), upstream(&mut b, RateIn::Measured, true));
    // Each millisecond an Interest; the answers come 10 ms later, then ever later: a millisecond
    // is too little for one. The neighbour takes 200 ms more for each.
    let (mut waiting, mut due) = (std::collections::VecDeque::new(), b.now);
    for n in 0..2000_u64 {
        b.pass(ms(1));
        b.ask(d, &interest(&format!("/a/{n}"), n as u32));
        due = (b.now + ms(210)).max(due + Duration::from_micros(if n < 500 { 1000 } else { 1250 }));
        waiting.push_back((due, n));
        while let Some((_, n)) = waiting.pop_front_if(|(due, _)| *due <= b.now) {
            let answer = data(&format!("/a/{n}"), &[0; 900]);
            b.receive(u, &frame(&with(ResidenceTime::of(200_000_000)), &answer));
        }
    }
    let rate = b.fw.link_view(b.now, u).unwrap().rate_in.0 as f64;
    // 930 bytes in 1.25 ms, of which a fifth is not stated while they wait.
    let brought = 8.0 * data("/a/1000", &[0; 900]).len() as f64 / 1.25e-3;
    assert!((0.78..0.86).contains(&(rate / brought)), "{rate} of {brought}");
}
