//! Slots for requests: answered now, waiting, or rejected.
//!
//! An answer holds a slot from the beginning of its fetch to the end of its body. A connection that
//! sends half a request or none takes no slot. If all slots are taken, requests wait and are served
//! in order, except that no source has more than its share of the slots.

use crate::gateway::client::{Busy, Client};
use crate::gateway::source::Source;
use control::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The maximum number of waiting requests. A source's share is as many as there is room for more.
const WAITING: usize = 256;

/// All slots.
pub struct Slots {
    most: usize,
    state: Mutex<State>,
}

struct State {
    /// Clients that have a slot.
    taken: BTreeMap<u64, Arc<Client>>,
    waiting: VecDeque<Waiting>,
    next: u64,
}

struct Waiting {
    client: Arc<Client>,
    give: oneshot::Sender<Slot>,
}

/// The right to be answered, until it is dropped.
pub struct Slot {
    slots: Arc<Slots>,
    number: u64,
    /// The client has something to do with its connection.
    _busy: Busy,
}

/// Too many requests are waiting.
#[derive(Debug)]
pub struct Full;

impl Slots {
    /// Slots for `most` requests at a time, all of them free.
    pub fn new(most: usize) -> Arc<Slots> {
        let state = State { taken: BTreeMap::new(), waiting: VecDeque::new(), next: 0 };
        Arc::new(Slots { most, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Slots that one source may have: a quarter of them, or three quarters for the gateway's own
    /// user.
    fn share(&self, source: Source) -> usize {
        let quarters = if matches!(source, Source::Own | Source::Unknown) { 3 } else { 1 };
        (self.most * quarters).div_ceil(4).max(1)
    }

    /// Puts a request of a client at the end of the queue; a free slot comes at once.
    /// Dropping the receiver ends the wait.
    ///
    /// # Errors
    ///
    /// The queue is full, or holds the most requests of this source.
    pub fn take(self: &Arc<Slots>, client: &Arc<Client>) -> Result<oneshot::Receiver<Slot>, Full> {
        let (give, take) = oneshot::channel();
        let mut state = self.lock();
        state.waiting.retain(|waiting| !waiting.give.is_closed());
        let waiting = state.waiting.iter();
        let own = waiting.filter(|waiting| waiting.client.source == client.source).count();
        if own >= WAITING - state.waiting.len() {
            return Err(Full);
        }
        state.waiting.push_back(Waiting { client: Arc::clone(client), give });
        drop(state);
        self.serve();
        Ok(take)
    }

    /// Gives free slots to waiting requests.
    fn serve(self: &Arc<Slots>) {
        while let Some(Waiting { client, give }) = self.next() {
            let mut state = self.lock();
            let number = state.next;
            state.next += 1;
            state.taken.insert(number, Arc::clone(&client));
            drop(state);
            let slot = Slot { slots: Arc::clone(self), number, _busy: Busy::new(&client) };
            // Without the lock: a slot that its client no longer waits for is dropped here.
            let _ = give.send(slot);
        }
    }

    /// Takes the first request out of the queue whose source has not all of its share.
    fn next(&self) -> Option<Waiting> {
        let mut state = self.lock();
        if state.taken.len() >= self.most {
            return None;
        }
        let full = self.full(&state);
        let mut waiting = state.waiting.iter();
        let at = waiting.position(|waiting| !full.contains(&waiting.client.source))?;
        state.waiting.remove(at)
    }

    /// The sources that have all of their share.
    fn full(&self, state: &State) -> BTreeSet<Source> {
        let mut taken = BTreeMap::new();
        for client in state.taken.values() {
            *taken.entry(client.source).or_insert(0) += 1;
        }
        taken.retain(|source, count| *count >= self.share(*source));
        taken.into_keys().collect()
    }

    /// While requests wait: clients with a slot that have taken no bytes for `timeout`, although
    /// bytes were ready. The longest come first, and no more of them than requests that their slots
    /// help. A request of a source with all of its share waits for a slot of that source.
    pub fn stalled(&self, timeout: Duration) -> Vec<Arc<Client>> {
        let state = self.lock();
        let full = self.full(&state);
        let (mut any, mut own) = (0, BTreeMap::<Source, usize>::new());
        for waiting in state.waiting.iter().filter(|waiting| !waiting.give.is_closed()) {
            match full.contains(&waiting.client.source) {
                true => *own.entry(waiting.client.source).or_default() += 1,
                false => any += 1,
            }
        }
        let stalled = state
            .taken
            .values()
            .filter(|client| client.stalled().is_some_and(|time| time >= timeout));
        let mut all: Vec<_> = stalled.cloned().collect();
        all.sort_by_key(|client| std::cmp::Reverse(client.stalled()));
        all.retain(|client| {
            let helped = own.get_mut(&client.source).filter(|count| **count > 0);
            let helped = helped.or((any > 0).then_some(&mut any));
            helped.map(|count| *count -= 1).is_some()
        });
        all
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().taken.remove(&self.number);
        self.slots.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str) -> Arc<Client> {
        Client::new(Source::host(address.parse().unwrap()))
    }

    fn take(slots: &Arc<Slots>, address: &str) -> oneshot::Receiver<Slot> {
        slots.take(&client(address)).unwrap()
    }

    #[test]
    fn no_source_has_more_than_its_share() {
        let slots = Slots::new(8);
        for (address, share) in [("192.0.2.1", 2), ("192.0.2.2", 2), ("2001:db8::1", 2)] {
            let mut all: Vec<_> = (0..10).map(|_| take(&slots, address)).collect();
            let had: Vec<_> = all.iter_mut().filter_map(|one| one.try_recv().ok()).collect();
            assert_eq!(had.len(), share, "{address}");
            // The slots stay taken. Dropped requests in the queue are passed over.
            had.into_iter().for_each(std::mem::forget);
        }
        assert!(take(&slots, "192.0.2.3").try_recv().is_ok());
        let slots = Slots::new(8);
        let of = |source: Source, count: usize| {
            let client = Client::new(source);
            let all = (0..count).map(|_| slots.take(&client).unwrap());
            // The slots stay taken, and the other requests wait.
            let all: Vec<_> =
                all.map(|mut one| (one.try_recv().map(std::mem::forget), one)).collect();
            let had = all.iter().filter(|(had, _)| had.is_ok()).count();
            std::mem::forget(all);
            had
        };
        assert_eq!(of(Source::User(1000), 10), 2, "another user has what a host has");
        assert_eq!(of(Source::Own, 10), 6);
        let slots = Slots::new(8);
        let own = Client::new(Source::Own);
        let mut all: Vec<_> = (0..10).map(|_| slots.take(&own).unwrap()).collect();
        let had = all.iter_mut().filter_map(|one| one.try_recv().ok().map(std::mem::forget));
        assert_eq!(had.count(), 6);
        assert!(slots.take(&Client::new(Source::User(1000))).unwrap().try_recv().is_ok());
        assert!(take(&slots, "192.0.2.1").try_recv().is_ok());
    }

    /// Its own slots are all that would help it.
    #[test]
    fn a_source_with_all_of_its_share_ends_no_client_of_others() {
        let slots = Slots::new(8);
        let (flood, victim) = (client("192.0.2.1"), client("192.0.2.2"));
        let of_flood: Vec<_> = (0..3).map(|_| slots.take(&flood).unwrap()).collect();
        let of_victim = slots.take(&victim).unwrap().try_recv();
        victim.mark_stalled();
        assert_eq!((of_flood.len(), of_victim.is_ok()), (3, true));
        assert!(slots.stalled(Duration::ZERO).is_empty());
        flood.mark_stalled();
        let ended = slots.stalled(Duration::ZERO);
        assert!(ended.len() == 1 && Arc::ptr_eq(&ended[0], &flood));
    }

    #[test]
    fn requests_are_served_in_their_order_and_those_that_left_are_passed_over() {
        let slots = Slots::new(1);
        let first = take(&slots, "192.0.2.1").try_recv().unwrap();
        let gone = take(&slots, "192.0.2.1");
        let mut second = take(&slots, "192.0.2.2");
        let mut third = take(&slots, "192.0.2.1");
        drop(gone);
        assert!(second.try_recv().is_err());
        drop(first);
        let slot = second.try_recv().unwrap();
        assert!(third.try_recv().is_err());
        drop(slot);
        assert!(third.try_recv().is_ok());
        assert!(slots.lock().taken.is_empty());
    }

    #[test]
    fn a_slot_for_a_gone_client_goes_to_the_next() {
        let slots = Slots::new(1);
        let first = take(&slots, "192.0.2.1").try_recv().unwrap();
        let second = take(&slots, "192.0.2.2");
        let mut third = take(&slots, "192.0.2.3");
        drop(first);
        // The slot has been sent, and its receiver has gone.
        drop(second);
        assert!(third.try_recv().is_ok());
    }

    #[test]
    fn a_queue_that_is_full_turns_away_and_keeps_room_for_others() {
        let slots = Slots::new(1);
        let flood = client("192.0.2.1");
        let _slot = take(&slots, "192.0.2.9").try_recv().unwrap();
        let all: Vec<_> = (0..WAITING).map_while(|_| slots.take(&flood).ok()).collect();
        assert_eq!(all.len(), WAITING / 2);
        assert!(slots.take(&flood).is_err());
        let mut other = take(&slots, "192.0.2.2");
        drop(all);
        assert!(other.try_recv().is_err());
        assert!(slots.take(&flood).is_ok(), "those that left take no room");
    }

    #[test]
    fn stalled_clients_lose_their_slots_when_others_wait() {
        let slots = Slots::new(2);
        let (reads, stalls) = (client("192.0.2.1"), client("192.0.2.2"));
        let _slots = [&reads, &stalls].map(|one| slots.take(one).unwrap().try_recv().unwrap());
        stalls.mark_stalled();
        assert!(slots.stalled(Duration::ZERO).is_empty(), "nobody waits");
        let waiting = take(&slots, "192.0.2.3");
        let found = slots.stalled(Duration::ZERO);
        assert!(found.len() == 1 && Arc::ptr_eq(&found[0], &stalls));
        assert!(slots.stalled(Duration::from_secs(60)).is_empty(), "not for so long");
        stalls.mark_progress();
        assert!(slots.stalled(Duration::ZERO).is_empty());
        stalls.mark_stalled();
        drop(waiting);
        assert!(slots.stalled(Duration::ZERO).is_empty());
    }
}
