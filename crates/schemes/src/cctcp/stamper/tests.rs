//! A router's part by hand.

use super::Holdings;
use control::{Cx, DataMeta, Duration, InterestMeta, LinkView, NodeView, Rng, Size, Stamper, Time};
use packet::options::{Anticipated, Holder};
use packet::{HopOption, HopOptions};

struct Router {
    id: u64,
    holds: Vec<u64>,
}

impl NodeView for Router {
    fn id(&self) -> u64 {
        self.id
    }
    fn holds(&self, flow: u64, segment: u64) -> bool {
        flow == 5 && self.holds.contains(&segment)
    }
}

fn stamp<T>(at: u64, act: impl FnOnce(&mut dyn Stamper, &mut Cx<'_>) -> T) -> (T, usize) {
    let (mut notes, mut rng) = (0, Rng::stream(0, &[]));
    let mut tap = |_| notes += 1;
    let mut cx = Cx { now: Time(at), rng: &mut rng, tap: &mut tap };
    let done = act(&mut Holdings, &mut cx);
    (done, notes)
}

fn up(at: u64, router: &Router, options: HopOptions) -> (HopOptions, usize) {
    stamp(at, |stamper, cx| {
        let mut interest = InterestMeta {
            flow: 5,
            segment: 100,
            size: Size(40),
            expected: Size(8000),
            expires: Time::MAX,
            options,
            handle: 0,
        };
        stamper.on_interest(cx, &LinkView::default(), router, &mut interest);
        interest.options
    })
}

fn down(at: u64, router: &Router, options: HopOptions, came_in: bool) -> (HopOptions, usize) {
    stamp(at, |stamper, cx| {
        let size = Size(8000);
        let mut data = DataMeta { flow: 5, segment: 100, size, mark: 0, options };
        if came_in {
            let since = Duration::ZERO;
            stamper.on_data_in(cx, &LinkView::default(), router, &mut data, since);
        }
        stamper.on_data(cx, &LinkView::default(), router, &mut data);
        data.options
    })
}

fn listing(segments: std::ops::Range<u64>) -> HopOptions {
    let mut options = HopOptions::new();
    options.set(&Anticipated::wanting(segments));
    options
}

#[test]
fn routers_say_what_they_hold_and_how_long_the_rest_of_the_way_took() {
    let routers = [
        Router { id: 1, holds: vec![102, 105] },
        Router { id: 2, holds: vec![] },
        Router { id: 3, holds: vec![101, 999] },
    ];
    // Clocks that have nothing to do with one another.
    let clocks = [5_000, 77, 1_000_000];
    let mut options = listing(101..111);
    for (router, clock) in routers.iter().zip(clocks) {
        options = up(clock, router, options).0;
    }
    let header: Anticipated = options.get().unwrap();
    let of = |h: &Holder| (h.node, header.held(h).collect::<Vec<_>>(), h.elapsed, h.hops);
    let expected = [(1, vec![102, 105], 5_000, None), (3, vec![101], 1_000_000, None)];
    assert_eq!(header.holders().iter().map(of).collect::<Vec<_>>(), expected);
    // Down again: 300 after it went up at 3, 900 at 1.
    for (router, clock) in routers.iter().zip([5_900, 677, 1_000_300]).rev() {
        options = down(clock, router, options, true).0;
    }
    let header: Anticipated = options.get().unwrap();
    let of = |h: &Holder| (h.node, h.elapsed, h.hops);
    let expected = [(1, 900, Some(0)), (3, 300, Some(2))];
    assert_eq!(header.holders().iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn routers_that_hold_the_requested_segment_append_nothing() {
    let router = Router { id: 1, holds: vec![100, 101] };
    assert_eq!(up(9, &router, listing(101..111)).0, listing(101..111));
}

#[test]
fn an_answer_of_the_nodes_own_producer_ends_the_entry_on_its_way_out() {
    let router = Router { id: 1, holds: vec![101] };
    let options = up(9, &router, listing(101..111)).0;
    let header: Anticipated = down(29, &router, options, false).0.get().unwrap();
    assert_eq!((header.holders()[0].elapsed, header.holders()[0].hops), (20, Some(0)));
}

#[test]
fn lists_without_end_are_taken_off_and_clocks_that_run_backwards_counted() {
    let router = Router { id: 1, holds: vec![101] };
    // 10,000 names, cut at the maximum length of an option.
    let mut options = HopOptions::new();
    let mut bytes = vec![253, 0x27, 0x10];
    bytes.resize(1000, 1);
    assert!(options.set_raw(Anticipated::TYPE, &bytes));
    let (left, notes) = up(9, &router, options);
    assert_eq!((left.is_empty(), notes), (true, 1));
    let (options, _) = up(900, &router, listing(101..111));
    let (options, notes) = down(899, &router, options, true);
    let header: Anticipated = options.get().unwrap();
    assert_eq!((header.holders()[0].elapsed, notes), (u64::MAX, 1), "no consumer believes that");
    // The hop count saturates at its largest encodable value.
    let mut header = Anticipated::wanting(101..111);
    header.add(Holder { node: 8, held: 1, elapsed: 3, hops: Some(254) });
    let mut options = HopOptions::new();
    options.set(&header);
    let header: Anticipated = down(9, &router, options, true).0.get().unwrap();
    assert_eq!(header.holders()[0].hops, Some(254));
}
