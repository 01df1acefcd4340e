//! Single packets, requested by their own name and from the history of a group in turn.

use super::kept::{in_history, unpacked};
use super::turns::Turns;
use control::{Duration, Rng, Time};
use packet::{Bytes, ContentType, Data, InterestBuf, Name, NameRef};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Interests for a packet before it is given up, half of them by its own name.
const ATTEMPTS: u32 = 8;
/// Interests of one turn. Then other packets have theirs.
const ATTEMPTS_OF_TURN: u32 = 2;
/// Interests for a publication that its sender no longer keeps: one by each name.
const ATTEMPTS_GONE: u32 = 2;
/// Interests for a certificate for which only sync Interests wait.
const ATTEMPTS_UNKNOWN: u32 = 2;
/// The lifetime of an Interest.
const LIFETIME: Duration = Duration::from_secs(1);
/// The time until the next Interest for the same packet, by the other name.
const ATTEMPT: Duration = Duration::from_millis(500);
/// The pause after a Nack for both names: a route may be on its way.
const PAUSE: Duration = Duration::from_millis(300);
/// The number of packets that are requested at a time.
const AT_ONCE: usize = 16;
/// The number of these places that are reserved for publications that their sender no longer keeps:
/// later publications of the stream wait for these.
const AT_ONCE_GONE: usize = 2;
/// A silent source has at most one place, unless fewer places than this are taken and no other
/// source needs one.
const AT_ONCE_UNANSWERED: usize = 12;
/// The maximum number of packets that are requested or wait for their turn. Beyond it, packets of
/// the source with the most make room. A full vector has about 130 streams, each with up to three
/// windows of 64 numbers.
const MOST: usize = 32_768;
/// The maximum number of certificates for which only sync Interests wait. Any sender can name a
/// certificate that does not exist.
const MOST_UNKNOWN: usize = 64;
/// The maximum number of sources that are remembered as silent.
const MOST_UNANSWERED: usize = 1_024;

/// Classes of wanted packets, in the order of their importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Publications that their sender has announced, and certificates that publications wait for.
    Live,
    /// Publications that only others have claimed: the sender may be gone.
    Old,
    /// Publications that their sender no longer keeps: a cache or the history may have them.
    Gone,
    /// Certificates that sync Interests name.
    Unknown,
}

impl Class {
    const ALL: [Class; 4] = [Class::Live, Class::Old, Class::Gone, Class::Unknown];

    /// The number of names that are requested at a time.
    fn most(self) -> usize {
        match self {
            Class::Live => AT_ONCE,
            Class::Old | Class::Gone => AT_ONCE / 2,
            Class::Unknown => AT_ONCE / 4,
        }
    }

    /// The Interests for each of them.
    fn attempts(self) -> u32 {
        match self {
            Class::Live | Class::Old => ATTEMPTS,
            Class::Gone => ATTEMPTS_GONE,
            Class::Unknown => ATTEMPTS_UNKNOWN,
        }
    }
}

/// The wanted packets.
pub struct Asker {
    history: Name,
    wanted: BTreeMap<Name, Want>,
    /// The names that are being requested: few, whatever the number of wanted ones.
    asked: BTreeSet<Name>,
    /// Names whose turn has not come, by their class.
    queues: [Turns; 4],
    /// Sources whose last turn had no answer. Packets of others come first.
    unanswered: BTreeSet<Name>,
    given_up: VecDeque<Name>,
    /// No publication gets its next turn.
    is_paused: bool,
    rng: Rng,
}

struct Want {
    /// A packet below the name will do.
    is_prefix: bool,
    /// If it is old, the history is asked first.
    class: Class,
    attempts: u32,
    /// The instant of the next attempt, or of giving up.
    again_at: Time,
}

impl Want {
    /// True if an answer to this name is one to the last Interest for a publication that its
    /// sender keeps no longer. An earlier Interest may be answered late.
    fn is_last(&self, is_history: bool) -> bool {
        self.attempts == if is_history { ATTEMPTS_GONE } else { 1 }
    }

    /// True if its turn has had no answer.
    fn is_over(&self, now: Time) -> bool {
        self.again_at <= now && self.attempts > 0 && self.attempts.is_multiple_of(ATTEMPTS_OF_TURN)
    }
}

impl Asker {
    /// Without wanted packets. `history` is the prefix of the group's history.
    pub fn new(history: Name, rng: Rng) -> Asker {
        Asker {
            history,
            wanted: BTreeMap::new(),
            asked: BTreeSet::new(),
            queues: Default::default(),
            unanswered: BTreeSet::new(),
            given_up: VecDeque::new(),
            is_paused: false,
            rng,
        }
    }

    /// While it is paused, only packets whose turn has begun are requested, and certificates that
    /// sync Interests name.
    pub fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Asks for a certificate, by its name or that of its key; returns false if too many packets
    /// are wanted already.
    pub fn ask_certificate(&mut self, now: Time, name: Name) -> bool {
        self.add(now, name, true, Class::Live)
    }

    /// Asks for a certificate that a sync Interest names. If there are too many, a random one is
    /// evicted.
    pub fn ask_unknown(&mut self, now: Time, name: Name) -> bool {
        let queue = &mut self.queues[Class::Unknown as usize];
        if queue.sources() >= MOST_UNKNOWN && !self.wanted.contains_key(&name) {
            let at = self.rng.below(queue.sources() as u64) as usize;
            for other in queue.remove_at(at) {
                if self.wanted.get(&other).is_some_and(|want| want.class == Class::Unknown) {
                    self.wanted.remove(&other);
                    self.asked.remove(&other);
                    self.given_up.push_back(other);
                }
            }
        }
        self.add(now, name, true, Class::Unknown)
    }

    /// Asks for a publication, in the same way. `is_old`: its sender may be gone.
    pub fn ask(&mut self, now: Time, name: Name, is_old: bool) -> bool {
        self.add(now, name, false, if is_old { Class::Old } else { Class::Live })
    }

    /// Asks for a publication that its sender keeps no longer. It is given up as soon as neither
    /// name leads to it.
    pub fn ask_gone(&mut self, now: Time, name: Name) -> bool {
        self.stop(&name);
        self.add(now, name, false, Class::Gone)
    }

    /// Stops asking for a packet.
    pub fn stop(&mut self, name: &Name) {
        self.wanted.remove(name);
        self.asked.remove(name);
    }

    fn add(&mut self, now: Time, name: Name, is_prefix: bool, class: Class) -> bool {
        let source = source(&name, is_prefix);
        if let Some(want) = self.wanted.get_mut(&name) {
            if class == Class::Live && want.class != Class::Live {
                want.class = class;
                self.queues[class as usize].push_first(source, name);
            }
            return true;
        }
        if self.wanted.len() >= MOST && !self.makes_room(class, &source) {
            return false;
        }
        // Certificates come first: publications wait for them.
        let queue = &mut self.queues[class as usize];
        match is_prefix {
            true => queue.push_first(source, name.clone()),
            false => queue.push(source, name.clone()),
        }
        self.wanted.insert(name, Want { is_prefix, class, attempts: 0, again_at: now });
        true
    }

    /// Gives up a packet whose turn has not come, for another one of this class and source: a less
    /// important one, or one of a source with more packets. So no source keeps others out.
    fn makes_room(&mut self, class: Class, source: &Name) -> bool {
        for other in Class::ALL.into_iter().rev().filter(|other| *other >= class) {
            let queue = &mut self.queues[other as usize];
            let own = if other == class { queue.len(source) + 1 } else { 0 };
            while let Some((longest, len)) = queue.longest()
                && len > own
            {
                let longest = longest.clone();
                let Some(name) = queue.pop_of(&longest) else { break };
                let want = self.wanted.get(&name);
                if want.is_some_and(|want| want.class == other) && !self.asked.contains(&name) {
                    self.wanted.remove(&name);
                    self.given_up.push_back(name);
                    return true;
                }
            }
        }
        false
    }

    /// True if the packet is wanted, in this class, and its turn has not come.
    fn waits(&self, name: &Name, class: Class) -> bool {
        let is_wanted = self.wanted.get(name).is_some_and(|want| want.class == class);
        is_wanted && !self.asked.contains(name)
    }

    /// Stops asking for the publications with this prefix, which is their names without the number.
    pub fn forget(&mut self, prefix: &Name) {
        let below = self.wanted.range(prefix.clone()..).map(|(name, _)| name);
        let below = below.take_while(|name| name.as_ref().starts_with(prefix.as_ref()));
        for name in below.cloned().collect::<Vec<_>>() {
            self.stop(&name);
        }
        self.queues.iter_mut().for_each(|queue| queue.remove(prefix));
        self.unanswered.remove(prefix);
    }

    /// Takes a wanted packet. Returns the name by which it was requested, and the packet.
    pub fn receive(&mut self, data: &Data<'_>) -> Option<(Name, Bytes)> {
        let is_history = data.name().starts_with(self.history.as_ref());
        let data = match is_history {
            true => unpacked(&self.history, data)?,
            false => *data,
        };
        let wanted = self.meant(data.name())?;
        if data.content_type() == ContentType::NACK
            && let Some(want) = self.wanted.get_mut(&wanted)
            && want.class == Class::Gone
        {
            // It is known that the sender keeps it no longer. The other name is next.
            if want.is_last(is_history) {
                want.again_at = Time::ZERO;
            }
            return None;
        }
        let want = self.wanted.remove(&wanted)?;
        self.asked.remove(&wanted);
        self.unanswered.remove(&source(&wanted, want.is_prefix));
        Some((wanted, Bytes::copy_from_slice(data.wire())))
    }

    /// The wanted name that a packet of this name answers.
    fn meant(&self, name: NameRef<'_>) -> Option<Name> {
        let exact = name.to_name();
        if self.wanted.contains_key(&exact) {
            return Some(exact);
        }
        let prefixes = (1..name.len()).rev().map(|len| name.prefix(len).to_name());
        prefixes.into_iter().find(|p| self.wanted.get(p).is_some_and(|want| want.is_prefix))
    }

    /// Asks again for a packet in whose place a wrong one came.
    pub fn ask_again(&mut self, now: Time, name: Name, is_prefix: bool, wrong: u32) {
        // Each wrong packet costs two attempts, so a poisoned cache cannot keep this going. The
        // packet's own name is next, and then the history: one of them may be right.
        let attempts = (wrong * 2).min(ATTEMPTS);
        let want = Want { is_prefix, class: Class::Live, attempts, again_at: now + PAUSE };
        self.asked.insert(name.clone());
        self.wanted.insert(name, want);
    }

    /// An Interest came back.
    pub fn on_nack(&mut self, now: Time, name: NameRef<'_>) {
        let is_history = name.starts_with(self.history.as_ref());
        let skip = if is_history { self.history.len() } else { 0 };
        let wanted = name.suffix(skip).to_name();
        if let Some(want) = self.wanted.get_mut(&wanted).filter(|want| want.attempts > 0) {
            // The other name may help at once.
            let pause = match want.class {
                Class::Gone if !want.is_last(is_history) => return,
                Class::Gone => Duration::ZERO,
                _ if want.attempts % 2 == 1 => Duration::ZERO,
                _ => PAUSE,
            };
            want.again_at = want.again_at.min(now + pause);
        }
    }

    /// Requests all missing packets again, over a new connection.
    pub fn restart(&mut self, now: Time) {
        for want in self.wanted.values_mut() {
            // The routes of others may be on their way, and these have one Interest by each name.
            let is_gone = want.class == Class::Gone;
            want.attempts = want.attempts.min(u32::from(!is_gone));
            want.again_at = if is_gone { now + PAUSE } else { now };
        }
    }

    /// Appends the next Interest, and returns true.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.end_turns(now);
        let mut asked = self.asked.iter();
        let due =
            asked.find(|name| self.wanted.get(*name).is_some_and(|want| want.again_at <= now));
        let due = due.cloned();
        let Some(name) = due.or_else(|| self.next()) else { return false };
        let Some(want) = self.wanted.get_mut(&name) else { return false };
        let asked = match (want.attempts + u32::from(want.class == Class::Old)) % 2 {
            0 => name,
            _ => in_history(&self.history, name.as_ref()),
        };
        want.attempts += 1;
        let is_last = want.class == Class::Gone && want.attempts == ATTEMPTS_GONE;
        want.again_at = now + if is_last { LIFETIME } else { ATTEMPT };
        let interest = InterestBuf {
            can_be_prefix: want.is_prefix,
            nonce: Some(self.rng.next_u32()),
            lifetime_ms: Some(LIFETIME.as_millis()),
            ..InterestBuf::new(asked)
        };
        let begins = out.len();
        interest.encode_into(out);
        if out.len() - begins > packet::MAX_PACKET {
            out.truncate(begins);
            return false;
        }
        true
    }

    /// Begins the next turn.
    fn next(&mut self) -> Option<Name> {
        if self.asked.len() >= AT_ONCE {
            return None;
        }
        let (mut asked, mut sources) = ([0; 4], BTreeSet::new());
        for name in &self.asked {
            let Some(want) = self.wanted.get(name) else { continue };
            asked[want.class as usize] += 1;
            sources.insert(source(name, want.is_prefix));
        }
        let count: usize = asked.iter().sum();
        let is_reserved = self.queues[Class::Gone as usize].sources() > 0
            && count - asked[Class::Gone as usize] >= AT_ONCE - AT_ONCE_GONE;
        for answered_only in [true, false] {
            if !answered_only && count >= AT_ONCE_UNANSWERED {
                continue;
            }
            for class in Class::ALL {
                let is_held = self.is_paused && class != Class::Unknown;
                let is_held = is_held || is_reserved && class != Class::Gone;
                if is_held || asked[class as usize] >= class.most() {
                    continue;
                }
                while let Some(name) = self.queues[class as usize].pop(|source| {
                    !answered_only || !self.unanswered.contains(source) || !sources.contains(source)
                }) {
                    if self.waits(&name, class) {
                        self.asked.insert(name.clone());
                        return Some(name);
                    }
                }
            }
        }
        None
    }

    /// Ends turns without an answer: other packets come first, before the next turn of the same
    /// one.
    fn end_turns(&mut self, now: Time) {
        let asked = self.asked.iter();
        let over =
            asked.filter(|name| self.wanted.get(*name).is_some_and(|want| want.is_over(now)));
        for name in over.cloned().collect::<Vec<_>>() {
            self.asked.remove(&name);
            let Some(want) = self.wanted.get(&name) else { continue };
            let source = source(&name, want.is_prefix);
            if self.unanswered.len() >= MOST_UNANSWERED {
                self.unanswered.pop_first();
            }
            // A publication that its sender no longer keeps shows nothing about its others.
            if want.class != Class::Gone {
                self.unanswered.insert(source.clone());
            }
            if want.attempts < want.class.attempts() {
                self.queues[want.class as usize].push(source, name);
            } else {
                self.wanted.remove(&name);
                self.given_up.push_back(name);
            }
        }
    }

    /// A packet whose requests had no success.
    pub fn poll_given_up(&mut self) -> Option<Name> {
        self.given_up.pop_front()
    }

    /// The instant of the next attempt.
    pub fn next_deadline(&self) -> Option<Time> {
        self.asked.iter().filter_map(|name| self.wanted.get(name)).map(|want| want.again_at).min()
    }
}

/// The name for all packets that probably are at the same place: the publications of a stream, or a
/// certificate.
fn source(name: &Name, is_certificate: bool) -> Name {
    if is_certificate { name.clone() } else { name.as_ref().parent().to_name() }
}

#[cfg(test)]
mod tests;
