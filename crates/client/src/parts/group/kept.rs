//! The packets that a member keeps and serves: its own publications, and publications of others as
//! history.

use super::statement;
use packet::{Bytes, Component, Data, DataBuf, Interest, LpPacket, Name, NameRef};
use security::certificate::key_of;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::publish::{Publication, Shelf};

/// The bounds of publications, own ones and those of others apart: 2,000 of them, and 8 MB. Members
/// ask for no more of a stream.
pub const MOST_PACKETS: usize = 2_000;
pub const MOST_BYTES: usize = 8_000_000;
/// The bound of certificates. They have their own, so that no number of publications displaces
/// them.
const MOST_CERTIFICATES: usize = 256;
/// The time for which caches may answer with a packet of history. The packet in it never changes.
const FRESHNESS_MS: u64 = 10_000;

/// Verified packets by name. A clone shares them.
#[derive(Clone)]
pub struct Kept {
    history: Name,
    packets: Arc<Mutex<Packets>>,
}

struct Packets {
    by_name: BTreeMap<Name, Bytes>,
    own: Order,
    others: Order,
    certificates: Order,
    /// Own publications that no other member has fetched, and the number of those that made room.
    unfetched: BTreeSet<Name>,
    lost: usize,
    /// The first kept own publication, and the statement about those before it.
    gone: Option<(u64, Bytes)>,
}

/// The names of packets of one kind and their sizes, in the order of their arrival.
struct Order {
    names: VecDeque<(Name, usize)>,
    bytes: usize,
    most: usize,
}

impl Order {
    fn new(most: usize) -> Order {
        Order { names: VecDeque::new(), bytes: 0, most }
    }

    fn add(&mut self, name: Name, bytes: usize) {
        self.bytes += bytes;
        self.names.push_back((name, bytes));
    }

    /// Takes the oldest name, if there are too many, or too many bytes.
    fn excess(&mut self) -> Option<Name> {
        if self.names.len() <= self.most && self.bytes <= MOST_BYTES {
            return None;
        }
        let (name, bytes) = self.names.pop_front()?;
        self.bytes -= bytes;
        Some(name)
    }
}

impl Packets {
    /// Adds a packet, unless it is kept already. The oldest ones of its kind make room.
    fn add(&mut self, packet: Bytes, kind: impl Fn(&mut Packets) -> &mut Order) -> Option<Name> {
        let name = Data::decode(&packet).ok()?.name().to_name();
        if self.by_name.contains_key(&name) {
            return None;
        }
        kind(self).add(name.clone(), packet.len());
        self.by_name.insert(name.clone(), packet);
        while let Some(oldest) = kind(self).excess() {
            self.by_name.remove(&oldest);
            self.lost += usize::from(self.unfetched.remove(&oldest));
        }
        Some(name)
    }
}

/// The prefix of a group's history: `GROUP/32=history`.
#[must_use]
pub fn history(group: &Name) -> Name {
    group.clone().with(&Component::keyword(b"history"))
}

/// The name by which members request a packet from each other: `GROUP/32=history/NAME`.
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
    /// Without packets, for a group. At most `own` publications of this member are kept.
    #[must_use]
    pub fn new(group: &Name, own: usize) -> Kept {
        let packets = Packets {
            by_name: BTreeMap::new(),
            own: Order::new(own),
            others: Order::new(MOST_PACKETS),
            certificates: Order::new(MOST_CERTIFICATES),
            unfetched: BTreeSet::new(),
            lost: 0,
            gone: None,
        };
        Kept { history: history(group), packets: Arc::new(Mutex::new(packets)) }
    }

    /// Keeps a packet of another member.
    pub fn keep(&self, packet: Bytes) {
        let is_certificate = Data::decode(&packet).is_ok_and(|data| key_of(data.name()).is_some());
        let packets = &mut *self.lock();
        match is_certificate {
            true => packets.add(packet, |packets| &mut packets.certificates),
            false => packets.add(packet, |packets| &mut packets.others),
        };
    }

    /// Keeps a certificate of this member, which is never displaced.
    pub fn pin(&self, packet: Bytes) {
        let Ok(data) = Data::decode(&packet) else { return };
        let name = data.name().to_name();
        self.lock().by_name.insert(name, packet);
    }

    /// Keeps a publication of this member. `is_awaited`: other members are to fetch it.
    pub fn publish(&self, packet: Bytes, is_awaited: bool) {
        let packets = &mut *self.lock();
        let name = packets.add(packet, |packets| &mut packets.own);
        if let Some(name) = name.filter(|_| is_awaited) {
            match packets.by_name.contains_key(&name) {
                true => _ = packets.unfetched.insert(name),
                false => packets.lost += 1,
            }
        }
    }

    /// The number of those publications that no member has fetched, with those that made room.
    #[must_use]
    pub fn unfetched(&self) -> usize {
        let packets = self.lock();
        packets.unfetched.len() + packets.lost
    }

    /// The number of those publications that can still be fetched for the first time.
    #[must_use]
    pub fn awaited(&self) -> usize {
        self.lock().unfetched.len()
    }

    /// The number of kept own publications, which are the last ones.
    #[must_use]
    pub fn own(&self) -> usize {
        self.lock().own.names.len()
    }

    /// Answers for own publications before `low` with the member's statement that they are gone,
    /// which `sign` makes if it is not there yet.
    pub fn state_gone(&self, low: u64, sign: impl FnOnce() -> Bytes) {
        let gone = &mut self.lock().gone;
        if gone.as_ref().is_none_or(|(of, _)| *of != low) {
            *gone = Some((low, sign()));
        }
    }

    /// Notes a frame that was handed to the connection: an own publication in it counts as fetched.
    pub fn sent(&self, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        if link.nack().is_none()
            && let Some(Ok(data)) = link.fragment().map(Data::decode)
        {
            let is_history = data.name().starts_with(self.history.as_ref());
            let skip = if is_history { self.history.len() } else { 0 };
            self.lock().unfetched.remove(&data.name().suffix(skip).to_name());
        }
    }

    /// The answer with the statement, for an own publication that is gone.
    fn gone(&self, name: NameRef<'_>) -> Option<Bytes> {
        let packets = self.lock();
        packets.gone.as_ref().and_then(|(_, statement)| statement::answer(statement, name))
    }

    /// The packet of that name, or below it if the name is a prefix.
    fn find(&self, name: NameRef<'_>, is_prefix: bool) -> Option<Bytes> {
        let packets = self.lock();
        let (found, packet) = packets.by_name.range(name.to_name()..).next()?;
        let matches = match is_prefix {
            true => found.as_ref().starts_with(name),
            false => found.as_ref() == name,
        };
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
            return Kept::find(self, name, is_prefix).or_else(|| self.gone(name));
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
    use packet::{InterestBuf, LpHeader};

    fn packet(name: &str, bytes: usize) -> Bytes {
        DataBuf::new(name.parse().unwrap(), vec![0; bytes]).encode_digest()
    }

    fn asked(kept: &mut Kept, name: &str, can_be_prefix: bool) -> Option<Bytes> {
        let interest = InterestBuf { can_be_prefix, ..InterestBuf::new(name.parse().unwrap()) };
        kept.packet(&Interest::decode(&interest.encode()).unwrap())
    }

    #[test]
    fn packets_are_found_by_their_names_and_as_history() {
        let mut kept = Kept::new(&"/chat".parse().unwrap(), 10);
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
    fn the_oldest_packets_of_a_kind_make_room() {
        let mut kept = Kept::new(&"/chat".parse().unwrap(), 2);
        for i in 0..3 {
            kept.publish(packet(&format!("/own/{i}"), 8_000), i == 0);
        }
        for i in 0..MOST_PACKETS + 10 {
            kept.keep(packet(&format!("/{i}"), 1));
        }
        assert!(asked(&mut kept, "/9", false).is_none());
        assert!(asked(&mut kept, "/10", false).is_some());
        for i in 0..2_000 {
            kept.keep(packet(&format!("/large/{i}"), 8_000));
        }
        // Publications of others displace no own ones.
        assert!(asked(&mut kept, "/own/0", false).is_none());
        assert!(asked(&mut kept, "/own/1", false).is_some());
        assert!(asked(&mut kept, "/own/2", false).is_some());
        assert_eq!(kept.unfetched(), 1, "the one that had to go");
        let packets = kept.lock();
        let bytes: usize = packets.by_name.values().map(Bytes::len).sum();
        assert_eq!(bytes, packets.own.bytes + packets.others.bytes);
        assert!(packets.others.bytes <= MOST_BYTES);
        assert_eq!(packets.own.names.len() + packets.others.names.len(), packets.by_name.len());
    }

    #[test]
    fn a_publication_is_fetched_when_it_was_handed_to_the_connection() {
        let mut kept = Kept::new(&"/chat".parse().unwrap(), 5);
        kept.publish(packet("/a/1", 1), true);
        kept.publish(packet("/a/2", 1), true);
        kept.publish(packet("/a/3", 1), false);
        let answers = ["/a/1", "/chat/32=history/a/2"].map(|name| asked(&mut kept, name, false));
        assert_eq!(kept.unfetched(), 2, "an Interest came");
        for (at, answer) in answers.iter().enumerate() {
            let mut frame = Vec::new();
            LpHeader::default().encode_into(answer.as_ref().unwrap(), &mut frame);
            kept.sent(&frame);
            assert_eq!(kept.unfetched(), 1 - at);
        }
    }
}
