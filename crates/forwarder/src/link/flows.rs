//! The flows that are active on a face, and how large their Data is.

use control::{Duration, Flow, Size, Time};
use packet::options::ExpectedBytes;
use std::collections::{BTreeMap, VecDeque};

use crate::tables::memory::{self, Room};

/// A flow is active if a packet of it crossed the face within this time: a few round trips on the
/// longest terrestrial paths.
const ACTIVE: Duration = Duration::from_secs(1);

/// The limit on tracked flows: the flow that was idle longest is forgotten first.
const MAX_FLOWS: usize = 4096;

/// The expected size of Data before any has been seen: the segment size that NDN tools agree on,
/// 8000 bytes, with name and signature.
const DEFAULT_SIZE: Size = Size(8192);

#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Time,
    /// The size of its latest Data.
    size: Option<Size>,
}

/// The flows that crossed a face lately. Kept only where a scheme's part looks at them.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    seen: BTreeMap<Flow, Seen>,
    /// In order of time; an entry whose time is not its flow's latest is left over.
    order: VecDeque<(Time, Flow)>,
    latest: Option<Size>,
}

impl Flows {
    /// Bytes of memory held: a tree that is half full, and the notes.
    pub(crate) fn memory(&self) -> usize {
        self.seen.len() * 2 * size_of::<(Flow, Seen)>() + memory::deque(&self.order)
    }

    /// A packet of the flow crossed the face; `data` is its size if it is Data. Where there is no
    /// memory for one more flow, others are forgotten as if there were too many.
    pub(crate) fn touch(&mut self, now: Time, flow: Flow, data: Option<Size>, room: Room) {
        self.expire(now);
        while !room.holds(|| self.growth()) && self.forget_first() {}
        let seen = self.seen.entry(flow).or_insert(Seen { at: Time::MAX, size: None });
        if data.is_some() {
            (seen.size, self.latest) = (data, data);
        }
        // A note for every sixteenth of the time is enough, and bounds the notes.
        if seen.at == Time::MAX || now.since(seen.at).0 >= ACTIVE.0 / 16 {
            seen.at = now;
            self.order.push_back((now, flow));
        }
        while self.seen.len() > MAX_FLOWS && self.forget_first() {}
    }

    /// Bytes that one more flow would add.
    fn growth(&self) -> usize {
        2 * size_of::<(Flow, Seen)>() + memory::deque_growth(&self.order, 1)
    }

    /// Flows that are active.
    pub(crate) fn count(&self) -> u32 {
        self.seen.len() as u32
    }

    /// The bytes of Data that an Interest of this flow is expected to bring: the size of the flow's
    /// latest Data; before, the size that the consumer announces, within the limit of a Data
    /// packet; otherwise that of the face's latest Data. An observed size overrides an announced
    /// one, because shapers charge for it.
    pub(crate) fn expected(&self, flow: Flow, announced: Option<ExpectedBytes>) -> Size {
        let own = self.seen.get(&flow).and_then(|s| s.size);
        if let (None, Some(ExpectedBytes(bytes))) = (own, announced) {
            return Size(bytes.clamp(1, packet::MAX_PACKET as u64));
        }
        own.or(self.latest).unwrap_or(DEFAULT_SIZE)
    }

    fn expire(&mut self, now: Time) {
        while let Some(&(at, _)) = self.order.front()
            && now.since(at) > ACTIVE
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) -> bool {
        let Some((at, flow)) = self.order.pop_front() else { return false };
        if self.seen.get(&flow).is_some_and(|s| s.at == at) {
            self.seen.remove(&flow);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time(n * 1_000_000)
    }

    #[test]
    fn a_flow_is_active_for_a_while_after_its_latest_packet() {
        let mut flows = Flows::default();
        flows.touch(ms(0), 1, None, Room::Uncounted);
        flows.touch(ms(10), 2, None, Room::Uncounted);
        flows.touch(ms(900), 1, None, Room::Uncounted);
        assert_eq!(flows.count(), 2);
        flows.touch(ms(1500), 1, None, Room::Uncounted);
        assert_eq!(flows.count(), 1, "flow 2 was quiet for more than a second");
    }

    #[test]
    fn an_interest_is_expected_to_bring_what_its_flow_brought_last() {
        let mut flows = Flows::default();
        assert_eq!(flows.expected(1, None), DEFAULT_SIZE);
        flows.touch(ms(0), 1, Some(Size(500)), Room::Uncounted);
        flows.touch(ms(1), 2, Some(Size(9)), Room::Uncounted);
        assert_eq!(flows.expected(1, None), Size(500));
        assert_eq!(flows.expected(3, None), Size(9));
    }

    #[test]
    fn the_expected_size_is_bounded_and_replaced_by_the_measured_size() {
        let mut flows = Flows::default();
        let stated = |bytes| Some(ExpectedBytes(bytes));
        assert_eq!(flows.expected(1, stated(0)), Size(1));
        assert_eq!(flows.expected(1, stated(u64::MAX)), Size(packet::MAX_PACKET as u64));
        flows.touch(ms(0), 1, Some(Size(500)), Room::Uncounted);
        assert_eq!(flows.expected(1, stated(1)), Size(500), "what was seen is believed more");
    }

    #[test]
    fn state_kept_for_flows_is_bounded() {
        let mut flows = Flows::default();
        for flow in 0..100_000 {
            flows.touch(Time(flow), flow, None, Room::Uncounted);
            flows.touch(Time(flow), flow, None, Room::Uncounted);
        }
        assert_eq!(flows.count() as usize, MAX_FLOWS);
        assert!(flows.order.len() <= MAX_FLOWS + 1);
    }
}
