//! One direction of a link, from the sending face to the receiving node.
//!
//! A wire holds the frames in flight in the order of their arrival. The event list contains only
//! the arrival of the first. Small frames are concatenated in one buffer, and Data packets are
//! shared with their other owners, so a frame in flight needs no allocation.

use bytes::Bytes;
use control::{Duration, Rate, Size, Time};
use forwarder::link::pacing::Pacer;
use std::collections::VecDeque;

use crate::impairment::{Dice, Fate, Impairment, Loss};
use record::{LinkId, WireCounters};

/// The number of a wire. Each link has two, first the one from its `a` to its `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireId(pub u32);

impl WireId {
    /// The wire of a link's direction.
    pub fn of(link: LinkId, backward: bool) -> WireId {
        WireId(2 * link.0 + u32::from(backward))
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// True for the direction from the link's `b` to its `a`.
    pub fn is_backward(self) -> bool {
        self.0 % 2 == 1
    }
}

/// A frame to be sent.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    Bytes(&'a [u8]),
    Shared(Bytes),
}

#[derive(Debug)]
struct InFlight {
    at: Time,
    len: u32,
    /// The bytes; `None` if they are the next ones in the buffer.
    shared: Option<Bytes>,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Wire {
    delay: Duration,
    overhead: u64,
    /// Calculates the instant at which the last bit of a frame is sent. It receives the same calls
    /// as the face's own pacer, so that the two agree to the nanosecond.
    pacer: Option<Pacer>,
    dice: Option<Box<Dice>>,
    /// The latest arrival that keeps the order.
    latest: Time,
    frames: VecDeque<InFlight>,
    buffer: Vec<u8>,
    head: usize,
    up: bool,
    counters: WireCounters,
}

impl Wire {
    pub fn new(
        rate: Option<Rate>,
        delay: Duration,
        overhead: usize,
        dice: Option<Box<Dice>>,
    ) -> Wire {
        Wire {
            delay,
            overhead: overhead as u64,
            pacer: rate.map(|rate| Pacer::new(rate, Duration::ZERO)),
            dice,
            latest: Time::ZERO,
            frames: VecDeque::new(),
            buffer: Vec::new(),
            head: 0,
            up: true,
            counters: WireCounters::default(),
        }
    }

    /// Its counters until now.
    pub fn counters(&self) -> WireCounters {
        self.counters
    }

    /// The number of frames on the wire.
    pub fn in_flight(&self) -> usize {
        self.frames.len()
    }

    /// The time spent sending until now. The counter already includes the rest of the last frame,
    /// which is subtracted.
    pub fn busy(&self, now: Time) -> Duration {
        let ahead = self.pacer.as_ref().map_or(Duration::ZERO, |pacer| pacer.next().since(now));
        self.counters.busy.saturating_sub(ahead)
    }

    /// The instant at which the next frame arrives.
    pub fn next_arrival(&self) -> Option<Time> {
        self.frames.front().map(|frame| frame.at)
    }

    /// Begins to send a frame.
    pub fn send(&mut self, now: Time, frame: Frame<'_>) {
        let len = match &frame {
            Frame::Bytes(bytes) => bytes.len(),
            Frame::Shared(bytes) => bytes.len(),
        };
        self.counters.sent += 1;
        let mut sent = now;
        if let Some(pacer) = &mut self.pacer {
            pacer.on_backlog(now);
            pacer.on_sent(now, Size(len as u64 + self.overhead));
            sent = pacer.next();
            self.counters.busy += sent.since(now);
        }
        let fate = self.dice.as_mut().map(|dice| dice.roll());
        if !self.up {
            self.counters.down += 1;
            return;
        }
        match fate {
            Some(fate) => self.send_impaired(sent, frame, fate),
            None => {
                let shared = match frame {
                    Frame::Bytes(bytes) => {
                        self.buffer.extend_from_slice(bytes);
                        None
                    }
                    Frame::Shared(bytes) => Some(bytes),
                };
                // The delay may have become smaller.
                self.latest = self.latest.max(sent + self.delay);
                self.frames.push_back(InFlight { at: self.latest, len: len as u32, shared });
            }
        }
    }

    /// Sends a frame with impairments. Frames that may overtake each other do not use the buffer.
    fn send_impaired(&mut self, sent: Time, frame: Frame<'_>, fate: Fate) {
        if fate.lost {
            self.counters.lost += 1;
            return;
        }
        let mut bytes = match frame {
            Frame::Bytes(bytes) => Bytes::copy_from_slice(bytes),
            Frame::Shared(bytes) => bytes,
        };
        if let Some((position, change)) = fate.corrupt.filter(|_| !bytes.is_empty()) {
            let mut changed = bytes.to_vec();
            changed[(position % bytes.len() as u64) as usize] ^= change;
            bytes = changed.into();
            self.counters.corrupted += 1;
        }
        self.latest = self.latest.max(sent + self.delay + fate.jitter);
        let at = self.latest + fate.held_back;
        self.insert(at, bytes.clone());
        if fate.twice {
            self.counters.duplicated += 1;
            self.insert(at, bytes);
        }
    }

    fn insert(&mut self, at: Time, bytes: Bytes) {
        let behind = self.frames.iter().rev().take_while(|frame| frame.at > at).count();
        let len = bytes.len() as u32;
        self.frames.insert(self.frames.len() - behind, InFlight { at, len, shared: Some(bytes) });
    }

    /// The first frame, if it has arrived.
    pub fn arrived(&self, now: Time) -> Option<forwarder::Wire<'_>> {
        let frame = self.frames.front().filter(|frame| frame.at <= now)?;
        Some(match &frame.shared {
            Some(bytes) => forwarder::Wire::Shared(bytes),
            None => {
                let end = self.head + frame.len as usize;
                forwarder::Wire::Borrowed(&self.buffer[self.head..end])
            }
        })
    }

    /// Removes the first frame, which its node has received.
    pub fn deliver(&mut self) {
        self.consume();
        self.counters.delivered += 1;
    }

    /// Removes the first frame, which arrived at a node that is down.
    pub fn lose(&mut self) {
        self.consume();
        self.counters.node_down += 1;
    }

    fn consume(&mut self) {
        let Some(frame) = self.frames.pop_front() else { return };
        if frame.shared.is_some() {
            return;
        }
        self.head += frame.len as usize;
        if self.head == self.buffer.len() {
            self.buffer.clear();
            self.head = 0;
        } else if self.head > self.buffer.len() / 2 {
            // Only the shorter part moves, so on average each byte moves at most once.
            self.buffer.copy_within(self.head.., 0);
            self.buffer.truncate(self.buffer.len() - self.head);
            self.head = 0;
        }
    }

    /// Sets the link up or down. Frames in flight are lost when it goes down.
    pub fn set_up(&mut self, up: bool) {
        self.up = up;
        if !up {
            self.counters.down += self.frames.len() as u64;
            self.frames.clear();
            self.buffer.clear();
            self.head = 0;
        }
    }

    /// Changes the propagation delay for later frames.
    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    /// Changes the loss of later frames. `names` select the random streams of a wire that had no
    /// impairments.
    pub fn set_loss(&mut self, seed: u64, names: [&str; 3], loss: Loss) {
        match &mut self.dice {
            Some(dice) => dice.set_loss(loss),
            None => {
                self.dice = Dice::new(seed, names, &Impairment { loss, ..Impairment::default() })
            }
        }
    }

    /// Changes the rate for later frames.
    pub fn set_rate(&mut self, rate: Option<Rate>) {
        self.pacer = match (self.pacer.take(), rate) {
            (Some(mut pacer), Some(rate)) => {
                pacer.set_rate(rate);
                Some(pacer)
            }
            (_, rate) => rate.map(|rate| Pacer::new(rate, Duration::ZERO)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::{Impairment, Loss, Reorder};

    const MS: Duration = Duration::from_millis(1);

    fn arrivals(wire: &mut Wire) -> Vec<(u64, Vec<u8>)> {
        let mut all = Vec::new();
        while let Some(at) = wire.next_arrival() {
            let bytes = match wire.arrived(at).unwrap() {
                forwarder::Wire::Borrowed(bytes) => bytes.to_vec(),
                forwarder::Wire::Shared(bytes) => bytes.to_vec(),
            };
            all.push((at.0, bytes));
            wire.consume();
        }
        all
    }

    fn impaired(impairment: Impairment) -> Wire {
        Wire::new(None, MS, 0, Dice::new(1, ["a", "b", "0"], &impairment))
    }

    #[test]
    fn serialisation_and_propagation_to_the_nanosecond() {
        // 7 Mbit/s: 1500 bytes take 1714285 and 5/7 ns, two of them 3428571 and 3/7, three
        // 5142857 and 1/7.
        let mut wire = Wire::new(Some(Rate::from_mbps(7)), MS, 0, None);
        for at in [0, 1_714_285, 3_428_571] {
            wire.send(Time(at), Frame::Bytes(&[0; 1500]));
        }
        let times: Vec<u64> = arrivals(&mut wire).into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, [2_714_285, 4_428_571, 6_142_857]);
        assert_eq!(wire.counters.busy, Duration(5_142_857));
    }

    #[test]
    fn the_overhead_takes_time_and_a_new_rate_counts_at_once() {
        // 990 bytes and an overhead of 10 take 1 ms at 8 Mbit/s, and a tenth of it at 80 Mbit/s.
        let mut wire = Wire::new(Some(Rate::from_mbps(8)), MS, 10, None);
        wire.send(Time(0), Frame::Bytes(&[0; 990]));
        wire.set_rate(Some(Rate::from_mbps(80)));
        wire.send(Time(1_000_000), Frame::Bytes(&[0; 990]));
        let times: Vec<u64> = arrivals(&mut wire).into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, [2_000_000, 2_100_000]);
    }

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let mut wire = Wire::new(None, MS, 0, None);
        let mut out = Vec::new();
        for n in 0..100u8 {
            let bytes = vec![n; usize::from(n % 7)];
            match n % 3 {
                0 => wire.send(Time(0), Frame::Shared(bytes.into())),
                _ => wire.send(Time(0), Frame::Bytes(&bytes)),
            }
            if n % 2 == 0 {
                out.extend(wire.arrived(Time(MS.0)).map(|_| ()));
            }
        }
        let all = arrivals(&mut wire);
        assert_eq!(all.len(), 100);
        assert!(all.iter().zip(0..100u8).all(|((_, o), n)| *o == vec![n; usize::from(n % 7)]));
        assert!(wire.buffer.is_empty());
    }

    #[test]
    fn jitter_keeps_the_order_and_reordering_does_not() {
        let jitter = Duration(1000);
        let mut wire = impaired(Impairment { jitter, ..Impairment::default() });
        (0..50u8).for_each(|n| wire.send(Time(u64::from(n) * 10), Frame::Bytes(&[n])));
        let all = arrivals(&mut wire);
        assert!(all.is_sorted_by_key(|(_, bytes)| bytes[0]) && all.is_sorted_by_key(|(t, _)| *t));
        assert!(all.iter().any(|(at, bytes)| *at > MS.0 + u64::from(bytes[0]) * 10));

        let reorder = Reorder { probability: 0.5, by: Duration(25) };
        let mut wire = impaired(Impairment { reorder, ..Impairment::default() });
        (0..50u8).for_each(|n| wire.send(Time(u64::from(n) * 10), Frame::Bytes(&[n])));
        let all = arrivals(&mut wire);
        assert!(all.is_sorted_by_key(|(at, _)| *at) && all.len() == 50);
        assert!(!all.is_sorted_by_key(|(_, bytes)| bytes[0]));
        let late = |(at, bytes): &(u64, Vec<u8>)| at - MS.0 - u64::from(bytes[0]) * 10;
        assert!(all.iter().all(|frame| matches!(late(frame), 0 | 25)));
    }

    #[test]
    fn loss_duplication_and_corruption_are_counted() {
        let mut wire = impaired(Impairment { loss: Loss::Random(1.0), ..Impairment::default() });
        wire.send(Time(0), Frame::Bytes(&[1]));
        assert_eq!((wire.in_flight(), wire.counters.lost), (0, 1));
        let mut wire = impaired(Impairment { duplicate: 1.0, ..Impairment::default() });
        wire.send(Time(0), Frame::Bytes(&[1]));
        assert_eq!((arrivals(&mut wire).len(), wire.counters.duplicated), (2, 1));
        let mut wire = impaired(Impairment { corrupt: 1.0, ..Impairment::default() });
        wire.send(Time(0), Frame::Bytes(&[0; 10]));
        let all = arrivals(&mut wire);
        assert_eq!(all[0].1.iter().filter(|byte| **byte != 0).count(), 1);
    }

    #[test]
    fn frames_on_a_link_that_goes_down_are_lost() {
        let mut wire = Wire::new(None, MS, 0, None);
        wire.send(Time(0), Frame::Bytes(&[1, 2, 3]));
        wire.set_up(false);
        wire.send(Time(5), Frame::Bytes(&[4]));
        assert_eq!((wire.next_arrival(), wire.counters.down), (None, 2));
        wire.set_up(true);
        wire.send(Time(9), Frame::Bytes(&[5]));
        assert_eq!(arrivals(&mut wire), [(9 + MS.0, vec![5])]);
    }
}
