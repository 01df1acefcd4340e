//! What a daemon counts, as far as a result needs it: `docs/reference/counters.md`.

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
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Store {
    pub entries: u64,
    pub hits: u64,
    pub misses: u64,
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

    /// Without what reading them took: so many answered questions, and the one that is open.
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

/// Counts of a daemon's earlier lives, added to those of the present one.
impl Counters {
    /// Takes in what was counted before; what is so at an instant stays.
    pub fn add(&mut self, before: &Counters) {
        self.received.add(before.received);
        self.sent.add(before.sent);
        self.satisfied += before.satisfied;
        self.nacked += before.nacked;
        self.expired += before.expired;
        self.aggregated += before.aggregated;
        self.content_store.hits += before.content_store.hits;
        self.content_store.misses += before.content_store.misses;
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
                face.queue.offered.add(old.queue.offered);
                face.queue.sent.add(old.queue.sent);
                face.queue.dropped.add(old.queue.dropped);
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

impl Amount {
    fn add(&mut self, more: Amount) {
        self.packets += more.packets;
        self.bytes += more.bytes;
    }
}
