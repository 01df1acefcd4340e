//! ConTug by hand.

use super::*;
use control::Size;
use control::{InFlight, Load, Rng};
use packet::HopOption;

const MS: u64 = 1_000_000;

struct Flight([u32; 4]);

impl InFlight for Flight {
    fn total(&self) -> Load {
        Load { segments: self.0.iter().sum(), bytes: Size(0) }
    }
    fn lane(&self, lane: Lane) -> Load {
        Load { segments: self.0.get(usize::from(lane)).copied().unwrap_or(0), bytes: Size(0) }
    }
}

struct Bench {
    c: Contug,
    now: Time,
    flight: Flight,
    rng: Rng,
}

type Out = (u64, Time, Lane, Ticket);

impl Bench {
    fn new(set: &[(&str, &str)]) -> Bench {
        let mut params = Params::defaults(PARAMS);
        for (name, text) in set {
            params.set("contug", name, text).unwrap();
        }
        let (flight, rng) = (Flight([0; 4]), Rng::stream(0, &[]));
        Bench { c: Contug::new(&params), now: Time(0), flight, rng }
    }

    fn permit(&self, first: u64) -> Permit {
        let in_flight = &self.flight;
        self.c
            .permit(self.now, &Ask { first, count: 1, attempt: 0, segment: Size(8000), in_flight })
    }

    fn send(&mut self, first: u64) -> Out {
        let Permit::Now(lane) = self.permit(first) else { panic!("{first} may not be asked for") };
        let (before, expected) = (self.flight.total(), Size(8000));
        let stated = None;
        let sent = Sent { first, count: 1, lane, attempt: 0, expected, stated, before };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        let ticket = self.c.on_sent(&mut cx, &sent);
        self.flight.0[usize::from(lane)] += 1;
        (first, self.now, lane, ticket)
    }

    fn data(&mut self, out: &Out, server: Option<u64>) {
        let (segment, sent_at, lane, ticket) = out;
        self.flight.0[usize::from(*lane)] -= 1;
        let mut options = HopOptions::new();
        if let Some(node) = server {
            options.set(&ServedBy { node, hops: 0 });
        }
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        let arrival = Arrival {
            segment: *segment,
            lane: *lane,
            memo: ticket.memo,
            sent_at: *sent_at,
            rtt: Some(self.now.since(*sent_at)),
            size: Size(8000),
            mark: 0,
            late: false,
            options: &options,
            in_flight: &self.flight,
        };
        self.c.on_data(&mut cx, &arrival);
    }

    fn timeout(&mut self, out: &Out) {
        let (segment, sent_at, lane, ticket) = out.clone();
        self.flight.0[usize::from(lane)] -= 1;
        let options = HopOptions::new();
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        let (memo, cause, in_flight) = (ticket.memo, Cause::Timeout, &self.flight);
        let loss = Loss { segment, lane, memo, sent_at, cause, options: &options, in_flight };
        self.c.on_loss(&mut cx, &loss);
    }
}

#[test]
fn stripes_have_windows_of_their_own() {
    let mut b = Bench::new(&[("sources", "2"), ("stripe", "2"), ("initial_window", "2")]);
    // 0 1 | 2 3 | 4 5: lanes 0 0 1 1 0 0.
    let outs = [0, 1, 2].map(|n| b.send(n));
    assert_eq!(outs.each_ref().map(|out| out.2), [0, 0, 1]);
    assert!(outs[0].3.options.is_empty(), "nobody is asked who it is");
    assert_eq!((b.permit(4), b.permit(3)), (Permit::NotThis, Permit::Now(1)));
    // (2): slow start for source 0 alone; who says it answered does not matter.
    b.now = Time(50 * MS);
    b.data(&outs[0], Some(77));
    b.data(&outs[1], None);
    assert_eq!((b.c.get(0).window, b.c.get(1).window), (4.0, 2.0));
}

#[test]
fn a_timeout_halves_the_window_and_doubles_the_timeout_of_its_source() {
    let mut b = Bench::new(&[("sources", "2"), ("initial_window", "10")]);
    let zero = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18].map(|n| b.send(n));
    let one = b.send(1);
    assert_eq!(zero[0].3.timeout, RttEstimate::INITIAL_RTO);
    b.now = Time(400 * MS);
    b.data(&zero[9], None);
    b.data(&one, None);
    // 10 + 1 in slow start; RTO = 3 R = 1.2 s for both.
    assert_eq!((b.c.get(0).window, b.c.get(0).rtt.rto()), (11.0, Duration::from_millis(1200)));
    b.now = Time(1200 * MS);
    b.timeout(&zero[1]);
    b.timeout(&zero[2]);
    // (3), once for both: ssthresh = W = 5.5; RTO = 2.4 s. The other source keeps its own.
    let (source, other) = (b.c.get(0), b.c.get(1));
    assert_eq!((source.window, source.ssthresh), (5.5, 5.5));
    assert_eq!(source.rtt.rto(), Duration::from_millis(2400));
    assert_eq!((other.window, other.rtt.rto()), (10.0, Duration::from_millis(1200)));
    // (2) beyond ssthresh: 5.5 + 1 / 5.5.
    b.now = Time(1300 * MS);
    b.data(&zero[8], None);
    assert_eq!(b.c.get(0).window, 5.5 + 1.0 / 5.5);
    // Not below 2, once all that is in flight has ended.
    b.flight.0[0] = 0;
    for n in 1..6 {
        b.now = Time((1300 + n * 1000) * MS);
        let out = b.send(100 + 2 * n);
        b.now += Duration::from_millis(500);
        b.timeout(&out);
    }
    assert_eq!(b.c.get(0).window, 2.0);
}

#[test]
fn without_knowledge_it_goes_by_who_answered_last() {
    let mut b = Bench::new(&[("initial_window", "4")]);
    let outs = [0, 1, 2, 3].map(|n| b.send(n));
    assert!(outs[0].3.options.get_raw(ServedBy::TYPE).is_some(), "it asks who answers");
    b.now = Time(10 * MS);
    b.data(&outs[1], Some(7));
    // (4): what follows is expected from 7, which has lane 1, a window of its own, and 10 ms.
    assert_eq!(b.permit(4), Permit::Now(1));
    assert_eq!((b.c.get(1).window, b.c.get(1).rtt.smoothed()), (5.0, Some(Duration(10 * MS))));
    b.now = Time(100 * MS);
    b.data(&outs[2], Some(8));
    assert_eq!(
        (b.permit(4), b.c.get(2).rtt.smoothed()),
        (Permit::Now(2), Some(Duration(100 * MS)))
    );
    assert_eq!(b.c.get(1).rtt.smoothed(), Some(Duration(10 * MS)), "near and far are kept apart");
    // 8 answers what is expected from it: nothing is remapped.
    let out = b.send(4);
    b.data(&out, Some(8));
    assert_eq!(b.permit(5), Permit::Now(2));
}

#[test]
fn a_new_name_with_each_data_neither_grows_memory_nor_stalls() {
    let mut b = Bench::new(&[]);
    for n in 0..10_000 {
        let free = Flight([0; 4]);
        let in_flight = &free;
        let ask = Ask { first: n, count: 1, attempt: 0, segment: Size(8000), in_flight };
        assert!(matches!(b.c.permit(b.now, &ask), Permit::Now(_)));
        b.now += Duration::from_millis(1);
        let options = {
            let mut options = HopOptions::new();
            options.set(&ServedBy { node: 1 + n, hops: 9 });
            options
        };
        let lane = b.c.expected(n);
        let (segment, memo, sent_at, size) = (n, [0, 1], b.now, Size(8000));
        let (rtt, mark, late) = (Some(Duration(MS)), 0, false);
        let arrival = Arrival {
            segment,
            lane,
            memo,
            sent_at,
            rtt,
            size,
            mark,
            late,
            options: &options,
            in_flight,
        };
        let mut tap = |_| {};
        b.c.on_data(&mut Cx { now: b.now, rng: &mut b.rng, tap: &mut tap }, &arrival);
    }
    assert!(b.c.named.iter().count() <= 32);
}
