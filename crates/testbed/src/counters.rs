//! The part of a daemon's counters that a result needs: `docs/reference/counters.md`.

use forwarder::{Amount, ForwarderStats, LinkCounters, Traffic};
use net::management::{ContentStore, Pit, Queue};
use record::Answers;
use serde::Deserialize;

/// A daemon at an instant.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Counters {
    pub uptime_ms: u64,
    #[serde(flatten)]
    pub stats: ForwarderStats,
    pub pit: Pit,
    pub content_store: ContentStore,
    pub faces: Vec<Face>,
    /// Ended instances, and the Interests pending in them at their end.
    #[serde(skip)]
    pub crashes: u64,
    #[serde(skip)]
    pub crashed: u64,
}

/// The part of a face's counters that a result needs.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Face {
    pub id: u64,
    pub name: Option<String>,
    pub local: bool,
    pub received: Traffic,
    pub sent: Traffic,
    #[serde(flatten)]
    pub counters: LinkCounters,
    pub lost: u64,
    pub queue: Queue,
    /// The queued packets at the end of earlier instances.
    #[serde(skip)]
    pub crashed: Amount,
}

impl Counters {
    /// The face of a link.
    pub fn face(&self, interface: &str) -> Option<&Face> {
        self.faces.iter().find(|face| face.name.as_deref() == Some(interface))
    }

    /// Subtracts the traffic of the measurement itself: this many answered requests, and the open
    /// one.
    pub fn without_questions(mut self, answered: u64) -> Counters {
        let asked = answered + 1;
        for (count, ours) in [
            (&mut self.stats.received.interests, asked),
            (&mut self.stats.sent.interests, asked),
            (&mut self.content_store.counters.misses, asked),
            (&mut self.stats.received.data, answered),
            (&mut self.stats.sent.data, answered),
            (&mut self.stats.satisfied, answered),
        ] {
            *count = count.saturating_sub(ours);
        }
        for count in [&mut self.pit.entries, &mut self.pit.most] {
            *count = count.saturating_sub(1);
        }
        self
    }

    /// Packets that the producers at the node sent.
    pub fn served(&self) -> u64 {
        self.faces.iter().filter(|face| face.local).map(|face| face.received.data).sum()
    }

    /// The answers of the content store and the producers.
    pub fn answers(&self) -> Answers {
        let store = &self.content_store.counters;
        Answers { hits: store.hits, misses: store.misses, served: self.served() }
    }

    /// The daemon has crashed in the state of its last sample: pending and queued packets are lost.
    pub fn crash(&mut self) {
        self.crashes += 1;
        self.crashed += self.pit.entries as u64;
        for Face { queue, crashed, .. } in &mut self.faces {
            *crashed += &Amount { packets: queue.packets, bytes: queue.bytes };
        }
    }

    /// Adds the counters of the daemon's earlier instances; momentary values stay.
    pub fn add(&mut self, before: &Counters) {
        self.stats += &before.stats;
        self.content_store.counters += &before.content_store.counters;
        self.crashes += before.crashes;
        self.crashed += before.crashed;
        self.pit.most = self.pit.most.max(before.pit.most);
        for face in &mut self.faces {
            let old = face.name.as_deref().and_then(|name| before.face(name));
            if let Some(old) = old {
                face.add(old);
            }
        }
    }
}

impl Face {
    fn add(&mut self, old: &Face) {
        self.received += &old.received;
        self.sent += &old.sent;
        self.counters += &old.counters;
        self.lost += old.lost;
        self.crashed += &old.crashed;
        let (queue, old) = (&mut self.queue, &old.queue);
        queue.tally += &old.tally;
        queue.data_peak_bytes = queue.data_peak_bytes.max(old.data_peak_bytes);
        queue.data_byte_s += old.data_byte_s;
        queue.data_byte2_s += old.data_byte2_s;
    }

    /// The occupancy of the queue of Data over this many seconds, with an empty queue at the
    /// beginning.
    pub fn occupancy(&self, seconds: f64) -> record::Queue {
        let Queue { data_byte_s, data_byte2_s, data_peak_bytes, .. } = self.queue;
        record::Queue::new(data_byte_s, data_byte2_s, seconds, data_peak_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_counters_add_up_over_all_restarts() {
        // 2 s at 1000 bytes, then another instance with 1 s at 1000 and 1 s at zero.
        let life = |peak, seconds: f64| {
            let queue = Queue {
                data_peak_bytes: peak,
                data_byte_s: 1e3 * seconds,
                data_byte2_s: 1e6 * seconds,
                ..Queue::default()
            };
            Face { queue, ..Face::default() }
        };
        let mut face = life(1000, 1.0);
        face.add(&life(1500, 2.0));
        let record::Queue { mean, stdev, max } = face.occupancy(4.0);
        // Mean 750, variance 750,000 - 562,500.
        assert!((mean - 750.0).abs() < 1e-9 && (stdev - 187_500f64.sqrt()).abs() < 1e-9);
        assert_eq!(max, 1500);
    }

    #[test]
    fn queued_and_pending_packets_are_lost_in_a_crash() {
        let queue = Queue { packets: 3, bytes: 3000, ..Queue::default() };
        let face = Face { name: Some("link0".to_owned()), queue, ..Face::default() };
        let pit = Pit { entries: 5, most: 9, ..Pit::default() };
        let mut first = Counters { pit, faces: vec![face.clone()], ..Counters::default() };
        first.crash();
        let mut second = Counters { faces: vec![face], ..Counters::default() };
        second.add(&first);
        assert_eq!((second.crashes, second.crashed, second.pit.entries), (1, 5, 0));
        let Face { crashed, queue, .. } = &second.faces[0];
        assert_eq!((crashed.packets, crashed.bytes, queue.packets), (3, 3000, 3));
    }

    #[test]
    fn the_traffic_of_readings_is_subtracted() {
        let received = Traffic { interests: 5, data: 4, ..Traffic::default() };
        let stats = ForwarderStats { received, satisfied: 4, ..ForwarderStats::default() };
        let pit = Pit { entries: 3, most: 7, ..Pit::default() };
        let counted = Counters { stats, pit, ..Counters::default() };
        let Counters { stats, pit, .. } = counted.without_questions(2);
        assert_eq!((stats.received.interests, stats.received.data, stats.satisfied), (2, 2, 2));
        assert_eq!((pit.entries, pit.most), (2, 6));
    }
}
