//! How many on-demand faces there are, by transport and by where they come from.

use super::address::{Group, Source, groups};
use control::{Duration, Time};
use std::collections::BTreeMap;

/// Rejections are logged at most this often.
const LOG_EVERY: Duration = Duration::from_secs(1);

/// The kinds of on-demand faces. Each has its own limit, so that one kind cannot exhaust another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Transport {
    /// UDP. Anything can forge an address there.
    Datagrams,
    /// Ethernet, where it is as easy.
    Frames,
    /// TCP and WebSocket.
    Connections,
}

impl Transport {
    /// All of them.
    pub const ALL: [Transport; 3] =
        [Transport::Datagrams, Transport::Frames, Transport::Connections];
}

/// The counts.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    all: BTreeMap<Transport, usize>,
    groups: BTreeMap<(Transport, Group), usize>,
}

impl Crowd {
    pub fn add(&mut self, transport: Transport, source: Source) {
        *self.all.entry(transport).or_default() += 1;
        for group in groups(source) {
            *self.groups.entry((transport, group)).or_default() += 1;
        }
    }

    pub fn remove(&mut self, transport: Transport, source: Source) {
        self.all.entry(transport).and_modify(|count| *count = count.saturating_sub(1));
        for group in groups(source) {
            let key = (transport, group);
            let left = self.groups.get(&key).copied().unwrap_or_default().saturating_sub(1);
            match left {
                0 => _ = self.groups.remove(&key),
                _ => _ = self.groups.insert(key, left),
            }
        }
    }

    /// Faces over a transport.
    pub fn of(&self, transport: Transport) -> usize {
        self.all.get(&transport).copied().unwrap_or_default()
    }

    /// Those of them that lead into a group.
    pub fn within(&self, transport: Transport, group: Group) -> usize {
        self.groups.get(&(transport, group)).copied().unwrap_or_default()
    }
}

/// Peers that found no room, counted between two lines of the log.
#[derive(Debug, Default)]
pub(super) struct Rejected {
    count: u64,
    next: Time,
}

impl Rejected {
    /// One more; the number to log, if it is time.
    pub fn count(&mut self, now: Time) -> Option<u64> {
        self.count += 1;
        if now < self.next {
            return None;
        }
        self.next = now + LOG_EVERY;
        Some(std::mem::take(&mut self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_counted_by_transport_address_and_subnet() {
        let ip = |text: &str| Source::Internet(text.parse().unwrap());
        let net = |text: &str| Group::Net(text.parse().unwrap());
        let mut crowd = Crowd::default();
        for text in ["192.0.2.1", "192.0.2.1", "192.0.2.9", "198.51.100.1", "2001:db8::1"] {
            crowd.add(Transport::Datagrams, ip(text));
        }
        crowd.add(Transport::Datagrams, ip("2001:db8:0:1::1"));
        crowd.add(Transport::Connections, ip("192.0.2.1"));
        let of = |crowd: &Crowd, text: &str| crowd.within(Transport::Datagrams, net(text));
        assert_eq!(crowd.of(Transport::Datagrams), 6);
        assert_eq!(crowd.of(Transport::Connections), 1);
        assert_eq!((of(&crowd, "192.0.2.1/32"), of(&crowd, "192.0.2.0/24")), (2, 3));
        assert_eq!((of(&crowd, "2001:db8::/64"), of(&crowd, "2001:db8::/56")), (1, 2));
        for text in ["192.0.2.1", "192.0.2.1", "192.0.2.9", "198.51.100.1", "2001:db8::1"] {
            crowd.remove(Transport::Datagrams, ip(text));
        }
        assert_eq!((of(&crowd, "192.0.2.0/24"), of(&crowd, "2001:db8::/56")), (0, 1));
        crowd.remove(Transport::Datagrams, ip("2001:db8:0:1::1"));
        crowd.remove(Transport::Connections, ip("192.0.2.1"));
        assert!(crowd.groups.is_empty());
    }

    #[test]
    fn rejections_are_logged_once_a_second_with_their_number() {
        let mut rejected = Rejected::default();
        assert_eq!(rejected.count(Time::ZERO), Some(1));
        for _ in 0..300 {
            assert_eq!(rejected.count(Time(999_999_999)), None);
        }
        assert_eq!(rejected.count(Time(1_000_000_000)), Some(301));
    }
}
