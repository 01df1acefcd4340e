//! Limits on the bytes that go to addresses which have not proved that they receive them.
//!
//! A datagram with a forged sender makes a daemon send what it answers to that sender, a victim of
//! the attacker's choice. An Interest of 70 bytes may bring 8,800. Programs of other projects know
//! no proof, so plain Interests are answered; but no more bytes than the limits go to one such
//! address, to its subnet, and to all of them together.

use super::address::{Group, Source, groups};
use crate::config::Unproved as Limits;
use crate::interface;
use control::{Duration, Rate, Time};
use ipnet::IpNet;
use std::collections::BTreeMap;

/// A bucket holds what its rate brings in this time. It is more than a consumer's round trip, whose
/// window comes in one burst.
const BURST: Duration = Duration::from_millis(200);

/// A bucket is filled in steps of at least this: what is rounded off in each is negligible.
const STEP: Duration = Duration::from_millis(1);

/// Buckets kept at most. Full ones are forgotten, as a new one is full; so these are the addresses
/// and subnets that something was sent to within [`BURST`].
const MOST: usize = 16_384;

/// How long the known addresses of the host are considered current.
const INTERFACES: Duration = Duration::from_secs(10);

/// A token bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Bytes that may leave now; below zero, what left too much.
    level: i64,
    at: Time,
}

fn bytes(rate: Rate, span: Duration) -> i64 {
    i64::try_from(rate.size_in(span).0).unwrap_or(i64::MAX)
}

impl Bucket {
    fn full(rate: Rate, now: Time) -> Bucket {
        Bucket { level: bytes(rate, BURST), at: now }
    }

    fn fill(&mut self, rate: Rate, now: Time) {
        let span = now.since(self.at);
        if span >= STEP {
            self.level = self.level.saturating_add(bytes(rate, span)).min(bytes(rate, BURST));
            self.at = now;
        }
    }
}

/// Recent bytes to unproved addresses.
#[derive(Debug, Default)]
pub(super) struct Spent {
    total: Option<Bucket>,
    /// By address and by subnet.
    groups: BTreeMap<Group, Bucket>,
}

/// Recent bytes to unproved addresses, and the networks that need no proof.
#[derive(Debug, Default)]
pub(super) struct Unproved {
    /// To those in networks that this host has addresses in.
    neighbours: Spent,
    /// To all others.
    others: Spent,
    /// The networks that this host has addresses in, and when they were read.
    local: Vec<IpNet>,
    read: Option<Time>,
}

impl Spent {
    /// Bytes that may go to an address now; zero or less if none.
    pub fn allowance(&mut self, now: Time, source: Source, rates: [Rate; 3]) -> i64 {
        let [host, subnet, all] = rates;
        let total = self.total.get_or_insert_with(|| Bucket::full(all, now));
        total.fill(all, now);
        let mut least = total.level;
        if self.groups.len() >= MOST {
            self.forget_full(now, [host, subnet]);
        }
        let has_room = self.groups.len() < MOST;
        for (group, rate) in groups(source).into_iter().zip([host, subnet]) {
            let bucket = match self.groups.get_mut(&group) {
                Some(bucket) => bucket,
                None if has_room => {
                    self.groups.entry(group).or_insert_with(|| Bucket::full(rate, now))
                }
                None => return 0,
            };
            bucket.fill(rate, now);
            least = least.min(bucket.level);
        }
        least
    }

    /// Counts bytes that went to an address.
    pub fn spend(&mut self, source: Source, bytes: i64) {
        for group in groups(source) {
            if let Some(bucket) = self.groups.get_mut(&group) {
                bucket.level = bucket.level.saturating_sub(bytes);
            }
        }
        if let Some(total) = &mut self.total {
            total.level = total.level.saturating_sub(bytes);
        }
    }

    fn forget_full(&mut self, now: Time, [host, subnet]: [Rate; 2]) {
        self.groups.retain(|group, bucket| {
            let rate = if group.is_host() { host } else { subnet };
            bucket.fill(rate, now);
            bucket.level < bytes(rate, BURST)
        });
    }
}

impl Unproved {
    /// The recent bytes to neighbours or to others, and the limits: of an address, of a subnet, of
    /// all addresses.
    pub fn spent(&mut self, is_neighbour: bool, limits: &Limits) -> (&mut Spent, [Rate; 3]) {
        match is_neighbour {
            true => (&mut self.neighbours, limits.local_rates()),
            false => (&mut self.others, limits.rates()),
        }
    }

    /// True if an address needs no proof: the configuration exempts it, or it is loopback, which no
    /// datagram from elsewhere has.
    pub fn exempts(source: Source, limits: &Limits) -> bool {
        let Source::Internet(address) = source else { return false };
        limits.exempt.networks.iter().any(|net| net.contains(&address))
            || (limits.exempt.local && address.is_loopback())
    }

    /// True if the larger limit holds for an address: it is in a network of this host.
    pub fn is_neighbour(&mut self, now: Time, source: Source, limits: &Limits) -> bool {
        limits.exempt.local && self.is_local(now, source)
    }

    /// True if an address is this host's loopback, or in a network in which the host has an
    /// address, or on one of its links.
    pub fn is_local(&mut self, now: Time, source: Source) -> bool {
        let Source::Internet(address) = source else { return true };
        if address.is_loopback() {
            return true;
        }
        if self.read.is_none_or(|read| now.since(read) >= INTERFACES) {
            self.local = interface::networks();
            self.read = Some(now);
        }
        self.local.iter().any(|net| net.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Exempt;

    const LIMITS: [u64; 3] = [8, 16, 32];

    fn limits() -> Limits {
        let [rate, subnet_rate, total_rate] = LIMITS.map(Rate::from_mbps);
        Limits {
            idle: Duration::ZERO,
            rate,
            subnet_rate,
            total_rate,
            local_rate: Rate::from_mbps(40),
            exempt: Exempt { local: true, networks: vec!["203.0.113.0/24".parse().unwrap()] },
        }
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    /// Sends packets of 1,000 bytes to these addresses in turn for two seconds, as many as may.
    fn sent(addresses: &[&str]) -> i64 {
        sent_at(limits().rates(), addresses)
    }

    fn sent_at(rates: [Rate; 3], addresses: &[&str]) -> i64 {
        let mut unproved = Spent::default();
        let mut sent = 0;
        for at in 0..2000 {
            for address in addresses {
                let address = Source::Internet(address.parse().unwrap());
                for _ in 0..50 {
                    if unproved.allowance(ms(at), address, rates) > 0 {
                        unproved.spend(address, 1000);
                        sent += 1000;
                    }
                }
            }
        }
        sent
    }

    /// Two seconds and the burst at a rate in Mbit/s, and a packet beyond.
    fn most(mbps: u64) -> i64 {
        bytes(Rate::from_mbps(mbps), Duration::from_millis(2200)) + 1000
    }

    #[test]
    fn an_address_a_subnet_and_all_together_get_their_rates_and_no_more() {
        let within = |sent: i64, mbps: u64| (most(mbps) * 95 / 100..=most(mbps)).contains(&sent);
        assert!(within(sent(&["192.0.2.1"]), 8));
        assert!(within(sent(&["192.0.2.1", "192.0.2.2", "192.0.2.3"]), 16), "one /24");
        assert!(within(sent(&["192.0.2.1", "198.51.100.1"]), 16), "each has its own");
        let many = ["192.0.2.1", "198.51.100.1", "198.18.0.1", "198.18.1.1", "2001:db8::1"];
        assert!(within(sent(&many), 32));
        let one = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:0:3"];
        assert!(within(sent(&one), 8), "one host of IPv6 has a whole /64");
    }

    #[test]
    fn neighbours_have_a_rate_of_their_own_and_all_of_them_that_of_five() {
        let within = |sent: i64, mbps: u64| (most(mbps) * 95 / 100..=most(mbps)).contains(&sent);
        let rates = limits().local_rates();
        assert!(within(sent_at(rates, &["192.0.2.1"]), 40));
        let many: Vec<_> = (0..8).map(|n| format!("192.0.2.{n}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(within(sent_at(rates, &many), 200));
    }

    #[test]
    fn the_table_is_bounded_and_what_finds_no_place_in_it_gets_nothing() {
        let mut unproved = Spent::default();
        let address = |n: u32| Source::Internet((0xc612_0000 + n).to_be_bytes().into());
        for n in 0..20_000 {
            unproved.allowance(ms(0), address(n), limits().rates());
            unproved.spend(address(n), 1);
        }
        assert!(unproved.groups.len() <= MOST + 1);
        // Time fills them, and full ones are forgotten.
        unproved.total = None;
        assert!(unproved.allowance(ms(1000), address(30_000), limits().rates()) > 0);
        assert_eq!(unproved.groups.len(), 2);
    }

    #[test]
    fn exempt_are_loopback_and_networks_of_the_configuration_and_neighbours_have_more() {
        let mut unproved = Unproved { read: Some(ms(0)), ..Unproved::default() };
        unproved.local = vec!["198.51.100.0/25".parse().unwrap()];
        let ip = |text: &str| Source::Internet(text.parse().unwrap());
        let mut all = |limits: &Limits| {
            ["127.0.0.1", "::1", "203.0.113.5", "198.51.100.7", "198.51.100.200"].map(|text| {
                let exempt = Unproved::exempts(ip(text), limits);
                (exempt, !exempt && unproved.is_neighbour(ms(1), ip(text), limits))
            })
        };
        let (exempt, neighbour, other) = ((true, false), (false, true), (false, false));
        assert_eq!(all(&limits()), [exempt, exempt, exempt, neighbour, other]);
        let none = Limits { exempt: Exempt { local: false, networks: Vec::new() }, ..limits() };
        assert_eq!(all(&none), [other; 5]);
    }
}
