//! The open connections, and the order in which they make room for others.

use crate::gateway::client::Client;
use crate::gateway::source::Source;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All connections.
pub struct Clients {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// By the order in which they came.
    clients: BTreeMap<u64, Arc<Client>>,
    next: u64,
}

/// A connection that is open until this is dropped.
pub struct Place {
    clients: Arc<Clients>,
    number: u64,
    /// The connection.
    pub client: Arc<Client>,
}

impl Clients {
    /// Room for `most` connections.
    pub fn new(most: usize) -> Arc<Clients> {
        Arc::new(Clients { most, open: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a new connection. A source may have as many as there is room for more. Beyond that,
    /// its oldest connection without a request makes room. Without any room, the oldest such
    /// connection of the source with the most connections does. `None` if all of those have
    /// requests.
    pub fn admit(self: &Arc<Clients>, source: Source) -> Option<Place> {
        let mut open = self.lock();
        let mut counts = BTreeMap::new();
        for client in open.clients.values() {
            *counts.entry(client.source).or_insert(0) += 1;
        }
        let own = counts.get(&source).copied().unwrap_or(0);
        let free = self.most.saturating_sub(open.clients.len());
        if own >= free {
            let largest = counts.iter().max_by_key(|(_, count)| **count).map(|(of, _)| *of);
            let from = if own > 0 && free > 0 { source } else { largest? };
            let mut all = open.clients.iter();
            let (number, _) = all.find(|(_, client)| client.source == from && !client.is_busy())?;
            let number = *number;
            open.clients.remove(&number)?.close();
        }
        let (number, client) = (open.next, Client::new(source));
        open.next += 1;
        open.clients.insert(number, Arc::clone(&client));
        Some(Place { clients: Arc::clone(self), number, client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clients.lock().clients.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::client::Busy;

    fn source(address: &str) -> Source {
        Source::host(address.parse().unwrap())
    }

    fn open(clients: &Arc<Clients>, of: Source) -> usize {
        clients.lock().clients.values().filter(|client| client.source == of).count()
    }

    #[test]
    fn a_sources_new_connections_take_the_place_of_its_old_idle_ones() {
        let clients = Clients::new(100);
        let (flood, other) = (source("192.0.2.1"), source("192.0.2.2"));
        let all: Vec<_> = (0..300).map(|_| clients.admit(flood).unwrap()).collect();
        assert_eq!(open(&clients, flood), 50);
        // The latest are open.
        assert_eq!(clients.lock().clients.keys().min(), Some(&250));
        let others: Vec<_> = (0..60).map(|_| clients.admit(other).unwrap()).collect();
        assert_eq!((open(&clients, flood), open(&clients, other)), (50, 25));
        drop(all);
        assert_eq!(open(&clients, flood), 0);
        drop(others);
        assert!(clients.lock().clients.is_empty());
    }

    #[test]
    fn connections_with_requests_are_not_closed_for_new_ones() {
        let clients = Clients::new(10);
        let of = source("192.0.2.1");
        let all: Vec<_> = (0..5).map(|_| clients.admit(of).unwrap()).collect();
        let mut busy: Vec<_> = all.iter().map(|place| Busy::new(&place.client)).collect();
        assert!(clients.admit(of).is_none());
        assert!(clients.admit(source("192.0.2.2")).is_some(), "there is room for others");
        busy.remove(3);
        let _new = clients.admit(of).unwrap();
        assert_eq!(clients.lock().clients.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 4, 6]);
    }

    #[test]
    fn where_there_is_no_room_at_all_the_largest_source_makes_some() {
        let clients = Clients::new(8);
        let mut all = Vec::new();
        for (address, count) in [("192.0.2.1", 4), ("192.0.2.2", 2), ("192.0.2.3", 1)] {
            all.extend((0..count).map(|_| clients.admit(source(address)).unwrap()));
        }
        all.push(clients.admit(source("192.0.2.4")).unwrap());
        assert_eq!(clients.lock().clients.len(), 8);
        all.push(clients.admit(source("192.0.2.5")).unwrap());
        assert_eq!((open(&clients, source("192.0.2.1")), clients.lock().clients.len()), (3, 8));
    }
}
