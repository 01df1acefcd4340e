//! The packets that a member of a chat keeps and serves: its own messages, and those of others as
//! history.

use packet::{Bytes, Component, Data, DataBuf, Interest, Name, NameRef};
use security::certificate::key_of;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::publish::{Publication, Shelf};

/// The bounds of the packets: 2,000 of them, and 8 MB.
const MOST_PACKETS: usize = 2_000;
const MOST_BYTES: usize = 8_000_000;
/// The bound of certificates. They have their own, so that no number of messages displaces them.
const MOST_CERTIFICATES: usize = 256;
/// How long caches may answer with a packet of history. The packet in it never changes.
const FRESHNESS_MS: u64 = 10_000;

/// Verified packets by name. A clone shares them.
#[derive(Clone)]
pub struct Kept {
    history: Name,
    packets: Arc<Mutex<Packets>>,
}

#[derive(Default)]
struct Packets {
    by_name: BTreeMap<Name, Bytes>,
    /// The names in the order of their arrival, certificates apart.
    order: VecDeque<Name>,
    certificates: VecDeque<Name>,
    bytes: usize,
    /// Own messages that no other member has fetched, and the number of those that had to go.
    unfetched: BTreeSet<Name>,
    lost: usize,
}

impl Packets {
    fn remove(&mut self, name: &Name) {
        self.bytes -= self.by_name.remove(name).map_or(0, |packet| packet.len());
        self.lost += usize::from(self.unfetched.remove(name));
    }
}

/// The prefix of a group's history: `GROUP/32=history`.
#[must_use]
pub fn history(group: &Name) -> Name {
    group.clone().with(&Component::keyword(b"history"))
}

/// The name by which members are asked for a packet: `GROUP/32=history/NAME`.
#[must_use]
pub fn in_history(history: &Name, name: NameRef<'_>) -> Name {
    let mut whole = history.clone();
    name.components().for_each(|component| whole.push(component));
    whole
}

/// The packet in a packet of history.
#[must_use]
pub fn unpacked<'a>(history: &Name, data: &Data<'a>) -> Option<Data<'a>> {
    let inner = Data::decode(data.content()).ok()?;
    (in_history(history, inner.name()).as_ref() == data.name()).then_some(inner)
}

impl Kept {
    /// Nothing, for a group.
    #[must_use]
    pub fn new(group: &Name) -> Kept {
        Kept { history: history(group), packets: Arc::default() }
    }

    /// Keeps a packet. The oldest ones make room.
    pub fn keep(&self, packet: Bytes) {
        let Ok(data) = Data::decode(&packet) else { return };
        let name = data.name().to_name();
        let is_certificate = key_of(name.as_ref()).is_some();
        let packets = &mut *self.lock();
        packets.bytes += packet.len();
        if let Some(before) = packets.by_name.insert(name.clone(), packet) {
            packets.bytes -= before.len();
        } else if is_certificate {
            packets.certificates.push_back(name);
        } else {
            packets.order.push_back(name);
        }
        if packets.certificates.len() > MOST_CERTIFICATES
            && let Some(oldest) = packets.certificates.pop_front()
        {
            packets.remove(&oldest);
        }
        while packets.order.len() > MOST_PACKETS || packets.bytes > MOST_BYTES {
            let Some(oldest) = packets.order.pop_front() else { break };
            packets.remove(&oldest);
        }
    }

    /// Keeps a packet that nothing displaces.
    pub fn pin(&self, packet: Bytes) {
        let Ok(data) = Data::decode(&packet) else { return };
        let name = data.name().to_name();
        let packets = &mut *self.lock();
        packets.bytes += packet.len();
        let before = packets.by_name.insert(name, packet);
        packets.bytes -= before.map_or(0, |before| before.len());
    }

    /// Keeps a message that other members are to fetch.
    pub fn offer(&self, packet: Bytes) {
        let name = Data::decode(&packet).map(|data| data.name().to_name());
        self.keep(packet);
        self.lock().unfetched.extend(name);
    }

    /// The number of those messages that no member has fetched.
    pub fn unfetched(&self) -> usize {
        let packets = self.lock();
        packets.unfetched.len() + packets.lost
    }

    /// The packet of that name, or below it if the name is a prefix.
    fn find(&self, name: NameRef<'_>, is_prefix: bool) -> Option<Bytes> {
        let Packets { by_name, unfetched, .. } = &mut *self.lock();
        let (found, packet) = by_name.range(name.to_name()..).next()?;
        let matches = match is_prefix {
            true => found.as_ref().starts_with(name),
            false => found.as_ref() == name,
        };
        if matches {
            unfetched.remove(found);
        }
        matches.then(|| packet.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Packets> {
        self.packets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for Kept {
    fn find(&mut self, _name: NameRef<'_>) -> Option<u64> {
        None
    }

    fn packet(&mut self, interest: &Interest<'_>) -> Option<Bytes> {
        let (name, is_prefix) = (interest.name(), interest.can_be_prefix());
        let Some(len) = name.starts_with(self.history.as_ref()).then(|| self.history.len()) else {
            return Kept::find(self, name, is_prefix);
        };
        let wanted = name.suffix(len);
        if wanted.is_empty() {
            return None;
        }
        let packet = Kept::find(self, wanted, is_prefix)?;
        let inner = Data::decode(&packet).ok()?.name().to_name();
        let name = in_history(&self.history, inner.as_ref());
        let freshness_ms = Some(FRESHNESS_MS);
        let whole = DataBuf { freshness_ms, ..DataBuf::new(name, packet) }.encode_digest();
        (whole.len() <= packet::MAX_PACKET).then_some(whole)
    }

    fn open(&mut self, _number: u64) -> Option<Publication> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::InterestBuf;

    fn packet(name: &str, bytes: usize) -> Bytes {
        DataBuf::new(name.parse().unwrap(), vec![0; bytes]).encode_digest()
    }

    fn asked(kept: &mut Kept, name: &str, can_be_prefix: bool) -> Option<Bytes> {
        let interest = InterestBuf { can_be_prefix, ..InterestBuf::new(name.parse().unwrap()) };
        kept.packet(&Interest::decode(&interest.encode()).unwrap())
    }

    #[test]
    fn packets_are_found_by_their_names_and_as_history() {
        let mut kept = Kept::new(&"/chat".parse().unwrap());
        let message = packet("/alice/chat/t=1/seq=2", 5);
        kept.keep(message.clone());
        assert_eq!(asked(&mut kept, "/alice/chat/t=1/seq=2", false), Some(message.clone()));
        assert_eq!(asked(&mut kept, "/alice/chat/t=1", false), None);
        assert_eq!(asked(&mut kept, "/alice/chat/t=1/seq=3", false), None);
        assert_eq!(asked(&mut kept, "/chat/32=history", true), None);
        for (name, prefix) in [
            ("/chat/32=history/alice/chat/t=1/seq=2", false),
            ("/chat/32=history/alice/chat", true),
        ] {
            let whole = asked(&mut kept, name, prefix).unwrap();
            let whole = Data::decode(&whole).unwrap();
            let inner = unpacked(&history(&"/chat".parse().unwrap()), &whole).unwrap();
            assert_eq!(inner.wire(), &message[..]);
        }
    }

    #[test]
    fn a_packet_of_history_contains_the_packet_of_its_name() {
        let name: Name = "/chat/32=history/alice".parse().unwrap();
        let wire = DataBuf::new(name, packet("/bob", 1)).encode_digest();
        let data = Data::decode(&wire).unwrap();
        assert!(unpacked(&history(&"/chat".parse().unwrap()), &data).is_none());
    }

    #[test]
    fn the_oldest_packets_make_room() {
        let mut kept = Kept::new(&"/chat".parse().unwrap());
        for i in 0..MOST_PACKETS + 10 {
            kept.keep(packet(&format!("/{i}"), 1));
        }
        assert!(asked(&mut kept, "/9", false).is_none());
        assert!(asked(&mut kept, "/10", false).is_some());
        for i in 0..2_000 {
            kept.keep(packet(&format!("/large/{i}"), 8_000));
        }
        let packets = kept.lock();
        assert!(packets.bytes <= MOST_BYTES && packets.order.len() == packets.by_name.len());
    }
}
