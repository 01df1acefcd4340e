//! Waiting Interests, served so that each flow gets equal bytes of Data: self-clocked fair queueing
//! (S. Golestani, "A self-clocked fair queueing scheme for broadband applications", INFOCOM 1994).
//!
//! - v is the finish tag of the Interest that was served last;
//! - F = max(v, F of the flow's Interest before) + its bytes;
//! - the smallest F is served first.
//!
//! A flow without waiting Interests needs no tag: its last F is not above v. So flows that are not
//! waiting take no memory, and each service advances v, whatever names are new.

use control::{Flow, InterestMeta, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The number of hash values that distinguish flows; see [`crate::per_flow`].
const FLOWS: u64 = 1 << 14;

#[derive(Default)]
struct Queue {
    /// Each with the bytes of Data that it is charged for.
    waiting: VecDeque<(InterestMeta, u64)>,
    /// Their sum.
    bytes: u64,
    /// The number and bytes of expired Interests at the front: each is looked at once.
    expired: (usize, u64),
    /// F of the first of them.
    tag: u64,
}

/// See the module.
#[derive(Default)]
pub(super) struct Turns {
    /// Flows with waiting Interests.
    flows: BTreeMap<u64, Queue>,
    /// F and flow of each.
    order: BTreeSet<(u64, u64)>,
    waiting: usize,
    /// v.
    now: u64,
}

impl Turns {
    /// Interests that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Flows whose Interests wait.
    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// True if Interests of this flow wait, whether or not they have expired.
    pub(super) fn has(&self, flow: Flow) -> bool {
        self.flows.contains_key(&(flow % FLOWS))
    }

    /// A flow's waiting Interests that have not expired, and the bytes of Data that they ask for. A
    /// clock that goes back revives none.
    pub(super) fn of(&mut self, now: Time, flow: Flow) -> (usize, u64) {
        let Some(queue) = self.flows.get_mut(&(flow % FLOWS)) else { return (0, 0) };
        let (over, bytes) = &mut queue.expired;
        while let Some((interest, more)) = queue.waiting.get(*over)
            && interest.expires <= now
        {
            (*over, *bytes) = (*over + 1, *bytes + more);
        }
        (queue.waiting.len() - *over, queue.bytes - *bytes)
    }

    /// Adds an Interest for `bytes` of Data.
    pub(super) fn push(&mut self, interest: InterestMeta, bytes: u64) {
        let key = interest.flow % FLOWS;
        let queue = self.flows.entry(key).or_default();
        if queue.waiting.is_empty() {
            queue.tag = self.now + bytes;
            self.order.insert((queue.tag, key));
        }
        queue.bytes += bytes;
        queue.waiting.push_back((interest, bytes));
        self.waiting += 1;
    }

    /// The Interest whose turn it is, and the bytes of Data that it asks for. One that has expired
    /// takes no turn.
    pub(super) fn pop(&mut self, now: Time) -> Option<(InterestMeta, u64)> {
        let (tag, key) = self.order.pop_first()?;
        let queue = self.flows.get_mut(&key)?;
        let (interest, bytes) = queue.waiting.pop_front()?;
        queue.bytes -= bytes;
        if queue.expired.0 > 0 {
            queue.expired = (queue.expired.0 - 1, queue.expired.1 - bytes);
        }
        self.waiting -= 1;
        let tag = if interest.expires > now { tag } else { self.now.max(tag - bytes) };
        self.now = tag;
        if let Some((_, next)) = queue.waiting.front() {
            queue.tag = tag + next;
            self.order.insert((queue.tag, key));
        } else {
            self.flows.remove(&key);
        }
        Some((interest, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::link::per_flow::charge;
    use control::Size;
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
    fn expired_interests_do_not_count_and_take_no_turn() {
        let mut turns = Turns::default();
        let at = |ms| Time::ZERO + control::Duration::from_millis(ms);
        let lives = |ms| InterestMeta { expires: at(ms), ..interest(1) };
        for ms in [10, 20, 99] {
            turns.push(lives(ms), 100);
        }
        turns.push(interest(2), 150);
        assert_eq!(turns.of(at(9), 1), (3, 300));
        assert_eq!(turns.of(at(10), 1), (2, 200));
        assert_eq!(turns.of(at(20), 1), (1, 100));
        // Those of flow 1 that have expired leave the third one the tag of the first.
        let order: Vec<_> = std::iter::from_fn(|| turns.pop(at(20))).map(|(i, _)| i.flow).collect();
        assert_eq!(order, [1, 1, 1, 2]);
        turns.push(lives(99), 100);
        assert_eq!(turns.of(at(20), 1), (1, 100));
    }

    #[test]
    fn the_smallest_finish_tag_is_served_first() {
        let mut turns = Turns::default();
        // F of flow 1: 100, 200, 300; of flow 2: 250, 260.
        for (flow, bytes) in [(1, 100), (1, 100), (1, 100), (2, 250), (2, 10)] {
            turns.push(interest(flow), bytes);
        }
        assert_eq!((turns.len(), turns.flows(), turns.of(Time::ZERO, 2)), (5, 2, (2, 260)));
        let order: Vec<_> =
            std::iter::from_fn(|| turns.pop(Time::ZERO)).map(|(i, _)| i.flow).collect();
        assert_eq!(order, [1, 1, 2, 2, 1]);
        assert!(turns.flows.is_empty() && turns.order.is_empty(), "all are forgotten");
    }

    #[test]
    fn ever_new_names_stop_no_flow() {
        let mut turns = Turns::default();
        (0..8).for_each(|_| turns.push(interest(1), 1000));
        turns.push(interest(2), 10);
        let mut served = 0;
        for name in 3..903 {
            match turns.pop(Time::ZERO).unwrap().0.flow {
                1 => served += 1,
                _ => turns.push(interest(name), 10),
            }
        }
        // A flow's 1000 bytes are due after 1000 of the names.
        assert_eq!(served, 8);
    }

    #[test]
    fn one_interest_at_a_time_brings_no_more_than_many() {
        let mut turns = Turns::default();
        (0..100).for_each(|_| turns.push(interest(1), 1000));
        turns.push(interest(2), 1000);
        let mut served = [0, 0];
        for _ in 0..100 {
            let (passed, _) = turns.pop(Time::ZERO).unwrap();
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
            std::iter::from_fn(|| turns.pop(Time::ZERO)).map(|(i, _)| i.flow).take(22).collect();
        assert_eq!(first.iter().filter(|flow| **flow == 1).count(), 21, "{first:?}");
    }

    #[test]
    fn state_is_bounded_and_forgotten() {
        let mut turns = Turns::default();
        (0..100_000).for_each(|flow| turns.push(interest(flow), 1000));
        assert_eq!(turns.flows.len() as u64, FLOWS);
        while turns.pop(Time::ZERO).is_some() {}
        assert!(turns.flows.is_empty());
    }
}
