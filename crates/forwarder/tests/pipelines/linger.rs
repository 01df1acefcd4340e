//! Entries that a strategy keeps after their Data, to learn of slower answers.

use super::support::*;
use control::{Action, Strategy, StrategyCx};
use forwarder::tables::ContentStoreConfig;
use forwarder::{DropReason, FaceId, ForwarderConfig};
use std::sync::{Arc, Mutex};

/// Sends to every next hop and notes whose Data come.
struct Patient(Arc<Mutex<Vec<u64>>>);

impl Strategy for Patient {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        s.out.extend(s.next_hops.iter().map(|hop| Action::Forward(hop.face)));
    }

    fn on_data(&mut self, s: &mut StrategyCx<'_, '_>) {
        assert!(s.upstream(s.ingress).is_some());
        self.0.lock().unwrap().push(s.ingress);
        s.act(Action::Linger(ms(50)));
    }

    fn on_expiry(&mut self, _: &mut StrategyCx<'_, '_>) {
        panic!("what was answered does not expire");
    }
}

struct World {
    bench: Bench,
    received: Arc<Mutex<Vec<u64>>>,
    down: FaceId,
    up: [FaceId; 2],
}

/// A node without a content store, two next hops for /a, and an Interest that went to both.
fn world() -> World {
    let received = Arc::new(Mutex::new(Vec::new()));
    let content_store = ContentStoreConfig { capacity: 0, ..ContentStoreConfig::default() };
    let strategy = Box::new(Patient(received.clone()));
    let mut bench =
        Bench::with(ForwarderConfig { content_store, ..ForwarderConfig::new(strategy) });
    let (down, up) = (bench.face(), [bench.face(), bench.face()]);
    up.iter().for_each(|face| bench.route("/a", *face));
    bench.ask(down, &interest("/a", 1));
    up.iter().for_each(|face| drop(bench.one(*face)));
    World { bench, received, down, up }
}

impl World {
    fn received(&self) -> Vec<u64> {
        self.received.lock().unwrap().clone()
    }
}

#[test]
fn a_slower_answer_reaches_only_the_strategy() {
    let mut w = world();
    w.bench.receive(w.up[0], &data("/a", b"x"));
    w.bench.one(w.down);
    w.bench.pass(ms(40));
    w.bench.receive(w.up[1], &data("/a", b"x"));
    assert_eq!(w.received(), w.up.map(|face| face.0));
    assert_eq!(w.bench.sent(w.down), []);
    let stats = w.bench.fw.stats();
    assert_eq!((stats.satisfied, stats.expired), (1, 0));
    assert!(w.bench.fw.pit().is_empty(), "all have answered");
}

#[test]
fn repeated_answers_of_a_face_are_dropped() {
    let mut w = world();
    for _ in 0..3 {
        w.bench.receive(w.up[0], &data("/a", b"x"));
    }
    assert_eq!(w.received(), [w.up[0].0]);
    assert_eq!(w.bench.drops(w.up[0], DropReason::Unsolicited), 2);
}

#[test]
fn an_entry_lingers_as_long_as_it_was_asked_to() {
    let mut w = world();
    w.bench.receive(w.up[0], &data("/a", b"x"));
    assert_eq!(w.bench.fw.pit().pending_of(w.down), 0, "nobody waits any more");
    assert_eq!((w.bench.fw.pit().len(), w.bench.fw.pit().unanswered()), (1, 0));
    w.bench.pass(ms(100));
    assert!(w.bench.fw.pit().is_empty());
    assert_eq!(w.bench.fw.stats().expired, 0);
    w.bench.receive(w.up[1], &data("/a", b"x"));
    assert_eq!(w.bench.drops(w.up[1], DropReason::Unsolicited), 1);
}

#[test]
fn a_new_interest_is_asked_again() {
    let mut w = world();
    w.bench.receive(w.up[0], &data("/a", b"x"));
    w.bench.one(w.down);
    w.bench.ask(w.down, &interest("/a", 2));
    assert_eq!(w.bench.fw.pit().unanswered(), 1, "the new one alone");
    // Both are asked. The old answer of the second cannot be distinguished by its nonce: Data has
    // none, and the first Data satisfies the Interest.
    assert_eq!(w.bench.one(w.up[0]).interest().nonce(), Some(2));
    assert_eq!(w.bench.one(w.up[1]).interest().nonce(), Some(2));
    w.bench.receive(w.up[1], &data("/a", b"x"));
    assert_eq!(w.bench.one(w.down).packet, data("/a", b"x"));
    // The nonce of the first one has come round a loop.
    w.bench.ask(w.down, &interest("/a", 1));
    assert_eq!(w.bench.drops(w.down, DropReason::Duplicate), 1);
}
