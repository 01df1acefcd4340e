//! An emulated link: one-way delay and random loss for the frames that a face sends, so that a
//! testbed needs no kernel module. Rate and queue are the forwarder's own pacing, in front of this:
//! it lets a packet out when the link is free, and the delay begins when its last byte is on the
//! link. As with Linux's netem, a lost frame takes none of the link's time: the caller credits the
//! losses that [`DelayLine::push`] reports back to the pacing.
//!
//! A machine without I/O: `push` takes a frame, `next_deadline` returns the time at which the head
//! is due, `pop` returns it. Order is kept.

use control::{Duration, LossModel, Lossy, Rng, Time};
use document::schema::Form;
use document::{Fields, LOSS_FORM, Read};
use forwarder::tables::memory;
use std::collections::VecDeque;

/// The limit on bytes in flight: 64 MiB are 100 ms at 5 Gbit/s. Excess is dropped and counted, so
/// that a configured delay cannot exhaust the host's memory.
pub const MAX_IN_FLIGHT: usize = 64 << 20;

/// The effects of the link on frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Fields, Read)]
pub struct Emulation {
    /// Emulated one-way delay of what the face sends.
    #[field(default = "0 ms")]
    pub delay: Duration,
    /// Emulated jitter: frames are delayed by up to this much more, evenly distributed, and keep
    /// their order.
    #[field(default = "0 ms")]
    pub jitter: Duration,
    /// Emulated loss: share of frames that vanish before they are sent; as a table, the four
    /// probabilities of the Gilbert-Elliott model: of changing the state after a frame, and of loss
    /// in each state (`good` is 0 and `bad` is 1 unless given).
    #[field(default = "0 %", form = Form::As(LOSS_FORM), by = document::loss)]
    pub loss: LossModel,
}

impl Emulation {
    /// The link is nothing but a wire.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Emulation::default()
    }
}

/// Frames that leave together: `bytes` made of frames of `segment` bytes each (the last may be
/// shorter), or of one frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Burst {
    /// When they are due.
    pub due: Time,
    /// The frames.
    pub bytes: Vec<u8>,
    /// The length of every frame but the last.
    pub segment: Option<usize>,
}

/// Frames that the emulated loss took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Their number.
    pub frames: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// The fate of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayLineCounters {
    /// Frames given to the line.
    pub frames: u64,
    /// Frames that the emulated loss took.
    pub lost: u64,
    /// Frames that found the line full.
    pub overflowed: u64,
}

/// Frames on their way over an emulated link.
#[derive(Debug)]
pub struct DelayLine {
    emulation: Emulation,
    lossy: Lossy,
    /// The dice of the jitter.
    rng: Rng,
    on_the_way: VecDeque<Burst>,
    bytes: usize,
    counters: DelayLineCounters,
}

impl DelayLine {
    /// An empty line with the face's own streams of dice, for loss and for jitter.
    #[must_use]
    pub fn new(emulation: Emulation, [loss, rng]: [Rng; 2]) -> DelayLine {
        let (lossy, counters) = (Lossy::new(emulation.loss, loss), DelayLineCounters::default());
        DelayLine { emulation, lossy, rng, on_the_way: VecDeque::new(), bytes: 0, counters }
    }

    /// Takes frames whose last byte leaves then; each is lost or will be due after the delay.
    pub fn push(&mut self, left: Time, frames: &[u8], segment: Option<usize>) -> Lost {
        let size = segment.unwrap_or(frames.len()).max(1);
        let mut lost = Lost::default();
        let mut bytes = Vec::with_capacity(frames.len());
        for frame in frames.chunks(size) {
            self.counters.frames += 1;
            if self.lossy.loses() {
                self.counters.lost += 1;
                lost.frames += 1;
                lost.bytes += frame.len();
            } else if self.bytes + bytes.len() + frame.len() > MAX_IN_FLIGHT {
                self.counters.overflowed += 1;
            } else {
                bytes.extend_from_slice(frame);
            }
        }
        if bytes.is_empty() {
            return lost;
        }
        self.bytes += bytes.len();
        // Deadlines never go back in time, even if the caller's clock did.
        let due = left + self.emulation.delay + self.jitter();
        let due = self.on_the_way.back().map_or(due, |last| last.due.max(due));
        self.on_the_way.push_back(Burst { due, bytes, segment });
        lost
    }

    fn jitter(&mut self) -> Duration {
        match self.emulation.jitter {
            Duration::ZERO => Duration::ZERO,
            most => Duration(self.rng.below(most.0.saturating_add(1))),
        }
    }

    /// Bytes of memory for the frames on their way.
    #[must_use]
    pub fn memory(&self) -> usize {
        let bursts = self.on_the_way.capacity() * size_of::<Burst>();
        // The allocator's overhead for each burst.
        self.bytes + self.on_the_way.len() * memory::block(1) + memory::block(bursts)
    }

    /// The next frames that are due at `now`.
    pub fn pop(&mut self, now: Time) -> Option<Burst> {
        let due = self.next_deadline().is_some_and(|due| due <= now);
        let burst = if due { self.on_the_way.pop_front() } else { None }?;
        self.bytes -= burst.bytes.len();
        Some(burst)
    }

    /// When the head is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        self.on_the_way.front().map(|burst| burst.due)
    }

    /// The counts of frames so far.
    #[must_use]
    pub fn counters(&self) -> DelayLineCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(delay_ms: u64, loss: f64) -> DelayLine {
        let (delay, loss) = (Duration::from_millis(delay_ms), LossModel::Random(loss));
        DelayLine::new(Emulation { delay, loss, ..Emulation::default() }, dice())
    }

    fn dice() -> [Rng; 2] {
        ["loss", "jitter"].map(|role| Rng::stream(1, &["test", "face", role]))
    }

    #[test]
    fn jitter_is_evenly_distributed_and_keeps_the_order() {
        let emulation = Emulation { jitter: Duration(1000), ..Emulation::default() };
        let mut line = DelayLine::new(emulation, dice());
        let mut sum = 0;
        for at in (0..10_000).map(|n| Time(n * 10_000)) {
            line.push(at, b"x", None);
            let due = line.next_deadline().unwrap();
            assert!(due >= at && due <= at + Duration(1000));
            sum += due.since(at).0;
            line.pop(due).unwrap();
        }
        // The mean of 10,000 draws: 500, with a standard deviation of 2.9; five of them are 15.
        assert!((sum / 10_000).abs_diff(500) < 15, "{sum}");
        for at in 0..100 {
            line.push(Time(at), &at.to_le_bytes(), None);
        }
        let order = std::iter::from_fn(|| line.pop(Time(10_000)));
        let order: Vec<_> = order.map(|burst| burst.bytes[0]).collect();
        assert!(order.is_sorted() && order.len() == 100, "{order:?}");
    }

    #[test]
    fn frames_arrive_after_exactly_the_delay_in_order() {
        let mut line = line(25, 0.0);
        line.push(Time(100), b"first", None);
        line.push(Time(200), b"second", None);
        assert_eq!(line.next_deadline(), Some(Time(25_000_100)));
        assert_eq!(line.pop(Time(25_000_099)), None);
        assert_eq!(line.pop(Time(25_000_200)).unwrap().bytes, b"first");
        assert_eq!(line.pop(Time(25_000_200)).unwrap().bytes, b"second");
        assert_eq!(line.next_deadline(), None);
        assert_eq!(line.bytes, 0);
    }

    #[test]
    fn every_frame_of_a_burst_is_drawn_for_itself() {
        let mut line = line(0, 0.05);
        let burst = vec![0; 5 * 100 + 30];
        let (mut delivered, mut taken, mut bytes) = (0, 0, 0);
        for _ in 0..20_000 {
            let before = line.counters().lost;
            let lost = line.push(Time(0), &burst, Some(100));
            assert_eq!(lost.frames as u64, line.counters().lost - before);
            taken += lost.bytes;
            while let Some(b) = line.pop(Time(0)) {
                // A lost frame leaves a run of whole frames, so that the rest can still be
                // offloaded.
                delivered += b.bytes.len().div_ceil(100) as u64;
                bytes += b.bytes.len();
                assert!(b.bytes.len() % 100 == 0 || b.bytes.len() % 100 == 30);
            }
        }
        let counters = line.counters();
        assert_eq!(counters.frames, 120_000);
        assert_eq!(counters.lost + delivered, counters.frames);
        assert_eq!(taken + bytes, 20_000 * burst.len());
        // 6000 expected, standard deviation 75; five of them are 377.
        assert!(counters.lost.abs_diff(6000) < 377, "{}", counters.lost);
    }

    #[test]
    fn the_line_is_bounded() {
        let mut line = line(1000, 0.0);
        let frame = vec![0; 1 << 20];
        for _ in 0..100 {
            line.push(Time(0), &frame, None);
        }
        assert_eq!(line.counters().overflowed, 36);
        assert_eq!(line.bytes, MAX_IN_FLIGHT);
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_keeps_the_order() {
        let mut line = line(5, 0.0);
        line.push(Time(1000), b"a", None);
        line.push(Time(0), b"b", None);
        assert_eq!(line.pop(Time(5_000_999)), None);
        assert_eq!(line.pop(Time(5_001_000)).unwrap().bytes, b"a");
        assert_eq!(line.pop(Time(5_001_000)).unwrap().bytes, b"b");
    }
}
