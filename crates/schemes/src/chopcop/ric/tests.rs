use super::chunks::MOST_OPEN;
use super::*;
use control::InFlight;
use control::Size;
use control::{Load, Memo, Rng};
use std::collections::BTreeMap;

const CHUNK: u64 = 32;

fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

#[derive(Default)]
struct Flight(BTreeMap<Lane, u32>);

impl InFlight for Flight {
    fn total(&self) -> Load {
        Load { segments: self.0.values().sum(), bytes: Size::ZERO }
    }
    fn lane(&self, lane: Lane) -> Load {
        Load { segments: self.0.get(&lane).copied().unwrap_or(0), bytes: Size::ZERO }
    }
}

/// A consumer that keeps the order of calls.
struct Bench {
    ric: Ric,
    flight: Flight,
    out: BTreeMap<u64, (Lane, Memo, Time, u16)>,
    lost: BTreeMap<u64, (Lane, Memo, Time, u16)>,
    timeout: Duration,
}

impl Bench {
    fn new(set: &[(&str, &str)]) -> Bench {
        let mut params = Params::defaults(PARAMS);
        set.iter().for_each(|(name, text)| params.set("ric", name, text).unwrap());
        let (out, lost) = Default::default();
        let timeout = Duration::ZERO;
        Bench { ric: Ric::new(&params), flight: Flight::default(), out, lost, timeout }
    }

    fn permit(&self, first: u64, count: u16) -> Permit {
        let (attempt, segment) = (0, Size(1024));
        self.ric.permit(ms(0), &Ask { first, count, attempt, segment, in_flight: &self.flight })
    }

    /// Asks for `count` segments with one Interest; says whether it may.
    fn ask(&mut self, at: Time, first: u64, count: u16) -> bool {
        let Permit::Now(lane) = self.permit(first, count) else { return false };
        let attempt = self.lost.remove(&first).map_or(0, |lost| lost.3 + 1);
        self.lost.retain(|segment, _| !(first..first + u64::from(count)).contains(segment));
        let before = self.flight.total();
        let (expected, stated) = (Size(1024), None);
        let sent = Sent { first, count, lane, attempt, expected, stated, before };
        let mut rng = Rng::stream(0, &[]);
        let mut cx = Cx { now: at, rng: &mut rng, tap: &mut |_| {} };
        let ticket = self.ric.on_sent(&mut cx, &sent);
        self.timeout = ticket.timeout;
        *self.flight.0.entry(lane).or_default() += u32::from(count);
        for segment in first..first + u64::from(count) {
            self.out.insert(segment, (lane, ticket.memo, at, attempt));
        }
        true
    }

    /// Asks for a chunk, with one Interest for all or with one for each segment.
    fn ask_chunk(&mut self, at: Time, chunk: u64, range: bool) -> bool {
        let first = chunk * CHUNK;
        match range {
            true => self.ask(at, first, CHUNK as u16),
            false => (first..first + CHUNK).all(|segment| self.ask(at, segment, 1)),
        }
    }

    fn data(&mut self, at: Time, segment: u64, mark: u64) {
        let (late, (lane, memo, sent_at, attempt)) = match self.out.remove(&segment) {
            Some(out) => (false, out),
            None => (true, self.lost.remove(&segment).unwrap()),
        };
        *self.flight.0.get_mut(&lane).unwrap() -= u32::from(!late);
        let mut rng = Rng::stream(0, &[]);
        let mut cx = Cx { now: at, rng: &mut rng, tap: &mut |_| {} };
        let rtt = (attempt == 0).then(|| at.since(sent_at));
        let (size, options, in_flight) = (Size(1024), &HopOptions::new(), &self.flight);
        let arrival =
            Arrival { segment, lane, memo, sent_at, rtt, size, mark, late, options, in_flight };
        self.ric.on_data(&mut cx, &arrival);
    }

    /// All of a chunk comes, the first `marked` segments with a mark.
    fn chunk(&mut self, at: Time, chunk: u64, marked: u64) {
        for i in 0..CHUNK {
            self.data(at, chunk * CHUNK + i, u64::from(i < marked));
        }
    }

    fn lose(&mut self, at: Time, segment: u64, cause: Cause) {
        let out = self.out.remove(&segment).unwrap();
        let (lane, memo, sent_at, _) = out;
        self.lost.insert(segment, out);
        *self.flight.0.get_mut(&lane).unwrap() -= 1;
        let mut rng = Rng::stream(0, &[]);
        let mut cx = Cx { now: at, rng: &mut rng, tap: &mut |_| {} };
        let (options, in_flight) = (&HopOptions::new(), &self.flight);
        let loss = Loss { segment, lane, memo, sent_at, cause, options, in_flight };
        self.ric.on_loss(&mut cx, &loss);
    }

    /// `chunks` chunks from `first` on, asked for as the window allows and answered 100 ms later;
    /// the instant at which the last came.
    fn run(&mut self, mut at: Time, first: u64, chunks: u64) -> Time {
        let (mut next, end) = (first, first + chunks);
        let mut done = first;
        while done < end {
            while next < end && self.ask_chunk(at, next, true) {
                next += 1;
            }
            at += Duration::from_millis(100);
            (done..next).for_each(|chunk| self.chunk(at, chunk, 0));
            done = next;
        }
        at
    }
}

#[test]
fn the_window_counts_chunks_however_they_are_asked_for() {
    for range in [false, true] {
        let mut b = Bench::new(&[("initial_window", "3")]);
        let asked = (0..5).filter(|chunk| b.ask_chunk(ms(0), *chunk, range)).count();
        assert_eq!((asked, b.flight.total().segments), (3, 96), "{range}");
        // Half a chunk makes no room; all of it does.
        (0..31).for_each(|segment| b.data(ms(100), segment, 0));
        assert_eq!(b.permit(96, 1), Permit::Wait);
        b.data(ms(100), 31, 0);
        assert!(matches!(b.permit(96, 1), Permit::Now(_)));
    }
}

#[test]
fn a_chunk_is_one_interest_where_ranges_are_understood() {
    assert_eq!(Bench::new(&[]).ric.range(), 32);
    assert_eq!(Bench::new(&[("N", "256")]).ric.range(), 256);
}

#[test]
fn slow_start_adds_a_chunk_for_each_and_ends_at_20() {
    let mut b = Bench::new(&[]);
    b.ask_chunk(ms(0), 0, true);
    b.chunk(ms(100), 0, 0);
    assert_eq!(b.ric.window.size(), 2.0);
    // 2 + 4 + 8 chunks make 16.
    let at = b.run(ms(100), 1, 14);
    assert_eq!(b.ric.window.size(), 16.0);
    // Four of eight make 20, from where on 20 make one more: 4 + 15 are 19.
    let at = b.run(at, 15, 8);
    let at = b.run(at, 23, 15);
    assert_eq!(b.ric.window.size(), 20.0);
    // Two chunks alone do not use the window, and do not count; the first of ten does.
    let at = b.run(at, 38, 2);
    assert_eq!(b.ric.window.size(), 20.0);
    b.run(at, 40, 10);
    assert_eq!(b.ric.window.size(), 21.0);
}

#[test]
fn a_marked_chunk_cuts_by_equation_3() {
    // 0.8 - 0.3 / 32 * N_marked: one of 32 is 0.790625, half is 0.65, all is 0.5.
    for (marked, beta) in [(1, 0.790_625), (16, 0.65), (32, 0.5)] {
        let mut b = Bench::new(&[("initial_window", "20")]);
        b.ask_chunk(ms(0), 0, true);
        b.chunk(ms(100), 0, marked);
        assert!(
            (b.ric.window.size() - 20.0 * beta).abs() < 1e-12,
            "{marked}: {}",
            b.ric.window.size()
        );
    }
}

#[test]
fn marks_cut_once_a_mean_round_trip_time_and_a_marked_chunk_never_grows_the_window() {
    let mut b = Bench::new(&[("initial_window", "20")]);
    (0..3).for_each(|chunk| assert!(b.ask_chunk(ms(0), chunk, true)));
    b.chunk(ms(100), 0, 32);
    b.chunk(ms(150), 1, 32);
    // RTT_avg is 0.7 * 100 + 0.3 * 150 = 115 ms: 50 ms after the cut is too soon.
    assert!((b.ric.timer.mean().unwrap() - 0.115).abs() < 1e-12);
    assert_eq!(b.ric.window.size(), 10.0);
    b.chunk(ms(230), 2, 32);
    // RTT_avg is 0.7 * 115 + 0.3 * 230 = 149.5 ms now: 130 ms after the cut is too soon as well.
    assert_eq!(b.ric.window.size(), 10.0);
    b.ask_chunk(ms(230), 3, true);
    b.chunk(ms(250), 3, 32);
    // 0.7 * 149.5 + 0.3 * 20 = 110.65 ms; the cut was 150 ms ago.
    assert_eq!(b.ric.window.size(), 5.0);
}

/// A window of 20 that a mark halves: slow start adds one for each of ten chunks, the linear growth
/// that follows a first slow start one for ten.
#[test]
fn slow_start_begins_again_or_ends_at_the_first_cut() {
    for (slow_start, window) in [("again", 20.0), ("once", 11.0)] {
        let mut b = Bench::new(&[("initial_window", "20"), ("slow_start", slow_start)]);
        b.ask_chunk(ms(0), 0, true);
        b.chunk(ms(100), 0, 32);
        assert_eq!(b.ric.window.size(), 10.0, "{slow_start}");
        b.run(ms(100), 1, 10);
        assert_eq!(b.ric.window.size(), window, "{slow_start}");
    }
}

#[test]
fn the_pause_between_cuts_by_marks_is_in_mean_round_trip_times() {
    // The chunks come 100, 150 and 320 ms after their Interests: RTT_avg is 115 ms at the second,
    // 176.5 ms at the third, which comes 220 ms after the first.
    for (pause, second, third) in [("0", 5.0, 2.5), ("1", 10.0, 5.0), ("2", 10.0, 10.0)] {
        let mut b = Bench::new(&[("initial_window", "20"), ("mark_pause", pause)]);
        (0..3).for_each(|chunk| assert!(b.ask_chunk(ms(0), chunk, true)));
        b.chunk(ms(100), 0, 32);
        assert_eq!(b.ric.window.size(), 10.0);
        b.chunk(ms(150), 1, 32);
        assert_eq!(b.ric.window.size(), second, "{pause}");
        b.chunk(ms(320), 2, 32);
        assert_eq!(b.ric.window.size(), third, "{pause}");
    }
}

#[test]
fn the_pause_between_cuts_by_timeouts_is_in_mean_round_trip_times() {
    for (pause, second, third) in [("0", 4.0, 2.0), ("1", 8.0, 4.0), ("3", 8.0, 8.0)] {
        let mut b = Bench::new(&[("initial_window", "16"), ("timeout_pause", pause)]);
        (0..4).for_each(|chunk| assert!(b.ask_chunk(ms(0), chunk, true)));
        // RTT_avg is 100 ms.
        b.chunk(ms(100), 0, 0);
        b.lose(ms(700), 32, Cause::Timeout);
        assert_eq!(b.ric.window.size(), 8.0);
        b.lose(ms(750), 64, Cause::Timeout);
        assert_eq!(b.ric.window.size(), second, "{pause}");
        b.lose(ms(850), 96, Cause::Timeout);
        assert_eq!(b.ric.window.size(), third, "{pause}");
    }
}

#[test]
fn the_timeout_follows_equations_4_and_5() {
    let mut b = Bench::new(&[]);
    b.ask_chunk(ms(0), 0, false);
    assert_eq!(b.timeout, Duration::from_secs(3), "before the first chunk is complete");
    b.chunk(ms(100), 0, 0);
    b.ask_chunk(ms(100), 1, true);
    assert_eq!(b.timeout, Duration::from_millis(600), "6 * 100 ms");
    b.chunk(ms(300), 1, 0);
    b.ask_chunk(ms(300), 2, true);
    // 6 * (0.7 * 100 + 0.3 * 200) = 780 ms.
    assert_eq!(b.timeout, Duration::from_millis(780));
}

#[test]
fn a_chunks_time_is_that_of_its_last_segment() {
    let mut b = Bench::new(&[]);
    b.ask_chunk(ms(0), 0, false);
    (0..32).for_each(|segment| b.data(ms(100 + segment), segment, 0));
    assert!((b.ric.timer.mean().unwrap() - 0.131).abs() < 1e-12);
}

#[test]
fn only_missing_segments_of_a_chunk_are_requested_again() {
    for range in [false, true] {
        let mut b = Bench::new(&[("initial_window", "2")]);
        b.ask_chunk(ms(0), 0, range);
        b.ask_chunk(ms(0), 1, range);
        (0..30).for_each(|segment| b.data(ms(100), segment, 0));
        b.lose(ms(700), 30, Cause::Timeout);
        b.lose(ms(700), 31, Cause::Timeout);
        // Once for the chunk: max(1, 0.5 * 2).
        assert_eq!(b.ric.window.size(), 1.0, "{range}");
        // Chunk 1 is in flight, and the window is full with it.
        assert_eq!(b.permit(30, 1), Permit::Wait);
        b.chunk(ms(750), 1, 0);
        assert_eq!(b.ric.window.size(), 2.0);
        assert!(b.ask(ms(750), 30, 2));
        b.data(ms(850), 30, 0);
        b.data(ms(850), 31, 0);
        // Complete, and counted; what came of the first asking, after 100 ms, is the sample: eq. 4
        // with sigma = 0.7.
        assert_eq!(b.ric.window.size(), 3.0);
        assert!((b.ric.timer.mean().unwrap() - (0.7 * 0.75 + 0.3 * 0.1)).abs() < 1e-12);
        assert!(b.ric.chunks.len() == 0 && b.ric.chunks.busy() == 0);
    }
}

#[test]
fn every_timeout_of_a_chunk_cuts_once() {
    let mut b = Bench::new(&[("initial_window", "16")]);
    b.ask_chunk(ms(0), 0, true);
    b.ask_chunk(ms(0), 1, true);
    // All 32 of either chunk: 16 to 8 to 4. Timeouts are not limited to one a round trip.
    (0..64).for_each(|segment| b.lose(ms(3000), segment, Cause::Timeout));
    assert_eq!(b.ric.window.size(), 4.0);
    b.ask_chunk(ms(3000), 0, true);
    (0..32).for_each(|segment| b.lose(ms(9000), segment, Cause::Timeout));
    assert_eq!(b.ric.window.size(), 2.0, "and the same chunk again, asked for again");
}

#[test]
fn a_gap_or_a_nack_cuts_once_a_mean_round_trip_time() {
    let mut b = Bench::new(&[("initial_window", "16")]);
    b.ask_chunk(ms(0), 0, true);
    b.ask_chunk(ms(0), 1, true);
    b.chunk(ms(100), 0, 0);
    assert_eq!(b.ric.window.size(), 16.0, "two of sixteen are no use of the window");
    b.lose(ms(110), 32, Cause::Gap);
    b.lose(ms(120), 33, Cause::Nack(50));
    b.lose(ms(130), 34, Cause::Gap);
    assert_eq!(b.ric.window.size(), 8.0);
    b.lose(ms(210), 35, Cause::Nack(50));
    assert_eq!(b.ric.window.size(), 4.0, "100 ms later");
}

#[test]
fn a_loss_that_was_none_is_forgiven() {
    let mut b = Bench::new(&[]);
    b.ask_chunk(ms(0), 0, true);
    (0..32).for_each(|segment| b.lose(ms(3000), segment, Cause::Timeout));
    b.chunk(ms(3100), 0, 0);
    assert!(b.ric.chunks.len() == 0, "complete");
    assert_eq!(b.ric.timer.mean(), Some(3.1), "it was asked for once: the answer is no other's");
}

#[test]
fn the_timeout_doubles_in_silence_only() {
    let mut b = Bench::new(&[("initial_timeout", "1 s")]);
    let mut at = ms(0);
    for seconds in [1, 2, 4, 4] {
        b.ask_chunk(at, 0, true);
        assert_eq!(b.timeout, Duration::from_secs(seconds));
        at += b.timeout;
        (0..32).for_each(|segment| b.lose(at, segment, Cause::Timeout));
    }
    b.ask_chunk(at, 0, true);
    b.chunk(at + Duration::from_millis(100), 0, 0);
    at += Duration::from_millis(200);
    b.ask_chunk(at, 1, true);
    b.chunk(at + Duration::from_millis(100), 1, 0);
    b.ask_chunk(at + Duration::from_millis(100), 2, true);
    assert_eq!(b.timeout, Duration::from_millis(600));
}

#[test]
fn a_short_chunk_ends_when_a_later_one_begins() {
    let mut b = Bench::new(&[("initial_window", "1")]);
    // Metadata and a node of the manifest, as consumers number them, and then the chunk itself.
    assert!(b.ask(ms(0), 0, 1));
    b.data(ms(50), 0, 0);
    assert!(b.ask(ms(50), 32, 5), "what is not in flight takes no room in the window");
    (32..37).for_each(|segment| b.data(ms(150), segment, 0));
    assert_eq!(
        (b.ric.window.size(), b.ric.timer.mean()),
        (2.0, Some(0.05)),
        "the first is complete"
    );
    assert!(b.ask(ms(150), 64, 32));
    // 0.7 * 50 + 0.3 * 100 = 65 ms.
    assert!((b.ric.timer.mean().unwrap() - 0.065).abs() < 1e-12);
}

#[test]
fn lanes_are_used_again() {
    let mut b = Bench::new(&[("initial_window", "4")]);
    for round in 0..100 {
        let mut chunks = round * 4..round * 4 + 4;
        while chunks.next().is_some_and(|chunk| b.ask_chunk(ms(round), chunk, true)) {}
        let open: Vec<u64> = b.out.keys().map(|segment| segment / CHUNK).collect();
        (open[0]..=*open.last().unwrap()).for_each(|chunk| b.chunk(ms(round + 1), chunk, 32));
    }
    assert!(b.ric.chunks.lanes() <= 4, "{}", b.ric.chunks.lanes());
}

#[test]
fn state_of_lost_chunks_is_bounded() {
    let mut b = Bench::new(&[]);
    for chunk in 0..20_000 {
        assert!(b.ask(ms(chunk), chunk * CHUNK, 1), "an empty pipe may always send");
        b.lose(ms(chunk), chunk * CHUNK, Cause::Timeout);
    }
    assert!(b.ric.chunks.len() <= MOST_OPEN && usize::from(b.ric.chunks.lanes()) <= MOST_OPEN);
}

#[test]
fn it_starts_from_a_measurement() {
    let mut b = Bench::new(&[]);
    let mut rng = Rng::stream(0, &[]);
    let mut cx = Cx { now: ms(0), rng: &mut rng, tap: &mut |_| {} };
    let (rate, rtt_min) = (control::Rate::from_mbps(40), Duration::from_millis(110));
    let estimate = PathEstimate { rate, rtt_min, segment: Size(1024) };
    // 40e6 * 0.110 / 8 = 550,000 bytes are 16.78 chunks of 32,768.
    assert!(b.ric.seed(&mut cx, 0, estimate));
    assert!((b.ric.window.size() - 550_000.0 / 32_768.0).abs() < 1e-9);
}

/// An outage leaves a mean of 2 s, and of every chunk after it the last segment is lost, as where a
/// queue drops tails: the mean becomes the 100 ms of all that came, and is not what it was.
#[test]
fn chunks_that_lose_something_tell_the_round_trip_too() {
    let mut b = Bench::new(&[("sigma", "0.5"), ("delta", "6")]);
    assert!(b.ask_chunk(ms(0), 0, true));
    b.chunk(ms(2000), 0, 0);
    assert!((b.ric.timer.mean().unwrap() - 2.0).abs() < 1e-9);
    let mut expected = 2.0;
    for chunk in 1..6 {
        let (at, first) = (ms(10_000 * chunk), chunk * CHUNK);
        assert!(b.ask(at, first, CHUNK as u16));
        for i in 0..CHUNK - 1 {
            b.data(at + Duration::from_millis(100), first + i, 0);
        }
        b.lose(at + Duration::from_secs(3), first + CHUNK - 1, Cause::Timeout);
        assert!(b.ask(at + Duration::from_secs(3), first + CHUNK - 1, 1));
        b.data(at + Duration::from_millis(3100), first + CHUNK - 1, 0);
        // Eq. 4 with sigma = 1/2.
        expected = 0.5 * expected + 0.5 * 0.1;
        assert!((b.ric.timer.mean().unwrap() - expected).abs() < 1e-9, "{:?}", b.ric.timer.mean());
    }
}
