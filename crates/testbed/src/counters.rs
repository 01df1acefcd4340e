//! The daemon's counters that a result needs: `docs/reference/counters.md`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The name of the dataset.
pub const COUNTERS: &str = "/localhost/weir/counters";

/// A daemon at an instant.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Counters {
    pub uptime_ms: u64,
    pub received: Traffic,
    pub sent: Traffic,
    pub satisfied: u64,
    pub nacked: u64,
    pub expired: u64,
    pub aggregated: u64,
    pub drops: BTreeMap<String, u64>,
    pub malformed_options: BTreeMap<String, u64>,
    pub pit: Pit,
    pub content_store: Store,
    pub faces: Vec<Face>,
    /// Ended instances, and the Interests pending in them at their end.
    #[serde(skip)]
    pub crashes: u64,
    #[serde(skip)]
    pub crashed: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Traffic {
    pub interests: u64,
    pub data: u64,
    pub nacks: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Pit {
    pub entries: u64,
    pub most: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Store {
    pub entries: u64,
    pub hits: u64,
    pub misses: u64,
    pub inserted: u64,
    pub evicted: u64,
    pub died: u64,
    pub moved: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Face {
    pub id: u64,
    pub name: Option<String>,
    pub local: bool,
    pub received: Traffic,
    pub sent: Traffic,
    pub marked: u64,
    pub lost: u64,
    pub queue: Queue,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Queue {
    pub packets: u64,
    pub bytes: u64,
    pub offered: Amount,
    pub sent: Amount,
    pub dropped: Amount,
    pub data_peak_bytes: u64,
    pub data_byte_s: f64,
    pub data_byte2_s: f64,
    /// The queued packets at the end of earlier instances.
    #[serde(skip)]
    pub crashed: Amount,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Amount {
    pub packets: u64,
    pub bytes: u64,
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
            (&mut self.received.interests, asked),
            (&mut self.sent.interests, asked),
            (&mut self.content_store.misses, asked),
            (&mut self.received.data, answered),
            (&mut self.sent.data, answered),
            (&mut self.satisfied, answered),
            (&mut self.pit.entries, 1),
            (&mut self.pit.most, 1),
        ] {
            *count = count.saturating_sub(ours);
        }
        self
    }

    /// Packets that the producers at the node sent.
    pub fn served(&self) -> u64 {
        self.faces.iter().filter(|face| face.local).map(|face| face.received.data).sum()
    }
}

impl Counters {
    /// The daemon has crashed in the state of its last sample: pending and queued packets are lost.
    pub fn crash(&mut self) {
        self.crashes += 1;
        self.crashed += self.pit.entries;
        for Queue { packets, bytes, crashed, .. } in self.faces.iter_mut().map(|f| &mut f.queue) {
            crashed.add(Amount { packets: *packets, bytes: *bytes });
        }
    }
}

/// Adds the counters of a daemon's earlier instances to those of the present one.
impl Counters {
    /// Adds earlier counters; momentary values stay.
    pub fn add(&mut self, before: &Counters) {
        self.received.add(before.received);
        self.sent.add(before.sent);
        self.satisfied += before.satisfied;
        self.nacked += before.nacked;
        self.expired += before.expired;
        self.aggregated += before.aggregated;
        self.crashes += before.crashes;
        self.crashed += before.crashed;
        self.pit.most = self.pit.most.max(before.pit.most);
        self.content_store.add(before.content_store);
        for (counts, more) in [
            (&mut self.drops, &before.drops),
            (&mut self.malformed_options, &before.malformed_options),
        ] {
            for (reason, count) in more {
                *counts.entry(reason.clone()).or_default() += count;
            }
        }
        for face in &mut self.faces {
            let old = face.name.as_deref().and_then(|name| before.face(name));
            if let Some(old) = old {
                face.received.add(old.received);
                face.sent.add(old.sent);
                face.marked += old.marked;
                face.lost += old.lost;
                face.queue.add(old.queue);
            }
        }
    }
}

impl Traffic {
    fn add(&mut self, more: Traffic) {
        self.interests += more.interests;
        self.data += more.data;
        self.nacks += more.nacks;
        self.bytes += more.bytes;
    }
}

impl Store {
    fn add(&mut self, more: Store) {
        self.hits += more.hits;
        self.misses += more.misses;
        self.inserted += more.inserted;
        self.evicted += more.evicted;
        self.died += more.died;
        self.moved += more.moved;
    }
}

impl Queue {
    fn add(&mut self, more: Queue) {
        self.offered.add(more.offered);
        self.sent.add(more.sent);
        self.dropped.add(more.dropped);
        self.data_peak_bytes = self.data_peak_bytes.max(more.data_peak_bytes);
        self.data_byte_s += more.data_byte_s;
        self.data_byte2_s += more.data_byte2_s;
        self.crashed.add(more.crashed);
    }

    /// Mean and standard deviation of the queued Data bytes over this many seconds, with an empty
    /// queue at the beginning.
    pub fn mean_and_stdev(&self, seconds: f64) -> (f64, f64) {
        let mean = self.data_byte_s / seconds;
        (mean, (self.data_byte2_s / seconds - mean * mean).max(0.0).sqrt())
    }
}

impl Amount {
    fn add(&mut self, more: Amount) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_counters_add_up_over_all_restarts() {
        // 2 s at 1000 bytes, then another instance with 1 s at 1000 and 1 s at zero.
        let life = |peak, seconds: f64| Queue {
            data_peak_bytes: peak,
            data_byte_s: 1e3 * seconds,
            data_byte2_s: 1e6 * seconds,
            ..Queue::default()
        };
        let mut queue = life(1000, 1.0);
        queue.add(life(1500, 2.0));
        assert_eq!(queue.data_peak_bytes, 1500);
        let (mean, stdev) = queue.mean_and_stdev(4.0);
        // Mean 750, variance 750,000 - 562,500.
        assert!((mean - 750.0).abs() < 1e-9 && (stdev - 187_500f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn queued_and_pending_packets_are_lost_in_a_crash() {
        let queue = Queue { packets: 3, bytes: 3000, ..Queue::default() };
        let face = Face { name: Some("link0".to_owned()), queue, ..Face::default() };
        let pit = Pit { entries: 5, most: 9 };
        let mut first = Counters { pit, faces: vec![face.clone()], ..Counters::default() };
        first.crash();
        let mut second = Counters { faces: vec![face], ..Counters::default() };
        second.add(&first);
        assert_eq!((second.crashes, second.crashed, second.pit.entries), (1, 5, 0));
        let queue = second.faces[0].queue;
        assert_eq!((queue.crashed.packets, queue.crashed.bytes, queue.packets), (3, 3000, 3));
    }

    #[test]
    fn the_traffic_of_readings_is_subtracted() {
        let traffic = Traffic { interests: 5, data: 4, nacks: 0, bytes: 9 };
        let pit = Pit { entries: 3, most: 7 };
        let counted = Counters { received: traffic, satisfied: 4, pit, ..Counters::default() };
        let rest = counted.without_questions(2);
        assert_eq!((rest.received.interests, rest.received.data, rest.satisfied), (2, 2, 2));
        assert_eq!((rest.pit.entries, rest.pit.most), (2, 6));
    }
}
