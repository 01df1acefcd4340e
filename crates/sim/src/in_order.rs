//! A producer that makes segments in order, like `ccnsendchunks` of CCNx 0.x.
//!
//! Source: Project CCNx, `csrc/cmd/ccnsendchunks.c`. This program does not answer Interests. It
//! makes chunk after chunk and sends each to the daemon, which keeps chunks without a pending
//! Interest in its content store. Interests only set the pace. The program reads its socket between
//! two chunks. An Interest raises the number of chunks that may follow without a pause
//! (`outstanding`) to ten. At zero the program waits for an Interest for at most one second, and
//! then makes the next chunk in any case. It makes no chunk twice.
//!
//! Deviations: CCNx has no metadata. Here an Interest for metadata is answered at once, and does
//! not raise `outstanding`. Signing takes no time; the time for each chunk is a setting.

use control::{Duration, Time};
use packet::{Bytes, Interest, LpPacket};
use std::collections::VecDeque;

use crate::plain::{Plain, Wanted};
use crate::spec::{ObjectSpec, SlowSegment};

/// The minimum of `outstanding` after an Interest (`incoming_interest`).
const ALLOWED: u32 = 10;
/// The maximum wait for an Interest while `outstanding` is zero (`main`).
const IDLE: Duration = Duration::from_secs(1);
/// The wait for older content of the same name before the first chunk is sent.
const CHECK: Duration = Duration::from_millis(100);

/// The producer's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It makes the next chunk until this instant. Interests wait in its socket.
    Make(Time),
    /// The first chunk is ready. It is sent at this instant, or when an Interest arrives.
    Check(Time),
    /// It begins the next chunk at this instant, or when an Interest arrives.
    Wait(Time),
    /// The last chunk has been sent, or the program has crashed.
    Over,
}

/// The producer of one object.
pub(crate) struct InOrder {
    object: Plain,
    /// The time to make one chunk.
    time: Duration,
    /// A chunk that takes another time.
    slow: Option<SlowSegment>,
    /// The number of the next chunk.
    next: u64,
    /// The number of chunks that may follow without a pause.
    outstanding: u32,
    /// An Interest has arrived that the program has not read.
    unread: bool,
    step: Step,
    /// Requests for metadata, with PIT tokens.
    metadata: VecDeque<(Wanted, Bytes)>,
}

impl InOrder {
    /// Creates a producer that starts at `now`.
    pub fn new(spec: &ObjectSpec, slow: Option<SlowSegment>, now: Time) -> InOrder {
        let mut producer = InOrder {
            object: Plain::new(spec),
            time: spec.service.map_or(Duration::ZERO, |service| service.time),
            slow,
            next: 0,
            outstanding: 0,
            unread: false,
            step: Step::Over,
            metadata: VecDeque::new(),
        };
        producer.make(now);
        producer
    }

    /// Begins to make the next chunk.
    fn make(&mut self, now: Time) {
        let slow = self.slow.filter(|slow| slow.segment == self.next);
        self.step = Step::Make(now + slow.map_or(self.time, |slow| slow.time));
    }

    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment().filter(|_| link.nack().is_none()) else { return };
        let Ok(interest) = Interest::decode(fragment) else { return };
        match self.object.wanted(&interest) {
            Some(wanted @ (Wanted::Metadata | Wanted::Root)) => {
                let token = Bytes::copy_from_slice(link.pit_token().unwrap_or_default());
                self.metadata.push_back((wanted, token));
            }
            // Interests for chunks that do not exist count too: the program matches the name.
            _ => {
                self.unread = true;
                self.read(now);
            }
        }
    }

    /// Reads the socket, unless a chunk is being made.
    fn read(&mut self, now: Time) {
        if !self.unread || matches!(self.step, Step::Make(_) | Step::Over) {
            return;
        }
        self.unread = false;
        self.outstanding = self.outstanding.max(ALLOWED);
        self.step = match self.step {
            Step::Check(at) => Step::Check(at.min(now)),
            Step::Wait(at) => Step::Wait(at.min(now)),
            step => step,
        };
    }

    /// Appends the next packet if it is due.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some((wanted, token)) = self.metadata.pop_front() {
            self.object.answer(wanted, &token, out);
            return true;
        }
        loop {
            match self.step {
                Step::Make(until) if until <= now && self.next == 0 => {
                    self.step = Step::Check(until + CHECK);
                    self.read(until);
                }
                Step::Make(until) if until <= now => {
                    self.send(until, out);
                    return true;
                }
                Step::Check(until) if until <= now => {
                    // The first chunk does not count.
                    self.outstanding += 1;
                    self.send(until, out);
                    return true;
                }
                Step::Wait(until) if until <= now => self.make(until),
                _ => return false,
            }
        }
    }

    /// Sends the next chunk, which is ready at `at`.
    fn send(&mut self, at: Time, out: &mut Vec<u8>) {
        self.object.answer(Wanted::Segment(self.next), &[], out);
        self.next += 1;
        if self.next == self.object.segments() {
            self.step = Step::Over;
            return;
        }
        let idle = self.outstanding == 0;
        self.outstanding = self.outstanding.saturating_sub(1);
        self.step = Step::Wait(if idle { at + IDLE } else { at });
        self.read(at);
    }

    pub fn next_deadline(&self) -> Option<Time> {
        match self.step {
            Step::Make(at) | Step::Check(at) | Step::Wait(at) => Some(at),
            Step::Over => None,
        }
    }

    /// Stops the program for good, because its node crashed. It reads its data from standard input.
    pub fn crash(&mut self) {
        self.metadata.clear();
        self.step = Step::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ServiceSpec, Signing};
    use control::Size;
    use packet::interest_buf::encode_plain_interest;
    use packet::{Component, Data};

    const MS: u64 = 1_000_000;

    fn object(segments: u64) -> ObjectSpec {
        let name = "/p/o".parse().unwrap_or_default();
        ObjectSpec {
            segment_size: 100,
            signing: Signing::Unsigned,
            service: Some(ServiceSpec { time: Duration::from_micros(2_500), queue: 0 }),
            ..ObjectSpec::new(name, Size(100 * segments))
        }
    }

    fn producer(segments: u64) -> InOrder {
        InOrder::new(&object(segments), None, Time::ZERO)
    }

    /// Passes an Interest for a segment to the producer at `ms` milliseconds.
    fn ask(producer: &mut InOrder, ms: u64, segment: u64) {
        let mut frame = Vec::new();
        let (name, last) = (object(1).versioned(), Component::segment(segment));
        encode_plain_interest(name.as_ref(), last.as_ref(), 1, 4_000, &mut frame);
        producer.receive(Time(ms * MS), &frame);
        // The engine polls after each frame.
        assert!(!producer.poll_transmit(Time(ms * MS), &mut Vec::new()));
    }

    /// The segments sent up to `until_ms` milliseconds, with their times in microseconds.
    fn sent(producer: &mut InOrder, until_ms: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        while let Some(at) = producer.next_deadline().filter(|at| *at <= Time(until_ms * MS)) {
            let mut out = Vec::new();
            if producer.poll_transmit(at, &mut out) {
                let segment = Data::decode(&out).ok().and_then(|data| data.name().last());
                all.push((segment.and_then(|last| last.as_segment()).unwrap_or(99), at.0 / 1000));
            }
        }
        all
    }

    #[test]
    fn without_interests_one_segment_a_second_is_sent() {
        let sent = sent(&mut producer(5), 60_000);
        // The check for older content takes 100 ms. The first chunk does not count. The last ends
        // the program.
        let expected = [(0, 102_500), (1, 105_000), (2, 1_107_500), (3, 2_110_000), (4, 3_112_500)];
        assert_eq!(sent, expected);
    }

    #[test]
    fn an_interest_allows_ten_beside_the_one_that_is_due() {
        let mut producer = producer(40);
        sent(&mut producer, 500);
        ask(&mut producer, 500, 30);
        let sent = sent(&mut producer, 1_600);
        // Segments 2 to 12 take 2.5 ms each, followed by a pause of a second.
        let expected: Vec<_> = (0..11).map(|n| (2 + n, 502_500 + 2_500 * n)).collect();
        assert_eq!(sent[..11], expected);
        assert_eq!(sent[11..], [(13, 1_530_000)]);
    }

    #[test]
    fn interests_are_read_between_two_segments_and_do_not_add_up() {
        let mut producer = producer(90);
        sent(&mut producer, 500);
        (20..40).for_each(|segment| ask(&mut producer, 500, segment));
        // Segment 2 is being made. This Interest is read when segment 2 is sent, and raises
        // `outstanding` again.
        ask(&mut producer, 501, 40);
        let sent = sent(&mut producer, 1_500);
        assert_eq!(sent.len(), 12, "segment 2, ten, and the one before the pause: {sent:?}");
        assert_eq!(sent[11], (13, 530_000));
    }

    #[test]
    fn an_interest_for_what_was_made_allows_more_and_is_not_answered() {
        let mut producer = producer(40);
        sent(&mut producer, 500);
        ask(&mut producer, 500, 0);
        assert_eq!(sent(&mut producer, 510).first(), Some(&(2, 502_500)));
    }

    #[test]
    fn a_slow_segment_takes_its_own_time_and_nothing_overtakes_it() {
        let slow = SlowSegment { segment: 2, time: Duration::from_millis(300) };
        let mut producer = InOrder::new(&object(40), Some(slow), Time::ZERO);
        ask(&mut producer, 0, 5);
        // The Interest arrives while segment 0 is made, and ends the check for older content.
        let sent = sent(&mut producer, 310);
        assert_eq!(sent[..4], [(0, 2_500), (1, 5_000), (2, 305_000), (3, 307_500)]);
    }

    #[test]
    fn nothing_is_sent_after_a_crash() {
        let mut producer = producer(40);
        ask(&mut producer, 0, 5);
        producer.crash();
        assert_eq!((sent(&mut producer, 9_000), producer.next_deadline()), (Vec::new(), None));
    }
}
