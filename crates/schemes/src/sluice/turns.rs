//! Waiting Interests, served so that each flow gets equal bytes of Data: start-time fair queueing
//! (P. Goyal, H. Vin, H. Cheng, SIGCOMM 1996).
//!
//! - v(t) is the start tag of what was served last; when nothing is left to serve, the largest
//!   finish tag;
//! - S = max(v, F of the flow's Interest before), F = S + its bytes;
//! - the smallest S is served first.
//!
//! A tag is kept for a flow without waiting Interests until v has passed it: a flow does not gain
//! by having just one at a time.

use control::{Flow, InterestMeta};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The number of hash values that distinguish flows; see [`crate::per_flow`].
const FLOWS: u64 = 1 << 14;

#[derive(Default)]
struct Queue {
    /// Each with the bytes of Data that it is taken to ask for.
    waiting: VecDeque<(InterestMeta, u64)>,
    /// Their sum.
    bytes: u64,
    /// S of the first of them; F of the last one served if none waits.
    tag: u64,
}

/// See the module.
#[derive(Default)]
pub(super) struct Turns {
    flows: BTreeMap<u64, Queue>,
    /// S and flow, of flows with waiting Interests; F and flow, of the others.
    busy: BTreeSet<(u64, u64)>,
    idle: BTreeSet<(u64, u64)>,
    waiting: usize,
    /// v.
    now: u64,
    /// The largest F.
    last: u64,
}

impl Turns {
    /// Interests that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Flows whose Interests wait.
    pub(super) fn flows(&self) -> usize {
        self.busy.len()
    }

    /// A flow's waiting Interests, and the bytes of Data that they ask for.
    pub(super) fn of(&self, flow: Flow) -> (usize, u64) {
        self.flows.get(&(flow % FLOWS)).map_or((0, 0), |queue| (queue.waiting.len(), queue.bytes))
    }

    /// An Interest of this flow passes while nothing waits.
    pub(super) fn pass(&mut self, flow: Flow, bytes: u64) {
        self.now = self.last;
        self.forget();
        let key = flow % FLOWS;
        self.last = self.now + bytes;
        self.flows.entry(key).or_default().tag = self.last;
        self.idle.insert((self.last, key));
    }

    /// An Interest for so many bytes of Data waits.
    pub(super) fn push(&mut self, interest: InterestMeta, bytes: u64) {
        let key = interest.flow % FLOWS;
        let queue = self.flows.entry(key).or_default();
        if queue.waiting.is_empty() {
            self.idle.remove(&(queue.tag, key));
            queue.tag = queue.tag.max(self.now);
            self.busy.insert((queue.tag, key));
        }
        queue.bytes += bytes;
        queue.waiting.push_back((interest, bytes));
        self.waiting += 1;
    }

    /// The Interest whose turn it is, and the bytes of Data that it asks for.
    pub(super) fn pop(&mut self) -> Option<(InterestMeta, u64)> {
        let (start, key) = self.busy.pop_first()?;
        let queue = self.flows.get_mut(&key)?;
        let (interest, bytes) = queue.waiting.pop_front()?;
        queue.bytes -= bytes;
        queue.tag = start + bytes;
        self.waiting -= 1;
        self.last = self.last.max(queue.tag);
        let set = if queue.waiting.is_empty() { &mut self.idle } else { &mut self.busy };
        set.insert((queue.tag, key));
        self.now = if self.waiting == 0 { self.last } else { start };
        self.forget();
        Some((interest, bytes))
    }

    /// Forgets flows whose tags v has passed.
    fn forget(&mut self) {
        while let Some((tag, key)) = self.idle.first().copied().filter(|(tag, _)| *tag <= self.now)
        {
            self.idle.remove(&(tag, key));
            self.flows.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::per_flow::charge;
    use control::{Size, Time};
    use packet::HopOptions;

    fn interest(flow: u64) -> InterestMeta {
        InterestMeta {
            flow,
            segment: 0,
            size: Size(50),
            expected: Size(0),
            expires: Time::MAX,
            options: HopOptions::new(),
            handle: 0,
        }
    }

    #[test]
    fn the_smallest_start_tag_is_served_first() {
        let mut turns = Turns::default();
        // S of flow 1: 0, 100, 200; of flow 2: 0, 250.
        for (flow, bytes) in [(1, 100), (1, 100), (1, 100), (2, 250), (2, 10)] {
            turns.push(interest(flow), bytes);
        }
        assert_eq!((turns.len(), turns.flows(), turns.of(2)), (5, 2, (2, 260)));
        let order: Vec<_> = std::iter::from_fn(|| turns.pop()).map(|(i, _)| i.flow).collect();
        assert_eq!(order, [1, 2, 1, 1, 2]);
        assert!(turns.flows.is_empty() && turns.idle.is_empty(), "all are forgotten");
    }

    #[test]
    fn one_interest_at_a_time_brings_no_more_than_many() {
        let mut turns = Turns::default();
        (0..100).for_each(|_| turns.push(interest(1), 1000));
        turns.push(interest(2), 1000);
        let mut served = [0, 0];
        for _ in 0..100 {
            let (passed, _) = turns.pop().unwrap();
            served[passed.flow as usize - 1] += 1;
            if passed.flow == 2 {
                turns.push(interest(2), 1000);
            }
        }
        assert_eq!(served, [50, 50]);
    }

    #[test]
    fn an_interest_for_everything_delays_no_other_flow() {
        let mut turns = Turns::default();
        turns.push(interest(1), 1000);
        turns.push(interest(3), charge(Size(u64::MAX)));
        turns.push(interest(3), charge(Size(u64::MAX)));
        (0..20).for_each(|_| turns.push(interest(1), 1000));
        let first: Vec<_> =
            std::iter::from_fn(|| turns.pop()).map(|(i, _)| i.flow).take(22).collect();
        assert_eq!(first.iter().filter(|flow| **flow == 1).count(), 21, "{first:?}");
    }

    #[test]
    fn state_is_bounded_and_forgotten() {
        let mut turns = Turns::default();
        (0..100_000).for_each(|flow| turns.pass(flow, 1000));
        assert!(turns.flows.len() <= 1, "{}", turns.flows.len());
        (0..100_000).for_each(|flow| turns.push(interest(flow), 1000));
        assert_eq!(turns.flows.len() as u64, FLOWS);
        while turns.pop().is_some() {}
        assert!(turns.flows.is_empty());
    }
}
