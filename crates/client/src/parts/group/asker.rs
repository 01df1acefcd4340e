//! Single packets, asked for by their own name and from the history of a group in turn.

use super::kept::{in_history, unpacked};
use super::turns::Turns;
use control::{Duration, Rng, Time};
use packet::{Bytes, Data, InterestBuf, Name, NameRef};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Interests for a packet, half of them by its own name.
const ATTEMPTS: u32 = 8;
/// Those of one turn. Then other packets have theirs.
const ATTEMPTS_OF_TURN: u32 = 2;
/// The lifetime of each.
const LIFETIME: Duration = Duration::from_secs(1);
/// The time until the next one, by the other name.
const ATTEMPT: Duration = Duration::from_millis(500);
/// The pause after a Nack for both names: a route may be on its way.
const PAUSE: Duration = Duration::from_millis(300);
/// Packets that are asked for at a time.
const AT_ONCE: usize = 16;
/// Packets that are asked for, or wait for their turn. With more, those of the source with the most
/// make room. A full vector has about 130 streams, each with up to three windows of 64 numbers.
const MOST: usize = 32_768;
/// Certificates of them for which only sync Interests wait, and the Interests for each. Any sender
/// can name one that does not exist.
const MOST_UNKNOWN: usize = 64;
const ATTEMPTS_UNKNOWN: u32 = 2;
/// Turns at a time, up to which sources that do not answer get what others do not need.
const AT_ONCE_UNANSWERED: usize = 12;
/// Sources that are remembered as not answering.
const MOST_UNANSWERED: usize = 1_024;

/// Wants in the order of their importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Publications that their sender has announced, and certificates that publications wait for.
    Live,
    /// Publications that only others have claimed: the sender may be gone.
    Old,
    /// Certificates that sync Interests name.
    Unknown,
}

impl Class {
    const ALL: [Class; 3] = [Class::Live, Class::Old, Class::Unknown];

    /// How many of them are asked for at a time.
    fn most(self) -> usize {
        match self {
            Class::Live => AT_ONCE,
            Class::Old => AT_ONCE / 2,
            Class::Unknown => AT_ONCE / 4,
        }
    }
}

/// The packets that are wanted.
pub struct Asker {
    history: Name,
    wanted: BTreeMap<Name, Want>,
    /// The names whose turn it is: few, whatever is wanted.
    asked: BTreeSet<Name>,
    /// Names whose turn has not come, by their class.
    queues: [Turns; 3],
    /// Sources of which the last turn brought nothing. Packets of others come first.
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

impl Asker {
    /// Nothing is wanted yet. `history` is the prefix of the group's history.
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

    /// While it is paused, only packets whose turn it is are asked for, and certificates that sync
    /// Interests name.
    pub fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Asks for a certificate, by its name or that of its key; returns false if too many packets
    /// are wanted already.
    pub fn ask_certificate(&mut self, now: Time, name: Name) -> bool {
        self.add(now, name, true, Class::Live)
    }

    /// Asks for a certificate that a sync Interest names. Of too many, one by chance makes room.
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

    /// Gives up a packet whose turn has not come, for another one of this class and source: one
    /// that is less important, or of a source that has more of them. So no source keeps others
    /// out.
    fn makes_room(&mut self, class: Class, source: &Name) -> bool {
        for other in Class::ALL.into_iter().rev().filter(|other| *other >= class) {
            let queue = &mut self.queues[other as usize];
            let own = if other == class { queue.len(source) + 1 } else { 0 };
            while let Some((longest, len)) = queue.longest()
                && len > own
            {
                let longest = longest.clone();
                let Some(name) = queue.pop_of(&longest) else { break };
                let is_meant = |want: &Want| want.class == other && !self.asked.contains(&name);
                if self.wanted.get(&name).is_some_and(is_meant) {
                    self.wanted.remove(&name);
                    self.given_up.push_back(name);
                    return true;
                }
            }
        }
        false
    }

    /// Stops asking for the publications with this prefix, which is their names without the number.
    pub fn forget(&mut self, prefix: &Name) {
        let below = self.wanted.range(prefix.clone()..).map(|(name, _)| name);
        let below = below.take_while(|name| name.as_ref().starts_with(prefix.as_ref()));
        for name in below.cloned().collect::<Vec<_>>() {
            self.wanted.remove(&name);
            self.asked.remove(&name);
        }
        self.queues.iter_mut().for_each(|queue| queue.remove(prefix));
        self.unanswered.remove(prefix);
    }

    /// Takes a packet that was wanted: its name as it was asked for, and the packet itself.
    pub fn receive(&mut self, data: &Data<'_>) -> Option<(Name, Bytes)> {
        let data = match data.name().starts_with(self.history.as_ref()) {
            true => unpacked(&self.history, data)?,
            false => *data,
        };
        let wanted = self.meant(data.name())?;
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
    pub fn refused(&mut self, now: Time, name: NameRef<'_>) {
        let is_history = name.starts_with(self.history.as_ref());
        let skip = if is_history { self.history.len() } else { 0 };
        let wanted = name.suffix(skip).to_name();
        if let Some(want) = self.wanted.get_mut(&wanted).filter(|want| want.attempts > 0) {
            // The other name may help at once.
            let pause = if want.attempts % 2 == 1 { Duration::ZERO } else { PAUSE };
            want.again_at = want.again_at.min(now + pause);
        }
    }

    /// Begins anew with everything that is wanted, over a new connection.
    pub fn restart(&mut self, now: Time) {
        for want in self.wanted.values_mut() {
            want.attempts = want.attempts.min(1);
            want.again_at = now;
        }
    }

    /// Appends the next Interest, and returns true.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.end_turns(now);
        let is_due = |name: &&Name| self.wanted.get(*name).is_some_and(|want| want.again_at <= now);
        let due = self.asked.iter().find(is_due).cloned();
        let Some(name) = due.or_else(|| self.next()) else { return false };
        let Some(want) = self.wanted.get_mut(&name) else { return false };
        let asked = match (want.attempts + u32::from(want.class == Class::Old)) % 2 {
            0 => name,
            _ => in_history(&self.history, name.as_ref()),
        };
        want.attempts += 1;
        want.again_at = now + ATTEMPT;
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
        let (mut asked, mut sources) = ([0; 3], BTreeSet::new());
        for name in &self.asked {
            let Some(want) = self.wanted.get(name) else { continue };
            asked[want.class as usize] += 1;
            sources.insert(source(name, want.is_prefix));
        }
        let count: usize = asked.iter().sum();
        for answered_only in [true, false] {
            if !answered_only && count >= AT_ONCE_UNANSWERED {
                continue;
            }
            let unanswered = &self.unanswered;
            let is_ready = |source: &Name| {
                !answered_only || !unanswered.contains(source) || !sources.contains(source)
            };
            let is_open = |class: &Class| {
                asked[*class as usize] < class.most()
                    && (!self.is_paused || *class == Class::Unknown)
            };
            for class in Class::ALL.into_iter().filter(is_open) {
                while let Some(name) = self.queues[class as usize].pop(is_ready) {
                    let is_meant = |want: &Want| want.class == class && !self.asked.contains(&name);
                    if self.wanted.get(&name).is_some_and(is_meant) {
                        self.asked.insert(name.clone());
                        return Some(name);
                    }
                }
            }
        }
        None
    }

    /// Ends the turns that have brought nothing: other packets come first, before the next turn of
    /// the same one.
    fn end_turns(&mut self, now: Time) {
        let is_over = |want: &Want| {
            want.again_at <= now
                && want.attempts > 0
                && want.attempts.is_multiple_of(ATTEMPTS_OF_TURN)
        };
        let over = self.asked.iter().filter(|name| self.wanted.get(*name).is_some_and(is_over));
        for name in over.cloned().collect::<Vec<_>>() {
            self.asked.remove(&name);
            let Some(want) = self.wanted.get(&name) else { continue };
            let source = source(&name, want.is_prefix);
            if self.unanswered.len() >= MOST_UNANSWERED {
                self.unanswered.pop_first();
            }
            self.unanswered.insert(source.clone());
            let most = if want.class == Class::Unknown { ATTEMPTS_UNKNOWN } else { ATTEMPTS };
            if want.attempts < most {
                self.queues[want.class as usize].push(source, name);
            } else {
                self.wanted.remove(&name);
                self.given_up.push_back(name);
            }
        }
    }

    /// A packet that was asked for in vain.
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
mod tests {
    use super::super::kept::history;
    use super::*;
    use packet::{DataBuf, Interest};

    fn asker() -> Asker {
        Asker::new(history(&"/chat".parse().unwrap()), Rng::stream(1, &["asker"]))
    }

    fn sent(asker: &mut Asker, now: Time) -> Option<String> {
        let mut out = Vec::new();
        let sent = asker.poll_transmit(now, &mut out);
        sent.then(|| Interest::decode(&out).unwrap().name().to_string())
    }

    #[test]
    fn a_packet_is_asked_for_by_both_names_and_then_given_up() {
        let mut asker = asker();
        let name: Name = "/alice/1".parse().unwrap();
        assert!(asker.ask(Time::ZERO, name.clone(), false));
        let mut names = Vec::new();
        let mut now = Time::ZERO;
        while let Some(sent) = sent(&mut asker, now) {
            names.push(sent);
            now = asker.next_deadline().unwrap();
        }
        assert_eq!(names.len(), 8);
        assert_eq!(names[..2], ["/alice/1", "/chat/32=history/alice/1"]);
        assert_eq!(asker.poll_given_up(), Some(name));
        assert_eq!(asker.next_deadline(), None);
    }

    #[test]
    fn a_nack_leads_to_the_history_at_once() {
        let mut asker = asker();
        asker.ask(Time::ZERO, "/alice/1".parse().unwrap(), false);
        let first: Name = sent(&mut asker, Time::ZERO).unwrap().parse().unwrap();
        assert_eq!(sent(&mut asker, Time::ZERO), None);
        asker.refused(Time::ZERO, first.as_ref());
        let second: Name = sent(&mut asker, Time::ZERO).unwrap().parse().unwrap();
        assert_eq!(second.to_string(), "/chat/32=history/alice/1");
        asker.refused(Time::ZERO, second.as_ref());
        assert_eq!(sent(&mut asker, Time::ZERO), None, "after a pause");
        assert_eq!(asker.next_deadline(), Some(Time::ZERO + PAUSE));
    }

    #[test]
    fn an_old_publication_is_asked_of_the_history_first() {
        let mut asker = asker();
        asker.ask(Time::ZERO, "/alice/1".parse().unwrap(), true);
        assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/chat/32=history/alice/1");
        assert_eq!(sent(&mut asker, Time::ZERO + ATTEMPT).unwrap(), "/alice/1");
    }

    #[test]
    fn answers_of_both_kinds_are_taken_once_and_others_are_not() {
        let mut asker = asker();
        for name in ["/a/1", "/a/KEY/k"] {
            let name: Name = name.parse().unwrap();
            match name.len() {
                2 => asker.ask(Time::ZERO, name, false),
                _ => asker.ask_certificate(Time::ZERO, name),
            };
        }
        let direct = DataBuf::new("/a/1".parse().unwrap(), "x").encode_digest();
        let other = DataBuf::new("/a/2".parse().unwrap(), "x").encode_digest();
        let certificate = DataBuf::new("/a/KEY/k/i/v".parse().unwrap(), "x").encode_digest();
        let name = "/chat/32=history/a/KEY/k/i/v".parse().unwrap();
        let packed = DataBuf::new(name, certificate.clone()).encode_digest();
        assert!(asker.receive(&Data::decode(&other).unwrap()).is_none());
        let (name, packet) = asker.receive(&Data::decode(&direct).unwrap()).unwrap();
        assert_eq!((name.to_string(), packet), ("/a/1".to_owned(), direct.clone()));
        assert!(asker.receive(&Data::decode(&direct).unwrap()).is_none());
        let (name, packet) = asker.receive(&Data::decode(&packed).unwrap()).unwrap();
        assert_eq!((name.to_string(), packet), ("/a/KEY/k".to_owned(), certificate));
    }

    #[test]
    fn certificates_of_unknown_signers_keep_no_publication_waiting() {
        let mut asker = asker();
        for i in 0..1000 {
            asker.ask_unknown(Time::ZERO, format!("/x{i}/KEY/k").parse().unwrap());
        }
        assert!(asker.wanted.len() <= MOST_UNKNOWN, "{}", asker.wanted.len());
        let unknown = std::iter::from_fn(|| sent(&mut asker, Time::ZERO)).count();
        assert_eq!(unknown, AT_ONCE / 4);
        asker.ask(Time::ZERO, "/alice/1".parse().unwrap(), false);
        assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/alice/1");
        // A publication needs one of them: it is asked for at once, and as often as any.
        let is_waiting = |name: &&Name| !asker.asked.contains(*name);
        let name = asker.wanted.keys().find(is_waiting).unwrap().clone();
        asker.ask_certificate(Time::ZERO, name.clone());
        assert_eq!(sent(&mut asker, Time::ZERO), Some(name.to_string()));
    }

    #[test]
    fn old_publications_leave_room_for_new_ones() {
        let mut asker = asker();
        for i in 0..100 {
            asker.ask(Time::ZERO, format!("/old/{i}").parse().unwrap(), true);
        }
        let old = std::iter::from_fn(|| sent(&mut asker, Time::ZERO)).count();
        assert_eq!(old, AT_ONCE / 2);
        asker.ask(Time::ZERO, "/new/1".parse().unwrap(), false);
        assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/new/1");
    }

    #[test]
    fn after_a_wrong_packet_both_names_are_tried() {
        let mut asker = asker();
        let name: Name = "/alice/1".parse().unwrap();
        asker.ask_again(Time::ZERO, name, false, 1);
        let mut now = asker.next_deadline().unwrap();
        assert_eq!(sent(&mut asker, now).unwrap(), "/alice/1");
        now = asker.next_deadline().unwrap();
        assert_eq!(sent(&mut asker, now).unwrap(), "/chat/32=history/alice/1");
    }

    /// The sender of the first publications is gone, and no member has them.
    #[test]
    fn publications_that_no_member_has_do_not_delay_others() {
        for is_old in [true, false] {
            let mut asker = asker();
            for i in 0..200 {
                asker.ask(Time::ZERO, format!("/dead/{i}").parse().unwrap(), is_old);
            }
            for i in 0..50 {
                asker.ask(Time::ZERO, format!("/there/{i}").parse().unwrap(), is_old);
            }
            let (mut now, mut arrived) = (Time::ZERO, 0);
            while arrived < 50 {
                while let Some(name) = sent(&mut asker, now) {
                    let name: Name = name.trim_start_matches("/chat/32=history").parse().unwrap();
                    if name.to_string().starts_with("/there") {
                        let data = DataBuf::new(name, "x").encode_digest();
                        arrived +=
                            usize::from(asker.receive(&Data::decode(&data).unwrap()).is_some());
                    }
                }
                now = asker.next_deadline().unwrap();
            }
            // The first turn has the packets that no member has. Then the others are asked for, and
            // the next deadline comes within another turn.
            let turn = ATTEMPT.mul_f64(ATTEMPTS_OF_TURN.into());
            assert!(now <= Time::ZERO + turn + turn, "{now:?}");
            // All are tried all the same.
            let mut given_up = 0;
            while let Some(at) = asker.next_deadline() {
                while sent(&mut asker, at).is_some() {}
                given_up += std::iter::from_fn(|| asker.poll_given_up()).count();
            }
            assert_eq!((given_up, asker.wanted.len()), (200, 0));
        }
    }

    #[test]
    fn forgotten_publications_are_not_asked_for() {
        let mut asker = asker();
        for i in 0..100 {
            asker.ask(Time::ZERO, format!("/a/{i}").parse().unwrap(), false);
            asker.ask(Time::ZERO, format!("/b/{i}").parse().unwrap(), false);
        }
        while sent(&mut asker, Time::ZERO).is_some() {}
        asker.forget(&"/a".parse().unwrap());
        assert_eq!(asker.wanted.len(), 100);
        assert!(asker.asked.iter().all(|name| name.to_string().starts_with("/b/")));
        assert!(sent(&mut asker, Time::ZERO).unwrap().starts_with("/b/"));
    }

    /// One vector can claim so many publications.
    #[test]
    fn no_source_keeps_the_publications_of_others_out() {
        for is_old in [true, false] {
            let mut asker = asker();
            let all = |i: usize| format!("/made-up-{}/{i}", i % 60).parse().unwrap();
            (0..MOST).for_each(|i| assert!(asker.ask(Time::ZERO, all(i), is_old)));
            assert!(!asker.ask(Time::ZERO, all(MOST), true), "it has its part");
            assert_eq!(asker.given_up.len(), 0);
            for i in 0..50 {
                let live: Name = format!("/alice/{i}").parse().unwrap();
                assert!(asker.ask(Time::ZERO, live.clone(), false), "{i}");
                assert!(asker.wanted.contains_key(&live) && asker.wanted.len() == MOST);
            }
            let given_up = std::iter::from_fn(|| asker.poll_given_up()).collect::<Vec<_>>();
            assert_eq!(given_up.len(), 50);
            assert!(given_up.iter().all(|name| name.to_string().starts_with("/made-up-")));
            let mut now = Time::ZERO;
            while !std::iter::from_fn(|| sent(&mut asker, now)).any(|name| name.contains("/alice/"))
            {
                now = asker.next_deadline().unwrap();
            }
            // Each of the other sources has one turn before.
            let turns = if is_old { 0 } else { 60 / AT_ONCE as u32 };
            assert!(now <= Time::ZERO + ATTEMPT.mul_f64((turns * ATTEMPTS_OF_TURN).into()));
        }
    }

    #[test]
    fn while_it_is_paused_only_the_packets_of_the_present_turns_are_asked_for() {
        let mut asker = asker();
        (1..=100).for_each(|i| {
            asker.ask(Time::ZERO, format!("/alice/{i}").parse().unwrap(), false);
        });
        let first = sent(&mut asker, Time::ZERO).unwrap();
        asker.pause(true);
        assert_eq!(sent(&mut asker, Time::ZERO), None);
        let due = asker.next_deadline().unwrap();
        let second = sent(&mut asker, due).unwrap();
        assert!(second.ends_with(&first), "{second}");
        asker.ask_unknown(Time::ZERO, "/x/KEY/k".parse().unwrap());
        assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/x/KEY/k", "vectors wait for it");
        let over = asker.next_deadline().unwrap() + ATTEMPT;
        while sent(&mut asker, over).is_some() {}
        asker.pause(false);
        assert!(sent(&mut asker, over).unwrap().starts_with("/alice/"));
    }

    #[test]
    fn few_packets_are_asked_for_at_a_time_and_there_is_a_bound() {
        let mut asker = asker();
        let taken = (0..MOST + 5)
            .filter(|i| asker.ask(Time::ZERO, format!("/{i}").parse().unwrap(), false));
        assert_eq!(taken.count(), MOST, "all are of one source");
        let mut count = 0;
        while sent(&mut asker, Time::ZERO).is_some() {
            count += 1;
        }
        assert_eq!(count, AT_ONCE);
    }
}
