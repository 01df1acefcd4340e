//! The residence time of Interests: asked for, stated, and never for more than one link.

use crate::support::{Bench, data, frame, interest, ms};
use control::{Cx, Duration, InterestMeta, LinkView, NodeView, Rate, Stamper};
use forwarder::{FaceConfig, FaceId, FaceParts, Medium, RateIn};
use packet::options::ResidenceTime;
use packet::{HopOptions, LpHeader};
use std::collections::BTreeMap;

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

/// A link whose answers take 10 ms and, after half a second, ever longer: an Interest leaves each
/// millisecond, which is too little for an answer. Besides, the neighbour has each for a while.
/// This ends before the meter finds that nothing waits less, since Interests do not leave less.
struct Full {
    /// For how many milliseconds it has one, and the time that it reports.
    has: fn(u64) -> u64,
    reports: fn(u64) -> u64,
    /// The time between two answers, in microseconds.
    apart: u64,
    is_repeated: bool,
}

impl Default for Full {
    fn default() -> Full {
        Full { has: |_| 200, reports: |_| 200, apart: 1250, is_repeated: false }
    }
}

impl Full {
    /// The rate that is measured, as a part of what the link brings; 0 if it is unknown.
    fn rate(&self) -> f64 {
        let mut b = Bench::new();
        let (d, u) = (b.face(), upstream(&mut b, RateIn::Measured, true));
        // By the times at which they come: a free link's may overtake each other.
        let mut answers = BTreeMap::new();
        let (mut due, mut bits) = (b.now, 0.0);
        for n in 0..1200_u64 {
            b.pass(ms(1));
            b.ask(d, &interest(&format!("/a/{n}"), n as u32));
            if self.is_repeated {
                b.ask(d, &interest(&format!("/a/{n}"), 5000 + n as u32));
            }
            let apart = Duration::from_micros(if n < 500 { 1000 } else { self.apart });
            due = (b.now + ms(10)).max(due + apart);
            answers.insert((due + ms((self.has)(n)), n), (self.reports)(n));
            while let Some(first) = answers.first_entry()
                && first.key().0 <= b.now
            {
                let ((_, n), reports) = first.remove_entry();
                let answer = data(&format!("/a/{n}"), &[0; 900]);
                let answer = frame(&with(ResidenceTime::of(ms(reports).0)), &answer);
                b.receive(u, &answer);
                bits = 8.0 * answer.len() as f64;
            }
        }
        let brought = bits / self.apart as f64 * 1e6;
        b.fw.link_view(b.now, u).unwrap().rate_in.0 as f64 / brought
    }
}

#[test]
fn the_rate_of_a_link_is_that_of_the_data_which_wait_there() {
    let rate = Full::default().rate();
    // A fifth is not stated while they wait. A period has 80 Data, of which it may miss one.
    assert!((rate - 0.8).abs() < 0.8 / 80.0, "{rate}");
}

/// Data that wait in the neighbour, or further away, do not wait at the link.
#[test]
fn a_neighbour_that_takes_its_time_is_no_full_link() {
    // By the golden ratio: any few Interests have all times in equal parts.
    let varies = |n: u64| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 200;
    assert_eq!(Full { has: varies, reports: varies, apart: 1000, ..Full::default() }.rate(), 0.0);
    assert!(Full { has: varies, reports: varies, ..Full::default() }.rate() > 0.0);
}

/// The answer may be that to an earlier Interest (Karn), or the neighbour lies.
#[test]
fn answers_whose_times_are_not_known_measure_nothing() {
    assert_eq!(Full { is_repeated: true, ..Full::default() }.rate(), 0.0);
    assert_eq!(Full { reports: |_| 2_000_000, ..Full::default() }.rate(), 0.0);
    let lies = |n: u64| if n < 200 && n.is_multiple_of(20) { 2_000_000 } else { 200 };
    assert_eq!(Full { reports: lies, apart: 1000, ..Full::default() }.rate(), 0.0);
}
