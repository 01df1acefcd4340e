//! The state of shapers per flow: their own data, and the waiting Interests, served in turn.

use control::{Flow, InterestMeta, Size};
use std::collections::{BTreeMap, VecDeque};

/// The number of hash values that distinguish flows, as in P. McKenney, "Stochastic Fairness
/// Queueing", INFOCOM 1990: it limits the memory, whatever is sent. Two flows with one value, one
/// pair in sixteen thousand, are served as one.
const FLOWS: u64 = 1 << 14;

/// More than a run of 256 segments of the largest packets is not believed of any Interest.
const MOST_EXPECTED: u64 = 256 * packet::MAX_PACKET as u64;

/// The bytes that an Interest is charged with: what it is expected to bring, within reason. An
/// Interest for nothing would otherwise be free, and one for everything stop its flow for good.
pub(crate) fn charge(expected: Size) -> u64 {
    expected.0.clamp(1, MOST_EXPECTED)
}

/// A shaper's state of a flow.
pub(crate) trait FlowState {
    /// It says no more than a new one would: it need not be kept.
    fn is_idle(&self) -> bool;
}

struct Entry<S> {
    state: S,
    waiting: VecDeque<InterestMeta>,
}

/// The flows of a link.
pub(crate) struct PerFlow<S> {
    flows: BTreeMap<u64, Entry<S>>,
    /// Those whose Interests wait, the one whose turn it is first.
    turns: VecDeque<u64>,
    /// The turn of the first of them has not begun.
    fresh: bool,
    new: fn() -> S,
}

impl<S: FlowState> PerFlow<S> {
    /// No flows; `new` is the state that a flow begins with.
    pub(crate) fn new(new: fn() -> S) -> PerFlow<S> {
        PerFlow { flows: BTreeMap::new(), turns: VecDeque::new(), fresh: true, new }
    }

    /// How many flows are kept: those that are not idle, or whose Interests wait.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// True if Interests of any flow wait.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.turns.is_empty()
    }

    /// How many Interests of this flow wait.
    pub(crate) fn waiting(&self, flow: Flow) -> usize {
        self.flows.get(&(flow % FLOWS)).map_or(0, |entry| entry.waiting.len())
    }

    /// A flow's state, if it is kept.
    pub(crate) fn state(&self, flow: Flow) -> Option<&S> {
        self.flows.get(&(flow % FLOWS)).map(|entry| &entry.state)
    }

    /// Changes a flow's state.
    pub(crate) fn change<R>(&mut self, flow: Flow, change: impl FnOnce(&mut S) -> R) -> R {
        let key = flow % FLOWS;
        let entry = self.entry(key);
        let result = change(&mut entry.state);
        self.forget_if_idle(key);
        result
    }

    /// Changes the states of all flows.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut S)) {
        self.flows.values_mut().for_each(|entry| change(&mut entry.state));
        self.flows.retain(|_, entry| !entry.waiting.is_empty() || !entry.state.is_idle());
    }

    /// An Interest joins those of its flow that wait.
    pub(crate) fn push(&mut self, interest: InterestMeta) {
        let key = interest.flow % FLOWS;
        let entry = self.entry(key);
        let first = entry.waiting.is_empty();
        entry.waiting.push_back(interest);
        if first {
            self.fresh |= self.turns.is_empty();
            self.turns.push_back(key);
        }
    }

    /// Changes the state of the flow whose turn it is, once a turn.
    pub(crate) fn begin_turn(&mut self, begin: impl FnOnce(&mut S)) {
        let fresh = std::mem::replace(&mut self.fresh, false);
        if let Some((_, state)) = self.head().filter(|_| fresh) {
            begin(state);
        }
    }

    /// The first Interest of the flow whose turn it is, with the flow's state.
    pub(crate) fn head(&mut self) -> Option<(&InterestMeta, &mut S)> {
        let entry = self.flows.get_mut(self.turns.front()?)?;
        entry.waiting.front().map(|interest| (interest, &mut entry.state))
    }

    /// Takes the first Interest of the flow whose turn it is; `change` updates its state, and gets
    /// true if it was its last. The turn stays while more wait.
    pub(crate) fn pop(
        &mut self,
        change: impl FnOnce(&mut S, &InterestMeta, bool),
    ) -> Option<InterestMeta> {
        let key = *self.turns.front()?;
        let entry = self.flows.get_mut(&key)?;
        let interest = entry.waiting.pop_front()?;
        let last = entry.waiting.is_empty();
        change(&mut entry.state, &interest, last);
        if last {
            self.turns.pop_front();
            self.fresh = true;
            self.forget_if_idle(key);
        }
        Some(interest)
    }

    /// It is the next flow's turn.
    pub(crate) fn next_turn(&mut self) {
        if let Some(key) = self.turns.pop_front() {
            self.turns.push_back(key);
            self.fresh = true;
        }
    }

    /// How many flows have Interests that wait.
    pub(crate) fn backlogged(&self) -> usize {
        self.turns.len()
    }

    fn entry(&mut self, key: u64) -> &mut Entry<S> {
        let new = self.new;
        self.flows.entry(key).or_insert_with(|| Entry { state: new(), waiting: VecDeque::new() })
    }

    fn forget_if_idle(&mut self, key: u64) {
        if let Some(entry) = self.flows.get(&key)
            && entry.waiting.is_empty()
            && entry.state.is_idle()
        {
            self.flows.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Time;
    use packet::HopOptions;

    #[derive(Default)]
    struct Count(u32);
    impl FlowState for Count {
        fn is_idle(&self) -> bool {
            self.0 == 0
        }
    }

    fn interest(flow: Flow, segment: u64) -> InterestMeta {
        InterestMeta {
            flow,
            segment,
            size: Size(50),
            expected: Size(8000),
            expires: Time::MAX,
            options: HopOptions::new(),
            handle: segment,
        }
    }

    #[test]
    fn flows_are_served_in_turn_and_forgotten_when_idle() {
        let mut flows: PerFlow<Count> = PerFlow::new(Count::default);
        for (flow, segment) in [(7, 1), (7, 2), (8, 3)] {
            flows.push(interest(flow, segment));
        }
        flows.change(9, |count| count.0 = 1);
        assert_eq!((flows.len(), flows.backlogged(), flows.waiting(7)), (3, 2, 2));
        let mut order = Vec::new();
        while let Some(interest) = flows.pop(|_, _, _| {}) {
            order.push(interest.segment);
            flows.next_turn();
        }
        assert_eq!(order, [1, 3, 2]);
        assert_eq!(flows.len(), 1, "flow 9 is not idle");
        flows.change(9, |count| count.0 = 0);
        assert_eq!((flows.len(), flows.is_waiting()), (0, false));
    }

    #[test]
    fn state_kept_for_flows_is_bounded() {
        let mut flows: PerFlow<Count> = PerFlow::new(Count::default);
        (0..100_000).for_each(|flow| flows.change(flow, |count| count.0 += 1));
        assert_eq!(flows.len() as u64, FLOWS);
    }

    #[test]
    fn charges_are_bounded() {
        assert_eq!(charge(Size(0)), 1);
        assert_eq!(charge(Size(8000)), 8000);
        assert_eq!(charge(Size(u64::MAX)), 2_252_800);
    }
}
