//! The service time of a producer: a single server with a queue of limited length.

use control::{Duration, Time};
use std::collections::VecDeque;

use crate::spec::ServiceSpec;

/// The queue of a producer, and the Interest in service.
pub(crate) struct Service {
    time: Duration,
    queue: usize,
    /// The Interests in the order of arrival; the first is in service.
    waiting: VecDeque<Box<[u8]>>,
    /// The instant at which the service of the first ends.
    done_at: Option<Time>,
}

impl Service {
    pub fn new(spec: ServiceSpec) -> Service {
        let ServiceSpec { time, queue } = spec;
        Service { time, queue, waiting: VecDeque::new(), done_at: None }
    }

    /// Accepts an Interest, or drops it if the queue is full.
    pub fn receive(&mut self, now: Time, frame: &[u8]) {
        // The Interest in service does not take a place in the queue.
        if self.waiting.len() <= self.queue {
            self.waiting.push_back(frame.into());
            self.done_at.get_or_insert(now + self.time);
        }
    }

    /// Takes the next Interest whose service has ended.
    pub fn served(&mut self, now: Time) -> Option<Box<[u8]>> {
        let done_at = self.done_at.filter(|at| *at <= now)?;
        let frame = self.waiting.pop_front();
        self.done_at = (!self.waiting.is_empty()).then(|| done_at + self.time);
        frame
    }

    /// The instant at which the service of the next Interest ends.
    pub fn next_deadline(&self) -> Option<Time> {
        self.done_at
    }

    /// Drops all Interests.
    pub fn crash(&mut self) {
        self.waiting.clear();
        self.done_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn service(queue: usize) -> Service {
        Service::new(ServiceSpec { time: Duration::from_millis(2), queue })
    }

    #[test]
    fn answers_leave_one_after_the_other() {
        let mut service = service(10);
        service.receive(Time(0), b"a");
        service.receive(Time(MS), b"b");
        service.receive(Time(MS), b"c");
        assert_eq!(service.served(Time(2 * MS - 1)), None);
        // a is done at 2 ms, b at 4, c at 6, without a call in between.
        assert_eq!(service.next_deadline(), Some(Time(2 * MS)));
        assert_eq!(service.served(Time(5 * MS)).as_deref(), Some(&b"a"[..]));
        assert_eq!(service.served(Time(5 * MS)).as_deref(), Some(&b"b"[..]));
        assert_eq!(service.served(Time(5 * MS)), None);
        assert_eq!(service.next_deadline(), Some(Time(6 * MS)));
        assert_eq!(service.served(Time(6 * MS)).as_deref(), Some(&b"c"[..]));
        // The server is idle: service begins when the next Interest arrives.
        assert_eq!(service.next_deadline(), None);
        service.receive(Time(9 * MS), b"d");
        assert_eq!(service.next_deadline(), Some(Time(11 * MS)));
    }

    #[test]
    fn a_full_queue_drops_frames() {
        let mut service = service(2);
        for frame in [b"a", b"b", b"c", b"d", b"e"] {
            service.receive(Time(0), frame);
        }
        let all: Vec<_> = std::iter::from_fn(|| service.served(Time(100 * MS))).collect();
        // One in service and two places behind it.
        assert_eq!(all.len(), 3);
        assert_eq!(&*all[2], b"c");
    }

    #[test]
    fn a_crash_forgets_what_waits() {
        let mut service = service(2);
        service.receive(Time(0), b"a");
        service.crash();
        assert_eq!((service.served(Time(9 * MS)), service.next_deadline()), (None, None));
    }
}
