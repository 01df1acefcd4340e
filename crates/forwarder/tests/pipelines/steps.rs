//! The steps that a tap is shown are those of the journeys in `docs/architecture.md`, in order.

use crate::support::{Bench, Cheapest, data, frame, interest, ms};
use forwarder::{DropReason, FaceConfig, FaceId, ForwarderConfig, PacketEvent, Step, Traceroute};
use packet::{InterestBuf, LpHeader, NackReason};
use std::sync::{Arc, Mutex};

/// The steps so far.
#[derive(Clone, Default)]
pub struct Steps(Arc<Mutex<Vec<(FaceId, Step)>>>);

impl Steps {
    pub fn of(bench: &mut Bench) -> Steps {
        let steps = Steps::default();
        let list = Arc::clone(&steps.0);
        bench.fw.set_packet_tap(Some(Box::new(move |face, event: &PacketEvent<'_>| {
            list.lock().unwrap().push((face, event.step));
        })));
        steps
    }

    /// Those since the last call.
    pub fn take(&self) -> Vec<(FaceId, Step)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn two_faces() -> (Bench, FaceId, FaceId) {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    (b, d, u)
}

fn nack(b: &mut Bench, face: FaceId, interest: &InterestBuf) {
    let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
    b.receive(face, &frame(&header, &interest.encode()));
}

#[test]
fn an_interest_and_its_data_take_the_documented_steps() {
    let (mut b, d, u) = two_faces();
    let other = b.face();
    let steps = Steps::of(&mut b);
    b.ask(d, &interest("/a/1", 1));
    // 2 to 4, 6, 7, 9, 11.
    assert_eq!(
        steps.take(),
        [
            (d, Step::Arrived),
            (d, Step::Checked),
            (d, Step::Admitted),
            (d, Step::Missed),
            (d, Step::Inserted),
            (d, Step::Routed(1)),
            (d, Step::Decided(1)),
            (u, Step::Released),
            (u, Step::Queued),
            (d, Step::Handled),
        ]
    );
    // It is pending, so that it is neither looked up nor sent again.
    b.ask(other, &interest("/a/1", 2));
    assert_eq!(
        steps.take(),
        [
            (other, Step::Arrived),
            (other, Step::Checked),
            (other, Step::Admitted),
            (other, Step::Aggregated),
            (other, Step::Routed(1)),
            (other, Step::Decided(0)),
            (other, Step::Handled),
        ]
    );
    b.receive(u, &data("/a/1", b"x"));
    // 12 to 16: content store and strategy come before the downstreams, then the entry ends.
    assert_eq!(
        steps.take(),
        [
            (u, Step::Arrived),
            (u, Step::Checked),
            (u, Step::Matched(1)),
            (u, Step::Cached),
            (u, Step::Decided(0)),
            (d, Step::Queued),
            (other, Step::Queued),
            (u, Step::Satisfied),
            (u, Step::Handled),
        ]
    );
    b.ask(d, &interest("/a/1", 3));
    assert_eq!(
        steps.take(),
        [
            (d, Step::Arrived),
            (d, Step::Checked),
            (d, Step::Admitted),
            (d, Step::Hit),
            (d, Step::Queued),
            (d, Step::Handled),
        ]
    );
}

#[test]
fn a_nack_and_what_goes_no_further_take_the_documented_steps() {
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Cheapest)));
    let (d, first, second) = (b.face(), b.face(), b.face());
    b.route_cost("/a", first, 1);
    b.route_cost("/a", second, 2);
    b.ask(d, &interest("/a/1", 1));
    let steps = Steps::of(&mut b);
    nack(&mut b, first, &interest("/a/1", 1));
    assert_eq!(
        steps.take(),
        [
            (first, Step::Arrived),
            (first, Step::Checked),
            (first, Step::Matched(1)),
            (first, Step::Routed(1)),
            (first, Step::Decided(1)),
            (second, Step::Released),
            (second, Step::Queued),
            (first, Step::Handled),
        ]
    );
    nack(&mut b, first, &interest("/a/2", 1));
    let unknown = Step::Dropped(DropReason::NackUnsolicited);
    let ends = [Step::Arrived, Step::Checked, Step::Matched(0), unknown, Step::Handled];
    assert_eq!(steps.take(), ends.map(|step| (first, step)));
    b.receive(d, &data("/b", b"unsolicited"));
    let unknown = Step::Dropped(DropReason::Unsolicited);
    let ends = [Step::Arrived, Step::Checked, Step::Matched(0), unknown, Step::Handled];
    assert_eq!(steps.take(), ends.map(|step| (d, step)));
    // It comes back: the nonce is that of the pending Interest.
    b.ask(second, &interest("/a/1", 1));
    let looped = Step::Dropped(DropReason::Duplicate);
    let steps = steps.take();
    assert_eq!(steps[..4].last(), Some(&(second, looped)), "{steps:?}");
    b.pass(ms(1));
}

#[test]
fn replies_to_probes_and_pushed_data_have_a_step_of_their_own() {
    let mut b = Bench::with(ForwarderConfig::new(Box::new(Cheapest)));
    b.fw.set_traceroute(Some(Traceroute { name: None, rate: 10 }));
    let (d, pushing) = (b.face(), b.face_with(FaceConfig { pushes: true, ..Default::default() }));
    let steps = Steps::of(&mut b);
    b.ask(d, &crate::traceroute::asked("/a/b", 1, 1));
    let reply = [Step::Arrived, Step::Checked, Step::Answered, Step::Queued, Step::Handled];
    assert_eq!(steps.take(), reply.map(|step| (d, step)));
    b.receive(pushing, &data("/a", b"x"));
    let pushed = [Step::Arrived, Step::Checked, Step::Matched(0), Step::Cached, Step::Handled];
    assert_eq!(steps.take(), pushed.map(|step| (pushing, step)));
}

#[test]
fn without_a_tap_nothing_is_shown() {
    let (mut b, d, _) = two_faces();
    let steps = Steps::of(&mut b);
    b.fw.set_packet_tap(None);
    b.ask(d, &interest("/a/1", 1));
    assert_eq!(steps.take(), []);
}
